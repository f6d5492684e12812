#include "core/format/ddl.h"

#include "core/base/bounds.h"
#include <stdio.h>

struct parser {
    struct mr_text text;
    uint64_t at;   /* the next character */
    uint64_t used; /* behind the last token taken */
    struct mr_arena *arena;
    struct mr_error *err;
    bool is_columns; /* of a schema, not of a cast */
};

/* ---- words and signs ---- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->text.n && (unsigned char)p->text.data[p->at] <= ' ')
        p->at++;
}

/* The word at the next place, not taken; n 0: there is none. */
static struct mr_text peek_word(struct parser *p)
{
    skip_blanks(p);
    uint64_t end = p->at;
    while (end < p->text.n && is_name_char(p->text.data[end]))
        end++;
    return (struct mr_text){p->text.data + p->at, end - p->at};
}

static void take(struct parser *p, uint64_t n)
{
    p->at += n;
    p->used = p->at;
}

static bool take_word(struct parser *p, const char *word)
{
    struct mr_text next = peek_word(p);

    if (!mr_text_equal_ignoring_case(next, mr_text_of(word)))
        return false;
    take(p, next.n);
    return true;
}

static bool take_sign(struct parser *p, char sign)
{
    skip_blanks(p);
    if (p->at == p->text.n || p->text.data[p->at] != sign)
        return false;
    take(p, 1);
    return true;
}

/* ---- errors ---- */

static enum mr_status at_place(struct parser *p, uint64_t at, enum mr_status status)
{
    if (p->err) {
        p->err->line = 1;
        p->err->column = 1;
        for (uint64_t i = 0; i < at; i++) {
            p->err->column++;
            if (p->text.data[i] == '\n') {
                p->err->line++;
                p->err->column = 1;
            }
        }
    }
    return status;
}

static enum mr_status syntax_error(struct parser *p, const char *expected)
{
    struct mr_text word = peek_word(p);

    if (p->at == p->text.n)
        return at_place(p, p->at,
                        MR_FAIL_CONDITION(p->err, MR_USER, "PARSE_SYNTAX_ERROR",
                                          "Syntax error at the end of the schema: %s expected.",
                                          expected));
    if (word.n == 0)
        word.n = 1;
    if (word.n > MR_NAME_MAX)
        word.n = MR_NAME_MAX;
    return at_place(p, p->at,
                    MR_FAIL_CONDITION(p->err, MR_USER, "PARSE_SYNTAX_ERROR",
                                      "Syntax error at or near '%.*s': %s expected.", (int)word.n,
                                      word.data, expected));
}

/* ---- simple types ---- */

static const struct {
    const char *name;
    const struct mr_type *type;
} simple_types[] = {
    {"bigint", &mr_type_bigint},
    {"binary", &mr_type_binary},
    {"variant", &mr_type_variant},
    {"boolean", &mr_type_boolean},
    {"byte", &mr_type_tinyint},
    {"date", &mr_type_date},
    {"double", &mr_type_double},
    {"float", &mr_type_float},
    {"int", &mr_type_int},
    {"integer", &mr_type_int},
    {"long", &mr_type_bigint},
    {"real", &mr_type_float},
    {"short", &mr_type_smallint},
    {"smallint", &mr_type_smallint},
    {"string", &mr_type_string},
    {"timestamp", &mr_type_timestamp},
    {"timestamp_ltz", &mr_type_timestamp},
    {"timestamp_ntz", &mr_type_timestamp_ntz},
    {"tinyint", &mr_type_tinyint},
    {"void", &mr_type_void},
};
enum { SIMPLE_TYPES = sizeof simple_types / sizeof simple_types[0] };

static const char *const other_types[] = {"array",    "char", "character", "dec",    "decimal",
                                          "interval", "map",  "numeric",   "struct", "varchar"};
enum { OTHER_TYPES = sizeof other_types / sizeof other_types[0] };

static enum mr_status unknown_type(struct parser *p, struct mr_text word)
{
    const char *names[SIMPLE_TYPES + OTHER_TYPES];
    char name[MR_NAME_MAX + 1];

    for (uint32_t i = 0; i < SIMPLE_TYPES; i++)
        names[i] = simple_types[i].name;
    for (uint32_t i = 0; i < OTHER_TYPES; i++)
        names[SIMPLE_TYPES + i] = other_types[i];
    snprintf(name, sizeof name, "%.*s", (int)(word.n < MR_NAME_MAX ? word.n : MR_NAME_MAX),
             word.data);
    const char *nearest = mr_error_nearest(name, names, SIMPLE_TYPES + OTHER_TYPES);
    return at_place(p, p->at,
                    MR_FAIL_CONDITION(p->err, MR_USER, "UNSUPPORTED_DATATYPE",
                                      "Unsupported data type \"%s\"%s%s%s", name,
                                      nearest ? ", did you mean \"" : "", nearest ? nearest : "",
                                      nearest ? "\"?" : "."));
}

