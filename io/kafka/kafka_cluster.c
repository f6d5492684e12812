/* What the brokers say: partitions and offsets. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/kafka/kafka_source.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "io/kafka/kafka_sink.h"
#include <pcre2.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALL_MS = 10000, SLICE_MS = 200 };
static const int64_t metadata_every_us = 5 * MR_US_PER_SECOND; /* new partitions are seen so soon */

static int by_topic_and_number(const struct mr_kafka_partition *a, const char *topic,
                               int32_t number)
{
    int order = strcmp(a->topic, topic);

    return order ? order : (a->number > number) - (a->number < number);
}

/* Where it is, or would be. */
static uint32_t place_of(const struct mr_kafka_planner *p, const char *topic, int32_t number,
                         bool *found)
{
    uint32_t low = 0, high = p->partitions_n;

    *found = false;
    while (low < high && !*found) {
        uint32_t middle = (low + high) / 2;
        int order = by_topic_and_number(p->partitions[middle], topic, number);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *found ? high : low;
}

struct mr_kafka_partition *mr_kafka_partition_find(const struct mr_kafka_planner *p,
                                                   const char *topic, int32_t number)
{
    bool found;
    uint32_t at = place_of(p, topic, number, &found);

    return found ? p->partitions[at] : NULL;
}

struct mr_kafka_partition *mr_kafka_partition_for(struct mr_kafka_planner *p, const char *topic,
                                                  int32_t number)
{
    bool found;
    uint32_t low = place_of(p, topic, number, &found);

    if (found)
        return p->partitions[low];
    struct mr_kafka_partition *new = calloc(1, sizeof *new);
    char *name = strdup(topic);
    if (p->partitions_n == MR_KAFKA_PARTITIONS_MAX || new == NULL || name == NULL) {
        free(new);
        free(name);
        return NULL;
    }
    *new = (struct mr_kafka_partition){.topic = name,
                                       .number = number,
                                       .at = -1,
                                       .start = -1,
                                       .end = -1,
                                       .latest = -1,
                                       .earliest = -1,
                                       .eof = -1};
    memmove(p->partitions + low + 1, p->partitions + low,
            (p->partitions_n - low) * sizeof *p->partitions);
    p->partitions[low] = new;
    p->partitions_n++;
    return new;
}

static enum mr_status see(struct mr_kafka_planner *p, const char *topic, int32_t number,
                          struct mr_error *err)
{
    struct mr_kafka_partition *x = mr_kafka_partition_for(p, topic, number);

    if (x == NULL)
        return MR_FAIL(err, MR_QUERY, 0, "source \"%s\": more than %d partitions",
                       p->config->table->name, MR_KAFKA_PARTITIONS_MAX);
    x->is_there = true;
    return MR_OK;
}

static enum mr_status see_topic(struct mr_kafka_planner *p, const rd_kafka_metadata_topic_t *t,
                                struct mr_error *err)
{
    enum mr_status status = MR_OK;

    for (int i = 0; i < t->partition_cnt && status == MR_OK; i++)
        status = see(p, t->topic, t->partitions[i].id, err);
    return status;
}

static enum mr_status refused(struct mr_kafka_planner *p, const char *why, struct mr_error *err)
{
    return MR_FAIL(err, MR_IO, 0, "source \"%s\": the broker can't be trusted or refuses us: %s",
                   p->config->table->name, why);
}

static bool is_stopped(const struct mr_kafka_planner *p)
{
    return mr_kafka_is_stopped(p->config->stop);
}

static void tell_waiting(struct mr_kafka_planner *p, int64_t waited_us)
{
    const struct mr_table *t = p->config->table;
    char who[256];

    snprintf(who, sizeof who, "source \"%s\"", t->name);
    mr_kafka_tell_waiting(&p->reports, waited_us, who, t->options, t->options_n);
}

/* One try. topic NULL: all topics. A topic that is not there is an answer too. */
static enum mr_status ask_metadata(struct mr_kafka_planner *p, const char *topic,
                                   const struct rd_kafka_metadata **out, struct mr_error *err)
{
    rd_kafka_topic_t *handle = topic ? rd_kafka_topic_new(p->client, topic, NULL) : NULL;
    rd_kafka_resp_err_t rc = RD_KAFKA_RESP_ERR__TIMED_OUT;
    const char *why = NULL;

    for (int ms = 0; ms < CALL_MS && rc && why == NULL && !is_stopped(p); ms += SLICE_MS) {
        struct mr_env *env = p->config->env;
        int64_t begin_us = env->ops->monotonic_us(env);
        rc = rd_kafka_metadata(p->client, topic == NULL, handle, out, SLICE_MS);
        int64_t took_us = env->ops->monotonic_us(env) - begin_us;
        why = rc ? mr_kafka_refusal(p->client, &p->reports) : NULL;
        if (rc && why == NULL && took_us < SLICE_MS * 1000)
            env->ops->sleep_us(env, SLICE_MS * 1000 - took_us);
        if (rc)
            tell_waiting(p, (ms + SLICE_MS) * INT64_C(1000));
    }
    if (handle)
        rd_kafka_topic_destroy(handle);
    if (why)
        return refused(p, why, err);
    return rc ? MR_FAIL(err, MR_IO, 0, "source \"%s\": the brokers don't tell their topics: %s",
                        p->config->table->name, rd_kafka_err2str(rc))
              : MR_OK;
}

/* Whether partitions of the topic were there before: losing them is data loss, and checked as
 * that. */
static bool was_there(const struct mr_kafka_planner *p, const char *topic)
{
    for (uint32_t i = 0; i < p->partitions_n; i++)
        if (strcmp(p->partitions[i]->topic, topic) == 0)
            return true;
    return false;
}

static enum mr_status no_topic(struct mr_kafka_planner *p, const char *topic,
                               rd_kafka_resp_err_t rc, struct mr_error *err)
{
    bool is_unknown =
        rc == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || rc == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;

    if (is_unknown && was_there(p, topic))
        return MR_OK;
    return MR_FAIL_CONDITION(
        err, MR_QUERY, is_unknown ? "UnknownTopicOrPartitionException" : "",
        "source \"%s\": topic %s: %s", p->config->table->name, topic,
        is_unknown ? "the brokers have no topic of this name (names are case-sensitive)"
                   : rd_kafka_err2str(rc));
}

static enum mr_status see_assigned(struct mr_kafka_planner *p, const rd_kafka_metadata_topic_t *t,
                                   struct mr_error *err)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < p->options.assigned.n && status == MR_OK; i++) {
        const struct mr_kafka_place *at = &p->options.assigned.items[i];
        if (strcmp(at->topic, t->topic) != 0)
            continue;
        if (at->number < t->partition_cnt)
            status = see(p, at->topic, at->number, err);
        else if (!mr_kafka_partition_find(p, at->topic, at->number))
            status = MR_FAIL_CONDITION(err, MR_QUERY, "UnknownTopicOrPartitionException",
                                       "source \"%s\": assign names %s-%d, but topic %s has %d "
                                       "partitions, from 0 on",
                                       p->config->table->name, at->topic, at->number, at->topic,
                                       t->partition_cnt);
    }
    return status;
}

