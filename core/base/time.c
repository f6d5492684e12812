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
    uint32_t day_of_era = (uint32_t)(z - era * DAYS_PER_ERA);
    uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t month_from_march = (5 * day_of_year + 2) / 153;

    *day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    *month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    *year = (int32_t)(era * YEARS_PER_ERA + year_of_era + (*month <= 2));
}

void mr_civil_from_us(int64_t local_us, struct mr_civil *out)
{
    int64_t days = mr_floor_div(local_us, MR_US_PER_DAY);
    uint64_t rest = (uint64_t)mr_floor_mod(local_us, MR_US_PER_DAY);

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
