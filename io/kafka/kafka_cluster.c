#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/kafka/kafka_source.h"

#include "core/base/check.h"
#include "core/format/json/json.h"
#include <pcre2.h>
#include <stdlib.h>

enum { CALL_MS = 10000, ERROR_MAX = 512 };

static int by_topic_and_number(const struct mr_kafka_partition *a, const char *topic,
                               int32_t number)
{
    int order = strcmp(a->topic, topic);

    return order ? order : (a->number > number) - (a->number < number);
}

struct mr_kafka_partition *mr_kafka_partition_for(struct mr_kafka_planner *p, const char *topic,
                                                  int32_t number)
{
    uint32_t low = 0, high = p->partitions_n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = by_topic_and_number(p->partitions[middle], topic, number);
        if (order == 0)
            return p->partitions[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
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

static enum mr_status see_topic(struct mr_kafka_planner *p, const rd_kafka_metadata_topic_t *t,
                                struct mr_error *err)
{
    for (int i = 0; i < t->partition_cnt; i++) {
        struct mr_kafka_partition *x = mr_kafka_partition_for(p, t->topic, t->partitions[i].id);
        if (x == NULL)
            return MR_FAIL(err, MR_QUERY, 0, "kafka: more than %d partitions",
                           MR_KAFKA_PARTITIONS_MAX);
        x->is_there = true;
    }
    return MR_OK;
}

static enum mr_status ask_metadata(struct mr_kafka_planner *p, const char *topic,
                                   const struct rd_kafka_metadata **out, struct mr_error *err)
{
    rd_kafka_topic_t *handle = topic ? rd_kafka_topic_new(p->client, topic, NULL) : NULL;
    rd_kafka_resp_err_t rc = RD_KAFKA_RESP_ERR_NO_ERROR;

    for (uint32_t i = 0; i <= p->options.retries; i++) {
        rc = rd_kafka_metadata(p->client, topic == NULL, handle, out, CALL_MS);
        if (rc == RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        p->config->env->ops->sleep_us(p->config->env, p->options.retry_us);
    }
    if (handle)
        rd_kafka_topic_destroy(handle);
    return rc ? MR_FAIL(err, MR_IO, 0, "kafka: the brokers don't tell their topics: %s",
                        rd_kafka_err2str(rc))
              : MR_OK;
}

static enum mr_status find_named(struct mr_kafka_planner *p, struct mr_error *err)
{
    struct mr_text rest = mr_text_of(p->options.topics);
    enum mr_status status = MR_OK;

    while (rest.n > 0 && status == MR_OK) {
        const char *comma = memchr(rest.data, ',', rest.n);
        struct mr_text name = {rest.data, comma ? (uint64_t)(comma - rest.data) : rest.n};
        const struct rd_kafka_metadata *m;
        rest.data += name.n + (comma != NULL);
        rest.n -= name.n + (comma != NULL);
        name = mr_text_trim(name);
        if (name.n == 0)
            continue;
        status = ask_metadata(p, mr_arena_copy(&p->arena, name.data, name.n), &m, err);
        if (status != MR_OK)
            return status;
        for (int i = 0; i < m->topic_cnt && status == MR_OK; i++)
            status = see_topic(p, &m->topics[i], err);
        rd_kafka_metadata_destroy(m);
    }
    return status;
}

/* The whole name must match, as in Java's Pattern. */
static enum mr_status find_matching(struct mr_kafka_planner *p, struct mr_error *err)
{
    const struct rd_kafka_metadata *m;
    PCRE2_SIZE at;
    int code;
    pcre2_code *pattern =
        pcre2_compile((PCRE2_SPTR)p->options.topics, PCRE2_ZERO_TERMINATED,
                      PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_UTF, &code, &at, NULL);
    if (pattern == NULL)
        return MR_FAIL(err, MR_USER, 0,
                       "subscribePattern: \"%s\" is no regular expression (at %zu)",
                       p->options.topics, (size_t)at);
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    enum mr_status status = ask_metadata(p, NULL, &m, err);
    if (status == MR_OK) {
        for (int i = 0; i < m->topic_cnt && status == MR_OK; i++)
            if (pcre2_match(pattern, (PCRE2_SPTR)m->topics[i].topic, PCRE2_ZERO_TERMINATED, 0, 0,
                            match, NULL) >= 0)
                status = see_topic(p, &m->topics[i], err);
        rd_kafka_metadata_destroy(m);
    }
    pcre2_match_data_free(match);
    pcre2_code_free(pattern);
    return status;
}

/* Parses one JSON text by a schema; *out NULL when it does not fit. */
static enum mr_status parse_json(struct mr_kafka_planner *p, const struct mr_type *schema,
                                 const char *json, struct mr_column **out, struct mr_error *err)
{
    struct mr_option failfast = {"mode", "PERMISSIVE"};
    struct mr_decoder_config config = {.schema = schema,
                                       .full_schema = schema,
                                       .options = &failfast,
                                       .options_n = 1,
                                       .zone = mr_zone_utc(),
                                       .batch_rows = 1};
    struct mr_json_parser *parser;
    struct mr_column texts, *c = MR_NEW(&p->arena, struct mr_column);
    enum mr_status status = mr_json_parser_open(&config, &p->arena, &parser, err);

    if (status != MR_OK)
        return status;
    mr_column_alloc(&texts, &mr_type_string, 1, false, &p->arena);
    mr_column_set_text(&texts, 0, mr_text_of(json), &p->arena);
    status = mr_json_parse_column(parser, &texts, 1, NULL, 1, &p->arena, c, err);
    mr_json_parser_close(parser);
    *out = status == MR_OK && !mr_column_is_null(c, 0) ? c : NULL;
    return status;
}

static enum mr_status find_assigned(struct mr_kafka_planner *p, struct mr_error *err)
{
    const struct mr_type *schema = mr_type_map(
        &p->arena, &mr_type_string, mr_type_array(&p->arena, &mr_type_int, false), false);
    struct mr_column *map;
    enum mr_status status = parse_json(p, schema, p->options.topics, &map, err);

    if (status != MR_OK)
        return status;
    if (map == NULL)
        return MR_FAIL(err, MR_USER, 0, "assign: expected JSON as {\"topic\":[0,1]}, not %s",
                       p->options.topics);
    for (int32_t i = map->offsets[0]; i < map->offsets[1]; i++) {
        struct mr_text topic = mr_column_text(&map->children[0], (uint32_t)i);
        const struct mr_column *list = &map->children[1];
        for (int32_t j = list->offsets[i]; j < list->offsets[i + 1]; j++) {
            struct mr_kafka_partition *x = mr_kafka_partition_for(
                p, mr_arena_copy(&p->arena, topic.data, topic.n), list->children[0].i32[j]);
            if (x == NULL)
                return MR_FAIL(err, MR_QUERY, 0, "kafka: more than %d partitions",
                               MR_KAFKA_PARTITIONS_MAX);
            x->is_there = true;
        }
    }
    return MR_OK;
}

enum mr_status mr_kafka_find_partitions(struct mr_kafka_planner *p, struct mr_error *err)
{
    for (uint32_t i = 0; i < p->partitions_n; i++)
        p->partitions[i]->is_there = false;
    switch (p->options.subscription) {
    case MR_KAFKA_SUBSCRIBE:
        return find_named(p, err);
    case MR_KAFKA_PATTERN:
        return find_matching(p, err);
    default:
        return find_assigned(p, err);
    }
}

enum mr_status mr_kafka_read_offsets(struct mr_kafka_planner *p, const char *json,
                                     const char *option, int64_t *out, struct mr_error *err)
{
    const struct mr_type *schema =
        mr_type_map(&p->arena, &mr_type_string,
                    mr_type_map(&p->arena, &mr_type_string, &mr_type_bigint, false), false);
    struct mr_column *map;
    enum mr_status status = parse_json(p, schema, json, &map, err);

    if (status != MR_OK)
        return status;
    if (map == NULL)
        return MR_FAIL_CONDITION(
            err, MR_USER, "IllegalArgumentException",
            "Expected e.g. {\"topicA\":{\"0\":23,\"1\":-1},\"topicB\":{\"0\":-2}} for "
            "option '%s', got %s",
            option, json);
    for (uint32_t i = 0; i < p->partitions_n; i++)
        out[i] = INT64_MIN;
    for (int32_t i = map->offsets[0]; i < map->offsets[1]; i++) {
        struct mr_text topic = mr_column_text(&map->children[0], (uint32_t)i);
        const struct mr_column *offsets = &map->children[1];
        for (int32_t j = offsets->offsets[i]; j < offsets->offsets[i + 1]; j++) {
            struct mr_text number = mr_column_text(&offsets->children[0], (uint32_t)j);
            char text[16] = "";
            memcpy(text, number.data, number.n < 15 ? number.n : 15);
            for (uint32_t k = 0; k < p->partitions_n; k++)
                if (mr_text_equal(mr_text_of(p->partitions[k]->topic), topic) &&
                    p->partitions[k]->number == atoi(text))
                    out[k] = offsets->children[1].i64[j];
        }
    }
    return MR_OK;
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
        if (t->err) {
            snprintf(failed, failed_bytes, "%s-%d: %s", t->topic, t->partition,
                     rd_kafka_err2str(t->err));
            continue;
        }
        for (uint32_t k = 0; k < p->partitions_n; k++)
            if (p->partitions[k]->number == t->partition &&
                strcmp(p->partitions[k]->topic, t->topic) == 0)
                out[k] = t->offset;
    }
}

static bool list_once(struct mr_kafka_planner *p, const int64_t *specs, int64_t *out, char *failed,
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
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CALL_MS + 1000);
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
    return failed[0] == '\0';
}

enum mr_status mr_kafka_list_offsets(struct mr_kafka_planner *p, const int64_t *specs, int64_t *out,
                                     struct mr_error *err)
{
    char failed[ERROR_MAX];

    for (uint32_t i = 0; i <= p->options.retries; i++) {
        if (list_once(p, specs, out, failed, sizeof failed))
            return MR_OK;
        p->config->env->ops->sleep_us(p->config->env, p->options.retry_us);
    }
    return MR_FAIL(err, MR_IO, 0, "kafka: can't get offsets: %s", failed);
}

void mr_kafka_print_offsets(const struct mr_kafka_planner *p, bool starts, struct mr_buffer *out)
{
    const char *topic = NULL;

    mr_buffer_append_text(out, MR_TEXT("{"));
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        const struct mr_kafka_partition *x = p->partitions[i];
        int64_t at = starts ? x->start : x->at;
        if (at < 0)
            continue;
        bool same = topic && strcmp(topic, x->topic) == 0;
        if (!same) {
            mr_buffer_append_text(out, topic ? MR_TEXT("},") : MR_TEXT(""));
            mr_json_write_text(mr_text_of(x->topic), out);
            mr_buffer_append_text(out, MR_TEXT(":{"));
        }
        mr_buffer_append_format(out, "%s\"%d\":%lld", same ? "," : "", x->number, (long long)at);
        topic = x->topic;
    }
    mr_buffer_append_text(out, topic ? MR_TEXT("}}") : MR_TEXT("}"));
}
