#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/writer.h"

#include <stdlib.h>

/* Arrays as sets, their extremes and their order. Elements compare as Spark compares them: NaN
 * equals NaN, nulls are alike. Arrays are short: they are searched one by one. */

static enum mr_status other_arrays(struct mr_resolve *r, const struct mr_expr *call)
{
    return mr_mismatch(r, call, "BINARY_ARRAY_DIFF_TYPES",
                       "Input to function `%s` should have been two \"ARRAY\" with same element "
                       "type, but it's [\"%s\", \"%s\"].",
                       call->function->name, mr_type_sql(r->arena, call->args[0]->type),
                       mr_type_sql(r->arena, call->args[1]->type));
}

/* Both arrays to a common type. */
MR_RESOLVE(array_pair)
{
    const struct mr_type *type;
    enum mr_status status;

    for (uint32_t i = 0; i < 2; i++)
        if (call->args[i]->type->kind != MR_ARRAY && call->args[i]->type->kind != MR_VOID)
            return other_arrays(r, call);
    if (mr_type_common_of(r, call->args, 2) == NULL)
        return other_arrays(r, call);
    status = mr_coerce_common(r, call, 0, 2, &type);
    if (status != MR_OK)
        return status;
    call->type = call->function->signature ? &mr_type_boolean : type;
    call->nullable =
        mr_expr_any_nullable(call) ||
        (call->function->signature && type->kind == MR_ARRAY && type->fields[0].nullable);
    return MR_OK;
}

static bool has(const struct mr_column *x, uint32_t row, const struct mr_column *of, uint32_t at)
{
    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
        if (mr_column_compare(&x->children[0], (uint32_t)e, of, at) == 0)
            return true;
    return false;
}

/* Appends the element unless the list that is being built has it. */
static void append_new(struct mr_builder *b, uint32_t from, const struct mr_column *x, uint32_t at)
{
    struct mr_column built;

    mr_builder_finish(b, &built);
    for (uint32_t i = from; i < b->rows; i++)
        if (mr_column_compare(&built, i, x, at) == 0)
            return;
    mr_builder_append(b, x, at);
}

/* Spark's sets have no -0.0, at any depth. */
static void drop_negative_zeros(struct mr_column *x, uint32_t n)
{
    const enum mr_kind k = x->type->kind;

    for (uint32_t i = 0; k == MR_DOUBLE && i < n; i++)
        x->f64[i] += 0.0;
    for (uint32_t i = 0; k == MR_FLOAT && i < n; i++)
        x->f32[i] += 0.0f;
    for (uint32_t f = 0; (k == MR_STRUCT || k == MR_ARRAY) && f < x->type->fields_n; f++)
        drop_negative_zeros(&x->children[f], k == MR_ARRAY ? (uint32_t)x->offsets[n] : n);
}

enum set_operation { SET_DISTINCT, SET_UNION, SET_INTERSECT, SET_EXCEPT };

static enum mr_status set_operation(struct mr_call *call, const struct mr_column *args,
                                    enum set_operation op, struct mr_column *out)
{
    const struct mr_column *x = &args[0], *element = &args[0].children[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++) {
            bool take = op <= SET_UNION ||
                        has(&args[1], row, element, (uint32_t)e) == (op == SET_INTERSECT);
            if (take)
                append_new(&w.children[0], from, element, (uint32_t)e);
        }
        if (op == SET_UNION)
            for (int32_t e = args[1].offsets[row]; e < args[1].offsets[row + 1]; e++)
                append_new(&w.children[0], from, &args[1].children[0], (uint32_t)e);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    drop_negative_zeros(&out->children[0], w.children[0].rows);
    return MR_OK;
}

MR_BODY(array_distinct)
{
    return set_operation(call, args, SET_DISTINCT, out);
}
MR_BODY(array_union)
{
    return set_operation(call, args, SET_UNION, out);
}
MR_BODY(array_intersect)
{
    return set_operation(call, args, SET_INTERSECT, out);
}
MR_BODY(array_except)
{
    return set_operation(call, args, SET_EXCEPT, out);
}

static bool has_null(const struct mr_column *x, uint32_t row)
{
    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
        if (mr_column_is_null(&x->children[0], (uint32_t)e))
            return true;
    return false;
}

/* True if they share an element; else null if both have some and one has a null. */
MR_BODY(arrays_overlap)
{
    const struct mr_column *x = &args[0], *y = &args[1];

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool found = false,
             both = x->offsets[row] < x->offsets[row + 1] && y->offsets[row] < y->offsets[row + 1];
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1] && !found; e++)
            found = !mr_column_is_null(&x->children[0], (uint32_t)e) &&
                    has(y, row, &x->children[0], (uint32_t)e);
        mr_bit_put(out->bits, row, found);
        if (!found && both && (has_null(x, row) || has_null(y, row)))
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

