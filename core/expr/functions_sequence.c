#include "core/base/time.h"
#include "core/expr/calendar.h"
#include "core/expr/coerce.h"
#include "core/expr/writer.h"

/* sequence(from, to[, step]): integers, dates, timestamps; the end belongs to it. */

enum { ELEMENTS_MAX = 1 << 24 };

MR_RESOLVE(sequence)
{
    const struct mr_type *common =
        mr_type_common(call->args[0]->type, call->args[1]->type, r->ansi, r->arena);
    bool time = common && (common->kind == MR_DATE || common->kind == MR_TIMESTAMP ||
                           common->kind == MR_TIMESTAMP_NTZ);

    if (common == NULL || (!time && !mr_type_is_integer(common)))
        return mr_mismatch(r, call, "SEQUENCE_WRONG_INPUT_TYPES",
                           "`sequence` uses the wrong parameter type. The parameter type must "
                           "conform to: 1. The start and stop expressions must resolve to the same "
                           "type. 2. Integers, dates and timestamps, with a step of an interval.");
    if (call->args_n > 2 && !time) {
        common = mr_type_common(common, call->args[2]->type, r->ansi, r->arena);
        if (common == NULL || !mr_type_is_integer(common))
            return mr_mismatch_argument(r, call, 2, "\"INTEGRAL\"");
        call->args[2] = mr_coerce(r, call->args[2], common);
    } else if (call->args_n > 2 && (call->args[2]->type->kind < MR_INTERVAL_YEAR_MONTH ||
                                    call->args[2]->type->kind > MR_INTERVAL_CALENDAR)) {
        return mr_mismatch_argument(r, call, 2, "\"INTERVAL\"");
    }
    call->args[0] = mr_coerce(r, call->args[0], common);
    call->args[1] = mr_coerce(r, call->args[1], common);
    call->type = mr_type_array(r->arena, common, false);
    call->nullable = mr_expr_any_nullable(call);
    return MR_OK;
}

static enum mr_status illegal(struct mr_call *call)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY, "IllegalArgumentException",
                             "Illegal sequence boundaries: the step leads away from the end, or "
                             "there are more than %d elements.",
                             ELEMENTS_MAX);
}

static int64_t value_at(const struct mr_column *c, uint32_t row)
{
    switch (mr_type_value_bytes(c->type)) {
    case 1:
        return c->i8[row];
    case 2:
        return c->i16[row];
    case 4:
        return c->i32[row];
    default:
        return c->i64[row];
    }
}

static enum mr_status integers(struct mr_call *call, const struct mr_column *args, uint32_t row,
                               struct mr_builder *to)
{
    int64_t from = value_at(&args[0], row), end = value_at(&args[1], row);
    int64_t step = call->expr->args_n > 2 ? value_at(&args[2], row) : from <= end ? 1 : -1;
    __int128 n;

    if (step == 0 && from == end) {
        mr_builder_append_i64(to, from);
        return MR_OK;
    }
    if (step == 0 || (step > 0) != (end >= from)) {
        if (from != end)
            return illegal(call);
        step = step ? step : 1;
    }
    n = ((__int128)end - from) / step + 1;
    if (n > ELEMENTS_MAX)
        return illegal(call);
    for (int64_t k = 0; k < n; k++)
        mr_builder_append_i64(to, from + k * step);
    return MR_OK;
}

/* Times: element k is the start moved by k steps, so that months keep the day. */
static enum mr_status times(struct mr_call *call, const struct mr_column *args, uint32_t row,
                            struct mr_builder *to)
{
    bool date = args[0].type->kind == MR_DATE;
    const struct mr_zone *zone =
        args[0].type->kind == MR_TIMESTAMP ? call->context->zone : mr_zone_utc();
    int64_t scale = date ? MR_US_PER_DAY : 1;
    int64_t from = value_at(&args[0], row) * scale, end = value_at(&args[1], row) * scale;
    struct mr_calendar_interval step = {.days = from <= end ? 1 : -1};
    bool up;

    if (call->expr->args_n > 2)
        step = mr_interval_at(&args[2], row);
    int64_t size = step.months * 28 * MR_US_PER_DAY + step.days * MR_US_PER_DAY + step.us;
    up = size > 0;
    if (size == 0 ? from != end : up ? from > end : from < end)
        return illegal(call);
    if ((end - from) / (size ? size : 1) > ELEMENTS_MAX)
        return illegal(call);
    for (int32_t k = 0;; k++) {
        struct mr_calendar_interval by = {step.months * k, step.days * k, step.us * k};
        int64_t us;
        if (!mr_calendar_move(from, zone, &by, 1, &us) || (up ? us > end : us < end))
            break;
        mr_builder_append_i64(to, date ? mr_floor_div(us, MR_US_PER_DAY) : us);
        if (size == 0)
            break;
    }
    return MR_OK;
}

MR_BODY(sequence)
{
    bool integer = mr_type_is_integer(args[0].type);
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        enum mr_status status = (integer ? integers : times)(call, args, row, &w.children[0]);
        if (status != MR_OK)
            return status;
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}
