#include "core/base/time.h"

/* Years start in March, so that the leap day is the last; an era is 400 years. */
enum { DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468, YEARS_PER_ERA = 400 };

int64_t mr_days_from_civil(int32_t year, uint32_t month, uint32_t day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = mr_floor_div(y, YEARS_PER_ERA);
    int64_t year_of_era = y - era * YEARS_PER_ERA;
    int64_t day_of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

void mr_civil_from_days(int64_t days, int32_t *year, uint32_t *month, uint32_t *day)
{
    int64_t z = days + DAYS_TO_1970;
    int64_t era = mr_floor_div(z, DAYS_PER_ERA);
    /* Neri and Schneider 2023: years from March on, their days by multiplications. */
    uint32_t quarters = 4 * (uint32_t)(z - era * DAYS_PER_ERA) + 3;
    uint32_t century = quarters / DAYS_PER_ERA;
    uint64_t product = UINT64_C(2939745) * (quarters % DAYS_PER_ERA | 3);
    uint32_t day_of_year = (uint32_t)product / 2939745 / 4;
    uint32_t months = 2141 * day_of_year + 197913;
    bool next_year = day_of_year >= 306; /* January and February */

    *day = (months & 0xffff) / 2141 + 1;
    *month = (months >> 16) - (next_year ? 12 : 0);
    *year = (int32_t)(era * YEARS_PER_ERA + 100 * century + (uint32_t)(product >> 32) + next_year);
}

int64_t mr_local_days(int64_t us, int64_t local_us, int64_t *rest)
{
    int64_t offset = (int64_t)((uint64_t)local_us - (uint64_t)us);
    int64_t of_day = mr_floor_mod(us, MR_US_PER_DAY) + offset;

    *rest = mr_floor_mod(of_day, MR_US_PER_DAY);
    return mr_floor_div(us, MR_US_PER_DAY) + mr_floor_div(of_day, MR_US_PER_DAY);
}

void mr_civil_from_us(int64_t local_us, struct mr_civil *out)
{
    mr_civil_from_instant(local_us, local_us, out);
}

void mr_civil_from_instant(int64_t us, int64_t local_us, struct mr_civil *out)
{
    int64_t of_day, days = mr_local_days(us, local_us, &of_day);
    uint64_t rest = (uint64_t)of_day;

    mr_civil_from_days(days, &out->year, &out->month, &out->day);
    out->us = (uint32_t)(rest % 1000000);
    rest /= 1000000;
    out->second = (uint32_t)(rest % 60);
    rest /= 60;
    out->minute = (uint32_t)(rest % 60);
    out->hour = (uint32_t)(rest / 60);
}

int64_t mr_us_from_civil(const struct mr_civil *c)
{
    return mr_days_from_civil(c->year, c->month, c->day) * MR_US_PER_DAY +
           c->hour * MR_US_PER_HOUR + c->minute * MR_US_PER_MINUTE + c->second * MR_US_PER_SECOND +
           c->us;
}

bool mr_is_leap_year(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

uint32_t mr_days_of_month(int32_t year, uint32_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && mr_is_leap_year(year) ? 29 : days[month - 1];
}
