#include "core/expr/coerce.h"
#include "core/expr/gather.h"

#define EXTREME(member, type)                                                                      \
    for (uint32_t k = 1; k < n; k++)                                                               \
        MR_EACH_ROW(call, i, row)                                                                  \
        {                                                                                          \
            type v = args[k].member[row], best = out->member[row];                                 \
            out->member[row] = (sign > 0 ? v > best : v < best) ? v : best;                        \
        }                                                                                          \
    return true

/* Whole numbers and times without nulls. False: others. */
static bool extreme_whole(struct mr_call *call, const struct mr_column *args, int sign,
                          struct mr_column *out)
{
    const struct mr_type *type = call->expr->type;
    uint32_t n = call->expr->args_n, bytes = mr_type_value_bytes(type);
    bool whole = mr_type_is_integer(type) || type->kind == MR_DATE || type->kind == MR_TIMESTAMP ||
                 type->kind == MR_TIMESTAMP_NTZ;

    for (uint32_t k = 0; k < n; k++)
        whole = whole && args[k].valid == NULL && args[k].type->kind == type->kind;
    if (!whole || bytes < 4)
        return false;
    mr_column_alloc(out, type, call->rows, false, call->arena);
    memcpy(out->data, args[0].data, (size_t)call->rows * bytes);
    if (bytes == 4) {
        EXTREME(i32, int32_t);
    }
    EXTREME(i64, int64_t);
}

/* greatest, least: the extreme of the values that are not null. */
static enum mr_status extreme(struct mr_call *call, const struct mr_column *args, int sign,
                              struct mr_column *out)
{
    uint32_t n = call->expr->args_n;
    uint8_t *which;

    if (extreme_whole(call, args, sign, out))
        return MR_OK;
    which = mr_arena_alloc(call->arena, call->rows + 1);
    if (n > MR_CHOOSE_MAX)
        return MR_FAIL(call->err, MR_UNSUPPORTED, 0, "%s: more than %u arguments",
                       call->expr->function->name, MR_CHOOSE_MAX);
    MR_EACH_ROW(call, i, row)
    {
        which[row] = MR_CHOOSE_NULL;
        for (uint32_t k = 0; k < n; k++) {
            if (mr_column_is_null(&args[k], row))
                continue;
            if (which[row] == MR_CHOOSE_NULL ||
                sign * mr_column_compare(&args[k], row, &args[which[row]], row) > 0)
                which[row] = (uint8_t)k;
        }
    }
    mr_column_choose(out, call->expr->type, args, n, which, call->rows, call->sel, call->n,
                     call->arena);
    return MR_OK;
}

MR_BODY(greatest)
{
    return extreme(call, args, 1, out);
}
MR_BODY(least)
{
    return extreme(call, args, -1, out);
}
