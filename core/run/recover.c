/* A restart: state to its owners, sources and sink to where the log ends. Runs on the opener's
 * thread while the parts are idle, so their tables are ours; memory that they lack escapes to here.
 */
#include "core/base/check.h"
#include "core/run/control.h"

static enum mr_status no_memory(struct mr_query *q, uint32_t op, struct mr_error *err)
{
    return MR_FAIL(
        err, MR_MEMORY, 0,
        "query \"%s\": its state, that of operator %s, does not fit into the memory limit of %.1f "
        "MB; raise engine: memory_limit",
        q->config.name, mr_node_name(q->shape.nodes[q->shape.stateful[op]].node->kind),
        (double)q->budget.parent->limit_bytes / 1e6);
}

static enum mr_status load_snapshot(void *arg, uint32_t op, uint32_t table, uint32_t partition,
                                    struct mr_text data, struct mr_error *err)
{
    struct mr_query *q = arg;

    MR_ASSERT(op < q->shape.stateful_n && partition < MR_PARTITIONS);
    struct mr_part *p = &q->parts[mr_state_owner(&q->shape, op, partition, q->workers)];
    if (setjmp(p->escape) != 0)
        return no_memory(q, op, err);
    return mr_state_load(p->tables[op][table], data, err);
}

/* Which rows of a log record a part applies: those it owns, of partitions whose snapshot is older.
 */
struct ownership {
    const struct mr_query *query;
    uint32_t op, worker;
    bool (*newer)(void *filter, uint32_t partition);
    void *filter;
};

static bool owns(void *arg, uint32_t partition)
{
    const struct ownership *o = arg;

    return mr_state_owner(&o->query->shape, o->op, partition, o->query->workers) == o->worker &&
           (o->newer == NULL || o->newer(o->filter, partition));
}

static enum mr_status apply_to(struct mr_query *q, struct ownership *o, uint32_t table,
                               struct mr_text record, struct mr_error *err)
{
    struct mr_part *p = &q->parts[o->worker];

    if (setjmp(p->escape) != 0)
        return no_memory(q, o->op, err);
    return mr_state_apply(p->tables[o->op][table], record, owns, o, err);
}

static enum mr_status apply_change(void *arg, uint32_t op, uint32_t table, uint64_t epoch,
                                   bool (*newer)(void *filter, uint32_t partition), void *filter,
                                   struct mr_text record, struct mr_error *err)
{
    struct mr_query *q = arg;
    enum mr_status status = MR_OK;

    (void)epoch;
    MR_ASSERT(op < q->shape.stateful_n);
    for (uint32_t w = 0; status == MR_OK && w < q->workers; w++) {
        struct ownership o = {.query = q, .op = op, .worker = w, .newer = newer, .filter = filter};
        status = apply_to(q, &o, table, record, err);
    }
    return status;
}

static enum mr_status load_source(void *arg, uint32_t source, struct mr_text saved,
                                  struct mr_error *err)
{
    struct mr_query *q = arg;

    MR_ASSERT(source < q->shape.sources_n);
    const struct mr_query_source *s = &q->sources[source];
    return s->ops->load ? s->ops->load(s->planner, saved, err) : MR_OK;
}

/* Committed plans only move the sources on; the uncommitted one is adopted when it runs again. */
static enum mr_status see_plan(void *arg, const struct mr_plan_record *plan, bool committed,
                               struct mr_error *err)
{
    return committed ? mr_sources_adopt(arg, plan, err) : MR_OK;
}

/* The sink's prepared texts, each with its length before it. */
static enum mr_status publish_again(struct mr_query *q, const struct mr_commit *commit,
                                    struct mr_error *err)
{
    struct mr_text rest = commit->prepared;
    struct mr_text prepared[MR_WORKERS_MAX];
    uint32_t n = 0;

    while (rest.n > 0) {
        uint32_t bytes;
        if (n == MR_WORKERS_MAX || !mr_text_take(&rest, &bytes, sizeof bytes) ||
            !mr_text_take_slice(&rest, &prepared[n++], bytes))
            return MR_FAIL(err, MR_CORRUPT, 0,
                           "checkpoint %s: what the sink prepared for epoch %llu can't be read",
                           q->config.checkpoint, (unsigned long long)commit->epoch);
    }
    return q->config.sink_ops->publish(q->committer, commit->epoch, prepared, n, err);
}

/* The last committed epoch is out, the next one is either out already or leaves nothing. */
static enum mr_status recover_sink(struct mr_query *q, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;
    const struct mr_recovered *r = &q->recovered;
    enum mr_status status = MR_OK;
    uint64_t published = UINT64_MAX;

    if (!q->committer_opened)
        return MR_OK;
    if (r->has_commit && ops->publish && !(ops->repeats && r->is_published))
        status = publish_again(q, &r->commit, err);
    if (r->has_commit && status == MR_OK)
        mr_checkpoint_published(q->checkpoint, r->commit.epoch);
    if (status == MR_OK && q->pending && ops->last_published)
        status = ops->last_published(q->committer, &published, err);
    if (status != MR_OK)
        return status;
    q->pending_muted = q->pending && published == r->plan.epoch;
    if (!q->pending_muted && ops->undo)
        status = ops->undo(q->committer, q->next_id, err);
    return status;
}

enum mr_status mr_query_recover(struct mr_query *q, struct mr_error *err)
{
    const struct mr_replay to = {
        .arg = q,
        .snapshot = load_snapshot,
        .change = apply_change,
        .source_saved = load_source,
        .planned = see_plan,
    };
    struct mr_recovered *r = &q->recovered;

    if (q->checkpoint) {
        enum mr_status status = mr_checkpoint_replay(q->checkpoint, &to, r, err);
        if (status != MR_OK)
            return status;
    }
    if (r->has_commit) {
        mr_watermarks_recover(q, &r->commit);
        q->next_id = r->commit.epoch + 1;
    }
    if (r->has_plan && !r->has_commit && !r->plan.has_data) {
        enum mr_status status = mr_sources_adopt(q, &r->plan, err); /* only where it begins */
        if (status != MR_OK)
            return status;
        q->begin_logged = true;
    } else if (r->has_plan) {
        q->pending = true;
        q->next_id = r->plan.epoch;
    }
    return recover_sink(q, err);
}
