#include "core/expr/coerce.h"
#include "core/expr/decimal.h"
#include "core/expr/writer.h"
#include "core/format/value.h"
#include "kernels/arith/arith.h"

#include <math.h>
#include <string.h>

/* Functions of one or two doubles, rounding, bits of integers. */

static double of_high_word(uint64_t high)
{
    uint64_t bits = high << 32;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t high_word(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits >> 32;
}

/* By the method of fdlibm, which is Java's: the C library's misses 406 of the first 999 cubes. */
static double cube_root(double x)
{
    const double c = 19.0 / 35, d = -864.0 / 1225, e = 99.0 / 70, f = 45.0 / 28, g = 5.0 / 14;
    double a = fabs(x), t, r, s;

    if (x == 0 || !isfinite(x))
        return x;
    if (a < 0x1p-1022) /* a guess of five bits, from a third of the exponent */
        t = of_high_word(high_word(a * 0x1p54) / 3 + 696219795);
    else
        t = of_high_word(high_word(a) / 3 + 715094163);
    r = t * t / a; /* 23 bits */
    s = c + r * t;
    t *= g + f / (s + e + d / s);
    t = of_high_word(high_word(t) + 1); /* 20 bits, and above the root: t * t is exact */
    s = t * t;
    r = a / s;
    r = (r - t) / (t + t + r);
    t += t * r; /* 53 bits */
    return copysign(t, x);
}

#define DOUBLE_BODY(name, expression)                                                              \
    MR_BODY(name)                                                                                  \
    {                                                                                              \
        mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);                     \
        MR_EACH_ROW(call, i, row)                                                                  \
        {                                                                                          \
            double x = args[0].f64[row];                                                           \
            out->f64[row] = (expression);                                                          \
        }                                                                                          \
        return MR_OK;                                                                              \
    }

DOUBLE_BODY(cbrt, cube_root(x))
DOUBLE_BODY(exp, exp(x))
DOUBLE_BODY(expm1, expm1(x))
DOUBLE_BODY(sin, sin(x))
DOUBLE_BODY(cos, cos(x))
DOUBLE_BODY(tan, tan(x))
DOUBLE_BODY(asin, asin(x))
DOUBLE_BODY(acos, acos(x))
DOUBLE_BODY(atan, atan(x))
DOUBLE_BODY(sinh, sinh(x))
DOUBLE_BODY(cosh, cosh(x))
DOUBLE_BODY(tanh, tanh(x))
DOUBLE_BODY(cot, 1 / tan(x))
DOUBLE_BODY(sec, 1 / cos(x))
DOUBLE_BODY(csc, 1 / sin(x))
DOUBLE_BODY(asinh, asinh(x))
DOUBLE_BODY(acosh, acosh(x))
/* By Spark's formula, which is less exact than libm's. */
DOUBLE_BODY(atanh, 0.5 * (log1p(x) - log1p(-x)))
/* By the constants of Java, not by a division. */
DOUBLE_BODY(radians, x * 0.017453292519943295)
DOUBLE_BODY(degrees, x * 57.29577951308232)
DOUBLE_BODY(rint, rint(x))
DOUBLE_BODY(signum, x > 0 ? 1.0 : x < 0 ? -1.0 : x)

MR_BODY(sqrt)
{
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    mr_arith->sqrt_f64(out->f64, args[0].f64, call->rows);
    return MR_OK;
}

/* Logarithms of what is not above the bound are null. */
#define LOG_BODY(name, bound, expression)                                                          \
    MR_BODY(name)                                                                                  \
    {                                                                                              \
        mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);                     \
        MR_EACH_ROW(call, i, row)                                                                  \
        {                                                                                          \
            double x = args[0].f64[row];                                                           \
            if (x <= (bound))                                                                      \
                mr_column_put_null(out, row, call->rows, call->arena);                             \
            else                                                                                   \
                out->f64[row] = (expression);                                                      \
        }                                                                                          \
        return MR_OK;                                                                              \
    }

LOG_BODY(ln, 0, log(x))
LOG_BODY(log2, 0, log2(x))
LOG_BODY(log10, 0, log10(x))
LOG_BODY(log1p, -1, log1p(x))

/* log(base, x), log(x). */
MR_BODY(log)
{
    if (call->expr->args_n == 1)
        return mr_fn_ln(call, args, out);
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const double b = args[0].f64[row], x = args[1].f64[row];
        if (x <= 0 || b <= 0)
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->f64[row] = log(x) / log(b);
    }
    return MR_OK;
}

#define PAIR_BODY(name, expression)                                                                \
    MR_BODY(name)                                                                                  \
    {                                                                                              \
        mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);                     \
        MR_EACH_ROW(call, i, row)                                                                  \
        {                                                                                          \
            double x = args[0].f64[row], y = args[1].f64[row];                                     \
            out->f64[row] = (expression);                                                          \
        }                                                                                          \
        return MR_OK;                                                                              \
    }

PAIR_BODY(pow, pow(x, y))
PAIR_BODY(atan2, atan2(x + 0.0, y + 0.0)) /* without -0.0, as in Spark */
PAIR_BODY(hypot, hypot(x, y))

MR_BODY(pi)
{
    (void)args;
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->f64[row] = M_PI;
    return MR_OK;
}
MR_BODY(e)
{
    (void)args;
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->f64[row] = M_E;
    return MR_OK;
}

MR_BODY(isnan)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_bit_put(out->bits, row, !mr_column_is_null(&args[0], row) && isnan(args[0].f64[row]));
    return MR_OK;
}

/* nanvl(a, b): b where a is NaN. */
MR_BODY(nanvl)
{
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const struct mr_column *x = &args[0];
        if (!mr_column_is_null(x, row) && isnan(x->f64[row]))
            x = &args[1];
        if (mr_column_is_null(x, row))
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->f64[row] = x->f64[row];
    }
    return MR_OK;
}

