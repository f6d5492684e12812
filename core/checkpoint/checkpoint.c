#include "core/checkpoint/handle.h"

#include "core/base/check.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SEGMENT_BYTES = 16 * 1024 * 1024,
    SNAPSHOT_BYTES = 1024 * 1024,
    FLUSH_BYTES = 3 * 1024 * 1024, /* of a group: more is written before the epoch is over */
    INTERVAL_US = 1000 * 1000,     /* of syncs with MR_DURABLE_INTERVAL */
};

static void set_paths(struct mr_checkpoint *c)
{
    const char *root = c->config.path;

    c->metadata_path = mr_arena_format(&c->arena, "%s/metadata", root);
    c->head_path = mr_arena_format(&c->arena, "%s/head", root);
    c->lock_path = mr_arena_format(&c->arena, "%s/lock", root);
    c->log_path = mr_arena_format(&c->arena, "%s/log", root);
    c->snapshot_path = mr_arena_format(&c->arena, "%s/snapshot", root);
}

static enum mr_status make_folder(struct mr_checkpoint *c, const char *path, struct mr_error *err)
{
    int rc = mr_env_make_dirs(c->env, path);

    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: make folder %s", path);
    /* Names in it may be of a process that was killed before it could sync them. */
    rc = c->env->ops->sync_dir(c->env, path);
    return rc < 0 ? MR_FAIL(err, MR_IO, -rc, "checkpoint: sync %s", path) : MR_OK;
}

static enum mr_status take_lock(struct mr_checkpoint *c, struct mr_error *err)
{
    char holder[32] = "";
    const struct mr_env_ops *ops = c->env->ops;
    enum mr_status status = make_folder(c, c->config.path, err);

    if (status != MR_OK)
        return status;
    int rc =
        ops->open(c->env, c->lock_path, MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE, &c->lock);
    if (rc < 0) {
        c->lock = NULL;
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: open %s", c->lock_path);
    }
    rc = ops->lock(c->lock);
    if (rc == -EWOULDBLOCK) {
        (void)ops->read(c->lock, holder, sizeof holder - 1, 0); /* only for the message */
        return MR_FAIL(err, MR_BUSY, 0, "checkpoint: %s is in use by process %ld", c->config.path,
                       strtol(holder, NULL, 10));
    }
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: lock %s", c->lock_path);
    int n = snprintf(holder, sizeof holder, "%-20ld\n", (long)getpid());
    int64_t written = ops->write(c->lock, holder, (uint64_t)n, 0);
    return written < 0 ? MR_FAIL(err, MR_IO, (int)-written, "checkpoint: write %s", c->lock_path)
                       : MR_OK;
}

static const char *new_id(struct mr_checkpoint *c)
{
    uint64_t a = c->env->ops->random(c->env), b = c->env->ops->random(c->env);

    return mr_arena_format(&c->arena, "%08x-%04x-4%03x-%04x-%012llx", (uint32_t)(a >> 32),
                           (uint32_t)(a >> 16) & 0xffff, (uint32_t)a & 0xfff,
                           (uint32_t)((b >> 48) & 0x3fff) | 0x8000,
                           (unsigned long long)(b & 0xffffffffffff));
}

/* What is there, without changing anything. */
static enum mr_status look(struct mr_checkpoint *c, bool *has_metadata, bool *has_rest,
                           struct mr_error *err)
{
    struct mr_head head;
    bool has_head;
    struct mr_snapshot_list rounds;
    enum mr_status status =
        mr_metadata_load(c->env, c->metadata_path, &c->arena, &c->metadata, has_metadata, err);

    if (status == MR_OK)
        status =
            mr_head_load(c->env, c->head_path, &c->arena, &head, &c->head_plan, &has_head, err);
    if (status != MR_OK)
        return status;
    c->scan = (struct mr_log_scan){.env = c->env,
                                   .path = c->log_path,
                                   .arena = &c->arena,
                                   .blocks = {.budget = c->config.budget}};
    status = mr_log_scan(&c->scan, head.durable, err);
    if (status == MR_OK)
        status = mr_snapshot_list(c->env, c->snapshot_path, false, &c->arena, &rounds, err);
    if (status != MR_OK)
        return status;
    c->published = head.published;
    c->snapshot = rounds.newest;
    c->round.number = rounds.seen_max;
    *has_rest = has_head || c->scan.segments_n || rounds.newest;
    return MR_OK;
}

/* Whose folder it is: a new one, one where nothing ran yet, or that of a query like this. */
static enum mr_status identify(struct mr_checkpoint *c, const struct mr_fingerprint *fingerprint,
                               struct mr_error *err)
{
    bool has_metadata, has_rest;
    struct mr_metadata now;
    enum mr_status status = look(c, &has_metadata, &has_rest, err);

