/* gather.h - columns made of rows of others, inside one evaluation.
 *
 * Owner    Shallow: long texts stay in the heaps of the columns they come from.
 */
#pragma once
#include "core/batch/builder.h"

enum { MR_CHOOSE_NULL = 255, MR_CHOOSE_MAX = 255 };

/* Row i of out is row rows[i] of in; UINT32_MAX: null. */
void mr_column_gather(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                      uint32_t n, struct mr_arena *a);
/* The same, sharing nothing. */
void mr_column_gather_deep(struct mr_column *out, const struct mr_column *in, const uint32_t *rows,
                           uint32_t n, struct mr_arena *a);
/* Row 0 of in, n times. */
void mr_column_repeat(struct mr_column *out, const struct mr_column *in, uint32_t n,
                      struct mr_arena *a);
/* Values for the rows whose bit is set; a column of type VOID has none. */
struct mr_branch {
    struct mr_column values;
    const uint64_t *rows;
};
/* Each row has the value of the branch that has it, and only one may; without any it is null. May
 * share the data of a branch. */
void mr_column_merge(struct mr_column *out, const struct mr_type *type,
                     const struct mr_branch *branches, uint32_t n, uint32_t rows,
                     struct mr_arena *a);
/* At the rows of sel: the value of columns[which[row]], or null for MR_CHOOSE_NULL. */
void mr_column_choose(struct mr_column *out, const struct mr_type *type,
                      const struct mr_column *columns, uint32_t columns_n, const uint8_t *which,
                      uint32_t rows, const uint32_t *sel, uint32_t n, struct mr_arena *a);
