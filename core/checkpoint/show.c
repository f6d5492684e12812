/* "millrace checkpoint show" and "verify": only reading, also while the query runs. */
#include "core/checkpoint/handle.h"
#include "core/format/value.h"

struct inspection {
    struct mr_env *env;
    const char *path;
    struct mr_arena *arena;
    struct mr_buffer *out;
    struct mr_metadata metadata;
    struct mr_head head;
    struct mr_text plan, done; /* the head's; that of the last epoch in the log */
    struct mr_log_scan scan;
    struct mr_snapshot_list rounds;
    struct mr_snapshot_reader reader;
    uint64_t chunks, state_bytes, first_epoch, last_epoch;
    uint64_t first_group, newest; /* of the log to be done; epoch + 1; 0: there is no snapshot */
    uint32_t problems;
};

/* Notes a failure and goes on. */
static bool passed(struct inspection *in, enum mr_status status, const struct mr_error *err)
{
    char text[MR_ERROR_MESSAGE + MR_ERROR_FILE];

    if (status == MR_OK)
        return true;
    mr_error_format(err, text, sizeof text);
    mr_buffer_append_format(in->out, "problem: %s\n", text);
    in->problems++;
    return false;
}

static enum mr_status see_chunk(void *arg, const struct mr_chunk *chunk, struct mr_text data,
                                struct mr_error *err)
{
    struct inspection *in = arg;

    (void)err;
    if (chunk->kind == MR_CHUNK_BEGIN) {
        in->first_epoch = chunk->epoch;
        in->first_group = chunk->first_group;
    }
    in->last_epoch = chunk->epoch;
    if (chunk->epoch + 1 > in->newest)
        in->newest = chunk->epoch + 1;
    in->chunks++;
    in->state_bytes += chunk->kind == MR_CHUNK_STATE ? data.n : 0;
    return MR_OK;
}

/* Every record of every group can be taken apart. */
static enum mr_status check_groups(struct inspection *in, struct mr_commit *last,
                                   struct mr_error *err)
{
    for (uint64_t i = 0; i < in->scan.groups_n; i++) {
        struct mr_text payload, data;
        struct mr_record record;
        struct mr_plan_record plan;
        bool ok;
        enum mr_status status = mr_log_read(&in->scan, i, &payload, err);
        if (status != MR_OK)
            return status;
        while (mr_log_next(&payload, &record, &data, &ok)) {
            if (record.kind == MR_RECORD_COMMIT)
                ok = mr_record_take_commit(data, last);
            else if (record.kind == MR_RECORD_PLAN)
                ok = mr_record_take_plan(data, &plan);
            if (!ok)
                break;
            if (record.kind == MR_RECORD_PLAN)
                in->done = (struct mr_text){mr_arena_copy(in->arena, data.data, data.n), data.n};
        }
        if (!ok)
            return MR_FAIL(err, MR_CORRUPT, 0, "checkpoint: %s: group %llu is malformed",
                           in->scan.path, (unsigned long long)in->scan.groups[i].header.number);
    }
    return MR_OK;
}

static void inspect_log(struct inspection *in, struct mr_commit *last)
{
    struct mr_error err = {0};

    in->scan = (struct mr_log_scan){
        .env = in->env, .path = mr_arena_format(in->arena, "%s/log", in->path), .arena = in->arena};
    if (passed(in, mr_log_scan(&in->scan, in->head.durable, &err), &err))
        passed(in, check_groups(in, last, &err), &err);
}

/* The snapshot and the log, each sound, must meet. */
static void inspect_meeting(struct inspection *in, struct mr_commit *last)
{
    struct mr_error err = {0};

    if (in->problems)
        return;
    if (in->newest > (in->scan.last_commit ? last->epoch + 1 : 0)) {
        /* The query runs, and the round ended after the log was read? */
        mr_log_scan_fini(&in->scan);
        inspect_log(in, last);
    }
    if (in->problems || !passed(in, mr_log_check_begin(&in->scan, in->first_group, &err), &err))
        return;
    passed(
        in,
        mr_log_check_end(&in->scan, in->newest, in->scan.last_commit ? last->epoch + 1 : 0, &err),
        &err);
}

static void inspect(struct inspection *in, struct mr_commit *last)
{
    struct mr_error err = {0};
    struct mr_arena *a = in->arena;
    bool found;
    const char *snapshots = mr_arena_format(a, "%s/snapshot", in->path);
    const char *metadata = mr_arena_format(a, "%s/metadata", in->path);

    if (passed(in, mr_metadata_load(in->env, metadata, a, &in->metadata, &found, &err), &err) &&
        !found)
        passed(in, MR_FAIL(&err, MR_CORRUPT, 0, "checkpoint: %s is missing", metadata), &err);
    passed(in,
           mr_head_load(in->env, mr_arena_format(a, "%s/head", in->path), a, &in->head, &in->plan,
                        &found, &err),
           &err);
    in->reader = (struct mr_snapshot_reader){.env = in->env};
    inspect_log(in, last);
    if (passed(in, mr_snapshot_list(in->env, snapshots, false, a, &in->rounds, &err), &err) &&
        in->rounds.newest)
        passed(in,
               mr_snapshot_read(&in->reader, snapshots, in->rounds.newest, a, see_chunk, in, &err),
               &err);
    mr_snapshot_reader_fini(&in->reader);
    inspect_meeting(in, last);
}

