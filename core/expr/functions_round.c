#include "core/expr/coerce.h"
#include "core/expr/decimal.h"
#include "core/expr/writer.h"
#include "core/format/value.h"
#include "kernels/arith/arith.h"

#include <math.h>
#include <stdio.h>

/* round, bround, floor, ceil. Doubles round by their shortest text, as Java's BigDecimal of it. */

enum rounding { HALF_UP, HALF_EVEN, FLOOR, CEILING };

static enum rounding rounding_of(const struct mr_function *f)
{
    return f->name[0] == 'r'   ? HALF_UP
           : f->name[0] == 'b' ? HALF_EVEN
           : f->name[0] == 'f' ? FLOOR
                               : CEILING;
}

static enum mr_status scale_of(struct mr_resolve *r, struct mr_expr *call, int32_t *scale)
{
    enum mr_status status;

    *scale = 0;
    if (call->args_n < 2)
        return MR_OK;
    status = mr_coerce_argument(r, call, 1, &mr_type_int, NULL);
    if (status == MR_OK)
        status = mr_fold_cast(r, &call->args[1]);
    if (status == MR_OK)
        status = mr_require_literal(r, call, 1, "scale");
    if (status == MR_OK && !mr_expr_is_null_literal(call->args[1]))
        *scale = call->args[1]->value->i32[0];
    return status;
}

/* floor and ceil without a scale give BIGINT, of decimals DECIMAL(p - s + 1, 0). */
MR_RESOLVE(round)
{
    struct mr_expr *x = call->args[0];
    bool whole = rounding_of(call->function) >= FLOOR;
    int32_t *scale = MR_NEW(r->arena, int32_t), kept;
    enum mr_status status = scale_of(r, call, scale);

    if (status != MR_OK)
        return status;
    if (x->type->kind == MR_STRING || x->type->kind == MR_VOID)
        call->args[0] = x = mr_coerce(r, x, &mr_type_double);
    if (!mr_type_is_numeric(x->type))
        return mr_mismatch_argument(r, call, 0, "\"NUMERIC\"");
    if (whole && call->args_n == 2 && x->type->kind != MR_DECIMAL)
        call->args[0] = x = mr_coerce(r, x, mr_decimal_of(r->arena, x->type));
    else if (whole && mr_type_is_integer(x->type))
        call->args[0] = x = mr_coerce(r, x, &mr_type_bigint);
    else if (whole && x->type->kind == MR_FLOAT)
        call->args[0] = x = mr_coerce(r, x, &mr_type_double);
    call->data = scale;
    call->type = whole && x->type->kind == MR_DOUBLE ? &mr_type_bigint : x->type;
    if (x->type->kind == MR_DECIMAL) {
        int32_t digits = x->type->precision - x->type->scale + 1;
        kept = *scale < x->type->scale ? *scale : x->type->scale;
        kept = kept < 0 ? 0 : kept;
        digits = digits + kept > MR_DECIMAL_DIGITS ? MR_DECIMAL_DIGITS : digits + kept;
        call->type = mr_type_decimal(r->arena, (uint32_t)digits, (uint32_t)kept);
    }
    call->nullable = x->nullable;
    return MR_OK;
}

/* v / 10^digits, rounded; digits > 0. */
static __int128 cut(__int128 v, uint32_t digits, enum rounding how)
{
    __int128 power, quotient, rest;
    int sign = v < 0 ? -1 : 1;

    if (digits > 38)
        return how == FLOOR && v < 0 ? -1 : how == CEILING && v > 0 ? 1 : 0;
    power = mr_decimal_power(digits);
    quotient = v / power;
    rest = (v % power) * sign;
    switch (how) {
    case FLOOR:
        return quotient - (v < 0 && rest != 0);
    case CEILING:
        return quotient + (v > 0 && rest != 0);
    case HALF_UP:
        return quotient + (rest >= power - rest && rest != 0 ? sign : 0);
    default:
        if (rest > power - rest || (rest == power - rest && quotient % 2 != 0))
            return quotient + sign;
        return quotient;
    }
}

static enum mr_status overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(
        call->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
        "Overflow. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to "
        "bypass this error.");
}

/* Digits of a double are those of its shortest text: mantissa and exponent. False: not finite. */
static bool digits_of(double v, __int128 *mantissa, int32_t *exponent)
{
    char text[MR_VALUE_TEXT];
    uint32_t n = mr_value_print_double(v, text);
    bool negative = false, point = false;

    if (!isfinite(v))
        return false;
    *mantissa = 0;
    *exponent = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (text[i] == '-') {
            negative = true;
        } else if (text[i] == '.') {
            point = true;
        } else if (text[i] == 'E') {
            int32_t e = 0, sign = 1;
            for (i++; i < n; i++)
                if (text[i] == '-')
                    sign = -1;
                else
                    e = e * 10 + (text[i] - '0');
            *exponent += sign * e;
        } else {
            *mantissa = *mantissa * 10 + (text[i] - '0');
            *exponent -= point;
        }
    }
    *mantissa = negative ? -*mantissa : *mantissa;
    return true;
}

