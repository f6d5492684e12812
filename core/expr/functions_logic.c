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

static uint32_t words_of(const struct mr_call *call)
{
    return mr_bit_words(call->rows);
}

/* The call's rows as bits. */
static uint64_t *selected_bits(struct mr_call *call)
{
    uint64_t *bits = MR_NEW_ARRAY(call->arena, uint64_t, words_of(call) + 1);

    if (call->sel) {
        for (uint32_t i = 0; i < call->n; i++)
            mr_bit_set(bits, call->sel[i]);
    } else {
        memset(bits, 0xff, call->rows / 64 * sizeof *bits);
        if (call->rows % 64)
            bits[call->rows / 64] = (UINT64_C(1) << call->rows % 64) - 1;
    }
    return bits;
}

static bool any_bit(const uint64_t *bits, uint32_t words)
{
    uint64_t all = 0;

    for (uint32_t w = 0; w < words; w++)
        all |= bits[w];
    return all != 0;
}

static inline uint64_t valid_word(const struct mr_column *x, uint32_t w)
{
    return x->valid ? x->valid[w] : ~UINT64_C(0);
}

/* AND: decided by false. OR: decided by true. Where left decides, the right side does not
 * matter. */
static enum mr_status and_or(struct mr_call *call, bool decided, struct mr_column *out)
{
    const uint64_t flip = decided ? 0 : ~UINT64_C(0); /* makes a deciding bit 1 */
    uint64_t *open = selected_bits(call);
    struct mr_column left, right;
    enum mr_status status = mr_call_argument(call, 0, call->sel, call->n, &left);

    if (status != MR_OK)
        return status;
    for (uint32_t w = 0; w < words_of(call); w++)
        open[w] &= ~((left.bits[w] ^ flip) & valid_word(&left, w));
    if (!any_bit(open, words_of(call))) {
        *out = left;
        return MR_OK;
    }
    status = mr_call_argument_where(call, 1, open, &right);
    if (status != MR_OK)
        return status;
    mr_column_alloc(out, &mr_type_boolean, call->rows, left.valid || right.valid, call->arena);
    for (uint32_t w = 0; w < words_of(call); w++) {
        uint64_t x_valid = valid_word(&left, w), y_valid = valid_word(&right, w) & open[w];
        uint64_t x = left.bits[w] ^ flip, y = right.bits[w] ^ flip;
        uint64_t yes = (x & x_valid) | (y & y_valid);
        out->bits[w] = yes ^ flip;
        if (out->valid)
            out->valid[w] = yes | (~x & x_valid & ~y & y_valid);
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

/* The branches of a lazy choice made so far, and the rows not yet decided. */
struct choice {
    struct mr_branch *branches;
    uint32_t n;
    uint64_t *left;
};

static void choice_init(struct choice *c, struct mr_call *call, uint32_t branches)
{
    c->branches = MR_NEW_ARRAY(call->arena, struct mr_branch, branches + 1);
    c->n = 0;
    c->left = selected_bits(call);
}

static bool choice_is_open(const struct choice *c, const struct mr_call *call)
{
    return any_bit(c->left, words_of(call));
}

/* Those of the rows left whose bit is set in both (NULL: all) are decided now. */
static uint64_t *choice_split(struct choice *c, struct mr_call *call, const uint64_t *bits,
                              const uint64_t *valid)
{
    uint64_t *taken = mr_arena_alloc(call->arena, (words_of(call) + 1) * sizeof *taken);

    for (uint32_t w = 0; w < words_of(call); w++) {
        taken[w] = c->left[w] & (bits ? bits[w] : ~UINT64_C(0)) & (valid ? valid[w] : ~UINT64_C(0));
        c->left[w] &= ~taken[w];
    }
    return taken;
}

static enum mr_status choice_take(struct choice *c, struct mr_call *call, uint32_t argument,
                                  const uint64_t *rows)
{
    if (!any_bit(rows, words_of(call)))
        return MR_OK;
    c->branches[c->n].rows = rows;
    return mr_call_argument_where(call, argument, rows, &c->branches[c->n++].values);
}

static void choice_finish(struct choice *c, struct mr_call *call, struct mr_column *out)
{
    mr_column_merge(out, call->expr->type, c->branches, c->n, call->rows, call->arena);
}

/* case: condition, value, .., [else]. if: the same with one condition. */
MR_RESOLVE(case)
{
    uint32_t n = call->args_n, values_n = 0;
    struct mr_expr **values = MR_NEW_ARRAY(r->arena, struct mr_expr *, n);
    const struct mr_type *common;

    for (uint32_t i = 0; i + 1 < n; i += 2) {
        enum mr_kind k = call->args[i]->type->kind;
        if (k != MR_BOOLEAN && k != MR_VOID)
            return mr_mismatch_argument(r, call, i, "\"BOOLEAN\"");
        call->args[i] = mr_coerce(r, call->args[i], &mr_type_boolean);
    }
    for (uint32_t i = 1; i < n + n % 2; i += 2) {
        values[values_n] = call->args[i < n ? i : n - 1];
        call->nullable |= values[values_n++]->nullable;
    }
    common = mr_type_common_of(r, values, values_n);
    if (common == NULL) {
        const struct mr_type *other = values[0]->type;
        for (uint32_t i = 1; i < values_n && mr_type_equal(other, values[0]->type); i++)
            other = values[i]->type;
        return mr_mismatch(r, call, "DATA_DIFF_TYPES",
                           "Input to `%s` should all be the same type, but it's (\"%s\" or "
                           "\"%s\").",
                           n == 3 ? "if" : "casewhen", mr_type_sql(r->arena, values[0]->type),
                           mr_type_sql(r->arena, other));
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
    choice_init(&c, call, n / 2 + 1);
    for (uint32_t i = 0; i + 1 < n && choice_is_open(&c, call); i += 2) {
        struct mr_column condition;
        status = mr_call_argument_where(call, i, c.left, &condition);
        if (status != MR_OK)
            return status;
        if (condition.type->kind == MR_VOID)
            continue;
        status =
            choice_take(&c, call, i + 1, choice_split(&c, call, condition.bits, condition.valid));
        if (status != MR_OK)
            return status;
    }
    if (n % 2 == 1)
        status = choice_take(&c, call, n - 1, c.left);
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
    choice_init(&c, call, n);
    for (uint32_t k = 0; k < n && choice_is_open(&c, call); k++) {
        struct mr_branch *b = &c.branches[c.n];
        enum mr_status status = mr_call_argument_where(call, k, c.left, &b->values);
        if (status != MR_OK)
            return status;
        if (b->values.type->kind == MR_VOID)
            continue;
        b->rows = choice_split(&c, call, NULL, b->values.valid);
        c.n++;
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
