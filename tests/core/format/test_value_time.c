#include "core/base/time.h"
#include "core/format/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const int64_t now_us = 1767400000000000; /* 2026-01-03 00:26:40 */

static void dates(void **state)
{
    static const struct {
        const char *text;
        int32_t days; /* INT32_MIN: refused */
    } cases[] = {
        {"2026-01-02", 20455},     {"2026-1-2", 20455},        {"2026", 20454},
        {"2026-02", 20485},        {" 2026-01-02 ", 20455},    {"2026-01-02T10:11:12Z", 20455},
        {"2026-01-02 xyz", 20455}, {"-0001-01-01", -719893},   {"1582-10-10", -141432},
        {"9999-12-31", 2932896},   {"+10000-01-01", 2932897},  {"2024-02-29", 19782},
        {"2026-02-30", INT32_MIN}, {"2023-02-29", INT32_MIN},  {"26-01-02", INT32_MIN},
        {"2026/01/02", INT32_MIN}, {"20260102", INT32_MIN},    {"", INT32_MIN},
        {"-", INT32_MIN},          {"2026-", INT32_MIN},       {"2026 x", INT32_MIN},
        {"2026-01T", INT32_MIN},   {"2026-01-02x", INT32_MIN}, {"2026-001-02", INT32_MIN},
        {"2026-00-02", INT32_MIN}, {"2026-13-02", INT32_MIN},  {"x", INT32_MIN}};
    char text[MR_VALUE_TEXT];
    int32_t days;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool ok = mr_value_parse_date(mr_text_of(cases[i].text), &days);
        assert_int_equal(ok, cases[i].days != INT32_MIN);
        if (ok)
            assert_int_equal(days, cases[i].days);
    }
    text[mr_value_print_date(20455, text)] = '\0';
    assert_string_equal(text, "2026-01-02");
    text[mr_value_print_date(-719893, text)] = '\0';
    assert_string_equal(text, "-0001-01-01");
    text[mr_value_print_date(2932897, text)] = '\0';
    assert_string_equal(text, "+10000-01-01");
}

static void timestamps(void **state)
{
    static const struct {
        const char *text, *printed; /* printed NULL: refused */
    } cases[] = {
        {"2026-01-02", "2026-01-02 00:00:00"},
        {"2026-01-02 03:04:05", "2026-01-02 03:04:05"},
        {"2026-01-02T03:04:05Z", "2026-01-02 03:04:05"},
        {"2026-01-02T03:04:05+02:00", "2026-01-02 01:04:05"},
        {"2026-01-02 03:04:05 Europe/Paris", "2026-01-02 02:04:05"},
        {"2026-01-02 03:04:05.1", "2026-01-02 03:04:05.1"},
        {"2026-01-02 03:04:05.123456789", "2026-01-02 03:04:05.123456"},
        {"2026-01-02 03:04:05.", "2026-01-02 03:04:05"},
        {"2026-01-02 03:04:05.25Z ", "2026-01-02 03:04:05.25"},
        {"2026-01-02 03:04", "2026-01-02 03:04:00"},
        {"2026-01-02 3:4:5", "2026-01-02 03:04:05"},
        {"2026-01-02 03", "2026-01-02 03:00:00"},
        {"2026", "2026-01-01 00:00:00"},
        {"2026-01-02 24:00:00", NULL},
        {"2026-01-02 23:59:60", NULL},
        {"2026-01-02 23:60:00", NULL},
        {"2026-02-29 00:00:00", NULL},
        {"2024-02-29 00:00:00", "2024-02-29 00:00:00"},
        {"2026-01-02T03:04:05 UTC+1", "2026-01-02 02:04:05"},
        {"2026-01-02T03:04:05-0530", "2026-01-02 08:34:05"},
        {"2026-01-02T03:04:05PST", "2026-01-02 11:04:05"},
        {"2026-01-02T03:04:05.5+02:00", "2026-01-02 01:04:05.5"},
        {" 2026-01-02T03:04:05Z", "2026-01-02 03:04:05"},
        {"1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"},
        {"-0001-01-01 00:00:00", "-0001-01-01 00:00:00"},
        {"+12026-01-02 03:04:05", "+12026-01-02 03:04:05"},
        {"+294247-01-10T04:00:54.775807Z", "+294247-01-10 04:00:54.775807"},
        {"+294247-01-10T04:00:54.775808Z", NULL},
        {"12:30", "2026-01-03 12:30:00"},
        {"T12:30:15.5", "2026-01-03 12:30:15.5"},
        {"T1:2:3Z", "2026-01-03 01:02:03"},
        {" T1:2:3", NULL},
        {"+12:30", NULL},
        {"2026-01-02 03:04Z", NULL},
        {"2026-01-02 03:04:05 Mars/Base", NULL},
        {"2026-01-02 03:04:05.5.5", NULL},
        {"2026-01-02x03:04:05", NULL},
        {"2026-01-02T03:04:0:", NULL},
        {"2026-01-02T03-04:05", NULL},
        {"2026-01-0aT03:04:05", NULL},
        {"2026-01-02T03:04:\xb5\xb5", NULL},
        {"1234567-01-02", NULL},
        {"x", NULL},
        {"", NULL},
        {" ", NULL},
    };
    char text[MR_VALUE_TEXT];
    int64_t us;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool ok = mr_value_parse_timestamp(mr_text_of(cases[i].text), mr_zone_utc(), now_us, &us);
        if (ok != (cases[i].printed != NULL))
            fail_msg("%s", cases[i].text);
        if (!ok)
            continue;
        text[mr_value_print_timestamp(us, mr_zone_utc(), text)] = '\0';
        assert_string_equal(text, cases[i].printed);
    }
}

