#include "core/expr/cast.h"

#include "core/base/time.h"
#include "core/expr/decimal.h"
#include "kernels/calendar/calendar.h"

/* Microseconds of the value, as an instant or, for dates and local times, as local time. */
static int64_t us_at(const struct mr_column *in, uint32_t row)
{
    return in->type->kind == MR_DATE ? in->i32[row] * MR_US_PER_DAY : in->i64[row];
}

static enum mr_status instant_to_number(struct cast *c, const struct mr_column *in, uint32_t row,
                                        const struct mr_type *to, struct mr_column *out)
{
    int64_t us = in->i64[row], seconds = mr_floor_div(us, MR_US_PER_SECOND);
    bool fits = true;

    switch (to->kind) {
    case MR_TINYINT:
        out->i8[row] = (int8_t)seconds;
        fits = out->i8[row] == seconds;
        break;
    case MR_SMALLINT:
        out->i16[row] = (int16_t)seconds;
        fits = out->i16[row] == seconds;
        break;
    case MR_INT:
        out->i32[row] = (int32_t)seconds;
        fits = out->i32[row] == seconds;
        break;
    case MR_BIGINT:
        out->i64[row] = seconds;
        break;
    case MR_FLOAT:
        out->f32[row] = (float)((double)us / 1e6);
        break;
    case MR_DOUBLE:
        out->f64[row] = (double)us / 1e6;
        break;
    default:
        if (!mr_decimal_rescale(us, 6, to->scale, to->precision, &out->i128[row]))
            return mr_cast_out_of_range(c, in, row, to, out);
    }
    return fits ? MR_OK : mr_cast_overflow(c, in, row, to, out);
}

enum mr_status mr_cast_time(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                            struct mr_column *out)
{
    const struct mr_zone *zone = c->call->context->zone;
    bool from_instant = in->type->kind == MR_TIMESTAMP;

    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    if (to->kind == MR_DATE && (!from_instant || zone == mr_zone_utc())) {
        mr_calendar->days(out->i32, in->i64, c->rows);
        return MR_OK;
    }
    EACH_CAST_ROW(c, i, row)
    {
        if (mr_type_is_numeric(to)) {
            enum mr_status status = instant_to_number(c, in, row, to, out);
            if (status != MR_OK)
                return status;
            continue;
        }
        int64_t us = us_at(in, row);
        if (to->kind == MR_TIMESTAMP) {
            out->i64[row] = mr_zone_to_utc(zone, us);
            continue;
        }
        if (from_instant)
            us = mr_zone_to_local(zone, us);
        if (to->kind == MR_DATE)
            out->i32[row] = (int32_t)mr_floor_div(us, MR_US_PER_DAY);
        else
            out->i64[row] = us;
    }
    return MR_OK;
}
