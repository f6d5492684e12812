#include "core/expr/arith.h"

#include <math.h>

static const char *const try_names[] = {"try_add",    "try_subtract", "try_multiply", "try_divide",
                                        "try_divide", "try_mod",      "try_mod"};
static const char *const symbols[] = {"+", "-", "*", "/", "div", "%", "pmod"};

static enum arith op_of(const struct mr_function *f)
{
    static const struct {
        const char *name;
        enum arith op;
    } names[] = {{"+", ADD},          {"try_add", ADD},
                 {"-", SUBTRACT},     {"try_subtract", SUBTRACT},
                 {"*", MULTIPLY},     {"try_multiply", MULTIPLY},
                 {"/", DIVIDE},       {"try_divide", DIVIDE},
                 {"div", INT_DIVIDE}, {"%", REMAINDER},
                 {"mod", REMAINDER},  {"try_mod", REMAINDER},
                 {"pmod", PMOD}};

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].name, f->name) == 0)
            return names[i].op;
    MR_UNREACHABLE();
}

/* A literal takes part with the digits that it has, not with those of its type. */
static const struct mr_type *decimal_operand(struct mr_arena *a, const struct mr_expr *x)
{
    int64_t v;
    uint32_t digits = 1;

    if (x->kind != MR_EXPR_LITERAL || !mr_type_is_integer(x->type) || mr_expr_is_null_literal(x))
        return mr_decimal_of(a, x->type);
    v = x->type->kind == MR_INT        ? x->value->i32[0]
        : x->type->kind == MR_BIGINT   ? x->value->i64[0]
        : x->type->kind == MR_SMALLINT ? x->value->i16[0]
                                       : x->value->i8[0];
    while (v /= 10)
        digits++;
    return mr_type_decimal(a, digits, 0);
}

static enum mr_status diff_types(struct mr_resolve *r, const struct mr_expr *call)
{
    const struct mr_type *left = call->args[0]->type, *right = call->args[1]->type;

    if (mr_type_equal(left, right))
        return mr_mismatch(r, call, "BINARY_OP_WRONG_TYPE",
                           "the binary operator requires the input type (\"NUMERIC\" or \"INTERVAL "
                           "DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\"), not "
                           "\"%s\".",
                           mr_type_sql(r->arena, left));
    return mr_mismatch(r, call, "BINARY_OP_DIFF_TYPES",
                       "the left and right operands of the binary operator have incompatible types "
                       "(\"%s\" and \"%s\").",
                       mr_type_sql(r->arena, left), mr_type_sql(r->arena, right));
}

static void set_operands(struct mr_resolve *r, struct mr_expr *call, const struct mr_type *type)
{
    call->args[0] = mr_coerce(r, call->args[0], type);
    call->args[1] = mr_coerce(r, call->args[1], type);
}

static enum mr_status resolve_decimals(struct mr_resolve *r, struct mr_expr *call, enum arith op)
{
    const struct mr_type *x = decimal_operand(r->arena, call->args[0]);
    const struct mr_type *y = decimal_operand(r->arena, call->args[1]);

    call->args[0] = mr_coerce(r, call->args[0], x);
    call->args[1] = mr_coerce(r, call->args[1], y);
    call->type = op == INT_DIVIDE ? &mr_type_bigint : mr_arith_decimal_type(r->arena, op, x, y);
    return MR_OK;
}

static enum mr_status resolve_numbers(struct mr_resolve *r, struct mr_expr *call, enum arith op)
{
    const struct mr_type *left, *right, *common;
    bool one_text =
        (call->args[0]->type->kind == MR_STRING) != (call->args[1]->type->kind == MR_STRING);

