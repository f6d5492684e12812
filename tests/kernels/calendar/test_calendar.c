#include "core/base/time.h"
#include "kernels/calendar/calendar.h"
#include "tests/kernels/guard.h"

static int32_t days_at(uint32_t i, uint64_t *seed)
{
    static const int32_t edges[] = {0,
                                    -1,
                                    59,
                                    60,
                                    11016,
                                    -719468,
                                    -719469,
                                    146096,
                                    146097,
                                    -146097,
                                    106751991,
                                    -106751992,
                                    MR_CALENDAR_DAYS_MAX - 1,
                                    -MR_CALENDAR_DAYS_MAX};

    return i < sizeof edges / sizeof edges[0] ? edges[i]
                                              : (int32_t)(guard_random(seed) >> 8) % (1 << 28);
}

static void test_days(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_calendar_kernels, mr_calendar_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        int32_t *days = guard_alloc(&g, n * 4);
        int32_t years[GUARD_ROWS + 1], months[GUARD_ROWS + 1], of_month[GUARD_ROWS + 1];
        uint64_t seed = n;
        for (uint32_t i = 0; i < n; i++)
            days[i] = days_at(i, &seed);
        assert_false((*v)->year(years, days, n));
        assert_false((*v)->month(months, days, n));
        assert_false((*v)->day(of_month, days, n));
        for (uint32_t i = 0; i < n; i++) {
            int32_t year;
            uint32_t month, day;
            mr_civil_from_days(days[i], &year, &month, &day);
            assert_int_equal(years[i], year);
            assert_int_equal(months[i], month);
            assert_int_equal(of_month[i], day);
        }
        if (n > 0) { /* one too far away */
            days[n / 2] = n % 2 ? MR_CALENDAR_DAYS_MAX : -MR_CALENDAR_DAYS_MAX - 1;
            assert_true((*v)->year(years, days, n));
            days[n / 2] = n % 2 ? INT32_MAX : INT32_MIN;
            assert_true((*v)->month(years, days, n));
        }
        guard_close(&g);
    }
}

/* Around the ends of days, and anywhere. */
static int64_t time_at(uint32_t i, uint64_t *seed)
{
    static const int64_t edges[] = {0, -1, 1, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1};
    const int64_t day = (int64_t)(guard_random(seed) >> 20) % 106751991;
    const int64_t midnight = (i % 2 ? day : -day) * MR_US_PER_DAY;

    if (i < sizeof edges / sizeof edges[0])
        return edges[i];
    return i % 3 == 0 ? midnight - 1 : i % 3 == 1 ? midnight : (int64_t)(guard_random(seed) << 3);
}

static void test_times(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_calendar_kernels, mr_calendar_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        int32_t days[GUARD_ROWS + 1], hours[GUARD_ROWS + 1], minutes[GUARD_ROWS + 1],
            seconds[GUARD_ROWS + 1];
        uint64_t seed = n;
        for (uint32_t i = 0; i < n; i++)
            g.i64[i] = time_at(i, &seed);
        (*v)->days(days, g.i64, n);
        (*v)->hour(hours, g.i64, n);
        (*v)->minute(minutes, g.i64, n);
        (*v)->second(seconds, g.i64, n);
        for (uint32_t i = 0; i < n; i++) {
            int64_t of_day = mr_floor_mod(g.i64[i], MR_US_PER_DAY);
            assert_int_equal(days[i], mr_floor_div(g.i64[i], MR_US_PER_DAY));
            assert_int_equal(hours[i], of_day / MR_US_PER_HOUR);
            assert_int_equal(minutes[i], of_day / MR_US_PER_MINUTE % 60);
            assert_int_equal(seconds[i], of_day / MR_US_PER_SECOND % 60);
        }
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_days), cmocka_unit_test(test_times)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
