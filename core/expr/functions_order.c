#include "core/expr/coerce.h"
#include "core/expr/gather.h"

/* greatest, least: the extreme of the values that are not null. */
static enum mr_status extreme(struct mr_call *call, const struct mr_column *args, int sign,
                              struct mr_column *out)
{
    uint32_t n = call->expr->args_n;
    uint8_t *which = mr_arena_alloc(call->arena, call->rows + 1);

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
