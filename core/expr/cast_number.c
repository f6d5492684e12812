#include "core/expr/cast.h"

#include "core/base/time.h"
#include "core/expr/decimal.h"
#include <endian.h>
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
            if (in->type->kind == MR_BOOLEAN)
                out->i64[row] = v;
            else if (__builtin_mul_overflow(v, MR_US_PER_SECOND, &out->i64[row]))
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

/* Without ANSI mode: as BINARY, the highest byte first. */
enum mr_status mr_cast_integer_bytes(struct cast *c, const struct mr_column *in,
                                     struct mr_column *out)
{
    uint32_t bytes = mr_type_value_bytes(in->type);
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_binary, c->rows, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        uint64_t v = htobe64((uint64_t)integer_at(in, row));
        memcpy(mr_text_writer_room(&w, bytes), (const char *)&v + sizeof v - bytes, bytes);
        mr_text_writer_put(&w, row, bytes);
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

/* As Java narrows: NaN is 0, INT and BIGINT stay at their ends, smaller ones keep the low bits of
 * an INT. */
static void put_narrowed(struct mr_column *out, uint32_t row, double v)
{
    double limit = integer_limits[out->type->kind == MR_BIGINT ? MR_BIGINT : MR_INT];
    int64_t end = out->type->kind == MR_BIGINT ? INT64_MAX : INT32_MAX;

    (void)put_integer(out, row,
                      isnan(v)      ? 0
                      : v >= limit  ? end
                      : v <= -limit ? -end - 1
                                    : (int64_t)v);
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
            else if (v * 1e6 < 0x1p63 && v * 1e6 >= -0x1p63)
                out->i64[row] = (int64_t)(v * 1e6);
            else if (c->wraps)
                out->i64[row] = v < 0 ? INT64_MIN : INT64_MAX;
            else
                status = mr_cast_overflow(c, in, row, to, out);
            break;
        default:
            if (c->wraps)
                put_narrowed(out, row, v);
            else if (!put_truncated(out, row, v))
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
        __int128 v = in->i128[row], whole = v / power;
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
        case MR_TIMESTAMP: /* in either mode the low 64 bits, as Java's BigDecimal.longValue */
            out->i64[row] =
                scale > 6 ? (int64_t)(v / mr_decimal_power(scale - 6))
                          : (int64_t)((unsigned __int128)v * (uint64_t)mr_decimal_power(6 - scale));
            break;
        default:
            if (c->wraps)
                (void)put_integer(out, row, (int64_t)whole);
            else if (whole != (int64_t)whole || !put_integer(out, row, (int64_t)whole))
                status = mr_cast_overflow(c, in, row, to, out);
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}
