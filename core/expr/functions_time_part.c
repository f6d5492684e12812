#include "core/base/time.h"
#include "core/expr/time_part.h"
#include "kernels/calendar/calendar.h"

/* Parts of dates, timestamps and intervals: year(t), extract(field FROM t). */

static void iso_week(int64_t days, int32_t *year, int32_t *week)
{
    int64_t thursday = days - mr_iso_weekday(days) + 4;
    uint32_t month, day;

    mr_civil_from_days(thursday, year, &month, &day);
    *week = (int32_t)((thursday - mr_days_from_civil(*year, 1, 1)) / 7) + 1;
}

int32_t mr_time_part(enum mr_time_part part, int64_t us)
{
    int64_t days = mr_floor_div(us, MR_US_PER_DAY), of_day = mr_floor_mod(us, MR_US_PER_DAY);
    int32_t year, week;
    uint32_t month, day;

    switch (part) {
    case MR_PART_HOUR:
        return (int32_t)(of_day / MR_US_PER_HOUR);
    case MR_PART_MINUTE:
        return (int32_t)(of_day / MR_US_PER_MINUTE % 60);
    case MR_PART_SECOND:
        return (int32_t)(of_day / MR_US_PER_SECOND % 60);
    case MR_PART_DAY_OF_WEEK:
        return mr_iso_weekday(days) % 7 + 1;
    case MR_PART_DAY_OF_WEEK_ISO:
        return mr_iso_weekday(days);
    case MR_PART_WEEKDAY:
        return mr_iso_weekday(days) - 1;
    case MR_PART_WEEK:
        iso_week(days, &year, &week);
        return week;
    case MR_PART_YEAR_OF_WEEK:
        iso_week(days, &year, &week);
        return year;
    default:
        break;
    }
    mr_civil_from_days(days, &year, &month, &day);
    switch (part) {
    case MR_PART_YEAR:
        return year;
    case MR_PART_QUARTER:
        return (int32_t)(month + 2) / 3;
    case MR_PART_MONTH:
        return (int32_t)month;
    case MR_PART_DAY:
        return (int32_t)day;
    default: /* day of the year */
        return (int32_t)(days - mr_days_from_civil(year, 1, 1)) + 1;
    }
}

static const struct {
    const char *name;
    enum mr_time_part part;
} parts[] = {{"year", MR_PART_YEAR},
             {"quarter", MR_PART_QUARTER},
             {"month", MR_PART_MONTH},
             {"day", MR_PART_DAY},
             {"dayofmonth", MR_PART_DAY},
             {"dayofyear", MR_PART_DAY_OF_YEAR},
             {"dayofweek", MR_PART_DAY_OF_WEEK},
             {"weekday", MR_PART_WEEKDAY},
             {"weekofyear", MR_PART_WEEK},
             {"hour", MR_PART_HOUR},
             {"minute", MR_PART_MINUTE},
             {"second", MR_PART_SECOND},
             {"years", MR_PART_YEAR},
             {"y", MR_PART_YEAR},
             {"yr", MR_PART_YEAR},
             {"yrs", MR_PART_YEAR},
             {"yearofweek", MR_PART_YEAR_OF_WEEK},
             {"qtr", MR_PART_QUARTER},
             {"months", MR_PART_MONTH},
             {"mon", MR_PART_MONTH},
             {"mons", MR_PART_MONTH},
             {"week", MR_PART_WEEK},
             {"weeks", MR_PART_WEEK},
             {"w", MR_PART_WEEK},
             {"days", MR_PART_DAY},
             {"d", MR_PART_DAY},
             {"dow", MR_PART_DAY_OF_WEEK},
             {"dow_iso", MR_PART_DAY_OF_WEEK_ISO},
             {"dayofweek_iso", MR_PART_DAY_OF_WEEK_ISO},
             {"doy", MR_PART_DAY_OF_YEAR},
             {"hours", MR_PART_HOUR},
             {"h", MR_PART_HOUR},
             {"hr", MR_PART_HOUR},
             {"hrs", MR_PART_HOUR},
             {"minutes", MR_PART_MINUTE},
             {"m", MR_PART_MINUTE},
             {"min", MR_PART_MINUTE},
             {"mins", MR_PART_MINUTE},
             {"seconds", MR_PART_FRACTION},
             {"s", MR_PART_FRACTION},
             {"sec", MR_PART_FRACTION},
             {"secs", MR_PART_FRACTION}};

