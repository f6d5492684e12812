/* Spark's JSON of partitions and offsets, read and printed. */
#include "core/format/json/json.h"
#include "core/format/value.h"
#include "io/kafka/kafka_source.h"

/* The text by a schema; *out NULL when it is another kind of JSON, or none. */
static enum mr_status parse(const struct mr_type *schema, const char *json, struct mr_arena *a,
                            struct mr_column **out, struct mr_error *err)
{
    struct mr_option mode = {"mode", "PERMISSIVE"};
    struct mr_decoder_config config = {.schema = schema,
                                       .full_schema = schema,
                                       .options = &mode,
                                       .options_n = 1,
                                       .zone = mr_zone_utc(),
                                       .batch_rows = 1};
    struct mr_json_parser *parser;
    struct mr_column texts, *c = MR_NEW(a, struct mr_column);
    enum mr_status status = mr_json_parser_open(&config, a, &parser, err);

    if (status != MR_OK)
        return status;
    mr_column_alloc(&texts, &mr_type_string, 1, false, a);
    mr_column_set_text(&texts, 0, mr_text_of(json), a);
    status = mr_json_parse_column(parser, &texts, 1, NULL, 1, a, c, err);
    mr_json_parser_close(parser);
    *out = status == MR_OK && !mr_column_is_null(c, 0) ? c : NULL;
    return status;
}

/* The topics' lists: how many partitions they have altogether; UINT32_MAX: one is null. */
static uint32_t count_all(const struct mr_column *map)
{
    const struct mr_column *lists = &map->children[1];
    uint32_t n = 0;

    for (int32_t i = map->offsets[0]; i < map->offsets[1]; i++) {
        if (mr_column_is_null(lists, (uint32_t)i))
            return UINT32_MAX;
        n += (uint32_t)(lists->offsets[i + 1] - lists->offsets[i]);
    }
    return n;
}

static const char *topic_at(const struct mr_column *map, int32_t i, struct mr_arena *a)
{
    struct mr_text topic = mr_column_text(&map->children[0], (uint32_t)i);

    return mr_arena_copy(a, topic.data, topic.n);
}

enum mr_status mr_kafka_read_assigned(const char *json, struct mr_arena *a,
                                      struct mr_kafka_places *out, struct mr_error *err)
{
    const struct mr_type *schema =
        mr_type_map(a, &mr_type_string, mr_type_array(a, &mr_type_int, true), true);
    struct mr_column *map;
    enum mr_status status = parse(schema, json, a, &map, err);
    uint32_t n = map && status == MR_OK ? count_all(map) : UINT32_MAX;
    bool ok = n != UINT32_MAX && n > 0;

    if (status != MR_OK)
        return status;
    *out = (struct mr_kafka_places){MR_NEW_ARRAY(a, struct mr_kafka_place, ok ? n : 0), 0};
    for (int32_t i = ok ? map->offsets[0] : 0; ok && i < map->offsets[1]; i++) {
        const struct mr_column *list = &map->children[1];
        for (int32_t j = list->offsets[i]; j < list->offsets[i + 1]; j++) {
            ok = ok && !mr_column_is_null(&list->children[0], (uint32_t)j) &&
                 list->children[0].i32[j] >= 0;
            out->items[out->n++] =
                (struct mr_kafka_place){topic_at(map, i, a), list->children[0].i32[j], 0};
        }
    }
    return ok ? MR_OK
              : MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                  "Expected e.g. {\"topicA\":[0,1],\"topicB\":[0,1]} for option "
                                  "'assign', got %s",
                                  json);
}

enum mr_status mr_kafka_read_places(const char *json, const char *option, int64_t min,
                                    struct mr_arena *a, struct mr_kafka_places *out,
                                    struct mr_error *err)
{
    const struct mr_type *schema = mr_type_map(
        a, &mr_type_string, mr_type_map(a, &mr_type_string, &mr_type_bigint, true), true);
    struct mr_column *map;
    enum mr_status status = parse(schema, json, a, &map, err);
    uint32_t n = map && status == MR_OK ? count_all(map) : UINT32_MAX;
    bool ok = n != UINT32_MAX;

