#include "core/base/check.h"
#include "core/base/time.h"
#include "core/run/control.h"

void mr_watermarks_init(struct mr_query *q)
{
    bool has = q->shape.plan->watermarks_n > 0 && !q->config.batch;

    MR_ASSERT(q->shape.plan->watermarks_n <= MR_WATERMARKS_MAX);
    q->policy_max = q->config.session && q->config.session->conf.watermark_policy_max;
    q->watermark_us = q->last_evict_us = has ? 0 : INT64_MIN;
}

/* A watermark that was added since starts at 0, one that was removed is forgotten. */
void mr_watermarks_recover(struct mr_query *q, const struct mr_commit *commit)
{
    uint32_t n = q->shape.plan->watermarks_n;

    q->policy_max = commit->watermark_policy_max;
    if (n == 0)
        return;
    q->watermark_us = commit->next_watermark_us > 0 ? commit->next_watermark_us : 0;
    q->last_evict_us = commit->evict_us > 0 ? commit->evict_us : 0;
    for (uint32_t i = 0; commit->watermarks_n == n && i < n; i++)
        q->watermarks_us[i] = commit->watermarks_us[i];
}

/* Spark counts event times in milliseconds. */
static int64_t floor_ms(int64_t us)
{
    return mr_floor_div(us, 1000) * 1000;
}

static int64_t max_of_epoch(const struct mr_query *q, uint32_t id)
{
    int64_t max = INT64_MIN;

    for (uint32_t w = 0; w < q->workers; w++) {
        const struct mr_ctx *ctx = &q->parts[w].instances[id].ctx;
        if (ctx->times_n > 0 && ctx->max_time_us > max)
            max = ctx->max_time_us;
    }
    return max;
}

void mr_watermarks_advance(struct mr_query *q)
{
    uint32_t n = q->shape.plan->watermarks_n;

    q->last_evict_us = q->epoch.evict_us;
    if (n == 0 || q->config.batch)
        return;
    for (uint32_t id = 0; id < q->shape.nodes_n; id++) {
        const struct mr_node *node = q->shape.nodes[id].node;
        if (node->kind != MR_NODE_WATERMARK)
            continue;
        int64_t max = max_of_epoch(q, id), *own = &q->watermarks_us[node->watermark_index];
        int64_t reached;
        if (max == INT64_MIN || __builtin_sub_overflow(floor_ms(max), node->delay_us, &reached))
            continue;
        if (reached > *own)
            *own = reached;
    }
    int64_t global = q->watermarks_us[0];
    for (uint32_t i = 1; i < n; i++)
        if (q->policy_max ? q->watermarks_us[i] > global : q->watermarks_us[i] < global)
            global = q->watermarks_us[i];
    if (global > q->watermark_us)
        q->watermark_us = global;
}