static void print_time(struct mr_buffer *out, const char *what, int64_t us)
{
    char text[MR_VALUE_TEXT];

    if (us == INT64_MIN) { /* a watermark of a query without one */
        mr_buffer_append_format(out, "%snone", what);
        return;
    }
    uint32_t n = mr_value_print_timestamp_ntz(us, text);
    mr_buffer_append_format(out, "%s%.*s UTC", what, (int)n, text);
}

static void print_commit(struct inspection *in, const struct mr_commit *c)
{
    struct mr_buffer *out = in->out;

    mr_buffer_append_format(out, "committed epoch %llu", (unsigned long long)c->epoch);
    print_time(out, ", time ", c->time_us);
    print_time(out, ", watermark ", c->next_watermark_us);
    for (uint32_t i = 0; i < c->watermarks_n; i++) {
        mr_buffer_append_format(out, "\nwatermark of input %u", i);
        print_time(out, ": ", c->watermarks_us[i]);
    }
    mr_buffer_append_format(out, "\n");
}

static void print_offsets(struct mr_buffer *out, const struct mr_plan_record *plan)
{
    for (uint32_t i = 0; i < plan->sources_n; i++)
        mr_buffer_append_format(out, "up to offset of source %u: %.*s\n", i + 1,
                                (int)plan->offsets_json[i].n,
                                plan->offsets_json[i].data ? plan->offsets_json[i].data : "");
}

/* How far the last epoch read, then the one that is planned. */
static void print_plans(struct inspection *in, const struct mr_commit *last)
{
    struct mr_plan_record plan;

    if (in->scan.last_commit && in->done.n > 0 && mr_record_take_plan(in->done, &plan) &&
        plan.epoch == last->epoch)
        print_offsets(in->out, &plan);
    if (in->plan.n == 0 || !mr_record_take_plan(in->plan, &plan) ||
        (in->scan.last_commit && plan.epoch <= last->epoch))
        return;
    mr_buffer_append_format(in->out, "planned epoch %llu, not committed\n",
                            (unsigned long long)plan.epoch);
    print_offsets(in->out, &plan);
}

static void print_files(struct inspection *in)
{
    const struct mr_log_scan *s = &in->scan;

    for (uint64_t i = 0; i < s->segments_n; i++)
        mr_buffer_append_format(in->out, "log segment %llu: %llu bytes, groups %llu to %llu\n",
                                (unsigned long long)s->segments[i].number,
                                (unsigned long long)s->segments[i].bytes,
                                (unsigned long long)s->segments[i].first_group,
                                (unsigned long long)s->segments[i].last_group);
    if (in->rounds.newest)
        mr_buffer_append_format(
            in->out, "snapshot %llu: %llu chunks, %llu bytes of state, epochs %llu to %llu\n",
            (unsigned long long)in->rounds.newest, (unsigned long long)in->chunks,
            (unsigned long long)in->state_bytes, (unsigned long long)in->first_epoch,
            (unsigned long long)in->last_epoch);
}

static enum mr_status need_checkpoint(struct mr_env *env, const char *path, struct mr_arena *a,
                                      struct mr_error *err)
{
    struct mr_file_stat st;
    int rc = env->ops->stat(env, path, &st);

    if (rc < 0)
        return MR_FAIL(err, MR_USER, -rc, "checkpoint %s", path);
    if (!st.is_dir)
        return MR_FAIL(err, MR_USER, 0, "checkpoint %s is no folder", path);
    if (env->ops->stat(env, mr_arena_format(a, "%s/metadata", path), &st) < 0 &&
        env->ops->stat(env, mr_arena_format(a, "%s/log", path), &st) < 0)
        return MR_FAIL(err, MR_USER, 0, "%s is no checkpoint: it has neither metadata nor log",
                       path);
    return MR_OK;
}

static enum mr_status judge(const struct inspection *in, struct mr_error *err)
{
    if (in->problems == 0)
        return MR_OK;
    return MR_FAIL(err, MR_CORRUPT, 0, "checkpoint %s: %u problem%s", in->path, in->problems,
                   in->problems == 1 ? "" : "s");
}

enum mr_status mr_checkpoint_show(struct mr_env *env, const char *path, struct mr_buffer *out,
                                  struct mr_error *err)
{
    struct inspection in = {.env = env, .path = path, .arena = out->arena, .out = out};
    struct mr_commit last = {0};
    enum mr_status status = need_checkpoint(env, path, out->arena, err);

    if (status != MR_OK)
        return status;
    inspect(&in, &last);
    if (in.metadata.id)
        mr_metadata_print(&in.metadata, out);
    if (in.scan.last_commit)
        print_commit(&in, &last);
    print_plans(&in, &last);
    print_files(&in);
    mr_log_scan_fini(&in.scan);
    return judge(&in, err);
}

enum mr_status mr_checkpoint_verify(struct mr_env *env, const char *path, struct mr_buffer *out,
                                    struct mr_error *err)
{
    struct inspection in = {.env = env, .path = path, .arena = out->arena, .out = out};
    struct mr_commit last = {0};
    enum mr_status status = need_checkpoint(env, path, out->arena, err);

    if (status != MR_OK)
        return status;
    inspect(&in, &last);
    mr_log_scan_fini(&in.scan);
    status = judge(&in, err);
    if (status == MR_OK)
        mr_buffer_append_format(out, "ok: %llu groups of the log, %llu chunks of the snapshot\n",
                                (unsigned long long)in.scan.groups_n,
                                (unsigned long long)in.chunks);
    return status;
}