    if (status != MR_OK)
        return status;
    if (!has_metadata && has_rest)
        return MR_FAIL_CONDITION(err, MR_USER, "STREAMING_CHECKPOINT_MISSING_METADATA_FILE",
                                 "checkpoint %s: the metadata file is missing but there is a log; "
                                 "restore it, or start with a new checkpoint",
                                 c->config.path);
    mr_metadata_of(fingerprint, has_metadata ? c->metadata.id : new_id(c), &c->arena, &now);
    bool is_used = c->scan.groups_n || c->head_plan.n || c->snapshot;
    if (has_metadata && is_used) {
        status = mr_metadata_compare(&c->metadata, &now, c->config.path, &c->arena, err);
        if (status != MR_OK ||
            (strcmp(c->metadata.mode, now.mode) == 0 && (c->metadata.sink || now.sink == NULL)))
            return status;
        if (now.sink)
            c->metadata.sink = now.sink;
        c->metadata.mode = now.mode; /* all else stays: a key may be null for ever if it once was */
    } else {
        c->metadata = now;
    }
    return mr_metadata_save(c->env, c->metadata_path, &c->metadata, &c->arena, err);
}

static enum mr_status open_head(struct mr_checkpoint *c, struct mr_error *err)
{
    struct mr_file_stat st;
    const struct mr_env_ops *ops = c->env->ops;
    int rc = ops->stat(c->env, c->head_path, &st);
    bool is_new = rc == -ENOENT;

    if (rc == 0 || is_new)
        rc = ops->open(c->env, c->head_path, MR_OPEN_WRITE | MR_OPEN_CREATE, &c->head);
    if (rc < 0) {
        c->head = NULL;
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: open %s", c->head_path);
    }
    rc = is_new ? ops->sync_dir(c->env, c->config.path) : 0;
    return rc < 0 ? MR_FAIL(err, MR_IO, -rc, "checkpoint: sync %s", c->config.path) : MR_OK;
}

static enum mr_status open_all(struct mr_checkpoint *c, const struct mr_fingerprint *fingerprint,
                               struct mr_error *err)
{
    struct mr_snapshot_list rounds;
    enum mr_status status = take_lock(c, err);

    if (status == MR_OK)
        status = identify(c, fingerprint, err);
    if (status != MR_OK)
        return status;
    status = make_folder(c, c->log_path, err);
    if (status == MR_OK)
        status = make_folder(c, c->snapshot_path, err);
    /* Old rounds go when the name of the newest is durable. */
    if (status == MR_OK)
        status = mr_snapshot_list(c->env, c->snapshot_path, true, &c->arena, &rounds, err);
    if (status != MR_OK)
        return status;
    c->log = (struct mr_log){.env = c->env,
                             .path = c->log_path,
                             .arena = &c->arena,
                             .scratch = &c->scratch,
                             .segment_bytes = mr_blocks_round(c->config.segment_bytes),
                             .group = {.budget = c->config.budget},
                             .zeros = {.budget = c->config.budget}};
    status = mr_log_open(&c->log, &c->scan, err);
    return status == MR_OK ? open_head(c, err) : status;
}

enum mr_status mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                  const struct mr_fingerprint *fingerprint,
                                  struct mr_checkpoint **out, struct mr_error *err)
{
    struct mr_checkpoint *c = mr_mem_alloc(sizeof *c);

    *out = c; /* set early: an escape out of here leaves it to be closed by the caller */
    if (c == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "checkpoint: no memory");
    *c = (struct mr_checkpoint){.config = *config, .env = config->env};
    if (c->config.segment_bytes == 0)
        c->config.segment_bytes = SEGMENT_BYTES;
    if (c->config.snapshot_bytes_per_epoch == 0)
        c->config.snapshot_bytes_per_epoch = SNAPSHOT_BYTES;
    mr_arena_init(&c->arena, config->budget, config->escape);
    mr_arena_init(&c->scratch, config->budget, config->escape);
    c->plan.budget = c->head_data.budget = config->budget;
    set_paths(c);
    c->round.env = c->env;
    c->round.path = c->snapshot_path;
    c->round.arena = &c->scratch;
    c->round.budget = config->budget;
    MR_ASSERT(fingerprint->operators_n <= MR_STATE_TABLES_MAX);
    c->operators_n = fingerprint->operators_n;
    for (uint32_t i = 0; i < c->operators_n; i++)
        c->tables_n[i] = fingerprint->operators[i].tables_n;
    enum mr_status status = open_all(c, fingerprint, err);
    if (status != MR_OK) {
        mr_checkpoint_close(c);
        *out = NULL;
    }
    return status;
}

/* What the next process should know: best effort, the log itself is whole without it. */
static void leave_head(struct mr_checkpoint *c)
{
    struct mr_text plan = {(const char *)c->plan.data, c->plan.n};

    if (c->head == NULL || !c->is_replayed || c->log.is_failed)
        return;
    if (mr_head_save(c->env, c->head, c->head_path, &c->head_data, c->log.durable, c->published,
                     plan, NULL) == MR_OK &&
        c->config.durability != MR_DURABLE_NONE)
        (void)c->env->ops->sync(c->head);
}

void mr_checkpoint_end_replay(struct mr_checkpoint *c)
{
    mr_blocks_fini(&c->replay.plan);
    mr_blocks_fini(&c->replay.commit);
    mr_snapshot_reader_fini(&c->replay.snapshot);
    mr_log_scan_fini(&c->scan);
}

