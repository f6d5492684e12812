#include "core/format/corrupt.h"

#include "core/format/json/copy.h"

enum mr_status mr_corrupt_check(const struct mr_decoder_config *config, const char *name, bool file,
                                struct mr_error *err)
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

enum mr_status mr_rescued_check(const struct mr_decoder_config *config, const char *name,
                                const char *corrupt_name, struct mr_error *err)
{
    const struct mr_type *full = config->full_schema ? config->full_schema : config->schema;

    if (name == NULL)
        return MR_OK;
    if (strcmp(name, corrupt_name) == 0)
        return MR_FAIL(err, MR_USER, 0,
                       "option rescuedDataColumn: \"%s\" is the column for corrupt records", name);
    for (uint32_t i = 0; full->kind == MR_STRUCT && i < full->fields_n; i++)
        if (strcmp(full->fields[i].name, name) == 0)
            return full->fields[i].type->kind == MR_STRING && full->fields[i].nullable
                       ? MR_OK
                       : MR_FAIL(err, MR_USER, 0,
                                 "option rescuedDataColumn: the column \"%s\" must be a nullable "
                                 "STRING",
                                 name);
    return MR_FAIL(err, MR_USER, 0,
                   "option rescuedDataColumn: the schema has no column \"%s\"; add \"%s STRING\" "
                   "to it",
                   name, name);
}

void mr_rescued_add(struct mr_buffer *members, struct mr_text name, struct mr_text value)
{
    mr_buffer_append(members, members->n ? "," : "{", 1);
    json_copy_string(name, members);
    mr_buffer_append(members, ":", 1);
    mr_buffer_append_text(members, value);
}

struct mr_cell mr_rescued_cell(struct mr_buffer *members)
{
    if (members->n == 0)
        return (struct mr_cell){.is_null = true};
    mr_buffer_append(members, "}", 1);
    return (struct mr_cell){.text = mr_buffer_text(members)};
}

enum mr_status mr_corrupt_failfast(const char *condition, struct mr_text row, const char *reason,
                                   struct mr_error *err)
{
    enum { SHOWN = 512 };

    return MR_FAIL_CONDITION(
        err, MR_QUERY, condition ? condition : "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        "Malformed records are detected in record parsing: %.*s.\nParse Mode: FAILFAST. To process "
        "malformed records as null result, try setting the option 'mode' as 'PERMISSIVE'. (%s)",
        (int)(row.n < SHOWN ? row.n : SHOWN), row.data, reason);
}
