#include "io/memory/memory.h"
#include "io/options.h"

static const char *const options[] = {
    "memory: the object that keeps the rows (needed, given by the embedding program)",
    NULL,
};

struct committer {
    struct mr_memory *memory;
    bool replaces;
    struct mr_memory_batch *waiting[MR_WORKERS_MAX]; /* of each writer, of the epoch in hand */
};

struct writer {
    struct committer *committer;
    uint32_t worker;
    struct mr_memory_batch **end;
};

static enum mr_status check(const struct mr_sink_config *config, struct mr_error *err)
{
    enum mr_status status =
        mr_io_options_check(config->options, config->options_n, options, "sink memory", err);

    if (status == MR_OK && mr_memory_of(config->options, config->options_n) == NULL)
        status = MR_FAIL(err, MR_USER, 0, "sink memory is for programs that embed millrace");
    return status;
}

static enum mr_status committer_open(void *committer, const struct mr_sink_config *config,
                                     struct mr_error *err)
{
    struct committer *c = committer;

    (void)err;
    c->memory = mr_memory_of(config->options, config->options_n);
    c->replaces = config->mode == MR_COMPLETE;
    return MR_OK;
}

static void committer_close(void *committer)
{
    struct committer *c = committer;

    for (uint32_t i = 0; i < MR_WORKERS_MAX; i++)
        while (c->waiting[i]) {
            struct mr_memory_batch *next = c->waiting[i]->next;
            mr_memory_free(c->waiting[i]);
            c->waiting[i] = next;
        }
}

static enum mr_status publish(void *committer, uint64_t epoch, const struct mr_text *prepared,
                              uint32_t prepared_n, struct mr_error *err)
{
    struct committer *c = committer;
    bool replace = c->replaces;

    (void)epoch, (void)prepared, (void)prepared_n, (void)err;
    for (uint32_t i = 0; i < MR_WORKERS_MAX; i++) {
        if (c->waiting[i] == NULL)
            continue;
        mr_memory_publish(c->memory, c->waiting[i], replace);
        c->waiting[i] = NULL;
        replace = false;
    }
    if (replace)
        mr_memory_publish(c->memory, NULL, true);
    return MR_OK;
}

static enum mr_status writer_open(void *writer, const struct mr_sink_config *config,
                                  void *committer, uint32_t worker, struct mr_error *err)
{
    struct writer *w = writer;

    (void)config, (void)err;
    w->committer = committer;
    w->worker = worker;
    w->end = &w->committer->waiting[worker];
    return MR_OK;
}

static void writer_close(void *writer)
{
    (void)writer;
}

static enum mr_step write_rows(void *writer, uint64_t epoch, const struct mr_batch *batch,
                               struct mr_error *err)
{
    struct writer *w = writer;
    struct mr_memory_batch *b = mr_memory_copy(w->committer->memory, epoch, batch);

    if (b == NULL) {
        mr_error_set(err, MR_MEMORY, 0, "", __FILE__, __LINE__,
                     "sink memory: no memory for %u rows", batch->n);
        return MR_FAILED;
    }
    if (w->committer->waiting[w->worker] == NULL)
        w->end = &w->committer->waiting[w->worker];
    *w->end = b;
    w->end = &b->next;
    return MR_NEED_INPUT;
}

static enum mr_step prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                            struct mr_error *err)
{
    (void)writer, (void)epoch, (void)out, (void)err;
    return MR_NEED_INPUT;
}

const struct mr_sink_ops mr_sink_memory = {
    .name = "memory",
    .committer_size = sizeof(struct committer),
    .writer_size = sizeof(struct writer),
    .modes = 1 << MR_APPEND | 1 << MR_UPDATE | 1 << MR_COMPLETE,
    .options = options,
    .check = check,
    .committer_open = committer_open,
    .committer_close = committer_close,
    .publish = publish,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .write = write_rows,
    .prepare = prepare,
};
