#include "core/expr/arith.h"

#include "core/expr/decimal.h"
#include "core/format/value.h"
#include "kernels/arith/arith.h"

enum { SCALE_MIN_KEPT = 6 };

/* Too many digits: whole ones are kept, and of the fraction at least six. */
static const struct mr_type *adjust(struct mr_arena *a, uint32_t precision, uint32_t scale)
{
    uint32_t whole = precision - scale, kept = scale < SCALE_MIN_KEPT ? scale : SCALE_MIN_KEPT;
    uint32_t room;

    if (precision <= MR_DECIMAL_DIGITS)
        return mr_type_decimal(a, precision, scale);
    room = whole < MR_DECIMAL_DIGITS ? MR_DECIMAL_DIGITS - whole : 0;
    return mr_type_decimal(a, MR_DECIMAL_DIGITS, room > kept ? room : kept);
}

const struct mr_type *mr_arith_decimal_type(struct mr_arena *arena, enum arith op,
                                            const struct mr_type *x, const struct mr_type *y)
{
    uint32_t p1 = x->precision, s1 = x->scale, p2 = y->precision, s2 = y->scale;
    uint32_t scale = s1 > s2 ? s1 : s2;

    switch (op) {
    case ADD:
    case SUBTRACT:
        return adjust(arena, (p1 - s1 > p2 - s2 ? p1 - s1 : p2 - s2) + scale + 1, scale);
    case MULTIPLY:
        return adjust(arena, p1 + p2 + 1, s1 + s2);
    case DIVIDE:
        scale = s1 + p2 + 1 > SCALE_MIN_KEPT ? s1 + p2 + 1 : SCALE_MIN_KEPT;
        return adjust(arena, p1 - s1 + s2 + scale, scale);
    default:
        return adjust(arena, (p1 - s1 < p2 - s2 ? p1 - s1 : p2 - s2) + scale, scale);
    }
}

static enum mr_status out_of_range(const struct arith_call *a, const struct mr_column *x,
                                   const struct mr_column *y, uint32_t row, struct mr_column *out)
{
    static const char symbols[] = "+-*//%%";
    char left[MR_VALUE_TEXT], right[MR_VALUE_TEXT];
    uint32_t left_n, right_n;

    if (a->overflow != RAISE) {
        mr_column_put_null(out, row, a->call->rows, a->call->arena);
        return MR_OK;
    }
    left_n = mr_value_print_decimal(x->i128[row], x->type->scale, left);
    right_n = mr_value_print_decimal(y->i128[row], y->type->scale, right);
    return MR_FAIL_CONDITION(
        a->call->err, MR_QUERY, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
        "%.*s %c %.*s cannot be represented as Decimal(%u, %u). If necessary "
        "set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and "
        "return NULL instead.",
        (int)left_n, left, symbols[a->op], (int)right_n, right, out->type->precision,
        out->type->scale);
}

static bool decimal_row(enum arith op, const struct mr_column *x, const struct mr_column *y,
                        uint32_t row, struct mr_column *out)
{
    uint32_t s1 = x->type->scale, s2 = y->type->scale;
    uint32_t precision = out->type->precision, scale = out->type->scale;

    switch (op) {
    case ADD:
        return mr_decimal_add(x->i128[row], s1, y->i128[row], s2, precision, scale,
                              &out->i128[row]);
    case SUBTRACT:
        return mr_decimal_add(x->i128[row], s1, -y->i128[row], s2, precision, scale,
                              &out->i128[row]);
    case MULTIPLY:
        return mr_decimal_multiply(x->i128[row], y->i128[row], s1 + s2, precision, scale,
                                   &out->i128[row]);
    case DIVIDE:
        return mr_decimal_divide(x->i128[row], s1, y->i128[row], s2, precision, scale,
                                 &out->i128[row]);
    case INT_DIVIDE:
        return mr_decimal_quotient(x->i128[row], s1, y->i128[row], s2, &out->i64[row]);
    case PMOD:
        return mr_decimal_modulo(x->i128[row], s1, y->i128[row], s2, precision, scale,
                                 &out->i128[row]);
    default:
        return mr_decimal_remainder(x->i128[row], s1, y->i128[row], s2, precision, scale,
                                    &out->i128[row]);
    }
}

/* Whether the type has room for all results of the operation. */
static bool has_room(enum arith op, const struct mr_type *x, const struct mr_type *y,
                     const struct mr_type *out)
{
    uint32_t whole = x->precision > y->precision ? x->precision : y->precision;

    return op == MULTIPLY ? x->precision + y->precision <= out->precision : whole < out->precision;
}

/* At the result's scale, all rows, nulls too. */
static void combine_plainly(const struct arith_call *a, const struct mr_column *x,
                            const struct mr_column *y, struct mr_column *out)
{
    mr_arith->i128[a->op](out->i128, x->i128, y->i128, a->call->rows);
}

/* x + y, x - y of one scale, which the result has too. */
static enum mr_status add_plainly(const struct arith_call *a, const struct mr_column *x,
                                  const struct mr_column *y, struct mr_column *out)
{
    const __int128 limit = mr_decimal_power(out->type->precision);

    combine_plainly(a, x, y, out);
    if (has_room(a->op, x->type, y->type, out->type))
        return MR_OK;
    MR_EACH_ROW(a->call, i, row)
    {
        const __int128 v = out->i128[row];
        if ((v >= limit || v <= -limit) && mr_call_has(a->call, row)) {
            enum mr_status status = out_of_range(a, x, y, row, out);
            if (status != MR_OK)
                return status;
        }
    }
    return MR_OK;
}

enum mr_status mr_arith_decimal(const struct arith_call *a, const struct mr_column *x,
                                const struct mr_column *y, struct mr_column *out)
{
    uint32_t scale = x->type->scale;

    if (a->op <= SUBTRACT && scale == y->type->scale && scale == out->type->scale)
        return add_plainly(a, x, y, out);
    if (a->op == MULTIPLY && scale + y->type->scale == out->type->scale &&
        has_room(a->op, x->type, y->type, out->type)) {
        combine_plainly(a, x, y, out);
        return MR_OK;
    }
    MR_EACH_ROW(a->call, i, row)
    {
        enum mr_status status = MR_OK;
        if (!mr_call_has(a->call, row))
            continue;
        if (a->op >= DIVIDE && y->i128[row] == 0)
            status = mr_arith_by_zero(a, out, row);
        else if (!decimal_row(a->op, x, y, row, out))
            status = out_of_range(a, x, y, row, out);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}
