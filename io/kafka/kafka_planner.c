#include "io/kafka/kafka_source.h"

#include "core/base/check.h"
#include <stdio.h>
#include <stdlib.h>

enum { OFFSETS_VERSION = 1 };

enum mr_status mr_kafka_planner_open(void *planner, const struct mr_source_config *config,
                                     struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;
    rd_kafka_conf_t *conf;

    p->config = config;
    p->is_new = true;
    p->metadata_us = p->last_trigger_us = INT64_MIN;
    mr_arena_init(&p->arena, config->arena->budget, config->arena->escape);
    p->partitions =
        MR_NEW_ARRAY(config->arena, struct mr_kafka_partition *, MR_KAFKA_PARTITIONS_MAX);
    enum mr_status status = mr_kafka_options_read(config->table, config->arena, &p->options, err);
    if (status == MR_OK)
        status = mr_kafka_conf_make(config->table->options, config->table->options_n,
                                    MR_KAFKA_CONSUMER, &conf, err);
    if (status != MR_OK)
        return status;
    const char *warning = mr_kafka_conf_warning(conf);
    if (warning)
        fprintf(stderr, "millrace: warning: source \"%s\": %s\n", config->table->name, warning);
    return mr_kafka_client(conf, MR_KAFKA_CONSUMER, &p->reports, &p->client, err);
}

void mr_kafka_planner_close(void *planner)
{
    struct mr_kafka_planner *p = planner;

    if (p->config == NULL)
        return;
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        struct mr_kafka_partition *x = p->partitions[i];
        mr_kafka_drop_kept(x);
        if (x->handle) {
            rd_kafka_consume_stop(x->handle, x->number);
            rd_kafka_topic_destroy(x->handle);
        }
        free(x->topic);
        free(x);
    }
    if (p->client)
        rd_kafka_destroy(p->client);
    mr_arena_fini(&p->arena);
}

static void begin(struct mr_kafka_planner *p, uint64_t epoch)
{
    mr_arena_reset(&p->arena);
    mr_buffer_init(&p->json, &p->arena);
    mr_buffer_init(&p->bytes, &p->arena);
    p->epoch = epoch;
    p->splits_n = 0;
}

/* Offsets for timestamps; where there is none at or after it: an error, or the latest. */
static enum mr_status start_at_timestamps(struct mr_kafka_planner *p, int64_t *starts,
                                          struct mr_error *err)
{
    int64_t *specs = MR_NEW_ARRAY(&p->arena, int64_t, p->partitions_n + 1);
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < p->partitions_n; i++) {
        specs[i] = p->options.start_ms;
        starts[i] = -1;
    }
    if (p->options.start == MR_KAFKA_START_TIMESTAMPS)
        status = mr_kafka_resolve(p, "startingOffsetsByTimestamp", specs, err);
    if (status == MR_OK)
        status = mr_kafka_list_offsets(p, specs, starts, err);
    for (uint32_t i = 0; i < p->partitions_n && status == MR_OK; i++) {
        if (starts[i] >= 0 || !p->partitions[i]->is_there)
            continue;
        if (!p->options.latest_if_no_offset)
            return MR_FAIL(err, MR_USER, 0,
                           "source \"%s\": %s-%d has no offset at or after timestamp %lld "
                           "(startingOffsetsByTimestampStrategy: latest would start at its end)",
                           p->config->table->name, p->partitions[i]->topic,
                           p->partitions[i]->number, (long long)specs[i]);
        starts[i] = p->partitions[i]->latest;
    }
    return status;
}

static enum mr_status start_at_offsets(struct mr_kafka_planner *p, int64_t *starts,
                                       struct mr_error *err)
{
    enum mr_status status = mr_kafka_resolve(p, "startingOffsets", starts, err);

    for (uint32_t i = 0; i < p->partitions_n && status == MR_OK; i++) {
        const struct mr_kafka_partition *x = p->partitions[i];
        if (starts[i] == MR_KAFKA_EARLIEST)
            starts[i] = x->earliest;
        else if (starts[i] == MR_KAFKA_LATEST)
            starts[i] = x->latest;
    }
    return status;
}

/* Where a new query begins; partitions that come later begin at their earliest. */
static enum mr_status place_new(struct mr_kafka_planner *p, struct mr_error *err)
{
    int64_t *starts = MR_NEW_ARRAY(&p->arena, int64_t, p->partitions_n + 1);
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < p->partitions_n; i++)
        starts[i] = p->is_new && p->options.start == MR_KAFKA_START_LATEST
                        ? p->partitions[i]->latest
                        : p->partitions[i]->earliest;
    if (p->is_new && p->options.start == MR_KAFKA_START_OFFSETS)
        status = start_at_offsets(p, starts, err);
    else if (p->is_new && p->options.start >= MR_KAFKA_START_TIMESTAMPS)
        status = start_at_timestamps(p, starts, err);
    for (uint32_t i = 0; i < p->partitions_n && status == MR_OK; i++)
        if (p->partitions[i]->at < 0 && p->partitions[i]->is_there)
            p->partitions[i]->at = starts[i];
    if (status == MR_OK && p->partitions_n > 0)
        p->is_new = false;
    return status;
}

