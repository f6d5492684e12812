#include "core/expr/coerce.h"
#include "core/expr/decimal.h"
#include "kernels/arith/arith.h"

#include <math.h>

MR_RESOLVE(sign_of)
{
    struct mr_expr *x = call->args[0];
    bool interval = x->type->kind == MR_INTERVAL_DAY_TIME ||
                    x->type->kind == MR_INTERVAL_YEAR_MONTH ||
                    x->type->kind == MR_INTERVAL_CALENDAR;

    if (x->type->kind == MR_STRING || x->type->kind == MR_VOID)
        call->args[0] = mr_coerce(r, x, &mr_type_double);
    else if (!mr_type_is_numeric(x->type) && !interval)
        return mr_mismatch_argument(r, call, 0, "(\"NUMERIC\" or \"INTERVAL\")");
    call->type = call->args[0]->type;
    call->nullable = x->nullable;
    return MR_OK;
}

MR_BODY(positive)
{
    (void)call;
    *out = args[0];
    return MR_OK;
}

static enum mr_status overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(
        call->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
        "overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to "
        "bypass this error.");
}

/* All rows; the least value has no opposite. */
#define NEGATE(member, type, utype, min)                                                           \
    {                                                                                              \
        const type *from = x->member;                                                              \
        type *to = out->member;                                                                    \
        bool bad = false;                                                                          \
        for (uint32_t row = 0; row < rows; row++) {                                                \
            type v = from[row];                                                                    \
            bad |= v == (min);                                                                     \
            to[row] = only_negative && v >= 0 ? v : (type)(0 - (utype)v);                          \
        }                                                                                          \
        if (!bad || !call->context->ansi)                                                          \
            break;                                                                                 \
        MR_EACH_ROW(call, i, row)                                                                  \
        if (from[row] == (min) && mr_call_has(call, row))                                          \
            return overflow(call);                                                                 \
        break;                                                                                     \
    }

#define NEGATE_REAL(member, type)                                                                  \
    {                                                                                              \
        const type *from = x->member;                                                              \
        type *to = out->member;                                                                    \
        for (uint32_t row = 0; row < rows; row++)                                                  \
            to[row] = only_negative && !signbit(from[row]) ? from[row] : -from[row];               \
        break;                                                                                     \
    }

/* Spark turns the sign by 34 digits, half to even; 38 nines have no room then. */
static enum mr_status negate_decimal(struct mr_call *call, const struct mr_column *x,
                                     bool only_negative, struct mr_column *out)
{
    enum { KEPT = 34 };
    const __int128 exact = mr_decimal_power(KEPT);

    MR_EACH_ROW(call, i, row)
    {
        if (!mr_call_has(call, row))
            continue;
        __int128 v = x->i128[row], size = v < 0 ? -v : v, unit = 1;
        if (only_negative && v >= 0) {
            out->i128[row] = v;
            continue;
        }
        while (size / unit >= exact)
            unit *= 10;
        __int128 rest = size % unit, kept = size / unit;
        kept += rest > unit - rest || (rest == unit - rest && kept % 2 != 0);
        if (!mr_decimal_fits(kept * unit, x->type->precision))
            return MR_FAIL_CONDITION(call->err, MR_QUERY,
                                     "NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION",
                                     "a DECIMAL of 38 digits has no room for what rounding adds.");
        out->i128[row] = v < 0 ? kept * unit : -kept * unit;
    }
    return MR_OK;
}

/* |x| of INT and BIGINT by a kernel. False: another type, or a value to look for. */
static bool abs_plainly(struct mr_call *call, const struct mr_column *x, struct mr_column *out)
{
    if (x->type->kind == MR_INT)
        return !mr_arith->abs_i32(out->i32, x->i32, call->rows);
    return x->type->kind == MR_BIGINT && !mr_arith->abs_i64(out->i64, x->i64, call->rows);
}

/* -x, or where only_negative |x|. */
static enum mr_status negate(struct mr_call *call, const struct mr_column *x, bool only_negative,
                             struct mr_column *out)
{
    const uint32_t rows = call->rows;

    mr_column_alloc(out, call->expr->type, rows, false, call->arena);
    if (only_negative && abs_plainly(call, x, out))
        return MR_OK;
    switch (x->type->kind) {
    case MR_TINYINT:
        NEGATE(i8, int8_t, uint8_t, INT8_MIN)
    case MR_SMALLINT:
        NEGATE(i16, int16_t, uint16_t, INT16_MIN)
    case MR_INT:
    case MR_INTERVAL_YEAR_MONTH:
        NEGATE(i32, int32_t, uint32_t, INT32_MIN)
    case MR_BIGINT:
    case MR_INTERVAL_DAY_TIME:
        NEGATE(i64, int64_t, uint64_t, INT64_MIN)
    case MR_FLOAT:
        NEGATE_REAL(f32, float)
    case MR_DOUBLE:
        NEGATE_REAL(f64, double)
    case MR_INTERVAL_CALENDAR:
        MR_EACH_ROW(call, i, row)
        if (mr_call_has(call, row))
            out->calendar[row] = (struct mr_calendar_interval){
                -x->calendar[row].months, -x->calendar[row].days, -x->calendar[row].us};
        break;
    default:
        return negate_decimal(call, x, only_negative, out);
    }
    return MR_OK;
}

MR_BODY(negative)
{
    return negate(call, args, false, out);
}
MR_BODY(abs)
{
    return negate(call, args, true, out);
}
