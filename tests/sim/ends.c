/* What the engine is given instead of its real surroundings: its env, a source that lets it wait, a
 * small log, and a topic that rows go to as in Kafka: a transaction an epoch, with a marker. The
 * linker puts these functions in the places of the real ones (--wrap). */
#include "core/checkpoint/checkpoint.h"
#include "core/format/json/json.h"
#include "tests/sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum mr_status __real_mr_env_open(const char *back_end, struct mr_env **out, struct mr_error *err);
enum mr_status __wrap_mr_env_open(const char *back_end, struct mr_env **out, struct mr_error *err);
const struct mr_source_ops *__real_mr_source_find(const char *format);
const struct mr_source_ops *__wrap_mr_source_find(const char *format);
enum mr_status __real_mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                         const struct mr_fingerprint *fingerprint,
                                         struct mr_checkpoint **out, struct mr_error *err);
enum mr_status __wrap_mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                         const struct mr_fingerprint *fingerprint,
                                         struct mr_checkpoint **out, struct mr_error *err);

static bool is_slow(void)
{
    uint32_t slow = the_world->fault.slow;

    return slow > 1 && chance_one_in(&the_world->chance, slow);
}

enum mr_status __wrap_mr_env_open(const char *back_end, struct mr_env **out, struct mr_error *err)
{
    if (the_world == NULL || !the_world->is_alive)
        return __real_mr_env_open(back_end, out, err);
    *out = &the_world->env;
    return MR_OK;
}

/* So that a small job has many segments and snapshots. */
enum mr_status __wrap_mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                         const struct mr_fingerprint *fingerprint,
                                         struct mr_checkpoint **out, struct mr_error *err)
{
    struct mr_checkpoint_config small = *config;

    small.segment_bytes = UINT64_C(8192) << chance_below(&the_world->chance, 8);
    small.snapshot_bytes_per_epoch = UINT64_C(512) << chance_below(&the_world->chance, 10);
    return __real_mr_checkpoint_open(&small, fingerprint, out, err);
}

static const struct mr_source_ops *real_source;

static enum mr_step slow_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                              struct mr_error *err)
{
    return is_slow() ? MR_BLOCKED : real_source->pull(reader, out, counts, err);
}

const struct mr_source_ops *__wrap_mr_source_find(const char *format)
{
    static struct mr_source_ops slow;

    real_source = __real_mr_source_find(format);
    if (real_source == NULL)
        return NULL;
    slow = *real_source;
    slow.pull = slow_pull;
    return &slow;
}

void topic_init(struct topic *t)
{
    *t = (struct topic){.marker = UINT64_MAX};
}

struct writer {
    struct mr_json_writer json;
    const struct mr_type *schema;
    struct mr_arena arena;
    jmp_buf escape;
};

static enum mr_status topic_begin(void *committer, uint64_t epoch, struct mr_error *err)
{
    (void)committer, (void)err;
    world_step(STEP_OTHER, "topic: begin %llu", (unsigned long long)epoch);
    the_world->topic.staged_n = 0;
    return MR_OK;
}

static enum mr_status topic_undo(void *committer, uint64_t epoch, struct mr_error *err)
{
    return topic_begin(committer, epoch, err);
}

static enum mr_status topic_commit(void *committer, uint64_t epoch, struct mr_text offsets,
                                   struct mr_error *err)
{
    struct topic *t = &the_world->topic;

    (void)committer, (void)offsets;
    world_step(STEP_TOPIC, "topic: commit %llu, %u rows", (unsigned long long)epoch, t->staged_n);
    if (world_fails(FAULT_TOPIC))
        return MR_FAIL(err, MR_IO, EIO, "topic: the transaction is aborted");
    t->rows_n += t->staged_n;
    t->staged_n = 0;
    t->marker = epoch;
    if (world_fails(FAULT_ANSWER))
        return MR_FAIL(err, MR_IO, ETIMEDOUT, "topic: no answer");
    return MR_OK;
}

static enum mr_status topic_last(void *committer, uint64_t *epoch, struct mr_error *err)
{
    (void)committer, (void)err;
    *epoch = the_world->broken == BREAK_MARKER ? UINT64_MAX : the_world->topic.marker;
    return MR_OK;
}

static enum mr_status topic_writer_open(void *writer, const struct mr_sink_config *config,
                                        void *committer, uint32_t worker, struct mr_error *err)
{
    struct writer *w = writer;

    (void)committer, (void)worker, (void)err;
    w->json = (struct mr_json_writer){.zone = config->zone};
    w->schema = config->schema;
    mr_arena_init(&w->arena, NULL, &w->escape);
    return MR_OK;
}

static void topic_writer_close(void *writer)
{
    mr_arena_fini(&((struct writer *)writer)->arena);
}

static void stage(struct topic *t, uint64_t epoch, struct mr_text line)
{
    uint32_t n = t->rows_n + t->staged_n++;

    if (n == t->capacity) {
        t->capacity = t->capacity * 2 + 64;
        t->rows = realloc(t->rows, t->capacity * sizeof *t->rows);
        if (t->rows == NULL)
            abort();
    }
    t->rows[n].epoch = epoch;
    t->rows[n].line = strndup(line.data, line.n);
}

static enum mr_step topic_write(void *writer, uint64_t epoch, const struct mr_batch *batch,
                                struct mr_error *err)
{
    struct writer *w = writer;

    (void)err;
    if (is_slow())
        return MR_BLOCKED;
    if (setjmp(w->escape) != 0)
        abort();
    for (uint32_t i = 0; i < batch->n; i++) {
        struct mr_buffer line;
        mr_arena_reset(&w->arena);
        mr_buffer_init(&line, &w->arena);
        mr_json_write_row(&w->json, w->schema, batch, mr_batch_row(batch, i), &line);
        stage(&the_world->topic, epoch, mr_buffer_text(&line));
    }
    world_step(STEP_OTHER, "topic: %u rows of %llu", batch->n, (unsigned long long)epoch);
    return MR_NEED_INPUT;
}

static enum mr_step topic_prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                                  struct mr_error *err)
{
    (void)writer, (void)epoch, (void)out, (void)err;
    return is_slow() ? MR_BLOCKED : MR_NEED_INPUT;
}

const struct mr_sink_ops topic_ops = {
    .name = "topic",
    .committer_size = 1,
    .writer_size = sizeof(struct writer),
    .modes = 1 << MR_APPEND | 1 << MR_UPDATE | 1 << MR_COMPLETE,
    .last_published = topic_last,
    .undo = topic_undo,
    .begin = topic_begin,
    .external_commit = topic_commit,
    .writer_open = topic_writer_open,
    .writer_close = topic_writer_close,
    .write = topic_write,
    .prepare = topic_prepare,
};
