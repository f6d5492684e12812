#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/writer.h"

/* Three-valued logic, and the functions that evaluate an argument only for the rows that take it.
 */

MR_RESOLVE(logic)
{
    for (uint32_t i = 0; i < call->args_n; i++) {
        enum mr_kind k = call->args[i]->type->kind;
        if (k != MR_BOOLEAN && k != MR_VOID && k != MR_STRING) {
            if (call->args_n == 1)
                return mr_mismatch_argument(r, call, i, "\"BOOLEAN\"");
            const struct mr_type *left = call->args[0]->type, *right = call->args[1]->type;
            if (mr_type_equal(left, right))
                return mr_mismatch(r, call, "BINARY_OP_WRONG_TYPE",
                                   "the binary operator requires the input type \"BOOLEAN\", not "
                                   "\"%s\".",
                                   mr_type_sql(r->arena, left));
            return mr_mismatch(r, call, "BINARY_OP_DIFF_TYPES",
                               "the left and right operands of the binary operator have "
                               "incompatible types (\"%s\" and \"%s\").",
                               mr_type_sql(r->arena, left), mr_type_sql(r->arena, right));
        }
        call->args[i] = mr_coerce(r, call->args[i], &mr_type_boolean);
    }
    call->type = &mr_type_boolean;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

/* Rows of the call that are not (decided and valid): those for which the right side matters. */
static uint32_t undecided(struct mr_call *call, const struct mr_column *left, bool decided,
                          uint32_t *sel)
{
    uint32_t n = 0;

    MR_EACH_ROW(call, i, row)
    {
        bool is_null = left->valid && !mr_bit_get(left->valid, row);
        sel[n] = row;
        n += is_null || mr_bit_get(left->bits, row) != decided;
    }
    return n;
}

/* AND: decided by false. OR: decided by true. */
static enum mr_status and_or(struct mr_call *call, bool decided, struct mr_column *out)
{
    struct mr_column left, right;
    uint32_t *sel = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *sel), n;
    enum mr_status status = mr_call_argument(call, 0, call->sel, call->n, &left);

    if (status != MR_OK)
        return status;
    n = undecided(call, &left, decided, sel);
    if (n == 0) {
        *out = left;
        return MR_OK;
    }
    if (n == call->n)
        status = mr_call_argument(call, 1, call->sel, call->n, &right);
    else
        status = mr_call_argument(call, 1, sel, n, &right);
    if (status != MR_OK)
        return status;
    mr_column_alloc(out, &mr_type_boolean, call->rows, left.valid || right.valid, call->arena);
    MR_EACH_ROW(call, i, row) /* where left decides; the others follow */
    mr_bit_put(out->bits, row, decided);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel[i];
        bool left_null = left.valid && !mr_bit_get(left.valid, row);
        bool right_null = right.valid && !mr_bit_get(right.valid, row);
        bool right_decides = !right_null && mr_bit_get(right.bits, row) == decided;
        mr_bit_put(out->bits, row, right_decides ? decided : !decided);
        if (!right_decides && (left_null || right_null))
            mr_bit_clear(out->valid, row);
    }
    return MR_OK;
}

MR_BODY(and)
{
    (void)args;
    return and_or(call, false, out);
}
MR_BODY(or)
{
    (void)args;
    return and_or(call, true, out);
}

MR_BODY(not )
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    for (uint32_t w = 0; w < mr_bit_words(call->rows); w++)
        out->bits[w] = ~args[0].bits[w];
    return MR_OK;
}

MR_RESOLVE(is_null)
{
    (void)r;
    call->type = &mr_type_boolean;
    call->nullable = false;
    return MR_OK;
}

static enum mr_status null_bits(struct mr_call *call, const struct mr_column *x, bool null,
                                struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    for (uint32_t w = 0; w < mr_bit_words(call->rows); w++) {
        uint64_t valid = x->type->kind == MR_VOID ? 0 : x->valid ? x->valid[w] : ~(uint64_t)0;
        out->bits[w] = null ? ~valid : valid;
    }
    return MR_OK;
}

