/* find.h - the search, shared by the variants. Each defines before it includes this:
 * tags_equal(tags, tag), tags_empty(tags): 16-bit masks of the 16 tags at tags. */
#pragma once
#include "kernels/group/group.h"

#include <stdbool.h>

static inline bool same_words(const uint64_t *a, const uint64_t *b, uint32_t words_n)
{
    uint64_t difference = 0;

    for (uint32_t w = 0; w < words_n; w++)
        difference |= a[w] ^ b[w];
    return difference == 0;
}

static inline __attribute__((always_inline)) uint32_t
find_width(const struct mr_group_index *x, const uint64_t *entries, uint32_t words_n,
           const uint64_t *hashes, const uint64_t *keys, uint32_t n, uint32_t *ids,
           uint32_t *misses)
{
    uint32_t misses_n = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t tag = mr_group_tag(hashes[i]);
        const uint64_t *key = keys + (uint64_t)i * words_n;
        uint32_t found = UINT32_MAX;
        for (uint32_t g = (uint32_t)(hashes[i] >> 32) & x->mask;; g = (g + 1) & x->mask) {
            const uint8_t *tags = x->tags + (uint64_t)g * MR_GROUP_TAGS;
            uint32_t equal = tags_equal(tags, tag);
            for (; equal != 0; equal &= equal - 1) {
                const uint32_t id = x->ids[g * MR_GROUP_TAGS + (uint32_t)__builtin_ctz(equal)];
                if (same_words(entries + (uint64_t)id * words_n, key, words_n)) {
                    found = id;
                    break;
                }
            }
            if (found != UINT32_MAX || tags_empty(tags) != 0)
                break;
        }
        ids[i] = found;
        misses[misses_n] = i;
        misses_n += found == UINT32_MAX;
    }
    return misses_n;
}

static uint32_t find_words(const struct mr_group_index *x, const uint64_t *entries,
                           uint32_t words_n, const uint64_t *hashes, const uint64_t *keys,
                           uint32_t n, uint32_t *ids, uint32_t *misses)
{
    switch (words_n) { /* constants, so that the compare is unrolled */
    case 1:
        return find_width(x, entries, 1, hashes, keys, n, ids, misses);
    case 2:
        return find_width(x, entries, 2, hashes, keys, n, ids, misses);
    case 3:
        return find_width(x, entries, 3, hashes, keys, n, ids, misses);
    case 4:
        return find_width(x, entries, 4, hashes, keys, n, ids, misses);
    default:
        return find_width(x, entries, words_n, hashes, keys, n, ids, misses);
    }
}

static uint32_t find_bytes(const struct mr_group_index *x, const struct mr_text *entries,
                           const uint64_t *hashes, const struct mr_text *keys, uint32_t n,
                           uint32_t *ids, uint32_t *misses)
{
    uint32_t misses_n = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t tag = mr_group_tag(hashes[i]);
        uint32_t found = UINT32_MAX;
        for (uint32_t g = (uint32_t)(hashes[i] >> 32) & x->mask;; g = (g + 1) & x->mask) {
            const uint8_t *tags = x->tags + (uint64_t)g * MR_GROUP_TAGS;
            uint32_t equal = tags_equal(tags, tag);
            for (; equal != 0; equal &= equal - 1) {
                const uint32_t id = x->ids[g * MR_GROUP_TAGS + (uint32_t)__builtin_ctz(equal)];
                if (mr_text_equal(entries[id], keys[i])) {
                    found = id;
                    break;
                }
            }
            if (found != UINT32_MAX || tags_empty(tags) != 0)
                break;
        }
        ids[i] = found;
        misses[misses_n] = i;
        misses_n += found == UINT32_MAX;
    }
    return misses_n;
}

static inline __attribute__((always_inline)) uint32_t
cached_width(const struct mr_group_cache *c, uint32_t words_n, const uint64_t *keys,
             const uint32_t *sel, uint32_t n, uint32_t *ids, uint32_t *misses)
{
    uint32_t misses_n = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *key = keys + (uint64_t)(sel ? sel[i] : i) * words_n;
        const struct mr_group_place *place = &c->places[mr_group_place(key, words_n)];
        const bool found = same_words(place->words, key, words_n);
        ids[i] = place->id;
        misses[misses_n] = i;
        misses_n += !(found & (place->generation == c->generation));
    }
    return misses_n;
}

static uint32_t find_cached(const struct mr_group_cache *c, uint32_t words_n, const uint64_t *keys,
                            const uint32_t *sel, uint32_t n, uint32_t *ids, uint32_t *misses)
{
    if (words_n == 1)
        return cached_width(c, 1, keys, sel, n, ids, misses);
    if (words_n == 2 && sel == 0)
        return cached_width(c, 2, keys, 0, n, ids, misses);
    if (words_n == 2)
        return cached_width(c, 2, keys, sel, n, ids, misses);
    return cached_width(c, 3, keys, sel, n, ids, misses);
}
