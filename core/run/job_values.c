/* job_values.c - a table's inline rows -> a batch of its columns' types. */
#include "core/batch/builder.h"
#include "core/format/value.h"
#include "core/run/job_parts.h"

struct rows {
    const struct mr_yaml_file *file;
    const struct mr_zone *zone;
    struct mr_error *err;
};

static enum mr_status append_value(const struct rows *r, struct mr_builder *b,
                                   const struct mr_yaml *node, const struct mr_field *field);

static enum mr_status fail_value(const struct rows *r, const struct mr_yaml *node,
                                 const struct mr_field *field)
{
    struct mr_buffer type;

    mr_buffer_init(&type, r->file->arena);
    mr_type_print_sql(field->type, &type);
    return mr_yaml_fail(r->file, node, r->err, "column %s: %s%s%s is no %.*s", field->name,
                        node->kind == MR_YAML_SCALAR ? "\"" : "",
                        node->kind != MR_YAML_SCALAR ? mr_yaml_kind_name(node)
                        : node->is_secret            ? "***"
                                                     : node->text.data,
                        node->kind == MR_YAML_SCALAR ? "\"" : "", (int)type.n,
                        (const char *)type.data);
}

static bool parse_integer(const struct mr_type *type, struct mr_text t, int64_t *out)
{
    int64_t max = type->kind == MR_TINYINT    ? INT8_MAX
                  : type->kind == MR_SMALLINT ? INT16_MAX
                  : type->kind == MR_INT      ? INT32_MAX
                                              : INT64_MAX;

    return mr_value_parse_integer(t, -max - 1, max, out);
}

/* Text that stands for a value of type is appended; false: it stands for none. */
static bool append_scalar(const struct rows *r, struct mr_builder *b, struct mr_text t)
{
    const struct mr_type *type = b->type;
    struct mr_calendar_interval interval;
    __int128 decimal;
    int64_t whole;
    int32_t days;
    double real;
    bool boolean, valid;

    switch (type->kind) {
    case MR_STRING:
    case MR_BINARY:
        mr_builder_append_text(b, t);
        return true;
    case MR_BOOLEAN:
        valid = mr_value_parse_boolean(t, &boolean);
        whole = boolean;
        break;
    case MR_TINYINT:
    case MR_SMALLINT:
    case MR_INT:
    case MR_BIGINT:
        valid = parse_integer(type, t, &whole);
        break;
    case MR_DATE:
        valid = mr_value_parse_date(t, &days);
        whole = days;
        break;
    case MR_TIMESTAMP:
        valid = mr_value_parse_timestamp(t, r->zone, 0, &whole);
        break;
    case MR_TIMESTAMP_NTZ:
        valid = mr_value_parse_timestamp_ntz(t, &whole);
        break;
    case MR_FLOAT:
    case MR_DOUBLE:
        valid = mr_value_parse_double(t, &real);
        if (valid)
            mr_builder_append_f64(b, real);
        return valid;
    case MR_DECIMAL:
        valid = mr_value_parse_decimal(t, type->precision, type->scale, &decimal);
        if (valid)
            mr_builder_append_i128(b, decimal);
        return valid;
    case MR_INTERVAL_CALENDAR:
        valid = mr_value_parse_interval(t, &interval);
        if (valid)
            mr_builder_append_calendar(b, &interval);
        return valid;
    default:
        return false;
    }
    if (valid)
        mr_builder_append_i64(b, whole);
    return valid;
}

static enum mr_status append_array(const struct rows *r, struct mr_builder *b,
                                   const struct mr_yaml *node)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < node->n && status == MR_OK; i++)
        status = append_value(r, &b->children[0], node->items[i], &b->type->fields[0]);
    mr_builder_close_row(b);
    return status;
}

static enum mr_status append_map(const struct rows *r, struct mr_builder *b,
                                 const struct mr_yaml *node)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < node->n && status == MR_OK; i++) {
        status = append_value(r, &b->children[0], node->keys[i], &b->type->fields[0]);
        if (status == MR_OK)
            status = append_value(r, &b->children[1], node->items[i], &b->type->fields[1]);
    }
    mr_builder_close_row(b);
    return status;
}

/* A list in the order of the fields, or a map by their names, where a missing one is null. */
static enum mr_status append_struct(const struct rows *r, struct mr_builder *b,
                                    const struct mr_yaml *node, const struct mr_field *field)
{
    enum mr_status status = MR_OK;

    if (node->kind == MR_YAML_LIST && node->n != b->type->fields_n)
        return fail_value(r, node, field);
    for (uint32_t i = 0; i < b->type->fields_n && status == MR_OK; i++) {
        const struct mr_field *f = &b->type->fields[i];
        const struct mr_yaml *item =
            node->kind == MR_YAML_LIST ? node->items[i] : mr_yaml_get(node, f->name);
        if (item)
            status = append_value(r, &b->children[i], item, f);
        else
            mr_builder_append_null(&b->children[i]);
    }
    mr_builder_close_row(b);
    return status;
}

static enum mr_status append_value(const struct rows *r, struct mr_builder *b,
                                   const struct mr_yaml *node, const struct mr_field *field)
{
    if (mr_yaml_is_null(node)) {
        if (!field->nullable)
            return mr_yaml_fail(r->file, node, r->err, "column %s: it is NOT NULL", field->name);
        mr_builder_append_null(b);
        return MR_OK;
    }
    if (b->type->kind == MR_ARRAY && node->kind == MR_YAML_LIST)
        return append_array(r, b, node);
    if (b->type->kind == MR_MAP && node->kind == MR_YAML_MAP)
        return append_map(r, b, node);
    if (b->type->kind == MR_STRUCT && node->kind != MR_YAML_SCALAR)
        return append_struct(r, b, node, field);
    if (node->kind != MR_YAML_SCALAR || !append_scalar(r, b, node->text))
        return fail_value(r, node, field);
    return MR_OK;
}

enum mr_status mr_job_rows(const struct mr_yaml_file *file, const struct mr_yaml *list,
                           const struct mr_type *schema, const struct mr_zone *zone,
                           const struct mr_batch **out, struct mr_error *err)
{
    struct rows r = {.file = file, .zone = zone, .err = err};
    struct mr_batch *batch = MR_NEW(file->arena, struct mr_batch);
    struct mr_builder *builders = MR_NEW_ARRAY(file->arena, struct mr_builder, schema->fields_n);

    for (uint32_t c = 0; c < schema->fields_n; c++)
        mr_builder_init(&builders[c], schema->fields[c].type, list->n ? list->n : 1, file->arena);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct mr_yaml *row = list->items[i];
        if (row->n != schema->fields_n)
            return mr_yaml_fail(file, row, err, "the row has %u values, the schema %u columns",
                                row->n, schema->fields_n);
        for (uint32_t c = 0; c < row->n; c++) {
            enum mr_status status =
                append_value(&r, &builders[c], row->items[c], &schema->fields[c]);
            if (status)
                return status;
        }
    }
    batch->columns = MR_NEW_ARRAY(file->arena, struct mr_column, schema->fields_n);
    batch->columns_n = schema->fields_n;
    batch->rows = batch->n = list->n;
    for (uint32_t c = 0; c < schema->fields_n; c++)
        mr_builder_finish(&builders[c], &batch->columns[c]);
    *out = batch;
    return MR_OK;
}
