/* format_call.h - what from_json, from_csv, to_json, to_csv and variant_get share: the constant
 * arguments that name a schema and the options of a format. */
#pragma once
#include "core/expr/function.h"
#include "core/format/format.h"

struct mr_format_call { /* data of a call */
    struct mr_option *options;
    uint32_t options_n;
};

/* Argument 0 is a text, or NULL. */
MR_NODISCARD enum mr_status mr_format_call_text(struct mr_resolve *r, struct mr_expr *call);
/* Of a decoder for the type of a call. */
struct mr_decoder_config mr_format_call_config(const struct mr_call *call);
/* Argument i, a constant map of texts; no options without it. */
MR_NODISCARD enum mr_status mr_format_call_options(struct mr_resolve *r, struct mr_expr *call,
                                                   uint32_t i, struct mr_format_call *out);
/* The type of two values that stand for the same thing: fields are those of either; otherwise is
 * what values without a common type have. */
const struct mr_type *mr_schema_merge(const struct mr_type *x, const struct mr_type *y,
                                      const struct mr_type *otherwise, struct mr_arena *a);
/* Argument i, a constant text: "ARRAY<INT>" or "a INT, b STRING". */
MR_NODISCARD enum mr_status mr_format_call_schema(struct mr_resolve *r, struct mr_expr *call,
                                                  uint32_t i, const struct mr_type **out);
