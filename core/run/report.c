#include "core/base/check.h"
#include "core/run/control.h"
#include <math.h>

void mr_report_init(struct mr_query *q)
{
    static const char *const durabilities[] = {[MR_DURABLE_EPOCH] = "epoch",
                                               [MR_DURABLE_INTERVAL] = "interval",
                                               [MR_DURABLE_NONE] = "none"};
    struct mr_progress *p = MR_NEW(&q->arena, struct mr_progress);

    q->progress = p;
    q->counters = MR_NEW_ARRAY(&q->arena, struct mr_node_counters, q->shape.nodes_n);
    p->id = q->query_id;
    p->run_id = q->run_id;
    p->name = q->config.name;
    p->durability = q->config.checkpoint ? durabilities[q->engine->config.durability] : NULL;
    p->sink_description = q->config.sink_ops->name;
    p->nodes_n = q->shape.nodes_n;
    p->nodes = q->counters;
    p->operators_n = q->shape.stateful_n;
    for (uint32_t i = 0; i < p->operators_n; i++)
        p->operators[i].name = mr_node_name(q->shape.nodes[q->shape.stateful[i]].node->kind);
    p->sources_n = q->shape.sources_n;
    for (uint32_t i = 0; i < p->sources_n; i++) {
        const struct mr_table *table = q->shape.tables[i];
        const char *path = NULL;
        for (uint32_t k = 0; k < table->options_n; k++)
            if (strcmp(table->options[k].name, "path") == 0)
                path = table->options[k].value;
        p->sources[i].description =
            path ? mr_arena_format(&q->arena, "FileStreamSource[%s]", path)
                 : mr_arena_format(&q->arena, "%s[%s]", q->sources[i].ops->name, table->name);
    }
}

/* The stateful operator that rows of a partial aggregate are meant for. */
static uint32_t stateful_above(const struct mr_query *q, uint32_t id)
{
    for (; id != MR_NO_NODE; id = q->shape.nodes[id].parent)
        if (q->shape.nodes[id].node->is_stateful)
            return q->shape.nodes[id].node->stateful_index;
    return UINT32_MAX;
}

static void add_counts(struct mr_query *q, const struct mr_instance *instance, uint32_t id)
{
    struct mr_progress *p = q->progress;
    const struct mr_operator_counts *from = &instance->ctx.counts;
    uint32_t op = stateful_above(q, id);

    if (op >= p->operators_n)
        return;
    p->operators[op].counts.rows_dropped += from->rows_dropped;
    if (!instance->shape->node->is_stateful)
        return;
    p->operators[op].counts.rows_total += from->rows_total;
    p->operators[op].counts.rows_updated += from->rows_updated;
    p->operators[op].counts.rows_removed += from->rows_removed;
    p->operators[op].counts.memory_bytes += from->memory_bytes;
}

static void add_times(struct mr_progress *p, const struct mr_ctx *ctx, __int128 *sum, uint64_t *n)
{
    if (ctx->times_n == 0)
        return;
    if (!p->has_event_times || ctx->min_time_us < p->event_min_us)
        p->event_min_us = ctx->min_time_us;
    if (!p->has_event_times || ctx->max_time_us > p->event_max_us)
        p->event_max_us = ctx->max_time_us;
    p->has_event_times = true;
    *sum += ctx->time_sum_us;
    *n += ctx->times_n;
}

static void add_leaf(struct mr_query *q, const struct mr_leaf *leaf)
{
    if (leaf->source_ops == NULL)
        return;
    struct mr_source_progress *s = &q->progress->sources[leaf->instance->shape->source];
    s->input_rows += leaf->counts.rows;
    q->progress->input_rows += leaf->counts.rows;
    q->progress->bad_records += leaf->counts.bad;
}

