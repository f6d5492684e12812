#include "io/kafka/kafka_sink.h"

#include "core/base/check.h"
#include "io/kafka/kafka_source.h"
#include "io/options.h"
#include <stdatomic.h>
#include <stdio.h>

enum { COMMIT_MS = 60000, COMMIT_TRIES = 10 };

static const char *const options[] = {
    "includeHeaders: accepted; a headers column is written when there is one",
    "kafka.*: the client's, by Java's names",
    "topic: where rows go; it wins over a topic column",
    NULL,
};

static int find_column(const struct mr_type *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->fields_n; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(schema->fields[i].name), mr_text_of(name)))
            return (int)i;
    return -1;
}

static struct mr_kafka_sink_columns find_columns(const struct mr_type *schema)
{
    return (struct mr_kafka_sink_columns){
        find_column(schema, "key"), find_column(schema, "value"), find_column(schema, "topic"),
        find_column(schema, "headers"), find_column(schema, "partition")};
}

static bool is_bytes(const struct mr_type *schema, int column)
{
    enum mr_kind kind = column < 0 ? MR_STRING : schema->fields[column].type->kind;

    return kind == MR_STRING || kind == MR_BINARY;
}

static bool are_headers(const struct mr_type *schema, int column)
{
    if (column < 0)
        return true;
    const struct mr_type *t = schema->fields[column].type;
    if (t->kind != MR_ARRAY || t->fields[0].type->kind != MR_STRUCT ||
        t->fields[0].type->fields_n != 2)
        return false;
    const struct mr_field *pair = t->fields[0].type->fields;
    return pair[0].type->kind == MR_STRING &&
           (pair[1].type->kind == MR_BINARY || pair[1].type->kind == MR_STRING);
}

static enum mr_status check(const struct mr_sink_config *config, struct mr_error *err)
{
    const char *topic = mr_option_get(config->options, config->options_n, "topic");
    const struct mr_type *s = config->schema;
    enum mr_status status =
        mr_io_options_check(config->options, config->options_n, options, "sink kafka", err);

    if (status != MR_OK)
        return status;
    if (s) {
        struct mr_kafka_sink_columns c = find_columns(s);
        if (c.value < 0)
            return MR_FAIL_CONDITION(err, MR_USER, "AnalysisException",
                                     "kafka sink: the result needs a column \"value\"");
        if (!is_bytes(s, c.value) || !is_bytes(s, c.key))
            return MR_FAIL_CONDITION(
                err, MR_USER, "AnalysisException",
                "kafka sink: columns \"key\" and \"value\" must be STRING or BINARY: "
                "use CAST or to_json");
        if (c.topic >= 0 && s->fields[c.topic].type->kind != MR_STRING)
            return MR_FAIL_CONDITION(err, MR_USER, "AnalysisException",
                                     "kafka sink: column \"topic\" must be STRING");
        if (c.partition >= 0 && s->fields[c.partition].type->kind != MR_INT)
            return MR_FAIL_CONDITION(err, MR_USER, "AnalysisException",
                                     "kafka sink: column \"partition\" must be INT");
        if (!are_headers(s, c.headers))
            return MR_FAIL_CONDITION(err, MR_USER, "AnalysisException",
                                     "kafka sink: column \"headers\" must be "
                                     "ARRAY<STRUCT<key: STRING, value: BINARY>>");
        if (topic == NULL && c.topic < 0)
            return MR_FAIL_CONDITION(err, MR_USER, "AnalysisException",
                                     "kafka sink: 'topic' is needed, as an option or a column");
    }
    return mr_kafka_conf_check(config->options, config->options_n, MR_KAFKA_PRODUCER, err);
}

static enum mr_status warn(const struct mr_sink_config *config, struct mr_error *err)
{
    rd_kafka_conf_t *conf;
    enum mr_status status =
        mr_kafka_conf_make(config->options, config->options_n, MR_KAFKA_PRODUCER, &conf, err);

    if (status != MR_OK)
        return status;
    const char *warning = mr_kafka_conf_warning(conf);
    if (warning)
        fprintf(stderr, "millrace: warning: kafka sink: %s\n", warning);
    rd_kafka_conf_destroy(conf);
    return MR_OK;
}

static enum mr_status committer_open(void *committer, const struct mr_sink_config *config,
                                     struct mr_error *err)
{
    struct mr_kafka_committer *c = committer;

    c->config = config;
    mr_arena_init(&c->scratch, config->arena->budget, config->arena->escape);
    c->columns = find_columns(config->schema);
    c->topic = mr_option_get(config->options, config->options_n, "topic");
    enum mr_status status = warn(config, err);
    if (status == MR_OK)
        status = mr_kafka_producer_open(c, err);
    return status == MR_OK ? mr_kafka_marker_make_topic(c, err) : status;
}

static void committer_close(void *committer)
{
    struct mr_kafka_committer *c = committer;

    if (c->producer && c->in_transaction) {
        rd_kafka_error_t *e = rd_kafka_abort_transaction(c->producer, COMMIT_MS);
        if (e)
            rd_kafka_error_destroy(e);
    }
    mr_kafka_producer_close(c);
    if (c->config)
        mr_arena_fini(&c->scratch);
}