static bool has_unplaced(const struct mr_kafka_planner *p)
{
    for (uint32_t i = 0; i < p->partitions_n; i++)
        if (p->partitions[i]->at < 0 && p->partitions[i]->is_there)
            return true;
    return false;
}

/* Offsets that retention took before they were read, and topics that are gone or were made anew. */
static enum mr_status check_loss(struct mr_kafka_planner *p, struct mr_error *err)
{
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        struct mr_kafka_partition *x = p->partitions[i];
        char what[MR_ERROR_MESSAGE];
        int64_t to = x->at;
        if (x->at < 0)
            continue;
        if (!x->is_there) {
            snprintf(what, sizeof what, "partition %s-%d is gone; it was read up to offset %lld",
                     x->topic, x->number, (long long)x->at);
        } else if (x->earliest > x->at) {
            snprintf(what, sizeof what, "%s-%d: offsets %lld to %lld are no longer there", x->topic,
                     x->number, (long long)x->at, (long long)x->earliest - 1);
            to = x->earliest;
        } else if (x->latest < x->at) {
            snprintf(
                what, sizeof what,
                "%s-%d ends at offset %lld, but is to be read from %lld on: the topic was made "
                "anew, or startingOffsets lies behind its end",
                x->topic, x->number, (long long)x->latest, (long long)x->at);
            to = x->earliest;
        } else {
            continue;
        }
        if (p->options.fail_on_data_loss)
            return MR_FAIL(err, MR_QUERY, 0,
                           "source \"%s\": data loss: %s (failOnDataLoss: false would go on)",
                           p->config->table->name, what);
        fprintf(stderr, "millrace: warning: source \"%s\": data loss: %s\n", p->config->table->name,
                what);
        x->at = x->is_there ? to : -1;
    }
    return MR_OK;
}

static enum mr_status look(struct mr_kafka_planner *p, struct mr_error *err)
{
    enum mr_status status = mr_kafka_look(p, err);

    if (status == MR_OK && has_unplaced(p))
        status = place_new(p, err);
    return status == MR_OK ? check_loss(p, err) : status;
}

enum mr_status mr_kafka_freeze(void *planner, struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;
    enum mr_status status;

    begin(p, p->epoch);
    status = look(p, err);
    p->frozen = status == MR_OK;
    return mr_kafka_is_stopped(p->config->stop) ? MR_OK : status;
}

static int64_t waiting(const struct mr_kafka_planner *p)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < p->partitions_n; i++)
        if (p->partitions[i]->is_there && p->partitions[i]->latest > p->partitions[i]->at)
            n += p->partitions[i]->latest - p->partitions[i]->at;
    return n;
}

/* As Spark waits for minOffsetsPerTrigger: not at first, and not when the last time that there were
 * enough, or that the wait was over, lies maxTriggerDelay behind. */
static bool is_too_little(struct mr_kafka_planner *p, enum mr_source_limit limit, int64_t total)
{
    struct mr_env *env = p->config->env;
    int64_t now_us = env->ops->monotonic_us(env);

    if (limit == MR_LIMIT_NONE || p->frozen || p->options.offsets_min == 0)
        return false;
    if (p->last_trigger_us != INT64_MIN && now_us - p->last_trigger_us < p->options.delay_max_us &&
        total < p->options.offsets_min)
        return true;
    p->last_trigger_us = now_us;
    return false;
}

/* As Spark shares a limit: in proportion to what waits, each partition at least one. */
static int64_t share(const struct mr_kafka_partition *x, int64_t limit, int64_t total)
{
    int64_t size = x->latest - x->at;
    double part = (double)limit * ((double)size / (double)total);
    int64_t n = part < 1 ? 1 : (int64_t)part;

    return n < size ? n : size;
}

/* version, how many, then topic, number, start, end of each. */
static void print_ranges(struct mr_kafka_planner *p, struct mr_buffer *out)
{
    uint8_t version = OFFSETS_VERSION;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->partitions_n; i++)
        n += p->partitions[i]->at >= 0;
    mr_buffer_append(out, &version, 1);
    mr_buffer_append(out, &n, 4);
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        const struct mr_kafka_partition *x = p->partitions[i];
        uint16_t topic_n = (uint16_t)strlen(x->topic);
        if (x->at < 0)
            continue;
        mr_buffer_append(out, &topic_n, 2);
        mr_buffer_append(out, x->topic, topic_n);
        mr_buffer_append(out, &x->number, 4);
        mr_buffer_append(out, &x->start, 8);
        mr_buffer_append(out, &x->at, 8);
    }
}