static enum mr_status extreme(struct mr_call *call, const struct mr_column *x, int sign,
                              struct mr_column *out)
{
    uint32_t *rows = mr_arena_alloc(call->arena, ((size_t)call->rows + 1) * sizeof *rows);
    const struct mr_column *element = &x->children[0];

    memset(rows, 0xff, call->rows * sizeof *rows);
    MR_EACH_ROW(call, i, row)
    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
        if (!mr_column_is_null(element, (uint32_t)e) &&
            (rows[row] == UINT32_MAX ||
             sign * mr_column_compare(element, (uint32_t)e, element, rows[row]) > 0))
            rows[row] = (uint32_t)e;
    mr_column_gather(out, element, rows, call->rows, call->arena);
    return MR_OK;
}

MR_BODY(array_max)
{
    return extreme(call, args, 1, out);
}
MR_BODY(array_min)
{
    return extreme(call, args, -1, out);
}

struct order {
    const struct mr_column *x;
    int sign;
    bool nulls_last;
};

static int compare(const void *a, const void *b, void *arg)
{
    const struct order *o = arg;
    uint32_t at = *(const uint32_t *)a, bt = *(const uint32_t *)b;
    bool a_null = mr_column_is_null(o->x, at), b_null = mr_column_is_null(o->x, bt);
    int order;

    if (a_null || b_null)
        return (o->nulls_last ? 1 : -1) * ((int)a_null - (int)b_null);
    order = o->sign * mr_column_compare(o->x, at, o->x, bt);
    return order ? order : at < bt ? -1 : at > bt;
}

static void sort_elements(uint32_t *elements, uint32_t n, const struct mr_column *x,
                          bool descending, bool nulls_last)
{
    struct order o = {x, descending ? -1 : 1, nulls_last};

    qsort_r(elements, n, sizeof *elements, compare, &o);
}

/* Offsets stay; elements are gathered in their new order. */
static enum mr_status sort(struct mr_call *call, const struct mr_column *x,
                           const struct mr_column *ascending, bool nulls_last,
                           struct mr_column *out)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t n = (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
        uint32_t *elements = mr_arena_alloc(call->arena, (n + 1) * sizeof *elements);
        bool descending = ascending && !mr_bit_get(ascending->bits, row);
        for (uint32_t k = 0; k < n; k++)
            elements[k] = (uint32_t)x->offsets[row] + k;
        sort_elements(elements, n, &x->children[0], descending,
                      nulls_last || (ascending && descending));
        mr_builder_append_rows(&w.children[0], &x->children[0], elements, n);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* sort_array(a[, ascending]): nulls first, or last when descending. */
MR_BODY(sort_array)
{
    return sort(call, args, call->expr->args_n > 1 ? &args[1] : NULL, false, out);
}
/* array_sort(a): nulls last. With a comparator: functions_lambda.c. */
MR_BODY(array_sort)
{
    return sort(call, args, NULL, true, out);
}

/* arrays_zip(a, b, ..): structs of the n-th elements, as many as the longest has. */
MR_RESOLVE(arrays_zip)
{
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, call->args_n + 1);

    for (uint32_t i = 0; i < call->args_n; i++) {
        const struct mr_expr *x = call->args[i];
        const char *name = x->kind == MR_EXPR_COLUMN && x->text ? strrchr(x->text, '.') : NULL;
        if (x->type->kind != MR_ARRAY)
            return mr_mismatch_argument(r, call, i, "\"ARRAY\"");
        if (x->kind == MR_EXPR_COLUMN && x->text)
            name = name ? name + 1 : x->text;
        fields[i] = (struct mr_field){name ? name : mr_arena_format(r->arena, "%u", i),
                                      x->type->fields[0].type, true};
    }
    call->type = mr_type_array(r->arena, mr_type_struct(r->arena, fields, call->args_n), false);
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

MR_BODY(arrays_zip)
{
    uint32_t n = call->expr->args_n;
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t longest = 0;
        for (uint32_t k = 0; k < n; k++)
            if (args[k].offsets[row + 1] - args[k].offsets[row] > longest)
                longest = args[k].offsets[row + 1] - args[k].offsets[row];
        for (int32_t e = 0; e < longest; e++) {
            for (uint32_t k = 0; k < n; k++) {
                int32_t at = args[k].offsets[row] + e;
                if (at < args[k].offsets[row + 1])
                    mr_builder_append(&w.children[0].children[k], &args[k].children[0],
                                      (uint32_t)at);
                else
                    mr_builder_append_null(&w.children[0].children[k]);
            }
            mr_builder_close_row(&w.children[0]);
        }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}