void mr_checkpoint_close(struct mr_checkpoint *c)
{
    if (c == NULL)
        return;
    leave_head(c);
    mr_round_fini(&c->round);
    mr_log_close(&c->log);
    mr_checkpoint_end_replay(c);
    mr_blocks_fini(&c->plan);
    mr_blocks_fini(&c->head_data);
    if (c->head)
        c->env->ops->close(c->head);
    if (c->lock)
        c->env->ops->close(c->lock);
    mr_arena_fini(&c->scratch);
    mr_arena_fini(&c->arena);
    mr_mem_free(c, sizeof *c);
}

const char *mr_checkpoint_query_id(const struct mr_checkpoint *c)
{
    return c->metadata.id;
}

/* Before the first record of this run: what an earlier one left without a commit no longer counts,
 * and a plan that only the head knew comes into the log. Chance makes its groups others than those
 * of an earlier run in the same place: what a power cut left of these must not go on from them. */
static enum mr_status begin_run(struct mr_checkpoint *c, uint64_t epoch, struct mr_error *err)
{
    struct mr_record open = {.kind = MR_RECORD_OPEN}, plan = {.kind = MR_RECORD_PLAN};
    enum mr_status status = MR_OK;

    MR_ASSERT(c->is_replayed);
    if (!c->is_opened) {
        uint64_t run = c->env->ops->random(c->env);
        status = mr_log_put(&c->log, epoch, open, (struct mr_text){(char *)&run, sizeof run}, err);
    }
    c->is_opened = true;
    if (status == MR_OK && c->plan.n && !c->is_plan_logged) {
        status = mr_log_put(&c->log, epoch, plan,
                            (struct mr_text){(const char *)c->plan.data, c->plan.n}, err);
        c->is_plan_logged = true;
    }
    return status;
}

enum mr_status mr_checkpoint_plan(struct mr_checkpoint *c, const struct mr_plan_record *plan,
                                  struct mr_error *err)
{
    struct mr_buffer bytes;

    mr_arena_reset(&c->scratch);
    mr_buffer_init(&bytes, &c->scratch);
    mr_record_put_plan(&bytes, plan);
    c->plan.n = 0;
    enum mr_status status = mr_blocks_reserve(&c->plan, bytes.n, err);
    if (status != MR_OK)
        return status;
    mr_blocks_append(&c->plan, bytes.data, bytes.n);
    c->is_plan_logged = false;
    status = begin_run(c, plan->epoch, err);
    if (status != MR_OK)
        return status;
    c->published = 0;
    return mr_head_save(c->env, c->head, c->head_path, &c->head_data, c->log.durable, 0,
                        mr_buffer_text(&bytes), err);
}

enum mr_status mr_checkpoint_log(struct mr_checkpoint *c, uint64_t epoch, uint32_t op,
                                 uint32_t table, struct mr_text record, struct mr_error *err)
{
    struct mr_record header = {
        .kind = MR_RECORD_STATE, .op = (uint16_t)op, .table = (uint16_t)table};

    MR_ASSERT(op < c->operators_n && table < c->tables_n[op]);
    if (record.n == 0)
        return MR_OK;
    enum mr_status status = begin_run(c, epoch, err);
    if (status == MR_OK)
        status = mr_log_put(&c->log, epoch, header, record, err);
    if (status == MR_OK && c->log.group.n >= FLUSH_BYTES)
        status = mr_log_append(&c->log, false, err);
    return status;
}

enum mr_status mr_checkpoint_sync(struct mr_checkpoint *c, struct mr_error *err)
{
    return mr_log_append(&c->log, c->config.durability != MR_DURABLE_NONE, err);
}

void mr_checkpoint_published(struct mr_checkpoint *c, uint64_t epoch)
{
    c->published = epoch + 1;
}

enum mr_status mr_checkpoint_commit(struct mr_checkpoint *c, const struct mr_commit *commit,
                                    struct mr_error *err)
{
    struct mr_record header = {.kind = MR_RECORD_COMMIT};
    struct mr_buffer bytes;

    mr_arena_reset(&c->scratch);
    mr_buffer_init(&bytes, &c->scratch);
    mr_record_put_commit(&bytes, commit);
    enum mr_status status = begin_run(c, commit->epoch, err);
    if (status == MR_OK)
        status = mr_log_put(&c->log, commit->epoch, header, mr_buffer_text(&bytes), err);
    if (status == MR_OK)
        status = mr_log_append(&c->log, c->config.durability == MR_DURABLE_EPOCH, err);
    if (status == MR_OK)
        status = mr_log_check_name(&c->log, err);
    if (status != MR_OK)
        return status;
    c->plan.n = 0;
    if (c->config.durability != MR_DURABLE_INTERVAL)
        return MR_OK;
    int64_t now = c->env->ops->monotonic_us(c->env);
    if (now - c->synced_us < INTERVAL_US)
        return MR_OK;
    c->synced_us = now;
    return mr_log_sync(&c->log, err);
}