static enum mr_status last_published(void *committer, uint64_t *epoch, struct mr_error *err)
{
    return mr_kafka_marker_read(committer, epoch, err);
}

static enum mr_status undo(void *committer, uint64_t epoch, struct mr_error *err)
{
    (void)committer; /* init_transactions has aborted what was open */
    (void)epoch;
    (void)err;
    return MR_OK;
}

static enum mr_status begin(void *committer, uint64_t epoch, struct mr_error *err)
{
    struct mr_kafka_committer *c = committer;

    atomic_store_explicit(&c->reports.delivery_error, 0, memory_order_relaxed);
    rd_kafka_error_t *e = rd_kafka_begin_transaction(c->producer);
    if (e) {
        enum mr_status status = MR_FAIL(err, MR_IO, 0, "kafka sink: begin of epoch %llu: %s",
                                        (unsigned long long)epoch, rd_kafka_error_string(e));
        rd_kafka_error_destroy(e);
        return status;
    }
    c->in_transaction = true;
    return MR_OK;
}

/* The end of the transaction is in doubt: Kafka settles it for the next producer, the marker tells
 * how. */
static enum mr_status settle(struct mr_kafka_committer *c, uint64_t epoch, const char *why,
                             struct mr_error *err)
{
    uint64_t out;

    mr_kafka_producer_close(c);
    enum mr_status status = mr_kafka_producer_open(c, err);
    if (status == MR_OK)
        status = mr_kafka_marker_read(c, &out, err);
    if (status != MR_OK || out == epoch)
        return status;
    return MR_FAIL(
        err, MR_IO, 0,
        "kafka sink: the transaction of epoch %llu was not committed: %s. Nothing of it is out; "
        "started again, the query runs the epoch again",
        (unsigned long long)epoch, why);
}

static enum mr_status external_commit(void *committer, uint64_t epoch, struct mr_text offsets,
                                      struct mr_error *err)
{
    struct mr_kafka_committer *c = committer;
    enum mr_status status = mr_kafka_marker_write(c, epoch, offsets, err);
    char why[256] = "it could not be tried";

    if (status != MR_OK)
        return status;
    for (int i = 0; i < COMMIT_TRIES; i++) {
        rd_kafka_error_t *e = rd_kafka_commit_transaction(c->producer, COMMIT_MS);
        if (e == NULL) {
            c->in_transaction = false;
            return MR_OK;
        }
        snprintf(why, sizeof why, "%s", rd_kafka_error_string(e));
        bool again = rd_kafka_error_is_retriable(e) != 0;
        rd_kafka_error_destroy(e);
        if (!again)
            break;
    }
    int failed = atomic_load_explicit(&c->reports.delivery_error, memory_order_relaxed);
    if (failed)
        snprintf(why, sizeof why, "a message was not delivered: %s",
                 rd_kafka_err2str((rd_kafka_resp_err_t)failed));
    return settle(c, epoch, why, err);
}

static enum mr_status publish(void *committer, uint64_t epoch, const struct mr_text *prepared,
                              uint32_t prepared_n, struct mr_error *err)
{
    (void)committer; /* external_commit has made it visible */
    (void)epoch;
    (void)prepared;
    (void)prepared_n;
    (void)err;
    return MR_OK;
}

static enum mr_status writer_open(void *writer, const struct mr_sink_config *config,
                                  void *committer, uint32_t worker, struct mr_error *err)
{
    struct mr_kafka_writer *w = writer;

    (void)config;
    (void)worker;
    (void)err;
    w->committer = committer;
    return MR_OK;
}

static void writer_close(void *writer)
{
    (void)writer;
}

static struct mr_text bytes_or_null(const struct mr_batch *b, int column, uint32_t row)
{
    if (column < 0 || mr_column_is_null(&b->columns[column], row))
        return (struct mr_text){NULL, 0};
    return mr_column_text(&b->columns[column], row);
}

static rd_kafka_headers_t *headers_of(const struct mr_batch *b, int column, uint32_t row)
{
    const struct mr_column *list = column < 0 ? NULL : &b->columns[column];

    if (list == NULL || mr_column_is_null(list, row))
        return NULL;
    const struct mr_column *pair = &list->children[0];
    rd_kafka_headers_t *headers =
        rd_kafka_headers_new((size_t)(list->offsets[row + 1] - list->offsets[row]));
    for (uint32_t i = (uint32_t)list->offsets[row]; i < (uint32_t)list->offsets[row + 1]; i++) {
        if (mr_column_is_null(pair, i) || mr_column_is_null(&pair->children[0], i))
            continue;
        struct mr_text name = mr_column_text(&pair->children[0], i);
        bool has = !mr_column_is_null(&pair->children[1], i);
        struct mr_text value =
            has ? mr_column_text(&pair->children[1], i) : (struct mr_text){NULL, 0};
        rd_kafka_header_add(headers, name.data, (ssize_t)name.n, value.data, (ssize_t)value.n);
    }
    return headers;
}