enum mr_status mr_kafka_plan(void *planner, uint64_t epoch, enum mr_source_limit limit,
                             struct mr_offsets *to, bool *has_new, struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;

    begin(p, epoch);
    enum mr_status status = p->frozen ? MR_OK : look(p, err);
    if (status != MR_OK && !mr_kafka_is_stopped(p->config->stop))
        return status; /* stopped while it waited: there is nothing new */
    int64_t total = waiting(p), max = limit == MR_LIMIT_NONE ? 0 : p->options.offsets_max;
    *has_new = status == MR_OK && total > 0 && !is_too_little(p, limit, total);
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        struct mr_kafka_partition *x = p->partitions[i];
        x->start = x->at;
        if (*has_new && x->is_there && x->latest > x->at)
            x->at += max && total > max ? share(x, max, total) : x->latest - x->at;
        x->end = x->at;
    }
    mr_kafka_print_offsets(p, &p->json);
    print_ranges(p, &p->bytes);
    to->json = mr_buffer_text(&p->json);
    to->bytes = mr_buffer_text(&p->bytes);
    to->keep = !p->is_new && !p->is_begun;
    return MR_OK;
}

enum mr_status mr_kafka_committed(void *planner, uint64_t epoch, struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;

    (void)epoch;
    (void)err;
    p->is_begun = !p->is_new;
    return MR_OK;
}

enum mr_status mr_kafka_adopt(void *planner, uint64_t epoch, struct mr_text bytes,
                              struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;
    uint8_t version = 0;
    uint32_t n = 0;

    begin(p, epoch);
    bool whole = mr_text_take(&bytes, &version, 1) && version == OFFSETS_VERSION &&
                 mr_text_take(&bytes, &n, 4);
    for (uint32_t i = 0; whole && i < n; i++) {
        uint16_t topic_n = 0;
        int32_t number = 0;
        char topic[65536];
        whole = mr_text_take(&bytes, &topic_n, 2) && mr_text_take(&bytes, topic, topic_n) &&
                mr_text_take(&bytes, &number, 4);
        topic[whole ? topic_n : 0] = '\0';
        struct mr_kafka_partition *x = whole ? mr_kafka_partition_for(p, topic, number) : NULL;
        whole = x && mr_text_take(&bytes, &x->start, 8) && mr_text_take(&bytes, &x->at, 8);
        if (whole) {
            x->end = x->at;
            x->is_there = true;
        }
    }
    if (!whole)
        return MR_FAIL(err, MR_CORRUPT, 0, "source \"%s\": offsets of epoch %llu can't be read",
                       p->config->table->name, (unsigned long long)epoch);
    p->is_new = false;
    return MR_OK;
}

void mr_kafka_save(void *planner, struct mr_buffer *out)
{
    print_ranges(planner, out);
}

enum mr_status mr_kafka_load(void *planner, struct mr_text saved, struct mr_error *err)
{
    return mr_kafka_adopt(planner, 0, saved, err);
}

enum mr_status mr_kafka_splits(void *planner, uint32_t *n, struct mr_error *err)
{
    struct mr_kafka_planner *p = planner;

    (void)err;
    p->splits = MR_NEW_ARRAY(&p->arena, struct mr_kafka_split, p->partitions_n + 1);
    p->splits_n = 0;
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        struct mr_kafka_partition *x = p->partitions[i];
        if (x->end > x->start && x->start >= 0)
            p->splits[p->splits_n++] = (struct mr_kafka_split){x, p, x->start, x->end};
    }
    *n = p->splits_n;
    return MR_OK;
}

struct mr_text mr_kafka_split(void *planner, uint32_t i)
{
    struct mr_kafka_planner *p = planner;

    return (struct mr_text){(const char *)&p->splits[i], sizeof p->splits[i]};
}

void mr_kafka_metrics(void *planner, struct mr_buffer *out)
{
    const struct mr_kafka_planner *p = planner;
    int64_t min = INT64_MAX, max = 0, sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->partitions_n; i++) {
        const struct mr_kafka_partition *x = p->partitions[i];
        if (x->at < 0 || x->latest < 0)
            continue;
        int64_t behind = x->latest > x->at ? x->latest - x->at : 0;
        min = behind < min ? behind : min;
        max = behind > max ? behind : max;
        sum += behind;
        n++;
    }
    if (n)
        mr_buffer_append_format(
            out,
            "\"avgOffsetsBehindLatest\":\"%.1f\",\"maxOffsetsBehindLatest\":\"%lld\","
            "\"minOffsetsBehindLatest\":\"%lld\"",
            (double)sum / n, (long long)max, (long long)min);
}
