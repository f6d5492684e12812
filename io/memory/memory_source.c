#include "core/base/check.h"
#include "io/memory/memory.h"
#include "io/options.h"
#include <stdio.h>

static const char *const options[] = {
    "memory: the object that has the rows (needed, given by the embedding program)",
    NULL,
};

struct planner {
    struct mr_memory *memory;
    struct mr_memory_batch *ready, **ready_end; /* taken for the next epoch */
    struct mr_memory_batch *planned;            /* of the epoch that was planned last */
    bool frozen;
    int64_t batches_n;                    /* planned so far */
    const struct mr_memory_batch **epoch; /* planned, by split */
    uint32_t epoch_n;
    struct mr_arena arena;
    char json[32];
};

struct reader {
    const struct mr_type *schema, *full;
    uint32_t *columns_at; /* in the batches */
    struct mr_column *columns;
    const struct mr_memory_batch *batch;
};

static enum mr_status check(const struct mr_table *t, struct mr_error *err)
{
    enum mr_status status =
        mr_io_options_check(t->options, t->options_n, options, "source memory", err);

    if (status == MR_OK && mr_memory_of(t->options, t->options_n) == NULL)
        status =
            MR_FAIL(err, MR_USER, 0,
                    "source \"%s\": format memory is for programs that embed millrace", t->name);
    return status;
}

static enum mr_status planner_open(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct planner *p = planner;

    (void)err;
    p->memory = mr_memory_of(config->table->options, config->table->options_n);
    mr_arena_init(&p->arena, config->arena->budget, config->arena->escape);
    p->ready_end = &p->ready;
    return MR_OK;
}

static void planner_close(void *planner)
{
    struct planner *p = planner;

    mr_memory_free_list(p->planned);
    mr_memory_free_list(p->ready);
    mr_arena_fini(&p->arena);
}

static void take_all(struct planner *p)
{
    struct mr_memory_batch *b;

    mr_memory_quiet(p->memory);
    while ((b = mr_memory_take(p->memory)) != NULL) {
        *p->ready_end = b;
        p->ready_end = &b->next;
    }
}

/* What is ready becomes the epoch; the rows of the one before have been used. */
static void turn(struct planner *p)
{
    uint32_t n = 0;

    mr_memory_free_list(p->planned);
    p->planned = p->ready;
    p->ready = NULL;
    p->ready_end = &p->ready;
    for (const struct mr_memory_batch *b = p->planned; b; b = b->next)
        n++;
    mr_arena_reset(&p->arena);
    p->epoch_n = 0;
    p->epoch = mr_arena_alloc(&p->arena, (n + 1) * sizeof(const struct mr_memory_batch *));
    for (const struct mr_memory_batch *b = p->planned; b; b = b->next)
        p->epoch[p->epoch_n++] = b;
}

static enum mr_status plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                           struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct planner *p = planner;

    (void)epoch, (void)limit, (void)err;
    if (!p->frozen)
        take_all(p);
    turn(p);
    p->batches_n += p->epoch_n;
    *has_new = p->epoch_n > 0;
    int n = snprintf(p->json, sizeof p->json, "%lld", (long long)p->batches_n - 1);
    to->json = to->bytes = (struct mr_text){p->json, (uint64_t)n};
    return MR_OK;
}

static enum mr_status freeze(void *planner, struct mr_error *err)
{
    struct planner *p = planner;

    (void)err;
    take_all(p);
    p->frozen = true;
    return MR_OK;
}

/* The rows of an earlier process are gone. */
static enum mr_status adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                            struct mr_error *err)
{
    (void)planner, (void)epoch, (void)bytes, (void)err;
    return MR_OK;
}

static enum mr_status splits(void *planner, uint32_t *n, struct mr_error *err)
{
    const struct planner *p = planner;

    (void)err;
    *n = p->epoch_n;
    return MR_OK;
}

static struct mr_text split(void *planner, uint32_t i)
{
    struct planner *p = planner;

    return (struct mr_text){(const char *)&p->epoch[i], sizeof p->epoch[i]};
}

static int wake_fd(void *planner)
{
    return mr_memory_fd(((struct planner *)planner)->memory);
}

static enum mr_status reader_open(void *reader, const struct mr_source_config *config,
                                  struct mr_error *err)
{
    struct reader *r = reader;
    uint32_t n = config->schema->fields_n;

    (void)err;
    r->schema = config->schema;
    r->full = config->table->schema;
    r->columns = MR_NEW_ARRAY(config->arena, struct mr_column, n);
    r->columns_at = MR_NEW_ARRAY(config->arena, uint32_t, n);
    for (uint32_t c = 0; c < n; c++) {
        while (strcmp(r->full->fields[r->columns_at[c]].name, r->schema->fields[c].name) != 0) {
            r->columns_at[c]++;
            MR_ASSERT(r->columns_at[c] < r->full->fields_n);
        }
    }
    return MR_OK;
}

static void reader_close(void *reader)
{
    (void)reader;
}

static enum mr_status open_split(void *reader, struct mr_text bytes, struct mr_error *err)
{
    struct reader *r = reader;

    (void)err;
    MR_ASSERT(bytes.n == sizeof r->batch);
    memcpy(&r->batch, bytes.data, sizeof r->batch);
    return MR_OK;
}

static enum mr_step pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                         struct mr_error *err)
{
    struct reader *r = reader;

    (void)err;
    mr_batch_view(out, &r->batch->batch);
    for (uint32_t c = 0; c < r->schema->fields_n; c++)
        r->columns[c] = r->batch->batch.columns[r->columns_at[c]];
    out->columns = r->columns;
    out->columns_n = r->schema->fields_n;
    counts->rows += out->n;
    return MR_DONE;
}

const struct mr_source_ops mr_source_memory = {
    .name = "memory",
    .planner_size = sizeof(struct planner),
    .reader_size = sizeof(struct reader),
    .replayable = false,
    .options = options,
    .check = check,
    .planner_open = planner_open,
    .planner_close = planner_close,
    .plan = plan,
    .freeze = freeze,
    .adopt = adopt,
    .splits = splits,
    .split = split,
    .wake_fd = wake_fd,
    .reader_open = reader_open,
    .reader_close = reader_close,
    .open_split = open_split,
    .pull = pull,
};
