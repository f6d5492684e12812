/* The sink's rows and markers on librdkafka's mock cluster: what each column becomes, rows that no
 * topic takes, queues that are full, clusters that can't be used. */
#include "core/batch/builder.h"
#include "io/kafka/kafka_sink.h"
#include "io/kafka/kafka_source.h"

#include <librdkafka/rdkafka_mock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { OPTIONS_MAX = 8, BIG = 2000000 };

static const struct mr_field pair_fields[] = {{"key", &mr_type_string, true},
                                              {"value", &mr_type_binary, true}};
static const struct mr_type pair = {.kind = MR_STRUCT, .fields_n = 2, .fields = pair_fields};
static const struct mr_field element = {"element", &pair, true};
static const struct mr_type headers = {.kind = MR_ARRAY, .fields_n = 1, .fields = &element};
static const struct mr_field all_fields[] = {{"key", &mr_type_string, true},
                                             {"value", &mr_type_string, true},
                                             {"topic", &mr_type_string, true},
                                             {"partition", &mr_type_int, true},
                                             {"headers", &headers, true}};
enum { KEY, VALUE, TOPIC, PARTITION, HEADERS, COLUMNS };
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = COLUMNS, .fields = all_fields};

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    struct mr_env *env;
    rd_kafka_t *owner;
    rd_kafka_mock_cluster_t *cluster;
    _Atomic uint32_t stop;
    struct mr_option options[OPTIONS_MAX];
    struct mr_sink_config config;
    struct mr_kafka_committer committer;
    struct mr_kafka_writer writer;
    struct mr_builder builders[COLUMNS];
    uint32_t rows;
};

static void add_option(struct world *w, const char *name, const char *value)
{
    assert_true(w->config.options_n < OPTIONS_MAX);
    w->options[w->config.options_n++] = (struct mr_option){name, value};
}

static void set_up(struct world *w, bool has_marker_topic)
{
    char text[256];

    memset(w, 0, sizeof *w);
    mr_arena_init(&w->arena, NULL, &w->escape);
    assert_int_equal(mr_env_open("syscalls", &w->env, &w->err), MR_OK);
    w->owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    w->cluster = rd_kafka_mock_cluster_new(w->owner, 1);
    if (has_marker_topic)
        rd_kafka_mock_topic_create(w->cluster, MR_KAFKA_MARKER_TOPIC, 1, 1);
    rd_kafka_mock_topic_create(w->cluster, "out", 2, 1);
    w->config = (struct mr_sink_config){.format = "kafka",
                                        .options = w->options,
                                        .schema = &schema,
                                        .query_id = "q",
                                        .env = w->env,
                                        .arena = &w->arena,
                                        .workers = 1,
                                        .stop = &w->stop};
    add_option(w, "kafka.bootstrap.servers", rd_kafka_mock_cluster_bootstraps(w->cluster));
    for (int i = 0; i < COLUMNS; i++)
        mr_builder_init(&w->builders[i], all_fields[i].type, 16, &w->arena);
}

static void tear_down(struct world *w)
{
    rd_kafka_mock_cluster_destroy(w->cluster);
    rd_kafka_destroy(w->owner);
    w->env->ops->fini(w->env);
    mr_arena_fini(&w->arena);
}

static void must(struct world *w, enum mr_status status)
{
    if (status != MR_OK)
        fail_msg("%s", w->err.message);
}

static enum mr_status open_sink(struct world *w)
{
    w->committer = (struct mr_kafka_committer){0};
    w->writer = (struct mr_kafka_writer){.committer = &w->committer};
    return mr_sink_kafka.committer_open(&w->committer, &w->config, &w->err);
}

static void close_sink(struct world *w)
{
    mr_sink_kafka.committer_close(&w->committer);
}

static void add_text(struct world *w, int column, const char *text)
{
    if (text)
        mr_builder_append_text(&w->builders[column], mr_text_of(text));
    else
        mr_builder_append_null(&w->builders[column]);
}

