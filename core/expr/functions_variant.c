#include "core/base/bounds.h"
#include "core/expr/cast.h"
#include "core/expr/format_call.h"
#include "core/expr/generator.h"
#include "core/expr/variant_schema.h"
#include "core/format/json/reader.h"
#include "core/format/utf8.h"

/* parse_json, variant_get and their kin: the bytes are core/format/variant's. */

static bool is_try(const struct mr_call *call)
{
    return strncmp(call->expr->function->name, "try_", 4) == 0;
}

MR_RESOLVE(parse_json)
{
    enum mr_kind k = call->args[0]->type->kind;

    if (k != MR_STRING && k != MR_VOID)
        return mr_mismatch_argument(r, call, 0, "\"STRING\"");
    call->args[0] = mr_coerce(r, call->args[0], &mr_type_string);
    call->type = &mr_type_variant;
    call->nullable = call->args[0]->nullable || call->function->name[0] == 't';
    return MR_OK;
}

static enum mr_status malformed(struct mr_call *call, struct mr_text text, struct mr_text duplicate)
{
    enum { SHOWN = 512 };

    return MR_FAIL_CONDITION(
        call->err, MR_QUERY, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        "Malformed records are detected in record parsing: %.*s.\nParse Mode: FAILFAST. Use "
        "`try_parse_json` to get NULL instead.%s%.*s",
        (int)(text.n < SHOWN ? text.n : SHOWN), text.data,
        duplicate.data ? " An object has twice the key " : "", (int)duplicate.n,
        duplicate.data ? duplicate.data : "");
}

MR_BODY(parse_json)
{
    struct mr_arena *a = call->arena;
    const struct json_options options = {0};
    struct json_reader reader;
    struct mr_variant_builder b;
    struct mr_text_writer w;
    struct mr_buffer bytes;

    json_reader_init(&reader, &options, a);
    reader.keep_surrogates = true;
    mr_variant_builder_init(&b, a);
    mr_text_writer_init(&w, out, &mr_type_variant, call->rows, a);
    mr_buffer_init(&bytes, a);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text text = mr_utf8_replace(mr_column_text(&args[0], row), a);
        const uint8_t *data = (const uint8_t *)text.data;
        bytes.n = 0;
        mr_variant_begin(&b);
        json_reader_begin(&reader, data, data + text.n, a);
        if (json_reader_next(&reader) != JSON_ERROR && mr_variant_read_json(&b, &reader) &&
            mr_variant_finish(&b, &bytes))
            mr_text_writer_copy(&w, row, mr_buffer_text(&bytes));
        else if (is_try(call))
            mr_text_writer_null(&w, row, call->rows);
        else
            return malformed(call, text, b.duplicate);
    }
    return MR_OK;
}

static enum mr_status variant_argument(struct mr_resolve *r, struct mr_expr *call)
{
    enum mr_kind k = call->args[0]->type->kind;

    if (k != MR_VARIANT && k != MR_VOID)
        return mr_mismatch_argument(r, call, 0, "\"VARIANT\"");
    call->args[0] = mr_coerce(r, call->args[0], &mr_type_variant);
    return MR_OK;
}

MR_RESOLVE(is_variant_null)
{
    call->type = &mr_type_boolean;
    call->nullable = false;
    return variant_argument(r, call);
}

MR_BODY(is_variant_null)
{
    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool is_null = false;
        if (!mr_column_is_null(&args[0], row)) {
            struct mr_variant v = mr_variant_of(mr_column_text(&args[0], row));
            is_null = mr_variant_read(v).kind == MR_VARIANT_NULL;
        }
        mr_bit_put(out->bits, row, is_null);
    }
    return MR_OK;
}

MR_RESOLVE(variant_get)
{
    enum mr_status status = variant_argument(r, call);

    call->type = &mr_type_variant;
    call->nullable = true;
    if (status == MR_OK)
        status = mr_coerce_argument(r, call, 1, &mr_type_string, NULL);
    if (status == MR_OK && call->args_n > 2)
        status = mr_format_call_schema(r, call, 2, &call->type);
    if (status != MR_OK)
        return status;
    if (!mr_cast_is_allowed(&mr_type_variant, call->type, true))
        return mr_mismatch(r, call, "CAST_WITHOUT_SUGGESTION", "cannot cast \"VARIANT\" to \"%s\".",
                           mr_type_sql(r->arena, call->type));
    return MR_OK;
}

