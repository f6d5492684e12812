/* watermark.c - notes the range of the event times that pass. */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "kernels/window/window.h"

struct watermark_state {
    struct mr_eval *eval;
};

static enum mr_status watermark_open(struct mr_ctx *ctx)
{
    struct watermark_state *s = ctx->state;

    return mr_eval_open(ctx->node->exprs, 1, ctx->batch_rows, ctx->arena, &s->eval, ctx->err);
}

static void watermark_close(struct mr_ctx *ctx)
{
    struct watermark_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
}

static enum mr_step watermark_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                   struct mr_batch *out)
{
    struct watermark_state *s = ctx->state;
    struct mr_column time;
    struct mr_time_range range;

    mr_batch_view(out, in);
    mr_eval_reset(s->eval, ctx->eval);
    if (mr_eval(s->eval, 0, in, &time, ctx->err))
        return MR_FAILED;
    mr_window->range(&range, time.i64, time.valid, in->sel, in->n);
    if (range.n == 0)
        return MR_NEED_INPUT;
    if (ctx->times_n == 0) {
        ctx->max_time_us = INT64_MIN;
        ctx->min_time_us = INT64_MAX;
        ctx->time_sum_us = 0;
    }
    ctx->max_time_us = range.max > ctx->max_time_us ? range.max : ctx->max_time_us;
    ctx->min_time_us = range.min < ctx->min_time_us ? range.min : ctx->min_time_us;
    ctx->time_sum_us += (__int128)range.base * range.n + range.sum;
    ctx->times_n += range.n;
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_watermark_ops = {
    .name = "watermark",
    .state_size = sizeof(struct watermark_state),
    .open = watermark_open,
    .close = watermark_close,
    .step = watermark_step,
};
