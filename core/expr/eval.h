/* eval.h - what the bodies of functions may ask of the evaluator.
 *
 * Use      Bodies in core/expr only; operators use expr.h.
 * Rows     A body fills out at the rows sel[0..n) of call->rows; it walks them with MR_EACH_ROW.
 */
#pragma once
#include "core/base/check.h"
#include "core/expr/function.h"

/* Every body has this shape; functions.def declares them all. */
#define MR_BODY(name)                                                                              \
    enum mr_status mr_fn_##name(struct mr_call *call, const struct mr_column *args,                \
                                struct mr_column *out)
#define MR_RESOLVE(name)                                                                           \
    enum mr_status mr_resolve_##name(struct mr_resolve *r, struct mr_expr *call)
#define MR_GENERATE(name)                                                                          \
    enum mr_status mr_generate_##name(struct mr_call *call, const struct mr_column *args,          \
                                      struct mr_generated *out)

/* i counts the selected rows, row is the row of the columns. */
#define MR_EACH_ROW(call, i, row)                                                                  \
    for (uint32_t i = 0, row = (call)->n && (call)->sel ? (call)->sel[0] : 0; i < (call)->n;       \
         i++, row = (call)->sel ? (i < (call)->n ? (call)->sel[i] : 0) : i)

/* LAZY functions: argument number i for some of the call's rows. */
MR_NODISCARD enum mr_status mr_call_argument(struct mr_call *call, uint32_t i, const uint32_t *sel,
                                             uint32_t n, struct mr_column *out);
/* Functions of a lambda: evaluates argument number i (a LAMBDA) over rows of its own.
 * parameters[0..n): columns of rows rows; parents[row]: the row of the call to which it belongs.
 * All rows selected. */
MR_NODISCARD enum mr_status mr_call_lambda(struct mr_call *call, uint32_t i, uint32_t rows,
                                           const struct mr_column *parameters, uint32_t n,
                                           const uint32_t *parents, struct mr_column *out);
static inline bool mr_call_is_literal(const struct mr_call *call, uint32_t i)
{
    return call->expr->args[i]->kind == MR_EXPR_LITERAL;
}
/* INVALID_PARAMETER_VALUE: a number out of the range that the function takes. */
enum mr_status mr_call_argument_error(struct mr_call *call, const char *name, int64_t value);
