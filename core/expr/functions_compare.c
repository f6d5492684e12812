#include "core/expr/coerce.h"
#include "core/expr/lane.h"
#include "kernels/view/view.h"

/* Comparisons. Fixed widths go to kernels over all rows; the rest row by row. */

/* Structs compare field by field, whatever the names. */
static bool same_shape(const struct mr_type *a, const struct mr_type *b)
{
    if (a->kind != b->kind || a->fields_n != b->fields_n || a->precision != b->precision ||
        a->scale != b->scale)
        return false;
    for (uint32_t i = 0; i < a->fields_n; i++)
        if (!same_shape(a->fields[i].type, b->fields[i].type))
            return false;
    return true;
}

static bool is_equality(const char *name)
{
    return name[0] == '=' || name[0] == '!' || strcmp(name, "<=>") == 0 || strcmp(name, "<>") == 0;
}

MR_RESOLVE(comparison)
{
    const struct mr_type *left = call->args[0]->type, *right = call->args[1]->type;
    const struct mr_type *common =
        same_shape(left, right) ? left : mr_type_common_compared(left, right, r->ansi, r->arena);

    if (common == NULL && !r->ansi && is_equality(call->function->name)) {
        if (left->kind == MR_BOOLEAN && mr_type_is_numeric(right))
            common = right;
        else if (right->kind == MR_BOOLEAN && mr_type_is_numeric(left))
            common = left;
    }
    if (common == NULL)
        return mr_mismatch(r, call, "BINARY_OP_DIFF_TYPES",
                           "the left and right operands of the binary operator have incompatible "
                           "types (\"%s\" and \"%s\").",
                           mr_type_sql(r->arena, left), mr_type_sql(r->arena, right));
    if (!mr_type_is_orderable(common))
        return mr_mismatch(r, call, "INVALID_ORDERING_TYPE",
                           "The `%s` does not support ordering on type \"%s\".",
                           call->function->name, mr_type_sql(r->arena, common));
    if (!same_shape(left, right)) {
        call->args[0] = mr_coerce(r, call->args[0], common);
        call->args[1] = mr_coerce(r, call->args[1], common);
    }
    call->type = &mr_type_boolean;
    call->nullable = strcmp(call->function->name, "<=>") != 0 && mr_expr_any_nullable(call);
    return MR_OK;
}

