#include "core/expr/arith.h"

#include "core/base/time.h"
#include "core/expr/calendar.h"
#include <math.h>

static bool is_interval(const struct mr_type *t)
{
    return t->kind >= MR_INTERVAL_YEAR_MONTH && t->kind <= MR_INTERVAL_CALENDAR;
}

static enum mr_status become(struct mr_resolve *r, struct mr_expr *call, const char *name)
{
    call->function = mr_function_find(name);
    MR_ASSERT(call->function != NULL);
    return call->function->resolve(r, call);
}

static void swap(struct mr_expr *call)
{
    struct mr_expr *x = call->args[0];

    call->args[0] = call->args[1];
    call->args[1] = x;
}

/* A date moved by an interval of less than a day's grain becomes a timestamp; whole days keep it.
 */
static bool is_whole_days(const struct mr_expr *x)
{
    return x->kind == MR_EXPR_LITERAL && !mr_expr_is_null_literal(x) &&
           x->value->i64[0] % MR_US_PER_DAY == 0;
}

static enum mr_status move_by_interval(struct mr_resolve *r, struct mr_expr *call, enum arith op)
{
    const struct mr_type *interval = call->args[1]->type;

    if (call->args[0]->type->kind == MR_STRING)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    if (call->args[0]->type->kind == MR_DATE && interval->kind == MR_INTERVAL_DAY_TIME &&
        !is_whole_days(call->args[1]))
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    return become(r, call, op == ADD ? "time_add" : "time_subtract");
}

enum mr_status mr_arith_resolve_time(struct mr_resolve *r, struct mr_expr *call, enum arith op,
                                     bool *done)
{
    const struct mr_type *left = call->args[0]->type, *right = call->args[1]->type;

    *done = true;
    if (op == ADD && is_interval(left) && (mr_type_is_time(right) || right->kind == MR_STRING)) {
        swap(call);
        return move_by_interval(r, call, op);
    }
    if (op <= SUBTRACT && is_interval(right) && (mr_type_is_time(left) || left->kind == MR_STRING))
        return move_by_interval(r, call, op);
    if (op == ADD && left->kind == MR_DATE && (right->kind == MR_DATE || right->kind == MR_STRING))
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
    bool dates = call->args[0]->type->kind == MR_DATE && call->args[1]->type->kind == MR_DATE;
    const struct mr_type *common =
        mr_type_common(call->args[0]->type, call->args[1]->type, r->ansi, r->arena);

    if (!dates) {
        call->args[0] = mr_coerce(r, call->args[0], common);
        call->args[1] = mr_coerce(r, call->args[1], common);
    }
    call->type = &mr_type_interval_day_time;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

/* The units of both. */
MR_RESOLVE(interval_pair)
{
    const struct mr_type *x = call->args[0]->type, *y = call->args[1]->type;
    struct mr_type *type = MR_NEW(r->arena, struct mr_type);

    *type = *x;
    type->precision = x->precision < y->precision ? x->precision : y->precision;
    type->scale = x->scale > y->scale ? x->scale : y->scale;
    call->type = type;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
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
        if (args[1].type->kind == MR_INTERVAL_DAY_TIME) { /* its days are days of the calendar */
            v.days = (int32_t)(v.us / MR_US_PER_DAY);
            v.us %= MR_US_PER_DAY;
        }
        if (x->type->kind == MR_DATE) {
            int64_t days = mr_calendar_add_months(x->i32[row], sign * (int64_t)v.months) +
                           sign * (v.days + v.us / MR_US_PER_DAY);
            out->i32[row] = (int32_t)days;
            if (days != out->i32[row])
                return overflow(call);
        } else if (!mr_calendar_move(x->i64[row], zone, &v, sign, &out->i64[row])) {
            return overflow(call);
        }
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

static enum mr_status interval_overflow(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION",
                             "Integer overflow while operating with intervals.");
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
        if (bad)
            return interval_overflow(call);
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
    const struct mr_type *type = call->args[0]->type;

    call->args[1] = mr_coerce(r, call->args[1], &mr_type_double);
    call->type = type->kind == MR_INTERVAL_DAY_TIME     ? &mr_type_interval_day_time
                 : type->kind == MR_INTERVAL_YEAR_MONTH ? &mr_type_interval_year_month
                                                        : type;
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

static double half_up(double v)
{
    return v < 0 ? -floor(-v + 0.5) : floor(v + 0.5);
}

static enum mr_status interval_scale(struct mr_call *call, const struct mr_column *args,
                                     bool divide, struct mr_column *out)
{
    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        double factor = args[1].f64[row];
        struct mr_calendar_interval v = mr_interval_at(&args[0], row);
        if (divide && factor == 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INTERVAL_DIVIDED_BY_ZERO",
                                     "Division by zero. Use `try_divide` to tolerate divisor being "
                                     "0 and return NULL instead.");
        factor = divide ? 1 / factor : factor;
        double months = half_up(v.months * factor), us = half_up((double)v.us * factor);
        if (fabs(months) > INT32_MAX || fabs(us) >= 0x1p63)
            return interval_overflow(call);
        if (out->type->kind == MR_INTERVAL_YEAR_MONTH)
            out->i32[row] = (int32_t)months;
        else if (out->type->kind == MR_INTERVAL_DAY_TIME)
            out->i64[row] = (int64_t)us;
        else
            out->calendar[row] = (struct mr_calendar_interval){
                (int32_t)months, (int32_t)half_up(v.days * factor), (int64_t)us};
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