/* An unsigned number of a few digits. */
static enum mr_status parse_number(struct parser *p, uint32_t *out)
{
    struct mr_text word = peek_word(p);

    *out = 0;
    for (uint64_t i = 0; i < word.n; i++) {
        if (word.data[i] < '0' || word.data[i] > '9' || i == 9)
            return syntax_error(p, "a number");
        *out = *out * 10 + (uint32_t)(word.data[i] - '0');
    }
    if (word.n == 0)
        return syntax_error(p, "a number");
    take(p, word.n);
    return MR_OK;
}

/* (p), (p, s) or nothing: (10, 0). */
static enum mr_status parse_decimal(struct parser *p, const struct mr_type **out)
{
    uint32_t precision = 10, scale = 0;
    uint64_t start = p->at;

    if (take_sign(p, '(')) {
        enum mr_status status = parse_number(p, &precision);
        if (status == MR_OK && take_sign(p, ','))
            status = parse_number(p, &scale);
        if (status != MR_OK)
            return status;
        if (!take_sign(p, ')'))
            return syntax_error(p, "')'");
    }
    if (precision > MR_DECIMAL_DIGITS)
        return at_place(p, start,
                        MR_FAIL_CONDITION(p->err, MR_USER,
                                          "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                                          "Decimal precision %u exceeds max precision %d.",
                                          precision, MR_DECIMAL_DIGITS));
    if (scale > precision || precision == 0)
        return at_place(
            p, start,
            MR_FAIL_CONDITION(p->err, MR_USER, "_LEGACY_ERROR_TEMP_1228",
                              "Decimal scale (%u) cannot be greater than precision (%u).", scale,
                              precision));
    *out = mr_type_decimal(p->arena, precision, scale);
    return MR_OK;
}

/* CHAR(n), VARCHAR(n): in a cast text, whose length is not checked; no type of a column. */
static enum mr_status parse_sized_text(struct parser *p, struct mr_text name,
                                       const struct mr_type **out)
{
    uint32_t length;

    if (!take_sign(p, '('))
        return at_place(p, p->at,
                        MR_FAIL_CONDITION(p->err, MR_USER, "DATATYPE_MISSING_SIZE",
                                          "DataType \"%.*s\" requires a length parameter, for "
                                          "example \"%.*s(10)\".",
                                          (int)name.n, name.data, (int)name.n, name.data));
    enum mr_status status = parse_number(p, &length);
    if (status != MR_OK)
        return status;
    if (!take_sign(p, ')'))
        return syntax_error(p, "')'");
    if (p->is_columns)
        return at_place(p, p->at,
                        MR_FAIL_CONDITION(p->err, MR_USER, "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING",
                                          "The char/varchar type can't be used in a schema: use "
                                          "STRING."));
    *out = &mr_type_string;
    return MR_OK;
}

/* The unit of intervals at the next place: 0 YEAR, 1 MONTH | 0 DAY .. 3 SECOND; false: none. */
static bool take_unit(struct parser *p, enum mr_kind *kind, uint8_t *unit)
{
    static const char *const months[] = {"YEAR", "MONTH"};
    static const char *const times[] = {"DAY", "HOUR", "MINUTE", "SECOND"};

    for (uint8_t i = 0; i < 4; i++) {
        if (i < 2 && take_word(p, months[i])) {
            *kind = MR_INTERVAL_YEAR_MONTH;
            *unit = i;
            return true;
        }
        if (take_word(p, times[i])) {
            *kind = MR_INTERVAL_DAY_TIME;
            *unit = i;
            return true;
        }
    }
    return false;
}

static enum mr_status parse_interval(struct parser *p, const struct mr_type **out)
{
    enum mr_kind kind, last_kind;
    uint8_t first, last;

    if (!take_unit(p, &kind, &first)) {
        *out = &mr_type_interval_calendar;
        return MR_OK;
    }
    last_kind = kind;
    last = first;
    if (take_word(p, "TO")) {
        if (!take_unit(p, &last_kind, &last) || last_kind != kind || last <= first)
            return syntax_error(p, "a smaller unit of the interval");
    }
    struct mr_type *t = MR_NEW(p->arena, struct mr_type);
    *t = (struct mr_type){.kind = kind, .precision = first, .scale = last};
    *out = t;
    return MR_OK;
}

