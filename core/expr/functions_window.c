#include "core/expr/coerce.h"
#include "core/expr/window.h"

#include "core/base/time.h"
#include "core/format/value.h"

#include <stdlib.h>

/* window, window_slice, window_time, session_window. Windows are cut in UTC, whatever the zone. */

enum { WINDOWS_MAX = 100000 }; /* that a row lies in: each is a projection of it */

static bool is_time(const struct mr_type *t)
{
    return t->kind == MR_TIMESTAMP || t->kind == MR_TIMESTAMP_NTZ;
}

static bool is_window(const struct mr_type *t)
{
    return t->kind == MR_STRUCT && t->fields_n == 2 && is_time(t->fields[0].type) &&
           strcmp(t->fields[0].name, "start") == 0 && strcmp(t->fields[1].name, "end") == 0;
}

const struct mr_type *mr_window_type(struct mr_arena *a, const struct mr_type *time)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, 2);

    fields[0] = (struct mr_field){"start", time, true};
    fields[1] = (struct mr_field){"end", time, true};
    return mr_type_struct(a, fields, 2);
}

/* A duration argument: interval text, an interval literal or a number of microseconds. */
static enum mr_status duration(struct mr_resolve *r, const struct mr_expr *call, uint32_t i,
                               int64_t *us)
{
    const struct mr_expr *x = call->args[i];
    struct mr_calendar_interval v = {0};
    struct mr_text t;

    if (x->kind != MR_EXPR_LITERAL || mr_expr_is_null_literal(x))
        return MR_FAIL_CONDITION(r->err, MR_USER, "_LEGACY_ERROR_TEMP_1332",
                                 "The duration and time inputs to window must be an integer, long "
                                 "or string literal.");
    switch (x->type->kind) {
    case MR_INT:
        *us = x->value->i32[0];
        return MR_OK;
    case MR_BIGINT:
    case MR_INTERVAL_DAY_TIME:
        *us = x->value->i64[0];
        return MR_OK;
    case MR_INTERVAL_CALENDAR:
        v = x->value->calendar[0];
        break;
    case MR_INTERVAL_YEAR_MONTH:
        v.months = x->value->i32[0];
        break;
    case MR_STRING:
        t = mr_column_text(x->value, 0);
        if (!mr_value_parse_interval(t, &v))
            return MR_FAIL_CONDITION(
                r->err, MR_USER, "CANNOT_PARSE_INTERVAL",
                "Unable to parse '%.*s'. Please ensure that the value provided "
                "is in a valid format for defining an interval.",
                (int)t.n, t.data);
        break;
    default:
        return mr_mismatch_argument(r, call, i, "\"STRING\" or \"INTERVAL\"");
    }
    if (v.months != 0)
        return MR_FAIL_CONDITION(r->err, MR_USER, "_LEGACY_ERROR_TEMP_3231",
                                 "Intervals greater than a month is not supported (%s).",
                                 x->type->kind == MR_STRING ? x->text : "months");
    if (__builtin_mul_overflow(v.days, MR_US_PER_DAY, us) || __builtin_add_overflow(*us, v.us, us))
        return MR_FAIL_CONDITION(r->err, MR_USER, "ARITHMETIC_OVERFLOW",
                                 "long overflow: a window's durations and start are at most "
                                 "9223372036854775807 microseconds.");
    return MR_OK;
}

/* At most so many windows contain one time. */
static uint32_t windows_of_a_time(const struct mr_window *w)
{
    return (uint32_t)((w->size_us - 1) / w->slide_us + 1);
}

