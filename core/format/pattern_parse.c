#include "core/base/check.h"
#include "core/format/pattern_item.h"

struct parsed {
    uint32_t present; /* bit of each field */
    int64_t value[FIELDS_N];
    const struct mr_zone *zone;
};

/* Where an optional section began: what to return to when it does not match. */
struct section {
    struct parsed parsed;
    uint64_t at;
    uint32_t end;
};

static bool has(const struct parsed *p, enum pattern_field field)
{
    return (p->present >> field) & 1;
}

/* False when the field is there with another value. */
static bool put(struct parsed *p, enum pattern_field field, int64_t value)
{
    if (has(p, field))
        return p->value[field] == value;
    p->present |= 1u << field;
    p->value[field] = value;
    return true;
}

static int64_t get(const struct parsed *p, enum pattern_field field, int64_t otherwise)
{
    return has(p, field) ? p->value[field] : otherwise;
}

/* ---- items ---- */

enum { SAFE_DIGITS = 18 };

static bool sum_digits(struct mr_text t, uint64_t from, uint64_t to, int64_t *value)
{
    *value = 0;
    if (to - from > SAFE_DIGITS)
        return false;
    for (; from < to; from++)
        *value = *value * 10 + (t.data[from] - '0');
    return true;
}

static bool parse_number(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                         struct parsed *out)
{
    uint64_t start = *at, end, most = item->max;
    bool negative = false, positive = false;
    int64_t value;

    if (item->min == 2 && item->max == 2 && item->later_digits <= 0 && t.n - start >= 2 &&
        item->kind == ITEM_NUMBER && mr_is_digit(t.data[start]) && mr_is_digit(t.data[start + 1])) {
        *at += 2;
        return put(out, item->field, (t.data[start] - '0') * 10 + (t.data[start + 1] - '0'));
    }
    if (start < t.n && (t.data[start] == '-' || t.data[start] == '+')) {
        negative = t.data[start] == '-';
        positive = !negative;
        if (item->sign == SIGN_NOT_NEGATIVE || (positive && item->sign == SIGN_NORMAL))
            return false;
        start++;
    }
    if (item->later_digits > 0)
        most += (uint64_t)item->later_digits;
    for (end = start; end < t.n && end - start < most && mr_is_digit(t.data[end]); end++)
        continue;
    if (item->later_digits > 0) {
        uint64_t n = end - start, later = (uint64_t)item->later_digits;
        n = n > later ? n - later : 0;
        end = start + (n > item->min ? n : item->min);
        for (uint64_t i = start; i < end; i++)
            if (i == t.n || !mr_is_digit(t.data[i]))
                return false;
    }
    if (end - start < item->min || !sum_digits(t, start, end, &value))
        return false;
    if (negative && value == 0)
        return false;
    if (item->sign == SIGN_EXCEEDS_PAD && !negative && positive != (end - start > item->min))
        return false;
    if (item->kind == ITEM_TWO_DIGIT_YEAR)
        value += 2000;
    *at = end;
    return put(out, item->field, negative ? -value : value);
}

static bool parse_fraction(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                           struct parsed *out)
{
    int64_t value = 0;
    uint32_t n = 0;

    for (; n < item->max && *at < t.n && mr_is_digit(t.data[*at]); ++*at, n++)
        value = value * 10 + (t.data[*at] - '0');
    if (n < item->min)
        return false;
    for (; n < 9; n++)
        value *= 10;
    return put(out, FIELD_NANO, value);
}

static bool starts_with(struct mr_text t, uint64_t at, struct mr_text prefix)
{
    return t.n - at >= prefix.n &&
           mr_text_equal_ignoring_case((struct mr_text){t.data + at, prefix.n}, prefix);
}

static bool take_literal(struct mr_text t, uint64_t *at, struct mr_text literal)
{
    bool same = *at < t.n && literal.n == 1 && t.data[*at] == literal.data[0];

    if (!same && !starts_with(t, *at, literal))
        return false;
    *at += literal.n;
    return true;
}

