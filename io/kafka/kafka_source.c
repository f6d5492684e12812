#include "io/kafka/kafka_source.h"

#include "core/base/check.h"
#include <stdlib.h>

enum { WAIT_MS = 1, KEPT_FIRST = 8 };

enum mr_status mr_kafka_reader_open(void *reader, const struct mr_source_config *config,
                                    struct mr_error *err)
{
    struct mr_kafka_reader *r = reader;

    (void)err;
    r->config = config;
    mr_arena_init(&r->scratch, config->arena->budget, config->arena->escape);
    r->messages = MR_NEW_ARRAY(config->arena, rd_kafka_message_t *, config->batch_rows);
    return MR_OK;
}

/* A client with messages that are held can't be closed. */
static void give_back(struct mr_kafka_reader *r)
{
    for (uint32_t i = 0; i < r->held_n; i++)
        rd_kafka_message_destroy(r->messages[i]);
    r->held_n = 0;
}

void mr_kafka_reader_close(void *reader)
{
    struct mr_kafka_reader *r = reader;

    give_back(r); /* a pull that ran out of memory did not */
    if (r->config)
        mr_arena_fini(&r->scratch);
}

static rd_kafka_message_t *first_kept(const struct mr_kafka_partition *x)
{
    return x->kept.at < x->kept.n ? x->kept.all[x->kept.at] : NULL;
}

void mr_kafka_drop_kept(struct mr_kafka_partition *x)
{
    for (; first_kept(x); x->kept.at++)
        rd_kafka_message_destroy(first_kept(x));
    if (x->kept.all)
        mr_mem_free(x->kept.all, x->kept.capacity * sizeof(rd_kafka_message_t *));
    memset(&x->kept, 0, sizeof x->kept);
}

/* All that are kept came by one pull: the next epoch's first one has room for them. */
static enum mr_status keep(struct mr_kafka_partition *x, rd_kafka_message_t *m,
                           struct mr_error *err)
{
    if (first_kept(x) == NULL)
        x->kept.at = x->kept.n = 0;
    if (x->kept.n == x->kept.capacity) {
        uint32_t capacity = x->kept.capacity ? x->kept.capacity * 2 : KEPT_FIRST;
        rd_kafka_message_t **all = mr_mem_alloc(capacity * sizeof(rd_kafka_message_t *));
        if (all == NULL)
            return MR_FAIL(err, MR_MEMORY, 0, "kafka: no memory for records of the next epoch");
        if (x->kept.all) {
            memcpy(all, x->kept.all, x->kept.n * sizeof(rd_kafka_message_t *));
            mr_mem_free(x->kept.all, x->kept.capacity * sizeof(rd_kafka_message_t *));
        }
        x->kept.all = all;
        x->kept.capacity = capacity;
    }
    x->kept.all[x->kept.n++] = m;
    return MR_OK;
}

/* Fetching goes on from epoch to epoch; it starts, or moves, where the range does not continue. */
static enum mr_status start_fetching(struct mr_kafka_planner *p, struct mr_kafka_partition *x,
                                     int64_t offset, struct mr_error *err)
{
    if (x->handle && x->next == offset)
        return MR_OK;
    mr_kafka_drop_kept(x);
    if (x->handle)
        rd_kafka_consume_stop(x->handle, x->number);
    else
        x->handle = rd_kafka_topic_new(p->client, x->topic, NULL);
    x->eof = -1;
    x->is_lost = false;
    x->next = offset;
    if (x->handle == NULL || rd_kafka_consume_start(x->handle, x->number, offset) != 0)
        return MR_FAIL(err, MR_IO, 0, "kafka: can't read %s-%d from offset %lld: %s", x->topic,
                       x->number, (long long)offset, rd_kafka_err2str(rd_kafka_last_error()));
    return MR_OK;
}

enum mr_status mr_kafka_open_split(void *reader, struct mr_text split, struct mr_error *err)
{
    struct mr_kafka_reader *r = reader;

    MR_ASSERT(split.n == sizeof r->split);
    memcpy(&r->split, split.data, sizeof r->split);
    r->is_open = true;
    return start_fetching(r->split.planner, r->split.partition, r->split.start, err);
}

