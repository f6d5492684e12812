#include "core/base/time.h"
#include "core/format/value.h"
#include "core/format/value_trim.h"

/* ---- parsing ---- */

enum { MONTHS_PER_YEAR = 12, DAYS_PER_WEEK = 7, NANOSECOND_DIGITS = 9, FRACTION_END = 6 };

/* Longest first where one begins as another does. Only seconds may have a fraction. */
static const struct unit {
    const char *name;
    int64_t months, days, us;
} units[] = {
    {"year", MONTHS_PER_YEAR, 0, 0},    {"month", 1, 0, 0},
    {"week", 0, DAYS_PER_WEEK, 0},      {"day", 0, 1, 0},
    {"hour", 0, 0, MR_US_PER_HOUR},     {"minute", 0, 0, MR_US_PER_MINUTE},
    {"second", 0, 0, MR_US_PER_SECOND}, {"millisecond", 0, 0, 1000},
    {"microsecond", 0, 0, 1},
};

static inline bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static struct mr_text skip_blanks(struct mr_text t)
{
    while (t.n > 0 && is_blank(t.data[0])) {
        t.data++;
        t.n--;
    }
    return t;
}

struct amount {
    int64_t whole, fraction_us;
    bool has_point;
};

/* [+-] blanks digits[.digits]; what follows must be blank. A point alone needs a sign before it. */
static bool take_amount(struct mr_text *t, struct amount *out)
{
    bool negative = t->data[0] == '-', bare_point = t->data[0] == '.';
    uint32_t fraction_digits = 0;
    uint64_t at = 0;

    *out = (struct amount){0};
    if (negative || t->data[0] == '+')
        *t = skip_blanks((struct mr_text){t->data + 1, t->n - 1});
    for (; at < t->n && mr_is_digit(t->data[at]); at++)
        if (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
            __builtin_add_overflow(out->whole, t->data[at] - '0', &out->whole))
            return false;
    if (at == 0 && (t->n == 0 || t->data[0] != '.'))
        return false;
    if (at < t->n && t->data[at] == '.') {
        out->has_point = true;
        for (at++; at < t->n && mr_is_digit(t->data[at]); at++, fraction_digits++) {
            if (fraction_digits == NANOSECOND_DIGITS)
                return false;
            if (fraction_digits < 6)
                out->fraction_us = out->fraction_us * 10 + (t->data[at] - '0');
        }
        for (uint32_t i = fraction_digits; i < 6; i++)
            out->fraction_us *= 10;
    }
    if (at == t->n || !is_blank(t->data[at]) || (bare_point && fraction_digits == 0))
        return false;
    if (negative) {
        out->whole = -out->whole;
        out->fraction_us = -out->fraction_us;
    }
    *t = skip_blanks((struct mr_text){t->data + at, t->n - at});
    return true;
}

/* The unit at the start, in any case, with or without s; a blank or the end must follow. */
static const struct unit *take_unit(struct mr_text *t)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        uint64_t n = strlen(units[i].name);
        if (t->n < n ||
            !mr_text_equal_ignoring_case((struct mr_text){t->data, n}, mr_text_of(units[i].name)))
            continue;
        if (n < t->n && (t->data[n] | 0x20) == 's')
            n++;
        if (n < t->n && !is_blank(t->data[n]))
            return NULL;
        *t = skip_blanks((struct mr_text){t->data + n, t->n - n});
        return &units[i];
    }
    return NULL;
}

