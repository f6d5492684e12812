#include "kernels/calendar/calendar_body.h"

const struct mr_calendar_kernels mr_calendar_scalar = CALENDAR_TABLE("scalar");