static enum mr_status find_one(struct mr_kafka_planner *p, const char *topic, struct mr_error *err)
{
    const struct rd_kafka_metadata *m;
    enum mr_status status = ask_metadata(p, topic, &m, err);

    if (status != MR_OK)
        return status;
    for (int i = 0; i < m->topic_cnt && status == MR_OK; i++) {
        const rd_kafka_metadata_topic_t *t = &m->topics[i];
        if (t->err && t->partition_cnt == 0)
            status = no_topic(p, topic, t->err, err);
        else if (p->options.subscription == MR_KAFKA_ASSIGN)
            status = see_assigned(p, t, err);
        else
            status = see_topic(p, t, err);
    }
    rd_kafka_metadata_destroy(m);
    return status;
}

static enum mr_status find_named(struct mr_kafka_planner *p, struct mr_error *err)
{
    struct mr_text rest = mr_text_of(p->options.topics);
    enum mr_status status = MR_OK;

    while (rest.n > 0 && status == MR_OK) {
        const char *comma = memchr(rest.data, ',', rest.n);
        struct mr_text name = {rest.data, comma ? (uint64_t)(comma - rest.data) : rest.n};
        rest.data += name.n + (comma != NULL);
        rest.n -= name.n + (comma != NULL);
        name = mr_text_trim(name);
        if (name.n > 0)
            status = find_one(p, mr_arena_copy(&p->arena, name.data, name.n), err);
    }
    return status;
}