static void timestamps_in_a_zone(void **state)
{
    const struct mr_zone *z = mr_zone_find(MR_TEXT("America/New_York"));
    char text[MR_VALUE_TEXT];
    int64_t us;

    (void)state;
    assert_true(mr_value_parse_timestamp(MR_TEXT("2026-03-08 02:30:00"), z, now_us, &us));
    assert_int_equal(us, INT64_C(1772955000000000));
    text[mr_value_print_timestamp(us, z, text)] = '\0';
    assert_string_equal(text, "2026-03-08 03:30:00");
    assert_true(mr_value_parse_timestamp(MR_TEXT("2026-11-01 01:30:00"), z, now_us, &us));
    assert_int_equal(us, INT64_C(1793511000000000));
    assert_true(mr_value_parse_timestamp(MR_TEXT("12:00"), z, now_us, &us));
    text[mr_value_print_timestamp(us, z, text)] = '\0';
    assert_string_equal(text, "2026-01-02 12:00:00");
}

static void local_timestamps(void **state)
{
    int64_t us;

    (void)state;
    assert_true(mr_value_parse_timestamp_ntz(MR_TEXT("2026-01-02T03:04:05"), &us));
    assert_int_equal(us, INT64_C(1767323045000000));
    assert_true(mr_value_parse_timestamp_ntz(MR_TEXT("2026-01-02"), &us));
    assert_false(mr_value_parse_timestamp_ntz(MR_TEXT("2026-01-02T03:04:05Z"), &us));
    assert_false(mr_value_parse_timestamp_ntz(MR_TEXT("12:00"), &us));
    assert_true(mr_value_parse_timestamp_ntz_or_zoned(MR_TEXT("2026-01-02T03:04:05+02:00"), &us));
    assert_int_equal(us, INT64_C(1767323045000000));
    assert_false(mr_value_parse_timestamp_ntz_or_zoned(MR_TEXT("2026-01-02T03:04:05+99:00"), &us));
}

/* Every second form that prints also parses, over the whole range of years with four digits. */
static void timestamps_round_trip(void **state)
{
    char text[MR_VALUE_TEXT];
    int64_t us;

    (void)state;
    for (int64_t t = -62167219200000000; t < 253402300800000000; t += 7777777777777) {
        uint32_t n = mr_value_print_timestamp_ntz(t, text);
        assert_true(mr_value_parse_timestamp((struct mr_text){text, n}, mr_zone_utc(), 0, &us));
        assert_int_equal(us, t);
    }
}

