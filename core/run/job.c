#include "core/run/job.h"

#include "core/base/time.h"
#include "core/format/value.h"
#include "core/run/job_parts.h"
#include <stdio.h>

enum { RING_SLOTS_DEFAULT = 8, STALL_SECONDS_DEFAULT = 10 };

static enum mr_status read_conf(const struct mr_yaml_file *file, const struct mr_yaml *conf,
                                struct mr_session *session, struct mr_error *err)
{
    mr_conf_init(&session->conf);
    for (uint32_t i = 0; conf && i < conf->n; i++) {
        struct mr_error inner = {0};
        if (mr_conf_set(&session->conf, conf->keys[i]->text.data, conf->items[i]->text.data,
                        &inner) == MR_OK)
            continue;
        bool is_unknown = strcmp(inner.condition, "SQL_CONF_NOT_FOUND") == 0;
        enum mr_status status = mr_yaml_fail(file, is_unknown ? conf->keys[i] : conf->items[i], err,
                                             "%s", inner.message);
        if (err)
            memcpy(err->condition, inner.condition, sizeof err->condition);
        return status;
    }
    return MR_OK;
}

static enum mr_status read_sink(const struct mr_yaml_file *file, const struct mr_yaml *query,
                                struct mr_job_query *q, struct mr_error *err)
{
    const struct mr_yaml *sink = mr_yaml_get(query, "sink");
    const struct mr_yaml *format = mr_yaml_get(sink, "format");
    const char *mode = mr_job_text(mr_yaml_get(sink, "output_mode"), "append");
    const struct mr_sink_ops *ops = mr_sink_find(format->text.data);

    if (ops == NULL) {
        enum mr_status status =
            mr_job_unknown_name(file, format, "sink format", mr_sink_names(), err);
        if (err)
            snprintf(err->condition, sizeof err->condition, "DATA_SOURCE_NOT_FOUND");
        return status;
    }
    q->sink_place = sink->place;
    q->sink = (struct mr_sink_config){
        .format = ops->name,
        .mode = strcmp(mode, "append") == 0   ? MR_APPEND
                : strcmp(mode, "update") == 0 ? MR_UPDATE
                                              : MR_COMPLETE,
        .zone = q->session.conf.zone,
    };
    q->sink.partition_by =
        mr_job_texts(file->arena, mr_yaml_get(sink, "partition_by"), &q->sink.partition_by_n);
    return mr_job_options(file, mr_yaml_get(sink, "path"), mr_yaml_get(sink, "options"),
                          &q->sink.options, &q->sink.options_n, err);
}

static enum mr_status read_trigger(const struct mr_yaml_file *file, const struct mr_yaml *trigger,
                                   struct mr_job_query *q, struct mr_error *err)
{
    const struct mr_yaml *time = mr_yaml_get(trigger, "processing_time");
    bool available_now = mr_job_boolean(mr_yaml_get(trigger, "available_now"), false);
    bool once = mr_job_boolean(mr_yaml_get(trigger, "once"), false);
    struct mr_calendar_interval every = {0};

    if ((time != NULL) + available_now + once > 1)
        return mr_yaml_fail(file, trigger, err,
                            "trigger: only one of processing_time, available_now and once");
    q->trigger = available_now ? MR_TRIGGER_AVAILABLE_NOW
                 : once        ? MR_TRIGGER_ONCE
                               : MR_TRIGGER_ASAP;
    if (time == NULL)
        return MR_OK;
    if (!mr_value_parse_interval(time->text, &every) || every.months != 0)
        return mr_yaml_fail(file, time, err, "processing_time: months have no fixed length");
    if (__builtin_mul_overflow((int64_t)every.days, MR_US_PER_DAY, &q->trigger_us) ||
        __builtin_add_overflow(q->trigger_us, every.us, &q->trigger_us) || q->trigger_us < 0)
        return mr_yaml_fail(
            file, time, err,
            "processing_time: it must not be negative, nor too long to count in microseconds");
    if (q->trigger_us > 0)
        q->trigger = MR_TRIGGER_PROCESSING_TIME;
    return MR_OK;
}

/* "dir/events_5m.yaml" -> "events_5m" */
static const char *base_name(const char *path, struct mr_arena *a)
{
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    const char *dot = strrchr(start, '.');

    return mr_arena_copy(a, start, dot && dot > start ? (size_t)(dot - start) : strlen(start));
}