static bool parse_text(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                       struct parsed *out)
{
    uint32_t n;
    const char *const *names = mr_pattern_names(item->field, item->kind == ITEM_FULL_TEXT, &n);

    for (uint32_t i = 0; i < n; i++) {
        struct mr_text name = mr_text_of(names[i]);
        if (starts_with(t, *at, name)) {
            *at += name.n;
            return put(out, item->field, item->field == FIELD_MONTH ? i + 1 : i);
        }
    }
    return false;
}

static bool take_two_digits(struct mr_text t, uint64_t *at, int64_t *value)
{
    if (t.n - *at < 2 || !mr_is_digit(t.data[*at]) || !mr_is_digit(t.data[*at + 1]))
        return false;
    *value = (t.data[*at] - '0') * 10 + (t.data[*at + 1] - '0');
    *at += 2;
    return true;
}

/* [:]dd at *at; false, and nothing taken, when it is not there. */
static bool take_offset_part(struct mr_text t, uint64_t *at, bool colon, int64_t *value)
{
    uint64_t next = *at;

    if (colon) {
        if (next == t.n || t.data[next] != ':')
            return false;
        next++;
    }
    if (!take_two_digits(t, &next, value) || *value > 59)
        return false;
    *at = next;
    return true;
}

static bool put_offset(struct parsed *out, bool negative, int64_t h, int64_t m, int64_t s)
{
    int64_t sum = h * 3600 + m * 60 + s;

    return sum <= 18 * 3600 && put(out, FIELD_OFFSET, negative ? -sum : sum);
}

static bool parse_offset(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                         struct parsed *out)
{
    struct mr_text zero = mr_text_of(item->zero);
    bool colon = item->offset == OFFSET_HH_MM || item->offset == OFFSET_HH_MM_ss;
    bool seconds = item->offset == OFFSET_HHMMss || item->offset == OFFSET_HH_MM_ss;
    int64_t h, m = 0, s = 0;
    uint64_t next = *at + 1;

    if (*at == t.n)
        return false;
    if (starts_with(t, *at, zero)) {
        *at += zero.n;
        return put(out, FIELD_OFFSET, 0);
    }
    if (t.data[*at] != '+' && t.data[*at] != '-')
        return false;
    bool negative = t.data[*at] == '-';
    if (!take_two_digits(t, &next, &h) ||
        (!take_offset_part(t, &next, colon, &m) && item->offset != OFFSET_HHmm))
        return false;
    if (seconds && !take_offset_part(t, &next, colon, &s))
        s = 0;
    *at = next;
    return put_offset(out, negative, h, m, s);
}

/* GMT, GMT+8, GMT+8:30; full: GMT+08:30. */
static bool parse_gmt_offset(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                             struct parsed *out)
{
    int64_t h, m = 0, s = 0;

    if (!starts_with(t, *at, MR_TEXT("GMT")))
        return false;
    *at += 3;
    if (*at == t.n || (t.data[*at] != '+' && t.data[*at] != '-'))
        return put(out, FIELD_OFFSET, 0);
    bool negative = t.data[(*at)++] == '-';
    if (item->kind == ITEM_FULL_GMT_OFFSET) {
        if (!take_two_digits(t, at, &h) || !take_offset_part(t, at, true, &m))
            return false;
    } else {
        if (!take_two_digits(t, at, &h)) {
            if (*at == t.n || !mr_is_digit(t.data[*at]))
                return false;
            h = t.data[(*at)++] - '0';
        }
        if (!take_offset_part(t, at, true, &m))
            return put_offset(out, negative, h, 0, 0);
    }
    if (!take_offset_part(t, at, true, &s))
        s = 0;
    return put_offset(out, negative, h, m, s);
}

/* Short names, as Java reads them for English of the USA. */
static const struct {
    const char *name, *zone;
} zone_names[] = {
    {"BST", "Europe/London"},    {"CDT", "America/Chicago"},     {"CEST", "Europe/Paris"},
    {"CET", "Europe/Paris"},     {"CST", "America/Chicago"},     {"EDT", "America/New_York"},
    {"EST", "America/New_York"}, {"HST", "Pacific/Honolulu"},    {"IST", "Asia/Kolkata"},
    {"JST", "Asia/Tokyo"},       {"MDT", "America/Denver"},      {"MSK", "Europe/Moscow"},
    {"MST", "America/Denver"},   {"PDT", "America/Los_Angeles"}, {"PST", "America/Los_Angeles"},
};

