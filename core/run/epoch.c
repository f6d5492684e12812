/* An epoch: planned, logged, run by the workers, committed, published. */
#include "core/base/check.h"
#include "core/run/control.h"
#include <signal.h>
#include <unistd.h>

static int64_t monotonic_us(const struct mr_query *q)
{
    return q->env->ops->monotonic_us(q->env);
}

static struct mr_plan_record record_of(struct mr_query *q)
{
    struct mr_plan_record plan = {
        .epoch = q->epoch.id,
        .time_us = q->epoch.time_us,
        .late_us = q->epoch.late_us,
        .evict_us = q->epoch.evict_us,
        .has_data = q->epoch.has_data,
    };

    mr_sources_record(q, &plan);
    return plan;
}

/* The watermark moved since the last epoch, some state waits for it, and this run has seen data:
 * Spark does not run what an earlier run left pending. */
static bool wants_no_data_epoch(const struct mr_query *q)
{
    const struct mr_session *session = q->config.session;

    return q->ran_data && q->config.trigger != MR_TRIGGER_ONCE &&
           q->shape.plan->needs_no_data_batches && (!session || session->conf.no_data_batches) &&
           q->watermark_us > q->last_evict_us;
}

/* Where a query begins is told by nothing but its first plans: they outlive a power cut too. */
static enum mr_status log_plan(struct mr_query *q, const struct mr_plan_record *plan,
                               struct mr_error *err)
{
    enum mr_status status = mr_checkpoint_plan(q->checkpoint, plan, err);
    bool tells = plan->epoch == 0 && (q->begins || q->begin_logged);

    return status == MR_OK && tells ? mr_checkpoint_sync(q->checkpoint, err) : status;
}

/* Where a new query begins holds from now on, although there may be no epoch for long: as a plan
 * without data, which does not run after a restart. */
static enum mr_status log_beginning(struct mr_query *q, struct mr_error *err)
{
    struct mr_plan_record plan = {.epoch = q->next_id};

    if (!q->begins || q->begin_logged || q->next_id > 0 || q->checkpoint == NULL)
        return MR_OK;
    mr_sources_record(q, &plan);
    q->begin_logged = true;
    return log_plan(q, &plan, err);
}

/* What comes next. A plan that is made is not forgotten: the sources moved on. */
static enum mr_status plan_ahead(struct mr_query *q, struct mr_error *err)
{
    bool any;

    if (q->ahead.made)
        return MR_OK;
    int64_t before = monotonic_us(q);
    enum mr_status status = mr_sources_plan(q, q->next_id, &any, err);
    if (status != MR_OK)
        return status;
    q->progress->latest_offset_us = monotonic_us(q) - before;
    q->ahead.has_data = any || q->config.batch;
    q->ahead.runs = q->ahead.has_data || wants_no_data_epoch(q);
    q->ahead.made = q->ahead.runs;
    return q->ahead.runs ? MR_OK : log_beginning(q, err);
}

static void begin_new(struct mr_query *q)
{
    q->ahead.made = false;
    q->epoch = (struct mr_epoch){
        .id = q->next_id,
        /* Spark's batch timestamp has milliseconds. */
        .time_us = q->env->ops->now_us(q->env) / 1000 * 1000,
        .late_us = q->last_evict_us,
        .evict_us = q->watermark_us,
        .is_batch = q->config.batch,
        .has_data = q->ahead.has_data,
    };
}

static void begin_pending(struct mr_query *q)
{
    const struct mr_plan_record *plan = &q->recovered.plan;

    q->epoch = (struct mr_epoch){
        .id = plan->epoch,
        .time_us = plan->time_us,
        .late_us = plan->late_us,
        .evict_us = plan->evict_us,
        .has_data = plan->has_data,
    };
    if (q->shape.plan->watermarks_n == 0)
        q->epoch.late_us = q->epoch.evict_us = INT64_MIN;
    else if (q->epoch.evict_us < 0) /* the watermark is new */
        q->epoch.late_us = q->epoch.evict_us = 0;
}

static void give_rows(struct mr_query *q)
{
    for (uint32_t w = 0; w < q->workers && q->config.on_rows; w++)
        for (const struct mr_recorded *r = q->parts[w].recorded; r; r = r->next)
            q->config.on_rows(q->config.on_rows_arg, q->epoch.id, &r->batch);
}

/* What the writers prepared, each with its length before it: publish_again in recover.c reads it.
 */
static struct mr_text join_prepared(struct mr_query *q, struct mr_text *prepared)
{
    struct mr_buffer b;

