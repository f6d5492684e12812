/* What is stored, given back: the newest whole round, then the log behind it. */
#include "core/base/check.h"
#include "core/checkpoint/handle.h"

struct replay {
    struct mr_checkpoint *checkpoint;
    const struct mr_replay *to;
    uint64_t
        *tags[MR_STATE_TABLES_MAX]; /* per operator, by table and partition: epoch + 1; 0: none */
    uint64_t begin;                 /* epoch + 1 of the round, so of the sources; 0: no round */
    uint64_t first_group;           /* of the log to be done; 0: no round */
    uint64_t newest;                /* tag */
};

static enum mr_status corrupt(const struct mr_checkpoint *c, const char *what, struct mr_error *err)
{
    return MR_FAIL(err, MR_CORRUPT, 0, "checkpoint: %s: %s", c->config.path, what);
}

static enum mr_status take_state(struct replay *r, const struct mr_chunk *chunk,
                                 struct mr_text data, struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;

    if (chunk->op >= c->operators_n || chunk->table >= c->tables_n[chunk->op] ||
        chunk->partitions_n > MR_PARTITIONS ||
        chunk->partition + chunk->partitions_n > MR_PARTITIONS)
        return corrupt(c, "the snapshot has a table that the query has not", err);
    uint64_t *tags = r->tags[chunk->op] + (uint64_t)chunk->table * MR_PARTITIONS;
    for (uint32_t i = 0; i < chunk->partitions_n; i++)
        tags[chunk->partition + i] = chunk->epoch + 1;
    if (chunk->epoch + 1 > r->newest)
        r->newest = chunk->epoch + 1;
    if (data.n == 0)
        return MR_OK;
    return r->to->snapshot(r->to->arg, chunk->op, chunk->table, chunk->partition, data, err);
}

static enum mr_status take_chunk(void *arg, const struct mr_chunk *chunk, struct mr_text data,
                                 struct mr_error *err)
{
    struct replay *r = arg;

    switch ((enum mr_chunk_kind)chunk->kind) {
    case MR_CHUNK_BEGIN:
        r->begin = r->newest = chunk->epoch + 1;
        r->first_group = chunk->first_group;
        return MR_OK;
    case MR_CHUNK_SOURCE:
        return r->to->source_saved(r->to->arg, chunk->op, data, err);
    case MR_CHUNK_STATE:
        return take_state(r, chunk, data, err);
    case MR_CHUNK_END:
        return MR_OK;
    }
    return corrupt(r->checkpoint, "the snapshot has a chunk of an unknown kind", err);
}

struct filter {
    const uint64_t *tags;
    uint64_t epoch; /* + 1 */
};

static bool is_newer(void *arg, uint32_t partition)
{
    const struct filter *f = arg;
    return f->epoch > f->tags[partition];
}

static enum mr_status keep(struct mr_blocks *b, struct mr_text data, struct mr_error *err)
{
    b->n = 0;
    enum mr_status status = mr_blocks_reserve(b, data.n, err);
    if (status == MR_OK)
        mr_blocks_append(b, data.data, data.n);
    return status;
}

static struct mr_text kept(const struct mr_blocks *b)
{
    return (struct mr_text){(const char *)b->data, b->n};
}

/* The plan before it, if any, is now committed. */
static enum mr_status take_commit(struct replay *r, struct mr_text data, struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;
    struct mr_plan_record plan;
    struct mr_commit commit;

    if (!mr_record_take_commit(data, &commit))
        return corrupt(c, "a commit in the log is malformed", err);
    enum mr_status status = keep(&c->replay.commit, data, err);
    if (status != MR_OK || c->replay.plan.n == 0)
        return status;
    if (!mr_record_take_plan(kept(&c->replay.plan), &plan))
        return corrupt(c, "a plan in the log is malformed", err);
    if (plan.epoch == commit.epoch && plan.epoch + 1 > r->begin)
        status = r->to->planned(r->to->arg, &plan, true, err);
    c->replay.plan.n = 0;
    return status;
}

static enum mr_status take_change(struct replay *r, const struct mr_log_group *g,
                                  const struct mr_record *record, struct mr_text data,
                                  struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;

    if (!g->is_committed || g->header.number < r->first_group)
        return MR_OK;
    if (record->op >= c->operators_n || record->table >= c->tables_n[record->op])
        return corrupt(c, "the log has a table that the query has not", err);
    struct filter filter = {r->tags[record->op] + (uint64_t)record->table * MR_PARTITIONS,
                            g->header.epoch + 1};
    return r->to->change(r->to->arg, record->op, record->table, g->header.epoch, is_newer, &filter,
                         data, err);
}