    for (uint32_t i = 0; i < 2 && !r->ansi; i++)
        if (call->args[i]->type->kind == MR_STRING)
            call->args[i] = mr_coerce(r, call->args[i], &mr_type_double);
    left = call->args[0]->type;
    right = call->args[1]->type;
    common = mr_type_common(left, right, r->ansi, r->arena);
    if (common == NULL || (one_text && !r->ansi && op == INT_DIVIDE))
        return diff_types(r, call);
    if (common->kind == MR_STRING && left->kind == right->kind)
        return mr_mismatch(r, call, "BINARY_OP_WRONG_TYPE",
                           "the binary operator requires the input type \"NUMERIC\", not "
                           "\"STRING\".");
    if (common->kind == MR_STRING || common->kind == MR_VOID)
        common = &mr_type_double;
    if (!mr_type_is_numeric(common))
        return diff_types(r, call);
    if (common->kind == MR_DECIMAL)
        return resolve_decimals(r, call, op);
    if (op == DIVIDE) {
        if (one_text) /* first as what it is beside the other */
            set_operands(r, call, common);
        common = &mr_type_double;
    }
    if (op == INT_DIVIDE) {
        if (!mr_type_is_integer(common))
            return mr_mismatch(r, call, "BINARY_OP_WRONG_TYPE",
                               "the binary operator requires the input type (\"INTEGRAL\" or "
                               "\"DECIMAL\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO "
                               "MONTH\"), not \"%s\".",
                               mr_type_sql(r->arena, common));
        common = &mr_type_bigint;
    }
    set_operands(r, call, common);
    call->type = common;
    return MR_OK;
}

MR_RESOLVE(arith)
{
    enum arith op = op_of(call->function);
    bool done = false, is_try = strncmp(call->function->name, "try_", 4) == 0;
    enum mr_status status;

    if (call->args_n == 1) { /* unary minus and plus */
        call->function = mr_function_find(op == SUBTRACT ? "negative" : "positive");
        return call->function->resolve(r, call);
    }
    status = mr_arith_resolve_time(r, call, op, &done);
    if (status != MR_OK || done)
        return status;
    status = resolve_numbers(r, call, op);
    call->nullable = is_try || !r->ansi || mr_expr_any_nullable(call);
    return status;
}

enum mr_status mr_arith_overflow(const struct arith_call *a, struct mr_column *out, uint32_t row)
{
    const char *hint = a->op == INT_DIVIDE ? "Overflow in integral divide" : "overflow";

    if (a->overflow == NULLS) {
        mr_column_put_null(out, row, a->call->rows, a->call->arena);
        return MR_OK;
    }
    return MR_FAIL_CONDITION(a->call->err, MR_QUERY, "ARITHMETIC_OVERFLOW",
                             "%s. Use '%s' to tolerate overflow and return NULL instead. If "
                             "necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this "
                             "error.",
                             hint, try_names[a->op]);
}

enum mr_status mr_arith_by_zero(const struct arith_call *a, struct mr_column *out, uint32_t row)
{
    bool division = a->op == DIVIDE || a->op == INT_DIVIDE;

    if (a->overflow != RAISE) {
        mr_column_put_null(out, row, a->call->rows, a->call->arena);
        return MR_OK;
    }
    return MR_FAIL_CONDITION(a->call->err, MR_QUERY,
                             division ? "DIVIDE_BY_ZERO" : "REMAINDER_BY_ZERO",
                             "%s by zero. Use `%s` to tolerate divisor being 0 and return NULL "
                             "instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to "
                             "bypass this error.",
                             division ? "Division" : "Remainder", try_names[a->op]);
}

static enum mr_status small_overflow(const struct arith_call *a, int32_t x, int32_t y,
                                     struct mr_column *out, uint32_t row)
{
    if (a->overflow == NULLS)
        return mr_arith_overflow(a, out, row);
    return MR_FAIL_CONDITION(a->call->err, MR_QUERY, "BINARY_ARITHMETIC_OVERFLOW",
                             "%dS %s %dS caused overflow. Use `%s` to ignore overflow problem and "
                             "return NULL.",
                             x, symbols[a->op], y, try_names[a->op]);
}