static bool holds(enum mr_comparison op, int order)
{
    switch (op) {
    case MR_EQ:
        return order == 0;
    case MR_LT:
        return order < 0;
    case MR_LE:
        return order <= 0;
    case MR_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static bool text_equal_at(const struct mr_column *x, const struct mr_column *y, uint32_t row,
                          uint32_t y_row)
{
    const struct mr_view *a = &x->views[row], *b = &y->views[y_row];

    if (memcmp(a, b, 8) != 0) /* length and the first four bytes */
        return false;
    if (a->length <= MR_VIEW_INLINE)
        return memcmp(a->inlined + 4, b->inlined + 4, MR_VIEW_INLINE - 4) == 0;
    return mr_text_equal(mr_column_text(x, row), mr_column_text(y, y_row));
}

static const uint64_t *words_of(const struct mr_column *x)
{
    return (const uint64_t *)(const void *)x->views;
}

/* All rows of texts against those of y or, if by, against its first one. Null rows may be among
 * them. */
static void equal_texts(const struct mr_column *x, const struct mr_column *y, bool by,
                        uint32_t rows, uint64_t *bits)
{
    (by ? mr_view->equal_by : mr_view->equal)(bits, words_of(x), words_of(y), rows);
    if (by && y->views[0].length <= MR_VIEW_INLINE)
        return;
    for (uint32_t w = 0; w < mr_bit_words(rows); w++)
        for (uint64_t maybe = bits[w]; maybe; maybe &= maybe - 1) {
            uint32_t row = w * 64 + (uint32_t)__builtin_ctzll(maybe);
            if (!text_equal_at(x, y, row, by ? 0 : row))
                mr_bit_clear(bits, row);
        }
}

static void compare_rows(struct mr_call *call, const struct mr_column *x, const struct mr_column *y,
                         enum mr_comparison op, struct mr_column *out)
{
    bool is_text = x->type->kind == MR_STRING || x->type->kind == MR_BINARY;

    if (is_text && op == MR_EQ && call->sel == NULL) {
        equal_texts(x, y, mr_call_is_literal(call, 1), call->rows, out->bits);
        return;
    }
    MR_EACH_ROW(call, i, row)
    {
        if (call->valid && !mr_bit_get(call->valid, row))
            continue;
        if (is_text && op == MR_EQ)
            mr_bit_put(out->bits, row, text_equal_at(x, y, row, row));
        else
            mr_bit_put(out->bits, row, holds(op, mr_column_compare(x, row, y, row)));
    }
}

static void compare(struct mr_call *call, const struct mr_column *x, const struct mr_column *y,
                    enum mr_comparison op, struct mr_column *out)
{
    enum mr_lane lane = mr_lane_of(x->type);

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    if (lane == MR_LANES_N)
        compare_rows(call, x, y, op, out);
    else if (call->expr->args[1]->kind == MR_EXPR_LITERAL)
        mr_select->compare_by[lane][op](out->bits, x->data, call->expr->args[1]->value->data,
                                        call->rows);
    else
        mr_select->compare[lane][op](out->bits, x->data, y->data, call->rows);
}

static void invert(struct mr_column *c, uint32_t rows)
{
    for (uint32_t w = 0; w < mr_bit_words(rows); w++)
        c->bits[w] = ~c->bits[w];
}

MR_BODY(eq)
{
    compare(call, &args[0], &args[1], MR_EQ, out);
    return MR_OK;
}
MR_BODY(ne)
{
    compare(call, &args[0], &args[1], MR_EQ, out);
    invert(out, call->rows);
    return MR_OK;
}
MR_BODY(lt)
{
    compare(call, &args[0], &args[1], MR_LT, out);
    return MR_OK;
}
MR_BODY(le)
{
    compare(call, &args[0], &args[1], MR_LE, out);
    return MR_OK;
}
MR_BODY(gt)
{
    compare(call, &args[0], &args[1], MR_GT, out);
    return MR_OK;
}
MR_BODY(ge)
{
    compare(call, &args[0], &args[1], MR_GE, out);
    return MR_OK;
}

/* <=>: nulls are equal, and the result is never null. */
MR_BODY(eq_null_safe)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_bit_put(out->bits, row, mr_column_compare(&args[0], row, &args[1], row) == 0);
    return MR_OK;
}

MR_RESOLVE(in)
{
    const struct mr_type *type;
    enum mr_status status = mr_coerce_common(r, call, 0, call->args_n, &type);

    if (status != MR_OK)
        return status;
    call->type = &mr_type_boolean;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

/* A list of constants of fixed width, or texts: a loop for each of them over all rows (but views of
 * rows left out may point anywhere). False: it is another one. */
static bool in_constants(struct mr_call *call, const struct mr_column *x, struct mr_column *out)
{
    enum mr_lane lane = mr_lane_of(x->type);
    uint32_t words = mr_bit_words(call->rows);
    uint64_t *one;
    bool null = false;

    if (lane == MR_LANES_N && (x->type->kind != MR_STRING || call->sel != NULL))
        return false;
    for (uint32_t k = 1; k < call->expr->args_n; k++)
        if (!mr_call_is_literal(call, k))
            return false;
    one = MR_NEW_ARRAY(call->arena, uint64_t, words + 1);
    memset(out->bits, 0, words * sizeof *out->bits);
    for (uint32_t k = 1; k < call->expr->args_n; k++) {
        const struct mr_column *value = call->expr->args[k]->value;
        null = null || mr_column_is_null(value, 0);
        if (mr_column_is_null(value, 0))
            continue;
        if (lane == MR_LANES_N)
            equal_texts(x, value, true, call->rows, one);
        else
            mr_select->compare_by[lane][MR_EQ](one, x->data, value->data, call->rows);
        for (uint32_t w = 0; w < words; w++)
            out->bits[w] |= one[w];
    }
    for (uint32_t w = 0; w < words; w++) {
        uint64_t there = x->valid ? x->valid[w] : ~UINT64_C(0);
        out->bits[w] &= there;
        out->valid[w] = null ? out->bits[w] : there;
    }
    return true;
}

/* True if one is equal; else null if the value or one of the list is null. */
MR_BODY(in)
{
    uint32_t n = call->expr->args_n;

    mr_column_alloc(out, &mr_type_boolean, call->rows, true, call->arena);
    if (in_constants(call, &args[0], out))
        return MR_OK;
    MR_EACH_ROW(call, i, row)
    {
        bool found = false, null = mr_column_is_null(&args[0], row);
        for (uint32_t k = 1; k < n && !found && !mr_column_is_null(&args[0], row); k++) {
            if (mr_column_is_null(&args[k], row))
                null = true;
            else if (args[0].type->kind == MR_STRING)
                found = text_equal_at(&args[0], &args[k], row, row);
            else
                found = mr_column_compare(&args[0], row, &args[k], row) == 0;
        }
        mr_bit_put(out->bits, row, found);
        mr_bit_put(out->valid, row, found || !null);
    }
    return MR_OK;
}

MR_RESOLVE(common)
{
    const struct mr_type *strict = &mr_type_void;
    enum mr_status status;

    for (uint32_t i = 0; i < call->args_n && strict; i++)
        strict = mr_type_common_strict(strict, call->args[i]->type, r->ansi, r->arena);
    if (strict == NULL)
        return mr_mismatch(r, call, "DATA_DIFF_TYPES", "Input to `%s` should all be the same type.",
                           call->function->name);
    status = mr_coerce_common(r, call, 0, call->args_n, &call->type);
    if (status != MR_OK)
        return status;
    if (!mr_type_is_orderable(call->type))
        return mr_mismatch(r, call, "INVALID_ORDERING_TYPE",
                           "The `%s` does not support ordering on type \"%s\".",
                           call->function->name, mr_type_sql(r->arena, call->type));
    call->nullable = true;
    for (uint32_t i = 0; i < call->args_n; i++)
        call->nullable = call->nullable && call->args[i]->nullable;
    return MR_OK;
}
