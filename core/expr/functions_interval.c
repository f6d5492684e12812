#include "core/expr/arith.h"

#include "core/base/time.h"
#include "core/expr/calendar.h"
#include "core/expr/decimal.h"
#include <math.h>

enum { DIGITS_MAX = 38 };

static bool is_interval(const struct mr_type *t)
{
    return t->kind >= MR_INTERVAL_YEAR_MONTH && t->kind <= MR_INTERVAL_CALENDAR;
}

static enum mr_status become(struct mr_resolve *r, struct mr_expr *call, const char *name)
{
    bool is_try = strncmp(call->function->name, "try_", 4) == 0;
    const struct mr_function *tried =
        is_try ? mr_function_find(mr_arena_format(r->arena, "try_%s", name)) : NULL;

    call->function = tried ? tried : mr_function_find(name);
    MR_ASSERT(call->function != NULL);
    return call->function->resolve(r, call);
}

static void swap(struct mr_expr *call)
{
    struct mr_expr *x = call->args[0];

    call->args[0] = call->args[1];
    call->args[1] = x;
}

static enum mr_status move_by_interval(struct mr_resolve *r, struct mr_expr *call, enum arith op)
{
    const struct mr_type *interval = call->args[1]->type;
    const bool is_text = call->args[0]->type->kind == MR_STRING;

    if (is_text)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    if (call->args[0]->type->kind == MR_DATE && interval->kind == MR_INTERVAL_DAY_TIME &&
        interval->scale > 0) /* of a finer unit than days */
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    enum mr_status status = become(r, call, op == ADD ? "time_add" : "time_subtract");
    if (status == MR_OK && is_text) { /* what was a text becomes one again */
        struct mr_expr *moved = MR_NEW(r->arena, struct mr_expr);
        *moved = *call;
        *call = *mr_coerce(r, moved, &mr_type_string);
    }
    return status;
}

/* Months are added to no text. */
static bool takes_interval(const struct mr_type *time, const struct mr_type *interval)
{
    return mr_type_is_time(time) ||
           (time->kind == MR_STRING && interval->kind != MR_INTERVAL_YEAR_MONTH);
}

/* A text beside a time becomes one, beside an interval a number. */
static void read_texts(struct mr_resolve *r, struct mr_expr *call, enum arith op)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct mr_type *other = call->args[1 - i]->type;
        if (call->args[i]->type->kind != MR_STRING)
            continue;
        if (op == SUBTRACT && mr_type_is_time(other) &&
            (r->ansi || i == 0 || other->kind != MR_DATE))
            call->args[i] = mr_coerce(r, call->args[i], other);
        if ((op == MULTIPLY || (op == DIVIDE && i == 1)) && is_interval(other))
            call->args[i] = mr_coerce(r, call->args[i], &mr_type_double);
    }
}

enum mr_status mr_arith_resolve_time(struct mr_resolve *r, struct mr_expr *call, enum arith op,
                                     bool *done)
{
    const struct mr_type *left, *right;

    *done = true;
    read_texts(r, call, op);
    left = call->args[0]->type;
    right = call->args[1]->type;
    if (op == ADD && is_interval(left) && takes_interval(right, left)) {
        swap(call);
        return move_by_interval(r, call, op);
    }
    if (op <= SUBTRACT && is_interval(right) && takes_interval(left, right))
        return move_by_interval(r, call, op);
    if (left->kind == MR_DATE && (op == ADD ? right->kind == MR_DATE || right->kind == MR_STRING
                                            : op == SUBTRACT && right->kind == MR_STRING))
        return mr_mismatch_argument(r, call, 1, "(\"INT\" or \"SMALLINT\" or \"TINYINT\")");
    if (op <= SUBTRACT && left->kind == MR_DATE && mr_type_is_integer(right))
        return become(r, call, op == ADD ? "date_add" : "date_sub");
    if (op == ADD && right->kind == MR_DATE && mr_type_is_integer(left)) {
        swap(call);
        return become(r, call, "date_add");
    }
    if (op == SUBTRACT && mr_type_is_time(left) && mr_type_is_time(right))
        return become(r, call,
                      left->kind == MR_DATE && right->kind == MR_DATE ? "subtract_dates"
                                                                      : "subtract_timestamps");
    if (op <= SUBTRACT && is_interval(left) && left->kind == right->kind)
        return become(r, call, op == ADD ? "interval_add" : "interval_subtract");
    if (op == INT_DIVIDE && mr_type_is_units(left) && left->kind == right->kind)
        return become(r, call, "interval_div");
    if (op == MULTIPLY && is_interval(right) && mr_type_is_numeric(left)) {
        swap(call);
        return become(r, call, "interval_multiply");
    }
    if ((op == MULTIPLY || op == DIVIDE) && is_interval(left) && mr_type_is_numeric(right))
        return become(r, call, op == MULTIPLY ? "interval_multiply" : "interval_divide");
    *done = false;
    return MR_OK;
}

