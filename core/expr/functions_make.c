#include "core/base/time.h"
#include "core/expr/calendar.h"
#include "core/expr/coerce.h"
#include "core/expr/writer.h"

#include <math.h>
#include <stdio.h>

/* make_date, make_timestamp, make_*_interval, timestampadd, timestampdiff. */

static const char *const months[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                     "MAY",       "JUNE",     "JULY",     "AUGUST",
                                     "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};

enum { YEAR_MAX = 999999999 }; /* java.time's; a DATE or TIMESTAMP holds fewer */

/* As java.time words it. */
static enum mr_status bad_date(struct mr_call *call, int32_t year, int32_t month, int32_t day)
{
    char text[96];

    if (year < -YEAR_MAX || year > YEAR_MAX)
        snprintf(text, sizeof text,
                 "Invalid value for Year (valid values -999999999 - 999999999): %d", year);
    else if (month < 1 || month > 12)
        snprintf(text, sizeof text, "Invalid value for MonthOfYear (valid values 1 - 12): %d",
                 month);
    else if (day < 1 || day > 31)
        snprintf(text, sizeof text, "Invalid value for DayOfMonth (valid values 1 - 28/31): %d",
                 day);
    else if (month == 2 && day == 29)
        snprintf(text, sizeof text, "Invalid date 'February 29' as '%d' is not a leap year", year);
    else
        snprintf(text, sizeof text, "Invalid date '%s %d'", months[month - 1], day);
    return MR_FAIL_CONDITION(
        call->err, MR_QUERY, "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION",
        "%s. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass "
        "this error.",
        text);
}

static bool is_date(int32_t year, int32_t month, int32_t day)
{
    return year >= -YEAR_MAX && year <= YEAR_MAX && month >= 1 && month <= 12 && day >= 1 &&
           (uint32_t)day <= mr_days_of_month(year, (uint32_t)month);
}

static bool is_try(const struct mr_call *call)
{
    return strncmp(call->expr->function->name, "try_", 4) == 0 || !call->context->ansi;
}

static enum mr_status no_room(struct mr_call *call, const char *number)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "ARITHMETIC_OVERFLOW", "%s overflow in %s.",
                             number, call->expr->function->name);
}

MR_BODY(make_date)
{
    mr_column_alloc(out, &mr_type_date, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t year = args[0].i32[row], month = args[1].i32[row], day = args[2].i32[row];
        if (is_date(year, month, day)) {
            int64_t days = mr_days_from_civil(year, (uint32_t)month, (uint32_t)day);
            out->i32[row] = (int32_t)days;
            if (days != out->i32[row])
                return no_room(call, "integer");
        } else if (is_try(call)) {
            mr_column_put_null(out, row, call->rows, call->arena);
        } else {
            return bad_date(call, year, month, day);
        }
    }
    return MR_OK;
}

/* make_timestamp[_ltz|_ntz](year, month, day, hour, minute, second[, zone]): seconds
 * DECIMAL(16,6). */
MR_RESOLVE(make_timestamp)
{
    bool ntz = strstr(call->function->name, "_ntz") != NULL;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < 5 && status == MR_OK; i++)
        status = mr_coerce_argument(r, call, i, &mr_type_int, NULL);
    if (status == MR_OK && !mr_type_is_numeric(call->args[5]->type) &&
        call->args[5]->type->kind != MR_STRING && call->args[5]->type->kind != MR_VOID)
        return mr_mismatch_argument(r, call, 5, "\"DECIMAL(16,6)\"");
    call->args[5] = mr_coerce(r, call->args[5], mr_type_decimal(r->arena, 16, 6));
    if (status == MR_OK && call->args_n > 6)
        status = mr_coerce_argument(r, call, 6, &mr_type_string, NULL);
    call->type = ntz ? &mr_type_timestamp_ntz : &mr_type_timestamp;
    call->nullable =
        strncmp(call->function->name, "try_", 4) == 0 || !r->ansi || mr_expr_any_nullable(call);
    return status;
}

/* NULL text: it is a time. 60 seconds are the next minute if nothing follows. */
static const char *make_time(const struct mr_column *args, uint32_t row, int64_t *us)
{
    int32_t hour = args[3].i32[row], minute = args[4].i32[row];
    int64_t second = (int64_t)args[5].i128[row];

    if (hour < 0 || hour > 23)
        return "HourOfDay (valid values 0 - 23)";
    if (minute < 0 || minute > 59)
        return "MinuteOfHour (valid values 0 - 59)";
    if (second < 0 || second > 60 * MR_US_PER_SECOND)
        return "SecondOfMinute (valid values 0 - 59)";
    *us = hour * MR_US_PER_HOUR + minute * MR_US_PER_MINUTE + second;
    return NULL;
}

