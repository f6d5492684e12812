/* batch.h - a set of rows in columns, with a selection.
 *
 * Owner    A batch owns nothing; see column.h. What must outlive a step is copied (builder.h).
 * Rows     rows: how many each column has. Selected are sel[0..n), ascending; sel NULL: all, n =
 *          rows.
 */
#pragma once
#include "core/base/bounds.h"
#include "core/batch/column.h"

struct mr_batch {
    struct mr_column *columns;
    uint32_t columns_n;
    uint32_t rows;
    uint32_t n;          /* selected rows */
    const uint32_t *sel; /* NULL: all */
    uint32_t port;       /* which input of an operator with several */
    /* By row, of a batch out of an exchange by hash: its keys as state/row.h encodes them, with
     * MR_PAD_BYTES readable behind each, and their hashes. Else NULL. */
    const struct mr_text *keys;
    const uint64_t *hashes;
};

static inline uint32_t mr_batch_row(const struct mr_batch *b, uint32_t i)
{
    return b->sel ? b->sel[i] : i;
}

/* Columns shared, the same rows selected; without the keys, which are for the next operator
 * only. */
static inline void mr_batch_view(struct mr_batch *out, const struct mr_batch *in)
{
    *out = *in;
    out->keys = NULL;
    out->hashes = NULL;
}

/* A deep copy of the selected rows, dense. */
void mr_batch_copy(struct mr_batch *out, const struct mr_batch *in, struct mr_arena *a);
/* Checks layout and bounds of all columns (views within heaps, offsets ascending, UTF-8 not
 * checked): for tests and MR_VERIFY. */
bool mr_batch_is_valid(const struct mr_batch *b);
