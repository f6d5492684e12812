/* expand.c - each row of the input comes out rows_n times, under another projection each time.
 *
 * Grouping sets and sliding windows. One output batch per projection: the columns are those of the
 * evaluator and the selection is the input's, or what is not late of it, so nothing is copied.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/op/time_bound.h"

struct expand_state {
    struct mr_eval *eval;
    struct mr_column *columns;
    uint32_t *sel;
    uint32_t next; /* projection */
};

static enum mr_status expand_open(struct mr_ctx *ctx)
{
    struct expand_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    MR_ASSERT(node->rows_n > 0 && node->exprs_n % node->rows_n == 0);
    s->columns = MR_NEW_ARRAY(ctx->arena, struct mr_column, node->exprs_n / node->rows_n);
    s->sel = MR_NEW_ARRAY(ctx->arena, uint32_t, ctx->batch_rows);
    return mr_eval_open(node->exprs, node->exprs_n, ctx->batch_rows, ctx->arena, &s->eval,
                        ctx->err);
}

static void expand_close(struct mr_ctx *ctx)
{
    struct expand_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
}

static enum mr_step expand_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    struct expand_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    const uint32_t columns_n = node->exprs_n / node->rows_n;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    mr_batch_view(out, in);
    out->columns = s->columns;
    out->columns_n = columns_n;
    mr_eval_reset(s->eval, ctx->eval);
    for (uint32_t i = 0; i < columns_n; i++)
        if (mr_eval(s->eval, s->next * columns_n + i, in, &s->columns[i], ctx->err))
            return MR_FAILED;
    const int64_t late_us = mr_time_late_us(ctx);
    if (late_us != INT64_MIN) {
        out->n = mr_time_drop_late(&s->columns[node->time_key], late_us, in->sel, in->n, s->sel);
        out->sel = s->sel;
    }
    s->next = (s->next + 1) % node->rows_n;
    return s->next == 0 ? MR_NEED_INPUT : MR_MORE_OUTPUT;
}

const struct mr_operator_ops mr_expand_ops = {
    .name = "expand",
    .state_size = sizeof(struct expand_state),
    .open = expand_open,
    .close = expand_close,
    .step = expand_step,
};
