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

/* Under MR_FN_ALL_ROWS: whether the row has no null argument. */
static inline bool mr_call_has(const struct mr_call *call, uint32_t row)
{
    return call->valid == NULL || mr_bit_get(call->valid, row);
}

/* BOOLEAN results by a test of each row: whole words where all rows are selected, because bits that
 * are put one by one wait for each other. */
static inline __attribute__((always_inline)) void
mr_call_put_bits(const struct mr_call *call, uint64_t *bits, const void *arg,
                 bool (*test)(const void *arg, uint32_t row))
{
    for (uint32_t i = 0; call->sel && i < call->n; i++)
        mr_bit_put(bits, call->sel[i], test(arg, call->sel[i]));
    for (uint32_t at = 0; call->sel == NULL && at < call->n; at += 64) {
        const uint32_t end = call->n - at < 64 ? call->n : at + 64;
        uint64_t word = 0;
        for (uint32_t row = at; row < end; row++)
            word |= (uint64_t)test(arg, row) << (row & 63);
        bits[at / 64] = word;
    }
}

/* LAZY functions: argument number i for some of the call's rows. */
MR_NODISCARD enum mr_status mr_call_argument(struct mr_call *call, uint32_t i, const uint32_t *sel,
                                             uint32_t n, struct mr_column *out);
/* The same for the call's rows whose bit is set; columns and literals come as they are. */
MR_NODISCARD enum mr_status mr_call_argument_where(struct mr_call *call, uint32_t i,
                                                   const uint64_t *rows, struct mr_column *out);
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
