/* group_table.h - groups of a partial aggregate in memory: keys and their slots, numbered from 0.
 *
 * Keys     words: a fixed number of 64-bit words per key, or encoded rows (core/state/row.h). One
 *          table has one of both.
 * Index    kernels/group; at most half full; it doubles, from the stored hashes.
 * Owner    Everything lies in the table's arena; clear forgets all groups and keeps the memory.
 */
#pragma once
#include "core/op/operator.h"
#include "kernels/group/group.h"

struct mr_group_table {
    struct mr_arena arena; /* bytes of encoded keys and of BYTES slots: gone at clear */
    struct mr_arena grown; /* arrays: as large as they ever were */
    uint32_t words_n;      /* 0: encoded keys */
    uint32_t width;
    struct mr_group_index index;
    uint32_t n, capacity;
    uint64_t *hashes; /* by group */
    uint64_t *words;
    struct mr_text *keys;
    union mr_slot *slots; /* width a group, zero when it is new */
};

void mr_group_table_open(struct mr_group_table *t, uint32_t words_n, uint32_t width,
                         struct mr_arena *like);
void mr_group_table_close(struct mr_group_table *t);
void mr_group_table_clear(struct mr_group_table *t);

/* ids[i] = group of row i, made if it is new. words: n * words_n of them. misses: room for n. */
void mr_group_table_add_words(struct mr_group_table *t, uint32_t n, const uint64_t *hashes,
                              const uint64_t *words, uint32_t *ids, uint32_t *misses);
void mr_group_table_add_keys(struct mr_group_table *t, uint32_t n, const uint64_t *hashes,
                             const struct mr_text *keys, uint32_t *ids, uint32_t *misses);
static inline union mr_slot *mr_group_slots(const struct mr_group_table *t, uint32_t group)
{
    return t->slots + (uint64_t)group * t->width;
}
