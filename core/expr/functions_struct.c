#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/writer.h"

/* Structs and their fields, items of arrays and maps. */

static enum mr_status no_such_field(struct mr_resolve *r, const struct mr_type *type,
                                    const char *name)
{
    struct mr_buffer b;

    mr_buffer_init(&b, r->arena);
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_buffer_append_format(&b, "%s`%s`", i ? ", " : "", type->fields[i].name);
    return MR_FAIL_CONDITION(r->err, MR_USER, "FIELD_NOT_FOUND",
                             "No such struct field `%s` in %.*s.", name, (int)b.n,
                             (const char *)b.data);
}

/* Index of the field, or an error; two that match without case are ambiguous. */
static enum mr_status find_field(struct mr_resolve *r, const struct mr_type *type, const char *name,
                                 uint32_t *index)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < type->fields_n; i++) {
        if (!mr_text_equal_ignoring_case(mr_text_of(type->fields[i].name), mr_text_of(name)))
            continue;
        *index = i;
        found++;
    }
    if (found > 1)
        return MR_FAIL_CONDITION(
            r->err, MR_USER, "AMBIGUOUS_REFERENCE_TO_FIELDS",
            "Ambiguous reference to the field `%s`. It appears %u times in the "
            "schema.",
            name, found);
    return found ? MR_OK : no_such_field(r, type, name);
}

/* get_field(struct or array of structs, name). */
MR_RESOLVE(get_field)
{
    const struct mr_type *type = call->args[0]->type;
    bool array = type->kind == MR_ARRAY && type->fields[0].type->kind == MR_STRUCT;
    const struct mr_type *fields = array ? type->fields[0].type : type;
    uint32_t *index = MR_NEW(r->arena, uint32_t);
    struct mr_text name = mr_column_text(call->args[1]->value, 0);
    const char *wanted = mr_arena_copy(r->arena, name.data, name.n);
    enum mr_status status;

    if (fields->kind != MR_STRUCT)
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_EXTRACT_BASE_FIELD_TYPE",
                                 "Can't extract a value from \"%s\". Need a complex type [STRUCT, "
                                 "ARRAY, MAP] but got \"%s\".",
                                 call->args[0]->text ? call->args[0]->text : "",
                                 mr_type_sql(r->arena, type));
    status = find_field(r, fields, wanted, index);
    if (status != MR_OK)
        return status;
    call->data = index;
    call->type = fields->fields[*index].type;
    call->nullable = call->args[0]->nullable || fields->fields[*index].nullable;
    if (array)
        call->type = mr_type_array(r->arena, call->type,
                                   type->fields[0].nullable || fields->fields[*index].nullable);
    return MR_OK;
}

MR_BODY(get_field)
{
    const uint32_t *index = call->expr->data;
    const struct mr_column *element;

    if (args[0].type->kind == MR_STRUCT) {
        *out = args[0].children[*index];
        return MR_OK;
    }
    element = &args[0].children[0];
    *out = args[0];
    out->type = call->expr->type;
    out->children = MR_NEW(call->arena, struct mr_column);
    out->children[0] = element->children[*index];
    if (element->valid) { /* a null struct has null fields */
        uint32_t n = call->rows ? (uint32_t)args[0].offsets[call->rows] : 0;
        uint64_t *valid = mr_arena_alloc(call->arena, (mr_bit_words(n) + 1) * sizeof *valid);
        for (uint32_t w = 0; w < mr_bit_words(n); w++)
            valid[w] = element->valid[w] &
                       (out->children[0].valid ? out->children[0].valid[w] : ~(uint64_t)0);
        out->children[0].valid = valid;
    }
    return MR_OK;
}

