#include "core/base/check.h"
#include "core/format/pattern_item.h"

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

/* At least min digits, zeros in front. */
static void put_digits(struct mr_buffer *out, uint64_t value, uint32_t min)
{
    char digits[20];
    uint32_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (sizeof digits - at < min)
        digits[--at] = '0';
    mr_buffer_append(out, digits + at, sizeof digits - at);
}

static void print_number(const struct pattern_item *item, int64_t value, struct mr_buffer *out)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);

    if (item->kind == ITEM_TWO_DIGIT_YEAR) {
        put_digits(out, magnitude % 100, 2);
        return;
    }
    if (value < 0) {
        mr_buffer_append(out, "-", 1);
    } else if (item->sign == SIGN_EXCEEDS_PAD) {
        uint64_t limit = 1;
        for (uint32_t i = 0; i < item->min; i++)
            limit *= 10;
        if (magnitude >= limit)
            mr_buffer_append(out, "+", 1);
    }
    put_digits(out, magnitude, item->min);
}

static void print_fraction(const struct pattern_item *item, uint32_t us, struct mr_buffer *out)
{
    char digits[9] = "000000000";

    for (uint32_t i = 6; i > 0; i--, us /= 10)
        digits[i - 1] = (char)('0' + us % 10);
    mr_buffer_append(out, digits, item->max);
}

static void print_text(const struct pattern_item *item, int64_t value, struct mr_buffer *out)
{
    bool from_one = item->field != FIELD_ERA && item->field != FIELD_AMPM;
    uint32_t n;
    const char *const *names = mr_pattern_names(item->field, item->kind == ITEM_FULL_TEXT, &n);

    mr_buffer_append_text(out, mr_text_of(names[value - from_one]));
}

static void print_offset(const struct pattern_item *item, int64_t offset_s, struct mr_buffer *out)
{
    uint64_t s = (uint64_t)(offset_s < 0 ? -offset_s : offset_s);
    uint64_t hours = s / 3600, minutes = s / 60 % 60, seconds = s % 60;
    bool colon = item->offset == OFFSET_HH_MM || item->offset == OFFSET_HH_MM_ss;
    bool with_seconds = item->offset == OFFSET_HHMMss || item->offset == OFFSET_HH_MM_ss;
    bool with_minutes = item->offset != OFFSET_HHmm || minutes > 0;

    with_seconds = with_seconds && seconds > 0;
    if (hours + (with_minutes ? minutes : 0) + (with_seconds ? seconds : 0) == 0) {
        mr_buffer_append_text(out, mr_text_of(item->zero));
        return;
    }
    mr_buffer_append(out, offset_s < 0 ? "-" : "+", 1);
    put_digits(out, hours, 2);
    if (with_minutes) {
        mr_buffer_append(out, ":", colon);
        put_digits(out, minutes, 2);
    }
    if (with_seconds) {
        mr_buffer_append(out, ":", colon);
        put_digits(out, seconds, 2);
    }
}

static void print_gmt_offset(bool full, int64_t offset_s, struct mr_buffer *out)
{
    uint64_t s = (uint64_t)(offset_s < 0 ? -offset_s : offset_s);

    mr_buffer_append(out, "GMT", 3);
    if (s == 0)
        return;
    mr_buffer_append(out, offset_s < 0 ? "-" : "+", 1);
    put_digits(out, s / 3600, full ? 2 : 1);
    if (full || s % 3600 > 0) {
        mr_buffer_append(out, ":", 1);
        put_digits(out, s / 60 % 60, 2);
    }
    if (s % 60 > 0) {
        mr_buffer_append(out, ":", 1);
        put_digits(out, s % 60, 2);
    }
}

static void print_zone_name(const struct moment *m, struct mr_buffer *out)
{
    char name[32];

    mr_zone_abbreviation(m->zone, m->us, name, sizeof name);
    mr_buffer_append_text(out, mr_text_of(name));
}

static void print_item(const struct pattern_item *item, const struct moment *m,
                       struct mr_buffer *out)
{
    switch (item->kind) {
    case ITEM_LITERAL:
        mr_buffer_append_text(out, item->literal);
        break;
    case ITEM_NUMBER:
    case ITEM_TWO_DIGIT_YEAR:
        print_number(item, field_of(m, item->field), out);
        break;
    case ITEM_FRACTION:
        print_fraction(item, m->civil.us, out);
        break;
    case ITEM_SHORT_TEXT:
    case ITEM_FULL_TEXT:
        print_text(item, field_of(m, item->field), out);
        break;
    case ITEM_OFFSET:
        print_offset(item, m->offset_s, out);
        break;
    case ITEM_SHORT_GMT_OFFSET:
    case ITEM_FULL_GMT_OFFSET:
        print_gmt_offset(item->kind == ITEM_FULL_GMT_OFFSET, m->offset_s, out);
        break;
    case ITEM_ZONE_ID:
        mr_buffer_append_text(out, mr_text_of(mr_zone_name(m->zone)));
        break;
    case ITEM_ZONE_NAME:
        print_zone_name(m, out);
        break;
    case ITEM_OPTIONAL_BEGIN: /* all fields are there, so nothing is left out */
    case ITEM_OPTIONAL_END:
        break;
    }
}

void mr_pattern_print(const struct mr_pattern *p, int64_t us, const struct mr_zone *zone,
                      struct mr_buffer *out)
{
    int64_t local_us = mr_zone_to_local(zone, us);
    struct moment m = {.us = us,
                       .days = mr_floor_div(local_us, MR_US_PER_DAY),
                       .offset_s = (local_us - us) / MR_US_PER_SECOND,
                       .zone = zone};

    mr_civil_from_us(local_us, &m.civil);
    for (uint32_t i = 0; i < p->items_n; i++)
        print_item(&p->items[i], &m, out);
}