/* partition -1: none. Headers: null. */
static void add_row(struct world *w, const char *key, const char *value, const char *topic,
                    int32_t partition)
{
    add_text(w, KEY, key);
    add_text(w, VALUE, value);
    add_text(w, TOPIC, topic);
    if (partition < 0)
        mr_builder_append_null(&w->builders[PARTITION]);
    else
        mr_builder_append_i64(&w->builders[PARTITION], partition);
    if (w->builders[HEADERS].rows == w->rows)
        mr_builder_append_null(&w->builders[HEADERS]);
    w->rows++;
}

static void add_header(struct world *w, const char *name, const char *value)
{
    struct mr_builder *one = &w->builders[HEADERS].children[0];
    const char *const texts[] = {name, value};

    for (int i = 0; i < 2; i++)
        if (texts[i])
            mr_builder_append_text(&one->children[i], mr_text_of(texts[i]));
        else
            mr_builder_append_null(&one->children[i]);
    mr_builder_close_row(one);
}

/* All rows added so far; counts how often the queue was full. */
static enum mr_status write_rows(struct world *w, uint64_t epoch, uint32_t *blocked)
{
    struct mr_column columns[COLUMNS];
    struct mr_batch batch = {
        .columns = columns, .columns_n = COLUMNS, .rows = w->rows, .n = w->rows};
    enum mr_step step = MR_BLOCKED;

    for (int i = 0; i < COLUMNS; i++)
        mr_builder_finish(&w->builders[i], &columns[i]);
    for (*blocked = 0; step == MR_BLOCKED; *blocked += step == MR_BLOCKED)
        step = mr_sink_kafka.write(&w->writer, epoch, &batch, &w->err);
    w->rows = 0;
    for (int i = 0; i < COLUMNS; i++)
        mr_builder_init(&w->builders[i], all_fields[i].type, 16, &w->arena);
    return step == MR_FAILED ? w->err.status : MR_OK;
}

static enum mr_status run_epoch(struct world *w, uint64_t epoch)
{
    uint32_t blocked;
    enum mr_status status = mr_sink_kafka.begin(&w->committer, epoch, &w->err);

    if (status == MR_OK)
        status = write_rows(w, epoch, &blocked);
    return status == MR_OK
               ? mr_sink_kafka.external_commit(&w->committer, epoch, MR_TEXT("{}"), &w->err)
               : status;
}

static void print_bytes(struct mr_buffer *out, const void *data, size_t n)
{
    if (data)
        mr_buffer_append(out, data, n);
    else
        mr_buffer_append(out, "-", 1);
}

/* The records of a partition of out, "KEY=VALUE[NAME:VALUE..]|" each, "-" for what is null. */
static const char *records(struct world *w, int32_t partition)
{
    struct mr_kafka_reports reports;
    struct mr_buffer out;
    rd_kafka_conf_t *conf;
    rd_kafka_t *reader;
    bool at_end = false;

    mr_buffer_init(&out, &w->arena);
    must(w, mr_kafka_conf_make(w->options, 1, MR_KAFKA_CONSUMER, &conf, &w->err));
    must(w, mr_kafka_client(conf, MR_KAFKA_CONSUMER, &reports, &reader, &w->err));
    rd_kafka_topic_t *topic = rd_kafka_topic_new(reader, "out", NULL);
    assert_int_equal(rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING), 0);
    while (!at_end) {
        rd_kafka_message_t *m = rd_kafka_consume(topic, partition, 10000);
        rd_kafka_headers_t *list;
        const char *name;
        const void *value;
        size_t bytes;
        assert_non_null(m);
        at_end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (!m->err) {
            print_bytes(&out, m->key, m->key_len);
            mr_buffer_append(&out, "=", 1);
            print_bytes(&out, m->payload, m->len);
            bool has = rd_kafka_message_headers(m, &list) == RD_KAFKA_RESP_ERR_NO_ERROR;
            for (size_t h = 0; has && !rd_kafka_header_get_all(list, h, &name, &value, &bytes);
                 h++) {
                mr_buffer_append_format(&out, "[%s:", name);
                print_bytes(&out, value, bytes);
                mr_buffer_append(&out, "]", 1);
            }
            mr_buffer_append(&out, "|", 1);
        }
        rd_kafka_message_destroy(m);
    }
    rd_kafka_consume_stop(topic, partition);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(reader);
    mr_buffer_append(&out, "", 1);
    return (const char *)out.data;
}