static enum mr_status take_group(struct replay *r, uint64_t i, struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;
    struct mr_text payload, data;
    struct mr_record record;
    bool ok;
    enum mr_status status = mr_log_read(&c->scan, i, &payload, err);

    while (status == MR_OK && mr_log_next(&payload, &record, &data, &ok)) {
        switch ((enum mr_record_kind)record.kind) {
        case MR_RECORD_OPEN:
            break;
        case MR_RECORD_PLAN:
            status = keep(&c->replay.plan, data, err);
            break;
        case MR_RECORD_STATE:
            status = take_change(r, &c->scan.groups[i], &record, data, err);
            break;
        case MR_RECORD_COMMIT:
            status = take_commit(r, data, err);
            break;
        default:
            status = corrupt(c, "the log has a record of an unknown kind", err);
        }
    }
    if (status == MR_OK && !ok)
        status = corrupt(c, "a group of the log is malformed", err);
    return status;
}

/* The plan of the epoch after the last commit: from the log, else from the head. */
static enum mr_status find_plan(struct replay *r, struct mr_recovered *out, struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;
    struct mr_plan_record plan;
    struct mr_text found = c->replay.plan.n ? kept(&c->replay.plan) : c->head_plan;

    if (found.n == 0)
        return MR_OK;
    if (!mr_record_take_plan(found, &plan))
        return corrupt(c, "the plan of the last epoch is malformed", err);
    /* Without durability the head may be ahead of the log. */
    if (plan.epoch != (out->has_commit ? out->commit.epoch + 1 : 0))
        return MR_OK;
    enum mr_status status = keep(&c->plan, found, err);
    if (status != MR_OK)
        return status;
    c->is_plan_logged = c->replay.plan.n != 0;
    found.data = mr_arena_copy(&c->arena, found.data, found.n);
    out->has_plan = mr_record_take_plan(found, &out->plan);
    MR_ASSERT(out->has_plan);
    return r->to->planned(r->to->arg, &out->plan, false, err);
}

static enum mr_status replay(struct replay *r, struct mr_recovered *out, struct mr_error *err)
{
    struct mr_checkpoint *c = r->checkpoint;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < c->operators_n; i++)
        r->tags[i] = MR_NEW_ARRAY(&c->arena, uint64_t, (uint64_t)c->tables_n[i] * MR_PARTITIONS);
    if (c->snapshot)
        status = mr_snapshot_read(&c->replay.snapshot, c->snapshot_path, c->snapshot, &c->arena,
                                  take_chunk, r, err);
    if (status == MR_OK)
        status = mr_log_check_begin(&c->scan, r->first_group, err);
    for (uint64_t i = 0; status == MR_OK && i < c->scan.groups_n; i++)
        status = take_group(r, i, err);
    if (status != MR_OK)
        return status;
    if (c->replay.commit.n) {
        struct mr_text copy = {mr_arena_copy(&c->arena, c->replay.commit.data, c->replay.commit.n),
                               c->replay.commit.n};
        out->has_commit = mr_record_take_commit(copy, &out->commit);
        MR_ASSERT(out->has_commit);
        out->is_published = c->published == out->commit.epoch + 1;
    }
    status =
        mr_log_check_end(&c->scan, r->newest, out->has_commit ? out->commit.epoch + 1 : 0, err);
    if (status == MR_OK)
        status = find_plan(r, out, err);
    out->is_new = !out->has_commit && !out->has_plan;
    return status;
}

enum mr_status mr_checkpoint_replay(struct mr_checkpoint *c, const struct mr_replay *to,
                                    struct mr_recovered *out, struct mr_error *err)
{
    struct replay r = {.checkpoint = c, .to = to};

    MR_ASSERT(!c->is_replayed);
    c->replay.plan.budget = c->replay.commit.budget = c->config.budget;
    c->replay.snapshot.env = c->env;
    c->replay.snapshot.blocks.budget = c->config.budget;
    *out = (struct mr_recovered){.query_id = c->metadata.id};
    enum mr_status status = replay(&r, out, err);
    mr_checkpoint_end_replay(c);
    c->is_replayed = status == MR_OK;
    c->synced_us = c->env->ops->monotonic_us(c->env);
    return status;
}
