#include "core/expr/coerce.h"
#include "core/expr/map.h"

/* Maps. Keys are unique and not null: DUPLICATED_MAP_KEY, NULL_MAP_KEY. */

enum mr_status mr_map_put(struct mr_call *call, struct mr_list_writer *w, uint32_t from,
                          const struct mr_column *key, uint32_t key_row,
                          const struct mr_column *value, uint32_t value_row)
{
    struct mr_builder *keys = &w->children[0];
    struct mr_column built;

    if (mr_column_is_null(key, key_row))
        return MR_FAIL_CONDITION(call->err, MR_QUERY, "NULL_MAP_KEY",
                                 "Cannot use null as map key.");
    mr_builder_finish(keys, &built);
    for (uint32_t i = from; i < keys->rows; i++) {
        if (mr_column_compare(&built, i, key, key_row) != 0)
            continue;
        struct mr_buffer b;
        mr_buffer_init(&b, call->arena);
        mr_cast_print(key, key_row, call->context, &b);
        return MR_FAIL_CONDITION(
            call->err, MR_QUERY, "DUPLICATED_MAP_KEY",
            "Duplicate map key %.*s was found, please check the input data. If "
            "you want to remove the duplicated keys, you can set "
            "\"spark.sql.mapKeyDedupPolicy\" to \"LAST_WIN\".",
            (int)b.n, (const char *)b.data);
    }
    mr_builder_append(keys, key, key_row);
    mr_builder_append(&w->children[1], value, value_row);
    return MR_OK;
}

/* map(key, value, ..). */
MR_RESOLVE(map)
{
    const struct mr_type *key = &mr_type_void, *value = &mr_type_void;
    bool nullable = false;

    if (call->args_n % 2)
        return MR_FAIL_CONDITION(
            r->err, MR_USER, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            "The `map` requires 2n (n > 0) parameters but the actual number is "
            "%u.",
            call->args_n);
    for (uint32_t i = 0; i < call->args_n && key && value; i += 2) {
        key = mr_type_common(key, call->args[i]->type, r->ansi, r->arena);
        value = mr_type_common(value, call->args[i + 1]->type, r->ansi, r->arena);
        nullable |= call->args[i + 1]->nullable;
    }
    if (key == NULL || value == NULL)
        return mr_mismatch(
            r, call, key ? "CREATE_MAP_VALUE_DIFF_TYPES" : "CREATE_MAP_KEY_DIFF_TYPES",
            "The given %s of function `map` should all be the same type.", key ? "values" : "keys");
    if (mr_type_has(key, MR_MAP))
        return mr_mismatch(r, call, "INVALID_MAP_KEY_TYPE",
                           "The key of map cannot be/contain \"%s\".", mr_type_sql(r->arena, key));
    for (uint32_t i = 0; i < call->args_n; i += 2) {
        call->args[i] = mr_coerce(r, call->args[i], key);
        call->args[i + 1] = mr_coerce(r, call->args[i + 1], value);
    }
    call->type = mr_type_map(r->arena, key, value, nullable);
    return MR_OK;
}

MR_BODY(map)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        for (uint32_t k = 0; k < call->expr->args_n; k += 2) {
            enum mr_status status = mr_map_put(call, &w, from, &args[k], row, &args[k + 1], row);
            if (status != MR_OK)
                return status;
        }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* Keys, values: arrays that share the map's memory. */
MR_RESOLVE(map_part)
{
    bool keys = strcmp(call->function->name, "map_keys") == 0;
    const struct mr_type *type = call->args[0]->type;

    if (type->kind != MR_MAP)
        return mr_mismatch_argument(r, call, 0, "\"MAP\"");
    call->type =
        mr_type_array(r->arena, type->fields[keys ? 0 : 1].type, !keys && type->fields[1].nullable);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

static enum mr_status part(struct mr_call *call, const struct mr_column *x, uint32_t which,
                           struct mr_column *out)
{
    *out = *x;
    out->type = call->expr->type;
    out->children = MR_NEW(call->arena, struct mr_column);
    out->children[0] = x->children[which];
    return MR_OK;
}

MR_BODY(map_keys)
{
    return part(call, args, 0, out);
}
MR_BODY(map_values)
{
    return part(call, args, 1, out);
}

static const struct mr_type *entry_type(struct mr_arena *a, const struct mr_type *map)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, 2);

    fields[0] = (struct mr_field){"key", map->fields[0].type, false};
    fields[1] = (struct mr_field){"value", map->fields[1].type, map->fields[1].nullable};
    return mr_type_struct(a, fields, 2);
}