static void columns_make_records(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, true);
    must(&w, open_sink(&w));
    add_row(&w, "k", "1", "out", 0);
    add_row(&w, NULL, NULL, "out", 1);
    add_header(&w, "a", "x");
    add_header(&w, NULL, "no name: left out");
    add_header(&w, "b", NULL);
    mr_builder_append_null(&w.builders[HEADERS].children[0]);
    mr_builder_close_row(&w.builders[HEADERS]);
    add_row(&w, "", "", "out", 1);
    mr_builder_close_row(&w.builders[HEADERS]); /* an empty list */
    add_row(&w, "k", "4", "out", 1);
    must(&w, run_epoch(&w, 0));
    close_sink(&w);
    assert_string_equal(records(&w, 0), "k=1|");
    assert_string_equal(records(&w, 1), "-=-|=[a:x][b:-]|k=4|");
    tear_down(&w);
}

static void rows_that_no_topic_takes(void **state)
{
    char *const big = malloc(BIG + 1);
    const struct {
        const char *option, *value, *topic; /* option: topic */
        int32_t partition;
        const char *says;
    } cases[] = {
        {NULL, "x", NULL, 0, "epoch 1: null topic present in the data, or one longer than 249"},
        {NULL, "x", big, 0, "epoch 1: null topic present in the data, or one longer than 249"},
        {NULL, "x", "out", 9, "epoch 1: topic out has no partition 9"},
        {"out", "x", NULL, 9, "epoch 1: topic out has no partition 9"},
        {"out", big, NULL, 0, "a record with a value of 2000000 bytes is larger than"},
    };

    (void)state;
    memset(big, 'x', BIG);
    big[BIG] = '\0';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        uint32_t blocked;
        set_up(&w, true);
        if (cases[i].option)
            add_option(&w, "topic", cases[i].option);
        must(&w, open_sink(&w));
        add_row(&w, "k", "first", "out", 0); /* the topic is known then */
        must(&w, run_epoch(&w, 0));
        must(&w, mr_sink_kafka.begin(&w.committer, 1, &w.err));
        add_row(&w, "k", cases[i].value, cases[i].topic, cases[i].partition);
        assert_int_equal(write_rows(&w, 1, &blocked), MR_QUERY);
        if (strstr(w.err.message, cases[i].says) == NULL)
            fail_msg("%zu: %s", i, w.err.message);
        close_sink(&w); /* aborts the transaction */
        tear_down(&w);
    }
    free(big);
}

/* Who meets a full queue writes the rest of the batch later, and no row twice. */
static void a_full_queue_blocks(void **state)
{
    struct world w;
    struct mr_buffer want;
    uint32_t blocked;

    (void)state;
    set_up(&w, true);
    add_option(&w, "topic", "out");
    add_option(&w, "kafka.queue.buffering.max.messages", "2");
    must(&w, open_sink(&w));
    must(&w, mr_sink_kafka.begin(&w.committer, 0, &w.err));
    mr_buffer_init(&want, &w.arena);
    for (int i = 0; i < 50; i++) {
        const char *text = mr_arena_format(&w.arena, "%d", i);
        add_row(&w, NULL, text, NULL, 1);
        mr_buffer_append_format(&want, "-=%s|", text);
    }
    must(&w, write_rows(&w, 0, &blocked));
    assert_true(blocked > 0);
    must(&w, mr_sink_kafka.external_commit(&w.committer, 0, MR_TEXT("{}"), &w.err));
    close_sink(&w);
    mr_buffer_append(&want, "", 1);
    assert_string_equal(records(&w, 1), (const char *)want.data);
    tear_down(&w);
}