    mr_buffer_init(&b, &q->scratch);
    for (uint32_t w = 0; w < q->workers; w++) {
        prepared[w] = mr_buffer_text(&q->parts[w].prepared);
        uint32_t bytes = (uint32_t)prepared[w].n;
        MR_ASSERT(bytes == prepared[w].n);
        mr_buffer_append(&b, &bytes, sizeof bytes);
        mr_buffer_append_text(&b, prepared[w]);
    }
    return mr_buffer_text(&b);
}

static enum mr_status commit_external(struct mr_query *q, struct mr_error *err)
{
    struct mr_buffer offsets;

    if (q->checkpoint) {
        enum mr_status status = mr_checkpoint_sync(q->checkpoint, err);
        if (status != MR_OK)
            return status;
    }
    mr_buffer_init(&offsets, &q->scratch);
    mr_buffer_append(&offsets, "[", 1);
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        struct mr_text json = q->progress->sources[i].end_offset;
        mr_buffer_append_format(&offsets, "%s%.*s", i ? "," : "", json.n ? (int)json.n : 4,
                                json.n ? json.data : "null");
    }
    mr_buffer_append(&offsets, "]", 1);
    return q->config.sink_ops->external_commit(q->committer, q->epoch.id, mr_buffer_text(&offsets),
                                               err);
}

static enum mr_status write_commit(struct mr_query *q, struct mr_text prepared,
                                   struct mr_error *err)
{
    struct mr_commit commit = {
        .epoch = q->epoch.id,
        .time_us = q->epoch.time_us,
        .late_us = q->epoch.late_us,
        .evict_us = q->epoch.evict_us,
        .next_watermark_us = q->watermark_us,
        .watermarks_n = q->shape.plan->watermarks_n,
        .watermark_policy_max = q->policy_max,
        .had_data = q->epoch.has_data,
        .prepared = prepared,
    };

    memcpy(commit.watermarks_us, q->watermarks_us, sizeof commit.watermarks_us);
    return mr_checkpoint_commit(q->checkpoint, &commit, err);
}

/* For tests of restarts: the process dies after the sink's part of its last epoch. */
static enum mr_status crash_if_last(struct mr_query *q, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    q->next_id++;
    if (q->config.trigger != MR_TRIGGER_ONCE)
        status = plan_ahead(q, err);
    q->next_id--;
    if (status != MR_OK || q->ahead.made)
        return status;
    if (q->checkpoint)
        status = mr_checkpoint_sync(q->checkpoint, err);
    if (status == MR_OK)
        kill(getpid(), SIGKILL);
    return status;
}

static enum mr_status commit(struct mr_query *q, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;
    struct mr_text prepared[MR_WORKERS_MAX];
    struct mr_text joined = join_prepared(q, prepared);
    bool to_sink = q->committer_opened && !q->parts[0].muted;
    enum mr_status status = MR_OK;

    mr_query_at(q, MR_AT_SINK, 0);
    if (to_sink && ops->external_commit)
        status = commit_external(q, err);
    mr_query_at(q, MR_AT_CHECKPOINT, 0);
    if (status == MR_OK && q->checkpoint)
        status = write_commit(q, joined, err);
    mr_query_at(q, MR_AT_SINK, 0);
    if (status == MR_OK && to_sink && ops->publish)
        status = ops->publish(q->committer, q->epoch.id, prepared, q->workers, err);
    if (status == MR_OK && q->checkpoint)
        mr_checkpoint_published(q->checkpoint, q->epoch.id);
    if (status == MR_OK)
        status = mr_sources_committed(q, q->epoch.id, err);
    return status;
}

static void take_snapshot(void *arg, uint32_t op, uint32_t table, uint32_t partition,
                          struct mr_buffer *out)
{
    struct mr_query *q = arg;
    uint32_t owner = mr_state_owner(&q->shape, op, partition, q->workers);

    mr_state_snapshot(q->parts[owner].tables[op][table], partition, out);
}

static void save_source(void *arg, uint32_t source, struct mr_buffer *out)
{
    struct mr_query *q = arg;

    if (q->sources[source].ops->save)
        q->sources[source].ops->save(q->sources[source].planner, out);
}

static enum mr_status snapshot(struct mr_query *q, struct mr_error *err)
{
    uint32_t tables_n[MR_STATE_TABLES_MAX];
    struct mr_snapshot_from from = {
        .arg = q,
        .operators_n = q->shape.stateful_n,
        .tables_n = tables_n,
        .sources_n = q->shape.sources_n,
        .take = take_snapshot,
        .source_save = save_source,
    };

