#include "core/format/pattern.h"
#include "core/format/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct mr_arena arena;
static jmp_buf escape;

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mr_arena_fini(&arena);
    return 0;
}

static int64_t instant(const char *text)
{
    int64_t us;

    assert_true(mr_value_parse_timestamp(mr_text_of(text), mr_zone_utc(), 0, &us));
    return us;
}

static const struct mr_pattern *compiled(const char *pattern, bool parsing)
{
    const struct mr_pattern *p;
    struct mr_error err = {0};

    if (mr_pattern_compile(mr_text_of(pattern), parsing, &arena, &p, &err) != MR_OK)
        fail_msg("%s: %s", pattern, err.message);
    return p;
}

static void printing(void **state)
{
    static const struct {
        const char *when, *zone, *pattern, *text;
    } cases[] = {
        {"2026-01-05T03:04:05.678901Z", "UTC", "yyyy-MM-dd HH:mm:ss.SSSSSS",
         "2026-01-05 03:04:05.678901"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "yy/M/d H:m:s.S", "26/1/5 3:4:5.6"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "MMM MMMM LLL", "Jan January Jan"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "E EEEE", "Mon Monday"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "hh:mm a K k", "03:04 AM 3 3"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "D DDD Q QQQ", "5 005 1 Q1"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "'at' yyyy''", "at 2026'"},
        {"2026-01-05T03:04:05.678901Z", "UTC", "XXX Z VV z", "Z +0000 UTC UTC"},
        {"1999-12-31T23:59:59Z", "UTC", "yy/M/d H:m:s.S E EEEE", "99/12/31 23:59:59.0 Fri Friday"},
        {"1999-12-31T23:59:59Z", "UTC", "hh:mm a K k D Q QQQ F", "11:59 PM 11 23 365 4 Q4 3"},
        {"0099-06-15T12:00:00Z", "UTC", "yyyy yy y G GGGG K k hh a F",
         "0099 99 99 AD Anno Domini 0 12 12 PM 1"},
        {"-0001-06-15T12:00:00Z", "UTC", "y G", "2 BC"},
        {"-0001-06-15T12:00:00Z", "UTC", "y yyyy", "-1 -0001"},
        {"+12026-06-15T00:00:00Z", "UTC", "yyyy y k", "+12026 12026 24"},
        {"2026-07-01T00:30:00Z", "America/New_York", "yyyy-MM-dd'T'HH:mm:ssXXX z Z X x xxx O OOOO",
         "2026-06-30T20:30:00-04:00 EDT -0400 -04 -04 -04:00 GMT-4 GMT-04:00"},
        {"2026-07-01T00:30:00Z", "+05:30", "X XX XXX XXXX XXXXX ZZZZ ZZZZZ O",
         "+0530 +0530 +05:30 +0530 +05:30 GMT+05:30 +05:30 GMT+5:30"},
        {"2026-07-01T00:30:00Z", "UTC", "x xx xxx X O OOOO ZZZZZ", "+00 +0000 +00:00 Z GMT GMT Z"},
        {"2026-07-01T00:30:00Z", "UTC", "yyyy[ MM[ dd]]QQQQ", "2026 07 013rd quarter"},
        {"2026-07-01T00:30:00.5Z", "UTC", "S SS SSSSSSSSS", "5 50 500000000"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mr_buffer out;
        mr_buffer_init(&out, &arena);
        mr_pattern_print(compiled(cases[i].pattern, false), instant(cases[i].when),
                         mr_zone_find(mr_text_of(cases[i].zone)), &out);
        mr_buffer_append(&out, "", 1);
        assert_string_equal((const char *)out.data, cases[i].text);
    }
}

struct parse_case {
    const char *pattern, *text, *when; /* when NULL: refused */
};

static void assert_parsed(const struct parse_case *cases, size_t n)
{
    int64_t us;

    for (size_t i = 0; i < n; i++) {
        bool ok = mr_pattern_parse(compiled(cases[i].pattern, true), mr_text_of(cases[i].text),
                                   mr_zone_utc(), &us);
        if (ok != (cases[i].when != NULL))
            fail_msg("%s with %s", cases[i].text, cases[i].pattern);
        if (ok)
            assert_int_equal(us, instant(cases[i].when));
    }
}

static void parsing_dates(void **state)
{
    static const struct parse_case cases[] = {
        {"yyyy-MM-dd", "2026-01-02", "2026-01-02"},
        {"yyyy-MM-dd", "01.02.2026", NULL},
        {"yyyy-MM-dd", "2026-1-2", NULL},
        {"yyyy-M-d", "2026-01-2", "2026-01-02"},
        {"yyyy-MM-dd", "2026-02-30", NULL},
        {"yyyy-MM-dd", "2026-01-02 ", NULL},
        {"yyyy-MM-dd", "12026-01-02", NULL},
        {"yyyy-MM-dd", "+12026-01-02", "+12026-01-02"},
        {"yyyy-MM-dd", "-0001-01-02", "-0001-01-02"},
        {"dd/MM/yyyy HH:mm", "02/01/2026 03:04", "2026-01-02 03:04:00"},
        {"dd/MM/yyyy HH:mm", "2/1/2026 3:04", NULL},
        {"dd/MM/yyyy HH:mm", "02/01/2026 24:04", NULL},
        {"yyyyMMdd", "20260102", "2026-01-02"},
        {"yyyyMMddHHmmss", "20260102030405", "2026-01-02 03:04:05"},
        {"yyMMdd", "260102", "2026-01-02"},
        {"yyMMdd", "990102", "2099-01-02"},
        {"yyyyMMdd", "2026010", NULL},
        /* A fraction of variable width does not take part in the sharing of digits. */
        {"yyyyMMddHHmmssSSS", "20260102030405123", NULL},
        {"HHmm", "0304", "1970-01-01 03:04:00"},
    };

    (void)state;
    assert_parsed(cases, COUNT(cases));
}

static void parsing_times(void **state)
{
    static const struct parse_case cases[] = {
        {"yyyy-MM-dd HH:mm:ss.SSS", "2026-01-02 03:04:05.1", "2026-01-02 03:04:05.1"},
        {"yyyy-MM-dd HH:mm:ss.SSS", "2026-01-02 03:04:05.1234", NULL},
        {"yyyy-MM-dd HH:mm:ss.SSS", "2026-01-02 03:04:05.", NULL},
        {"yyyy-MM-dd HH:mm:ss.SSSSSSSSS", "2026-01-02 03:04:05.123456789",
         "2026-01-02 03:04:05.123456"},
        {"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2026-01-02T03:04:05", "2026-01-02 03:04:05"},
        {"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2026-01-02T03:04:05.5Z", "2026-01-02 03:04:05.5"},
        {"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2026-01-02T03:04:05+02:00", "2026-01-02 01:04:05"},
        {"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2026-01-02T03:04:05+0200", NULL},
        {"yyyy-MM-dd[ HH[:mm]]", "2026-01-02 03", "2026-01-02 03:00:00"},
        {"dd MMM yyyy", "02 jan 2026", "2026-01-02"},
        {"dd MMMM yyyy", "02 January 2026", "2026-01-02"},
        {"dd MMM yyyy", "02 January 2026", NULL},
        {"yyyy-MM-dd hh:mm a", "2026-01-02 12:30 AM", "2026-01-02 00:30:00"},
        {"yyyy-MM-dd hh:mm a", "2026-01-02 12:30 pm", "2026-01-02 12:30:00"},
        {"yyyy-MM-dd hh:mm a", "2026-01-02 13:30 PM", NULL},
        {"yyyy-MM-dd hh:mm", "2026-01-02 12:30", "2026-01-02 00:30:00"},
        {"yyyy-MM-dd a", "2026-01-02 PM", "2026-01-02 12:00:00"},
        {"yyyy-MM-dd kk", "2026-01-02 24", "2026-01-02 00:00:00"},
        {"HH:mm a", "13:00 AM", NULL},
        {"yyyy D", "2026 32", "2026-02-01"},
        {"yyyy-DDD", "2024-366", "2024-12-31"},
        {"yyyy-DDD", "2026-366", NULL},
        {"yyyy-MM-DDD", "2026-02-032", "2026-02-01"},
        {"yyyy-MM-DDD", "2026-03-032", NULL},
        {"yyyy yyyy", "2026 2025", NULL},
        {"G y", "BC 2", "-0001-01-01"},
        {"G yyyy-MM-dd", "ad 2026-01-02", "2026-01-02"},
        {"yyyy-MM-dd HH:mm:ss z", "2026-01-02 03:04:05 PST", "2026-01-02 11:04:05"},
        {"yyyy-MM-dd HH:mm:ss VV", "2026-01-02 03:04:05 Europe/Paris", "2026-01-02 02:04:05"},
        {"yyyy-MM-dd HH:mm:ss VV", "2026-01-02 03:04:05 Mars/Base", NULL},
        {"yyyy-MM-dd HH:mm:ss Z", "2026-01-02 03:04:05 +0100", "2026-01-02 02:04:05"},
        {"yyyy-MM-dd HH:mm:ss Z", "2026-01-02 03:04:05 Z", NULL},
        {"yyyy-MM-dd HH:mm:ss X", "2026-01-02 03:04:05 -0130", "2026-01-02 04:34:05"},
        {"yyyy-MM-dd HH:mm:ss X", "2026-01-02 03:04:05 -01", "2026-01-02 04:04:05"},
        {"yyyy-MM-dd HH:mm:ss O", "2026-01-02 03:04:05 GMT+8", "2026-01-01 19:04:05"},
        {"'day' yyyy-MM-dd", "DAY 2026-01-02", "2026-01-02"},
        {"yyyy''MM", "2026'02", "2026-02-01"},
        {"dd.MM", "03.02", "1970-02-03"},
        {"yyyy", "", NULL},
    };
    int64_t us;

    (void)state;
    assert_parsed(cases, COUNT(cases));
    assert_true(mr_pattern_parse(compiled("yyyy-MM-dd HH:mm", true), MR_TEXT("2026-07-01 12:00"),
                                 mr_zone_find(MR_TEXT("Europe/Paris")), &us));
    assert_int_equal(us, instant("2026-07-01 10:00:00"));
}

static void refused(void **state)
{
    static const char *const upgrade =
        "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION";
    static const char *const illegal = "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER";
    struct {
        const char *pattern;
        bool parsing;
        const char *condition;
    } cases[] = {
        {"YYYY-MM-dd", false, upgrade},
        {"w", false, upgrade},
        {"e", false, "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN"},
        {"B", false, illegal},
        {"n", false, illegal},
        {"E", true, upgrade},
        {"q", true, illegal},
        {"MMMMM", false, upgrade},
        {"QQQQQ", false, "INVALID_DATETIME_PATTERN.LENGTH"},
        {"yyyyyyy", false, upgrade},
        {"aa", false, upgrade},
        {"HHH", false, upgrade},
        {"T", false, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"},
        {"VVV", false, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"},
        {"XXXXXX", false, upgrade},
        {"OO", false, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"},
        {"'open", false, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION"},
        {"]", false, upgrade},
        {"{", false, upgrade},
        {"SSSSSSSSSS", false, upgrade},
        {"zzzz", false, ""},
    };
    const struct mr_pattern *p;

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mr_error err = {0};
        if (mr_pattern_compile(mr_text_of(cases[i].pattern), cases[i].parsing, &arena, &p, &err) ==
            MR_OK)
            fail_msg("%s", cases[i].pattern);
        assert_string_equal(err.condition, cases[i].condition);
    }
}

/* What a whole pattern prints it reads again. */
static void round_trip(void **state)
{
    static const char *const patterns[] = {
        "yyyy-MM-dd HH:mm:ss.SSSSSS", "yyyyMMdd HHmmss.SSSSSS", "d MMM yyyy h:m:s a SSSSSS XXX",
        "yyyy DDD kk:mm:ss.SSSSSS VV", "G y MMMM d K:mm:ss a.SSSSSS"};
    const struct mr_zone *z = mr_zone_find(MR_TEXT("Asia/Kolkata"));

    (void)state;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        const struct mr_pattern *in = compiled(patterns[i], true),
                                *out = compiled(patterns[i], false);
        for (int64_t us = -599616000000000; us < 253402300800000000; us += 77777777777777777 / 9) {
            struct mr_buffer b;
            int64_t back;
            mr_buffer_init(&b, &arena);
            mr_pattern_print(out, us, z, &b);
            if (!mr_pattern_parse(in, mr_buffer_text(&b), z, &back))
                fail_msg("%s: %.*s", patterns[i], (int)b.n, b.data);
            assert_int_equal(back, us);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(printing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parsing_dates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parsing_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(round_trip, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