MR_BODY(isnull)
{
    return null_bits(call, &args[0], true, out);
}
MR_BODY(isnotnull)
{
    return null_bits(call, &args[0], false, out);
}

/* x IS TRUE, IS FALSE: never null. */
static enum mr_status is_bool(struct mr_call *call, const struct mr_column *x, bool wanted,
                              struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_bit_put(out->bits, row, !mr_column_is_null(x, row) && mr_bit_get(x->bits, row) == wanted);
    return MR_OK;
}
MR_BODY(istrue)
{
    return is_bool(call, args, true, out);
}
MR_BODY(isfalse)
{
    return is_bool(call, args, false, out);
}

MR_RESOLVE(is_bool)
{
    enum mr_status status = mr_resolve_logic(r, call);

    call->nullable = false;
    return status;
}

/* The branches of a lazy choice: values made so far, and which row takes which. */
struct choice {
    struct mr_column *values;
    uint8_t *which;
    uint32_t values_n;
    uint32_t *left, left_n; /* rows not yet decided */
};

static void choice_init(struct choice *c, struct mr_call *call, uint32_t branches)
{
    *c = (struct choice){0};
    c->values = MR_NEW_ARRAY(call->arena, struct mr_column, branches + 1);
    c->which = mr_arena_alloc(call->arena, call->rows + 1);
    c->left = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *c->left);
    MR_EACH_ROW(call, i, row)
    {
        c->which[row] = MR_CHOOSE_NULL;
        c->left[i] = row;
    }
    c->left_n = call->n;
}

/* Rows of left for which taken says yes leave it; gives them in a new array. */
static uint32_t *choice_split(struct choice *c, struct mr_call *call,
                              const struct mr_column *condition, uint32_t *taken_n)
{
    uint32_t *taken = mr_arena_alloc(call->arena, ((size_t)c->left_n + 1) * sizeof *taken);
    uint32_t *rest = mr_arena_alloc(call->arena, ((size_t)c->left_n + 1) * sizeof *rest);
    uint32_t n = 0, rest_n = 0;

    for (uint32_t i = 0; i < c->left_n; i++) {
        uint32_t row = c->left[i];
        bool yes = !mr_column_is_null(condition, row) && mr_bit_get(condition->bits, row);
        taken[n] = rest[rest_n] = row;
        n += yes;
        rest_n += !yes;
    }
    c->left = rest;
    c->left_n = rest_n;
    *taken_n = n;
    return taken;
}

static enum mr_status choice_take(struct choice *c, struct mr_call *call, uint32_t argument,
                                  const uint32_t *rows, uint32_t n)
{
    enum mr_status status;

    if (n == 0)
        return MR_OK;
    status = mr_call_argument(call, argument, rows, n, &c->values[c->values_n]);
    if (status != MR_OK)
        return status;
    for (uint32_t i = 0; i < n; i++)
        c->which[rows[i]] = (uint8_t)c->values_n;
    c->values_n++;
    return MR_OK;
}

static void choice_finish(struct choice *c, struct mr_call *call, struct mr_column *out)
{
    mr_column_choose(out, call->expr->type, c->values, c->values_n, c->which, call->rows, call->sel,
                     call->n, call->arena);
}