MR_RESOLVE(first_type)
{
    (void)r;
    call->type = call->args[0]->type;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

MR_RESOLVE(subtract_times)
{
    static const struct mr_type days = {.kind = MR_INTERVAL_DAY_TIME};
    bool dates = call->args[0]->type->kind == MR_DATE && call->args[1]->type->kind == MR_DATE;
    const struct mr_type *common =
        mr_type_common(call->args[0]->type, call->args[1]->type, r->ansi, r->arena);

    if (!dates) {
        call->args[0] = mr_coerce(r, call->args[0], common);
        call->args[1] = mr_coerce(r, call->args[1], common);
    }
    call->type = dates ? &days : &mr_type_interval_day_time;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

/* The units of both. */
MR_RESOLVE(interval_pair)
{
    call->type = mr_type_units_of_both(call->args[0]->type, call->args[1]->type, r->arena);
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

static bool is_try(const struct mr_call *call)
{
    return strncmp(call->expr->function->name, "try_", 4) == 0;
}

static enum mr_status overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "DATETIME_OVERFLOW",
                             "Datetime operation overflow: %s.",
                             call->expr->text ? call->expr->text : call->expr->function->name);
}

struct mr_calendar_interval mr_interval_at(const struct mr_column *c, uint32_t row)
{
    switch (c->type->kind) {
    case MR_INTERVAL_YEAR_MONTH:
        return (struct mr_calendar_interval){.months = c->i32[row]};
    case MR_INTERVAL_DAY_TIME:
        return (struct mr_calendar_interval){.us = c->i64[row]};
    default:
        return c->calendar[row];
    }
}

static enum mr_status move(struct mr_call *call, const struct mr_column *args, int32_t sign,
                           struct mr_column *out)
{
    const struct mr_column *x = &args[0];
    const struct mr_zone *zone = x->type->kind == MR_TIMESTAMP ? call->context->zone : NULL;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_calendar_interval v = mr_interval_at(&args[1], row);
        bool fits;
        if (args[1].type->kind == MR_INTERVAL_DAY_TIME) { /* its days are days of the calendar */
            v.days = (int32_t)(v.us / MR_US_PER_DAY);
            v.us %= MR_US_PER_DAY;
        }
        if (x->type->kind == MR_DATE) {
            int64_t days = mr_calendar_add_months(x->i32[row], sign * (int64_t)v.months) +
                           sign * (v.days + v.us / MR_US_PER_DAY);
            out->i32[row] = (int32_t)days;
            fits = days == out->i32[row];
        } else {
            fits = mr_calendar_move(x->i64[row], zone, &v, sign, &out->i64[row]);
        }
        if (!fits && !is_try(call))
            return overflow(call);
        if (!fits)
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

MR_BODY(time_add)
{
    return move(call, args, 1, out);
}
MR_BODY(time_subtract)
{
    return move(call, args, -1, out);
}

MR_BODY(subtract_dates)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = ((int64_t)args[0].i32[row] - args[1].i32[row]) * MR_US_PER_DAY;
    return MR_OK;
}

/* In local time, so that a day is a day across a change of the clocks. */
MR_BODY(subtract_timestamps)
{
    const struct mr_zone *zone =
        args[0].type->kind == MR_TIMESTAMP ? call->context->zone : mr_zone_utc();

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    if (__builtin_sub_overflow(mr_zone_to_local(zone, args[0].i64[row]),
                               mr_zone_to_local(zone, args[1].i64[row]), &out->i64[row]))
        return MR_FAIL_CONDITION(call->err, MR_QUERY, "ARITHMETIC_OVERFLOW", "long overflow.");
    return MR_OK;
}

static enum mr_status sum_overflow(struct mr_call *call, int32_t sign)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION",
                             "Integer overflow while operating with intervals. Use '%s' to "
                             "tolerate overflow and return NULL instead.",
                             sign > 0 ? "try_add" : "try_subtract");
}

static enum mr_status interval_sum(struct mr_call *call, const struct mr_column *args, int32_t sign,
                                   struct mr_column *out)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool bad = false;
        if (out->type->kind == MR_INTERVAL_YEAR_MONTH) {
            bad = __builtin_add_overflow(args[0].i32[row], (int64_t)sign * args[1].i32[row],
                                         &out->i32[row]);
        } else if (out->type->kind == MR_INTERVAL_DAY_TIME) {
            bad = sign > 0
                      ? __builtin_add_overflow(args[0].i64[row], args[1].i64[row], &out->i64[row])
                      : __builtin_sub_overflow(args[0].i64[row], args[1].i64[row], &out->i64[row]);
        } else {
            const struct mr_calendar_interval *x = &args[0].calendar[row];
            const struct mr_calendar_interval *y = &args[1].calendar[row];
            out->calendar[row] = (struct mr_calendar_interval){
                x->months + sign * y->months, x->days + sign * y->days, x->us + sign * y->us};
        }
        if (bad && !is_try(call))
            return sum_overflow(call, sign);
        if (bad)
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