/* Offsets next to before - 1 can't be read. */
static enum mr_status lose(struct mr_kafka_reader *r, int64_t before, const char *why,
                           struct mr_error *err)
{
    const struct mr_kafka_partition *x = r->split.partition;
    const char *name = r->config->table->name;

    if (r->split.planner->options.fail_on_data_loss)
        return MR_FAIL(err, MR_QUERY, 0,
                       "source \"%s\": data loss: %s-%d: offsets from %lld on can't be read any "
                       "more, up to %lld were wanted: %s (failOnDataLoss: false would go on)",
                       name, x->topic, x->number, (long long)x->next, (long long)r->split.end - 1,
                       why);
    if (before > x->next)
        fprintf(stderr,
                "millrace: warning: source \"%s\": data loss: %s-%d: offsets %lld to %lld: %s\n",
                name, x->topic, x->number, (long long)x->next, (long long)before - 1, why);
    return MR_OK;
}

/* What is left of the range is at the partition's beginning, or nowhere. */
static enum mr_status start_again(struct mr_kafka_reader *r, const char *why, struct mr_error *err)
{
    struct mr_kafka_partition *x = r->split.partition;
    enum mr_status status = lose(r, x->next, why, err);

    if (status != MR_OK)
        return status;
    rd_kafka_consume_stop(x->handle, x->number);
    x->is_lost = true;
    if (rd_kafka_consume_start(x->handle, x->number, RD_KAFKA_OFFSET_BEGINNING) != 0)
        return MR_FAIL(err, MR_IO, 0, "source \"%s\": can't read %s-%d: %s", r->config->table->name,
                       x->topic, x->number, rd_kafka_err2str(rd_kafka_last_error()));
    return MR_OK;
}

/* A message that tells of something else than a record. MR_OK: go on. */
static enum mr_status notice(struct mr_kafka_reader *r, const rd_kafka_message_t *m,
                             struct mr_error *err)
{
    struct mr_kafka_partition *x = r->split.partition;
    enum mr_status status;

    switch (m->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        if (x->is_lost) { /* not even the beginning reaches into the range */
            x->is_lost = false;
            x->eof = r->split.end;
            return lose(r, r->split.end, "they are no longer there", err);
        }
        x->eof = m->offset;
        return MR_OK;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        return start_again(r, rd_kafka_message_errstr(m), err);
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        status = lose(r, r->split.end, rd_kafka_message_errstr(m), err);
        x->eof = r->split.end;
        return status;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
        return MR_OK; /* librdkafka connects again */
    default:
        return MR_FAIL(err, MR_IO, 0, "source \"%s\": %s-%d: %s", r->config->table->name, x->topic,
                       x->number, rd_kafka_message_errstr(m));
    }
}

/* A record: into the batch, kept for the next epoch, or (false) not wanted. */
static enum mr_status place(struct mr_kafka_reader *r, rd_kafka_message_t *m, uint32_t *n,
                            bool *taken, struct mr_error *err)
{
    struct mr_kafka_partition *x = r->split.partition;
    enum mr_status status = MR_OK;

    *taken = false;
    if (m->offset < x->next) /* of a topic that was made anew */
        return MR_OK;
    if (x->is_lost)
        status = lose(r, m->offset < r->split.end ? m->offset : r->split.end,
                      "they are no longer there", err);
    x->is_lost = false;
    if (m->offset < r->split.end) {
        x->next = m->offset + 1;
        r->messages[(*n)++] = m;
        *taken = true;
    } else if (status == MR_OK) {
        status = keep(x, m, err);
        *taken = status == MR_OK;
    }
    return status;
}

/* Sorts what came: records of the range to the front, those beyond it are kept. */
static enum mr_status sort_out(struct mr_kafka_reader *r, uint32_t had, uint32_t came, uint32_t *n,
                               struct mr_error *err)
{
    enum mr_status status = MR_OK;

    *n = had;
    for (uint32_t i = had; i < had + came; i++) {
        rd_kafka_message_t *m = r->messages[i];
        bool taken = false;
        if (status == MR_OK)
            status = m->err ? notice(r, m, err) : place(r, m, n, &taken, err);
        if (!taken)
            rd_kafka_message_destroy(m);
    }
    return status;
}

