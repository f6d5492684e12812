/* time_bound.h - the time by which a row of state ends, from the column that carries it.
 *
 * Rule     A window counts by its end, a plain column by itself. A row without a time never ends.
 */
#pragma once
#include "core/op/operator.h"

/* The column of times of a key: the end of a window, or the column itself. valid: of the whole, for
 * a window that of the struct (its fields are never null inside a window). */
static inline const int64_t *mr_time_values(const struct mr_column *c)
{
    return c->type->kind == MR_STRUCT ? c->children[1].i64 : c->i64;
}

/* expiry[i] of row sel[i] of c (NULL: no time bounds the rows). */
static inline void mr_time_expiry(const struct mr_column *c, const uint32_t *sel, uint32_t n,
                                  int64_t *expiry_us)
{
    const int64_t *times = c ? mr_time_values(c) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        expiry_us[i] = c == NULL || mr_column_is_null(c, row) ? MR_STATE_NEVER : times[row];
    }
}

/* The rows of sel[0..n) that are not late, in out (which may be sel); gives how many. */
static inline uint32_t mr_time_drop_late(const struct mr_column *c, int64_t late_us,
                                         const uint32_t *sel, uint32_t n, uint32_t *out)
{
    const int64_t *times = mr_time_values(c);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        out[kept] = row;
        kept += times[row] > late_us || mr_column_is_null(c, row);
    }
    return kept;
}

/* Rows at or before it are late in this epoch; INT64_MIN: none is. */
static inline int64_t mr_time_late_us(const struct mr_ctx *ctx)
{
    const bool filters = ctx->node->time_rule != MR_TIME_NONE && ctx->node->mode != MR_COMPLETE &&
                         !ctx->epoch->is_batch;
    return filters ? ctx->epoch->late_us : INT64_MIN;
}
