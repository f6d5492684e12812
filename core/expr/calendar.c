#include "core/expr/calendar.h"

#include "core/base/time.h"

int64_t mr_calendar_add_months(int64_t days, int64_t months)
{
    int32_t year;
    uint32_t month, day, last;
    int64_t total;

    if (months == 0)
        return days;
    mr_civil_from_days(days, &year, &month, &day);
    total = (int64_t)year * 12 + month - 1 + months;
    year = (int32_t)mr_floor_div(total, 12);
    month = (uint32_t)mr_floor_mod(total, 12) + 1;
    last = mr_days_of_month(year, month);
    return mr_days_from_civil(year, month, day < last ? day : last);
}

bool mr_calendar_move(int64_t us, const struct mr_zone *zone, const struct mr_calendar_interval *by,
                      int32_t sign, int64_t *out)
{
    int64_t time = sign * by->us;

    if (by->months != 0 || by->days != 0) {
        int64_t local = zone ? mr_zone_to_local(zone, us) : us;
        int64_t days = mr_floor_div(local, MR_US_PER_DAY),
                of_day = mr_floor_mod(local, MR_US_PER_DAY);
        days = mr_calendar_add_months(days, sign * (int64_t)by->months) + sign * (int64_t)by->days;
        if (__builtin_mul_overflow(days, MR_US_PER_DAY, &local) ||
            __builtin_add_overflow(local, of_day, &local))
            return false;
        us = zone ? mr_zone_to_utc(zone, local) : local;
    }
    return !__builtin_add_overflow(us, time, out);
}
