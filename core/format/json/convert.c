#include "core/format/json/convert.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/json/reader.h"
#include "core/format/value.h"
#include <math.h>

/* Spark 1.5 wrote dates as days since 1970. */
static bool convert_date(const struct mr_temporal *t, struct mr_text text, struct mr_arena *scratch,
                         int64_t *out)
{
    int64_t number;

    if (mr_temporal_parse_date(t, text, scratch, out))
        return true;
    if (!t->date_fallback || text.data[0] <= ' ' || text.data[text.n - 1] <= ' ' ||
        !mr_value_parse_integer(text, INT32_MIN, INT32_MAX, &number))
        return false;
    *out = mr_temporal_rebase_days(number);
    return true;
}

/* Only these texts stand for doubles, and only if the option allows it. */
static bool convert_non_numeric(const struct json_plan *plan, struct mr_text t, double *out)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {
        {"NaN", NAN},           {"+INF", INFINITY},  {"+Infinity", INFINITY},
        {"Infinity", INFINITY}, {"-INF", -INFINITY}, {"-Infinity", -INFINITY},
    };

    if (!plan->options.non_numeric)
        return false;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mr_text_equal(t, mr_text_of(names[i].name))) {
            *out = names[i].value;
            return true;
        }
    }
    return false;
}

/* A text that is whole already: followed by a quote, it is read like one that is not. */
static bool convert_binary(const struct json_plan *plan, struct mr_text t, struct mr_arena *scratch,
                           struct mr_text *out)
{
    uint8_t *copy = (uint8_t *)mr_arena_copy(scratch, t.data, t.n);
    struct json_reader r = {
        .options = &plan->options, .scratch = scratch, .p = copy, .end = copy + t.n + 1};

    copy[t.n] = '"';
    return json_read_base64(&r, out) && r.p == r.end;
}

static bool convert_double_text(const struct json_plan *plan, const struct mr_type *type,
                                struct mr_text t, struct mr_cell *out)
{
    double x;

    if (!convert_non_numeric(plan, t, &x))
        return false;
    if (type->kind == MR_FLOAT)
        out->f32 = (float)x;
    else
        out->f64 = x;
    return true;
}

bool json_convert_text(const struct json_plan *plan, const struct mr_type *type, struct mr_text t,
                       struct mr_arena *scratch, struct mr_cell *out)
{
    out->is_null = false;
    if (type->kind == MR_STRING) {
        out->text = t;
        return true;
    }
    if (type->kind == MR_BINARY)
        return convert_binary(plan, t, scratch, &out->text);
    if (t.n == 0)
        return false;
    switch (type->kind) {
    case MR_TIMESTAMP:
        return mr_temporal_parse_timestamp(&plan->options.temporal, t, scratch, &out->i64);
    case MR_TIMESTAMP_NTZ:
        return mr_temporal_parse_timestamp_ntz(&plan->options.temporal, t, &out->i64);
    case MR_DATE:
        return convert_date(&plan->options.temporal, t, scratch, &out->i64);
    case MR_FLOAT:
    case MR_DOUBLE:
        return convert_double_text(plan, type, t, out);
    case MR_DECIMAL:
        return mr_cell_parse_decimal(type, t, scratch, &out->i128);
    case MR_INTERVAL_CALENDAR:
    case MR_INTERVAL_YEAR_MONTH:
    case MR_INTERVAL_DAY_TIME:
        return mr_cell_parse_interval(type, t, out);
    default:
        return false;
    }
}

bool json_convert_number(const struct mr_type *type, struct mr_text t, bool integer,
                         struct mr_cell *out)
{
    out->is_null = false;
    switch (type->kind) {
    case MR_TINYINT: /* Jackson's byte goes up to 255, and wraps */
        if (!integer || !mr_value_parse_integer(t, INT8_MIN, UINT8_MAX, &out->i64))
            return false;
        out->i64 = (int8_t)out->i64;
        return true;
    case MR_SMALLINT:
        return integer && mr_value_parse_integer(t, INT16_MIN, INT16_MAX, &out->i64);
    case MR_INT:
        return integer && mr_value_parse_integer(t, INT32_MIN, INT32_MAX, &out->i64);
    case MR_BIGINT:
        return integer && mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &out->i64);
    case MR_TIMESTAMP: /* seconds; the product wraps, as in Java */
        if (!integer || !mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &out->i64))
            return false;
        out->i64 = (int64_t)((uint64_t)out->i64 * (uint64_t)MR_US_PER_SECOND);
        return true;
    case MR_FLOAT:
        if (!mr_value_parse_float(t, &out->f32))
            return false;
        if (integer && out->f32 == 0)
            out->f32 = 0;
        return true;
    case MR_DOUBLE:
        if (!mr_value_parse_double(t, &out->f64))
            return false;
        if (integer && out->f64 == 0)
            out->f64 = 0; /* the integer -0 is 0 */
        return true;
    case MR_DECIMAL:
        return mr_value_parse_decimal(t, type->precision, type->scale, &out->i128);
    default:
        return false;
    }
}