/* Topics that Kafka, or millrace, keeps for itself match no pattern. */
static bool is_internal(const char *topic)
{
    return strcmp(topic, "__consumer_offsets") == 0 || strcmp(topic, "__transaction_state") == 0 ||
           strcmp(topic, "__share_group_state") == 0 || strcmp(topic, MR_KAFKA_MARKER_TOPIC) == 0;
}

/* The whole name must match, as in Java's Pattern. */
static enum mr_status find_matching(struct mr_kafka_planner *p, struct mr_error *err)
{
    const struct rd_kafka_metadata *m;
    PCRE2_SIZE at;
    int code;
    enum mr_status status = ask_metadata(p, NULL, &m, err);

    if (status != MR_OK)
        return status;
    pcre2_code *pattern =
        pcre2_compile((PCRE2_SPTR)p->options.topics, PCRE2_ZERO_TERMINATED,
                      PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_UTF, &code, &at, NULL);
    MR_ASSERT(pattern != NULL); /* mr_kafka_options_read has tried it */
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    for (int i = 0; i < m->topic_cnt && status == MR_OK; i++)
        if (!is_internal(m->topics[i].topic) &&
            pcre2_match(pattern, (PCRE2_SPTR)m->topics[i].topic, PCRE2_ZERO_TERMINATED, 0, 0, match,
                        NULL) >= 0)
            status = see_topic(p, &m->topics[i], err);
    rd_kafka_metadata_destroy(m);
    pcre2_match_data_free(match);
    pcre2_code_free(pattern);
    return status;
}

static enum mr_status find_partitions(struct mr_kafka_planner *p, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < p->partitions_n; i++)
        p->partitions[i]->is_there = false;
    if (p->options.subscription == MR_KAFKA_SUBSCRIBE)
        return find_named(p, err);
    if (p->options.subscription == MR_KAFKA_PATTERN)
        return find_matching(p, err);
    const struct mr_kafka_places *assigned = &p->options.assigned;
    for (uint32_t i = 0; i < assigned->n && status == MR_OK; i++) /* topics lie together */
        if (i == 0 || strcmp(assigned->items[i].topic, assigned->items[i - 1].topic) != 0)
            status = find_one(p, assigned->items[i].topic, err);
    return status;
}

static void take_results(struct mr_kafka_planner *p, rd_kafka_event_t *event, int64_t *out,
                         char *failed, size_t failed_bytes)
{
    size_t n;
    const rd_kafka_ListOffsets_result_t *result = rd_kafka_event_ListOffsets_result(event);
    const rd_kafka_ListOffsetsResultInfo_t **infos = rd_kafka_ListOffsets_result_infos(result, &n);

    for (size_t i = 0; i < n; i++) {
        const rd_kafka_topic_partition_t *t =
            rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
        if (t->err ||
            t->offset < -1) { /* -1: no offset for a timestamp; else: the answer was lost */
            snprintf(failed, failed_bytes, "%s-%d: %s", t->topic, t->partition,
                     t->err ? rd_kafka_err2str(t->err) : "no answer");
            continue;
        }
        bool found;
        uint32_t at = place_of(p, t->topic, t->partition, &found);
        if (found)
            out[at] = t->offset;
    }
}

/* NULL: no answer. */
static rd_kafka_event_t *wait_for_event(struct mr_kafka_planner *p, rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *event = NULL;

    for (int ms = 0; ms < CALL_MS + 1000 && event == NULL && !is_stopped(p); ms += SLICE_MS) {
        tell_waiting(p, ms * INT64_C(1000));
        event = rd_kafka_queue_poll(queue, SLICE_MS);
    }
    return event;
}