/* One step of a path: .name, ['name'], ["name"], [n]. Moves *at behind it; false: no step. */
static bool read_step(struct mr_text p, uint64_t *at, struct mr_text *name, uint64_t *index)
{
    uint64_t from = *at + 1, to = from;
    char quote = from < p.n ? p.data[from] : '\0';

    *name = (struct mr_text){0};
    *index = 0;
    if (p.data[*at] == '.') {
        while (to < p.n && p.data[to] != '.' && p.data[to] != '[')
            to++;
        *name = (struct mr_text){p.data + from, to - from};
        *at = to;
        return name->n > 0;
    }
    if (p.data[*at] != '[')
        return false;
    if (quote == '\'' || quote == '"') {
        for (to = from + 1; to < p.n && p.data[to] != quote && p.data[to] != '?';)
            to++;
        *name = (struct mr_text){p.data + from + 1, to - from - 1};
        *at = to + 2;
        return name->n > 0 && to + 1 < p.n && p.data[to] == quote && p.data[to + 1] == ']';
    }
    for (; to < p.n && mr_is_digit(p.data[to]) && *index <= INT32_MAX; to++)
        *index = *index * 10 + (uint64_t)(p.data[to] - '0');
    *at = to + 1;
    return to > from && to < p.n && p.data[to] == ']' && *index <= INT32_MAX;
}

/* Follows the path to its end, also when nothing is there any more. False: it is no path. */
static bool follow(struct mr_text p, struct mr_variant *v, bool *found)
{
    uint64_t at = 1, index;
    struct mr_text name;

    *found = true;
    if (p.n == 0 || p.data[0] != '$')
        return false;
    while (at < p.n) {
        if (!read_step(p, &at, &name, &index))
            return false;
        struct mr_variant_value x = mr_variant_read(*v);
        if (name.data)
            *found = *found && x.kind == MR_VARIANT_OBJECT && mr_variant_find(*v, name, v);
        else if (*found && x.kind == MR_VARIANT_ARRAY && index < x.members_n)
            *v = mr_variant_member(*v, (uint32_t)index, NULL);
        else
            *found = false;
    }
    return true;
}

MR_BODY(variant_get)
{
    struct cast c = {.call = call, .nulls = is_try(call), .rows = call->rows};
    const struct mr_type *type = call->expr->type;
    struct mr_builder b;

    mr_builder_init(&b, type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text path = mr_column_text(&args[1], row);
        struct mr_variant v = mr_variant_of(mr_column_text(&args[0], row));
        enum mr_status status = MR_OK;
        bool found;
        while (b.rows < row)
            mr_builder_append_null(&b);
        if (!follow(path, &v, &found))
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_VARIANT_GET_PATH",
                                     "The path `%.*s` is not a valid variant extraction path in "
                                     "`%s`. A valid path starts with `$` and is followed by zero "
                                     "or more segments like `[123]`, `.name`, `['name']`, or "
                                     "`[\"name\"]`.",
                                     (int)path.n, path.data, call->expr->function->name);
        if (found)
            status = mr_cast_variant_append(&c, v, type, &b);
        else
            mr_builder_append_null(&b);
        if (status != MR_OK)
            return status;
    }
    while (b.rows < call->rows)
        mr_builder_append_null(&b);
    mr_builder_finish(&b, out);
    return MR_OK;
}

/* What CAST refuses, since a struct or map becomes an object without order; and lists of them. */
static bool makes_object(const struct mr_type *type)
{
    if (type->kind == MR_ARRAY)
        return makes_object(type->fields[0].type);
    return (type->kind == MR_STRUCT || type->kind == MR_MAP) &&
           mr_cast_is_allowed(&mr_type_variant, type, true);
}