MR_RESOLVE(map_entries)
{
    if (call->args[0]->type->kind != MR_MAP)
        return mr_mismatch_argument(r, call, 0, "\"MAP\"");
    call->type = mr_type_array(r->arena, entry_type(r->arena, call->args[0]->type), false);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_BODY(map_entries)
{
    *out = args[0];
    out->type = call->expr->type;
    out->children = MR_NEW(call->arena, struct mr_column);
    out->children[0].type = call->expr->type->fields[0].type;
    out->children[0].children = args[0].children;
    return MR_OK;
}

MR_RESOLVE(map_contains_key)
{
    if (call->args[0]->type->kind != MR_MAP)
        return mr_mismatch_argument(r, call, 0, "\"MAP\"");
    call->type = &mr_type_boolean;
    call->nullable = mr_expr_any_nullable(call);
    return mr_coerce_argument(r, call, 1, call->args[0]->type->fields[0].type, NULL);
}

MR_BODY(map_contains_key)
{
    const struct mr_column *x = &args[0];

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool found = false;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1] && !found; e++)
            found = mr_column_compare(&x->children[0], (uint32_t)e, &args[1], row) == 0;
        mr_bit_put(out->bits, row, found);
    }
    return MR_OK;
}

MR_RESOLVE(map_concat)
{
    enum mr_status status;

    for (uint32_t i = 0; i < call->args_n; i++)
        if (call->args[i]->type->kind != MR_MAP)
            return mr_mismatch(r, call, "MAP_CONCAT_DIFF_TYPES",
                               "The `map_concat` should all be of type map, but it's \"%s\".",
                               mr_type_sql(r->arena, call->args[i]->type));
    if (call->args_n == 0) {
        call->type = mr_type_map(r->arena, &mr_type_string, &mr_type_string, true);
        return MR_OK;
    }
    status = mr_coerce_common(r, call, 0, call->args_n, &call->type);
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

MR_BODY(map_concat)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            for (int32_t e = args[k].offsets[row]; e < args[k].offsets[row + 1]; e++) {
                enum mr_status status = mr_map_put(call, &w, from, &args[k].children[0],
                                                   (uint32_t)e, &args[k].children[1], (uint32_t)e);
                if (status != MR_OK)
                    return status;
            }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(map_from_arrays)
{
    const struct mr_type *key = call->args[0]->type, *value = call->args[1]->type;

    for (uint32_t i = 0; i < 2; i++)
        if (call->args[i]->type->kind != MR_ARRAY)
            return mr_mismatch_argument(r, call, i, "\"ARRAY\"");
    call->type = mr_type_map(r->arena, key->fields[0].type, value->fields[0].type,
                             value->fields[0].nullable);
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

MR_BODY(map_from_arrays)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        int32_t n = args[0].offsets[row + 1] - args[0].offsets[row];
        if (n != args[1].offsets[row + 1] - args[1].offsets[row])
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "_LEGACY_ERROR_TEMP_2128",
                                     "The key array and value array of MapData must have the same "
                                     "length.");
        for (int32_t e = 0; e < n; e++) {
            enum mr_status status = mr_map_put(
                call, &w, from, &args[0].children[0], (uint32_t)(args[0].offsets[row] + e),
                &args[1].children[0], (uint32_t)(args[1].offsets[row] + e));
            if (status != MR_OK)
                return status;
        }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(map_from_entries)
{
    const struct mr_type *type = call->args[0]->type, *entry;

    if (type->kind != MR_ARRAY || type->fields[0].type->kind != MR_STRUCT ||
        type->fields[0].type->fields_n != 2)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY\" of pair \"STRUCT\"");
    entry = type->fields[0].type;
    call->type = mr_type_map(r->arena, entry->fields[0].type, entry->fields[1].type,
                             entry->fields[1].nullable);
    call->nullable = call->args[0]->nullable || type->fields[0].nullable;
    return MR_OK;
}

MR_BODY(map_from_entries)
{
    const struct mr_column *x = &args[0], *entry = &args[0].children[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        uint32_t from = w.children[0].rows;
        bool null = false;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
            null = null || mr_column_is_null(entry, (uint32_t)e);
        for (int32_t e = x->offsets[row]; !null && e < x->offsets[row + 1]; e++) {
            enum mr_status status = mr_map_put(call, &w, from, &entry->children[0], (uint32_t)e,
                                               &entry->children[1], (uint32_t)e);
            if (status != MR_OK)
                return status;
        }
        if (null)
            mr_list_writer_null(&w, row);
        else
            mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}