/* ---- nested types ---- */

static enum mr_status parse_type(struct parser *p, uint32_t depth, const struct mr_type **out);

static enum mr_status incomplete(struct parser *p, const char *condition, const char *example)
{
    return at_place(p, p->at,
                    MR_FAIL_CONDITION(p->err, MR_USER, condition,
                                      "Incomplete complex type: the definition of its parts is "
                                      "missing, for example %s.",
                                      example));
}

static enum mr_status parse_array(struct parser *p, uint32_t depth, const struct mr_type **out)
{
    const struct mr_type *element;

    if (!take_sign(p, '<'))
        return incomplete(p, "INCOMPLETE_TYPE_DEFINITION.ARRAY", "ARRAY<INT>");
    enum mr_status status = parse_type(p, depth + 1, &element);
    if (status != MR_OK)
        return status;
    if (!take_sign(p, '>'))
        return syntax_error(p, "'>'");
    *out = mr_type_array(p->arena, element, true);
    return MR_OK;
}

static enum mr_status parse_map(struct parser *p, uint32_t depth, const struct mr_type **out)
{
    const struct mr_type *key, *value;

    if (!take_sign(p, '<'))
        return incomplete(p, "INCOMPLETE_TYPE_DEFINITION.MAP", "MAP<STRING, INT>");
    enum mr_status status = parse_type(p, depth + 1, &key);
    if (status != MR_OK)
        return status;
    if (!take_sign(p, ','))
        return syntax_error(p, "','");
    status = parse_type(p, depth + 1, &value);
    if (status != MR_OK)
        return status;
    if (!take_sign(p, '>'))
        return syntax_error(p, "'>'");
    *out = mr_type_map(p->arena, key, value, true);
    return MR_OK;
}

/* A name in backquotes, which are doubled inside. */
static enum mr_status parse_quoted_name(struct parser *p, const char **out)
{
    uint64_t start = p->at, end = p->at + 1, n = 0;
    char *name = mr_arena_alloc(p->arena, p->text.n - p->at);

    for (; end < p->text.n; end++) {
        if (p->text.data[end] == '`') {
            if (end + 1 == p->text.n || p->text.data[end + 1] != '`')
                break;
            end++;
        }
        name[n++] = p->text.data[end];
    }
    if (end == p->text.n)
        return at_place(
            p, start,
            MR_FAIL_CONDITION(p->err, MR_USER, "PARSE_SYNTAX_ERROR",
                              "Syntax error: the name that starts with '`' has no end."));
    name[n] = '\0';
    take(p, end + 1 - start);
    *out = name;
    return MR_OK;
}

static enum mr_status parse_name(struct parser *p, const char **out)
{
    struct mr_text word = peek_word(p);
    bool letters = false;

    if (p->at < p->text.n && p->text.data[p->at] == '`')
        return parse_quoted_name(p, out);
    for (uint64_t i = 0; i < word.n; i++)
        letters = letters || word.data[i] < '0' || word.data[i] > '9';
    if (!letters)
        return syntax_error(p, "a column name");
    *out = mr_arena_copy(p->arena, word.data, word.n);
    take(p, word.n);
    return MR_OK;
}

/* The text behind COMMENT: nothing is kept of it. */
static enum mr_status skip_comment(struct parser *p)
{
    skip_blanks(p);
    char quote = p->at < p->text.n ? p->text.data[p->at] : '\0';
    if (quote != '\'' && quote != '"')
        return syntax_error(p, "a quoted comment");
    for (uint64_t i = p->at + 1; i < p->text.n; i++) {
        if (p->text.data[i] == '\\') {
            i++;
        } else if (p->text.data[i] == quote) {
            if (i + 1 < p->text.n && p->text.data[i + 1] == quote) {
                i++;
                continue;
            }
            take(p, i + 1 - p->at);
            return MR_OK;
        }
    }
    return syntax_error(p, "a comment with an end");
}

static enum mr_status parse_field(struct parser *p, uint32_t depth, struct mr_field *out)
{
    enum mr_status status = parse_name(p, &out->name);

    if (status != MR_OK)
        return status;
    take_sign(p, ':');
    status = parse_type(p, depth, &out->type);
    if (status != MR_OK)
        return status;
    out->nullable = true;
    if (take_word(p, "NOT")) {
        if (!take_word(p, "NULL"))
            return syntax_error(p, "NULL");
        out->nullable = false;
    }
    return take_word(p, "COMMENT") ? skip_comment(p) : MR_OK;
}

