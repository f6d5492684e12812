/* convert.h - JSON tokens of scalar types -> values, by the rules of Spark's JacksonParser.
 *
 * Use      The fast and the exact path share it, so that they can't differ in what a value means.
 */
#pragma once
#include "core/format/heaps.h"
#include "core/format/json/plan.h"

struct json_value {
    bool is_null;
    union {
        int64_t i64; /* integers, BOOLEAN, DATE, TIMESTAMP*, intervals */
        double f64;
        float f32;
        __int128 i128;
        struct mr_text text; /* STRING, BINARY: in the input or in the scratch arena */
        struct mr_calendar_interval calendar;
        struct {
            struct json_value *items; /* STRUCT: fields; ARRAY: elements; MAP: key, value, key, .. */
            uint64_t items_n;
        };
    };
};

/* False when Spark would not take that token for the type. */
bool json_convert_text(const struct json_plan *plan, const struct mr_type *type, struct mr_text t,
                       struct mr_arena *scratch, struct json_value *out);
/* integer: the token has neither dot nor exponent. A number for STRING is not converted here. */
bool json_convert_number(const struct mr_type *type, struct mr_text t, bool integer,
                         struct json_value *out);

/* Puts a scalar that is not null into a row. */
void json_store(struct mr_column *c, uint32_t row, const struct json_value *v,
                struct mr_heaps *heaps);
