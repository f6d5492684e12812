#include "core/format/json/failure.h"

#include "core/format/json/json.h"
#include "core/format/json/out.h"

/* The row as Spark prints it: [1,null,x]. */
static void print_row(const struct json_exact *x, struct mr_text raw, bool with_corrupt_column,
                      struct mr_buffer *out)
{
    const struct mr_type *type = x->plan->root.type;
    const struct json_value *row = x->rows_n && type->kind == MR_STRUCT ? x->rows->items : NULL;
    struct mr_json_writer writer = {.zone = x->plan->options.zone, .keep_nulls = true};
    struct mr_heaps heaps;

    mr_heaps_begin(&heaps, NULL, 0, x->scratch);
    mr_buffer_append(out, "[", 1);
    for (uint32_t i = 0; i < type->fields_n && type->kind == MR_STRUCT; i++) {
        struct json_out o;
        struct mr_column c;
        if (i)
            mr_buffer_append(out, ",", 1);
        if (row == NULL || row[i].is_null) {
            mr_buffer_append_text(out, MR_TEXT("null"));
            continue;
        }
        if (type->fields[i].type->kind == MR_STRING) {
            mr_buffer_append_text(out, row[i].text);
            continue;
        }
        json_out_init(&o, &c, type->fields[i].type, 1, &heaps, x->scratch);
        json_out_put(&o, 0, &row[i]);
        json_out_end(&o, 1);
        mr_json_write_value(&writer, &c, 0, out);
    }
    if (with_corrupt_column) {
        mr_buffer_append_text(out, type->fields_n ? MR_TEXT(",") : MR_TEXT(""));
        mr_buffer_append_text(out, raw);
    }
    mr_buffer_append(out, "]", 1);
}

enum mr_status json_failfast(const struct json_exact *x, struct mr_text raw,
                             bool with_corrupt_column, struct mr_error *err)
{
    struct mr_buffer row;

    mr_buffer_init(&row, x->scratch);
    print_row(x, raw, with_corrupt_column, &row);
    return MR_FAIL_CONDITION(
        err, MR_QUERY,
        x->condition ? x->condition : "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        "Malformed records are detected in record parsing: %.*s.\nParse Mode: FAILFAST. To process "
        "malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'. (%s)",
        (int)(row.n < 512 ? row.n : 512), (const char *)row.data, x->reason);
}

enum mr_status json_check_corrupt_column(const struct mr_decoder_config *config, const char *name,
                                         bool file, struct mr_error *err)
{
    const struct mr_type *full = config->full_schema ? config->full_schema : config->schema;

    for (uint32_t i = 0; i < full->fields_n; i++)
        if (strcmp(full->fields[i].name, name) == 0 &&
            (full->fields[i].type->kind != MR_STRING || !full->fields[i].nullable))
            return MR_FAIL_CONDITION(err, MR_USER, "INVALID_CORRUPT_RECORD_TYPE",
                                     "The column \"%s\" for corrupt records must have the nullable "
                                     "STRING type.",
                                     name);
    if (file && config->schema->fields_n == 1 && strcmp(config->schema->fields[0].name, name) == 0)
        return MR_FAIL_CONDITION(
            err, MR_QUERY, "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN",
            "The feature is not supported: Queries from raw JSON/CSV/XML files are disallowed when "
            "the referenced columns only include the internal corrupt record column (named %s by "
            "default).",
            name);
    return MR_OK;
}
