/* interval.c - INTERVAL literals: value and unit pairs, one text, or unit TO unit. */
#include "core/base/time.h"
#include "core/format/value.h"
#include "core/sql/parse.h"
#include <stdio.h>

/* In the order of a type's units; place: 0 DAY .. 3 SECOND, or 0 YEAR, 1 MONTH. */
static const struct unit {
    const char *name, *plural;
    bool is_month, starts_type; /* may stand in "unit TO unit" */
    uint8_t place;
} units[] = {
    {"YEAR", "YEARS", true, true, 0},
    {"MONTH", "MONTHS", true, true, 1},
    {"WEEK", "WEEKS", false, false, 0},
    {"DAY", "DAYS", false, true, 0},
    {"HOUR", "HOURS", false, true, 1},
    {"MINUTE", "MINUTES", false, true, 2},
    {"SECOND", "SECONDS", false, true, 3},
    {"MILLISECOND", "MILLISECONDS", false, false, 3},
    {"MICROSECOND", "MICROSECONDS", false, false, 3},
    {"NANOSECOND", "NANOSECONDS", false, false, 3},
};

static const struct unit *find_unit(struct mr_text word)
{
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (mr_text_equal_ignoring_case(word, mr_text_of(units[i].name)) ||
            mr_text_equal_ignoring_case(word, mr_text_of(units[i].plural)))
            return &units[i];
    return NULL;
}

static const struct unit *unit_at(const struct mr_parser *p, uint32_t ahead)
{
    const struct mr_token *t = mr_parse_peek(p, ahead);

    return t->kind == MR_TOKEN_WORD && !p->is_name[t - p->tokens] ? find_unit(t->text) : NULL;
}

/* Tokens of a signed value at ahead, 0: none is there. */
static uint32_t value_length(const struct mr_parser *p, uint32_t ahead)
{
    uint32_t sign = mr_parse_is_symbol(p, ahead, "-") || mr_parse_is_symbol(p, ahead, "+");
    enum mr_token_kind kind = mr_parse_peek(p, ahead + sign)->kind;
    bool is_value = kind == MR_TOKEN_INTEGER || kind == MR_TOKEN_DECIMAL || kind == MR_TOKEN_STRING;

    return is_value ? sign + 1 : 0;
}

bool mr_parse_is_interval(const struct mr_parser *p)
{
    if (!mr_parse_is_word(p, 0, "INTERVAL"))
        return false;
    uint32_t n = value_length(p, 1);
    return n > 0 && unit_at(p, 1 + n) != NULL;
}

struct parts { /* of an interval literal */
    bool has_months, has_time;
    uint8_t first, last; /* units of the type */
    struct mr_calendar_interval value;
};

static void add_unit(struct parts *parts, const struct unit *unit)
{
    bool is_first = !(unit->is_month ? parts->has_months : parts->has_time);

    if (is_first || unit->place < parts->first)
        parts->first = unit->place;
    if (is_first || unit->place > parts->last)
        parts->last = unit->place;
    if (unit->is_month)
        parts->has_months = true;
    else
        parts->has_time = true;
}

static struct mr_ast *make_literal(struct mr_parser *p, const struct mr_token *at,
                                   const struct parts *parts, const char *name)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_LITERAL, mr_place_of(at));
    struct mr_type *type = MR_NEW(p->arena, struct mr_type);
    struct mr_column *c = MR_NEW(p->arena, struct mr_column);
    int64_t days_us, us;

    if (parts->has_months && parts->has_time)
        mr_parse_fail_with(p, at, "_LEGACY_ERROR_TEMP_0029",
                           "Cannot mix year-month and day-time fields: %s.", name);
    type->kind = parts->has_months ? MR_INTERVAL_YEAR_MONTH : MR_INTERVAL_DAY_TIME;
    type->precision = parts->first;
    type->scale = parts->last;
    c->type = type;
    c->data = mr_arena_zero(p->arena, sizeof(int64_t));
    if (parts->has_months)
        c->i32[0] = parts->value.months;
    else if (__builtin_mul_overflow((int64_t)parts->value.days, MR_US_PER_DAY, &days_us) ||
             __builtin_add_overflow(days_us, parts->value.us, &us))
        mr_parse_fail_with(p, at, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
                           "Integer overflow while operating with intervals: %s.", name);
    else
        c->i64[0] = us;
    x->literal = c;
    x->name = name;
    return mr_parse_finish(p, x);
}

