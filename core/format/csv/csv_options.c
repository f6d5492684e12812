#include "core/format/csv/csv.h"

#include "core/base/check.h"

#define BOTH (MR_OPTION_READS | MR_OPTION_WRITES)

const struct mr_option_spec csv_option_specs[] = {
    {"charToEscapeQuoteEscaping", MR_OPTION_CHARACTER, BOTH},
    {"charset", MR_OPTION_ENCODING, BOTH},
    {"columnNameOfCorruptRecord", MR_OPTION_TEXT, MR_OPTION_READS},
    {"columnPruning", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"comment", MR_OPTION_CHARACTER, BOTH},
    {"compression", MR_OPTION_COMPRESSION, BOTH},
    {"dateFormat", MR_OPTION_PATTERN, BOTH},
    {"delimiter", MR_OPTION_TEXT, BOTH},
    {"emptyValue", MR_OPTION_TEXT, BOTH},
    {"enableDateTimeParsingFallback", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"encoding", MR_OPTION_ENCODING, BOTH},
    {"enforceSchema", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"escape", MR_OPTION_CHARACTER, BOTH},
    {"escapeQuotes", MR_OPTION_BOOLEAN, MR_OPTION_WRITES},
    {"header", MR_OPTION_BOOLEAN, BOTH},
    {"ignoreLeadingWhiteSpace", MR_OPTION_BOOLEAN, BOTH},
    {"ignoreTrailingWhiteSpace", MR_OPTION_BOOLEAN, BOTH},
    {"inferSchema", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"lineSep", MR_OPTION_TEXT, BOTH},
    {"locale", MR_OPTION_LOCALE, BOTH},
    {"maxCharsPerColumn", MR_OPTION_INTEGER, MR_OPTION_READS},
    {"maxColumns", MR_OPTION_INTEGER, MR_OPTION_READS},
    {"mode", MR_OPTION_MODE, MR_OPTION_READS},
    {"multiLine", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"nanValue", MR_OPTION_TEXT, MR_OPTION_READS},
    {"negativeInf", MR_OPTION_TEXT, MR_OPTION_READS},
    {"nullValue", MR_OPTION_TEXT, BOTH},
    {"positiveInf", MR_OPTION_TEXT, MR_OPTION_READS},
    {"preferDate", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"quote", MR_OPTION_CHARACTER, BOTH},
    {"quoteAll", MR_OPTION_BOOLEAN, MR_OPTION_WRITES},
    {"rescuedDataColumn", MR_OPTION_TEXT, MR_OPTION_READS},
    {"samplingRatio", MR_OPTION_RATIO, MR_OPTION_READS},
    {"sep", MR_OPTION_TEXT, BOTH},
    {"timeZone", MR_OPTION_ZONE, BOTH},
    {"timestampFormat", MR_OPTION_PATTERN, BOTH},
    {"timestampNTZFormat", MR_OPTION_PATTERN, BOTH},
    {"unescapedQuoteHandling", MR_OPTION_QUOTE_HANDLING, MR_OPTION_READS},
    {NULL, MR_OPTION_TEXT, 0},
};

enum mr_status csv_options_check(const struct mr_option *options, uint32_t n, bool reading,
                                 struct mr_error *err)
{
    enum mr_status status = mr_options_check("csv", csv_option_specs, options, n, reading, err);
    const char *line_separator = mr_option_get(options, n, "lineSep");
    const char *separator = mr_option_get(options, n, "sep");

    if (status != MR_OK)
        return status;
    if (separator == NULL)
        separator = mr_option_get(options, n, "delimiter");
    if (line_separator && (*line_separator == '\0' || strlen(line_separator) > 2))
        return MR_FAIL(err, MR_USER, 0, "csv option lineSep must have one or two characters");
    if (separator && *separator == '\0')
        return MR_FAIL(err, MR_USER, 0, "csv option sep must not be empty");
    if (mr_option_integer(options, n, "maxColumns", 1) < 1)
        return MR_FAIL(err, MR_USER, 0, "csv option maxColumns must be above 0");
    return MR_OK;
}

/* A character, escaped or not; -1: none. */
static int character(const struct mr_option *options, uint32_t n, const char *name, int otherwise)
{
    static const char from[] = "trnbf\"'\\0", to[] = "\t\r\n\b\f\"'\\\0";
    const char *value = mr_option_get(options, n, name);

    if (value == NULL)
        return otherwise;
    if (value[0] == '\0' || strcmp(value, "\\u0000") == 0)
        return -1;
    if (value[0] == '\\' && value[1])
        return (uint8_t)to[strchr(from, value[1]) - from];
    return (uint8_t)value[0];
}

