#include "core/op/partial_aggregate.h"
#include "core/op/time_bound.h"
#include "kernels/window/window.h"

static void drop_null_times(struct mr_partial_state *s, const struct mr_column *time,
                            struct mr_partial_rows *r)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t row = r->sel ? r->sel[i] : i;
        s->sel[kept] = row;
        kept += !mr_column_is_null(time, row);
    }
    r->sel = s->sel;
    r->n = kept;
}

/* Of the windows that hold the pane at start, those that end at or before late: the pane is the
 * first slide of one, the last of another. */
static uint64_t late_windows(const struct mr_node *node, int64_t start, int64_t late)
{
    const uint64_t all = (uint64_t)(node->window_us / node->slide_us);
    const uint64_t n =
        late > start ? ((uint64_t)late - (uint64_t)start) / (uint64_t)node->slide_us : 0;

    return n < all ? n : all;
}

/* Rows count for each window that they come too late for; those too late for all go. */
static void drop_late_windows(struct mr_ctx *ctx, struct mr_partial_rows *r, int64_t late)
{
    struct mr_partial_state *s = ctx->state;
    const uint64_t all = (uint64_t)(ctx->node->window_us / ctx->node->slide_us);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const int64_t start = r->is_one_window ? r->start : s->starts[i];
        const uint64_t late_n = late_windows(ctx->node, start, late);
        s->sel[kept] = r->sel ? r->sel[i] : i;
        s->starts[kept] = start;
        kept += late_n < all;
        ctx->counts.rows_dropped += late_n;
    }
    r->sel = s->sel;
    r->n = kept;
}

/* Windows of the rows by their time column. Rows without a time have none and go; late ones go and
 * are counted. */
static void choose_by_window(struct mr_ctx *ctx, struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    const struct mr_column *time = &s->keys[node->window_key];
    const int64_t late = node->time_key == node->window_key ? mr_time_late_us(ctx) : INT64_MIN;
    struct mr_time_range range;

    mr_window->range(&range, time->i64, time->valid, r->sel, r->n);
    if (range.n < r->n)
        drop_null_times(s, time, r);
    if (r->n == 0)
        return;
    mr_window->starts(&r->start, &range.min, NULL, 1, node->slide_us, node->offset_us);
    r->is_one_window = (uint64_t)range.max - (uint64_t)r->start < (uint64_t)node->slide_us;
    if (!r->is_one_window)
        mr_window->starts(s->starts, time->i64, r->sel, r->n, node->slide_us, node->offset_us);
    if (late_windows(node, r->start, late) > 0)
        drop_late_windows(ctx, r, late);
}

enum mr_status mr_partial_choose_rows(struct mr_ctx *ctx, const struct mr_batch *in,
                                      struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    mr_eval_reset(s->eval, ctx->eval);
    mr_arena_reset(&s->arena);
    for (uint32_t i = 0; i < node->keys_n; i++) {
        const enum mr_status status = mr_eval(s->eval, i, in, &s->keys[i], ctx->err);
        if (status)
            return status;
    }
    *r = (struct mr_partial_rows){.batch = *in, .n = in->n, .sel = in->sel};
    if (mr_time_late_us(ctx) != INT64_MIN && node->time_key != node->window_key) {
        r->n = mr_time_drop_late(&s->keys[node->time_key], mr_time_late_us(ctx), in->sel, in->n,
                                 s->sel);
        r->sel = r->n == in->n ? in->sel : s->sel;
        ctx->counts.rows_dropped += in->n - r->n;
    }
    if (node->window_key != UINT32_MAX)
        choose_by_window(ctx, r);
    r->batch.sel = r->sel;
    r->batch.n = r->n;
    return MR_OK;
}

void mr_partial_make_window(struct mr_ctx *ctx, const struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    if (node->window_key == UINT32_MAX)
        return;
    for (uint32_t i = 0; i < r->n && r->is_one_window; i++)
        s->starts[i] = r->start;
    mr_window_column(&s->keys[node->window_key], node->output->fields[node->window_key].type,
                     s->starts, node->slide_us, r->sel, r->n, r->batch.rows, &s->arena);
}
