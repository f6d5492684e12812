/* time_part.h - the fields of a time. Inside core/expr. */
#pragma once
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

/* us: local time. Not for MR_PART_FRACTION. */
int32_t mr_time_part(enum mr_time_part part, int64_t us);