MR_RESOLVE(get_item)
{
    const struct mr_type *type = call->args[0]->type;
    enum mr_status status;

    call->nullable = true;
    switch (type->kind) {
    case MR_ARRAY:
        call->type = type->fields[0].type;
        if (strstr(call->function->name, "element_at") != NULL) { /* but [] takes any integer */
            status = mr_require_place(r, call, 1);
            if (status != MR_OK)
                return status;
        } else if (!mr_type_is_integer(call->args[1]->type)) {
            return mr_mismatch_argument(r, call, 1, "\"INTEGRAL\"");
        }
        call->args[1] = mr_coerce(r, call->args[1], &mr_type_bigint);
        return MR_OK;
    case MR_MAP:
        call->type = type->fields[1].type;
        if (strcmp(call->function->name, "get_item") != 0 &&
            mr_type_common_strict(type->fields[0].type, call->args[1]->type, r->ansi, r->arena) ==
                NULL)
            return mr_mismatch(r, call, "MAP_FUNCTION_DIFF_TYPES",
                               "Input to `%s` should have been a map followed by a value with its "
                               "key type.",
                               call->function->name);
        status = mr_coerce_argument(r, call, 1, type->fields[0].type, NULL);
        return status;
    case MR_STRUCT:
        status = mr_require_literal(r, call, 1, "name");
        if (status != MR_OK)
            return status;
        call->function = mr_function_find("get_field");
        return call->function->resolve(r, call);
    default:
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_EXTRACT_BASE_FIELD_TYPE",
                                 "Can't extract a value from \"%s\". Need a complex type [STRUCT, "
                                 "ARRAY, MAP] but got \"%s\".",
                                 call->args[0]->text ? call->args[0]->text : "",
                                 mr_type_sql(r->arena, type));
    }
}

static uint32_t find_key(const struct mr_column *map, uint32_t row, const struct mr_column *key)
{
    for (int32_t k = map->offsets[row + 1]; k-- > map->offsets[row];)
        if (mr_column_compare(&map->children[0], (uint32_t)k, key, row) == 0)
            return (uint32_t)k;
    return UINT32_MAX;
}

/* How an index is counted, and what one beyond the array does. */
struct item_rule {
    bool from_one;         /* element_at: from 1, negative from the end */
    const char *condition; /* NULL: null */
    const char *hint;
};

static int64_t place_at(const struct mr_column *places, uint32_t row)
{
    return places->type->kind == MR_INT ? places->i32[row] : places->i64[row];
}

/* A constant place in arrays. False: some row has no such item. */
static bool take_place(struct mr_call *call, const struct mr_column *x, bool from_one, int64_t at,
                       uint32_t *rows)
{
    const int32_t *offsets = x->offsets;
    bool all = true;

    MR_EACH_ROW(call, i, row)
    {
        const int64_t n = offsets[row + 1] - offsets[row];
        const int64_t place = !from_one ? at : at > 0 ? at - 1 : n + at;
        const bool there = place >= 0 && place < n;
        rows[row] = there ? (uint32_t)(offsets[row] + place) : UINT32_MAX;
        all &= there;
    }
    return all;
}

static enum mr_status take_items(struct mr_call *call, const struct mr_column *args,
                                 const struct item_rule *rule, struct mr_column *out)
{
    const struct mr_column *x = &args[0];
    bool map = x->type->kind == MR_MAP;
    /* Each row has a copy of a literal: reading the first one only keeps it in the cache. */
    const bool fixed = mr_call_is_literal(call, 0);
    uint32_t *rows = mr_arena_alloc(call->arena, ((size_t)call->rows + 1) * sizeof *rows);
    int64_t at;

    memset(rows, 0xff, call->rows * sizeof *rows);
    at = !map && call->n > 0 ? place_at(&args[1], call->sel ? call->sel[0] : 0) : 0;
    if (!map && !fixed && mr_call_is_literal(call, 1) && !(rule->from_one && at == 0) &&
        take_place(call, x, rule->from_one, at, rows)) {
        mr_column_gather(out, &x->children[0], rows, call->rows, call->arena);
        return MR_OK;
    }
    MR_EACH_ROW(call, i, row)
    {
        const uint32_t from = fixed ? 0 : row;
        int64_t n = x->offsets[from + 1] - x->offsets[from];
        if (map) {
            rows[row] = find_key(x, row, &args[1]);
            continue;
        }
        at = place_at(&args[1], row);
        if (rule->from_one && at == 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_INDEX_OF_ZERO",
                                     "The index 0 is invalid. An index shall be either < 0 or > 0 "
                                     "(the first element has index 1).");
        int64_t place = !rule->from_one ? at : at > 0 ? at - 1 : n + at;
        if (place >= 0 && place < n)
            rows[row] = (uint32_t)(x->offsets[from] + place);
        else if (rule->condition && call->context->ansi)
            return MR_FAIL_CONDITION(
                call->err, MR_QUERY, rule->condition,
                "The index %lld is out of bounds. The array has %lld elements. "
                "Use %s to tolerate accessing element at invalid index and "
                "return NULL instead.",
                (long long)at, (long long)n, rule->hint);
    }
    mr_column_gather(out, &x->children[map ? 1 : 0], rows, call->rows, call->arena);
    return MR_OK;
}