static bool add_scaled(int64_t amount, int64_t scale, int64_t *sum)
{
    int64_t product;

    return !__builtin_mul_overflow(amount, scale, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

static bool fits_i32(int64_t v)
{
    return v >= INT32_MIN && v <= INT32_MAX;
}

bool mr_value_parse_interval(struct mr_text t, struct mr_calendar_interval *out)
{
    static const struct mr_text prefix = {"interval", 8};
    int64_t months = 0, days = 0, us = 0;

    t = trim_controls(t);
    if (t.n >= prefix.n &&
        mr_text_equal_ignoring_case((struct mr_text){t.data, prefix.n}, prefix)) {
        if (t.n == prefix.n || !is_blank(t.data[prefix.n]))
            return false;
        t = skip_blanks((struct mr_text){t.data + prefix.n, t.n - prefix.n});
    }
    if (t.n == 0)
        return false;
    while (t.n > 0) {
        struct amount amount;
        if (!take_amount(&t, &amount))
            return false;
        const struct unit *unit = take_unit(&t);
        if (unit == NULL || (amount.has_point && unit->us != MR_US_PER_SECOND))
            return false;
        if (!add_scaled(amount.whole, unit->months, &months) ||
            !add_scaled(amount.whole, unit->days, &days) ||
            !add_scaled(amount.whole, unit->us, &us) || !add_scaled(amount.fraction_us, 1, &us) ||
            !fits_i32(months) || !fits_i32(days))
            return false;
    }
    *out = (struct mr_calendar_interval){(int32_t)months, (int32_t)days, us};
    return true;
}

/* ---- intervals with fixed units ---- */

enum { UNITS_MAX = 4 };

static const char *const unit_names[2][UNITS_MAX] = {{"year", "month"},
                                                     {"day", "hour", "minute", "second"}};
/* What the first unit may have in digits, and from which value on another one does not fit. */
static const uint32_t first_digits[2][UNITS_MAX] = {{18, 18}, {9, 10, 12, 13}};
static const int64_t limits[2][UNITS_MAX] = {{0, 12}, {0, 24, 60, 60}};
static const int64_t unit_values[2][UNITS_MAX] = {
    {12, 1}, {MR_US_PER_DAY, MR_US_PER_HOUR, MR_US_PER_MINUTE, MR_US_PER_SECOND}};

static bool take_char(struct mr_text *t, char c)
{
    if (t->n == 0 || t->data[0] != c)
        return false;
    t->data++;
    t->n--;
    return true;
}

static int64_t take_sign(struct mr_text *t)
{
    if (take_char(t, '-'))
        return -1;
    take_char(t, '+');
    return 1;
}

static bool take_word(struct mr_text *t, const char *word)
{
    uint64_t n = strlen(word);

    if (t->n < n || !mr_text_equal_ignoring_case((struct mr_text){t->data, n}, mr_text_of(word)))
        return false;
    *t = (struct mr_text){t->data + n, t->n - n};
    return true;
}

static bool take_blanks(struct mr_text *t)
{
    struct mr_text rest = skip_blanks(*t);
    bool some = rest.n < t->n;

    *t = rest;
    return some;
}

static bool take_digits(struct mr_text *t, uint32_t digits_max, int64_t *v)
{
    uint32_t n = 0;

    for (*v = 0; n < t->n && mr_is_digit(t->data[n]); n++) {
        if (n == digits_max)
            return false;
        *v = *v * 10 + (t->data[n] - '0');
    }
    *t = (struct mr_text){t->data + n, t->n - n};
    return n > 0;
}

/* .5 of a second in microseconds; more than six digits are cut. */
static bool take_fraction(struct mr_text *t, int64_t *us)
{
    uint32_t n = 0;

    *us = 0;
    for (; n < t->n && mr_is_digit(t->data[n]); n++)
        if (n < FRACTION_END)
            *us = *us * 10 + (t->data[n] - '0');
    *t = (struct mr_text){t->data + n, t->n - n};
    for (uint32_t i = n; i < FRACTION_END; i++)
        *us *= 10;
    return n > 0 && n <= NANOSECOND_DIGITS;
}

/* 1-2, 1 02:03:04.5: the units of the type, without the sign. */
static enum mr_units_parsed take_units(struct mr_text *t, const struct mr_type *type, int64_t *out)
{
    const uint32_t kind = type->kind == MR_INTERVAL_DAY_TIME;
    bool fits = true;

    *out = 0;
    for (uint32_t u = type->precision; u <= type->scale; u++) {
        bool first = u == type->precision;
        int64_t v, fraction = 0;
        if (!first && !take_char(t, kind == 0 ? '-' : u == 1 ? ' ' : ':'))
            return MR_UNITS_UNMATCHED;
        if (!take_digits(t, first ? first_digits[kind][u] : kind == 0 ? 18 : 2, &v))
            return MR_UNITS_UNMATCHED;
        if (kind == 1 && u == 3 && take_char(t, '.') && !take_fraction(t, &fraction))
            return MR_UNITS_UNMATCHED;
        fits = fits && (first || v < limits[kind][u]) && add_scaled(v, unit_values[kind][u], out) &&
               add_scaled(fraction, 1, out);
    }
    return fits ? MR_UNITS_PARSED : MR_UNITS_OUT_OF_RANGE;
}

static bool take_names(struct mr_text *t, const struct mr_type *type)
{
    const char *const *names = unit_names[type->kind == MR_INTERVAL_DAY_TIME];

    return take_blanks(t) && take_word(t, names[type->precision]) &&
           (type->precision == type->scale ||
            (take_blanks(t) && take_word(t, "to") && take_blanks(t) &&
             take_word(t, names[type->scale]))) &&
           t->n == 0;
}

enum mr_units_parsed mr_value_parse_interval_units(struct mr_text t, const struct mr_type *type,
                                                   int64_t *out)
{
    enum mr_units_parsed parsed;
    int64_t sign = 1;
    bool quoted;

    t = trim_controls(t);
    quoted = take_word(&t, "interval");
    if (quoted) {
        if (!take_blanks(&t))
            return MR_UNITS_UNMATCHED;
        sign = take_sign(&t);
        if (!take_char(&t, '\''))
            return MR_UNITS_UNMATCHED;
    }
    sign *= take_sign(&t);
    parsed = take_units(&t, type, out);
    if (parsed == MR_UNITS_UNMATCHED ||
        (quoted ? !take_char(&t, '\'') || !take_names(&t, type) : t.n > 0))
        return MR_UNITS_UNMATCHED;
    *out *= sign;
    if (parsed == MR_UNITS_PARSED && type->kind == MR_INTERVAL_YEAR_MONTH && !fits_i32(*out))
        return MR_UNITS_OUT_OF_RANGE;
    return parsed;
}

/* ---- printing ---- */

static uint32_t put_string(char *out, const char *s)
{
    size_t n = strlen(s);

    memcpy(out, s, n);
    return (uint32_t)n;
}

static uint32_t put_padded(char *out, uint64_t value)
{
    uint32_t at = 0;

    if (value < 10)
        out[at++] = '0';
    return at + mr_value_print_integer((int64_t)value, out + at);
}

/* us below a minute (or any number of seconds): "5.25", without trailing zeros. */
static uint32_t put_seconds(char *out, uint64_t us)
{
    uint32_t at = mr_value_print_integer((int64_t)(us / 1000000), out);
    uint64_t fraction = us % 1000000;

    if (fraction == 0)
        return at;
    out[at] = '.';
    for (uint32_t i = FRACTION_END; i > 0; i--, fraction /= 10)
        out[at + i] = (char)('0' + fraction % 10);
    at += FRACTION_END + 1;
    while (out[at - 1] == '0')
        at--;
    return at;
}

static const char *const day_time_units[] = {"DAY", "HOUR", "MINUTE", "SECOND"};
enum { DAY, HOUR, MINUTE, SECOND };

static uint32_t put_units(char *out, const char *const *names, const struct mr_type *type)
{
    uint32_t at = put_string(out, "' ");

    at += put_string(out + at, names[type->precision]);
    if (type->precision != type->scale) {
        at += put_string(out + at, " TO ");
        at += put_string(out + at, names[type->scale]);
    }
    return at;
}

uint32_t mr_value_print_interval_day_time(int64_t us, const struct mr_type *type, char *out)
{
    static const uint64_t unit_us[] = {MR_US_PER_DAY, MR_US_PER_HOUR, MR_US_PER_MINUTE};
    uint64_t rest = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    uint32_t at = put_string(out, "INTERVAL '"), first = type->precision, last = type->scale;

    if (us < 0)
        out[at++] = '-';
    for (uint32_t unit = first; unit <= last; unit++) {
        if (unit > first)
            out[at++] = unit == HOUR ? ' ' : ':';
        if (unit == SECOND) {
            if (rest < 10 * (uint64_t)MR_US_PER_SECOND)
                out[at++] = '0';
            at += put_seconds(out + at, rest);
            break;
        }
        uint64_t value = rest / unit_us[unit];
        rest %= unit_us[unit];
        at += unit == DAY ? mr_value_print_integer((int64_t)value, out + at)
                          : put_padded(out + at, value);
    }
    return at + put_units(out + at, day_time_units, type);
}

uint32_t mr_value_print_interval_year_month(int32_t months, const struct mr_type *type, char *out)
{
    static const char *const names[] = {"YEAR", "MONTH"};
    int64_t rest = months < 0 ? -(int64_t)months : months;
    uint32_t at = put_string(out, "INTERVAL '");
    bool years = type->precision == 0, both = type->precision != type->scale;

    if (months < 0)
        out[at++] = '-';
    at += mr_value_print_integer(years ? rest / MONTHS_PER_YEAR : rest, out + at);
    if (both) {
        out[at++] = '-';
        at += mr_value_print_integer(rest % MONTHS_PER_YEAR, out + at);
    }
    return at + put_units(out + at, names, type);
}

static uint32_t put_amount(char *out, int64_t value, const char *unit)
{
    if (value == 0)
        return 0;
    uint32_t at = mr_value_print_integer(value, out);

    out[at++] = ' ';
    at += put_string(out + at, unit);
    out[at++] = ' ';
    return at;
}

uint32_t mr_value_print_calendar_interval(const struct mr_calendar_interval *v, char *out)
{
    uint32_t at = 0;
    int64_t rest = v->us % MR_US_PER_MINUTE;

    at += put_amount(out + at, v->months / MONTHS_PER_YEAR, "years");
    at += put_amount(out + at, v->months % MONTHS_PER_YEAR, "months");
    at += put_amount(out + at, v->days, "days");
    at += put_amount(out + at, v->us / MR_US_PER_HOUR, "hours");
    at += put_amount(out + at, v->us % MR_US_PER_HOUR / MR_US_PER_MINUTE, "minutes");
    if (rest != 0) {
        if (rest < 0)
            out[at++] = '-';
        at += put_seconds(out + at, (uint64_t)(rest < 0 ? -rest : rest));
        at += put_string(out + at, " seconds ");
    }
    return at == 0 ? put_string(out, "0 seconds") : at - 1;
}
