#include "core/format/temporal.h"

#include "core/base/time.h"
#include "core/format/value.h"

enum mr_status mr_temporal_init(struct mr_temporal *t, const struct mr_option *options, uint32_t n,
                                const struct mr_zone *zone, bool parsing, struct mr_arena *a,
                                struct mr_error *err)
{
    enum mr_status status;

    *t = (struct mr_temporal){.zone = mr_option_zone(options, n, zone ? zone : mr_zone_utc())};
    status = mr_option_pattern(options, n, "timestampFormat", parsing, a, &t->timestamp, err);
    if (status == MR_OK)
        status =
            mr_option_pattern(options, n, "timestampNTZFormat", parsing, a, &t->timestamp_ntz, err);
    if (status == MR_OK)
        status = mr_option_pattern(options, n, "dateFormat", parsing, a, &t->date, err);
    t->timestamp_fallback =
        mr_option_boolean(options, n, "enableDateTimeParsingFallback", t->timestamp == NULL);
    t->date_fallback =
        mr_option_boolean(options, n, "enableDateTimeParsingFallback", t->date == NULL);
    return status;
}

/* Spark 1.x wrote "2000-01-01T00:00GMT+01:00": the first GMT is dropped. */
static struct mr_text without_gmt(struct mr_text t, struct mr_arena *scratch)
{
    const char *hit = t.n ? memmem(t.data, t.n, "GMT", 3) : NULL;

    if (hit == NULL)
        return t;
    uint64_t at = (uint64_t)(hit - t.data);
    char *copy = mr_arena_copy(scratch, t.data, t.n);
    memmove(copy + at, copy + at + 3, t.n - at - 3);
    return (struct mr_text){copy, t.n - 3};
}

bool mr_temporal_parse_timestamp(const struct mr_temporal *t, struct mr_text text,
                                 struct mr_arena *scratch, int64_t *us)
{
    if (t->timestamp ? mr_pattern_parse(t->timestamp, text, t->zone, us)
                     : mr_value_parse_timestamp(text, t->zone, t->now_us, us))
        return true;
    return t->timestamp_fallback &&
           mr_value_parse_timestamp(without_gmt(text, scratch), t->zone, t->now_us, us);
}

bool mr_temporal_parse_timestamp_ntz(const struct mr_temporal *t, struct mr_text text, int64_t *us)
{
    return t->timestamp_ntz ? mr_pattern_parse(t->timestamp_ntz, text, mr_zone_utc(), us)
                            : mr_value_parse_timestamp_ntz(text, us);
}

bool mr_temporal_parse_date(const struct mr_temporal *t, struct mr_text text,
                            struct mr_arena *scratch, int64_t *days)
{
    int64_t us;
    int32_t value;

    if (t->date && mr_pattern_parse(t->date, text, mr_zone_utc(), &us)) {
        *days = mr_floor_div(us, MR_US_PER_DAY);
        return true;
    }
    if ((t->date == NULL && mr_value_parse_date(text, &value)) ||
        (t->date_fallback && mr_value_parse_date(without_gmt(text, scratch), &value))) {
        *days = value;
        return true;
    }
    return false;
}

int64_t mr_temporal_rebase_days(int64_t days)
{
    const int64_t cutover = -141427; /* 1582-10-15 */

    if (days >= cutover)
        return days;
    int64_t z = days + 719470; /* Julian 0000-03-01 is day 0 */
    int64_t era = mr_floor_div(z, 1461);
    int64_t day_of_era = z - era * 1461;
    int64_t year_of_era = day_of_era / 365 > 3 ? 3 : day_of_era / 365;
    int64_t day_of_year = day_of_era - 365 * year_of_era;
    int64_t month = (5 * day_of_year + 2) / 153;
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    int64_t year = era * 4 + year_of_era + (month >= 10);
    return mr_days_from_civil((int32_t)year, (uint32_t)(month < 10 ? month + 3 : month - 9),
                              (uint32_t)day);
}

/* Years above 9999 have a sign, as in Java. */
static void print_local(int64_t us, int64_t local_us, enum mr_temporal_style style,
                        struct mr_buffer *out)
{
    bool microseconds = style == MR_TEMPORAL_MICROSECONDS;
    struct mr_civil c;

    mr_civil_from_instant(us, local_us, &c);
    mr_buffer_append_format(out,
                            c.year > 9999 ? "+%d"
                            : c.year < 0  ? "-%04d"
                                          : "%04d",
                            c.year < 0 ? -c.year : c.year);
    mr_buffer_append_format(out, "-%02u-%02uT%02u:%02u:%02u.%0*u", c.month, c.day, c.hour, c.minute,
                            c.second, microseconds ? 6 : 3, microseconds ? c.us : c.us / 1000);
}

void mr_temporal_print_timestamp(const struct mr_temporal *t, int64_t us,
                                 enum mr_temporal_style style, struct mr_buffer *out)
{
    if (t->timestamp) {
        mr_pattern_print(t->timestamp, us, t->zone, out);
        return;
    }
    int64_t local = mr_zone_to_local(t->zone, us);
    int64_t offset = (int64_t)((uint64_t)local - (uint64_t)us) / MR_US_PER_SECOND;
    int64_t size = offset < 0 ? -offset : offset;
    print_local(us, local, style, out);
    if (offset == 0)
        mr_buffer_append(out, "Z", 1);
    else
        mr_buffer_append_format(out, "%c%02d:%02d", offset < 0 ? '-' : '+', (int)(size / 3600),
                                (int)(size / 60 % 60));
    if (size % 60) /* local mean time */
        mr_buffer_append_format(out, ":%02d", (int)(size % 60));
}

void mr_temporal_print_timestamp_ntz(const struct mr_temporal *t, int64_t us, struct mr_buffer *out)
{
    if (t->timestamp_ntz)
        mr_pattern_print(t->timestamp_ntz, us, mr_zone_utc(), out);
    else
        print_local(us, us, MR_TEMPORAL_MILLISECONDS, out);
}

void mr_temporal_print_date(const struct mr_temporal *t, int32_t days, struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];

    if (t->date)
        mr_pattern_print(t->date, days * MR_US_PER_DAY, mr_zone_utc(), out);
    else
        mr_buffer_append(out, text, mr_value_print_date(days, text));
}