static void fail_text(struct mr_parser *p, const struct mr_token *at, struct mr_text text)
{
    mr_parse_fail_with(p, at, "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
                       "Error parsing '%.*s' to interval. Please ensure that the value provided is "
                       "in a valid format for defining an interval: a number and a unit, as in "
                       "'10 minutes'.",
                       text.n > 200 ? 200 : (int)text.n, text.data);
}

struct mr_ast *mr_parse_interval_text(struct mr_parser *p, const struct mr_token *at,
                                      struct mr_text text)
{
    struct parts parts = {0};

    for (uint64_t i = 0; i < text.n;) {
        uint64_t n = 0;
        while (i + n < text.n &&
               ((text.data[i + n] | 0x20) >= 'a' && (text.data[i + n] | 0x20) <= 'z'))
            n++;
        const struct unit *unit = n ? find_unit((struct mr_text){text.data + i, n}) : NULL;
        if (unit)
            add_unit(&parts, unit);
        i += n ? n : 1;
    }
    if (!mr_value_parse_interval(text, &parts.value))
        mr_parse_fail_with(p, at, "INVALID_TYPED_LITERAL",
                           "The value of the typed literal \"INTERVAL\" is invalid: '%.*s'.",
                           text.n > 200 ? 200 : (int)text.n, text.data);
    return make_literal(p, at, &parts,
                        mr_arena_format(p->arena, "INTERVAL %s", mr_parse_quoted(p, text)));
}

/* A signed value as text: the sign before a text turns the one in it. */
static struct mr_text take_value(struct mr_parser *p)
{
    bool negative = mr_parse_take_symbol(p, "-");

    mr_parse_take_symbol(p, "+");
    const struct mr_token *t = mr_parse_next(p);
    struct mr_text text = t->text;
    if (t->kind == MR_TOKEN_STRING)
        text = mr_text_trim(mr_sql_unquote_string(t->text, p->arena));
    if (negative && text.n > 0 && text.data[0] == '-')
        return (struct mr_text){text.data + 1, text.n - 1};
    return mr_text_of(
        mr_arena_format(p->arena, "%s%.*s", negative ? "-" : "", (int)text.n, text.data));
}

/* Digits up to at most max, moved over. */
static bool take_field(struct mr_text *t, int64_t max, int64_t *out)
{
    uint64_t n = 0;

    while (n < t->n && t->data[n] >= '0' && t->data[n] <= '9')
        n++;
    if (n == 0 || !mr_value_parse_integer((struct mr_text){t->data, n}, 0, max, out))
        return false;
    t->data += n;
    t->n -= n;
    return true;
}

static bool take_separator(struct mr_text *t, char separator)
{
    if (t->n == 0 || t->data[0] != separator)
        return false;
    t->data++;
    t->n--;
    return true;
}

/* ".5" -> 500000; more than nine digits are refused, below microseconds cut. */
static bool take_fraction(struct mr_text *t, int64_t *us)
{
    int64_t unit = MR_US_PER_SECOND / 10;

    *us = 0;
    if (t->n == 0)
        return true;
    if (!take_separator(t, '.') || t->n > 9)
        return false;
    for (; t->n > 0; t->data++, t->n--, unit /= 10) {
        if (t->data[0] < '0' || t->data[0] > '9')
            return false;
        *us += (t->data[0] - '0') * unit;
    }
    return true;
}

static bool parse_year_month(struct mr_text t, struct parts *parts)
{
    int64_t years, months, sign = 1;

    if (take_separator(&t, '-'))
        sign = -1;
    else
        take_separator(&t, '+');
    if (!take_field(&t, 178956970, &years) || !take_separator(&t, '-') ||
        !take_field(&t, 11, &months) || t.n > 0)
        return false;
    int64_t total = sign * (years * 12 + months);
    parts->value.months = (int32_t)total;
    return total == parts->value.months;
}

