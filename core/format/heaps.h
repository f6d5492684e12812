/* heaps.h - where the long strings of a batch lie: the input itself, and chunks for those that had
 * to be changed (escapes, quotes).
 *
 * Why      Views into the input cost no copy; all string columns of a batch share one table of
 *          heaps.
 * Limits   Offsets in a view are 31 bits: heap 0 has at most INT32_MAX bytes.
 */
#pragma once
#include "core/batch/column.h"

struct mr_heaps {
    struct mr_arena *arena;
    uint8_t **heaps;
    uint32_t n, capacity;
    uint32_t used, size; /* of the last chunk; 0 if there is none */
    const uint8_t *base; /* heap 0 */
    uint64_t base_bytes;
};

void mr_heaps_begin(struct mr_heaps *h, const uint8_t *base, uint64_t base_bytes,
                    struct mr_arena *a);
/* Room for n bytes in a chunk; follow with mr_heaps_take of what was used. */
uint8_t *mr_heaps_reserve(struct mr_heaps *h, uint32_t n);
/* A view of the first n bytes reserved. */
void mr_heaps_take(struct mr_heaps *h, struct mr_view *v, uint32_t n);
/* Copies text, unless it lies in heap 0. */
void mr_heaps_put(struct mr_heaps *h, struct mr_view *v, struct mr_text text);

/* Ones in the first n of 12 bytes. */
struct mr_heaps_mask {
    uint64_t low;
    uint32_t high;
};
extern const struct mr_heaps_mask mr_heaps_masks[MR_VIEW_INLINE + 1]
    __attribute__((visibility("hidden")));

/* A view of n bytes at s, which lie in heap 0; 16 bytes at s are readable. */
static inline void mr_heaps_borrow(const uint8_t *base, struct mr_view *v, const uint8_t *s,
                                   uint32_t n)
{
    v->length = (int32_t)n;
    if (n > MR_VIEW_INLINE) {
        memcpy(v->far.prefix, s, 4);
        v->far.heap = 0;
        v->far.offset = (int32_t)(s - base);
        return;
    }
    /* the table, since a branch on whether there are more than 8 mispredicts */
    uint64_t low;
    uint32_t high;
    memcpy(&low, s, 8);
    memcpy(&high, s + 8, 4);
    low &= mr_heaps_masks[n].low;
    high &= mr_heaps_masks[n].high;
    memcpy(v->inlined, &low, 8);
    memcpy(v->inlined + 8, &high, 4);
}
