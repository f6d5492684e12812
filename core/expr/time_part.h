/* time_part.h - the fields of a time. Inside core/expr. */
#pragma once
#include "core/base/time.h"
#include "core/expr/coerce.h"

enum mr_time_part {
    MR_PART_YEAR,
    MR_PART_QUARTER,
    MR_PART_MONTH,
    MR_PART_DAY,
    MR_PART_DAY_OF_YEAR,
    MR_PART_DAY_OF_WEEK,     /* Sunday is 1 */
    MR_PART_DAY_OF_WEEK_ISO, /* Monday is 1 */
    MR_PART_WEEKDAY,         /* Monday is 0 */
    MR_PART_WEEK,            /* ISO */
    MR_PART_YEAR_OF_WEEK,
    MR_PART_HOUR,
    MR_PART_MINUTE,
    MR_PART_SECOND,
    MR_PART_FRACTION, /* seconds with their fraction */
    MR_PARTS_N,
};

enum { MR_DAYS_PER_CYCLE = 146097, MR_YEARS_PER_CYCLE = 400 }; /* of the calendar: whole weeks */

/* Local microseconds of a DATE or timestamp. */
static inline int64_t mr_time_local_us(const struct mr_call *call, const struct mr_column *x,
                                       uint32_t row)
{
    if (x->type->kind == MR_DATE)
        return (int64_t)((uint64_t)x->i32[row] * (uint64_t)MR_US_PER_DAY);
    return x->type->kind == MR_TIMESTAMP ? mr_zone_to_local(call->context->zone, x->i64[row])
                                         : x->i64[row];
}

static inline int32_t mr_iso_weekday(int64_t days) /* Monday is 1 */
{
    return (int32_t)mr_floor_mod(days + 3, 7) + 1;
}

/* us: local time. Not for MR_PART_FRACTION. */
int32_t mr_time_part(enum mr_time_part part, int64_t us);
