#include "core/base/time.h"
#include "core/expr/calendar.h"
#include "core/expr/time_part.h"
#include "core/expr/writer.h"

#include <math.h>

/* Moving dates, truncating, names of days and months, the clock. Parts are in
 * functions_time_part.c, formatting is in functions_datetime.c. */

static const char days_short[] = "MonTueWedThuFriSatSun";
static const char months_short[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static enum mr_status name_of(struct mr_call *call, const struct mr_column *x,
                              enum mr_time_part part, const char *names, struct mr_column *out)
{
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t number = mr_time_part(part, x->i32[row] * MR_US_PER_DAY);
        mr_text_writer_copy(&w, row, (struct mr_text){names + 3 * (number - 1), 3});
    }
    return MR_OK;
}

MR_BODY(dayname)
{
    return name_of(call, args, MR_PART_DAY_OF_WEEK_ISO, days_short, out);
}
MR_BODY(monthname)
{
    return name_of(call, args, MR_PART_MONTH, months_short, out);
}

MR_BODY(current_timestamp)
{
    (void)args;
    mr_column_alloc(out, &mr_type_timestamp, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = call->context->now_us;
    return MR_OK;
}

MR_BODY(localtimestamp)
{
    (void)args;
    mr_column_alloc(out, &mr_type_timestamp_ntz, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = mr_zone_to_local(call->context->zone, call->context->now_us);
    return MR_OK;
}

MR_BODY(current_date)
{
    int64_t local = mr_zone_to_local(call->context->zone, call->context->now_us);

    (void)args;
    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = (int32_t)mr_floor_div(local, MR_US_PER_DAY);
    return MR_OK;
}

MR_BODY(current_timezone)
{
    (void)args;
    mr_column_alloc(out, &mr_type_string, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    mr_column_set_text(out, row, mr_text_of(mr_zone_name(call->context->zone)), call->arena);
    return MR_OK;
}

/* date_add, date_sub: the number may also be a SMALLINT or TINYINT. */
MR_RESOLVE(date_add)
{
    enum mr_status status = mr_coerce_argument(r, call, 0, &mr_type_date, NULL);

    if (status == MR_OK && mr_type_is_numeric(call->args[1]->type) &&
        (call->args[1]->type->kind > MR_INT))
        return mr_mismatch_argument(r, call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
    if (status == MR_OK)
        status = mr_coerce_argument(r, call, 1, &mr_type_int,
                                    "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
    call->type = &mr_type_date;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

static enum mr_status add_days(struct mr_call *call, const struct mr_column *args, int64_t sign,
                               struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = (int32_t)(args[0].i32[row] + sign * args[1].i32[row]); /* wraps, as Spark's */
    return MR_OK;
}

MR_BODY(date_add)
{
    return add_days(call, args, 1, out);
}
MR_BODY(date_sub)
{
    return add_days(call, args, -1, out);
}

MR_BODY(datediff)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i32[row] = (int32_t)((int64_t)args[0].i32[row] - args[1].i32[row]);
    return MR_OK;
}

MR_BODY(add_months)
{
    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t days = mr_calendar_add_months(args[0].i32[row], args[1].i32[row]);
        out->i32[row] = (int32_t)days;
        if (days != out->i32[row])
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "ARITHMETIC_OVERFLOW", "overflow in %s.",
                                     call->expr->text ? call->expr->text : "add_months");
    }
    return MR_OK;
}

MR_BODY(last_day)
{
    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t year;
        uint32_t month, day;
        mr_civil_from_days(args[0].i32[row], &year, &month, &day);
        out->i32[row] = (int32_t)mr_days_from_civil(year, month, mr_days_of_month(year, month));
    }
    return MR_OK;
}

/* next_day(date, 'Monday'): the first such day after it. */
MR_BODY(next_day)
{
    static const char *const names[] = {"mo", "mon", "monday",    "tu", "tue", "tuesday",
                                        "we", "wed", "wednesday", "th", "thu", "thursday",
                                        "fr", "fri", "friday",    "sa", "sat", "saturday",
                                        "su", "sun", "sunday"};

    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text name = mr_column_text(&args[1], row);
        int32_t wanted = -1, days = args[0].i32[row];
        for (int32_t k = 0; k < 21 && wanted < 0; k++)
            if (mr_text_equal_ignoring_case(name, mr_text_of(names[k])))
                wanted = k / 3;
        if (wanted < 0 && !call->context->ansi) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        if (wanted < 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "ILLEGAL_DAY_OF_WEEK",
                                     "Illegal input for day of week: %.*s.", (int)name.n,
                                     name.data);
        out->i32[row] = days + 1 + (int32_t)mr_floor_mod(wanted - mr_iso_weekday(days), 7);
    }
    return MR_OK;
}

static const struct unit {
    const char *name;
    int64_t us; /* 0: a unit of the calendar */
    int32_t months;
} units[] = {{"microsecond", 1, 0},
             {"millisecond", 1000, 0},
             {"second", MR_US_PER_SECOND, 0},
             {"minute", MR_US_PER_MINUTE, 0},
             {"hour", MR_US_PER_HOUR, 0},
             {"day", MR_US_PER_DAY, 0},
             {"dd", MR_US_PER_DAY, 0},
             {"week", 0, 0},
             {"mon", 0, 1},
             {"month", 0, 1},
             {"mm", 0, 1},
             {"quarter", 0, 3},
             {"year", 0, 12},
             {"yyyy", 0, 12},
             {"yy", 0, 12}};

/* NULL: there is no such unit. */
static const struct unit *find_unit(struct mr_text name)
{
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (mr_text_equal_ignoring_case(name, mr_text_of(units[i].name)))
            return &units[i];
    return NULL;
}

/* The unit of each row; that of a constant is looked for once. */
static const struct unit *unit_of(const struct mr_call *call, uint32_t argument,
                                  const struct mr_column *names, uint32_t i, uint32_t row,
                                  const struct unit *last)
{
    if (i > 0 && mr_call_is_literal(call, argument))
        return last;
    return find_unit(mr_column_text(names, row));
}

/* Start of the unit in local time. */
static int64_t truncate(const struct unit *unit, int64_t us)
{
    int64_t days = mr_floor_div(us, MR_US_PER_DAY);
    int32_t year;
    uint32_t month, day;

    if (unit->us)
        return us - mr_floor_mod(us, unit->us);
    if (unit->months == 0)
        return (days - mr_iso_weekday(days) + 1) * MR_US_PER_DAY;
    mr_civil_from_days(days, &year, &month, &day);
    month = (month - 1) / (uint32_t)unit->months * (uint32_t)unit->months + 1;
    return mr_days_from_civil(year, month, 1) * MR_US_PER_DAY;
}

MR_BODY(date_trunc)
{
    bool instant = call->expr->type->kind == MR_TIMESTAMP;
    const struct unit *unit = NULL;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t local = mr_time_local_us(call, &args[1], row);
        unit = unit_of(call, 0, &args[0], i, row, unit);
        if (unit == NULL) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        out->i64[row] = truncate(unit, local);
        if (instant && unit->us > 0 && unit->us < MR_US_PER_DAY)
            /* an hour that comes twice stays the one it is */
            out->i64[row] = args[1].i64[row] - (local - out->i64[row]);
        else if (instant)
            out->i64[row] = mr_zone_to_utc(call->context->zone, out->i64[row]);
    }
    return MR_OK;
}

