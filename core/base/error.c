#include "core/base/error.h"

#include "core/base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_texts[] = {
#define X(code, text) text,
    MR_STATUSES(X)
#undef X
};

/* Spark's error-conditions.json, as far as we raise them: sorted by condition. */
static const struct {
    const char *condition, *sqlstate;
} sqlstates[] = {
    {"AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION", "42845"},
    {"ALL_PARTITION_COLUMNS_NOT_ALLOWED", "KD005"},
    {"AMBIGUOUS_REFERENCE", "42704"},
    {"AMBIGUOUS_REFERENCE_TO_FIELDS", "42000"},
    {"ARITHMETIC_OVERFLOW", "22003"},
    {"ASSIGNMENT_ARITY_MISMATCH", "42802"},
    {"BINARY_ARITHMETIC_OVERFLOW", "22003"},
    {"CANNOT_DECODE_URL", "22546"},
    {"CANNOT_PARSE_INTERVAL", "22006"},
    {"CANNOT_PARSE_TIMESTAMP", "22007"},
    {"CANNOT_RESOLVE_STAR_EXPAND", "42704"},
    {"CAST_INVALID_INPUT", "22018"},
    {"CAST_OVERFLOW", "22003"},
    {"COLLECTION_SIZE_LIMIT_EXCEEDED", "54000"},
    {"COLUMN_ALREADY_EXISTS", "42711"},
    {"COMPARATOR_RETURNS_NULL", "22004"},
    {"CONFLICTING_PARTITION_COLUMN_NAMES", "KD009"},
    {"CONVERSION_INVALID_INPUT", "22018"},
    {"DATATYPE_MISMATCH", "42K09"},
    {"DATATYPE_MISSING_SIZE", "42K01"},
    {"DATA_SOURCE_NOT_FOUND", "42K02"},
    {"DATETIME_FIELD_OUT_OF_BOUNDS", "22023"},
    {"DATETIME_OVERFLOW", "22008"},
    {"DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003"},
    {"DIVIDE_BY_ZERO", "22012"},
    {"DUPLICATED_CTE_NAMES", "42602"},
    {"DUPLICATED_MAP_KEY", "23505"},
    {"EMPTY_PARTITION_COLUMN_VALUE", "KD009"},
    {"EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "42K09"},
    {"EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN", "42K09"},
    {"FAILED_FUNCTION_CALL", "38000"},
    {"FAILED_READ_FILE", "KD001"},
    {"FAILED_TO_PARSE_TOO_COMPLEX", "54001"},
    {"FIELD_NOT_FOUND", "42704"},
    {"GROUPING_COLUMN_MISMATCH", "42803"},
    {"GROUPING_ID_COLUMN_MISMATCH", "42803"},
    {"GROUPING_SIZE_LIMIT_EXCEEDED", "54000"},
    {"GROUP_BY_AGGREGATE", "42903"},
    {"GROUP_BY_POS_AGGREGATE", "42903"},
    {"GROUP_BY_POS_OUT_OF_RANGE", "42805"},
    {"GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "42822"},
    {"HLL_INVALID_INPUT_SKETCH_BUFFER", "22546"},
    {"HLL_INVALID_LG_K", "22546"},
    {"HLL_K_MUST_BE_CONSTANT", "42K0E"},
    {"HLL_UNION_DIFFERENT_LG_K", "22000"},
    {"ILLEGAL_DAY_OF_WEEK", "22009"},
    {"INCOMPATIBLE_COLUMN_TYPE", "42825"},
    {"INCOMPATIBLE_JOIN_TYPES", "42613"},
    {"INCOMPLETE_TYPE_DEFINITION", "42K01"},
    {"INCONSISTENT_BEHAVIOR_CROSS_VERSION", "42K0B"},
    {"INTERVAL_ARITHMETIC_OVERFLOW", "22015"},
    {"INTERVAL_DIVIDED_BY_ZERO", "22012"},
    {"INVALID_AGGREGATE_FILTER", "42903"},
    {"INVALID_ARRAY_INDEX", "22003"},
    {"INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "22003"},
    {"INVALID_CONF_VALUE", "22022"},
    {"INVALID_CORRUPT_RECORD_TYPE", "42804"},
    {"INVALID_DATETIME_PATTERN", "22007"},
    {"INVALID_ESC", "42604"},
    {"INVALID_EXTRACT_BASE_FIELD_TYPE", "42000"},
    {"INVALID_EXTRACT_FIELD", "42601"},
    {"INVALID_FORMAT", "42601"},
    {"INVALID_IDENTIFIER", "42602"},
    {"INVALID_INDEX_OF_ZERO", "22003"},
    {"INVALID_INLINE_TABLE", "42000"},
    {"INVALID_INTERVAL_FORMAT", "22006"},
    {"INVALID_LAMBDA_FUNCTION_CALL", "42K0D"},
    {"INVALID_LATERAL_JOIN_TYPE", "42613"},
    {"INVALID_LIMIT_LIKE_EXPRESSION", "42K0E"},
    {"INVALID_NUMERIC_LITERAL_RANGE", "22003"},
    {"INVALID_OPTIONS", "42K06"},
    {"INVALID_PARAMETER_VALUE", "22023"},
    {"INVALID_PARTITION_COLUMN_DATA_TYPE", "0A000"},
    {"INVALID_PARTITION_VALUE", "42846"},
    {"INVALID_SCHEMA", "42K07"},
    {"INVALID_SQL_SYNTAX", "42000"},
    {"INVALID_SUBQUERY_EXPRESSION", "42823"},
    {"INVALID_TIMEZONE", "22009"},
    {"INVALID_TYPED_LITERAL", "42604"},
    {"INVALID_URL", "22P02"},
    {"INVALID_USAGE_OF_STAR_OR_REGEX", "42000"},
    {"INVALID_VARIANT_CAST", "22023"},
    {"INVALID_VARIANT_GET_PATH", "22023"},
    {"INVALID_WHERE_CONDITION", "42903"},
    {"INVALID_WITHIN_GROUP_EXPRESSION", "42K0K"},
    {"JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "42K0E"},
    {"MALFORMED_CHARACTER_CODING", "22000"},
    {"MALFORMED_RECORD_IN_PARSING", "22023"},
    {"MISSING_AGGREGATION", "42803"},
    {"MISSING_GROUP_BY", "42803"},
    {"MISSING_WINDOW_SPECIFICATION", "42P20"},
    {"MULTI_ALIAS_WITHOUT_GENERATOR", "42K0E"},
    {"NESTED_AGGREGATE_FUNCTION", "42607"},
    {"NON_FOLDABLE_ARGUMENT", "42K08"},
    {"NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", "42KDE"},
    {"NULL_MAP_KEY", "2200E"},
    {"NUMERIC_OUT_OF_SUPPORTED_RANGE", "22003"},
    {"NUMERIC_VALUE_OUT_OF_RANGE", "22003"},
    {"NUM_COLUMNS_MISMATCH", "42826"},
    {"NUM_TABLE_VALUE_ALIASES_MISMATCH", "42826"},
    {"ORDER_BY_POS_OUT_OF_RANGE", "42805"},
    {"PARSE_EMPTY_STATEMENT", "42617"},
    {"PARSE_MODE_UNSUPPORTED", "42601"},
    {"PARSE_SYNTAX_ERROR", "42601"},
    {"PARTITION_COLUMN_NOT_FOUND_IN_SCHEMA", "42000"},
    {"PATH_NOT_FOUND", "42K03"},
    {"REMAINDER_BY_ZERO", "22012"},
    {"REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE", "42000"},
    {"REQUIRES_SINGLE_PART_NAMESPACE", "42K05"},
    {"SEED_EXPRESSION_IS_UNFOLDABLE", "42K08"},
    {"SQL_CONF_NOT_FOUND", "42K0I"},
    {"STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE", "XXKST"},
    {"STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", "XXKST"},
    {"STREAMING_CHECKPOINT_MISSING_METADATA_FILE", "42K03"},
    {"STREAMING_OUTPUT_MODE", "42KDE"},
    {"STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY", "42K03"},
    {"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA", "42K03"},
    {"TABLE_OR_VIEW_NOT_FOUND", "42P01"},
    {"TRAILING_COMMA_IN_SELECT", "42601"},
    {"UDTF_ALIAS_NUMBER_MISMATCH", "42802"},
    {"UNABLE_TO_INFER_SCHEMA", "42KD9"},
    {"UNCLOSED_BRACKETED_COMMENT", "42601"},
    {"UNRESOLVABLE_TABLE_VALUED_FUNCTION", "42883"},
    {"UNRESOLVED_COLUMN", "42703"},
    {"UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "42703"},
    {"UNRESOLVED_ROUTINE", "42883"},
    {"UNRESOLVED_USING_COLUMN_FOR_JOIN", "42703"},
    {"UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING", "0A000"},
    {"UNSUPPORTED_DATATYPE", "0A000"},
    {"UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "0A000"},
    {"UNSUPPORTED_EXPR_FOR_OPERATOR", "42K0E"},
    {"UNSUPPORTED_EXPR_FOR_WINDOW", "42P20"},
    {"UNSUPPORTED_FEATURE", "0A000"},
    {"UNSUPPORTED_GENERATOR", "42K0E"},
    {"UNSUPPORTED_GROUPING_EXPRESSION", "42K0E"},
    {"UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK", "0A000"},
    {"UNSUPPORTED_TIME_TYPE", "0A000"},
    {"UNSUPPORTED_TYPED_LITERAL", "0A000"},
    {"USER_RAISED_EXCEPTION", "P0001"},
    {"VARIANT_SIZE_LIMIT", "22023"},
    {"WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE", "42601"},
    {"WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "42601"},
    {"WRITE_STREAM_NOT_ALLOWED", "42601"},
    {"WRONG_NUM_ARGS", "42605"},
};

const char *mr_status_text(enum mr_status status)
{
    return status_texts[status];
}

const char *mr_error_sqlstate(const char *condition)
{
    size_t n = strcspn(condition, ".");

    for (size_t i = 0; i < sizeof sqlstates / sizeof sqlstates[0]; i++)
        if (strlen(sqlstates[i].condition) == n &&
            memcmp(sqlstates[i].condition, condition, n) == 0)
            return sqlstates[i].sqlstate;
    return "";
}

enum mr_status mr_error_set(struct mr_error *err, enum mr_status status, int os_error,
                            const char *condition, const char *source_file, int source_line,
                            const char *format, ...)
{
    va_list args;

    if (err == NULL)
        return status;
    err->status = status;
    err->os_error = os_error;
    err->source_file = source_file;
    err->source_line = source_line;
    snprintf(err->condition, sizeof err->condition, "%s", condition);
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return status;
}

void mr_error_format(const struct mr_error *err, char *text, uint64_t text_bytes)
{
    char place[MR_ERROR_FILE + 32] = "";
    char condition[MR_ERROR_CONDITION + 4] = "", state[24] = "", os[128] = "";

    if (err->file[0] && err->line)
        snprintf(place, sizeof place, "%s:%u:%u: ", err->file, err->line, err->column);
    else if (err->file[0])
        snprintf(place, sizeof place, "%s: ", err->file);
    else if (err->line)
        snprintf(place, sizeof place, "line %u, column %u: ", err->line, err->column);
    if (err->condition[0]) {
        const char *sqlstate = mr_error_sqlstate(err->condition);
        snprintf(condition, sizeof condition, "[%s] ", err->condition);
        if (sqlstate[0])
            snprintf(state, sizeof state, " SQLSTATE: %s", sqlstate);
    }
    if (err->os_error)
        snprintf(os, sizeof os, ": %s", strerror(err->os_error));
    snprintf(text, text_bytes, "%s%s%s%s%s", place, condition, err->message, os, state);
}

enum { NEAREST_NAME_MAX = 64, NEAREST_DISTANCE_MAX = 2 };

/* Levenshtein by rows (Wagner and Fischer 1974), with adjacent swaps counted once. */
static uint32_t edit_distance(const char *a, uint32_t a_n, const char *b, uint32_t b_n)
{
    uint32_t before[NEAREST_NAME_MAX + 1], last[NEAREST_NAME_MAX + 1], now[NEAREST_NAME_MAX + 1];

    memset(before, 0, sizeof before);
    for (uint32_t j = 0; j <= b_n; j++)
        last[j] = j;
    for (uint32_t i = 1; i <= a_n; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= b_n; j++) {
            uint32_t cost = mr_lower(a[i - 1]) != mr_lower(b[j - 1]);
            uint32_t best = last[j - 1] + cost;
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && cost && mr_lower(a[i - 1]) == mr_lower(b[j - 2]) &&
                mr_lower(a[i - 2]) == mr_lower(b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, now, sizeof last);
    }
    return last[b_n];
}

const char *mr_error_nearest(const char *name, const char *const *names, uint32_t n)
{
    size_t name_n = strlen(name);
    uint32_t best = NEAREST_DISTANCE_MAX + 1;
    const char *nearest = NULL;

    if (name_n == 0 || name_n > NEAREST_NAME_MAX)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        size_t m = strlen(names[i]);
        if (m > NEAREST_NAME_MAX)
            continue;
        uint32_t d = edit_distance(name, (uint32_t)name_n, names[i], (uint32_t)m);
        if (d < best && d < name_n) {
            best = d;
            nearest = names[i];
        }
    }
    return nearest;
}