static enum mr_status parse_fields(struct parser *p, uint32_t depth, const struct mr_type **out)
{
    struct mr_field *fields = NULL;
    uint32_t n = 0, capacity = 0;

    do {
        if (depth == 0 && n == MR_COLUMNS_MAX)
            return at_place(
                p, p->at,
                MR_FAIL(p->err, MR_USER, 0, "schema: more than %d columns", MR_COLUMNS_MAX));
        if (n == capacity) {
            capacity = capacity ? capacity * 2 : 8;
            struct mr_field *grown = MR_NEW_ARRAY(p->arena, struct mr_field, capacity);
            if (n)
                memcpy(grown, fields, n * sizeof *fields);
            fields = grown;
        }
        enum mr_status status = parse_field(p, depth, &fields[n]);
        if (status != MR_OK)
            return status;
        n++;
    } while (take_sign(p, ','));
    *out = mr_type_struct(p->arena, fields, n);
    return MR_OK;
}

static enum mr_status parse_struct(struct parser *p, uint32_t depth, const struct mr_type **out)
{
    if (!take_sign(p, '<'))
        return incomplete(p, "INCOMPLETE_TYPE_DEFINITION.STRUCT", "STRUCT<name: STRING>");
    if (take_sign(p, '>')) {
        *out = mr_type_struct(p->arena, NULL, 0);
        return MR_OK;
    }
    enum mr_status status = parse_fields(p, depth + 1, out);
    if (status != MR_OK)
        return status;
    return take_sign(p, '>') ? MR_OK : syntax_error(p, "',' or '>'");
}

static enum mr_status parse_type(struct parser *p, uint32_t depth, const struct mr_type **out)
{
    struct mr_text word = peek_word(p);

    if (depth > MR_DEPTH_MAX)
        return at_place(
            p, p->at,
            MR_FAIL(p->err, MR_USER, 0, "schema: types nested deeper than %d", MR_DEPTH_MAX));
    if (word.n == 0)
        return syntax_error(p, "a type");
    for (uint32_t i = 0; i < SIMPLE_TYPES; i++) {
        if (mr_text_equal_ignoring_case(word, mr_text_of(simple_types[i].name))) {
            take(p, word.n);
            *out = simple_types[i].type;
            return MR_OK;
        }
    }
    if (take_word(p, "decimal") || take_word(p, "dec") || take_word(p, "numeric"))
        return parse_decimal(p, out);
    if (take_word(p, "char") || take_word(p, "character") || take_word(p, "varchar"))
        return parse_sized_text(p, word, out);
    if (mr_text_equal_ignoring_case(word, MR_TEXT("time")))
        return at_place(p, p->at,
                        MR_FAIL_CONDITION(p->err, MR_USER, "UNSUPPORTED_TIME_TYPE",
                                          "The data type TIME is not supported."));
    if (take_word(p, "interval"))
        return parse_interval(p, out);
    if (take_word(p, "array"))
        return parse_array(p, depth, out);
    if (take_word(p, "map"))
        return parse_map(p, depth, out);
    if (take_word(p, "struct"))
        return parse_struct(p, depth, out);
    return unknown_type(p, word);
}

enum mr_status mr_ddl_parse_type(struct mr_text text, struct mr_arena *a,
                                 const struct mr_type **out, uint64_t *used, struct mr_error *err)
{
    struct parser p = {.text = text, .arena = a, .err = err};
    enum mr_status status = parse_type(&p, 0, out);

    *used = p.used;
    return status;
}

enum mr_status mr_ddl_parse_columns(struct mr_text text, struct mr_arena *a,
                                    const struct mr_type **out, struct mr_error *err)
{
    struct parser p = {.text = text, .arena = a, .err = err, .is_columns = true};
    enum mr_status status = parse_fields(&p, 0, out);

    if (status != MR_OK)
        return status;
    skip_blanks(&p);
    return p.at == text.n ? MR_OK : syntax_error(&p, "',' or the end of the schema");
}

enum mr_status mr_ddl_parse_schema(struct mr_text text, struct mr_arena *a,
                                   const struct mr_type **out, struct mr_error *err)
{
    struct mr_text trimmed = mr_text_trim(text);
    uint64_t used;

    if (mr_ddl_parse_type(trimmed, a, out, &used, NULL) == MR_OK && used == trimmed.n)
        return MR_OK;
    return mr_ddl_parse_columns(text, a, out, err);
}