/* The longest zone id at *at, or a short name if names are asked for. */
static bool parse_zone(bool names, struct mr_text t, uint64_t *at, struct parsed *out)
{
    uint64_t n = 0;
    int32_t offset_s;

    while (*at + n < t.n && n < 64 &&
           (mr_is_digit(t.data[*at + n]) ||
            ((t.data[*at + n] | 0x20) >= 'a' && (t.data[*at + n] | 0x20) <= 'z') ||
            memchr("+-:/_~", t.data[*at + n], 6)))
        n++;
    for (; n > 0; n--) {
        struct mr_text text = {t.data + *at, n};
        const struct mr_zone *zone = NULL;
        for (size_t i = 0; names && i < sizeof zone_names / sizeof zone_names[0]; i++)
            if (mr_text_equal_ignoring_case(text, mr_text_of(zone_names[i].name)))
                zone = mr_zone_find(mr_text_of(zone_names[i].zone));
        /* A region that is looked up has a '/' or is a whole word: prefixes are not worth a look.
         */
        if (zone == NULL && (mr_zone_parse_offset(text, &offset_s) || *at + n == t.n ||
                             !mr_is_digit(t.data[*at + n])))
            zone = mr_zone_find(text);
        if (zone) {
            *at += n;
            out->zone = zone;
            return true;
        }
    }
    return false;
}

static bool parse_item(const struct pattern_item *item, struct mr_text t, uint64_t *at,
                       struct parsed *out)
{
    switch (item->kind) {
    case ITEM_LITERAL:
        return take_literal(t, at, item->literal);
    case ITEM_NUMBER:
    case ITEM_TWO_DIGIT_YEAR:
        return parse_number(item, t, at, out);
    case ITEM_FRACTION:
        return parse_fraction(item, t, at, out);
    case ITEM_SHORT_TEXT:
    case ITEM_FULL_TEXT:
        return parse_text(item, t, at, out);
    case ITEM_OFFSET:
        return parse_offset(item, t, at, out);
    case ITEM_SHORT_GMT_OFFSET:
    case ITEM_FULL_GMT_OFFSET:
        return parse_gmt_offset(item, t, at, out);
    case ITEM_ZONE_ID:
    case ITEM_ZONE_NAME:
        return parse_zone(item->kind == ITEM_ZONE_NAME, t, at, out);
    default:
        MR_UNREACHABLE();
    }
}

static bool parse_items(const struct mr_pattern *p, struct mr_text t, struct parsed *out)
{
    struct section sections[PATTERN_OPTIONAL_MAX];
    uint32_t depth = 0;
    uint64_t at = 0;

    out->present = 0;
    out->zone = NULL;
    for (uint32_t i = 0; i < p->items_n; i++) {
        const struct pattern_item *item = &p->items[i];
        if (item->kind == ITEM_OPTIONAL_BEGIN) {
            sections[depth++] = (struct section){*out, at, item->partner};
        } else if (item->kind == ITEM_OPTIONAL_END) {
            depth--;
        } else if (!parse_item(item, t, &at, out)) {
            if (depth == 0)
                return false;
            depth--;
            *out = sections[depth].parsed;
            at = sections[depth].at;
            i = sections[depth].end;
        }
    }
    return at == t.n;
}

/* ---- from fields to an instant, strictly ---- */

static bool resolve_year(struct parsed *p)
{
    if (!has(p, FIELD_YEAR_OF_ERA) || !has(p, FIELD_ERA))
        return true;
    int64_t of_era = p->value[FIELD_YEAR_OF_ERA];
    return of_era >= 1 && put(p, FIELD_YEAR, p->value[FIELD_ERA] ? of_era : 1 - of_era);
}

