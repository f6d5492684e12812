#include "core/base/check.h"
#include "core/format/pattern_item.h"
#include "core/format/value_digits.h"

struct moment {
    struct mr_civil civil;
    int64_t us, days;
    int64_t offset_s;
    const struct mr_zone *zone;
};

static int64_t field_of(const struct moment *m, enum pattern_field field)
{
    const struct mr_civil *c = &m->civil;

    switch (field) {
    case FIELD_ERA:
        return c->year > 0;
    case FIELD_YEAR:
        return c->year;
    case FIELD_YEAR_OF_ERA:
        return c->year > 0 ? c->year : 1 - c->year;
    case FIELD_QUARTER:
        return (c->month - 1) / 3 + 1;
    case FIELD_MONTH:
        return c->month;
    case FIELD_DAY:
        return c->day;
    case FIELD_DAY_OF_YEAR:
        return m->days - mr_days_from_civil(c->year, 1, 1) + 1;
    case FIELD_WEEKDAY:
        return mr_floor_mod(m->days + 3, 7) + 1; /* 1970-01-01 was a Thursday */
    case FIELD_ALIGNED_WEEKDAY:
        return (c->day - 1) % 7 + 1;
    case FIELD_AMPM:
        return c->hour / 12;
    case FIELD_HOUR:
        return c->hour;
    case FIELD_CLOCK_HOUR:
        return c->hour ? c->hour : 24;
    case FIELD_HALF_HOUR:
        return c->hour % 12;
    case FIELD_CLOCK_HALF_HOUR:
        return c->hour % 12 ? c->hour % 12 : 12;
    case FIELD_MINUTE:
        return c->minute;
    case FIELD_SECOND:
        return c->second;
    default:
        MR_UNREACHABLE();
    }
}

/* All of these write at out and give the end. */

static char *put_text(char *out, const char *data, uint64_t n)
{
    if (n == 1) { /* as most literals are */
        *out = *data;
        return out + 1;
    }
    memcpy(out, data, n);
    return out + n;
}

static char *put_string(char *out, const char *text)
{
    return put_text(out, text, strlen(text));
}

/* At least min digits, zeros in front. */
static char *put_digits(char *out, uint64_t value, uint32_t min)
{
    char digits[20];
    uint32_t at = sizeof digits;

    if (min == 2 && value < 100) {
        digits_put_two(out, (uint32_t)value);
        return out + 2;
    }
    if (min == 4 && value < 10000) {
        digits_put_two(out, (uint32_t)value / 100);
        digits_put_two(out + 2, (uint32_t)value % 100);
        return out + 4;
    }
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (sizeof digits - at < min)
        digits[--at] = '0';
    return put_text(out, digits + at, sizeof digits - at);
}

static char *print_number(const struct pattern_item *item, int64_t value, char *out)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);

    if (item->kind == ITEM_TWO_DIGIT_YEAR)
        return put_digits(out, magnitude % 100, 2);
    if (value < 0) {
        *out++ = '-';
    } else if (item->sign == SIGN_EXCEEDS_PAD) {
        uint64_t limit = 1;
        for (uint32_t i = 0; i < item->min; i++)
            limit *= 10;
        if (magnitude >= limit)
            *out++ = '+';
    }
    return put_digits(out, magnitude, item->min);
}

static char *print_fraction(const struct pattern_item *item, uint32_t us, char *out)
{
    char digits[9] = "000000000";

    digits_put_two(digits, us / 10000);
    digits_put_two(digits + 2, us / 100 % 100);
    digits_put_two(digits + 4, us % 100);
    return put_text(out, digits, item->max);
}

static char *print_text(const struct pattern_item *item, int64_t value, char *out)
{
    bool from_one = item->field != FIELD_ERA && item->field != FIELD_AMPM;
    uint32_t n;
    const char *const *names = mr_pattern_names(item->field, item->kind == ITEM_FULL_TEXT, &n);

    return put_string(out, names[value - from_one]);
}

