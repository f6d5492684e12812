/* calendar.h - fields of dates and local times, whole columns: rows 0..n-1.
 *
 * Days     since 1970-01-01, proleptic Gregorian. year, month, day count in 32 bits and so do
 *          MR_CALENDAR_DAYS_MAX days to both sides; true: some row was beyond (garbage in null rows
 *          may say so too) and has nonsense, so the caller does those rows another way.
 * Times    any microseconds of local time.
 */
#pragma once
#include "kernels/kernels.h"
#include <stdbool.h>

enum { MR_CALENDAR_DAYS_MAX = 1 << 28 };

typedef bool mr_calendar_of_days(int32_t *out, const int32_t *days, uint32_t n);
typedef void mr_calendar_of_time(int32_t *out, const int64_t *us, uint32_t n);

struct mr_calendar_kernels {
    const char *isa;
    mr_calendar_of_days *year, *month, *day;
    mr_calendar_of_time *days, *hour, *minute, *second;
};
extern const struct mr_calendar_kernels mr_calendar_scalar, mr_calendar_avx2;
extern const struct mr_calendar_kernels *const mr_calendar_variants[]; /* best first, NULL */
extern const struct mr_calendar_kernels *mr_calendar;
