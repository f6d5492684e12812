#include "core/expr/cast.h"

#include "core/base/time.h"
#include "core/expr/decimal.h"
#include <math.h>

static int64_t integer_at(const struct mr_column *c, uint32_t row)
{
    switch (c->type->kind) {
    case MR_BOOLEAN:
        return mr_bit_get(c->bits, row);
    case MR_TINYINT:
        return c->i8[row];
    case MR_SMALLINT:
        return c->i16[row];
    case MR_INT:
        return c->i32[row];
    default:
        return c->i64[row];
    }
}

/* False: v does not fit. */
static bool put_integer(struct mr_column *out, uint32_t row, int64_t v)
{
    switch (out->type->kind) {
    case MR_TINYINT:
        out->i8[row] = (int8_t)v;
        return v == (int8_t)v;
    case MR_SMALLINT:
        out->i16[row] = (int16_t)v;
        return v == (int16_t)v;
    case MR_INT:
        out->i32[row] = (int32_t)v;
        return v == (int32_t)v;
    default:
        out->i64[row] = v;
        return true;
    }
}

enum mr_status mr_cast_integer(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out)
{
    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        int64_t v = integer_at(in, row);
        enum mr_status status = MR_OK;
        switch (to->kind) {
        case MR_BOOLEAN:
            mr_bit_put(out->bits, row, v != 0);
            break;
        case MR_FLOAT:
            out->f32[row] = (float)v;
            break;
        case MR_DOUBLE:
            out->f64[row] = (double)v;
            break;
        case MR_DECIMAL:
            if (!mr_decimal_rescale(v, 0, to->scale, to->precision, &out->i128[row]))
                status = mr_cast_out_of_range(c, in, row, to, out);
            break;
        case MR_TIMESTAMP: /* seconds; beyond the range it stays at its end, as in Spark */
            if (__builtin_mul_overflow(v, MR_US_PER_SECOND, &out->i64[row]))
                out->i64[row] = v < 0 ? INT64_MIN : INT64_MAX;
            break;
        default:
            if (!put_integer(out, row, v) && !c->wraps)
                status = mr_cast_overflow(c, in, row, to, out);
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static const double integer_limits[] = {
    [MR_TINYINT] = 0x1p7, [MR_SMALLINT] = 0x1p15, [MR_INT] = 0x1p31, [MR_BIGINT] = 0x1p63};

/* Truncates toward zero; the whole part must fit. */
static bool put_truncated(struct mr_column *out, uint32_t row, double v)
{
    double limit = integer_limits[out->type->kind], whole = trunc(v);

    if (!(whole >= -limit && whole < limit))
        return false;
    return put_integer(out, row, (int64_t)whole);
}

enum mr_status mr_cast_double(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                              struct mr_column *out)
{
    bool is_float = in->type->kind == MR_FLOAT;

    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        double v = is_float ? (double)in->f32[row] : in->f64[row];
        enum mr_status status = MR_OK;
        switch (to->kind) {
        case MR_BOOLEAN:
            mr_bit_put(out->bits, row, v != 0);
            break;
        case MR_FLOAT:
            out->f32[row] = (float)v;
            break;
        case MR_DOUBLE:
            out->f64[row] = v;
            break;
        case MR_DECIMAL:
            if (!isfinite(v))
                mr_column_put_null(out, row, c->rows, c->call->arena); /* no number: no overflow */
            else if (!mr_decimal_from_double(v, to->precision, to->scale, &out->i128[row]))
                status = mr_cast_out_of_range(c, in, row, to, out);
            break;
        case MR_TIMESTAMP:
            if (isnan(v) || isinf(v))
                status = mr_cast_invalid(c, in, row, to, out);
            else if (v * 1e6 >= 0x1p63 || v * 1e6 < -0x1p63)
                out->i64[row] = v < 0 ? INT64_MIN : INT64_MAX;
            else
                out->i64[row] = (int64_t)(v * 1e6);
            break;
        default:
            if (!put_truncated(out, row, v))
                status = mr_cast_overflow(c, in, row, to, out);
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

enum mr_status mr_cast_decimal(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out)
{
    uint32_t scale = in->type->scale;
    __int128 power = mr_decimal_power(scale);

    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        __int128 v = in->i128[row], whole = v / power, us;
        enum mr_status status = MR_OK;
        switch (to->kind) {
        case MR_BOOLEAN:
            mr_bit_put(out->bits, row, v != 0);
            break;
        case MR_FLOAT:
            out->f32[row] = (float)mr_decimal_to_double(v, scale);
            break;
        case MR_DOUBLE:
            out->f64[row] = mr_decimal_to_double(v, scale);
            break;
        case MR_DECIMAL:
            if (!mr_decimal_rescale(v, scale, to->scale, to->precision, &out->i128[row]))
                status = mr_cast_out_of_range(c, in, row, to, out);
            break;
        case MR_TIMESTAMP:
            us = scale > 6
                     ? v / mr_decimal_power(scale - 6)
                     : whole * MR_US_PER_SECOND + (v % power) * (MR_US_PER_SECOND / (int64_t)power);
            out->i64[row] = (int64_t)us;
            if (us != out->i64[row])
                status = mr_cast_overflow(c, in, row, to, out);
            break;
        default:
            if (whole != (int64_t)whole || !put_integer(out, row, (int64_t)whole))
                status = mr_cast_overflow(c, in, row, to, out);
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}
