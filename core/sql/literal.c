#include "core/base/bounds.h"
#include "core/format/value.h"
#include "core/sql/parse.h"
#include <math.h>

/* A literal of one value; bytes: room for it. */
static struct mr_column *new_value(struct mr_parser *p, const struct mr_type *type, size_t bytes)
{
    struct mr_column *c = MR_NEW(p->arena, struct mr_column);

    c->type = type;
    if (bytes)
        c->data = mr_arena_zero(p->arena, bytes);
    return c;
}

static struct mr_ast *new_literal(struct mr_parser *p, struct mr_place place,
                                  const struct mr_column *value, const char *name)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_LITERAL, place);

    x->literal = value;
    x->name = name;
    return mr_parse_finish(p, x);
}

static struct mr_column *text_value(struct mr_parser *p, const struct mr_type *type,
                                    struct mr_text t)
{
    struct mr_column *c = new_value(p, type, sizeof(struct mr_view));

    if (t.n > MR_VIEW_INLINE) {
        c->heaps = MR_NEW_ARRAY(p->arena, uint8_t *, 1);
        c->heaps[0] = (uint8_t *)mr_arena_copy(p->arena, t.data, t.n);
        c->heaps_n = 1;
    }
    mr_view_set(c->views, t.data ? t.data : "", (uint32_t)t.n, 0, 0);
    return c;
}

const char *mr_parse_quoted(struct mr_parser *p, struct mr_text t)
{
    struct mr_buffer out;

    mr_buffer_init(&out, p->arena);
    mr_buffer_append(&out, "'", 1);
    for (uint64_t i = 0; i < t.n; i++) {
        if (t.data[i] == '\'' || t.data[i] == '\\')
            mr_buffer_append(&out, "\\", 1);
        if (t.data[i] == '\0')
            mr_buffer_append(&out, "\\u0000", 6);
        else
            mr_buffer_append(&out, t.data + i, 1);
    }
    mr_buffer_append(&out, "'", 2);
    return (const char *)out.data;
}

struct mr_ast *mr_parse_literal_text(struct mr_parser *p, struct mr_place place, struct mr_text t)
{
    return new_literal(p, place, text_value(p, &mr_type_string, t), mr_parse_quoted(p, t));
}

struct mr_ast *mr_parse_literal_boolean(struct mr_parser *p, struct mr_place place, bool value)
{
    struct mr_column *c = new_value(p, &mr_type_boolean, sizeof(uint64_t));

    mr_bit_put(c->bits, 0, value);
    return new_literal(p, place, c, value ? "true" : "false");
}

struct mr_ast *mr_parse_literal_null(struct mr_parser *p, struct mr_place place)
{
    return new_literal(p, place, new_value(p, &mr_type_void, 0), "NULL");
}

struct mr_ast *mr_parse_strings(struct mr_parser *p)
{
    const struct mr_token *first = mr_parse_next(p);
    struct mr_text t = mr_sql_unquote_string(first->text, p->arena);

    if (mr_parse_peek(p, 0)->kind == MR_TOKEN_STRING) {
        struct mr_buffer all;
        mr_buffer_init(&all, p->arena);
        mr_buffer_append_text(&all, t);
        while (mr_parse_peek(p, 0)->kind == MR_TOKEN_STRING)
            mr_buffer_append_text(&all, mr_sql_unquote_string(mr_parse_next(p)->text, p->arena));
        t = mr_buffer_text(&all);
    }
    return mr_parse_literal_text(p, mr_place_of(first), t);
}

bool mr_parse_is_number(const struct mr_parser *p, uint32_t ahead)
{
    enum mr_token_kind kind = mr_parse_peek(p, ahead)->kind;

    return kind >= MR_TOKEN_INTEGER && kind <= MR_TOKEN_BIGDECIMAL;
}

/* What a number of this kind may hold, as Spark says it in errors. */
static const struct range {
    const char *type, *min, *max;
} range_of[] = {
    [MR_TOKEN_TINYINT] = {"tinyint", "-128", "127"},
    [MR_TOKEN_SMALLINT] = {"smallint", "-32768", "32767"},
    [MR_TOKEN_BIGINT] = {"bigint", "-9223372036854775808", "9223372036854775807"},
    [MR_TOKEN_FLOAT] = {"float", "-3.4028234663852886E+38", "3.4028234663852886E+38"},
    [MR_TOKEN_DOUBLE] = {"double", "-1.7976931348623157E+308", "1.7976931348623157E+308"},
    [MR_TOKEN_EXPONENT] = {"double", "-1.7976931348623157E+308", "1.7976931348623157E+308"},
};

static void fail_range(struct mr_parser *p, const struct mr_token *t, const char *digits)
{
    const struct range *r = &range_of[t->kind];

    mr_parse_fail_with(p, t, "INVALID_NUMERIC_LITERAL_RANGE",
                       "Numeric literal %s is outside the valid range for %s with minimum value of "
                       "%s and maximum value of %s. Please adjust the value accordingly.",
                       digits, r->type, r->min, r->max);
}

