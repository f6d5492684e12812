#include "io/rate/rate.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "io/options.h"
#include <stdio.h>

static const char *const options[] = {
    "numPartitions: splits of an epoch (the number of workers)",
    "rampUpTime: how long until rowsPerSecond is reached (0s)",
    "rowsPerSecond: how many rows (1)",
    "tickInterval: how often the rows of the time passed come, 1ms to 1s (1s, as in Spark, which "
    "has no other)",
    NULL,
};

struct settings {
    int64_t rows_per_second, ramp_up_s, partitions, tick_ms;
};

struct planner {
    struct settings settings;
    struct mr_env *env;
    int64_t created_ms;     /* when the query first ran; 0: not yet */
    int64_t from_ms, to_ms; /* the planned range since then, whole ticks */
    int64_t frozen_ms;      /* -1: not frozen */
    char json[32], bytes[96];
    struct mr_rate_split split;
};

static enum mr_status read_tick(const char *text, int64_t *ms, struct mr_error *err)
{
    int64_t us = MR_US_PER_SECOND;

    if (text && (!mr_io_parse_duration(mr_text_of(text), 1000, &us) || us < 1000 ||
                 us > MR_US_PER_SECOND || us % 1000 != 0))
        return MR_FAIL(
            err, MR_USER, 0,
            "option tickInterval: \"%s\" is no whole number of milliseconds from 1ms to 1s", text);
    *ms = us / 1000;
    return MR_OK;
}

static enum mr_status read_settings(const struct mr_table *t, uint32_t workers, struct settings *s,
                                    struct mr_error *err)
{
    const struct mr_option *o = t->options;
    uint32_t n = t->options_n;
    enum mr_status status = mr_io_option_integer(o, n, "rowsPerSecond", 1, 1, INT64_C(1000000000),
                                                 &s->rows_per_second, err);

    if (status == MR_OK)
        status =
            mr_io_option_integer(o, n, "numPartitions", workers, 1, 65536, &s->partitions, err);
    if (status == MR_OK)
        status = mr_io_option_seconds(o, n, "rampUpTime", 0, &s->ramp_up_s, err);
    if (status == MR_OK)
        status = read_tick(mr_option_get(o, n, "tickInterval"), &s->tick_ms, err);
    return status;
}

static enum mr_status check(const struct mr_table *table, struct mr_error *err)
{
    struct settings s = {0};
    enum mr_status status =
        mr_io_options_check(table->options, table->options_n, options, "source rate", err);

    return status == MR_OK ? read_settings(table, 1, &s, err) : status;
}

/* How many rows there are after so many seconds. The speed grows by one step a second until it is
 * rows_per_second: steps 0 + 1 + .. + s, then full speed. */
static int64_t rows_after_seconds(const struct settings *s, int64_t seconds)
{
    int64_t step = s->rows_per_second / (s->ramp_up_s + 1);
    int64_t rising = seconds < s->ramp_up_s ? seconds : s->ramp_up_s;

    return step * (rising * (rising + 1) / 2) + (seconds - rising) * s->rows_per_second;
}

/* Evenly within a second. */
static int64_t rows_after(const struct settings *s, int64_t ms)
{
    int64_t from = rows_after_seconds(s, ms / 1000), to = rows_after_seconds(s, ms / 1000 + 1);

    return from + (to - from) * (ms % 1000) / 1000;
}

static enum mr_status planner_open(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct planner *p = planner;

    p->env = config->env;
    p->frozen_ms = -1;
    return read_settings(config->table, config->workers, &p->settings, err);
}

static void planner_close(void *planner)
{
    (void)planner;
}

/* Since the query first ran. */
static int64_t passed_us(struct planner *p)
{
    int64_t now_us = p->env->ops->now_us(p->env);

    if (p->created_ms == 0)
        p->created_ms = now_us / 1000;
    return now_us > p->created_ms * 1000 ? now_us - p->created_ms * 1000 : 0;
}

static int64_t ticks_now_ms(struct planner *p)
{
    int64_t ms = passed_us(p) / 1000;

    return ms - ms % p->settings.tick_ms;
}

static int64_t wake_us(void *planner)
{
    struct planner *p = planner;
    int64_t tick_us = p->settings.tick_ms * 1000;

    return tick_us - passed_us(p) % tick_us;
}

static enum mr_status plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                           struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct planner *p = planner;
    int64_t end = p->frozen_ms >= 0 ? p->frozen_ms : ticks_now_ms(p);

    (void)epoch, (void)limit, (void)err;
    *has_new = end > p->to_ms;
    if (*has_new) {
        p->from_ms = p->to_ms;
        p->to_ms = end;
    }
    to->keep = !*has_new && p->to_ms == 0; /* the clock began: it must not begin again */
    to->json =
        (struct mr_text){p->json, (uint64_t)snprintf(p->json, sizeof p->json, "%lld",
                                                     (long long)(p->to_ms / p->settings.tick_ms))};
    to->bytes =
        (struct mr_text){p->bytes, (uint64_t)snprintf(p->bytes, sizeof p->bytes, "%lld %lld %lld",
                                                      (long long)p->created_ms,
                                                      (long long)p->from_ms, (long long)p->to_ms)};
    return MR_OK;
}

static enum mr_status freeze(void *planner, struct mr_error *err)
{
    struct planner *p = planner;

    (void)err;
    p->frozen_ms = ticks_now_ms(p);
    return MR_OK;
}

static enum mr_status adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                            struct mr_error *err)
{
    struct planner *p = planner;
    long long created, from, to;
    char text[sizeof p->bytes] = "";

    memcpy(text, bytes.data, bytes.n < sizeof text - 1 ? bytes.n : sizeof text - 1);
    if (sscanf(text, "%lld %lld %lld", &created, &from, &to) != 3)
        return MR_FAIL(err, MR_CORRUPT, 0, "source rate: offsets of epoch %llu: \"%s\"",
                       (unsigned long long)epoch, text);
    p->created_ms = created;
    p->from_ms = from;
    p->to_ms = to;
    return MR_OK;
}

static void save(void *planner, struct mr_buffer *out)
{
    const struct planner *p = planner;

    mr_buffer_append_format(out, "%lld %lld %lld", (long long)p->created_ms, (long long)p->from_ms,
                            (long long)p->to_ms);
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
    int64_t first = rows_after(&p->settings, p->from_ms), end = rows_after(&p->settings, p->to_ms);

    p->split = (struct mr_rate_split){
        .value_from = first + i,
        .value_to = end,
        .step = p->settings.partitions,
        .base = first,
        .time_us = (p->created_ms + p->from_ms) * 1000,
        .span_us = (p->to_ms - p->from_ms) * 1000,
        .count = end - first,
        .unit_us = p->settings.tick_ms == 1000 ? 1000 : 1,
    };
    return (struct mr_text){(const char *)&p->split, sizeof p->split};
}

const struct mr_source_ops mr_source_rate = {
    .name = "rate",
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
    .wake_us = wake_us,
    .reader_open = mr_rate_reader_open,
    .reader_close = mr_rate_reader_close,
    .open_split = mr_rate_open_split,
    .pull = mr_rate_pull,
};