MR_BODY(interval_add)
{
    return interval_sum(call, args, 1, out);
}
MR_BODY(interval_subtract)
{
    return interval_sum(call, args, -1, out);
}

MR_RESOLVE(interval_scale)
{
    const struct mr_type *type = call->args[0]->type, *number = call->args[1]->type;

    if (number->kind != MR_DECIMAL)
        call->args[1] = mr_coerce(r, call->args[1],
                                  mr_type_is_integer(number) ? &mr_type_bigint : &mr_type_double);
    call->type = type->kind == MR_INTERVAL_DAY_TIME     ? &mr_type_interval_day_time
                 : type->kind == MR_INTERVAL_YEAR_MONTH ? &mr_type_interval_year_month
                                                        : type;
    call->nullable = true;
    return MR_OK;
}

static enum mr_status interval_overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
                             "Integer overflow while operating with intervals.");
}

static bool is_zero(const struct mr_column *n, uint32_t row)
{
    return n->type->kind == MR_BIGINT    ? n->i64[row] == 0
           : n->type->kind == MR_DECIMAL ? n->i128[row] == 0
                                         : n->f64[row] == 0;
}

/* x times a number or by it, half up; exact but for DOUBLE. False: no int64_t. */
static bool scaled(int64_t x, const struct mr_column *n, uint32_t row, bool divide, int64_t *out)
{
    __int128 v;

    if (n->type->kind == MR_DOUBLE) {
        const double d = round(divide ? (double)x / n->f64[row] : (double)x * n->f64[row]);
        if (!(d >= -0x1p63 && d < 0x1p63)) /* nor NaN */
            return false;
        v = (__int128)d;
    } else {
        const bool is_decimal = n->type->kind == MR_DECIMAL;
        const __int128 y = is_decimal ? n->i128[row] : n->i64[row];
        const uint32_t scale = is_decimal ? n->type->scale : 0;
        if (!(divide ? mr_decimal_divide(x, 0, y, scale, DIGITS_MAX, 0, &v)
                     : mr_decimal_multiply(x, y, scale, DIGITS_MAX, 0, &v)))
            return false;
    }
    *out = (int64_t)v;
    return v == *out;
}

static enum mr_status interval_scale(struct mr_call *call, const struct mr_column *args,
                                     bool divide, struct mr_column *out)
{
    const struct mr_column *n = &args[1];

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_calendar_interval v = mr_interval_at(&args[0], row);
        int64_t months = 0, days = 0, us = 0;
        if (divide && is_zero(n, row) && is_try(call)) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        if (divide && is_zero(n, row))
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_DIVIDED_BY_ZERO",
                                     "Division by zero. Use `try_divide` to tolerate divisor being "
                                     "0 and return NULL instead.");
        bool fits = scaled(v.months, n, row, divide, &months) && months == (int32_t)months &&
                    scaled(v.days, n, row, divide, &days) && days == (int32_t)days &&
                    scaled(v.us, n, row, divide, &us);
        if (!fits && !is_try(call))
            return interval_overflow(call);
        if (!fits)
            mr_column_put_null(out, row, call->rows, call->arena);
        else if (out->type->kind == MR_INTERVAL_YEAR_MONTH)
            out->i32[row] = (int32_t)months;
        else if (out->type->kind == MR_INTERVAL_DAY_TIME)
            out->i64[row] = us;
        else
            out->calendar[row] = (struct mr_calendar_interval){(int32_t)months, (int32_t)days, us};
    }
    return MR_OK;
}

MR_BODY(interval_multiply)
{
    return interval_scale(call, args, false, out);
}
MR_BODY(interval_divide)
{
    return interval_scale(call, args, true, out);
}

MR_RESOLVE(interval_div)
{
    call->type = &mr_type_bigint;
    call->nullable = !r->ansi || mr_expr_any_nullable(call);
    return MR_OK;
}

/* How often the second fits into the first. */
MR_BODY(interval_div)
{
    const bool months = args[0].type->kind == MR_INTERVAL_YEAR_MONTH;

    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t x = months ? args[0].i32[row] : args[0].i64[row];
        int64_t y = months ? args[1].i32[row] : args[1].i64[row];
        if (y == 0 && call->context->ansi)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "DIVIDE_BY_ZERO",
                                     "Division by zero. Use `try_divide` to tolerate divisor being "
                                     "0 and return NULL instead.");
        if (y == 0)
            mr_column_put_null(out, row, call->rows, call->arena);
        else
            out->i64[row] = y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
    }
    return MR_OK;
}