/* case: condition, value, .., [else]. if: the same with one condition. */
MR_RESOLVE(case)
{
    uint32_t n = call->args_n;
    const struct mr_type *common = &mr_type_void;

    for (uint32_t i = 0; i + 1 < n; i += 2) {
        enum mr_kind k = call->args[i]->type->kind;
        if (k != MR_BOOLEAN && k != MR_VOID)
            return mr_mismatch_argument(r, call, i, "\"BOOLEAN\"");
        call->args[i] = mr_coerce(r, call->args[i], &mr_type_boolean);
    }
    for (uint32_t i = 1; i < n + n % 2; i += 2) {
        uint32_t value = i < n ? i : n - 1;
        const struct mr_type *wider =
            mr_type_common(common, call->args[value]->type, r->ansi, r->arena);
        if (wider == NULL)
            return mr_mismatch(r, call, "DATA_DIFF_TYPES",
                               "Input to `%s` should all be the same type, but it's (\"%s\" or "
                               "\"%s\").",
                               n == 3 ? "if" : "casewhen", mr_type_sql(r->arena, common),
                               mr_type_sql(r->arena, call->args[value]->type));
        common = wider;
        call->nullable |= call->args[value]->nullable;
    }
    for (uint32_t i = 1; i < n + n % 2; i += 2) {
        uint32_t value = i < n ? i : n - 1;
        call->args[value] = mr_coerce(r, call->args[value], common);
    }
    call->type = common;
    call->nullable |= n % 2 == 0;
    return MR_OK;
}

MR_BODY(case)
{
    uint32_t n = call->expr->args_n;
    struct choice c;
    enum mr_status status = MR_OK;

    (void)args;
    if (n / 2 + 1 > MR_CHOOSE_MAX)
        return MR_FAIL(call->err, MR_UNSUPPORTED, 0, "CASE: more than %u branches",
                       MR_CHOOSE_MAX - 1);
    choice_init(&c, call, n / 2 + 1);
    for (uint32_t i = 0; i + 1 < n && c.left_n > 0; i += 2) {
        struct mr_column condition;
        uint32_t taken_n, *taken;
        status = mr_call_argument(call, i, i == 0 ? call->sel : c.left, c.left_n, &condition);
        if (status != MR_OK)
            return status;
        taken = choice_split(&c, call, &condition, &taken_n);
        status = choice_take(&c, call, i + 1, taken, taken_n);
        if (status != MR_OK)
            return status;
    }
    if (n % 2 == 1)
        status = choice_take(&c, call, n - 1, c.left, c.left_n);
    if (status == MR_OK)
        choice_finish(&c, call, out);
    return status;
}

MR_RESOLVE(coalesce)
{
    enum mr_status status = mr_coerce_common(r, call, 0, call->args_n, &call->type);

    call->nullable = true;
    for (uint32_t i = 0; i < call->args_n; i++)
        call->nullable = call->nullable && call->args[i]->nullable;
    return status;
}

MR_BODY(coalesce)
{
    uint32_t n = call->expr->args_n;
    struct choice c;

    (void)args;
    if (n > MR_CHOOSE_MAX)
        return MR_FAIL(call->err, MR_UNSUPPORTED, 0, "coalesce: more than %u arguments",
                       MR_CHOOSE_MAX);
    choice_init(&c, call, n);
    for (uint32_t k = 0; k < n && c.left_n > 0; k++) {
        struct mr_column *value = &c.values[c.values_n];
        enum mr_status status =
            mr_call_argument(call, k, k == 0 ? call->sel : c.left, c.left_n, value);
        if (status != MR_OK)
            return status;
        uint32_t *rest = mr_arena_alloc(call->arena, ((size_t)c.left_n + 1) * sizeof *rest);
        uint32_t rest_n = 0;
        for (uint32_t i = 0; i < c.left_n; i++) {
            uint32_t row = c.left[i];
            rest[rest_n] = row;
            if (mr_column_is_null(value, row))
                rest_n++;
            else
                c.which[row] = (uint8_t)c.values_n;
        }
        c.left = rest;
        c.left_n = rest_n;
        c.values_n++;
    }
    choice_finish(&c, call, out);
    return MR_OK;
}

/* nvl2(a, b, c) is if(a is not null, b, c). */
MR_RESOLVE(nvl2)
{
    struct mr_expr *condition;
    enum mr_status status = mr_call_make(r, mr_function_find("isnotnull"), call->args, 1,
                                         call->place, call->text, &condition);

    if (status != MR_OK)
        return status;
    call->args[0] = condition;
    return mr_resolve_case(r, call);
}