MR_BODY(get_item)
{
    return take_items(call, args,
                      &(struct item_rule){false, "INVALID_ARRAY_INDEX", "the SQL function `get()`"},
                      out);
}
MR_BODY(get)
{
    return take_items(call, args, &(struct item_rule){false, NULL, NULL}, out);
}
MR_BODY(element_at)
{
    return take_items(
        call, args,
        &(struct item_rule){true, "INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "`try_element_at`"}, out);
}
MR_BODY(try_element_at)
{
    return take_items(call, args, &(struct item_rule){true, NULL, NULL}, out);
}

/* struct(a, b, ..): fields are named after columns, others col1, col2. */
static const char *field_name(struct mr_resolve *r, const struct mr_expr *x, uint32_t i)
{
    const char *dot;

    if (x->kind == MR_EXPR_CALL && strcmp(x->function->name, "get_field") == 0 &&
        x->args[0]->type->kind == MR_STRUCT)
        return x->args[0]->type->fields[*(const uint32_t *)x->data].name;
    if ((x->kind == MR_EXPR_COLUMN || x->kind == MR_EXPR_VARIABLE) && x->text) {
        dot = strrchr(x->text, '.');
        return dot ? dot + 1 : x->text;
    }
    return mr_arena_format(r->arena, "col%u", i + 1);
}

MR_RESOLVE(struct)
{
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, call->args_n + 1);

    for (uint32_t i = 0; i < call->args_n; i++)
        fields[i] = (struct mr_field){field_name(r, call->args[i], i), call->args[i]->type,
                                      call->args[i]->nullable};
    call->type = mr_type_struct(r->arena, fields, call->args_n);
    return MR_OK;
}

/* named_struct(name, value, ..): the names leave the arguments. */
MR_RESOLVE(named_struct)
{
    uint32_t n = call->args_n / 2;
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, n + 1);
    struct mr_expr **values = MR_NEW_ARRAY(r->arena, struct mr_expr *, n + 1);

    if (call->args_n % 2)
        return MR_FAIL_CONDITION(r->err, MR_USER, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
                                 "The `named_struct` requires 2n (n > 0) parameters but the actual "
                                 "number is %u.",
                                 call->args_n);
    for (uint32_t i = 0; i < n; i++) {
        enum mr_status status = mr_require_literal(r, call, 2 * i, "name");
        if (status != MR_OK)
            return status;
        if (call->args[2 * i]->type->kind != MR_STRING)
            return mr_mismatch(r, call, "CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
                               "Only foldable `STRING` expressions are allowed to appear at odd "
                               "position.");
        struct mr_text name = mr_column_text(call->args[2 * i]->value, 0);
        values[i] = call->args[2 * i + 1];
        fields[i] = (struct mr_field){mr_arena_copy(r->arena, name.data, name.n), values[i]->type,
                                      values[i]->nullable};
    }
    call->args = values;
    call->args_n = n;
    call->type = mr_type_struct(r->arena, fields, n);
    return MR_OK;
}

MR_BODY(struct)
{
    uint32_t n = call->expr->args_n;

    out->children = MR_NEW_ARRAY(call->arena, struct mr_column, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out->children[i] = args[i];
    return MR_OK;
}
