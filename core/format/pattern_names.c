#include "core/base/check.h"
#include "core/format/pattern_item.h"

static const char *const months_short[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char *const months_full[] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
static const char *const weekdays_short[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
static const char *const weekdays_full[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                            "Friday", "Saturday", "Sunday"};
static const char *const quarters_short[] = {"Q1", "Q2", "Q3", "Q4"};
static const char *const quarters_full[] = {"1st quarter", "2nd quarter", "3rd quarter",
                                            "4th quarter"};
static const char *const eras_short[] = {"BC", "AD"};
static const char *const eras_full[] = {"Before Christ", "Anno Domini"};
static const char *const halves[] = {"AM", "PM"};

const char *const *mr_pattern_names(enum pattern_field field, bool full, uint32_t *n)
{
    switch (field) {
    case FIELD_MONTH:
        *n = 12;
        return full ? months_full : months_short;
    case FIELD_WEEKDAY:
        *n = 7;
        return full ? weekdays_full : weekdays_short;
    case FIELD_QUARTER:
        *n = 4;
        return full ? quarters_full : quarters_short;
    case FIELD_ERA:
        *n = 2;
        return full ? eras_full : eras_short;
    case FIELD_AMPM:
        *n = 2;
        return halves;
    default:
        MR_UNREACHABLE();
    }
}