static bool resolve_days(struct parsed *p, int64_t *days)
{
    enum { YEAR_MAX = 999999 };

    if (!resolve_year(p))
        return false;
    int64_t year = get(p, FIELD_YEAR, 1970);
    if (year < -YEAR_MAX || year > YEAR_MAX)
        return false;
    int64_t month = get(p, FIELD_MONTH, 1), day = get(p, FIELD_DAY, 1);
    bool whole = has(p, FIELD_YEAR) && has(p, FIELD_MONTH) && has(p, FIELD_DAY);
    int64_t first = mr_days_from_civil((int32_t)year, 1, 1);
    if (has(p, FIELD_DAY_OF_YEAR) && !whole) {
        int64_t of_year = p->value[FIELD_DAY_OF_YEAR];
        int32_t y;
        uint32_t m, d;
        if (of_year < 1 || of_year > 365 + mr_is_leap_year((int32_t)year))
            return false;
        *days = first + of_year - 1;
        mr_civil_from_days(*days, &y, &m, &d);
        return put(p, FIELD_MONTH, m) && put(p, FIELD_DAY, d);
    }
    if (month < 1 || month > 12 || day < 1 ||
        day > mr_days_of_month((int32_t)year, (uint32_t)month))
        return false;
    *days = mr_days_from_civil((int32_t)year, (uint32_t)month, (uint32_t)day);
    return get(p, FIELD_DAY_OF_YEAR, *days - first + 1) == *days - first + 1;
}

static bool in_range(const struct parsed *p, enum pattern_field field, int64_t min, int64_t max)
{
    return !has(p, field) || (p->value[field] >= min && p->value[field] <= max);
}

static bool resolve_hour(struct parsed *p, int64_t *hour)
{
    if (!in_range(p, FIELD_HOUR, 0, 23) || !in_range(p, FIELD_CLOCK_HOUR, 1, 24) ||
        !in_range(p, FIELD_HALF_HOUR, 0, 11) || !in_range(p, FIELD_CLOCK_HALF_HOUR, 1, 12))
        return false;
    if (has(p, FIELD_CLOCK_HOUR) && !put(p, FIELD_HOUR, p->value[FIELD_CLOCK_HOUR] % 24))
        return false;
    if (has(p, FIELD_CLOCK_HALF_HOUR) &&
        !put(p, FIELD_HALF_HOUR, p->value[FIELD_CLOCK_HALF_HOUR] % 12))
        return false;
    if (has(p, FIELD_HOUR)) {
        *hour = p->value[FIELD_HOUR];
        return get(p, FIELD_HALF_HOUR, *hour % 12) == *hour % 12 &&
               get(p, FIELD_AMPM, *hour / 12) == *hour / 12;
    }
    *hour = get(p, FIELD_HALF_HOUR, 0) + 12 * get(p, FIELD_AMPM, 0);
    return true;
}

bool mr_pattern_parse(const struct mr_pattern *p, struct mr_text t, const struct mr_zone *zone,
                      int64_t *us)
{
    struct parsed f;
    int64_t days, hour, local_us;

    if (!parse_items(p, t, &f) || !resolve_days(&f, &days) || !resolve_hour(&f, &hour) ||
        !in_range(&f, FIELD_MINUTE, 0, 59) || !in_range(&f, FIELD_SECOND, 0, 59))
        return false;
    int64_t of_day = hour * MR_US_PER_HOUR + get(&f, FIELD_MINUTE, 0) * MR_US_PER_MINUTE +
                     get(&f, FIELD_SECOND, 0) * MR_US_PER_SECOND + get(&f, FIELD_NANO, 0) / 1000;
    if (__builtin_mul_overflow(days, MR_US_PER_DAY, &local_us) ||
        __builtin_add_overflow(local_us, of_day, &local_us))
        return false;
    if (f.zone == NULL && has(&f, FIELD_OFFSET))
        return !__builtin_sub_overflow(local_us, f.value[FIELD_OFFSET] * MR_US_PER_SECOND, us);
    *us = mr_zone_to_utc(f.zone ? f.zone : zone, local_us);
    return true;
}
