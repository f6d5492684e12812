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
