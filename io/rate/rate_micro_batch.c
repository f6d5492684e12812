#include "core/base/check.h"
#include "io/options.h"
#include "io/rate/rate.h"
#include <stdio.h>

static const char *const options[] = {
    "advanceMillisPerBatch: how far the timestamp moves with each batch (1000)",
    "numPartitions: splits of an epoch (the number of workers)",
    "rowsPerBatch: how many rows (needed)",
    "startTimestamp: of the first batch, in ms since 1970 (0)",
    NULL,
};

struct settings {
    int64_t rows, advance_ms, start_ms, partitions;
};

struct planner {
    struct settings settings;
    int64_t from, to; /* values of the planned epoch; to is excluded */
    int64_t from_ms, to_ms;
    bool frozen, last_given; /* available_now is one batch */
    char json[64], bytes[96];
    struct mr_rate_split split;
};

static enum mr_status read_settings(const struct mr_table *t, uint32_t workers, struct settings *s,
                                    struct mr_error *err)
{
    const struct mr_option *o = t->options;
    uint32_t n = t->options_n;
    enum mr_status status =
        mr_io_option_integer(o, n, "rowsPerBatch", 0, 1, INT64_C(1000000000000), &s->rows, err);

    if (status == MR_OK && s->rows == 0)
        status = MR_FAIL(err, MR_USER, 0, "source \"%s\": option rowsPerBatch is needed", t->name);
    if (status == MR_OK)
        status = mr_io_option_integer(o, n, "advanceMillisPerBatch", 1000, 0,
                                      INT64_C(1000000000000), &s->advance_ms, err);
    if (status == MR_OK)
        status = mr_io_option_integer(o, n, "startTimestamp", 0, 0, INT64_C(1000000000000000),
                                      &s->start_ms, err);
    if (status == MR_OK)
        status =
            mr_io_option_integer(o, n, "numPartitions", workers, 1, 65536, &s->partitions, err);
    return status;
}

static enum mr_status check(const struct mr_table *table, struct mr_error *err)
{
    struct settings s = {0};
    enum mr_status status = mr_io_options_check(table->options, table->options_n, options,
                                                "source rate-micro-batch", err);

    return status == MR_OK ? read_settings(table, 1, &s, err) : status;
}

static enum mr_status planner_open(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct planner *p = planner;
    enum mr_status status = read_settings(config->table, config->workers, &p->settings, err);

    p->from_ms = p->to_ms = p->settings.start_ms;
    return status;
}

static void planner_close(void *planner)
{
    (void)planner;
}

static enum mr_status plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                           struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct planner *p = planner;

    (void)epoch, (void)limit, (void)err;
    *has_new = !(p->frozen && p->last_given);
    if (*has_new) {
        p->from = p->to;
        p->from_ms = p->to_ms;
        p->to += p->settings.rows;
        p->to_ms += p->settings.advance_ms;
        p->last_given = p->frozen;
    }
    int n = snprintf(p->json, sizeof p->json, "{\"offset\":%lld,\"timestamp\":%lld}",
                     (long long)p->to, (long long)p->to_ms);
    to->json = (struct mr_text){p->json, (uint64_t)n};
    n = snprintf(p->bytes, sizeof p->bytes, "%lld %lld %lld %lld", (long long)p->from,
                 (long long)p->to, (long long)p->from_ms, (long long)p->to_ms);
    to->bytes = (struct mr_text){p->bytes, (uint64_t)n};
    return MR_OK;
}

static enum mr_status freeze(void *planner, struct mr_error *err)
{
    (void)err;
    ((struct planner *)planner)->frozen = true;
    return MR_OK;
}

static enum mr_status adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                            struct mr_error *err)
{
    struct planner *p = planner;
    long long from, to, from_ms, to_ms;
    char text[sizeof p->bytes] = "";

    memcpy(text, bytes.data, bytes.n < sizeof text - 1 ? bytes.n : sizeof text - 1);
    if (sscanf(text, "%lld %lld %lld %lld", &from, &to, &from_ms, &to_ms) != 4)
        return MR_FAIL(err, MR_CORRUPT, 0, "source rate-micro-batch: offsets of epoch %llu: \"%s\"",
                       (unsigned long long)epoch, text);
    p->from = from;
    p->to = to;
    p->from_ms = from_ms;
    p->to_ms = to_ms;
    return MR_OK;
}

static void save(void *planner, struct mr_buffer *out)
{
    const struct planner *p = planner;

    mr_buffer_append_format(out, "%lld %lld %lld %lld", (long long)p->from, (long long)p->to,
                            (long long)p->from_ms, (long long)p->to_ms);
}

static enum mr_status load(void *planner, struct mr_text saved, struct mr_error *err)
{
    return adopt(planner, 0, saved, err);
}

static enum mr_status splits(void *planner, uint32_t *n, struct mr_error *err)
{
    const struct planner *p = planner;

    (void)err;
    *n = (uint32_t)p->settings.partitions;
    return MR_OK;
}

static struct mr_text split(void *planner, uint32_t i)
{
    struct planner *p = planner;

    p->split = (struct mr_rate_split){
        .value_from = p->from + i,
        .value_to = p->to,
        .step = p->settings.partitions,
        .base = p->from,
        .time_us = p->from_ms * 1000,
        .unit_us = 1000,
    };
    return (struct mr_text){(const char *)&p->split, sizeof p->split};
}

const struct mr_source_ops mr_source_rate_micro_batch = {
    .name = "rate-micro-batch",
    .planner_size = sizeof(struct planner),
    .reader_size = sizeof(struct mr_rate_reader),
    .replayable = true,
    .schema = mr_rate_schema,
    .options = options,
    .check = check,
    .planner_open = planner_open,
    .planner_close = planner_close,
    .plan = plan,
    .freeze = freeze,
    .adopt = adopt,
    .save = save,
    .load = load,
    .splits = splits,
    .split = split,
    .reader_open = mr_rate_reader_open,
    .reader_close = mr_rate_reader_close,
    .open_split = mr_rate_open_split,
    .pull = mr_rate_pull,
};