static enum mr_status compare_with(struct mr_resolve *r, const struct mr_expr *call, const char *op,
                                   struct mr_expr *bound, struct mr_expr **out)
{
    struct mr_expr *args[] = {call->args[0], bound};
    const char *text = mr_arena_format(r->arena, "(%s %s %s)", mr_expr_text(call->args[0]), op,
                                       mr_expr_text(bound));

    return mr_call_make(r, mr_function_find(op), args, 2, call->place, text, out);
}

/* between(a, low, high), a BETWEEN low AND high: a >= low AND a <= high. */
MR_RESOLVE(between)
{
    struct mr_expr *both[2], *out;
    enum mr_status status = compare_with(r, call, ">=", call->args[1], &both[0]);

    if (status == MR_OK)
        status = compare_with(r, call, "<=", call->args[2], &both[1]);
    if (status == MR_OK)
        status = mr_call_make(r, mr_function_find("and"), both, 2, call->place, call->text, &out);
    if (status == MR_OK)
        *call = *out;
    return status;
}

/* elt(n, a, b, ..): the n-th, from 1; the others are not evaluated. */
MR_RESOLVE(elt)
{
    const struct mr_type *type;
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_int, NULL);
    bool binary = call->args[1]->type->kind == MR_BINARY;

    for (uint32_t i = 1; status == MR_OK && i < call->args_n; i++)
        status = mr_coerce_argument(r, call, i, binary ? &mr_type_binary : &mr_type_string, NULL);
    if (status == MR_OK)
        status = mr_coerce_common(r, call, 1, call->args_n, &type);
    if (status != MR_OK)
        return status;
    call->type = type;
    call->nullable = true;
    return MR_OK;
}

/* The rows of the call in which index is k. */
static uint32_t rows_of(struct mr_call *call, const struct mr_column *index, uint32_t k,
                        uint32_t *rows)
{
    uint32_t n = 0;

    MR_EACH_ROW(call, i, row)
    if (!mr_column_is_null(index, row) && index->i32[row] == (int32_t)k)
        rows[n++] = row;
    return n;
}

MR_BODY(elt)
{
    uint32_t args_n = call->expr->args_n;
    struct mr_column index, *values = MR_NEW_ARRAY(call->arena, struct mr_column, args_n);
    struct mr_text_writer w;
    enum mr_status status = mr_call_argument(call, 0, call->sel, call->n, &index);

    (void)args;
    for (uint32_t k = 1; status == MR_OK && k < args_n; k++) {
        uint32_t *rows = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *rows);
        uint32_t n = rows_of(call, &index, k, rows);
        if (n > 0)
            status = mr_call_argument(call, k, rows, n, &values[k]);
    }
    if (status != MR_OK)
        return status;
    mr_text_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool null = mr_column_is_null(&index, row);
        int32_t k = null ? 0 : index.i32[row];
        bool there = k > 0 && (uint32_t)k < args_n;
        if (!null && !there && call->context->ansi)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_ARRAY_INDEX",
                                     "The index %d is out of bounds: elt() has %u values.", k,
                                     args_n - 1);
        if (!there || mr_column_is_null(&values[k], row))
            mr_text_writer_null(&w, row, call->rows);
        else
            mr_text_writer_copy(&w, row, mr_column_text(&values[k], row));
    }
    return MR_OK;
}

/* nullif(a, b): null where a = b. */
MR_RESOLVE(nullif)
{
    struct mr_expr *condition, **args = MR_NEW_ARRAY(r->arena, struct mr_expr *, 3);
    enum mr_status status =
        mr_call_make(r, mr_function_find("="), call->args, 2, call->place, call->text, &condition);

    if (status != MR_OK)
        return status;
    args[0] = condition;
    args[1] = mr_expr_literal_null(r->arena, call->args[0]->type);
    args[2] = call->args[0];
    call->args = args;
    call->args_n = 3;
    return mr_resolve_case(r, call);
}