/* Written by others into the topic of the markers; value NULL: a tombstone. */
static void write_marker(struct world *w, const char *key, const char *value, int times)
{
    char text[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(w->cluster), text,
                      sizeof text);
    rd_kafka_t *other = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_non_null(other);
    for (int i = 0; i < times; i++)
        assert_int_equal(
            rd_kafka_producev(other, RD_KAFKA_V_TOPIC(MR_KAFKA_MARKER_TOPIC),
                              RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_KEY(key, strlen(key)),
                              RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value ? strlen(value) : 0),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
            0);
    assert_int_equal(rd_kafka_flush(other, 10000), 0);
    rd_kafka_destroy(other);
}

/* However many markers of others there are, before and behind. */
static void the_last_marker_is_found(void **state)
{
    struct world w;
    uint64_t epoch;

    (void)state;
    set_up(&w, true);
    add_option(&w, "topic", "out");
    must(&w, open_sink(&w));
    must(&w, mr_sink_kafka.last_published(&w.committer, &epoch, &w.err));
    assert_true(epoch == UINT64_MAX);
    write_marker(&w, "p", "77 {}", 3);
    must(&w, mr_sink_kafka.last_published(&w.committer, &epoch, &w.err));
    assert_true(epoch == UINT64_MAX);
    must(&w, run_epoch(&w, 4));
    must(&w, run_epoch(&w, 5));
    write_marker(&w, "q", NULL, 1);
    write_marker(&w, "qq", "78 {}", 1500);
    must(&w, mr_sink_kafka.last_published(&w.committer, &epoch, &w.err));
    assert_int_equal(epoch, 5);
    w.stop = 1;
    assert_int_equal(mr_sink_kafka.last_published(&w.committer, &epoch, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "can't be read to its end"));
    close_sink(&w);
    tear_down(&w);
}

static void transactions_that_can_not_go_on(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, true);
    add_option(&w, "topic", "out");
    add_option(&w, "kafka.max.request.size", "1000");
    must(&w, open_sink(&w));
    must(&w, mr_sink_kafka.begin(&w.committer, 0, &w.err));
    assert_int_equal(mr_sink_kafka.begin(&w.committer, 1, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "kafka sink: begin of epoch 1: "));
    const struct mr_text offsets = {mr_arena_zero(&w.arena, 5000), 5000};
    assert_int_equal(mr_sink_kafka.external_commit(&w.committer, 0, offsets, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "kafka sink: marker of epoch 0: "));
    close_sink(&w);
    tear_down(&w);
}

static void clusters_that_can_not_be_used(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, false); /* the mock cluster makes no topics */
    add_option(&w, "topic", "out");
    assert_int_equal(open_sink(&w), MR_IO);
    assert_non_null(strstr(w.err.message, "kafka sink: can't make topic millrace.epochs: "));
    close_sink(&w);

    add_option(&w, "kafka.sasl.username", "u"); /* warned of */
    add_option(&w, "kafka.sasl.password", "p");
    rd_kafka_mock_broker_set_down(w.cluster, 1);
    w.stop = 1; /* else it would wait for a minute */
    assert_int_equal(open_sink(&w), MR_IO);
    assert_non_null(
        strstr(w.err.message, "no broker of kafka.bootstrap.servers lets transactions"));
    close_sink(&w);

    add_option(&w, "kafka.security.protocol", "SSL");
    add_option(&w, "kafka.ssl.truststore.location", "/nowhere/ca.pem");
    assert_int_equal(open_sink(&w), MR_USER);
    assert_non_null(strstr(w.err.message, "ssl.ca.location"));
    close_sink(&w);

    w.config.options_n = 0;
    add_option(&w, "topic", "out");
    assert_int_equal(open_sink(&w), MR_USER);
    assert_non_null(strstr(w.err.message, "'kafka.bootstrap.servers' must be specified"));
    close_sink(&w);
    tear_down(&w);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    printf("left out: threads of C11, as librdkafka's are, are unknown to this ThreadSanitizer\n");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_make_records),
        cmocka_unit_test(rows_that_no_topic_takes),
        cmocka_unit_test(a_full_queue_blocks),
        cmocka_unit_test(the_last_marker_is_found),
        cmocka_unit_test(transactions_that_can_not_go_on),
        cmocka_unit_test(clusters_that_can_not_be_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
