/* group.h - looks the keys of a batch up in a table of groups.
 *
 * Table    Tags in groups of 16: 0 is empty, else 0x80 | the low 7 bits of the hash; beside each
 *          tag the number of its group. A search begins at group (hash >> 32) & mask and goes on
 *          group by group until one has an empty tag. Nothing is deleted.
 * Misses   A find never inserts: rows that it does not find are listed, and the caller inserts
 *          them.
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

/* The keys seen last, one to a place that their words name: for inputs with few different keys most
 * rows end here, without a hash. A place counts only in its generation, so that forgetting all
 * costs nothing. */
enum { MR_GROUP_CACHE_PLACES = 4096, MR_GROUP_CACHE_WORDS = 3 };
struct mr_group_cache {
    struct mr_group_place {
        uint64_t words[MR_GROUP_CACHE_WORDS];
        uint32_t id;
        uint32_t generation; /* 0: never used */
    } places[MR_GROUP_CACHE_PLACES];
    uint32_t generation; /* from 1 */
};
_Static_assert(MR_GROUP_CACHE_PLACES == 1 << 12, "a place is 12 bits");

static inline uint32_t mr_group_place(const uint64_t *key, uint32_t words_n)
{
    uint64_t mixed = key[0];

    for (uint32_t w = 1; w < words_n; w++)
        mixed = (mixed << 32 | mixed >> 32) ^ key[w];
    return (uint32_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

struct mr_group_kernels {
    const char *isa;
    /* ids[i] = id of the key at keys[row * words_n ..), row = sel[i] (NULL: i), words_n in
     * [1, MR_GROUP_CACHE_WORDS]. misses: the i that are not in the cache, ascending; gives how
     * many. */
    uint32_t (*find_cached)(const struct mr_group_cache *c, uint32_t words_n, const uint64_t *keys,
                            const uint32_t *sel, uint32_t n, uint32_t *ids, uint32_t *misses);
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

extern const struct mr_group_kernels mr_group_scalar, mr_group_avx2;
extern const struct mr_group_kernels *const mr_group_variants[]; /* best first, NULL at the end */
extern const struct mr_group_kernels *mr_group;                  /* set by mr_kernels_init */