/* text: sign, digits, point, exponent. Scale as java.math.BigDecimal has it, not below 0. */
static const struct mr_column *decimal_value(struct mr_parser *p, const struct mr_token *at,
                                             struct mr_text text)
{
    uint32_t digits = 0, scale = 0;
    bool behind_point = false;
    uint64_t i = text.data[0] == '-' ? 1 : 0;
    int64_t exponent = 0;

    for (; i < text.n && text.data[i] != 'e' && text.data[i] != 'E'; i++) {
        if (text.data[i] == '.') {
            behind_point = true;
            continue;
        }
        digits += digits > 0 || text.data[i] != '0';
        scale += behind_point;
    }
    if (i < text.n) {
        struct mr_text rest = {text.data + i + 1, text.n - i - 1};
        if (rest.data[0] == '+') {
            rest.data++;
            rest.n--;
        }
        if (!mr_value_parse_integer(rest, -1000000, 1000000, &exponent))
            exponent = 1000000;
    }
    int64_t wide_scale = (int64_t)scale - exponent;
    int64_t precision = digits ? (int64_t)digits : 1;
    if (wide_scale < 0) {
        precision = digits ? precision - wide_scale : 1;
        wide_scale = 0;
    }
    if (precision < wide_scale)
        precision = wide_scale;
    if (precision > MR_DECIMAL_DIGITS) {
        mr_parse_fail_with(p, at, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                           "Decimal precision %lld exceeds max precision %d.", (long long)precision,
                           MR_DECIMAL_DIGITS);
        return new_value(p, mr_type_decimal(p->arena, 1, 0), sizeof(__int128));
    }
    const struct mr_type *type =
        mr_type_decimal(p->arena, (uint32_t)precision, (uint32_t)wide_scale);
    struct mr_column *c = new_value(p, type, sizeof(__int128));
    if (!mr_value_parse_decimal(text, type->precision, type->scale, c->i128))
        mr_parse_fail_with(p, at, "INVALID_NUMERIC_LITERAL_RANGE",
                           "Numeric literal %.*s is no decimal.", (int)text.n, text.data);
    return c;
}

/* INT, or the next wider type that holds it. */
static const struct mr_column *whole_value(struct mr_parser *p, const struct mr_token *at,
                                           struct mr_text text)
{
    int64_t value;

    if (mr_value_parse_integer(text, INT32_MIN, INT32_MAX, &value)) {
        struct mr_column *c = new_value(p, &mr_type_int, sizeof(int32_t));
        c->i32[0] = (int32_t)value;
        return c;
    }
    if (mr_value_parse_integer(text, INT64_MIN, INT64_MAX, &value)) {
        struct mr_column *c = new_value(p, &mr_type_bigint, sizeof(int64_t));
        c->i64[0] = value;
        return c;
    }
    return decimal_value(p, at, text);
}

static const struct mr_column *sized_value(struct mr_parser *p, const struct mr_token *at,
                                           struct mr_text text, const char *name)
{
    const struct mr_type *type = at->kind == MR_TOKEN_TINYINT    ? &mr_type_tinyint
                                 : at->kind == MR_TOKEN_SMALLINT ? &mr_type_smallint
                                                                 : &mr_type_bigint;
    int64_t max = at->kind == MR_TOKEN_TINYINT    ? INT8_MAX
                  : at->kind == MR_TOKEN_SMALLINT ? INT16_MAX
                                                  : INT64_MAX;
    struct mr_column *c = new_value(p, type, sizeof(int64_t));
    int64_t value;

    if (!mr_value_parse_integer(text, -max - 1, max, &value))
        fail_range(p, at, name);
    else if (type == &mr_type_tinyint)
        c->i8[0] = (int8_t)value;
    else if (type == &mr_type_smallint)
        c->i16[0] = (int16_t)value;
    else
        c->i64[0] = value;
    return c;
}

static const struct mr_column *floating_value(struct mr_parser *p, const struct mr_token *at,
                                              struct mr_text text, const char *name)
{
    struct mr_column *c;
    bool valid;

    if (at->kind == MR_TOKEN_FLOAT) {
        c = new_value(p, &mr_type_float, sizeof(float));
        valid = mr_value_parse_float(text, c->f32) && isfinite(c->f32[0]);
    } else {
        c = new_value(p, &mr_type_double, sizeof(double));
        valid = mr_value_parse_double(text, c->f64) && isfinite(c->f64[0]);
    }
    if (!valid)
        fail_range(p, at, name);
    return c;
}

