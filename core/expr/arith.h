/* arith.h - binary arithmetic: shared by the files that implement it. Inside core/expr.
 *
 * Rows     Bodies run with MR_FN_ALL_ROWS: rows that call->valid excludes are computed or skipped,
 *          and never raise.
 */
#pragma once
#include "core/expr/coerce.h"
#include "core/expr/writer.h"
#include "kernels/arith/arith.h"

enum arith { ADD, SUBTRACT, MULTIPLY, DIVIDE, INT_DIVIDE, REMAINDER, PMOD };
enum overflow { RAISE, NULLS, WRAP };

struct arith_call {
    struct mr_call *call;
    enum arith op;
    enum overflow overflow;
};

enum mr_status mr_arith_overflow(const struct arith_call *a, struct mr_column *out, uint32_t row);
enum mr_status mr_arith_by_zero(const struct arith_call *a, struct mr_column *out, uint32_t row);
enum mr_status mr_arith_decimal(const struct arith_call *a, const struct mr_column *x,
                                const struct mr_column *y, struct mr_column *out);
/* Result type of two decimals, Spark's rules. */
const struct mr_type *mr_arith_decimal_type(struct mr_arena *arena, enum arith op,
                                            const struct mr_type *x, const struct mr_type *y);
/* Dates, timestamps and intervals: rewrites the call and says so. */
enum mr_status mr_arith_resolve_time(struct mr_resolve *r, struct mr_expr *call, enum arith op,
                                     bool *done);
