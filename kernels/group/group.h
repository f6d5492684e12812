/* group.h - looks the keys of a batch up in a table of groups.
 *
 * Table    Tags in groups of 16: 0 is empty, else 0x80 | the low 7 bits of the hash; beside each
 * tag the number of its group. A search begins at group (hash >> 32) & mask and goes on group by
 * group until one has an empty tag. Nothing is deleted. Misses   A find never inserts: rows that it
 * does not find are listed, and the caller inserts them.
 */
#pragma once
#include "core/base/text.h"
#include "kernels/kernels.h"

enum { MR_GROUP_TAGS = 16 };

struct mr_group_index {
    uint8_t *tags; /* (mask + 1) * MR_GROUP_TAGS, aligned to 16 */
    uint32_t *ids;
    uint32_t mask;
};

static inline uint8_t mr_group_tag(uint64_t hash)
{
    return (uint8_t)(0x80 | (hash & 0x7f));
}

struct mr_group_kernels {
    const char *isa;
    /* ids[i] = group of keys[i * words_n ..): group g has its key at entries[g * words_n ..).
     * misses: the i that are not there, ascending; gives how many. */
    uint32_t (*find_words)(const struct mr_group_index *x, const uint64_t *entries,
                           uint32_t words_n, const uint64_t *hashes, const uint64_t *keys,
                           uint32_t n, uint32_t *ids, uint32_t *misses);
    /* The same with keys as bytes. */
    uint32_t (*find_bytes)(const struct mr_group_index *x, const struct mr_text *entries,
                           const uint64_t *hashes, const struct mr_text *keys, uint32_t n,
                           uint32_t *ids, uint32_t *misses);
};

extern const struct mr_group_kernels mr_group_scalar, mr_group_avx2, mr_group_avx512;
extern const struct mr_group_kernels *const mr_group_variants[]; /* best first, NULL at the end */
extern const struct mr_group_kernels *mr_group;                  /* set by mr_kernels_init */
