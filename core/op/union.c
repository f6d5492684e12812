#include "core/op/operators.h"

static enum mr_status union_open(struct mr_ctx *ctx)
{
    (void)ctx;
    return MR_OK;
}

static void union_close(struct mr_ctx *ctx)
{
    (void)ctx;
}

static enum mr_step union_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    (void)ctx;
    mr_batch_view(out, in);
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_union_ops = {
    .name = "union",
    .open = union_open,
    .close = union_close,
    .step = union_step,
};
