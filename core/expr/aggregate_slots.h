/* aggregate_slots.h - what aggregates share: walking rows, values kept as bytes. Inside core/expr.
 *
 * Null     A zero slot is "nothing seen", so aggregates that may see nothing count in a slot of their
 *          own.
 */
#pragma once
#include "core/expr/aggregate.h"
#include "core/expr/coerce.h"

/* i: which slots; row: the row of the arguments. */
#define MR_EACH_UPDATE(n, sel, i, row)                                                             \
    for (uint32_t i = 0, row; i < (n) && (row = (sel) ? (sel)[i] : i, true); i++)

static inline bool mr_slots_are_one(union mr_slot **slots, uint32_t n)
{
    if (n == 0 || slots[0] != slots[n - 1] || slots[0] != slots[n / 2])
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (slots[i] != slots[0])
            return false;
    return true;
}

/* Makes room for bytes more and gives their place; what is there stays. */
static inline uint8_t *mr_slot_reserve(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                       uint64_t bytes)
{
    uint64_t wanted = b->n + bytes;

    if (wanted > INT32_MAX) /* no column could hold it */
        mr_arena_exhaust(c->arena);
    if (b->capacity < wanted)
        c->grow(c->owner, b, (uint32_t)(wanted < 2u * (uint64_t)b->n ? 2 * b->n : wanted));
    return b->data + b->n;
}

static inline void mr_slot_append(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                  const void *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    memcpy(mr_slot_reserve(c, b, bytes), data, bytes);
    b->n += (uint32_t)bytes;
}

static inline void mr_slot_replace(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                   const void *data, uint64_t bytes)
{
    b->n = 0;
    mr_slot_append(c, b, data, bytes);
}