MR_BODY(make_timestamp)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int32_t year = args[0].i32[row], month = args[1].i32[row], day = args[2].i32[row];
        const struct mr_zone *zone = call->context->zone;
        int64_t us = 0;
        const char *wrong = make_time(args, row, &us);
        bool good = is_date(year, month, day) && wrong == NULL;
        if (!good && is_try(call)) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        if (!is_date(year, month, day))
            return bad_date(call, year, month, day);
        if (wrong)
            return MR_FAIL_CONDITION(
                call->err, MR_QUERY, "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION",
                "Invalid value for %s. If necessary set "
                "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error.",
                wrong);
        int64_t midnight;
        if (__builtin_mul_overflow(mr_days_from_civil(year, (uint32_t)month, (uint32_t)day),
                                   MR_US_PER_DAY, &midnight) ||
            __builtin_add_overflow(midnight, us, &us))
            return no_room(call, "long");
        if (call->expr->args_n > 6) {
            struct mr_text name = mr_column_text(&args[6], row);
            zone = mr_zone_find(name);
            if (zone == NULL)
                return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_TIMEZONE",
                                         "The timezone: %.*s is invalid.", (int)name.n, name.data);
        }
        out->i64[row] = out->type->kind == MR_TIMESTAMP ? mr_zone_to_utc(zone, us) : us;
    }
    return MR_OK;
}

/* The arguments that are given, INT but for the last one, seconds DECIMAL(18,6); others count as
 * 0. */
static enum mr_status interval_arguments(struct mr_resolve *r, struct mr_expr *call,
                                         uint32_t seconds)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < call->args_n && status == MR_OK; i++) {
        if (i != seconds)
            status = mr_coerce_argument(r, call, i, &mr_type_int, NULL);
        else if (mr_type_is_numeric(call->args[i]->type) || call->args[i]->type->kind == MR_STRING)
            call->args[i] = mr_coerce(r, call->args[i], mr_type_decimal(r->arena, 18, 6));
        else
            status = mr_mismatch_argument(r, call, i, "\"DECIMAL(18,6)\"");
    }
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

MR_RESOLVE(make_interval)
{
    call->type = &mr_type_interval_calendar;
    return interval_arguments(r, call, 6);
}
MR_RESOLVE(make_dt_interval)
{
    call->type = &mr_type_interval_day_time;
    return interval_arguments(r, call, 3);
}
MR_RESOLVE(make_ym_interval)
{
    call->type = &mr_type_interval_year_month;
    return interval_arguments(r, call, UINT32_MAX); /* no seconds */
}

static int64_t part(const struct mr_call *call, const struct mr_column *args, uint32_t i,
                    uint32_t row)
{
    if (i >= call->expr->args_n)
        return 0;
    return args[i].type->kind == MR_DECIMAL ? (int64_t)args[i].i128[row] : args[i].i32[row];
}

static enum mr_status interval_overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
                             "Integer overflow while operating with intervals.");
}

MR_BODY(make_interval)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t whole = part(call, args, 0, row) * 12 + part(call, args, 1, row);
        int64_t days = part(call, args, 2, row) * 7 + part(call, args, 3, row);
        int64_t us = part(call, args, 4, row) * MR_US_PER_HOUR +
                     part(call, args, 5, row) * MR_US_PER_MINUTE + part(call, args, 6, row);
        if (whole != (int32_t)whole || days != (int32_t)days)
            return interval_overflow(call);
        out->calendar[row] = (struct mr_calendar_interval){(int32_t)whole, (int32_t)days, us};
    }
    return MR_OK;
}

MR_BODY(make_dt_interval)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t rest = part(call, args, 1, row) * MR_US_PER_HOUR +
                       part(call, args, 2, row) * MR_US_PER_MINUTE + part(call, args, 3, row);
        if (__builtin_mul_overflow(part(call, args, 0, row), MR_US_PER_DAY, &out->i64[row]) ||
            __builtin_add_overflow(out->i64[row], rest, &out->i64[row]))
            return interval_overflow(call);
    }
    return MR_OK;
}

MR_BODY(make_ym_interval)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t whole = part(call, args, 0, row) * 12 + part(call, args, 1, row);
        out->i32[row] = (int32_t)whole;
        if (whole != out->i32[row])
            return interval_overflow(call);
    }
    return MR_OK;
}