static enum mr_status check_window(struct mr_resolve *r, struct mr_expr *call,
                                   const struct mr_window *w)
{
    call->text = mr_arena_format(
        r->arena, "window(%s, %lld, %lld, %lld)", call->args[0]->text ? call->args[0]->text : "",
        (long long)w->size_us, (long long)w->slide_us, (long long)w->offset_us);
    if (!is_time(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0,
                                    "(\"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)\" or "
                                    "\"STRUCT<start: TIMESTAMP, end: TIMESTAMP>\" or "
                                    "\"STRUCT<start: TIMESTAMP_NTZ, end: TIMESTAMP_NTZ>\")");
    if (w->size_us <= 0)
        return mr_mismatch(
            r, call, "VALUE_OUT_OF_RANGE",
            "The `window_duration` must be between (0, 9223372036854775807] (current "
            "value = %lldL).",
            (long long)w->size_us);
    if (w->slide_us <= 0)
        return mr_mismatch(r, call, "VALUE_OUT_OF_RANGE",
                           "The `slide_duration` must be between (0, 9223372036854775807] (current "
                           "value = %lldL).",
                           (long long)w->slide_us);
    if (w->slide_us > w->size_us)
        return mr_mismatch(r, call, "PARAMETER_CONSTRAINT_VIOLATION",
                           "The `slide_duration`(%lldL) must be <= the `window_duration`(%lldL).",
                           (long long)w->slide_us, (long long)w->size_us);
    if ((w->size_us - 1) / w->slide_us >= WINDOWS_MAX)
        return mr_mismatch(r, call, "PARAMETER_CONSTRAINT_VIOLATION",
                           "The `slide_duration`(%lldL) must be >= the `window_duration`(%lldL) / "
                           "%d: a row lies in so many windows at most.",
                           (long long)w->slide_us, (long long)w->size_us, WINDOWS_MAX);
    if (w->offset_us >= w->slide_us || w->offset_us <= -w->slide_us)
        return mr_mismatch(r, call, "PARAMETER_CONSTRAINT_VIOLATION",
                           "The `abs(start_time)`(%lldL) must be < the `slide_duration`(%lldL).",
                           llabs((long long)w->offset_us), (long long)w->slide_us);
    return MR_OK;
}

MR_RESOLVE(window)
{
    struct mr_window *w = MR_NEW(r->arena, struct mr_window);
    enum mr_status status = duration(r, call, 1, &w->size_us);

    w->slide_us = w->size_us;
    if (status == MR_OK && call->args_n > 2)
        status = duration(r, call, 2, &w->slide_us);
    if (status == MR_OK && call->args_n > 3)
        status = duration(r, call, 3, &w->offset_us);
    if (status != MR_OK)
        return status;
    if (is_window(call->args[0]->type)) {
        struct mr_expr *time;
        status = mr_call_make(r, mr_function_find("window_time"), call->args, 1, call->place,
                              call->args[0]->text, &time);
        if (status != MR_OK)
            return status;
        call->args[0] = time;
    } else if (call->args[0]->type->kind == MR_STRING || call->args[0]->type->kind == MR_DATE ||
               call->args[0]->type->kind == MR_VOID) {
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    }
    status = check_window(r, call, w);
    if (status != MR_OK)
        return status;
    w->windows_n = windows_of_a_time(w);
    call->data = w;
    call->type = mr_window_type(r->arena, call->args[0]->type);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

/* window_slice(time, size, slide, offset, k): all but the first are numbers. */
MR_RESOLVE(window_slice)
{
    struct mr_window *w = MR_NEW(r->arena, struct mr_window);
    int64_t slice;
    enum mr_status status = duration(r, call, 1, &w->size_us);

    if (status == MR_OK)
        status = duration(r, call, 2, &w->slide_us);
    if (status == MR_OK)
        status = duration(r, call, 3, &w->offset_us);
    if (status == MR_OK)
        status = duration(r, call, 4, &slice);
    if (status != MR_OK)
        return status;
    if (!is_time(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0, "\"TIMESTAMP\"");
    w->slice = (uint32_t)slice;
    w->windows_n = windows_of_a_time(w);
    call->data = w;
    call->type = mr_window_type(r->arena, call->args[0]->type);
    call->nullable = true;
    return MR_OK;
}

/* Window number slice of each row: the last one that starts at or before it, then those before. A
 * pane is where it starts. */
static enum mr_status cut(struct mr_call *call, const struct mr_column *x, struct mr_column *out)
{
    const struct mr_window *w = call->expr->data;
    const int64_t *times = x->type->kind == MR_STRUCT ? x->children[0].i64 : x->i64;
    struct mr_column *start, *end;

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    start = &out->children[0];
    end = &out->children[1];
    MR_EACH_ROW(call, i, row)
    {
        int64_t us = times[row];
        start->i64[row] =
            us - mr_floor_mod(us - w->offset_us, w->slide_us) - w->slice * w->slide_us;
        end->i64[row] = start->i64[row] + w->size_us;
        if (end->i64[row] <= us) {
            mr_column_need_valid(out, call->rows, call->arena);
            mr_bit_clear(out->valid, row);
        }
    }
    return MR_OK;
}

MR_BODY(window)
{
    return cut(call, args, out);
}

MR_RESOLVE(window_time)
{
    if (call->args[0]->type->kind != MR_STRUCT)
        return mr_mismatch_argument(r, call, 0, "\"STRUCT\"");
    if (!is_window(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0, "\"STRUCT<start: TIMESTAMP, end: TIMESTAMP>\"");
    call->type = call->args[0]->type->fields[1].type;
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}

MR_BODY(window_time)
{
    const struct mr_column *end = &args[0].children[1];

    mr_column_alloc(out, call->expr->type, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    out->i64[row] = end->i64[row] - 1;
    return MR_OK;
}

/* The gap may be any text or interval expression; the operator evaluates it. */
MR_RESOLVE(session_window)
{
    const struct mr_type *gap = call->args[1]->type;
    enum mr_status status;

    if (call->args[0]->type->kind == MR_STRING)
        call->args[0] = mr_coerce(r, call->args[0], &mr_type_timestamp);
    if (!is_time(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0, "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\")");
    if (gap->kind != MR_STRING && gap->kind != MR_INTERVAL_CALENDAR &&
        gap->kind != MR_INTERVAL_DAY_TIME)
        return mr_mismatch_argument(r, call, 1, "\"INTERVAL\"");
    if (call->args[1]->kind == MR_EXPR_LITERAL && gap->kind == MR_STRING) {
        status = mr_cast_make(r, call->args[1], &mr_type_interval_calendar, false, call->place,
                              &call->args[1]);
        if (status != MR_OK)
            return status;
    }
    call->type = mr_window_type(r->arena, call->args[0]->type);
    call->nullable = call->args[0]->nullable;
    return MR_OK;
}
