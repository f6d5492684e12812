#include "kernels/calendar/calendar_body.h"

const struct mr_calendar_kernels mr_calendar_avx2 = CALENDAR_TABLE("avx2");