/* One try; why it failed goes to failed, which is "" when it did not. */
static void list_once(struct mr_kafka_planner *p, const int64_t *specs, int64_t *out, char *failed,
                      size_t failed_bytes)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)p->partitions_n);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(p->client, RD_KAFKA_ADMIN_OP_LISTOFFSETS);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(p->client);

    failed[0] = '\0';
    for (uint32_t i = 0; i < p->partitions_n; i++)
        if (p->partitions[i]->is_there && specs[i] != INT64_MIN)
            rd_kafka_topic_partition_list_add(list, p->partitions[i]->topic,
                                              p->partitions[i]->number)
                ->offset = specs[i];
    rd_kafka_AdminOptions_set_request_timeout(options, CALL_MS, NULL, 0);
    if (p->options.read_committed) { /* the end is then the last stable offset */
        rd_kafka_error_t *e = rd_kafka_AdminOptions_set_isolation_level(
            options, RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED);
        MR_ASSERT(e == NULL);
    }
    if (list->cnt > 0) {
        rd_kafka_ListOffsets(p->client, list, options, queue);
        rd_kafka_event_t *event = wait_for_event(p, queue);
        if (event == NULL)
            snprintf(failed, failed_bytes, "no answer in %d ms", CALL_MS);
        else if (rd_kafka_event_error(event))
            snprintf(failed, failed_bytes, "%s", rd_kafka_event_error_string(event));
        else
            take_results(p, event, out, failed, failed_bytes);
        if (event)
            rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_topic_partition_list_destroy(list);
}

enum mr_status mr_kafka_list_offsets(struct mr_kafka_planner *p, const int64_t *specs, int64_t *out,
                                     struct mr_error *err)
{
    char failed[MR_KAFKA_ERROR_MAX];

    list_once(p, specs, out, failed, sizeof failed);
    if (failed[0] == '\0')
        return MR_OK;
    const char *why = mr_kafka_refusal(p->client, &p->reports);
    return why ? refused(p, why, err)
               : MR_FAIL(err, MR_IO, 0, "source \"%s\": the brokers don't tell offsets: %s",
                         p->config->table->name, failed);
}

static enum mr_status list_all(struct mr_kafka_planner *p, int64_t spec, int64_t *out,
                               struct mr_error *err)
{
    int64_t *specs = MR_NEW_ARRAY(&p->arena, int64_t, p->partitions_n + 1);

    for (uint32_t i = 0; i < p->partitions_n; i++) {
        specs[i] = spec;
        out[i] = -1;
    }
    return mr_kafka_list_offsets(p, specs, out, err);
}

static enum mr_status look_once(struct mr_kafka_planner *p, struct mr_error *err)
{
    struct mr_env *env = p->config->env;
    int64_t now_us = env->ops->monotonic_us(env);
    enum mr_status status = MR_OK;

    if (p->metadata_us == INT64_MIN || now_us - p->metadata_us >= metadata_every_us) {
        status = find_partitions(p, err);
        if (status != MR_OK)
            return status;
        p->metadata_us = now_us;
    }
    int64_t *latest = MR_NEW_ARRAY(&p->arena, int64_t, p->partitions_n + 1);
    int64_t *earliest = MR_NEW_ARRAY(&p->arena, int64_t, p->partitions_n + 1);
    status = list_all(p, MR_KAFKA_LATEST, latest, err);
    if (status == MR_OK)
        status = list_all(p, MR_KAFKA_EARLIEST, earliest, err);
    for (uint32_t i = 0; i < p->partitions_n && status == MR_OK; i++)
        if (p->partitions[i]->is_there && (latest[i] < 0 || earliest[i] < 0))
            status =
                MR_FAIL(err, MR_IO, 0, "source \"%s\": the brokers don't tell offsets of %s-%d",
                        p->config->table->name, p->partitions[i]->topic, p->partitions[i]->number);
    for (uint32_t i = 0; i < p->partitions_n && status == MR_OK; i++) {
        p->partitions[i]->latest = latest[i];
        p->partitions[i]->earliest = earliest[i];
    }
    return status;
}

enum mr_status mr_kafka_look(struct mr_kafka_planner *p, struct mr_error *err)
{
    struct mr_env *env = p->config->env;
    enum mr_status status = look_once(p, err);

    for (int64_t i = 0; i < p->options.retries && status != MR_OK; i++) {
        if (atomic_load_explicit(&p->reports.refused, memory_order_relaxed) || is_stopped(p))
            break;
        env->ops->sleep_us(env, p->options.retry_ms * 1000);
        p->metadata_us = INT64_MIN; /* what failed may be a topic that is gone */
        status = look_once(p, err);
    }
    return status;
}