struct mr_ast *mr_parse_number(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    bool negative = mr_parse_take_symbol(p, "-");
    const struct mr_token *t = mr_parse_next(p);
    uint64_t suffix = t->kind == MR_TOKEN_BIGDECIMAL                              ? 2
                      : t->kind >= MR_TOKEN_TINYINT && t->kind <= MR_TOKEN_DOUBLE ? 1
                                                                                  : 0;
    const char *digits = mr_arena_format(p->arena, "%s%.*s", negative ? "-" : "",
                                         (int)(t->text.n - suffix), t->text.data);
    const char *name =
        mr_arena_format(p->arena, "%s%.*s", negative ? "-" : "", (int)t->text.n, t->text.data);
    struct mr_text text = mr_text_of(digits);
    const struct mr_column *value;

    if (t->kind == MR_TOKEN_INTEGER)
        value = whole_value(p, t, text);
    else if (t->kind == MR_TOKEN_DECIMAL || t->kind == MR_TOKEN_BIGDECIMAL)
        value = decimal_value(p, t, text);
    else if (t->kind >= MR_TOKEN_TINYINT && t->kind <= MR_TOKEN_BIGINT)
        value = sized_value(p, t, text, digits);
    else
        value = floating_value(p, t, text, digits);
    return new_literal(p, place, value, name);
}

static void fail_typed(struct mr_parser *p, const struct mr_token *at, const char *type,
                       struct mr_text t)
{
    mr_parse_fail_with(p, at, "INVALID_TYPED_LITERAL",
                       "The value of the typed literal \"%s\" is invalid: '%.*s'.", type,
                       t.n > 200 ? 200 : (int)t.n, t.data);
}

static struct mr_ast *binary_literal(struct mr_parser *p, const struct mr_token *at,
                                     struct mr_text t)
{
    uint64_t odd = t.n & 1, n = (t.n + odd) / 2;
    char *bytes = mr_arena_alloc(p->arena, n);

    for (uint64_t i = 0; i < n; i++) {
        int high = i == 0 && odd ? 0 : mr_hex_digit(t.data[i * 2 - odd]);
        int low = mr_hex_digit(t.data[i * 2 + 1 - odd]);
        if (high < 0 || low < 0) {
            fail_typed(p, at, "X", t);
            high = low = 0;
        }
        bytes[i] = (char)(high << 4 | low);
    }
    return new_literal(p, mr_place_of(at),
                       text_value(p, &mr_type_binary, (struct mr_text){bytes, n}),
                       mr_arena_format(p->arena, "X'%.*s'", (int)t.n, t.data));
}

/* The text is valid for sure when it is in some zone: the cast in the session's zone cannot fail.
 */
static struct mr_ast *cast_literal(struct mr_parser *p, const struct mr_token *at,
                                   const struct mr_type *type, struct mr_text t)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_CAST, mr_place_of(at));

    x->type = type;
    x->is_literal = true;
    x->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
    x->args[0] = mr_parse_literal_text(p, mr_place_of(at), t);
    x->args_n = 1;
    return mr_parse_finish(p, x);
}

struct mr_ast *mr_parse_typed_literal(struct mr_parser *p)
{
    const struct mr_token *at = mr_parse_next(p);
    struct mr_text t = mr_sql_unquote_string(mr_parse_next(p)->text, p->arena);
    struct mr_text word = at->text;
    int64_t us;
    int32_t days;

    if (mr_text_equal_ignoring_case(word, MR_TEXT("X")))
        return binary_literal(p, at, t);
    if (mr_text_equal_ignoring_case(word, MR_TEXT("INTERVAL")))
        return mr_parse_interval_text(p, at, t);
    if (mr_text_equal_ignoring_case(word, MR_TEXT("DATE"))) {
        if (!mr_value_parse_date(t, &days))
            fail_typed(p, at, "DATE", t);
        return cast_literal(p, at, &mr_type_date, t);
    }
    if (mr_text_equal_ignoring_case(word, MR_TEXT("TIMESTAMP_NTZ"))) {
        if (!mr_value_parse_timestamp_ntz(t, &us))
            fail_typed(p, at, "TIMESTAMP_NTZ", t);
        return cast_literal(p, at, &mr_type_timestamp_ntz, t);
    }
    if (mr_text_equal_ignoring_case(word, MR_TEXT("TIMESTAMP")) ||
        mr_text_equal_ignoring_case(word, MR_TEXT("TIMESTAMP_LTZ"))) {
        if (!mr_value_parse_timestamp(t, mr_zone_utc(), 0, &us))
            fail_typed(p, at, "TIMESTAMP", t);
        return cast_literal(p, at, &mr_type_timestamp, t);
    }
    mr_parse_fail_with(p, at, "UNSUPPORTED_TYPED_LITERAL",
                       "Literals of the type \"%.*s\" are not supported. Supported types are "
                       "\"DATE\", \"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", "
                       "\"INTERVAL\", \"X\".",
                       (int)word.n, word.data);
    return mr_parse_literal_null(p, mr_place_of(at));
}
