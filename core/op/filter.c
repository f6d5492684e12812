#include "core/op/operators.h"

#include "core/base/check.h"

struct filter_state {
    struct mr_eval *eval;
    uint32_t *sel; /* batch_rows */
};

static enum mr_status filter_open(struct mr_ctx *ctx)
{
    struct filter_state *s = ctx->state;

    s->sel = mr_arena_alloc(ctx->arena, sizeof *s->sel * ctx->batch_rows);
    return mr_eval_open(ctx->node->exprs, 1, ctx->batch_rows, ctx->arena, &s->eval, ctx->err);
}

static void filter_close(struct mr_ctx *ctx)
{
    struct filter_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
}

static enum mr_step filter_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    struct filter_state *s = ctx->state;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    mr_batch_view(out, in);
    mr_eval_reset(s->eval, ctx->eval);
    if (mr_eval_filter(s->eval, 0, in, s->sel, &out->n, ctx->err))
        return MR_FAILED;
    if (out->n != in->rows)
        out->sel = s->sel;
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_filter_ops = {
    .name = "filter",
    .state_size = sizeof(struct filter_state),
    .open = filter_open,
    .close = filter_close,
    .step = filter_step,
};