static enum mr_time_part part_of(struct mr_text name)
{
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (mr_text_equal_ignoring_case(name, mr_text_of(parts[i].name)))
            return parts[i].part;
    return MR_PARTS_N;
}

/* year(t) and the others: dates for the calendar's parts, instants for those of the day. */
MR_RESOLVE(time_part)
{
    enum mr_time_part *part = MR_NEW(r->arena, enum mr_time_part);
    enum mr_kind k = call->args[0]->type->kind;

    *part = part_of(mr_text_of(call->function->name));
    call->data = part;
    call->type = &mr_type_int;
    call->nullable = call->args[0]->nullable;
    if (k == MR_TIMESTAMP || k == MR_TIMESTAMP_NTZ ||
        (k == MR_DATE && *part != MR_PART_HOUR && *part != MR_PART_MINUTE &&
         *part != MR_PART_SECOND))
        return MR_OK;
    if (*part >= MR_PART_HOUR && *part <= MR_PART_SECOND)
        return mr_coerce_argument(r, call, 0, &mr_type_timestamp, NULL);
    return mr_coerce_argument(r, call, 0, &mr_type_date, NULL);
}

/* A part of an interval: what is left of it below the next larger unit, with its sign. */
static enum mr_status interval_part(struct mr_call *call, const struct mr_column *x,
                                    enum mr_time_part part, struct mr_column *out)
{
    bool months = x->type->kind == MR_INTERVAL_YEAR_MONTH;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t us = months ? 0 : x->i64[row], m = months ? x->i32[row] : 0;

        if (part == MR_PART_YEAR)
            out->i32[row] = (int32_t)(m / 12);
        else if (part == MR_PART_MONTH)
            out->i8[row] = (int8_t)(m % 12);
        else if (part == MR_PART_DAY)
            out->i32[row] = (int32_t)(us / MR_US_PER_DAY);
        else if (part == MR_PART_HOUR)
            out->i8[row] = (int8_t)(us % MR_US_PER_DAY / MR_US_PER_HOUR);
        else if (part == MR_PART_MINUTE)
            out->i8[row] = (int8_t)(us % MR_US_PER_HOUR / MR_US_PER_MINUTE);
        else
            out->i128[row] = us % MR_US_PER_MINUTE;
    }
    return MR_OK;
}

static bool is_interval(enum mr_kind k)
{
    return k == MR_INTERVAL_DAY_TIME || k == MR_INTERVAL_YEAR_MONTH;
}

/* Its type, or NULL: the interval has no such part. */
static const struct mr_type *interval_part_type(struct mr_arena *a, enum mr_kind k,
                                                enum mr_time_part part)
{
    if (k == MR_INTERVAL_YEAR_MONTH)
        return part == MR_PART_YEAR    ? &mr_type_int
               : part == MR_PART_MONTH ? &mr_type_tinyint
                                       : NULL;
    if (part == MR_PART_FRACTION)
        return mr_type_decimal(a, 8, 6);
    return part == MR_PART_DAY                              ? &mr_type_int
           : part == MR_PART_HOUR || part == MR_PART_MINUTE ? &mr_type_tinyint
                                                            : NULL;
}

static void put_weekdays(const int32_t *days, uint32_t rows, int32_t *to)
{
    for (uint32_t row = 0; row < rows; row++)
        to[row] = (int32_t)mr_floor_mod((int64_t)days[row] + 4, 7) + 1;
}

