#include "core/expr/cast.h"

#include "core/base/time.h"
#include "core/expr/decimal.h"
#include "core/format/value.h"

enum { SECOND_SCALE = 6, DIGITS_MAX = 38 };

/* Months or microseconds of the smallest unit of an interval. */
static int64_t unit_of(const struct mr_type *type)
{
    static const int64_t values[2][4] = {
        {12, 1}, {MR_US_PER_DAY, MR_US_PER_HOUR, MR_US_PER_MINUTE, MR_US_PER_SECOND}};

    return values[type->kind == MR_INTERVAL_DAY_TIME][type->scale];
}

static int64_t interval_at(const struct mr_column *c, uint32_t row)
{
    return c->type->kind == MR_INTERVAL_YEAR_MONTH ? c->i32[row] : c->i64[row];
}

/* False: v does not fit. */
static bool put_interval(struct mr_column *out, uint32_t row, __int128 v)
{
    if (out->type->kind == MR_INTERVAL_YEAR_MONTH) {
        out->i32[row] = (int32_t)v;
        return v == (int32_t)v;
    }
    out->i64[row] = (int64_t)v;
    return v == (int64_t)v;
}

static bool from_decimal(const struct mr_column *in, uint32_t row, struct mr_column *out)
{
    __int128 v;

    return mr_decimal_multiply(in->i128[row], unit_of(out->type), in->type->scale, DIGITS_MAX, 0,
                               &v) &&
           put_interval(out, row, v);
}

static bool from_integer(const struct mr_column *in, uint32_t row, struct mr_column *out)
{
    __int128 v = in->type->kind == MR_TINYINT    ? in->i8[row]
                 : in->type->kind == MR_SMALLINT ? in->i16[row]
                 : in->type->kind == MR_INT      ? in->i32[row]
                                                 : in->i64[row];

    return put_interval(out, row, v * unit_of(out->type));
}

static bool to_integer(const struct mr_column *in, uint32_t row, struct mr_column *out)
{
    int64_t v = interval_at(in, row) / unit_of(in->type);

    switch (out->type->kind) {
    case MR_TINYINT:
        out->i8[row] = (int8_t)v;
        return v == out->i8[row];
    case MR_SMALLINT:
        out->i16[row] = (int16_t)v;
        return v == out->i16[row];
    case MR_INT:
        out->i32[row] = (int32_t)v;
        return v == out->i32[row];
    default:
        out->i64[row] = v;
        return true;
    }
}

/* Seconds with their fraction, other units whole. */
static bool to_decimal(const struct mr_column *in, uint32_t row, struct mr_column *out)
{
    int64_t unit = unit_of(in->type), v = interval_at(in, row);
    bool seconds = unit == MR_US_PER_SECOND;

    return mr_decimal_rescale(seconds ? v : v / unit, seconds ? SECOND_SCALE : 0, out->type->scale,
                              out->type->precision, &out->i128[row]);
}

static enum mr_status bad_text(struct cast *c, enum mr_units_parsed parsed, struct mr_text t,
                               const struct mr_type *to)
{
    const char *condition = parsed == MR_UNITS_OUT_OF_RANGE
                                ? "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING"
                            : to->kind == MR_INTERVAL_YEAR_MONTH
                                ? "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"
                                : "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE";

    return MR_FAIL_CONDITION(c->call->err, MR_QUERY, condition,
                             "Error parsing '%.*s' to interval. It must be as an %s is printed, or "
                             "what stands there between the quotes.",
                             (int)(t.n < 512 ? t.n : 512), t.data, mr_type_sql(c->call->arena, to));
}

static enum mr_status put(struct cast *c, const struct mr_column *in, uint32_t row,
                          struct mr_column *out)
{
    struct cast raising = *c;
    bool fits;

    raising.nulls = c->nulls && !c->wraps;
    if (in->type->kind == MR_STRING) {
        struct mr_text t = mr_column_text(in, row);
        int64_t v = 0;
        enum mr_units_parsed parsed = mr_value_parse_interval_units(t, out->type, &v);
        if (parsed == MR_UNITS_PARSED) {
            (void)put_interval(out, row, v);
            return MR_OK;
        }
        return raising.nulls ? mr_cast_overflow(&raising, in, row, out->type, out)
                             : bad_text(c, parsed, t, out->type);
    }
    if (in->type->kind == out->type->kind) {
        int64_t v = interval_at(in, row);
        (void)put_interval(out, row, v - v % unit_of(out->type));
        return MR_OK;
    }
    if (out->type->kind == MR_DECIMAL)
        return to_decimal(in, row, out) ? MR_OK
                                        : mr_cast_out_of_range(&raising, in, row, out->type, out);
    fits = mr_type_is_units(in->type)     ? to_integer(in, row, out)
           : in->type->kind == MR_DECIMAL ? from_decimal(in, row, out)
                                          : from_integer(in, row, out);
    return fits ? MR_OK : mr_cast_overflow(&raising, in, row, out->type, out);
}

enum mr_status mr_cast_interval(struct cast *c, const struct mr_column *in,
                                const struct mr_type *to, struct mr_column *out)
{
    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        enum mr_status status = put(c, in, row, out);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}