    if (status != MR_OK)
        return status;
    *out = (struct mr_kafka_places){MR_NEW_ARRAY(a, struct mr_kafka_place, ok ? n : 0), 0};
    for (int32_t i = ok ? map->offsets[0] : 0; ok && i < map->offsets[1]; i++) {
        const struct mr_column *list = &map->children[1], *values = &list->children[1];
        for (int32_t j = list->offsets[i]; ok && j < list->offsets[i + 1]; j++) {
            int64_t number = 0;
            ok = mr_value_parse_integer(mr_column_text(&list->children[0], (uint32_t)j), 0,
                                        INT32_MAX, &number) &&
                 !mr_column_is_null(values, (uint32_t)j) && values->i64[j] >= min;
            out->items[out->n++] =
                (struct mr_kafka_place){topic_at(map, i, a), (int32_t)number, values->i64[j]};
        }
    }
    return ok ? MR_OK
              : MR_FAIL_CONDITION(
                    err, MR_USER, "IllegalArgumentException",
                    "Expected e.g. {\"topicA\":{\"0\":23,\"1\":%s},\"topicB\":{\"0\":%s}} for "
                    "option '%s', got %s",
                    min < 0 ? "-1" : "1767225600000", min < 0 ? "-2" : "1767225600000", option,
                    json);
}

enum mr_status mr_kafka_resolve(struct mr_kafka_planner *p, const char *option, int64_t *out,
                                struct mr_error *err)
{
    const struct mr_kafka_places *places = &p->options.places;

    for (uint32_t i = 0; i < p->partitions_n; i++)
        out[i] = INT64_MIN;
    for (uint32_t i = 0; i < places->n; i++) {
        const struct mr_kafka_place *at = &places->items[i];
        struct mr_kafka_partition *x = mr_kafka_partition_find(p, at->topic, at->number);
        if (x == NULL)
            return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                     "source \"%s\": %s names %s-%d, which is not among the "
                                     "partitions that are read",
                                     p->config->table->name, option, at->topic, at->number);
        for (uint32_t k = 0; k < p->partitions_n; k++)
            if (p->partitions[k] == x)
                out[k] = at->value;
    }
    for (uint32_t i = 0; i < p->partitions_n; i++)
        if (out[i] == INT64_MIN && p->partitions[i]->is_there)
            return MR_FAIL_CONDITION(
                err, MR_USER, "IllegalArgumentException",
                "source \"%s\": %s must name all partitions: %s-%d is "
                "missing%s",
                p->config->table->name, option, p->partitions[i]->topic, p->partitions[i]->number,
                p->options.start == MR_KAFKA_START_OFFSETS ? " (-2 earliest, -1 latest)" : "");
    return MR_OK;
}

void mr_kafka_print_offsets(const struct mr_kafka_planner *p, struct mr_buffer *out)
{
    const char *topic = NULL;

    mr_buffer_append_text(out, MR_TEXT("{"));
    for (uint32_t i = 0; i < p->partitions_n; i++) {
        const struct mr_kafka_partition *x = p->partitions[i];
        if (x->at < 0)
            continue;
        bool same = topic && strcmp(topic, x->topic) == 0;
        if (!same) {
            mr_buffer_append_text(out, topic ? MR_TEXT("},") : MR_TEXT(""));
            mr_json_write_text(mr_text_of(x->topic), out);
            mr_buffer_append_text(out, MR_TEXT(":{"));
        }
        mr_buffer_append_format(out, "%s\"%d\":%lld", same ? "," : "", x->number, (long long)x->at);
        topic = x->topic;
    }
    mr_buffer_append_text(out, topic ? MR_TEXT("}}") : MR_TEXT("}"));
}
