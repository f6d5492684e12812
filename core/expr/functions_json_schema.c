#include "core/expr/coerce.h"
#include "core/expr/format_call.h"
#include "core/expr/json_tree.h"

#include <stdlib.h>

/* schema_of_json(constant text): the type that Spark would infer, as DDL. */

static const struct mr_type *infer(const struct json_tree *x, struct mr_arena *a);

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct mr_field *)a)->name, ((const struct mr_field *)b)->name);
}

const struct mr_type *mr_schema_merge(const struct mr_type *x, const struct mr_type *y,
                                      const struct mr_type *otherwise, struct mr_arena *a)
{
    struct mr_field *fields;
    uint32_t n = 0;

    if (x->kind == MR_VOID || mr_type_equal(x, y))
        return x->kind == MR_VOID ? y : x;
    if (y->kind == MR_VOID)
        return x;
    if (x->kind == MR_ARRAY && y->kind == MR_ARRAY)
        return mr_type_array(a, mr_schema_merge(x->fields[0].type, y->fields[0].type, otherwise, a),
                             true);
    if (mr_type_is_numeric(x) && mr_type_is_numeric(y))
        return x->kind == MR_DOUBLE || y->kind == MR_DOUBLE ? &mr_type_double
                                                            : mr_type_common(x, y, true, a);
    if (x->kind != MR_STRUCT || y->kind != MR_STRUCT)
        return otherwise;
    fields = MR_NEW_ARRAY(a, struct mr_field, x->fields_n + y->fields_n + 1);
    for (; n < x->fields_n; n++)
        fields[n] = x->fields[n];
    for (uint32_t i = 0; i < y->fields_n; i++) {
        uint32_t k = 0;
        while (k < x->fields_n && strcmp(fields[k].name, y->fields[i].name) != 0)
            k++;
        if (k < x->fields_n)
            fields[k].type = mr_schema_merge(fields[k].type, y->fields[i].type, otherwise, a);
        else
            fields[n++] = y->fields[i];
    }
    qsort(fields, n, sizeof *fields, by_name);
    return mr_type_struct(a, fields, n);
}

static const struct mr_type *infer_object(const struct json_tree *x, struct mr_arena *a)
{
    struct mr_field *fields;
    uint32_t n = 0;

    for (const struct json_tree *m = x->first; m; m = m->next)
        n++;
    fields = MR_NEW_ARRAY(a, struct mr_field, n + 1);
    n = 0;
    for (const struct json_tree *m = x->first; m; m = m->next)
        fields[n++] =
            (struct mr_field){mr_arena_copy(a, m->name.data, m->name.n), infer(m, a), true};
    qsort(fields, n, sizeof *fields, by_name);
    return mr_type_struct(a, fields, n);
}

/* Goes down as deep as the tree: at most MR_JSON_TREE_DEPTH levels. */
static const struct mr_type *infer(const struct json_tree *x, struct mr_arena *a)
{
    const struct mr_type *element = &mr_type_void;
    uint64_t digits;

    switch (x->kind) {
    case JSON_START_OBJECT:
        return infer_object(x, a);
    case JSON_START_ARRAY:
        for (const struct json_tree *m = x->first; m; m = m->next)
            element = mr_schema_merge(element, infer(m, a), &mr_type_string, a);
        return mr_type_array(a, element, true);
    case JSON_STRING:
        return &mr_type_string;
    case JSON_INTEGER:
        digits = x->text.n - (x->text.data[0] == '-');
        return digits < 19                  ? &mr_type_bigint
               : digits > MR_DECIMAL_DIGITS ? &mr_type_double
                                            : mr_type_decimal(a, (uint32_t)digits, 0);
    case JSON_FLOAT:
        return &mr_type_double;
    case JSON_TRUE:
    case JSON_FALSE:
        return &mr_type_boolean;
    default:
        return &mr_type_void;
    }
}

/* What was only ever null is a text. */
static const struct mr_type *without_void(const struct mr_type *type, struct mr_arena *a)
{
    struct mr_field *fields;

    if (type->kind == MR_VOID)
        return &mr_type_string;
    if (type->fields_n == 0)
        return type;
    fields = MR_NEW_ARRAY(a, struct mr_field, type->fields_n);
    for (uint32_t i = 0; i < type->fields_n; i++) {
        fields[i] = type->fields[i];
        fields[i].type = without_void(fields[i].type, a);
    }
    return type->kind == MR_ARRAY ? mr_type_array(a, fields[0].type, true)
                                  : mr_type_struct(a, fields, type->fields_n);
}

MR_RESOLVE(schema_of_json)
{
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_string, NULL);
    struct mr_json_trees trees;
    struct json_tree *x;
    const char *text = call->text;

    if (status == MR_OK)
        status = mr_require_literal(r, call, 0, "json");
    if (status != MR_OK)
        return status;
    mr_json_trees_init(&trees, r->arena);
    x = mr_expr_is_null_literal(call->args[0])
            ? NULL
            : mr_json_tree_read(&trees, mr_column_text(call->args[0]->value, 0), r->arena);
    if (x == NULL)
        return mr_mismatch(r, call, "UNEXPECTED_NULL", "The `json` must not be malformed or null.");
    *call = *mr_expr_literal_text(
        r->arena, mr_text_of(mr_type_sql(r->arena, without_void(infer(x, r->arena), r->arena))));
    call->text = text;
    return MR_OK;
}