static uint32_t take_kept(struct mr_kafka_reader *r)
{
    struct mr_kafka_partition *x = r->split.partition;
    uint32_t n = 0;

    while (n < r->config->batch_rows && first_kept(x) && first_kept(x)->offset < r->split.end) {
        r->messages[n++] = first_kept(x);
        x->next = first_kept(x)->offset + 1;
        x->kept.at++;
    }
    return n;
}

/* What the range has comes before it. */
static bool is_beyond_kept(const struct mr_kafka_reader *r)
{
    const rd_kafka_message_t *kept = first_kept(r->split.partition);

    return kept && kept->offset >= r->split.end;
}

static bool is_finished(const struct mr_kafka_reader *r)
{
    const struct mr_kafka_partition *x = r->split.partition;

    return x->next >= r->split.end || x->eof >= r->split.end || is_beyond_kept(r);
}

static enum mr_step finish(struct mr_kafka_reader *r)
{
    r->split.partition->next = r->split.end; /* gaps behind the last record are read too */
    r->is_open = false;
    return MR_DONE;
}

enum mr_step mr_kafka_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                           struct mr_error *err)
{
    struct mr_kafka_reader *r = reader;
    struct mr_kafka_partition *x = r->split.partition;

    *out = (struct mr_batch){0};
    mr_arena_reset(&r->scratch);
    if (!r->is_open)
        return MR_DONE;
    uint32_t n = take_kept(r);
    /* Never more than the range can have: what lies beyond is left in the queue, but for as many as
     * the range has gaps. */
    int64_t left = r->split.end - x->next;
    if (left > 0 && !is_beyond_kept(r)) {
        uint64_t room = r->config->batch_rows - n;
        ssize_t came =
            room == 0
                ? 0
                : rd_kafka_consume_batch(x->handle, x->number, n ? 0 : WAIT_MS, r->messages + n,
                                         (uint64_t)left < room ? (size_t)left : room);
        enum mr_status status = came < 0
                                    ? MR_FAIL(err, MR_IO, 0, "kafka: %s-%d: %s", x->topic,
                                              x->number, rd_kafka_err2str(rd_kafka_last_error()))
                                    : sort_out(r, n, (uint32_t)came, &n, err);
        r->held_n = n;
        if (status != MR_OK) {
            give_back(r);
            return MR_FAILED;
        }
    }
    r->held_n = n;
    if (n) {
        mr_kafka_columns(r->config->schema, r->messages, n, &r->scratch, out);
        counts->rows += n;
        give_back(r);
    }
    if (is_finished(r))
        return finish(r);
    return n ? MR_MORE_OUTPUT : MR_BLOCKED;
}

static enum mr_status check(const struct mr_table *table, struct mr_error *err)
{
    struct mr_kafka_options options;
    struct mr_arena arena;
    jmp_buf escape;

    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape) != 0) {
        mr_arena_fini(&arena);
        return MR_FAIL(err, MR_MEMORY, 0, "source kafka: no memory for its options");
    }
    enum mr_status status = mr_kafka_options_read(table, &arena, &options, err);
    mr_arena_fini(&arena);
    return status;
}

const struct mr_source_ops mr_source_kafka = {
    .name = "kafka",
    .planner_size = sizeof(struct mr_kafka_planner),
    .reader_size = sizeof(struct mr_kafka_reader),
    .replayable = true,
    .schema = mr_kafka_schema,
    .options = mr_kafka_source_options,
    .check = check,
    .planner_open = mr_kafka_planner_open,
    .planner_close = mr_kafka_planner_close,
    .plan = mr_kafka_plan,
    .freeze = mr_kafka_freeze,
    .adopt = mr_kafka_adopt,
    .committed = mr_kafka_committed,
    .save = mr_kafka_save,
    .load = mr_kafka_load,
    .splits = mr_kafka_splits,
    .split = mr_kafka_split,
    .metrics = mr_kafka_metrics,
    .reader_open = mr_kafka_reader_open,
    .reader_close = mr_kafka_reader_close,
    .open_split = mr_kafka_open_split,
    .pull = mr_kafka_pull,
};