static bool parse_day_time(struct mr_text t, struct parts *parts)
{
    static const int64_t unit_us[] = {MR_US_PER_DAY, MR_US_PER_HOUR, MR_US_PER_MINUTE,
                                      MR_US_PER_SECOND};
    static const int64_t first_max[] = {106751991, 2562047788, 153722867280, 9223372036854},
                         rest_max[] = {0, 23, 59, 59};
    int64_t total = 0, value, sign = 1, us;

    if (take_separator(&t, '-'))
        sign = -1;
    else
        take_separator(&t, '+');
    for (uint8_t i = parts->first; i <= parts->last; i++) {
        if (i > parts->first && !take_separator(&t, i == 1 ? ' ' : ':'))
            return false;
        if (i == 1 && i > parts->first)
            t = mr_text_trim(t);
        if (!take_field(&t, i == parts->first ? first_max[i] : rest_max[i], &value) ||
            __builtin_mul_overflow(value, unit_us[i], &us) ||
            __builtin_add_overflow(total, us, &total))
            return false;
    }
    if (parts->last == 3) {
        if (!take_fraction(&t, &us) || __builtin_add_overflow(total, us, &total))
            return false;
    }
    parts->value.us = sign * total;
    return t.n == 0;
}

static struct mr_ast *unit_to_unit(struct mr_parser *p, const struct mr_token *at,
                                   struct mr_text value, const struct unit *from)
{
    const struct unit *to = unit_at(p, 0);

    if (to == NULL || !to->starts_type) {
        mr_parse_fail(p, "a unit of an interval");
        to = from;
    }
    mr_parse_next(p);
    if (!from->starts_type || from->is_month != to->is_month || from->place >= to->place) {
        mr_parse_fail_with(p, at, "_LEGACY_ERROR_TEMP_0028",
                           "Intervals FROM %s TO %s are not supported.", from->name, to->name);
        to = from;
    }
    struct parts parts = {.first = from->place,
                          .last = to->place,
                          .has_months = from->is_month,
                          .has_time = !from->is_month};
    const char *name = mr_arena_format(p->arena, "INTERVAL %s %s TO %s", mr_parse_quoted(p, value),
                                       from->name, to->name);
    if (!(from->is_month ? parse_year_month(value, &parts) : parse_day_time(value, &parts)))
        mr_parse_fail_with(p, at, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING",
                           "Error parsing '%.*s' to interval. The value does not match the format "
                           "of an interval %s TO %s.",
                           value.n > 200 ? 200 : (int)value.n, value.data, from->name, to->name);
    return make_literal(p, at, &parts, name);
}

struct mr_ast *mr_parse_interval(struct mr_parser *p)
{
    const struct mr_token *at = mr_parse_peek(p, 0);
    struct parts parts = {0};
    struct mr_buffer text;

    mr_parse_take_word(p, "INTERVAL");
    mr_buffer_init(&text, p->arena);
    do {
        struct mr_text value = take_value(p);
        const struct unit *unit = unit_at(p, 0);
        mr_parse_next(p);
        if (text.n == 0 && mr_parse_take_word(p, "TO"))
            return unit_to_unit(p, at, value, unit);
        add_unit(&parts, unit);
        mr_buffer_append_format(&text, "%s%.*s %s", text.n ? " " : "", (int)value.n, value.data,
                                unit->plural);
    } while (value_length(p, 0) > 0 && unit_at(p, value_length(p, 0)) != NULL);
    if (!mr_value_parse_interval(mr_buffer_text(&text), &parts.value))
        fail_text(p, at, mr_buffer_text(&text));
    return make_literal(
        p, at, &parts,
        mr_arena_format(p->arena, "INTERVAL %.*s", (int)text.n, (const char *)text.data));
}

const char *mr_parse_delay_text(struct mr_parser *p, const struct mr_ast *interval)
{
    static const struct {
        int64_t us;
        const char *name;
    } by_size[] = {{MR_US_PER_DAY, "days"},       {MR_US_PER_HOUR, "hours"},
                   {MR_US_PER_MINUTE, "minutes"}, {MR_US_PER_SECOND, "seconds"},
                   {1000, "milliseconds"},        {1, "microseconds"}};
    const struct mr_column *c = interval->literal;

    if (c->type->kind == MR_INTERVAL_YEAR_MONTH)
        return mr_arena_format(p->arena, "%d months", c->i32[0]);
    if (c->i64[0] == 0)
        return "0 seconds";
    uint32_t i = 0;
    while (c->i64[0] % by_size[i].us != 0)
        i++;
    return mr_arena_format(p->arena, "%lld %s", (long long)(c->i64[0] / by_size[i].us),
                           by_size[i].name);
}
