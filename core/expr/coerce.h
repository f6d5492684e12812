/* coerce.h - Spark's implicit casts, and the errors when types do not fit.
 *
 * Use      resolve functions. An implicit cast keeps the text of what it casts, as in Spark's
 *          names.
 */
#pragma once
#include "core/expr/eval.h"

/* x as type without asking whether it may be; x itself if it has the type. */
struct mr_expr *mr_coerce(struct mr_resolve *r, struct mr_expr *x, const struct mr_type *type);
/* Argument i implicitly cast to type, or UNEXPECTED_INPUT_TYPE with what names what is required
 * (NULL: the type itself). */
MR_NODISCARD enum mr_status mr_coerce_argument(struct mr_resolve *r, struct mr_expr *call,
                                               uint32_t i, const struct mr_type *type,
                                               const char *what);
/* Arguments [from, to) cast to their common type, or DATATYPE_MISMATCH.DATA_DIFF_TYPES. */
MR_NODISCARD enum mr_status mr_coerce_common(struct mr_resolve *r, struct mr_expr *call,
                                             uint32_t from, uint32_t to,
                                             const struct mr_type **type);
/* Their common type, or NULL. Without ANSI mode texts come first, whatever their order. */
const struct mr_type *mr_type_common_of(struct mr_resolve *r, struct mr_expr *const *x, uint32_t n);
/* The type in which two are compared, or NULL: without ANSI mode not the one of mr_type_common. */
const struct mr_type *mr_type_common_compared(const struct mr_type *a, const struct mr_type *b,
                                              bool ansi, struct mr_arena *arena);
/* DATATYPE_MISMATCH.<sub>: Cannot resolve "<text>" due to data type mismatch: <format>. */
enum mr_status mr_mismatch(struct mr_resolve *r, const struct mr_expr *call, const char *sub,
                           const char *format, ...) MR_PRINTF(4, 5);
/* UNEXPECTED_INPUT_TYPE: The first parameter requires the <what> type, however "x" has the type
 * "T". */
enum mr_status mr_mismatch_argument(struct mr_resolve *r, const struct mr_expr *call, uint32_t i,
                                    const char *what);
/* A cast that was put over a literal becomes a literal itself: what resolve then reads. */
MR_NODISCARD enum mr_status mr_fold_cast(struct mr_resolve *r, struct mr_expr **x);
/* NON_FOLDABLE_INPUT unless argument i is a literal (the analyzer folds constants first). */
MR_NODISCARD enum mr_status mr_require_literal(struct mr_resolve *r, const struct mr_expr *call,
                                               uint32_t i, const char *name);
/* UNEXPECTED_INPUT_TYPE unless argument i is an INT or smaller: a place in an array. */
MR_NODISCARD enum mr_status mr_require_place(struct mr_resolve *r, const struct mr_expr *call,
                                             uint32_t i);
/* The units of two intervals of one kind. */
const struct mr_type *mr_type_units_of_both(const struct mr_type *a, const struct mr_type *b,
                                            struct mr_arena *arena);
const char *mr_type_sql(struct mr_arena *a, const struct mr_type *type); /* "DECIMAL(10,2)" */
bool mr_expr_is_null_literal(const struct mr_expr *x);
bool mr_expr_any_nullable(const struct mr_expr *call);

/* The wider decimal that holds both, bounded to 38 digits. */
const struct mr_type *mr_decimal_wider(struct mr_arena *a, const struct mr_type *x,
                                       const struct mr_type *y);
/* The decimal that holds every value of a numeric type: INT is (10,0). */
const struct mr_type *mr_decimal_of(struct mr_arena *a, const struct mr_type *type);
