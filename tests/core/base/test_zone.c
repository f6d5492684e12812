#include "core/base/bounds.h"
#include "core/base/time.h"
#include "core/base/zone.h"
#include "core/base/zone_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static int64_t local(int32_t year, uint32_t month, uint32_t day, uint32_t hour, uint32_t minute)
{
    struct mr_civil c = {year, month, day, hour, minute, 0, 0};

    return mr_us_from_civil(&c);
}

static const struct mr_zone *zone(const char *name)
{
    const struct mr_zone *z = mr_zone_find(mr_text_of(name));

    assert_non_null(z);
    return z;
}

static void gap_and_overlap(void **state)
{
    const struct mr_zone *z = zone("America/New_York");

    (void)state;
    /* Gap 02:00-03:00 on 2026-03-08: moved forward by an hour. */
    assert_int_equal(mr_zone_to_utc(z, local(2026, 3, 8, 1, 59)), local(2026, 3, 8, 6, 59));
    assert_int_equal(mr_zone_to_utc(z, local(2026, 3, 8, 2, 30)), local(2026, 3, 8, 7, 30));
    assert_int_equal(mr_zone_to_utc(z, local(2026, 3, 8, 3, 0)), local(2026, 3, 8, 7, 0));
    /* Overlap 01:00-02:00 on 2026-11-01: the earlier offset. */
    assert_int_equal(mr_zone_to_utc(z, local(2026, 11, 1, 1, 30)), local(2026, 11, 1, 5, 30));
    assert_int_equal(mr_zone_to_utc(z, local(2026, 11, 1, 2, 0)), local(2026, 11, 1, 7, 0));
    assert_int_equal(mr_zone_to_local(z, local(2026, 11, 1, 6, 30)), local(2026, 11, 1, 1, 30));
    /* Before zones: local mean time -4:56:02. After the table: rules of the file's end. */
    assert_int_equal(mr_zone_to_local(z, local(1800, 1, 1, 5, 0)),
                     local(1800, 1, 1, 0, 3) + 58 * MR_US_PER_SECOND);
    assert_int_equal(mr_zone_to_local(z, local(2500, 7, 1, 12, 0)), local(2500, 7, 1, 8, 0));
    assert_int_equal(mr_zone_to_utc(z, local(2500, 1, 1, 12, 0)), local(2500, 1, 1, 17, 0));
}

/* Around every change of the clock the table says what cctz says. */
static void same_as_the_rules(void **state)
{
    static const char *const names[] = {
        "America/New_York",    "Europe/Dublin", "Africa/Casablanca", "Asia/Kolkata",
        "Australia/Lord_Howe", "Pacific/Apia",  "America/Sao_Paulo", "Africa/Monrovia"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct mr_zone *z = zone(names[i]);
        struct mr_zone_rules *rules = mr_zone_rules_load(names[i]);
        int64_t at = INT64_MIN, changes = 0;
        while (changes++ < 1000 && mr_zone_rules_next(rules, at, &at)) {
            for (int64_t s = at - 90000; s <= at + 90000; s += 899) {
                int64_t offset = mr_zone_rules_offset(rules, s);
                assert_int_equal(mr_zone_to_local(z, s * 1000000 + 5), (s + offset) * 1000000 + 5);
                assert_int_equal(mr_zone_to_utc(z, s * 1000000 + 5),
                                 mr_zone_rules_to_utc(rules, s) * 1000000 + 5);
            }
        }
        assert_true(changes > 1);
        mr_zone_rules_free(rules);
    }
}

static void offsets(void **state)
{
    static const struct {
        const char *text, *id;
        int32_t seconds;
    } good[] = {
        {"Z", "Z", 0},
        {"UTC", "UTC", 0},
        {"GMT", "GMT", 0},
        {"+02:00", "+02:00", 7200},
        {"UTC+2", "UTC+02:00", 7200},
        {"GMT-8", "GMT-08:00", -28800},
        {"UT+0130", "UT+01:30", 5400},
        {"+5", "+05:00", 18000},
        {"-7:30", "-07:30", -27000},
        {"+07:3", "+07:03", 25380},
        {"+01:02:03", "+01:02:03", 3723},
        {"+010203", "+01:02:03", 3723},
        {"-18:00", "-18:00", -64800},
        {"EST", "-05:00", -18000},
        {"-00:00", "Z", 0},
        {"UTC+00:00", "UTC", 0},
    };
    static const char *const bad[] = {"",         "+",    "+18:01", "+1:2:3", "+01:60",
                                      "+0102:03", "+123", "UTC2",   "utc",    "z",
                                      "+02:00 ",  "GMT+", "+1:0203"};
    int32_t seconds;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(mr_zone_parse_offset(mr_text_of(good[i].text), &seconds));
        assert_int_equal(seconds, good[i].seconds);
        const struct mr_zone *z = zone(good[i].text);
        assert_string_equal(mr_zone_name(z), good[i].id);
        assert_int_equal(mr_zone_to_local(z, 5), 5 + seconds * MR_US_PER_SECOND);
        assert_int_equal(mr_zone_to_utc(z, 5), 5 - seconds * MR_US_PER_SECOND);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mr_zone_parse_offset(mr_text_of(bad[i]), &seconds));
}

static void names(void **state)
{
    static const char *const bad[] = {"Mars/Base",     "europe/paris",
                                      "../etc/passwd", "Factory",
                                      "localtime",     "posix/UTC",
                                      "Fixed/UTC+01",  "",
                                      "Europe",        "A"};
    char text[16];
    struct mr_error err = {0};
    const struct mr_zone *z;

    (void)state;
    assert_string_equal(mr_zone_name(zone("PST")), "America/Los_Angeles");
    assert_ptr_equal(zone("Europe/Paris"), zone("Europe/Paris"));
    assert_ptr_equal(zone("UTC"), mr_zone_utc());
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(mr_zone_find(mr_text_of(bad[i])));
    assert_int_equal(mr_zone_open(MR_TEXT("Mars/Base"), &z, &err), MR_USER);
    assert_non_null(strstr(err.message, "Mars/Base"));
    mr_zone_abbreviation(zone("Europe/Berlin"), 0, text, sizeof text);
    assert_string_equal(text, "CET");
    mr_zone_abbreviation(zone("America/New_York"), local(2026, 7, 1, 0, 0), text, sizeof text);
    assert_string_equal(text, "EDT");
    mr_zone_abbreviation(zone("+02:00"), 0, text, sizeof text);
    assert_string_equal(text, "+02:00");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gap_and_overlap),
        cmocka_unit_test(same_as_the_rules),
        cmocka_unit_test(offsets),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