/* trunc(date, unit): week and above. */
MR_BODY(trunc)
{
    const struct unit *unit = NULL;

    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t cycles = mr_floor_div(args[0].i32[row], MR_DAYS_PER_CYCLE);
        int64_t days = (args[0].i32[row] - cycles * MR_DAYS_PER_CYCLE) * MR_US_PER_DAY;
        unit = unit_of(call, 1, &args[1], i, row, unit);
        if (unit == NULL || unit->us > 0)
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->i32[row] = (int32_t)(mr_floor_div(truncate(unit, days), MR_US_PER_DAY) +
                                      cycles * MR_DAYS_PER_CYCLE);
    }
    return MR_OK;
}

/* Since the midnight of its day, which is not what the clock shows on a day when it is changed. */
static double seconds_of_day(const struct mr_call *call, const struct mr_column *x, uint32_t row)
{
    int64_t local = mr_time_local_us(call, x, row),
            midnight = mr_floor_div(local, MR_US_PER_DAY) * MR_US_PER_DAY;

    if (x->type->kind != MR_TIMESTAMP)
        return (double)((local - midnight) / MR_US_PER_SECOND);
    return (double)((x->i64[row] - mr_zone_to_utc(call->context->zone, midnight)) /
                    MR_US_PER_SECOND);
}

/* months_between(a, b[, round]): whole months where the days agree or both are last ones, else with
 * 31sts. */
MR_BODY(months_between)
{
    mr_column_alloc(out, &mr_type_double, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_civil a, b;
        mr_civil_from_us(mr_time_local_us(call, &args[0], row), &a);
        mr_civil_from_us(mr_time_local_us(call, &args[1], row), &b);
        double months = (a.year - b.year) * 12.0 + (double)a.month - (double)b.month;
        bool last = a.day == mr_days_of_month(a.year, a.month) &&
                    b.day == mr_days_of_month(b.year, b.month);
        if (a.day != b.day && !last) {
            double seconds_a = a.day * 86400.0 + seconds_of_day(call, &args[0], row);
            double seconds_b = b.day * 86400.0 + seconds_of_day(call, &args[1], row);
            months += (seconds_a - seconds_b) / (31 * 86400.0);
        }
        if (call->expr->args_n < 3 || mr_bit_get(args[2].bits, row))
            months = round(months * 1e8) / 1e8;
        out->f64[row] = months;
    }
    return MR_OK;
}
