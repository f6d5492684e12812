#include "core/op/operators.h"

#include "core/base/check.h"

struct project_state {
    struct mr_eval *eval;
    struct mr_column *columns;
};

static enum mr_status project_open(struct mr_ctx *ctx)
{
    struct project_state *s = ctx->state;

    s->columns = MR_NEW_ARRAY(ctx->arena, struct mr_column, ctx->node->exprs_n);
    return mr_eval_open(ctx->node->exprs, ctx->node->exprs_n, ctx->batch_rows, ctx->arena, &s->eval,
                        ctx->err);
}

static void project_close(struct mr_ctx *ctx)
{
    struct project_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
}

static enum mr_step project_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                 struct mr_batch *out)
{
    struct project_state *s = ctx->state;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    mr_batch_view(out, in);
    out->columns = s->columns;
    out->columns_n = ctx->node->exprs_n;
    mr_eval_reset(s->eval, ctx->eval);
    for (uint32_t i = 0; i < ctx->node->exprs_n; i++)
        if (mr_eval(s->eval, i, in, &s->columns[i], ctx->err))
            return MR_FAILED;
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_project_ops = {
    .name = "project",
    .state_size = sizeof(struct project_state),
    .open = project_open,
    .close = project_close,
    .step = project_step,
};
