#include "core/format/value.h"

#include "core/base/check.h"

uint32_t mr_value_print(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                        char *out)
{
    switch (c->type->kind) {
    case MR_TINYINT:
        return mr_value_print_integer(c->i8[row], out);
    case MR_SMALLINT:
        return mr_value_print_integer(c->i16[row], out);
    case MR_INT:
        return mr_value_print_integer(c->i32[row], out);
    case MR_BIGINT:
        return mr_value_print_integer(c->i64[row], out);
    case MR_FLOAT:
        return mr_value_print_float(c->f32[row], out);
    case MR_DOUBLE:
        return mr_value_print_double(c->f64[row], out);
    case MR_DECIMAL:
        return mr_value_print_decimal(c->i128[row], c->type->scale, out);
    case MR_DATE:
        return mr_value_print_date(c->i32[row], out);
    case MR_TIMESTAMP:
        return mr_value_print_timestamp(c->i64[row], zone, out);
    case MR_TIMESTAMP_NTZ:
        return mr_value_print_timestamp_ntz(c->i64[row], out);
    case MR_INTERVAL_YEAR_MONTH:
        return mr_value_print_interval_year_month(c->i32[row], c->type, out);
    case MR_INTERVAL_DAY_TIME:
        return mr_value_print_interval_day_time(c->i64[row], c->type, out);
    case MR_INTERVAL_CALENDAR:
        return mr_value_print_calendar_interval(&c->calendar[row], out);
    default:
        MR_UNREACHABLE();
    }
}