/* TINYINT, SMALLINT. */
static enum mr_status arith_small(const struct arith_call *a, const struct mr_column *x,
                                  const struct mr_column *y, struct mr_column *out)
{
    bool tiny = x->type->kind == MR_TINYINT;

    MR_EACH_ROW(a->call, i, row)
    {
        int32_t l = tiny ? x->i8[row] : x->i16[row], m = tiny ? y->i8[row] : y->i16[row];
        int32_t v = a->op == ADD ? l + m : a->op == SUBTRACT ? l - m : l * m;
        if (tiny)
            out->i8[row] = (int8_t)v;
        else
            out->i16[row] = (int16_t)v;
        if (v == (tiny ? (int8_t)v : (int16_t)v) || a->overflow == WRAP ||
            !mr_call_has(a->call, row))
            continue;
        enum mr_status status = small_overflow(a, l, m, out, row);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static bool overflows(enum arith op, int64_t x, int64_t y, bool is_int)
{
    int64_t v;
    bool bad = op == ADD        ? __builtin_add_overflow(x, y, &v)
               : op == SUBTRACT ? __builtin_sub_overflow(x, y, &v)
                                : __builtin_mul_overflow(x, y, &v);

    return bad || (is_int && v != (int32_t)v);
}

/* The kernel saw an overflow in some row: is it one that counts? */
static enum mr_status check_rows(const struct arith_call *a, const struct mr_column *x,
                                 const struct mr_column *y, struct mr_column *out)
{
    bool is_int = x->type->kind == MR_INT;

    MR_EACH_ROW(a->call, i, row)
    {
        int64_t l = is_int ? x->i32[row] : x->i64[row], m = is_int ? y->i32[row] : y->i64[row];
        if (!mr_call_has(a->call, row) || !overflows(a->op, l, m, is_int))
            continue;
        enum mr_status status = mr_arith_overflow(a, out, row);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status arith_kernel(const struct arith_call *a, const struct mr_column *x,
                                   const struct mr_column *y, struct mr_column *out)
{
    const struct mr_expr *right = a->call->expr->args[1];
    bool by = right->kind == MR_EXPR_LITERAL, bad = false;
    const void *value = by ? right->value->data : y->data;
    uint32_t n = a->call->rows;

    if (x->type->kind == MR_INT)
        bad = (by ? mr_arith->i32_by : mr_arith->i32)[a->op](out->i32, x->i32, value, n);
    else if (x->type->kind == MR_DOUBLE)
        (by ? mr_arith->f64_by : mr_arith->f64)[a->op](out->f64, x->f64, value, n);
    else
        bad = (by ? mr_arith->i64_by : mr_arith->i64)[a->op](out->i64, x->i64, value, n);
    return bad && a->overflow != WRAP ? check_rows(a, x, y, out) : MR_OK;
}

static void arith_float(const struct arith_call *a, const struct mr_column *x,
                        const struct mr_column *y, struct mr_column *out)
{
    for (uint32_t i = 0; i < a->call->rows; i++)
        out->f32[i] = a->op == ADD        ? x->f32[i] + y->f32[i]
                      : a->op == SUBTRACT ? x->f32[i] - y->f32[i]
                                          : x->f32[i] * y->f32[i];
}

static int64_t pmod_i64(int64_t x, int64_t y)
{
    int64_t rest = y == -1 ? 0 : x % y;

    return rest < 0 ? (int64_t)(((__int128)rest + y) % y) : rest;
}

static double pmod_f64(double x, double y)
{
    double rest = fmod(x, y);

    return rest < 0 ? fmod(rest + y, y) : rest;
}

#define MODULO(member, type)                                                                       \
    do {                                                                                           \
        int64_t l = x->member[row], m = y->member[row];                                            \
        if (m == 0) {                                                                              \
            status = mr_arith_by_zero(a, out, row);                                                \
            out->member[row] = 0;                                                                  \
        } else {                                                                                   \
            out->member[row] = (type)(a->op == PMOD ? pmod_i64(l, m) : m == -1 ? 0 : l % m);       \
        }                                                                                          \
    } while (0)

static enum mr_status divide_row(const struct arith_call *a, const struct mr_column *x,
                                 const struct mr_column *y, uint32_t row, struct mr_column *out)
{
    enum mr_status status = MR_OK;

    switch (x->type->kind) {
    case MR_TINYINT:
        MODULO(i8, int8_t);
        break;
    case MR_SMALLINT:
        MODULO(i16, int16_t);
        break;
    case MR_INT:
        MODULO(i32, int32_t);
        break;
    case MR_BIGINT:
        if (a->op != INT_DIVIDE)
            MODULO(i64, int64_t);
        else if (y->i64[row] == 0)
            status = mr_arith_by_zero(a, out, row);
        else if (x->i64[row] == INT64_MIN && y->i64[row] == -1)
            status = mr_arith_overflow(a, out, row);
        else
            out->i64[row] = x->i64[row] / y->i64[row];
        break;
    case MR_FLOAT:
        if (y->f32[row] == 0)
            return mr_arith_by_zero(a, out, row);
        out->f32[row] = a->op == PMOD ? (float)pmod_f64((double)x->f32[row], (double)y->f32[row])
                                      : fmodf(x->f32[row], y->f32[row]);
        break;
    default:
        if (y->f64[row] == 0)
            return mr_arith_by_zero(a, out, row);
        out->f64[row] = a->op == DIVIDE ? x->f64[row] / y->f64[row]
                        : a->op == PMOD ? pmod_f64(x->f64[row], y->f64[row])
                                        : fmod(x->f64[row], y->f64[row]);
    }
    return status;
}

/* All rows at once. False: others than these, or a division by zero, which its rows must tell. */
static bool divide_plainly(const struct arith_call *a, const struct mr_column *x,
                           const struct mr_column *y, struct mr_column *out)
{
    const struct mr_expr *right = a->call->expr->args[1];
    const bool by = right->kind == MR_EXPR_LITERAL;
    const void *value = by ? right->value->data : y->data;
    const uint32_t n = a->call->rows;

    if (a->op == REMAINDER && x->type->kind == MR_INT)
        return !(by ? mr_arith->rest_i32_by : mr_arith->rest_i32)(out->i32, x->i32, value, n);
    if (a->op == DIVIDE && x->type->kind == MR_DOUBLE)
        return !(by ? mr_arith->quotient_f64_by : mr_arith->quotient_f64)(out->f64, x->f64, value,
                                                                          n);
    return false;
}

static enum mr_status arith(struct mr_call *call, const struct mr_column *args,
                            struct mr_column *out, bool is_try)
{
    const struct mr_column *x = &args[0], *y = &args[1];
    struct arith_call a = {call, op_of(call->expr->function),
                           is_try                ? NULLS
                           : call->context->ansi ? RAISE
                                                 : WRAP};

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    if (x->type->kind == MR_DECIMAL)
        return mr_arith_decimal(&a, x, y, out);
    if (a.op >= DIVIDE) {
        if (divide_plainly(&a, x, y, out))
            return MR_OK;
        MR_EACH_ROW(call, i, row)
        {
            enum mr_status status = mr_call_has(call, row) ? divide_row(&a, x, y, row, out) : MR_OK;
            if (status != MR_OK)
                return status;
        }
        return MR_OK;
    }
    if (x->type->kind == MR_TINYINT || x->type->kind == MR_SMALLINT)
        return arith_small(&a, x, y, out);
    if (x->type->kind == MR_FLOAT) {
        arith_float(&a, x, y, out);
        return MR_OK;
    }
    return arith_kernel(&a, x, y, out);
}

MR_BODY(arith)
{
    return arith(call, args, out, false);
}
MR_BODY(try_arith)
{
    return arith(call, args, out, true);
}
