/* calendar.h - moving dates and timestamps by months, days and time, as java.time does. */
#pragma once
#include "core/base/zone.h"
#include "core/batch/column.h"

/* The same day of the month, or its last one. */
int64_t mr_calendar_add_months(int64_t days, int64_t months);
/* Months and days in local time of zone (NULL: x is local), then the time. False: out of range. */
bool mr_calendar_move(int64_t us, const struct mr_zone *zone, const struct mr_calendar_interval *by,
                      int32_t sign, int64_t *out);
struct mr_calendar_interval mr_interval_at(const struct mr_column *c, uint32_t row);