/* One row into librdkafka's queue, which copies it. */
static rd_kafka_resp_err_t produce(struct mr_kafka_committer *c, const struct mr_batch *b,
                                   uint32_t row)
{
    struct mr_text key = bytes_or_null(b, c->columns.key, row);
    struct mr_text value = bytes_or_null(b, c->columns.value, row);
    struct mr_text topic = bytes_or_null(b, c->columns.topic, row);
    int column = c->columns.partition;
    int32_t partition = column >= 0 && !mr_column_is_null(&b->columns[column], row)
                            ? b->columns[column].i32[row]
                            : RD_KAFKA_PARTITION_UA;
    char name[256];
    rd_kafka_vu_t parts[8];
    size_t n = 0;

    if (c->topic) {
        parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = c->handle};
    } else {
        if (topic.data == NULL || topic.n >= sizeof name)
            return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
        memcpy(name, topic.data, topic.n);
        name[topic.n] = '\0';
        parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = name};
    }
    parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition};
    parts[n++] =
        (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)(uintptr_t)key.data, key.n}};
    parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_VALUE,
                                 .u.mem = {(void *)(uintptr_t)value.data, value.n}};
    parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY};
    rd_kafka_headers_t *headers = headers_of(b, c->columns.headers, row);
    if (headers)
        parts[n++] = (rd_kafka_vu_t){.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers};
    rd_kafka_error_t *e = rd_kafka_produceva(c->producer, parts, n);
    if (e == NULL)
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_resp_err_t code = rd_kafka_error_code(e);
    rd_kafka_error_destroy(e);
    if (headers)
        rd_kafka_headers_destroy(headers);
    return code;
}

static enum mr_status row_failed(struct mr_kafka_committer *c, uint64_t epoch,
                                 const struct mr_batch *b, uint32_t row, rd_kafka_resp_err_t rc,
                                 struct mr_error *err)
{
    unsigned long long id = epoch, bytes = bytes_or_null(b, c->columns.value, row).n;
    struct mr_text topic = bytes_or_null(b, c->columns.topic, row);
    char fatal[MR_KAFKA_ERROR_MAX];

    if (rc == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC && c->topic == NULL)
        return MR_FAIL(err, MR_QUERY, 0,
                       "kafka sink: epoch %llu: null topic present in the data, or one longer than "
                       "249 bytes. Use the option topic for setting a topic",
                       id);
    if (rc == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        return MR_FAIL(err, MR_QUERY, 0,
                       "kafka sink: epoch %llu: a record with a value of %llu bytes is larger than "
                       "kafka.max.request.size allows",
                       id, bytes);
    if (rc == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
        return MR_FAIL(err, MR_QUERY, 0, "kafka sink: epoch %llu: topic %.*s has no partition %d",
                       id, c->topic ? (int)strlen(c->topic) : (int)topic.n,
                       c->topic ? c->topic : topic.data, b->columns[c->columns.partition].i32[row]);
    bool is_fatal = rd_kafka_fatal_error(c->producer, fatal, sizeof fatal) != 0;
    return MR_FAIL(err, MR_IO, 0, "kafka sink: epoch %llu: %s%s%s", id, rd_kafka_err2str(rc),
                   is_fatal ? ": " : "", is_fatal ? fatal : "");
}

static enum mr_step write_rows(void *writer, uint64_t epoch, const struct mr_batch *batch,
                               struct mr_error *err)
{
    struct mr_kafka_writer *w = writer;
    struct mr_kafka_committer *c = w->committer;

    for (; w->at < batch->n; w->at++) {
        rd_kafka_resp_err_t rc = produce(c, batch, mr_batch_row(batch, w->at));
        if (rc == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(c->producer, 1);
            return MR_BLOCKED;
        }
        if (rc)
            return (void)row_failed(c, epoch, batch, mr_batch_row(batch, w->at), rc, err),
                   MR_FAILED;
    }
    w->at = 0;
    rd_kafka_poll(c->producer, 0);
    return MR_NEED_INPUT;
}

static enum mr_step prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                            struct mr_error *err)
{
    (void)writer; /* commit_transaction flushes */
    (void)epoch;
    (void)out;
    (void)err;
    return MR_NEED_INPUT;
}

const struct mr_sink_ops mr_sink_kafka = {
    .name = "kafka",
    .committer_size = sizeof(struct mr_kafka_committer),
    .writer_size = sizeof(struct mr_kafka_writer),
    .modes = 1u << MR_APPEND | 1u << MR_UPDATE | 1u << MR_COMPLETE,
    .needs_checkpoint = true,
    .options = options,
    .check = check,
    .committer_open = committer_open,
    .committer_close = committer_close,
    .last_published = last_published,
    .undo = undo,
    .begin = begin,
    .external_commit = external_commit,
    .publish = publish,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .write = write_rows,
    .prepare = prepare,
};
