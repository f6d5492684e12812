/* expr.h - resolved expressions, and their evaluation a batch at a time.
 *
 * What     The analyzer makes typed trees of literals, input columns and calls of functions from
 *          one table (function.h). Casts are explicit. mr_eval_open prepares a tree for one worker;
 *          mr_eval computes it for the selected rows of a batch.
 * Rows     A result column has the row numbers of the batch: values stand at the rows of sel, other
 *          rows are undefined. AND, OR, CASE, IF, COALESCE evaluate a branch only under its
 *          selection, because ANSI errors of rows not taken must not rise.
 * Owner    Expressions are immutable and shared. A struct mr_eval belongs to one worker; its
 *          results live until mr_eval_reset (once per batch) or, where they share the input, as
 *          long as it.
 */
#pragma once
#include "core/base/zone.h"
#include "core/batch/batch.h"

enum mr_expr_kind {
    MR_EXPR_LITERAL,  /* value: one row */
    MR_EXPR_COLUMN,   /* index: column of the input batch */
    MR_EXPR_CALL,     /* function over args */
    MR_EXPR_LAMBDA,   /* args[0] is the body; variables_n parameters */
    MR_EXPR_VARIABLE, /* index: parameter of an enclosing lambda, numbered from the outermost */
};

struct mr_function; /* function.h */

/* Where in the user's text an expression stands, for errors. */
struct mr_place {
    uint32_t line, column; /* from 1; 0: unknown */
};

struct mr_expr {
    enum mr_expr_kind kind;
    const struct mr_type *type;
    bool nullable;
    struct mr_place place;
    uint32_t args_n;
    struct mr_expr **args;
    uint32_t index;                     /* COLUMN, VARIABLE */
    uint32_t variables_n;               /* LAMBDA */
    const struct mr_column *value;      /* LITERAL: row 0 */
    const struct mr_function *function; /* CALL */
    const void *data;                   /* CALL: what the function's bind made, or NULL */
    const char *text;                   /* as Spark prints it in names and errors: "(v + 1)" */
};

/* What of which file is being read: input_file_name() and its kin. file: NULL, or as a URI. */
struct mr_input_block {
    const char *file;
    int64_t start, length;
};

/* What the session and the epoch say. */
struct mr_eval_context {
    const struct mr_zone *zone;
    bool ansi;
    int64_t now_us; /* current_timestamp(): the epoch's time */
    uint64_t epoch;
    uint32_t worker;
    struct mr_input_block input;
};

struct mr_eval;

/* exprs[0..n) are evaluated over batches of inputs with at most batch_rows rows. err's condition
 * and place are those of the query. */
MR_NODISCARD enum mr_status mr_eval_open(const struct mr_expr *const *exprs, uint32_t n,
                                         uint32_t batch_rows, struct mr_arena *a,
                                         struct mr_eval **out, struct mr_error *err);
void mr_eval_close(struct mr_eval *e);
/* Before the first expression of a batch: results of the last batch are gone. */
void mr_eval_reset(struct mr_eval *e, const struct mr_eval_context *context);
/* Expression number i for the selected rows of in. Fills out. MR_QUERY: an ANSI error of a row. */
MR_NODISCARD enum mr_status mr_eval(struct mr_eval *e, uint32_t i, const struct mr_batch *in,
                                    struct mr_column *out, struct mr_error *err);
/* A BOOLEAN expression as a filter: rows that are true, of in's selection; sel has room for
 * in->rows. */
MR_NODISCARD enum mr_status mr_eval_filter(struct mr_eval *e, uint32_t i, const struct mr_batch *in,
                                           uint32_t *sel, uint32_t *n, struct mr_error *err);
/* Folds an expression without columns to a literal (at analysis). */
MR_NODISCARD enum mr_status mr_eval_constant(const struct mr_expr *x,
                                             const struct mr_eval_context *context,
                                             struct mr_arena *a, struct mr_expr **out,
                                             struct mr_error *err);

struct mr_expr *mr_expr_column(struct mr_arena *a, uint32_t index, const struct mr_type *type,
                               bool nullable, const char *text);
struct mr_expr *mr_expr_literal_i64(struct mr_arena *a, const struct mr_type *type, int64_t value);
struct mr_expr *mr_expr_literal_text(struct mr_arena *a, struct mr_text value);
struct mr_expr *mr_expr_literal_null(struct mr_arena *a, const struct mr_type *type);
/* For people. */
static inline const char *mr_expr_text(const struct mr_expr *x)
{
    return x->text != NULL ? x->text : "?";
}
/* The same expression, also with the sides of + * = and other such operators exchanged. */
bool mr_expr_equal(const struct mr_expr *a, const struct mr_expr *b);
/* An error of x that has no place gets x's; err may be NULL. */
void mr_expr_place_error(const struct mr_expr *x, struct mr_error *err);
bool mr_expr_is_deterministic(const struct mr_expr *x);
