#include "core/base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

static void known_days(void **state)
{
    (void)state;
    assert_int_equal(mr_days_from_civil(1970, 1, 1), 0);
    assert_int_equal(mr_days_from_civil(1969, 12, 31), -1);
    assert_int_equal(mr_days_from_civil(2000, 2, 29), 11016);
    assert_int_equal(mr_days_from_civil(1, 1, 1), -719162);
    assert_int_equal(mr_days_from_civil(9999, 12, 31), 2932896);
    assert_int_equal(mr_days_from_civil(0, 3, 1), -719468);
}

/* Every day of 1600 years, walked by the calendar's own rules. */
static void days_and_back(void **state)
{
    int32_t year = -200;
    uint32_t month = 1, day = 1;

    (void)state;
    for (int64_t d = mr_days_from_civil(-200, 1, 1); year < 1400; d++) {
        int32_t y;
        uint32_t m, n;
        mr_civil_from_days(d, &y, &m, &n);
        assert_int_equal(y, year);
        assert_int_equal(m, month);
        assert_int_equal(n, day);
        assert_int_equal(mr_days_from_civil(y, m, n), d);
        if (++day > mr_days_of_month(year, month)) {
            day = 1;
            if (++month > 12) {
                month = 1;
                year++;
            }
        }
    }
}

static void same_as_the_c_library(void **state)
{
    (void)state;
    for (int64_t s = -9000000000; s < 9000000000; s += 7654321) {
        struct mr_civil c;
        struct tm tm;
        time_t t = s;
        mr_civil_from_us(s * MR_US_PER_SECOND + 7, &c);
        assert_non_null(gmtime_r(&t, &tm));
        assert_int_equal(c.year, tm.tm_year + 1900);
        assert_int_equal(c.month, tm.tm_mon + 1);
        assert_int_equal(c.day, tm.tm_mday);
        assert_int_equal(c.hour, tm.tm_hour);
        assert_int_equal(c.minute, tm.tm_min);
        assert_int_equal(c.second, tm.tm_sec);
        assert_int_equal(c.us, 7);
        assert_int_equal(mr_us_from_civil(&c), s * MR_US_PER_SECOND + 7);
    }
}

static void floors(void **state)
{
    struct mr_civil c;

    (void)state;
    mr_civil_from_us(INT64_MIN, &c);
    assert_int_equal(c.year, -290308);
    assert_int_equal(c.us, 224192);
    mr_civil_from_us(INT64_MAX, &c);
    assert_int_equal(c.year, 294247);
    assert_int_equal(c.us, 775807);
    assert_int_equal(mr_floor_mod(INT64_MIN, 10), 2);
    assert_int_equal(mr_floor_div(-1, 10), -1);
    assert_int_equal(mr_floor_div(-10, 10), -1);
    assert_int_equal(mr_floor_div(9, 10), 0);
    assert_int_equal(mr_floor_mod(-1, 10), 9);
    assert_int_equal(mr_floor_mod(-10, 10), 0);
    assert_true(mr_is_leap_year(2000));
    assert_false(mr_is_leap_year(1900));
    assert_int_equal(mr_days_of_month(2024, 2), 29);
    assert_int_equal(mr_days_of_month(2023, 2), 28);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_days),
        cmocka_unit_test(days_and_back),
        cmocka_unit_test(same_as_the_c_library),
        cmocka_unit_test(floors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