MR_RESOLVE(to_variant_object)
{
    if (!makes_object(call->args[0]->type))
        return mr_mismatch(r, call, "CAST_WITHOUT_SUGGESTION", "cannot cast \"%s\" to \"VARIANT\".",
                           mr_type_sql(r->arena, call->args[0]->type));
    call->type = &mr_type_variant;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_BODY(to_variant_object)
{
    struct cast c = {.call = call, .rows = call->rows, .n = call->n, .sel = call->sel};

    return mr_cast_to_variant(&c, &args[0], out);
}

static const struct mr_type *infer(struct mr_variant v, uint32_t depth, struct mr_arena *a)
{
    struct mr_variant_value x = mr_variant_read(v);
    const struct mr_type *element = &mr_type_void;
    struct mr_field *fields;

    if (depth == MR_DEPTH_MAX)
        return &mr_type_variant;
    if (x.kind == MR_VARIANT_NULL)
        return &mr_type_void;
    if (x.kind == MR_VARIANT_ARRAY) {
        for (uint32_t i = 0; i < x.members_n; i++)
            element = mr_schema_merge(element, infer(mr_variant_member(v, i, NULL), depth + 1, a),
                                      &mr_type_variant, a);
        return mr_type_array(a, element, true);
    }
    if (x.kind != MR_VARIANT_OBJECT)
        return mr_cast_variant_type(&x, a);
    fields = MR_NEW_ARRAY(a, struct mr_field, x.members_n + 1);
    for (uint32_t i = 0; i < x.members_n; i++) {
        struct mr_text name;
        struct mr_variant member = mr_variant_member(v, i, &name);
        fields[i] = (struct mr_field){mr_arena_copy(a, name.data, name.n),
                                      infer(member, depth + 1, a), true};
    }
    return mr_type_struct(a, fields, x.members_n);
}

const struct mr_type *mr_variant_schema(struct mr_variant v, struct mr_arena *a)
{
    return infer(v, 0, a);
}

void mr_variant_schema_print(const struct mr_type *type, struct mr_buffer *out)
{
    if (type->kind == MR_ARRAY) {
        mr_buffer_append(out, "ARRAY<", 6);
        mr_variant_schema_print(type->fields[0].type, out);
        mr_buffer_append(out, ">", 1);
    } else if (type->kind == MR_STRUCT) {
        mr_buffer_append(out, "OBJECT<", 7);
        for (uint32_t i = 0; i < type->fields_n; i++) {
            mr_buffer_append(out, ", ", i ? 2 : 0);
            mr_type_print_name(type->fields[i].name, out);
            mr_buffer_append(out, ": ", 2);
            mr_variant_schema_print(type->fields[i].type, out);
        }
        mr_buffer_append(out, ">", 1);
    } else {
        mr_type_print_sql(type, out);
    }
}

MR_RESOLVE(schema_of_variant)
{
    call->type = &mr_type_string;
    call->nullable = call->args[0]->nullable;
    return variant_argument(r, call);
}

MR_BODY(schema_of_variant)
{
    struct mr_text_writer w;
    struct mr_buffer b;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_variant v = mr_variant_of(mr_column_text(&args[0], row));
        b.n = 0;
        mr_variant_schema_print(mr_variant_schema(v, call->arena), &b);
        mr_text_writer_copy(&w, row, mr_buffer_text(&b));
    }
    return MR_OK;
}

/* variant_explode(v): the elements of an array, or the members of an object. */
MR_RESOLVE(variant_explode)
{
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, 3);
    bool outer = (call->function->flags & MR_FN_OUTER) != 0;

    fields[0] = (struct mr_field){"pos", &mr_type_int, outer};
    fields[1] = (struct mr_field){"key", &mr_type_string, true};
    fields[2] = (struct mr_field){"value", &mr_type_variant, outer};
    call->type = mr_type_struct(r->arena, fields, 3);
    return variant_argument(r, call);
}

MR_GENERATE(variant_explode)
{
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts);
    struct mr_builder columns[3];
    struct mr_buffer bytes;

    MR_EACH_ROW(call, i, row)
    counts[i] = mr_column_is_null(args, row)
                    ? 0
                    : mr_variant_read(mr_variant_of(mr_column_text(args, row))).members_n;
    mr_generated_begin(call, counts, out);
    for (uint32_t f = 0; f < 3; f++)
        mr_builder_init(&columns[f], call->expr->type->fields[f].type, out->rows, call->arena);
    mr_buffer_init(&bytes, call->arena);
    MR_EACH_ROW(call, i, row)
    for (uint32_t k = 0; k < counts[i]; k++) {
        struct mr_variant whole = mr_variant_of(mr_column_text(args, row));
        struct mr_text name = {0};
        bool object = mr_variant_read(whole).kind == MR_VARIANT_OBJECT;
        struct mr_variant part = mr_variant_member(whole, k, object ? &name : NULL);
        bytes.n = 0;
        mr_variant_copy(part, &bytes);
        mr_builder_append_i64(&columns[0], k);
        if (object)
            mr_builder_append_text(&columns[1], name);
        else
            mr_builder_append_null(&columns[1]);
        mr_builder_append_text(&columns[2], mr_buffer_text(&bytes));
    }
    for (uint32_t f = 0; f < 3; f++)
        mr_builder_finish(&columns[f], &out->columns[f]);
    return MR_OK;
}
