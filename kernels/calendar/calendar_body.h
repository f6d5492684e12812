/* calendar_body.h - the loops, written so that the compiler makes vectors of them. Included by each
 * variant.
 *
 * Days     Neri and Schneider 2023: years start in March and days are counted from one long before
 *          all others, so that 32-bit divisions without signs do.
 * Times    A day is 2^13 * 10546875 us. There are no vectors of 64-bit divisions: the time in units
 *          of 2^13 us has 51 bits, which a double holds, and its quotient is at least 2^-24 below
 *          the next whole number, where quotients below 2^28 round by at most 2^-26.
 */
#pragma once
#include "kernels/calendar/calendar.h"

enum {
    DAYS_PER_ERA = 146097,
    ERAS_BEFORE = 1838, /* as many as make MR_CALENDAR_DAYS_MAX positive */
    YEARS_BEFORE = 400 * ERAS_BEFORE,
    DAYS_BEFORE = 719468 + DAYS_PER_ERA * ERAS_BEFORE,
    NEXT_YEAR = 306, /* days from March to January */
    UNITS_PER_DAY = 10546875,
    DAYS_OF_TIME = 106751992, /* on which INT64_MIN us lies, before 1970 */
};
_Static_assert(DAYS_BEFORE - (int)MR_CALENDAR_DAYS_MAX >= 0, "no day is negative");
_Static_assert(DAYS_BEFORE + (int)MR_CALENDAR_DAYS_MAX < 1 << 30, "four times a day fit 32 bits");

#define US_PER_DAY UINT64_C(86400000000)

#define DAYS_LOOP(name, value)                                                                     \
    static bool name(int32_t *out, const int32_t *days, uint32_t n)                                \
    {                                                                                              \
        uint32_t bad = 0;                                                                          \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            uint32_t x = (uint32_t)days[i];                                                        \
            bad |= x + MR_CALENDAR_DAYS_MAX;                                                       \
            uint32_t quarters = 4 * (x + DAYS_BEFORE) + 3;                                         \
            uint32_t century = quarters / DAYS_PER_ERA;                                            \
            uint64_t product = UINT64_C(2939745) * (quarters % DAYS_PER_ERA | 3);                  \
            uint32_t of_century = (uint32_t)(product >> 32);                                       \
            uint32_t of_year = (uint32_t)product / 2939745 / 4;                                    \
            uint32_t months = 2141 * of_year + 197913;                                             \
            uint32_t next_year = of_year >= NEXT_YEAR;                                             \
            (void)century, (void)of_century, (void)months, (void)next_year;                        \
            out[i] = (int32_t)(value);                                                             \
        }                                                                                          \
        return bad >= 2u * MR_CALENDAR_DAYS_MAX;                                                   \
    }

DAYS_LOOP(year, 100 * century + of_century + next_year - YEARS_BEFORE)
DAYS_LOOP(month, (months >> 16) - 12 * next_year)
DAYS_LOOP(day, (months & 0xffff) / 2141 + 1)

/* x < 2^52. */
static inline double double_of(uint64_t x)
{
    const union {
        uint64_t bits;
        double value;
    } u = {x | UINT64_C(0x4330000000000000)};

    return u.value - 0x1p52;
}

static inline int32_t days_of(int64_t us)
{
    /* As if counted from a day before INT64_MIN us: both shifts are of numbers without a sign. */
    uint64_t units = ((uint64_t)us ^ UINT64_C(1) << 63) >> 13;
    uint64_t before = (uint64_t)DAYS_OF_TIME * UNITS_PER_DAY - (UINT64_C(1) << 50);

    return (int32_t)(double_of(units + before) / UNITS_PER_DAY) - DAYS_OF_TIME;
}

static void days(int32_t *out, const int64_t *us, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = days_of(us[i]);
}

#define TIME_LOOP(name, us_per_unit, units)                                                        \
    static void name(int32_t *out, const int64_t *us, uint32_t n)                                  \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            uint64_t of_day = (uint64_t)us[i] - (uint64_t)days_of(us[i]) * US_PER_DAY;             \
            out[i] = (int32_t)(double_of(of_day) / (us_per_unit)) % (units);                       \
        }                                                                                          \
    }

TIME_LOOP(hour, 3600e6, 24)
TIME_LOOP(minute, 60e6, 60)
TIME_LOOP(second, 1e6, 60)

#define CALENDAR_TABLE(name)                                                                       \
    {                                                                                              \
        .isa = name, .year = year, .month = month, .day = day, .days = days, .hour = hour,         \
        .minute = minute, .second = second,                                                        \
    }