static char *put_part(char *out, bool colon, uint64_t value)
{
    if (colon)
        *out++ = ':';
    return put_digits(out, value, 2);
}

static char *print_offset(const struct pattern_item *item, int64_t offset_s, char *out)
{
    uint64_t s = (uint64_t)(offset_s < 0 ? -offset_s : offset_s);
    uint64_t hours = s / 3600, minutes = s / 60 % 60, seconds = s % 60;
    bool colon = item->offset == OFFSET_HH_MM || item->offset == OFFSET_HH_MM_ss;
    bool with_seconds = item->offset == OFFSET_HHMMss || item->offset == OFFSET_HH_MM_ss;
    bool with_minutes = item->offset != OFFSET_HHmm || minutes > 0;

    with_seconds = with_seconds && seconds > 0;
    if (hours + (with_minutes ? minutes : 0) + (with_seconds ? seconds : 0) == 0)
        return put_string(out, item->zero);
    *out++ = offset_s < 0 ? '-' : '+';
    out = put_digits(out, hours, 2);
    if (with_minutes)
        out = put_part(out, colon, minutes);
    return with_seconds ? put_part(out, colon, seconds) : out;
}

static char *print_gmt_offset(bool full, int64_t offset_s, char *out)
{
    uint64_t s = (uint64_t)(offset_s < 0 ? -offset_s : offset_s);

    out = put_string(out, "GMT");
    if (s == 0)
        return out;
    *out++ = offset_s < 0 ? '-' : '+';
    out = put_digits(out, s / 3600, full ? 2 : 1);
    if (full || s % 3600 > 0)
        out = put_part(out, true, s / 60 % 60);
    return s % 60 > 0 ? put_part(out, true, s % 60) : out;
}

static char *print_zone_name(const struct moment *m, char *out)
{
    char name[32];

    mr_zone_abbreviation(m->zone, m->us, name, sizeof name);
    return put_string(out, name);
}

static char *print_item(const struct pattern_item *item, const struct moment *m, char *out)
{
    switch (item->kind) {
    case ITEM_LITERAL:
        return put_text(out, item->literal.data, item->literal.n);
    case ITEM_NUMBER:
    case ITEM_TWO_DIGIT_YEAR:
        return print_number(item, field_of(m, item->field), out);
    case ITEM_FRACTION:
        return print_fraction(item, m->civil.us, out);
    case ITEM_SHORT_TEXT:
    case ITEM_FULL_TEXT:
        return print_text(item, field_of(m, item->field), out);
    case ITEM_OFFSET:
        return print_offset(item, m->offset_s, out);
    case ITEM_SHORT_GMT_OFFSET:
    case ITEM_FULL_GMT_OFFSET:
        return print_gmt_offset(item->kind == ITEM_FULL_GMT_OFFSET, m->offset_s, out);
    case ITEM_ZONE_ID:
        return put_string(out, mr_zone_name(m->zone));
    case ITEM_ZONE_NAME:
        return print_zone_name(m, out);
    default: /* optional sections: all fields are there, so nothing is left out */
        return out;
    }
}

void mr_pattern_print(const struct mr_pattern *p, int64_t us, const struct mr_zone *zone,
                      struct mr_buffer *out)
{
    int64_t local_us = mr_zone_to_local(zone, us), rest;
    int64_t offset_us = (int64_t)((uint64_t)local_us - (uint64_t)us);
    struct moment m = {.us = us,
                       .days = mr_local_days(us, local_us, &rest),
                       .offset_s = offset_us / MR_US_PER_SECOND,
                       .zone = zone};
    char *start = (char *)mr_buffer_reserve(out, p->bytes_max), *end = start;

    mr_civil_from_instant(us, local_us, &m.civil);
    for (uint32_t i = 0; i < p->items_n; i++)
        end = print_item(&p->items[i], &m, end);
    MR_ASSERT((uint64_t)(end - start) <= p->bytes_max);
    out->n += (uint64_t)(end - start);
}
