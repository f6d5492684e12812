#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/value.h"
#include "core/format/value_digits.h"
#include "core/format/value_trim.h"

/* ---- the common form: YYYY-MM-DD[T ]HH:MM:SS ---- */

enum { COMMON_BYTES = 19 };

/* Eight characters as digits where expected has '0', and equal where it has others. Gives the
 * digits, 0 in other places. */
static inline bool match_word(const char *p, const char *expected, uint64_t *digits)
{
    uint64_t pattern = word_load(expected), x = word_load(p) ^ pattern;
    /* A byte plus its limit stays below 0x80 when it is allowed: 9 for digits, 0 for others. */
    uint64_t others =
        (((pattern ^ (MR_WORD_ONES * '0')) + MR_WORD_ONES * 0x7f) & MR_WORD_HIGH) >> 7;
    uint64_t limit = MR_WORD_ONES * (0x7f - 9) + others * 9;

    *digits = x;
    return (((x + limit) | x) & MR_WORD_HIGH) == 0;
}

static inline uint32_t byte_of(uint64_t word, uint32_t i)
{
    return (uint32_t)(word >> (8 * i)) & 0xff;
}

static inline bool is_date(int32_t year, uint32_t month, uint32_t day)
{
    return month - 1 < 12 && day - 1 < 31 && (day <= 28 || day <= mr_days_of_month(year, month));
}

/* As mr_days_from_civil, for years from 1 on. */
static inline int64_t days_from_date(uint32_t year, uint32_t month, uint32_t day)
{
    static const uint16_t before[13] = {
        0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275}; /* since the first of March */
    uint32_t y = year - (month <= 2);

    return (int64_t)(y * 365 + y / 4 - y / 100 + y / 400 + before[month] + day) - 719469;
}

static inline bool parse_common(const char *p, int64_t *local_us)
{
    uint64_t date, time;
    uint32_t day_tens = (uint32_t)(p[8] - '0'), day_ones = (uint32_t)(p[9] - '0');

    if (!match_word(p, "0000-00-", &date) || !match_word(p + 11, "00:00:00", &time) ||
        day_tens > 9 || day_ones > 9 || (p[10] != 'T' && p[10] != ' '))
        return false;
    date = word_pairs(date);
    time = word_pairs(time);
    uint32_t year = byte_of(date, 0) * 100 + byte_of(date, 2);
    uint32_t month = byte_of(date, 5), day = day_tens * 10 + day_ones;
    uint32_t hour = byte_of(time, 0), minute = byte_of(time, 3), second = byte_of(time, 6);
    if (year == 0 || !is_date((int32_t)year, month, day) || hour > 23 || minute > 59 || second > 59)
        return false;
    *local_us = days_from_date(year, month, day) * MR_US_PER_DAY +
                (int64_t)(hour * 3600 + minute * 60 + second) * MR_US_PER_SECOND;
    return true;
}

/* ---- all forms ---- */

enum part { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, PARTS };
enum { YEAR_DIGITS_MIN = 4, YEAR_DIGITS_MAX = 6, DATE_YEAR_DIGITS_MAX = 7, FRACTION_DIGITS = 6 };

struct parts {
    int64_t value[PARTS];
    bool time_only;
    struct mr_text zone; /* n 0: none */
};

/* Digits at *at into value: at most max of them, else false. */
static bool take_number(struct mr_text t, uint64_t *at, uint32_t min, uint32_t max, int64_t *value)
{
    uint32_t n = 0;

    *value = 0;
    for (; *at < t.n && t.data[*at] >= '0' && t.data[*at] <= '9'; ++*at, n++) {
        if (n == max)
            return false;
        *value = *value * 10 + (t.data[*at] - '0');
    }
    return n >= min;
}

/* Microseconds from the digits at *at; more than six are read and cut. */
static inline int64_t take_fraction(struct mr_text t, uint64_t *at)
{
    static const int32_t scales[FRACTION_DIGITS + 1] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    const char *from = t.data + *at;
    uint64_t n = 0, rest = t.n - *at, counted;
    int64_t value = 0;

    while (n < rest && from[n] >= '0' && from[n] <= '9')
        n++;
    *at += n;
    counted = n < FRACTION_DIGITS ? n : FRACTION_DIGITS;
    for (uint64_t i = 0; i < counted; i++)
        value = value * 10 + (from[i] - '0');
    return value * scales[counted];
}

static inline bool take_char(struct mr_text t, uint64_t *at, char c)
{
    if (*at == t.n || t.data[*at] != c)
        return false;
    ++*at;
    return true;
}