    for (uint32_t i = 0; i < q->shape.stateful_n; i++)
        tables_n[i] = q->shape.nodes[q->shape.stateful[i]].tables_n;
    return mr_checkpoint_snapshot(q->checkpoint, q->epoch.id, &from, err);
}

/* The plan of an epoch that failed must last: without it a restart would cut the epoch anew. When
 * it can't be kept, the first failure is still the one to tell. */
static enum mr_status keep_plan(struct mr_query *q, enum mr_status failure)
{
    struct mr_error second = {0};

    mr_query_at(q, MR_AT_CHECKPOINT, 0);
    enum mr_status kept = q->checkpoint ? mr_checkpoint_sync(q->checkpoint, &second) : MR_OK;

    return kept == MR_OK || failure != MR_OK ? failure : kept;
}

/* Sources are planned, q->epoch is set. */
static enum mr_status run(struct mr_query *q, bool muted, struct mr_error *err)
{
    struct mr_progress *p = q->progress;
    enum mr_status status = mr_sources_split(q, q->epoch.has_data, err);

    int64_t start = monotonic_us(q);
    p->query_planning_us = start - q->trigger_us - p->latest_offset_us;
    atomic_store_explicit(&q->epoch_told, q->epoch.id, memory_order_relaxed);
    mr_query_at(q, MR_AT_CHECKPOINT, 0);
    if (status == MR_OK && q->checkpoint && !q->pending) {
        struct mr_plan_record plan = record_of(q);
        status = log_plan(q, &plan, err);
    }
    int64_t logged = monotonic_us(q);
    p->wal_commit_us = logged - start;
    mr_query_at(q, MR_AT_SINK, 0);
    if (status == MR_OK && q->committer_opened && !muted && q->config.sink_ops->begin)
        status = q->config.sink_ops->begin(q->committer, q->epoch.id, err);
    if (status != MR_OK)
        return status;
    for (uint32_t w = 0; w < q->workers; w++)
        q->parts[w].muted = muted;
    mr_query_at(q, MR_AT_WORKERS, 0);
    status = mr_query_command(q, MR_COMMAND_EPOCH, err);
    for (uint32_t w = 0; w < q->workers; w++)
        q->is_unsure |= q->parts[w].prepare_failed;
    if (status != MR_OK)
        return keep_plan(q, status);
    mr_watermarks_advance(q);
    q->ran_data |= q->epoch.has_data;
    p->add_batch_us = monotonic_us(q) - logged;
    return MR_OK;
}

static enum mr_status finish(struct mr_query *q, struct mr_error *err)
{
    struct mr_progress *p = q->progress;
    int64_t start = monotonic_us(q);
    enum mr_status status = MR_OK;

    mr_report_epoch(q);
    give_rows(q);
    if (q->config.on_epoch)
        status = q->config.on_epoch(q->config.on_rows_arg, p, err);
    if (status == MR_OK && q->crash)
        status = crash_if_last(q, err);
    q->is_unsure = status == MR_OK;
    if (status == MR_OK)
        status = commit(q, err);
    if (status != MR_OK)
        return status;
    q->is_unsure = false;
    q->next_id = q->epoch.id + 1;
    int64_t end = monotonic_us(q);
    p->committed_us = q->env->ops->now_us(q->env);
    p->commit_offsets_us = end - start;
    p->trigger_execution_us = end - q->trigger_us;
    mr_report_rates(q);
    if (q->config.on_progress)
        q->config.on_progress(q->config.on_progress_arg, p);
    q->last_told_us = end;
    q->last_trigger_us = q->trigger_us;
    mr_query_at(q, MR_AT_CHECKPOINT, 0);
    return q->checkpoint ? snapshot(q, err) : MR_OK;
}

enum mr_status mr_epoch_next(struct mr_query *q, bool *ran, struct mr_error *err)
{
    bool pending = q->pending;
    enum mr_status status;

    *ran = false;
    q->trigger_us = monotonic_us(q);
    mr_arena_reset(&q->scratch);
    if (pending) {
        begin_pending(q);
        status = mr_sources_adopt(q, &q->recovered.plan, err);
    } else {
        status = plan_ahead(q, err);
        if (status != MR_OK || !q->ahead.made)
            return status;
        begin_new(q);
    }
    *ran = true;
    if (status == MR_OK)
        status = run(q, pending && q->pending_muted, err);
    q->pending = false;
    return status == MR_OK ? finish(q, err) : status;
}