static void intervals_from_text(void **state)
{
    static const struct {
        const char *text;
        int32_t months, days;
        int64_t us; /* INT64_MIN: refused */
    } cases[] = {
        {"10 minutes", 0, 0, 600000000},
        {"INTERVAL 1 HOUR 30 MINUTES", 0, 0, 5400000000},
        {"interval\t1 day 2 hours", 0, 1, 7200000000},
        {"1 year -2 months 3 weeks", 10, 21, 0},
        {"1.5 seconds", 0, 0, 1500000},
        {".5 second", 0, 0, 500000},
        {"-.5 second", 0, 0, -500000},
        {"- 1 day", 0, -1, 0},
        {"+1 milliseconds 2 microsecond", 0, 0, 1002},
        {"1.000000999 seconds", 0, 0, 1000000},
        {"  5   Days  ", 0, 5, 0},
        {"1.5 hours", 0, 0, INT64_MIN},
        {"1.0000000001 seconds", 0, 0, INT64_MIN},
        {"1 fortnight", 0, 0, INT64_MIN},
        {"1 dayss", 0, 0, INT64_MIN},
        {"1", 0, 0, INT64_MIN},
        {"1day", 0, 0, INT64_MIN},
        {"day", 0, 0, INT64_MIN},
        {"interval", 0, 0, INT64_MIN},
        {"interval1 day", 0, 0, INT64_MIN},
        {"-", 0, 0, INT64_MIN},
        {". second", 0, 0, INT64_MIN},
        {"", 0, 0, INT64_MIN},
        {"9223372036854775808 days", 0, 0, INT64_MIN},
        {"2147483648 days", 0, 0, INT64_MIN},
        {"9223372036854775807 hours", 0, 0, INT64_MIN},
    };
    struct mr_calendar_interval v;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool ok = mr_value_parse_interval(mr_text_of(cases[i].text), &v);
        if (ok != (cases[i].us != INT64_MIN))
            fail_msg("%s", cases[i].text);
        if (!ok)
            continue;
        assert_int_equal(v.months, cases[i].months);
        assert_int_equal(v.days, cases[i].days);
        assert_int_equal(v.us, cases[i].us);
    }
}

static void intervals_as_text(void **state)
{
    static const struct {
        int64_t us;
        uint8_t first, last;
        const char *text;
    } day_time[] = {
        {93784500000, 0, 3, "INTERVAL '1 02:03:04.5' DAY TO SECOND"},
        {-93784500000, 0, 3, "INTERVAL '-1 02:03:04.5' DAY TO SECOND"},
        {176400000000, 0, 1, "INTERVAL '2 01' DAY TO HOUR"},
        {0, 0, 3, "INTERVAL '0 00:00:00' DAY TO SECOND"},
        {86400000000, 0, 0, "INTERVAL '1' DAY"},
        {5400000000, 1, 2, "INTERVAL '01:30' HOUR TO MINUTE"},
        {90000000, 3, 3, "INTERVAL '90' SECOND"},
        {5000001, 3, 3, "INTERVAL '05.000001' SECOND"},
        {INT64_MIN, 0, 3, "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND"},
    };
    static const struct {
        int32_t months;
        uint8_t first, last;
        const char *text;
    } year_month[] = {
        {14, 0, 1, "INTERVAL '1-2' YEAR TO MONTH"},
        {-14, 0, 1, "INTERVAL '-1-2' YEAR TO MONTH"},
        {24, 0, 0, "INTERVAL '2' YEAR"},
        {-5, 1, 1, "INTERVAL '-5' MONTH"},
        {INT32_MIN, 0, 1, "INTERVAL '-178956970-8' YEAR TO MONTH"},
    };
    static const struct {
        struct mr_calendar_interval v;
        const char *text;
    } calendar[] = {
        {{14, 3, 14706500000}, "1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds"},
        {{0, 0, 0}, "0 seconds"},
        {{-14, 0, -1}, "-1 years -2 months -0.000001 seconds"},
        {{0, 0, 600000000}, "10 minutes"},
    };
    char text[MR_VALUE_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT(day_time); i++) {
        struct mr_type type = {.kind = MR_INTERVAL_DAY_TIME,
                               .precision = day_time[i].first,
                               .scale = day_time[i].last};
        text[mr_value_print_interval_day_time(day_time[i].us, &type, text)] = '\0';
        assert_string_equal(text, day_time[i].text);
    }
    for (size_t i = 0; i < COUNT(year_month); i++) {
        struct mr_type type = {.kind = MR_INTERVAL_YEAR_MONTH,
                               .precision = year_month[i].first,
                               .scale = year_month[i].last};
        text[mr_value_print_interval_year_month(year_month[i].months, &type, text)] = '\0';
        assert_string_equal(text, year_month[i].text);
    }
    for (size_t i = 0; i < COUNT(calendar); i++) {
        text[mr_value_print_calendar_interval(&calendar[i].v, text)] = '\0';
        assert_string_equal(text, calendar[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates),
        cmocka_unit_test(timestamps),
        cmocka_unit_test(timestamps_in_a_zone),
        cmocka_unit_test(local_timestamps),
        cmocka_unit_test(timestamps_round_trip),
        cmocka_unit_test(intervals_from_text),
        cmocka_unit_test(intervals_as_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