/* [h]h[:[m]m[:[s]s[.f]][zone]]: a zone only behind the seconds. */
static bool scan_time(struct mr_text t, uint64_t *at, struct parts *out)
{
    for (enum part p = HOUR; p <= SECOND; p++) {
        if (!take_number(t, at, 1, 2, &out->value[p]))
            return false;
        if (*at == t.n)
            return true;
        if (p < SECOND && !take_char(t, at, ':'))
            return false;
    }
    if (take_char(t, at, '.'))
        out->value[FRACTION] = take_fraction(t, at);
    out->zone = mr_text_trim((struct mr_text){t.data + *at, t.n - *at});
    return true;
}

/* t is trimmed; at_start: nothing was trimmed before it. */
static bool scan_timestamp(struct mr_text t, bool at_start, struct parts *out)
{
    uint64_t at = 0;
    bool negative, is_signed;

    *out = (struct parts){.value = {1, 1, 1}};
    if (t.n == 0)
        return false;
    if (at_start && t.data[0] == 'T') {
        out->time_only = true;
        at = 1;
        return scan_time(t, &at, out);
    }
    negative = t.data[0] == '-';
    is_signed = negative || t.data[0] == '+';
    at = is_signed;
    while (at < t.n && t.data[at] >= '0' && t.data[at] <= '9')
        at++;
    if (!is_signed && at < t.n && t.data[at] == ':') {
        out->time_only = true;
        at = 0;
        return scan_time(t, &at, out);
    }
    at = is_signed;
    for (enum part p = YEAR; p <= DAY; p++) {
        bool is_year = p == YEAR;
        if (!take_number(t, &at, is_year ? YEAR_DIGITS_MIN : 1, is_year ? YEAR_DIGITS_MAX : 2,
                         &out->value[p]))
            return false;
        if (at == t.n)
            break;
        if (p < DAY && !take_char(t, &at, '-'))
            return false;
    }
    if (negative)
        out->value[YEAR] = -out->value[YEAR];
    if (at == t.n)
        return true;
    return (take_char(t, &at, ' ') || take_char(t, &at, 'T')) && scan_time(t, &at, out);
}

static bool add_up(const struct parts *p, int64_t days, int64_t *local_us)
{
    if (p->value[HOUR] > 23 || p->value[MINUTE] > 59 || p->value[SECOND] > 59)
        return false;
    int64_t of_day = p->value[HOUR] * MR_US_PER_HOUR + p->value[MINUTE] * MR_US_PER_MINUTE +
                     p->value[SECOND] * MR_US_PER_SECOND + p->value[FRACTION];
    return !__builtin_mul_overflow(days, MR_US_PER_DAY, local_us) &&
           !__builtin_add_overflow(*local_us, of_day, local_us);
}

static bool days_of(const struct parts *p, int64_t *days)
{
    if (!is_date((int32_t)p->value[YEAR], (uint32_t)p->value[MONTH], (uint32_t)p->value[DAY]))
        return false;
    *days = mr_days_from_civil((int32_t)p->value[YEAR], (uint32_t)p->value[MONTH],
                               (uint32_t)p->value[DAY]);
    return true;
}

/* By the clock of zone; false when the result does not fit. */
static bool shift_to_utc(int64_t local_us, const struct mr_zone *zone, int64_t *us)
{
    *us = mr_zone_to_utc(zone, local_us);
    bool far = local_us < INT64_MIN / 2 || local_us > INT64_MAX / 2;
    return !far || (local_us < 0) == (*us < 0);
}

/* The instant of local_us by the zone that the text names, or else by zone. */
static bool to_instant(int64_t local_us, struct mr_text named, const struct mr_zone *zone,
                       int64_t *us)
{
    int32_t offset_s;

    if (named.n == 0)
        return shift_to_utc(local_us, zone, us);
    if (mr_zone_parse_offset(named, &offset_s))
        return !__builtin_sub_overflow(local_us, offset_s * MR_US_PER_SECOND, us);
    zone = mr_zone_find(named);
    return zone != NULL && shift_to_utc(local_us, zone, us);
}

static bool parse_any(struct mr_text t, const struct mr_zone *zone, int64_t now_us, int64_t *us)
{
    struct mr_text trimmed = trim_controls(t);
    struct parts p;
    int64_t days, local_us;

    if (!scan_timestamp(trimmed, trimmed.data == t.data, &p))
        return false;
    if (p.time_only) {
        const struct mr_zone *today = p.zone.n > 0 ? mr_zone_find(p.zone) : zone;
        if (today == NULL)
            return false;
        days = mr_floor_div(mr_zone_to_local(today, now_us), MR_US_PER_DAY);
    } else if (!days_of(&p, &days)) {
        return false;
    }
    return add_up(&p, days, &local_us) && to_instant(local_us, p.zone, zone, us);
}

