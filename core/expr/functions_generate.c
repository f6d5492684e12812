#include "core/expr/gather.h"
#include "core/expr/generator.h"

/* explode, posexplode, inline, stack. */

static enum mr_status set_type(struct mr_resolve *r, struct mr_expr *call,
                               const struct mr_field *fields, uint32_t n)
{
    struct mr_field *copy = MR_NEW_ARRAY(r->arena, struct mr_field, n + 1);

    for (uint32_t i = 0; i < n; i++)
        copy[i] = fields[i];
    call->type = mr_type_struct(r->arena, copy, n);
    return MR_OK;
}

MR_RESOLVE(explode)
{
    const struct mr_type *type = call->args[0]->type;
    bool with_place = strncmp(call->function->name, "pos", 3) == 0;
    bool outer = (call->function->flags & MR_FN_OUTER) != 0;
    struct mr_field fields[3] = {{"pos", &mr_type_int, outer}};
    uint32_t n = with_place;

    if (type->kind == MR_ARRAY) {
        fields[n++] =
            (struct mr_field){"col", type->fields[0].type, outer || type->fields[0].nullable};
    } else if (type->kind == MR_MAP) {
        fields[n++] = (struct mr_field){"key", type->fields[0].type, outer};
        fields[n++] =
            (struct mr_field){"value", type->fields[1].type, outer || type->fields[1].nullable};
    } else {
        return mr_mismatch_argument(r, call, 0, "(\"ARRAY\" or \"MAP\")");
    }
    return set_type(r, call, fields, n);
}

/* Rows: the elements of each list; *elements: where they lie. */
static void list_rows(struct mr_call *call, const struct mr_column *x, struct mr_generated *out,
                      uint32_t **elements)
{
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts), at = 0;

    MR_EACH_ROW(call, i, row)
    counts[i] = x->type->kind == MR_VOID || mr_column_is_null(x, row)
                    ? 0
                    : (uint32_t)(x->offsets[row + 1] - x->offsets[row]);
    mr_generated_begin(call, counts, out);
    *elements = mr_arena_alloc(call->arena, ((size_t)out->rows + 1) * sizeof **elements);
    MR_EACH_ROW(call, i, row)
    for (uint32_t k = 0; k < counts[i]; k++)
        (*elements)[at++] = (uint32_t)x->offsets[row] + k;
}

MR_GENERATE(explode)
{
    const struct mr_column *x = &args[0];
    bool with_place = strncmp(call->expr->function->name, "pos", 3) == 0;
    uint32_t *elements, c = 0;

    list_rows(call, x, out, &elements);
    if (with_place) {
        mr_column_alloc(&out->columns[c], &mr_type_int, out->rows, false, call->arena);
        for (uint32_t i = 0; i < call->n; i++)
            for (uint32_t k = out->offsets[i]; k < out->offsets[i + 1]; k++)
                out->columns[c].i32[k] = (int32_t)(k - out->offsets[i]);
        c++;
    }
    for (uint32_t f = 0; f < x->type->fields_n; f++)
        mr_column_gather(&out->columns[c + f], &x->children[f], elements, out->rows, call->arena);
    return MR_OK;
}

MR_RESOLVE(inline)
{
    const struct mr_type *type = call->args[0]->type;
    struct mr_field *fields;
    bool outer = (call->function->flags & MR_FN_OUTER) != 0;

    if (type->kind != MR_ARRAY || type->fields[0].type->kind != MR_STRUCT)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY<STRUCT>\"");
    type = type->fields[0].type;
    fields = MR_NEW_ARRAY(r->arena, struct mr_field, type->fields_n + 1);
    for (uint32_t i = 0; i < type->fields_n; i++) {
        fields[i] = type->fields[i];
        fields[i].nullable |= outer || call->args[0]->type->fields[0].nullable;
    }
    return set_type(r, call, fields, type->fields_n);
}

MR_GENERATE(inline)
{
    const struct mr_column *x = &args[0], *element = &args[0].children[0];
    uint32_t *elements;

    list_rows(call, x, out, &elements);
    for (uint32_t k = 0; k < out->rows; k++)
        if (mr_column_is_null(element, elements[k])) /* a null struct: a row of nulls */
            elements[k] = UINT32_MAX;
    for (uint32_t f = 0; f < element->type->fields_n; f++)
        mr_column_gather(&out->columns[f], &element->children[f], elements, out->rows, call->arena);
    return MR_OK;
}

/* stack(n, value, ..): the values as n rows; those that are missing are null. */
MR_RESOLVE(stack)
{
    int32_t n;
    uint32_t columns_n;
    struct mr_field *fields;
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_int, NULL);

    if (status == MR_OK)
        status = mr_require_literal(r, call, 0, "n");
    if (status != MR_OK)
        return status;
    n = call->args[0]->value->i32[0];
    if (n <= 0)
        return mr_mismatch(r, call, "VALUE_OUT_OF_RANGE",
                           "The `n` must be between (0, 2147483647] (current value = %d).", n);
    columns_n = (call->args_n - 1 + (uint32_t)n - 1) / (uint32_t)n;
    fields = MR_NEW_ARRAY(r->arena, struct mr_field, columns_n + 1);
    for (uint32_t c = 0; c < columns_n; c++) {
        const struct mr_type *type = &mr_type_void;
        for (uint32_t k = 1 + c; k < call->args_n; k += columns_n) {
            const struct mr_type *common =
                mr_type_common(type, call->args[k]->type, r->ansi, r->arena);
            if (common == NULL)
                return mr_mismatch(r, call, "STACK_COLUMN_DIFF_TYPES",
                                   "The data type of the column (%u) do not have the same type: "
                                   "\"%s\" <> \"%s\".",
                                   c, mr_type_sql(r->arena, type),
                                   mr_type_sql(r->arena, call->args[k]->type));
            type = common;
        }
        for (uint32_t k = 1 + c; k < call->args_n; k += columns_n)
            call->args[k] = mr_coerce(r, call->args[k], type);
        fields[c] = (struct mr_field){mr_arena_format(r->arena, "col%u", c), type, true};
    }
    return set_type(r, call, fields, columns_n);
}

MR_GENERATE(stack)
{
    uint32_t n = (uint32_t)call->expr->args[0]->value->i32[0],
             columns_n = call->expr->type->fields_n;
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts);

    for (uint32_t i = 0; i < call->n; i++)
        counts[i] = n;
    mr_generated_begin(call, counts, out);
    for (uint32_t c = 0; c < columns_n; c++) {
        struct mr_builder b;
        mr_builder_init(&b, call->expr->type->fields[c].type, out->rows, call->arena);
        MR_EACH_ROW(call, i, row)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t argument = 1 + k * columns_n + c;
            if (argument < call->expr->args_n)
                mr_builder_append(&b, &args[argument], row);
            else
                mr_builder_append_null(&b);
        }
        mr_builder_finish(&b, &out->columns[c]);
    }
    return MR_OK;
}
