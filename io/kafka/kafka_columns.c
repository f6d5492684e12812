#include "io/kafka/kafka_source.h"

#include "core/batch/builder.h"
#include "core/base/check.h"

enum { HEAP_MAX = 1 << 30 };

static const struct mr_field header_fields[] = {{"key", &mr_type_string, true},
                                                {"value", &mr_type_binary, true}};
static const struct mr_type header_type = {
    .kind = MR_STRUCT, .fields_n = 2, .fields = header_fields};
static const struct mr_field headers_element = {"element", &header_type, true};
static const struct mr_type headers_type = {
    .kind = MR_ARRAY, .fields_n = 1, .fields = &headers_element};
static const struct mr_field fields[] = {
    {"key", &mr_type_binary, true},        {"value", &mr_type_binary, true},
    {"topic", &mr_type_string, true},      {"partition", &mr_type_int, true},
    {"offset", &mr_type_bigint, true},     {"timestamp", &mr_type_timestamp, true},
    {"timestampType", &mr_type_int, true}, {"headers", &headers_type, true},
};
static const struct mr_type plain = {.kind = MR_STRUCT, .fields_n = 7, .fields = fields};
static const struct mr_type with_headers = {.kind = MR_STRUCT, .fields_n = 8, .fields = fields};

const struct mr_type *mr_kafka_schema(const struct mr_option *options, uint32_t n,
                                      struct mr_arena *a)
{
    (void)a;
    for (uint32_t i = 0; i < n; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(options[i].name), MR_TEXT("includeHeaders")) &&
            mr_text_equal_ignoring_case(mr_text_of(options[i].value), MR_TEXT("true")))
            return &with_headers;
    return &plain;
}

static uint64_t bytes_of(const rd_kafka_message_t *m, bool keys)
{
    return keys ? m->key_len : m->len;
}

/* All bytes of one kind side by side, so that parsers find what they need behind each: in one heap,
 * or in as many as it takes when they are very large. */
static void fill_bytes(struct mr_column *c, const struct mr_type *type,
                       rd_kafka_message_t *const *messages, uint32_t n, bool keys,
                       struct mr_arena *a)
{
    uint64_t left = 0;
    uint64_t at = HEAP_MAX, heap_bytes = HEAP_MAX;

    for (uint32_t i = 0; i < n; i++)
        left += bytes_of(messages[i], keys);
    mr_column_alloc(c, type, n, true, a);
    c->heaps = mr_arena_zero(a, (2 * left / HEAP_MAX + 2) * sizeof *c->heaps);
    c->heaps_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const void *data = keys ? messages[i]->key : messages[i]->payload;
        uint32_t length = (uint32_t)bytes_of(messages[i], keys);
        if (data == NULL) {
            mr_bit_clear(c->valid, i);
            mr_view_set(&c->views[i], "", 0, 0, 0);
            continue;
        }
        if (at + length > heap_bytes || c->heaps_n == 0) {
            heap_bytes = left < HEAP_MAX ? left : length > HEAP_MAX ? length : HEAP_MAX;
            c->heaps[c->heaps_n++] = mr_arena_alloc(a, heap_bytes + 1);
            at = 0;
        }
        uint8_t *heap = c->heaps[c->heaps_n - 1];
        memcpy(heap + at, data, length);
        mr_view_set(&c->views[i], (const char *)heap + at, length, (int32_t)c->heaps_n - 1,
                    (int32_t)at);
        at += length;
        left -= length;
    }
}

static void fill_topics(struct mr_column *c, rd_kafka_message_t *const *messages, uint32_t n,
                        struct mr_arena *a)
{
    const char *topic = rd_kafka_topic_name(messages[0]->rkt); /* a batch is of one partition */
    uint32_t length = (uint32_t)strlen(topic);

    mr_column_alloc(c, &mr_type_string, n, false, a);
    c->heaps = mr_arena_alloc(a, sizeof *c->heaps);
    c->heaps[0] = (uint8_t *)mr_arena_copy(a, topic, length);
    c->heaps_n = 1;
    for (uint32_t i = 0; i < n; i++)
        mr_view_set(&c->views[i], topic, length, 0, 0);
}

static void fill_headers(struct mr_column *c, rd_kafka_message_t *const *messages, uint32_t n,
                         struct mr_arena *a)
{
    struct mr_builder b;

    mr_builder_init(&b, &headers_type, n, a);
    for (uint32_t i = 0; i < n; i++) {
        rd_kafka_headers_t *headers;
        const char *name;
        const void *value;
        size_t bytes;
        if (rd_kafka_message_headers(messages[i], &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            mr_builder_append_null(&b);
            continue;
        }
        struct mr_builder *pair = &b.children[0];
        for (size_t h = 0; rd_kafka_header_get_all(headers, h, &name, &value, &bytes) ==
                           RD_KAFKA_RESP_ERR_NO_ERROR;
             h++) {
            mr_builder_append_text(&pair->children[0], mr_text_of(name));
            if (value)
                mr_builder_append_text(&pair->children[1], (struct mr_text){value, bytes});
            else
                mr_builder_append_null(&pair->children[1]);
            mr_builder_close_row(pair);
        }
        mr_builder_close_row(&b);
    }
    mr_builder_finish(&b, c);
}

static void fill_numbers(struct mr_column *c, const struct mr_type *type, char which,
                         rd_kafka_message_t *const *messages, uint32_t n, struct mr_arena *a)
{
    mr_column_alloc(c, type, n, false, a);
    for (uint32_t i = 0; i < n; i++) {
        rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        int64_t ms =
            which == 't' || which == 'T' ? rd_kafka_message_timestamp(messages[i], &kind) : 0;
        switch (which) {
        case 'p':
            c->i32[i] = messages[i]->partition;
            break;
        case 'o':
            c->i64[i] = messages[i]->offset;
            break;
        case 't':
            c->i64[i] = ms * 1000;
            break;
        default: /* as Java numbers them: none -1, create time 0, log append time 1 */
            c->i32[i] = kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1
                        : kind == RD_KAFKA_TIMESTAMP_CREATE_TIME ? 0
                                                                 : 1;
        }
    }
}

void mr_kafka_columns(const struct mr_type *schema, rd_kafka_message_t *const *messages, uint32_t n,
                      struct mr_arena *a, struct mr_batch *out)
{
    *out = (struct mr_batch){.columns = MR_NEW_ARRAY(a, struct mr_column, schema->fields_n + 1),
                             .columns_n = schema->fields_n,
                             .rows = n,
                             .n = n};
    for (uint32_t i = 0; i < schema->fields_n; i++) {
        const char *name = schema->fields[i].name;
        struct mr_column *c = &out->columns[i];
        if (strcmp(name, "key") == 0)
            fill_bytes(c, &mr_type_binary, messages, n, true, a);
        else if (strcmp(name, "value") == 0)
            fill_bytes(c, &mr_type_binary, messages, n, false, a);
        else if (strcmp(name, "topic") == 0)
            fill_topics(c, messages, n, a);
        else if (strcmp(name, "headers") == 0)
            fill_headers(c, messages, n, a);
        else if (strcmp(name, "partition") == 0)
            fill_numbers(c, &mr_type_int, 'p', messages, n, a);
        else if (strcmp(name, "offset") == 0)
            fill_numbers(c, &mr_type_bigint, 'o', messages, n, a);
        else if (strcmp(name, "timestamp") == 0)
            fill_numbers(c, &mr_type_timestamp, 't', messages, n, a);
        else
            fill_numbers(c, &mr_type_int, 'T', messages, n, a);
    }
}