/* & | ^ of two integers of one type. */
MR_RESOLVE(bits)
{
    const struct mr_type *common =
        mr_type_common(call->args[0]->type, call->args[1]->type, r->ansi, r->arena);

    if (common && common->kind == MR_STRING)
        common = &mr_type_bigint;
    if (common == NULL || (!mr_type_is_integer(common) && common->kind != MR_VOID))
        return mr_mismatch(r, call, common ? "BINARY_OP_WRONG_TYPE" : "BINARY_OP_DIFF_TYPES",
                           "the binary operator requires the input type \"INTEGRAL\", not \"%s\".",
                           mr_type_sql(r->arena, common ? common : call->args[0]->type));
    if (common->kind == MR_VOID)
        common = &mr_type_int;
    call->args[0] = mr_coerce(r, call->args[0], common);
    call->args[1] = mr_coerce(r, call->args[1], common);
    call->type = common;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

static inline uint8_t combine(char op, uint8_t x, uint8_t y)
{
    return (uint8_t)(op == '&' ? x & y : op == '|' ? x | y : x ^ y);
}

MR_BODY(bits)
{
    const uint8_t *x = args[0].data, *y = args[1].data;
    char op = call->expr->function->name[0];
    size_t bytes = (size_t)call->rows * mr_type_value_bytes(call->expr->type);

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out->data)[i] = combine(op, x[i], y[i]);
    return MR_OK;
}

MR_BODY(bit_not)
{
    size_t bytes = (size_t)call->rows * mr_type_value_bytes(call->expr->type);

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out->data)[i] = (uint8_t) ~((const uint8_t *)args[0].data)[i];
    return MR_OK;
}

/* Shifts: INT or BIGINT, smaller ones as INT; the count is taken modulo the width. */
MR_RESOLVE(shift)
{
    const struct mr_type *type = call->args[0]->type;
    const struct mr_type *wanted = type->kind == MR_BIGINT ? &mr_type_bigint : &mr_type_int;
    enum mr_status status = MR_OK;

    if (mr_type_is_numeric(type))
        call->args[0] = mr_coerce(r, call->args[0], wanted);
    else
        status = mr_coerce_argument(r, call, 0, wanted, "(\"INT\" or \"BIGINT\")");

    if (status == MR_OK)
        status = mr_coerce_argument(r, call, 1, &mr_type_int, NULL);
    call->type = wanted;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

enum shift { SHIFT_LEFT, SHIFT_RIGHT, SHIFT_UNSIGNED };

static enum mr_status shift(struct mr_call *call, const struct mr_column *args, enum shift how,
                            struct mr_column *out)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t by = (uint32_t)args[1].i32[row];
        if (out->type->kind == MR_INT) {
            int32_t v = args[0].i32[row];
            by &= 31;
            out->i32[row] = how == SHIFT_LEFT    ? (int32_t)((uint32_t)v << by)
                            : how == SHIFT_RIGHT ? v >> by
                                                 : (int32_t)((uint32_t)v >> by);
        } else {
            int64_t v = args[0].i64[row];
            by &= 63;
            out->i64[row] = how == SHIFT_LEFT    ? (int64_t)((uint64_t)v << by)
                            : how == SHIFT_RIGHT ? v >> by
                                                 : (int64_t)((uint64_t)v >> by);
        }
    }
    return MR_OK;
}

MR_BODY(shiftleft)
{
    return shift(call, args, SHIFT_LEFT, out);
}
MR_BODY(shiftright)
{
    return shift(call, args, SHIFT_RIGHT, out);
}
MR_BODY(shiftrightunsigned)
{
    return shift(call, args, SHIFT_UNSIGNED, out);
}

MR_BODY(bit_count)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = __builtin_popcountll((uint64_t)args[0].i64[row]);
    return MR_OK;
}

MR_BODY(getbit)
{
    mr_column_alloc(out, &mr_type_tinyint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t bit = args[1].i32[row], bits = *(const int32_t *)call->expr->data;
        if (bit < 0 || bit >= bits)
            return MR_FAIL_CONDITION(call->err, MR_QUERY,
                                     "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE",
                                     "The value of parameter(s) `pos` in `%s` is invalid: Expects "
                                     "an integer value in [0, %d), but got %d.",
                                     call->expr->function->name, bits, bit);
        out->i8[row] = (int8_t)((uint64_t)args[0].i64[row] >> bit & 1);
    }
    return MR_OK;
}

MR_RESOLVE(getbit)
{
    const struct mr_type *type = call->args[0]->type;
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_bigint, "\"INTEGRAL\"");
    int32_t *bits = MR_NEW(r->arena, int32_t);

    *bits = mr_type_is_integer(type) ? (int32_t)(8 * mr_type_value_bytes(type)) : 64;
    call->data = bits;
    call->type = &mr_type_tinyint;
    call->nullable = mr_expr_any_nullable(call);
    return status == MR_OK ? mr_coerce_argument(r, call, 1, &mr_type_int, NULL) : status;
}

/* width_bucket(v, low, high, n). */
MR_BODY(width_bucket)
{
    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        double v = args[0].f64[row], low = args[1].f64[row], high = args[2].f64[row];
        int64_t n = args[3].i64[row];
        bool up = low < high;
        if (n <= 0 || isnan(v) || low == high || !isfinite(low) || !isfinite(high)) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        if (up ? v < low : v > low)
            out->i64[row] = 0;
        else if (up ? v >= high : v <= high)
            out->i64[row] = n + 1;
        else
            out->i64[row] = (int64_t)((double)n * (v - low) / (high - low)) + 1;
    }
    return MR_OK;
}
