/* time.h - civil dates and units, proleptic Gregorian (Hinnant, "chrono-compatible low-level date
 * algorithms"). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MR_US_PER_SECOND INT64_C(1000000)
#define MR_US_PER_MINUTE (60 * MR_US_PER_SECOND)
#define MR_US_PER_HOUR (60 * MR_US_PER_MINUTE)
#define MR_US_PER_DAY (24 * MR_US_PER_HOUR)

struct mr_civil {
    int32_t year;
    uint32_t month, day; /* from 1 */
    uint32_t hour, minute, second, us;
};

int64_t mr_days_from_civil(int32_t year, uint32_t month, uint32_t day);
void mr_civil_from_days(int64_t days, int32_t *year, uint32_t *month, uint32_t *day);
/* local_us: microseconds of local time. */
void mr_civil_from_us(int64_t local_us, struct mr_civil *out);
/* The local time of an instant, of which mr_zone_to_local is local_us: that may have wrapped
 * around. */
void mr_civil_from_instant(int64_t us, int64_t local_us, struct mr_civil *out);
/* Days of that local time since 1970-01-01, and *rest: microseconds of the last one. */
int64_t mr_local_days(int64_t us, int64_t local_us, int64_t *rest);
int64_t mr_us_from_civil(const struct mr_civil *c);
bool mr_is_leap_year(int32_t year);
uint32_t mr_days_of_month(int32_t year, uint32_t month);
static inline int64_t mr_floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
static inline int64_t mr_floor_mod(int64_t a, int64_t b)
{
    int64_t rest = a % b;
    return rest + (rest != 0 && (rest < 0) != (b < 0) ? b : 0);
}