/* Without the digits of the text. A double of at most 15 digits is the text's value when it is the
 * nearest one to it, so a tie of the text shows as the double nearest to that tie. False: more
 * digits. */
static bool round_plainly(double v, int32_t scale, enum rounding how, double *out)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    double scaled, tie;
    int64_t kept;

    if (scale < 0 || scale > 9)
        return false;
    scaled = fabs(v) * powers[scale];
    if (!(scaled < 0x1p30))
        return false;
    kept = (int64_t)scaled;
    tie = ((double)kept + 0.5) / powers[scale];
    kept += fabs(v) > tie || (fabs(v) == tie && (how == HALF_UP || kept % 2 != 0));
    *out = kept == 0 ? 0 : copysign((double)kept / powers[scale], v);
    return true;
}

static double round_double(double v, int32_t scale, enum rounding how)
{
    __int128 mantissa;
    int32_t exponent, drop;
    char text[MR_VALUE_TEXT];
    double result = v;

    if (v == 0) /* BigDecimal has no -0 */
        return 0;
    if (how <= HALF_EVEN && round_plainly(v, scale, how, &result))
        return result;
    if (!digits_of(v, &mantissa, &exponent))
        return v;
    drop = -exponent - scale;
    if (drop <= 0)
        return v;
    mantissa = cut(mantissa, (uint32_t)drop, how);
    snprintf(text, sizeof text, "%lldE%d", (long long)mantissa, -scale);
    mr_value_parse_double(mr_text_of(text), &result);
    return result;
}

static enum mr_status round_integer(struct mr_call *call, const struct mr_column *x, uint32_t row,
                                    int32_t scale, enum rounding how, struct mr_column *out)
{
    uint32_t bytes = mr_type_value_bytes(x->type);
    __int128 v = bytes == 1   ? x->i8[row]
                 : bytes == 2 ? x->i16[row]
                 : bytes == 4 ? x->i32[row]
                              : x->i64[row];

    if (scale < 0)
        v = scale < -20 ? 0 : cut(v, (uint32_t)-scale, how) * mr_decimal_power((uint32_t)-scale);
    switch (bytes) {
    case 1:
        out->i8[row] = (int8_t)v;
        return v == out->i8[row] ? MR_OK : overflow(call);
    case 2:
        out->i16[row] = (int16_t)v;
        return v == out->i16[row] ? MR_OK : overflow(call);
    case 4:
        out->i32[row] = (int32_t)v;
        return v == out->i32[row] ? MR_OK : overflow(call);
    default:
        out->i64[row] = (int64_t)v;
        return v == out->i64[row] ? MR_OK : overflow(call);
    }
}

static enum mr_status round_decimal(struct mr_call *call, const struct mr_column *x, uint32_t row,
                                    int32_t scale, enum rounding how, struct mr_column *out)
{
    __int128 v = x->i128[row];
    int32_t from = x->type->scale, drop = from - scale;

    if (drop > 0)
        v = cut(v, (uint32_t)drop, how);
    if (scale < 0)
        v = scale < -38 ? 0 : v * mr_decimal_power((uint32_t)-scale);
    out->i128[row] = v;
    if (mr_decimal_fits(v, out->type->precision))
        return MR_OK;
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION",
                             "The rounded value cannot be represented as Decimal(%u, %u).",
                             out->type->precision, out->type->scale);
}

/* The whole double below or above as BIGINT; beyond its range it stays at the end, as in Java. */
static int64_t whole(double v, enum rounding how)
{
    int64_t near;

    if (!(v >= -0x1p63 && v < 0x1p63))
        return v >= 0x1p63 ? INT64_MAX : isnan(v) ? 0 : INT64_MIN;
    near = (int64_t)v;
    return how == FLOOR ? near - ((double)near > v) : near + ((double)near < v);
}

static void round_whole(struct mr_call *call, const double *x, enum rounding how, int64_t *to)
{
    bool bad = (how == FLOOR ? mr_arith->floor_f64 : mr_arith->ceil_f64)(to, x, call->rows);

    for (uint32_t row = 0; bad && row < call->rows; row++)
        to[row] = whole(x[row], how);
}

MR_BODY(round)
{
    const struct mr_column *x = &args[0];
    const int32_t scale = *(const int32_t *)call->expr->data;
    enum rounding how = rounding_of(call->expr->function);
    enum mr_status status = MR_OK;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    if (x->type->kind == MR_DOUBLE && how >= FLOOR) {
        round_whole(call, x->f64, how, out->i64);
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    {
        if (!mr_call_has(call, row))
            continue;
        if (x->type->kind == MR_DOUBLE)
            out->f64[row] = round_double(x->f64[row], scale, how);
        else if (x->type->kind == MR_FLOAT)
            out->f32[row] = (float)round_double((double)x->f32[row], scale, how);
        else if (x->type->kind == MR_DECIMAL)
            status = round_decimal(call, x, row, scale, how, out);
        else
            status = round_integer(call, x, row, scale, how, out);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}
