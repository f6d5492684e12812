#include "core/format/corrupt.h"

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