static enum mr_status read_query(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                 const char *name, struct mr_job_query *q, struct mr_error *err)
{
    const struct mr_yaml *checkpoint = mr_yaml_get(node, "checkpoint");

    q->name = mr_job_text(mr_yaml_get(node, "name"), name);
    for (const char *c = q->name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return mr_yaml_fail(file, mr_yaml_get(node, "name"), err,
                                "name: a query's name is one line, without control characters");
    q->session.arena = file->arena;
    q->session.views_path = file->path;
    q->checkpoint = mr_job_text(checkpoint, NULL);
    q->checkpoint_place = checkpoint ? checkpoint->place : node->place;
    enum mr_status status = read_conf(file, mr_yaml_get(node, "conf"), &q->session, err);
    if (status == MR_OK)
        status = mr_job_tables(file, node, &q->session, err);
    if (status == MR_OK)
        status = mr_job_steps(file, node, &q->session, err);
    if (status == MR_OK)
        status = read_sink(file, node, q, err);
    if (status == MR_OK)
        status = read_trigger(file, mr_yaml_get(node, "trigger"), q, err);
    return status;
}

/* Two queries must not share a name or a checkpoint. */
static enum mr_status check_distinct(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                     const struct mr_job *job, const struct mr_job_query *q,
                                     struct mr_error *err)
{
    for (const struct mr_job_query *other = job->queries; other < q; other++) {
        if (strcmp(other->name, q->name) == 0)
            return mr_yaml_fail(file, node, err, "two queries have the name \"%s\"", q->name);
        if (other->checkpoint && q->checkpoint &&
            mr_job_same_folder(other->checkpoint, q->checkpoint))
            return mr_yaml_fail(file, node, err, "the queries %s and %s share the checkpoint %s",
                                other->name, q->name, q->checkpoint);
    }
    return MR_OK;
}

static enum mr_status check_together(const struct mr_yaml_file *file, const struct mr_job *job,
                                     struct mr_error *err)
{
    const struct mr_yaml *list = mr_yaml_get(file->root, "queries");
    struct mr_error inner = {0};
    uint32_t i = 0;

    return mr_job_check_queries(job, &i, &inner) == MR_OK
               ? MR_OK
               : mr_yaml_fail(file, list ? list->items[i] : file->root, err, "%s", inner.message);
}

static enum mr_status read_queries(const struct mr_yaml_file *file, struct mr_job *job,
                                   struct mr_error *err)
{
    const struct mr_yaml *list = mr_yaml_get(file->root, "queries");

    if (list == NULL) {
        job->queries = MR_NEW_ARRAY(file->arena, struct mr_job_query, 1);
        job->queries_n = 1;
        return read_query(file, file->root, base_name(job->path, file->arena), job->queries, err);
    }
    for (uint32_t i = 0; i < file->root->n; i++) {
        const struct mr_yaml *key = file->root->keys[i];
        if (strcmp(key->text.data, "queries") != 0 && strcmp(key->text.data, "engine") != 0)
            return mr_yaml_fail(file, key, err,
                                "%s: beside queries only engine is allowed; move it into a query",
                                key->text.data);
    }
    if (list->n == 0 || list->n > MR_QUERIES_MAX)
        return mr_yaml_fail(file, list, err, "queries: 1 to %d are allowed", MR_QUERIES_MAX);
    job->queries = MR_NEW_ARRAY(file->arena, struct mr_job_query, list->n);
    job->queries_n = list->n;
    for (uint32_t i = 0; i < list->n; i++) {
        const char *name =
            mr_arena_format(file->arena, "%s_%u", base_name(job->path, file->arena), i);
        enum mr_status status = read_query(file, list->items[i], name, &job->queries[i], err);
        if (status == MR_OK)
            status = check_distinct(file, list->items[i], job, &job->queries[i], err);
        if (status)
            return status;
    }
    return MR_OK;
}

/* Only what is there overrides what e has. */
static void read_engine(const struct mr_yaml *node, struct mr_engine_config *e)
{
    const char *durability = mr_job_text(mr_yaml_get(node, "durability"), NULL);

    e->workers = (uint32_t)mr_job_whole(mr_yaml_get(node, "workers"), e->workers);
    e->cpus = mr_job_text(mr_yaml_get(node, "cpus"), e->cpus);
    e->pin = mr_job_boolean(mr_yaml_get(node, "pin"), e->pin);
    e->batch_rows = (uint32_t)mr_job_whole(mr_yaml_get(node, "batch_rows"), e->batch_rows);
    e->ring_slots = (uint32_t)mr_job_whole(mr_yaml_get(node, "ring_slots"), e->ring_slots);
    e->memory_limit_bytes =
        (uint64_t)mr_job_bytes(mr_yaml_get(node, "memory_limit"), (int64_t)e->memory_limit_bytes);
    e->kernels = mr_job_text(mr_yaml_get(node, "kernels"), e->kernels);
    e->io = mr_job_text(mr_yaml_get(node, "io"), e->io);
    e->stall_s = mr_job_whole(mr_yaml_get(node, "stall_seconds"), e->stall_s);
    if (durability)
        e->durability = strcmp(durability, "epoch") == 0      ? MR_DURABLE_EPOCH
                        : strcmp(durability, "interval") == 0 ? MR_DURABLE_INTERVAL
                                                              : MR_DURABLE_NONE;
}

/* Which CPUs there are is known before anything runs. */
static enum mr_status check_cpus(const struct mr_yaml_file *file, const struct mr_yaml *node,
                                 struct mr_error *err)
{
    const struct mr_yaml *cpus = mr_yaml_get(node, "cpus");
    struct mr_placement placement;
    struct mr_error inner = {0};