/* The separator with its escapes resolved. */
static struct mr_text separator_of(const struct mr_option *options, uint32_t n, struct mr_arena *a)
{
    static const char from[] = "trnbf\"'\\", to[] = "\t\r\n\b\f\"'\\";
    struct mr_text t =
        mr_option_text(options, n, "sep", mr_option_text(options, n, "delimiter", MR_TEXT(",")));
    char *out = mr_arena_alloc(a, t.n + 1);
    uint64_t used = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        const char *known = t.data[i] == '\\' && i + 1 < t.n ? strchr(from, t.data[i + 1]) : NULL;
        out[used++] = known ? to[known - from] : t.data[i];
        i += known != NULL;
    }
    return (struct mr_text){out, used};
}

static enum csv_quote_handling quote_handling(const struct mr_option *options, uint32_t n)
{
    static const char *const names[] = {"STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER",
                                        "STOP_AT_DELIMITER", "SKIP_VALUE", "RAISE_ERROR"};
    const char *value = mr_option_get(options, n, "unescapedQuoteHandling");

    for (uint32_t i = 0; value && i < sizeof names / sizeof *names; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(value), mr_text_of(names[i])))
            return (enum csv_quote_handling)i;
    return CSV_STOP_AT_DELIMITER;
}

static void read_syntax(const struct mr_option *o, uint32_t n, bool reading, struct mr_arena *a,
                        struct csv_syntax *s)
{
    *s = (struct csv_syntax){
        .separator = separator_of(o, n, a),
        .quote = character(o, n, "quote", '"'),
        .escape = character(o, n, "escape", '\\'),
        /* a writer quotes what would be read as a comment by default */
        .comment = character(o, n, "comment", reading ? -1 : '#'),
        /* blanks are kept in reading and dropped in writing, unless told */
        .trim_leading = mr_option_boolean(o, n, "ignoreLeadingWhiteSpace", !reading),
        .trim_trailing = mr_option_boolean(o, n, "ignoreTrailingWhiteSpace", !reading),
        .null_value = mr_option_text(o, n, "nullValue", MR_TEXT("")),
        .empty_value = mr_option_text(o, n, "emptyValue", reading ? MR_TEXT("") : MR_TEXT("\"\"")),
        .columns_max = (uint32_t)mr_option_integer(o, n, "maxColumns", 20480),
        .chars_max = mr_option_integer(o, n, "maxCharsPerColumn", -1),
        .handling = quote_handling(o, n),
        .multi_line = mr_option_boolean(o, n, "multiLine", false),
    };
    s->normalize_in_quotes = mr_option_get(o, n, "lineSep") == NULL;
    s->escape_escape = s->quote == s->escape ? -1 : s->escape;
    if (mr_option_get(o, n, "charToEscapeQuoteEscaping"))
        s->escape_escape = character(o, n, "charToEscapeQuoteEscaping", -1);
}

enum mr_status csv_options_read(const struct mr_option *o, uint32_t n, const struct mr_zone *zone,
                                bool reading, struct mr_arena *a, struct csv_options *out,
                                struct mr_error *err)
{
    bool multi_line = mr_option_boolean(o, n, "multiLine", false);

    *out = (struct csv_options){
        .mode = mr_option_mode(o, n),
        .header = mr_option_boolean(o, n, "header", false),
        .enforce_schema = mr_option_boolean(o, n, "enforceSchema", true),
        .column_pruning = mr_option_boolean(o, n, "columnPruning", !multi_line),
        .corrupt_name =
            mr_option_text(o, n, "columnNameOfCorruptRecord", MR_TEXT("_corrupt_record")).data,
        .rescued_name = mr_option_get(o, n, "rescuedDataColumn"),
        .line_separator = mr_option_text(o, n, "lineSep", MR_TEXT("")),
        .nan_value = mr_option_text(o, n, "nanValue", MR_TEXT("NaN")),
        .positive_infinity = mr_option_text(o, n, "positiveInf", MR_TEXT("Inf")),
        .negative_infinity = mr_option_text(o, n, "negativeInf", MR_TEXT("-Inf")),
        .quote_all = mr_option_boolean(o, n, "quoteAll", false),
        .escape_quotes = mr_option_boolean(o, n, "escapeQuotes", true),
    };
    read_syntax(o, n, reading, a, &out->syntax);
    return mr_temporal_init(&out->temporal, o, n, zone, reading, a, err);
}

enum mr_status csv_check_schema(const struct mr_type *schema, struct mr_error *err)
{
    for (uint32_t i = 0; i < schema->fields_n; i++) {
        const struct mr_type *type = schema->fields[i].type;
        if (type->fields_n || type->kind == MR_VOID || type->kind == MR_BINARY ||
            type->kind == MR_VARIANT)
            return MR_FAIL_CONDITION(err, MR_USER, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
                                     "The CSV datasource doesn't support the column `%s`: its type "
                                     "has no form in CSV.",
                                     schema->fields[i].name);
    }
    return MR_OK;
}