struct unit {
    const char *name;
    int64_t us;
    int32_t days, months;
};
static const struct unit units[] = {{"microsecond", 1, 0, 0},
                                    {"millisecond", 1000, 0, 0},
                                    {"second", MR_US_PER_SECOND, 0, 0},
                                    {"minute", MR_US_PER_MINUTE, 0, 0},
                                    {"hour", MR_US_PER_HOUR, 0, 0},
                                    {"day", 0, 1, 0},
                                    {"dayofyear", 0, 1, 0},
                                    {"week", 0, 7, 0},
                                    {"month", 0, 0, 1},
                                    {"quarter", 0, 0, 3},
                                    {"year", 0, 0, 12}};

/* timestampadd(unit, n, t), timestampdiff(unit, start, end): data is the unit; it goes behind. */
static enum mr_status take_unit(struct mr_resolve *r, struct mr_expr *call)
{
    struct mr_expr *name = call->args[0];
    struct mr_text t;

    if (name->kind != MR_EXPR_LITERAL || name->type->kind != MR_STRING)
        return mr_require_literal(r, call, 0, "unit");
    t = mr_column_text(name->value, 0);
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (mr_text_equal_ignoring_case(t, mr_text_of(units[i].name)))
            call->data = &units[i];
    if (call->data == NULL)
        return MR_FAIL_CONDITION(
            r->err, MR_USER, "INVALID_PARAMETER_VALUE.DATETIME_UNIT",
            "The value of parameter(s) `unit` in `%s` is invalid: expects one "
            "of the units without quotes YEAR, QUARTER, MONTH, WEEK, DAY, "
            "DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND, but got "
            "the string literal '%.*s'.",
            call->function->name, (int)t.n, t.data);
    call->args[0] = call->args[2];
    call->args[2] = name;
    return MR_OK;
}

/* Now (t, n, unit). */
MR_RESOLVE(timestampadd)
{
    enum mr_status status = take_unit(r, call);
    enum mr_kind k = call->args[0]->type->kind;

    if (status == MR_OK)
        status = mr_coerce_argument(r, call, 1, &mr_type_bigint, NULL);
    if (status == MR_OK && k != MR_TIMESTAMP && k != MR_TIMESTAMP_NTZ)
        status = mr_coerce_argument(r, call, 0, &mr_type_timestamp, NULL);
    call->type = call->args[0]->type;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

MR_BODY(timestampadd)
{
    const struct unit *unit = call->expr->data;
    const struct mr_zone *zone =
        args[0].type->kind == MR_TIMESTAMP ? call->context->zone : mr_zone_utc();

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t n = args[1].i64[row];
        struct mr_calendar_interval v = {0};
        bool bad = unit->us ? __builtin_mul_overflow(n, unit->us, &v.us)
                            : __builtin_mul_overflow(n, unit->days, &v.days) ||
                                  __builtin_mul_overflow(n, unit->months, &v.months);
        if (bad || !mr_calendar_move(args[0].i64[row], zone, &v, 1, &out->i64[row]))
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "DATETIME_OVERFLOW",
                                     "Datetime operation overflow: add %lld `%s` to a timestamp.",
                                     (long long)n, unit->name);
    }
    return MR_OK;
}

/* Now (end, start, unit). */
MR_RESOLVE(timestampdiff)
{
    enum mr_status status = take_unit(r, call);

    for (uint32_t i = 0; i < 2 && status == MR_OK; i++)
        status = mr_coerce_argument(r, call, i, &mr_type_timestamp, NULL);
    call->type = &mr_type_bigint;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

/* Whole months from start to end in local time, toward zero. */
static int64_t whole_months(int64_t start, int64_t end)
{
    int64_t time_a = mr_floor_mod(start, MR_US_PER_DAY), time_b = mr_floor_mod(end, MR_US_PER_DAY);
    struct mr_civil a, b;

    if (end - time_b > start - time_a && time_b < time_a) /* whole days, toward the start */
        end -= MR_US_PER_DAY;
    else if (end - time_b < start - time_a && time_b > time_a)
        end += MR_US_PER_DAY;
    mr_civil_from_us(start, &a);
    mr_civil_from_us(end, &b);
    return (((int64_t)b.year - a.year) * 384 + ((int64_t)b.month - a.month) * 32 + b.day - a.day) /
           32;
}

MR_BODY(timestampdiff)
{
    const struct unit *unit = call->expr->data;
    const struct mr_zone *zone = call->context->zone;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t end = mr_zone_to_local(zone, args[0].i64[row]);
        int64_t start = mr_zone_to_local(zone, args[1].i64[row]);
        if (unit->months)
            out->i64[row] = whole_months(start, end) / unit->months;
        else if (unit->days)
            out->i64[row] = (end - start) / (unit->days * MR_US_PER_DAY);
        else
            out->i64[row] = (end - start) / unit->us;
    }
    return MR_OK;
}
