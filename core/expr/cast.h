/* cast.h - the loops of casts, split by source type. Inside core/expr.
 *
 * Rows     sel[0..n) of rows, none of them null. out is allocated by the loop.
 * Errors   A value that does not fit: null if nulls, else the query fails with Spark's condition.
 */
#pragma once
#include "core/expr/coerce.h"
#include "core/expr/writer.h"
#include "core/format/variant/variant.h"

struct cast {
    struct mr_call *call;
    bool nulls; /* a value that does not fit gives NULL */
    uint32_t rows, n;
    const uint32_t *sel;
    bool wraps; /* but an integer that does not fit loses its high bits: ANSI mode is off */
};

#define EACH_CAST_ROW(c, i, row)                                                                   \
    for (uint32_t i = 0, row; i < (c)->n && (row = (c)->sel ? (c)->sel[i] : i, true); i++)

bool mr_cast_is_allowed(const struct mr_type *from, const struct mr_type *to, bool ansi);
enum mr_status mr_cast_any(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                           struct mr_column *out);
enum mr_status mr_cast_integer(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out);
enum mr_status mr_cast_integer_bytes(struct cast *c, const struct mr_column *in,
                                     struct mr_column *out);
enum mr_status mr_cast_double(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                              struct mr_column *out);
enum mr_status mr_cast_decimal(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out);
enum mr_status mr_cast_text(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                            struct mr_column *out);
enum mr_status mr_cast_time(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                            struct mr_column *out);
/* To or from an interval with units. What does not fit fails without ANSI mode, too. */
enum mr_status mr_cast_interval(struct cast *c, const struct mr_column *in,
                                const struct mr_type *to, struct mr_column *out);
enum mr_status mr_cast_variant(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out);
enum mr_status mr_cast_to_variant(struct cast *c, const struct mr_column *in,
                                  struct mr_column *out);
/* Of a scalar that is not null. */
const struct mr_type *mr_cast_variant_type(const struct mr_variant_value *x, struct mr_arena *a);
/* One variant that is no column's, into a builder of type to. */
enum mr_status mr_cast_variant_append(struct cast *c, struct mr_variant v, const struct mr_type *to,
                                      struct mr_builder *b);
enum mr_status mr_cast_to_text(struct cast *c, const struct mr_column *in, struct mr_column *out);

/* The value at row does not fit to: a null, or CAST_OVERFLOW, CAST_INVALID_INPUT,
 * NUMERIC_VALUE_OUT_OF_RANGE. */
enum mr_status mr_cast_overflow(struct cast *c, const struct mr_column *in, uint32_t row,
                                const struct mr_type *to, struct mr_column *out);
enum mr_status mr_cast_invalid(struct cast *c, const struct mr_column *in, uint32_t row,
                               const struct mr_type *to, struct mr_column *out);
enum mr_status mr_cast_out_of_range(struct cast *c, const struct mr_column *in, uint32_t row,
                                    const struct mr_type *to, struct mr_column *out);
/* One value as text, without quotes; nested ones as {1, a}, nulls in them as null, a null as
 * NULL. */
void mr_cast_print(const struct mr_column *in, uint32_t row, const struct mr_eval_context *context,
                   struct mr_buffer *out);