/* The usual parts by kernels, all rows at once. False: another part, or a date too far away. */
static bool usual_part(struct mr_call *call, const struct mr_column *x, enum mr_time_part part,
                       int32_t *to)
{
    const uint32_t rows = call->rows;
    const int64_t *us = x->i64;
    const int32_t *days = x->i32;

    if (x->type->kind == MR_DATE && part > MR_PART_DAY_OF_WEEK)
        return false;
    if (x->type->kind == MR_TIMESTAMP && call->context->zone != mr_zone_utc()) {
        int64_t *local = mr_arena_alloc(call->arena, ((size_t)rows + 8) * sizeof *local);
        mr_zone_rows_to_local(call->context->zone, local, us, rows);
        us = local;
    }
    if (x->type->kind != MR_DATE && (part <= MR_PART_DAY_OF_WEEK)) {
        int32_t *own = mr_arena_alloc(call->arena, ((size_t)rows + 16) * sizeof *own);
        mr_calendar->days(own, us, rows);
        days = own;
    }
    switch (part) {
    case MR_PART_YEAR:
        return !mr_calendar->year(to, days, rows);
    case MR_PART_MONTH:
        return !mr_calendar->month(to, days, rows);
    case MR_PART_DAY:
        return !mr_calendar->day(to, days, rows);
    case MR_PART_DAY_OF_WEEK:
        put_weekdays(days, rows, to);
        return true;
    case MR_PART_HOUR:
        mr_calendar->hour(to, us, rows);
        return true;
    case MR_PART_MINUTE:
        mr_calendar->minute(to, us, rows);
        return true;
    case MR_PART_SECOND:
        mr_calendar->second(to, us, rows);
        return true;
    default:
        return false;
    }
}

MR_BODY(time_part)
{
    const enum mr_time_part *part = call->expr->data;

    if (is_interval(args[0].type->kind))
        return interval_part(call, &args[0], *part, out);
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    if (*part != MR_PART_FRACTION && usual_part(call, &args[0], *part, out->i32))
        return MR_OK;
    MR_EACH_ROW(call, i, row)
    {
        int64_t us = mr_time_local_us(call, &args[0], row), years = 0;
        if (args[0].type->kind ==
            MR_DATE) { /* what us can't hold: whole cycles of the calendar less */
            years = mr_floor_div(args[0].i32[row], MR_DAYS_PER_CYCLE) * MR_YEARS_PER_CYCLE;
            us = mr_floor_mod(args[0].i32[row], MR_DAYS_PER_CYCLE) * MR_US_PER_DAY;
        }
        if (*part == MR_PART_FRACTION) /* DECIMAL(8,6) */
            out->i128[row] = mr_floor_mod(us, MR_US_PER_MINUTE);
        else
            out->i32[row] =
                mr_time_part(*part, us) +
                (*part == MR_PART_YEAR || *part == MR_PART_YEAR_OF_WEEK ? (int32_t)years : 0);
    }
    return MR_OK;
}

/* extract(field FROM t), date_part('field', t): the field goes behind the time. */
MR_RESOLVE(extract)
{
    enum mr_time_part *part = MR_NEW(r->arena, enum mr_time_part);
    enum mr_status status = mr_require_literal(r, call, 0, "field");
    struct mr_text name;
    enum mr_kind k;

    if (status != MR_OK)
        return status;
    name = call->args[0]->type->kind == MR_STRING && !mr_expr_is_null_literal(call->args[0])
               ? mr_column_text(call->args[0]->value, 0)
               : MR_TEXT("");
    *part = part_of(name);
    if (*part == MR_PART_SECOND)
        *part = MR_PART_FRACTION;
    k = call->args[1]->type->kind;
    call->type = *part == MR_PARTS_N         ? NULL
                 : is_interval(k)            ? interval_part_type(r->arena, k, *part)
                 : *part == MR_PART_FRACTION ? mr_type_decimal(r->arena, 8, 6)
                                             : &mr_type_int;
    if (call->type == NULL)
        return MR_FAIL_CONDITION(r->err, MR_USER, "INVALID_EXTRACT_FIELD",
                                 "Cannot extract `%.*s` from \"%s\".", (int)name.n, name.data,
                                 call->args[1]->text ? call->args[1]->text : "");
    struct mr_expr *field = call->args[0];
    call->args[0] = call->args[1];
    call->args[1] = field;
    call->data = part;
    call->nullable = call->args[0]->nullable;
    if (is_interval(k) || k == MR_DATE || k == MR_TIMESTAMP || k == MR_TIMESTAMP_NTZ)
        return MR_OK;
    return mr_coerce_argument(r, call, 0, &mr_type_timestamp, NULL);
}