bool mr_value_parse_timestamp(struct mr_text t, const struct mr_zone *zone, int64_t now_us,
                              int64_t *us)
{
    int64_t local_us;

    if (t.n < COMMON_BYTES || !parse_common(t.data, &local_us))
        return parse_any(t, zone, now_us, us);
    uint64_t at = COMMON_BYTES;
    if (at < t.n && t.data[at] == '.') {
        at++;
        local_us += take_fraction(t, &at);
    }
    if (MR_LIKELY(at + 1 == t.n && t.data[at] == 'Z')) {
        *us = local_us;
        return true;
    }
    return to_instant(local_us, trim_controls((struct mr_text){t.data + at, t.n - at}), zone, us);
}

/* A local time with its zone text, which is checked. */
static bool parse_local(struct mr_text t, struct mr_text *zone, int64_t *us)
{
    struct mr_text trimmed = trim_controls(t);
    struct parts p;
    int64_t days;
    int32_t offset_s;

    if (!scan_timestamp(trimmed, trimmed.data == t.data, &p) || p.time_only ||
        !days_of(&p, &days) || !add_up(&p, days, us))
        return false;
    *zone = p.zone;
    return zone->n == 0 || mr_zone_parse_offset(*zone, &offset_s) || mr_zone_find(*zone) != NULL;
}

bool mr_value_parse_timestamp_ntz(struct mr_text t, int64_t *us)
{
    struct mr_text zone;

    if (t.n == COMMON_BYTES && parse_common(t.data, us))
        return true;
    return parse_local(t, &zone, us) && zone.n == 0;
}

bool mr_value_parse_timestamp_ntz_or_zoned(struct mr_text t, int64_t *us)
{
    struct mr_text zone;

    return parse_local(t, &zone, us);
}

bool mr_value_parse_date(struct mr_text t, int32_t *days)
{
    int64_t value[3] = {1, 1, 1};
    uint64_t at;

    t = trim_controls(t);
    if (t.n == 0)
        return false;
    bool negative = t.data[0] == '-';
    at = negative || t.data[0] == '+';
    for (uint32_t i = 0; i < 3; i++) {
        if (!take_number(t, &at, i == 0 ? YEAR_DIGITS_MIN : 1, i == 0 ? DATE_YEAR_DIGITS_MAX : 2,
                         &value[i]))
            return false;
        if (at == t.n)
            break;
        /* Behind a whole date anything may follow a blank or a T. */
        if (i < 2 ? !take_char(t, &at, '-') : t.data[at] != ' ' && t.data[at] != 'T')
            return false;
    }
    int32_t year = (int32_t)(negative ? -value[0] : value[0]);
    if (!is_date(year, (uint32_t)value[1], (uint32_t)value[2]))
        return false;
    int64_t since_1970 = mr_days_from_civil(year, (uint32_t)value[1], (uint32_t)value[2]);
    *days = (int32_t)since_1970;
    return since_1970 == *days; /* years of seven digits may be too far away */
}

/* ---- printing ---- */

/* Four digits at least; beyond 9999 with a plus sign. */
static uint32_t put_year(int32_t year, char *out)
{
    uint32_t at = 0, rest = (uint32_t)(year < 0 ? -year : year);

    if (year < 0)
        out[at++] = '-';
    else if (year > 9999)
        out[at++] = '+';
    if (rest > 9999)
        return at + mr_value_print_integer(rest, out + at);
    digits_put_two(out + at, rest / 100);
    digits_put_two(out + at + 2, rest % 100);
    return at + 4;
}

static uint32_t put_date(int32_t year, uint32_t month, uint32_t day, char *out)
{
    uint32_t at = put_year(year, out);

    out[at] = '-';
    digits_put_two(out + at + 1, month);
    out[at + 3] = '-';
    digits_put_two(out + at + 4, day);
    return at + 6;
}

uint32_t mr_value_print_date(int32_t days, char *out)
{
    int32_t year;
    uint32_t month, day;

    mr_civil_from_days(days, &year, &month, &day);
    return put_date(year, month, day, out);
}

static uint32_t print_instant(int64_t us, int64_t local_us, char *out)
{
    struct mr_civil c;

    mr_civil_from_instant(us, local_us, &c);
    uint32_t at = put_date(c.year, c.month, c.day, out);
    out[at] = ' ';
    digits_put_two(out + at + 1, c.hour);
    out[at + 3] = ':';
    digits_put_two(out + at + 4, c.minute);
    out[at + 6] = ':';
    digits_put_two(out + at + 7, c.second);
    at += 9;
    if (c.us == 0)
        return at;
    out[at] = '.';
    digits_put_two(out + at + 1, c.us / 10000);
    digits_put_two(out + at + 3, c.us / 100 % 100);
    digits_put_two(out + at + 5, c.us % 100);
    at += 7;
    while (out[at - 1] == '0')
        at--;
    return at;
}

uint32_t mr_value_print_timestamp_ntz(int64_t us, char *out)
{
    return print_instant(us, us, out);
}

uint32_t mr_value_print_timestamp(int64_t us, const struct mr_zone *zone, char *out)
{
    return print_instant(us, mr_zone_to_local(zone, us), out);
}