static void add_part(struct mr_query *q, const struct mr_part *part, __int128 *sum, uint64_t *n)
{
    struct mr_progress *p = q->progress;

    p->sink_rows += (int64_t)part->sink_rows;
    for (uint32_t id = 0; id < q->shape.nodes_n; id++) {
        const struct mr_instance *instance = &part->instances[id];
        add_counts(q, instance, id);
        if (instance->shape->node->kind == MR_NODE_WATERMARK)
            add_times(p, &instance->ctx, sum, n);
        q->counters[id].node = instance->counters.node;
        q->counters[id].calls += instance->counters.calls;
        q->counters[id].rows_in += instance->counters.rows_in;
        q->counters[id].rows_out += instance->counters.rows_out;
        q->counters[id].cycles += instance->counters.cycles;
    }
    for (uint32_t i = 0; i < q->shape.stages_n; i++)
        for (uint32_t l = 0; l < q->shape.stages[i].leaves_n; l++)
            add_leaf(q, &part->stages[i].leaves[l]);
}

static void reset(struct mr_query *q)
{
    struct mr_progress *p = q->progress;

    p->input_rows = p->bad_records = 0;
    p->sink_rows = 0;
    p->has_event_times = false;
    for (uint32_t i = 0; i < p->operators_n; i++)
        p->operators[i].counts = (struct mr_operator_counts){0};
    for (uint32_t i = 0; i < p->sources_n; i++)
        p->sources[i].input_rows = 0;
    memset(q->counters, 0, q->shape.nodes_n * sizeof *q->counters);
}

static void tell_sources(struct mr_query *q)
{
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        const struct mr_query_source *s = &q->sources[i];
        struct mr_source_progress *p = &q->progress->sources[i];
        struct mr_buffer metrics;
        p->start_offset = s->start_json;
        p->end_offset = p->latest_offset = s->end_json;
        mr_buffer_init(&metrics, &q->scratch);
        if (s->ops->metrics)
            s->ops->metrics(s->planner, &metrics);
        p->metrics = mr_buffer_text(&metrics);
    }
}

void mr_report_epoch(struct mr_query *q)
{
    struct mr_progress *p = q->progress;
    __int128 sum = 0;
    uint64_t n = 0;

    reset(q);
    p->timestamp_us = q->env->ops->now_us(q->env);
    p->batch_id = q->epoch.id;
    p->has_data = q->epoch.has_data;
    p->is_idle = false;
    p->has_watermark = q->epoch.evict_us != INT64_MIN;
    p->watermark_us = q->epoch.evict_us;
    tell_sources(q);
    for (uint32_t w = 0; w < q->workers; w++)
        add_part(q, &q->parts[w], &sum, &n);
    if (n > 0)
        p->event_avg_us = (int64_t)(sum / (__int128)n);
    mr_report_rates(q);
}

void mr_report_rates(struct mr_query *q)
{
    struct mr_progress *p = q->progress;
    int64_t now = q->env->ops->monotonic_us(q->env);
    int64_t since = q->last_trigger_us ? q->trigger_us - q->last_trigger_us : 0;
    int64_t took = now - q->trigger_us;

    /* As in Spark there is no rate before the second trigger. */
    p->input_rows_per_second = since > 0 ? (double)p->input_rows * 1e6 / (double)since : NAN;
    p->processed_rows_per_second = took > 0 ? (double)p->input_rows * 1e6 / (double)took : NAN;
}

void mr_report_idle(struct mr_query *q)
{
    struct mr_progress *p = q->progress;

    reset(q);
    p->timestamp_us = q->env->ops->now_us(q->env);
    p->batch_id = q->next_id;
    p->has_data = false;
    p->is_idle = true;
    p->has_watermark = q->watermark_us != INT64_MIN;
    p->watermark_us = q->watermark_us;
    p->input_rows_per_second = p->processed_rows_per_second = 0;
    p->add_batch_us = p->wal_commit_us = p->commit_offsets_us = p->query_planning_us = 0;
    p->trigger_execution_us = q->env->ops->monotonic_us(q->env) - q->trigger_us;
    mr_arena_reset(&q->scratch);
    tell_sources(q);
}