    if (cpus == NULL)
        return MR_OK;
    const struct mr_mem_config where = {.cpus = mr_job_text(cpus, NULL)};
    return mr_mem_place(&where, &placement, &inner) == MR_OK
               ? MR_OK
               : mr_yaml_fail(file, cpus, err, "%s", inner.message);
}

static enum mr_status expect_map(const struct mr_yaml_file *file, enum mr_key_group group,
                                 struct mr_error *err)
{
    if (file->root->kind != MR_YAML_MAP)
        return mr_yaml_fail(file, file->root, err, "expected keys with values, got %s",
                            mr_yaml_kind_name(file->root));
    return mr_job_keys_check(file, file->root, group, err);
}

static enum mr_status read_config(const char *path, struct mr_arena *a, struct mr_engine_config *e,
                                  struct mr_error *err)
{
    struct mr_yaml_file file;
    enum mr_status status = mr_yaml_read(path, a, &file, err);

    if (status == MR_OK)
        status = expect_map(&file, MR_KEYS_ENGINE, err);
    if (status != MR_OK)
        return status;
    read_engine(file.root, e);
    return check_cpus(&file, file.root, err);
}

enum mr_status mr_job_load(const char *path, const char *config_path, struct mr_arena *a,
                           struct mr_job **out, struct mr_error *err)
{
    struct mr_job *job = MR_NEW(a, struct mr_job);
    struct mr_yaml_file *file = MR_NEW(a, struct mr_yaml_file);

    job->path = path;
    job->file = file;
    job->engine = (struct mr_engine_config){.pin = true,
                                            .batch_rows = MR_BATCH_ROWS_DEFAULT,
                                            .ring_slots = RING_SLOTS_DEFAULT,
                                            .stall_s = STALL_SECONDS_DEFAULT};
    enum mr_status status = mr_yaml_read(path, a, file, err);
    if (status == MR_OK)
        status = expect_map(file, MR_KEYS_JOB, err);
    if (status == MR_OK)
        status = read_queries(file, job, err);
    if (status == MR_OK)
        status = check_together(file, job, err);
    if (status)
        mr_yaml_hide_secrets(file, err);
    for (uint32_t i = 0; status == MR_OK && i < job->queries_n; i++) {
        job->queries[i].session.secrets = file->secrets;
        job->queries[i].session.secrets_n = file->secrets_n;
    }
    const struct mr_yaml *engine = mr_yaml_get(file->root, "engine");
    if (status == MR_OK && engine) {
        read_engine(engine, &job->engine);
        status = check_cpus(file, engine, err);
    }
    if (status == MR_OK && config_path)
        status = read_config(config_path, a, &job->engine, err);
    *out = job;
    return status == MR_OK ? mr_job_check_durability(job, err) : status;
}

void mr_job_hide_secrets(const struct mr_job *job, struct mr_error *err)
{
    mr_yaml_hide_secrets(job->file, err);
}

struct mr_text mr_job_hide_in_text(const struct mr_job *job, struct mr_text text,
                                   struct mr_arena *a)
{
    return mr_secrets_hide(job->file->secrets, job->file->secrets_n, text, a);
}
