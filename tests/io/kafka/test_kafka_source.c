/* The source against librdkafka's mock cluster: which offsets an epoch takes, what a checkpoint
 * gives back, topics and offsets that are not there, brokers that answer with errors.
 *
 * What a real broker does besides - gaps of transactions, retention, topics made anew - is in
 * tests/integration/kafka.py. */
#include "io/kafka/kafka_source.h"

#include <librdkafka/rdkafka_mock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { FETCH = 1, LIST_OFFSETS = 2, OPTIONS_MAX = 8, PATIENCE_US = 30000000 };

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    struct mr_env *env;
    rd_kafka_t *owner, *writer; /* owner: of the cluster */
    rd_kafka_mock_cluster_t *cluster;
    _Atomic uint32_t stop;
    struct mr_option options[OPTIONS_MAX];
    struct mr_table table;
    struct mr_source_config config;
    struct mr_kafka_planner planner;
    struct mr_kafka_reader reader;
    int64_t gaps; /* so many offsets of each range are taken to be no records */
};

static void add_option(struct world *w, const char *name, const char *value)
{
    assert_true(w->table.options_n < OPTIONS_MAX);
    w->options[w->table.options_n++] = (struct mr_option){name, value};
}

/* A cluster of one broker with the topic t of two partitions. */
static void set_up(struct world *w, const char *way, const char *topics)
{
    char text[256];

    memset(w, 0, sizeof *w);
    mr_arena_init(&w->arena, NULL, &w->escape);
    assert_int_equal(mr_env_open("syscalls", &w->env, &w->err), MR_OK);
    w->owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    w->cluster = rd_kafka_mock_cluster_new(w->owner, 1);
    rd_kafka_mock_topic_create(w->cluster, "t", 2, 1);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(w->cluster), text,
                      sizeof text);
    w->writer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    assert_true(w->owner && w->cluster && w->writer);
    w->table = (struct mr_table){.name = "s", .format = "kafka", .options = w->options};
    add_option(w, "kafka.bootstrap.servers", rd_kafka_mock_cluster_bootstraps(w->cluster));
    add_option(w, "fetchOffset.numRetries", "0");
    add_option(w, way, topics);
    w->table.schema = mr_kafka_schema(w->options, w->table.options_n, &w->arena);
    w->config = (struct mr_source_config){.table = &w->table,
                                          .schema = w->table.schema,
                                          .env = w->env,
                                          .arena = &w->arena,
                                          .zone = mr_zone_utc(),
                                          .batch_rows = 4,
                                          .workers = 1,
                                          .stop = &w->stop};
}

static void must(struct world *w, enum mr_status status)
{
    if (status != MR_OK)
        fail_msg("%s", w->err.message);
}

static void open_ends(struct world *w)
{
    w->planner = (struct mr_kafka_planner){0};
    w->reader = (struct mr_kafka_reader){0};
    must(w, mr_kafka_planner_open(&w->planner, &w->config, &w->err));
    must(w, mr_kafka_reader_open(&w->reader, &w->config, &w->err));
}

static void close_ends(struct world *w)
{
    mr_kafka_reader_close(&w->reader);
    mr_kafka_planner_close(&w->planner);
}

static void tear_down(struct world *w)
{
    close_ends(w);
    rd_kafka_destroy(w->writer);
    rd_kafka_mock_cluster_destroy(w->cluster);
    rd_kafka_destroy(w->owner);
    w->env->ops->fini(w->env);
    mr_arena_fini(&w->arena);
}

/* Records "0" .. of a partition of t, from number from on. */
static void produce(struct world *w, int32_t partition, int from, int n)
{
    for (int i = from; i < from + n; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        assert_int_equal(
            rd_kafka_producev(w->writer, RD_KAFKA_V_TOPIC("t"), RD_KAFKA_V_PARTITION(partition),
                              RD_KAFKA_V_VALUE(text, strlen(text)),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
            0);
    }
    assert_int_equal(rd_kafka_flush(w->writer, 10000), 0);
}

/* Gives the offsets of what is new, "" for nothing; *bytes, unless NULL, what replays them. */
static const char *plan_with(struct world *w, enum mr_source_limit limit, struct mr_text *bytes)
{
    struct mr_offsets to;
    bool has_new;

    must(w, mr_kafka_plan(&w->planner, 0, limit, &to, &has_new, &w->err));
    if (bytes)
        *bytes = (struct mr_text){mr_arena_copy(&w->arena, to.bytes.data, to.bytes.n), to.bytes.n};
    return has_new ? mr_arena_copy(&w->arena, to.json.data, to.json.n) : "";
}

static const char *plan(struct world *w)
{
    return plan_with(w, MR_LIMIT_AS_CONFIGURED, NULL);
}

/* The rows of the planned epoch, "PARTITION:OFFSET=VALUE " each; NULL: it failed. */
static const char *rows(struct world *w)
{
    struct mr_source_counts counts = {0};
    struct mr_buffer b;
    uint64_t seen = 0;
    uint32_t n;

    mr_buffer_init(&b, &w->arena);
    must(w, mr_kafka_splits(&w->planner, &n, &w->err));
    for (uint32_t i = 0; i < n; i++) {
        enum mr_step step = MR_BLOCKED;
        struct mr_batch batch;
        int64_t begin_us = w->env->ops->monotonic_us(w->env);
        must(w, mr_kafka_open_split(&w->reader, mr_kafka_split(&w->planner, i), &w->err));
        w->reader.split.partition->next -= w->gaps;
        while (step == MR_BLOCKED || step == MR_MORE_OUTPUT) {
            assert_true(w->env->ops->monotonic_us(w->env) - begin_us < PATIENCE_US);
            step = mr_kafka_pull(&w->reader, &batch, &counts, &w->err);
            for (uint32_t r = 0; r < batch.n; r++, seen++) {
                struct mr_text value = mr_column_text(&batch.columns[1], r);
                mr_buffer_append_format(&b, "%d:%d=%.*s ", batch.columns[3].i32[r],
                                        (int)batch.columns[4].i64[r], (int)value.n, value.data);
            }
        }
        if (step == MR_FAILED)
            return NULL;
        assert_int_equal(mr_kafka_pull(&w->reader, &batch, &counts, &w->err), MR_DONE);
        assert_int_equal(batch.n, 0);
    }
    assert_int_equal(counts.rows, seen);
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

static void fails(struct world *w, enum mr_status want, const char *says)
{
    struct mr_offsets to;
    bool has_new;
    enum mr_status status =
        mr_kafka_plan(&w->planner, 0, MR_LIMIT_AS_CONFIGURED, &to, &has_new, &w->err);

    if (status != want || strstr(w->err.message, says) == NULL)
        fail_msg("%d, \"%s\" instead of \"%s\"", (int)status, w->err.message, says);
}

static void epochs_share_a_limit(void **state)
{
    struct world w;
    struct mr_buffer b;

    (void)state;
    set_up(&w, "subscribe", " t ,,");
    add_option(&w, "maxOffsetsPerTrigger", "8");
    add_option(&w, "startingOffsets", "earliest");
    produce(&w, 0, 0, 12);
    produce(&w, 1, 0, 4);
    open_ends(&w);
    mr_buffer_init(&b, &w.arena);
    mr_kafka_metrics(&w.planner, &b);
    assert_int_equal(b.n, 0); /* nothing is known yet */
    assert_string_equal(plan(&w), "{\"t\":{\"0\":6,\"1\":2}}");
    mr_kafka_metrics(&w.planner, &b);
    assert_true(mr_text_equal(
        mr_buffer_text(&b), MR_TEXT("\"avgOffsetsBehindLatest\":\"4.0\",\"maxOffsetsBehindLatest\":"
                                    "\"6\",\"minOffsetsBehindLatest\":\"2\"")));
    assert_string_equal(rows(&w), "0:0=0 0:1=1 0:2=2 0:3=3 0:4=4 0:5=5 1:0=0 1:1=1 ");
    must(&w, mr_kafka_committed(&w.planner, 0, &w.err));
    assert_string_equal(plan_with(&w, MR_LIMIT_NONE, NULL), "{\"t\":{\"0\":12,\"1\":4}}");
    assert_string_equal(rows(&w), "0:6=6 0:7=7 0:8=8 0:9=9 0:10=10 0:11=11 1:2=2 1:3=3 ");
    assert_string_equal(plan(&w), "");
    tear_down(&w);
}

/* Not the first epoch; then enough must be there, or the delay over. */
static void an_epoch_waits_for_enough(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    add_option(&w, "minOffsetsPerTrigger", "3");
    add_option(&w, "maxTriggerDelay", "1500ms");
    add_option(&w, "startingOffsets", "earliest");
    open_ends(&w);
    assert_string_equal(plan(&w), "");
    produce(&w, 0, 0, 1);
    assert_string_equal(plan(&w), "{\"t\":{\"0\":1,\"1\":0}}");
    produce(&w, 0, 1, 1);
    assert_string_equal(plan(&w), "");
    produce(&w, 1, 0, 2);
    assert_string_equal(plan(&w), "{\"t\":{\"0\":2,\"1\":2}}");
    produce(&w, 0, 2, 1);
    assert_string_equal(plan(&w), "");
    w.env->ops->sleep_us(w.env, 1500000);
    assert_string_equal(plan(&w), "{\"t\":{\"0\":3,\"1\":2}}");
    produce(&w, 0, 3, 1);
    assert_string_equal(plan_with(&w, MR_LIMIT_NONE, NULL), "{\"t\":{\"0\":4,\"1\":2}}");
    produce(&w, 0, 4, 1);
    must(&w, mr_kafka_freeze(&w.planner, &w.err)); /* what is there is all that comes */
    produce(&w, 0, 5, 1);
    assert_string_equal(plan(&w), "{\"t\":{\"0\":5,\"1\":2}}");
    assert_string_equal(plan(&w), "");
    tear_down(&w);
}

/* Bytes of an epoch make its rows come again, in a new process and in this one; cut, they are
 * refused. */
static void stored_offsets_come_again(void **state)
{
    static const char first[] = "0:0=0 0:1=1 0:2=2 1:0=0 ";
    struct mr_text epoch, rest;
    struct mr_buffer saved;
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    add_option(&w, "startingOffsets", "{\"t\":{\"0\":-2,\"1\":0}}");
    produce(&w, 0, 0, 3);
    produce(&w, 1, 0, 1);
    open_ends(&w);
    plan_with(&w, MR_LIMIT_AS_CONFIGURED, &epoch);
    assert_string_equal(rows(&w), first);
    produce(&w, 0, 3, 2);
    plan_with(&w, MR_LIMIT_AS_CONFIGURED, &rest);
    assert_string_equal(rows(&w), "0:3=3 0:4=4 ");
    must(&w, mr_kafka_adopt(&w.planner, 7, epoch, &w.err)); /* back to where it was */
    assert_string_equal(rows(&w), first);
    mr_buffer_init(&saved, &w.arena);
    mr_kafka_save(&w.planner, &saved);
    close_ends(&w);

    open_ends(&w);
    must(&w, mr_kafka_load(&w.planner, mr_buffer_text(&saved), &w.err));
    assert_string_equal(plan(&w), "{\"t\":{\"0\":5,\"1\":1}}");
    must(&w, mr_kafka_adopt(&w.planner, 8, rest, &w.err));
    assert_string_equal(rows(&w), "0:3=3 0:4=4 ");
    close_ends(&w);
    open_ends(&w);
    for (uint64_t n = 0; n < epoch.n; n++) {
        struct mr_text cut = {epoch.data, n};
        assert_int_equal(mr_kafka_adopt(&w.planner, 9, cut, &w.err), MR_CORRUPT);
        assert_string_equal(w.err.message, "source \"s\": offsets of epoch 9 can't be read");
    }
    char *other = mr_arena_copy(&w.arena, epoch.data, epoch.n);
    other[0]++;
    const struct mr_text newer = {other, epoch.n};
    assert_int_equal(mr_kafka_adopt(&w.planner, 9, newer, &w.err), MR_CORRUPT);
    tear_down(&w);
}

static void starts_are_looked_up(void **state)
{
    static const struct {
        struct mr_option options[2];
        enum mr_status status;
        const char *says; /* offsets, or the error */
    } cases[] = {
        {{{"startingOffsets", "latest"}}, MR_OK, "{\"t\":{\"0\":3,\"1\":1}}"},
        {{{"startingOffsets", "{\"t\":{\"0\":-1,\"1\":1}}"}}, MR_OK, "{\"t\":{\"0\":3,\"1\":1}}"},
        {{{"startingOffsets", "{\"t\":{\"0\":1}}"}},
         MR_USER,
         "startingOffsets must name all partitions: t-1 is missing (-2 earliest, -1 latest)"},
        {{{"startingOffsets", "{\"t\":{\"0\":1,\"1\":1,\"2\":1}}"}},
         MR_USER,
         "startingOffsets names t-2, which is not among the partitions that are read"},
        {{{"startingOffsets", "{\"t\":{\"0\":1,\"1\":5}}"}}, MR_QUERY, "t-1 ends at offset 1"},
        {{{"startingTimestamp", "1"}}, MR_USER, "t-0 has no offset at or after timestamp 1"},
        {{{"startingTimestamp", "1"}, {"startingOffsetsByTimestampStrategy", "latest"}},
         MR_OK,
         "{\"t\":{\"0\":3,\"1\":1}}"},
        {{{"startingOffsetsByTimestamp", "{\"t\":{\"0\":5,\"1\":6}}"}},
         MR_USER,
         "t-0 has no offset at or after timestamp 5"},
        {{{"startingOffsetsByTimestamp", "{\"t\":{\"0\":5}}"}},
         MR_USER,
         "startingOffsetsByTimestamp must name all partitions: t-1 is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_offsets to;
        bool has_new = true;
        struct world w;
        set_up(&w, "subscribe", "t");
        for (int k = 0; k < 2 && cases[i].options[k].name; k++)
            add_option(&w, cases[i].options[k].name, cases[i].options[k].value);
        produce(&w, 0, 0, 3);
        produce(&w, 1, 0, 1);
        open_ends(&w);
        if (cases[i].status == MR_OK) {
            must(&w, mr_kafka_plan(&w.planner, 0, MR_LIMIT_NONE, &to, &has_new, &w.err));
            assert_false(has_new);
            assert_true(to.keep); /* where it began is logged, though nothing is new */
            assert_true(mr_text_equal(to.json, mr_text_of(cases[i].says)));
        } else {
            fails(&w, cases[i].status, cases[i].says);
        }
        tear_down(&w);
    }
}

static void what_is_not_there_is_told(void **state)
{
    static const struct {
        const char *way, *topics;
        enum mr_status status;
        const char *says;
    } cases[] = {
        {"subscribe", "t,none", MR_QUERY, "topic none: the brokers have no topic of this name"},
        {"assign", "{\"none\":[0]}", MR_QUERY, "topic none: the brokers have no topic"},
        {"assign", "{\"t\":[1,2]}", MR_QUERY, "assign names t-2, but topic t has 2 partitions"},
        {"assign", "{\"u\":[0],\"t\":[1]}", MR_OK, "{\"t\":{\"1\":0},\"u\":{\"0\":0}}"},
        {"subscribePattern", "[tv]", MR_OK, "{\"t\":{\"0\":0,\"1\":0}}"},
        {"subscribePattern", "T|tt", MR_OK, "{}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_offsets to;
        bool has_new;
        struct world w;
        set_up(&w, cases[i].way, cases[i].topics);
        rd_kafka_mock_topic_create(w.cluster, "u", 1, 1);
        rd_kafka_mock_topic_create(w.cluster, "millrace.epochs", 1, 1);
        open_ends(&w);
        if (cases[i].status == MR_OK) {
            must(&w, mr_kafka_plan(&w.planner, 0, MR_LIMIT_NONE, &to, &has_new, &w.err));
            assert_false(has_new);
            assert_true(mr_text_equal(to.json, mr_text_of(cases[i].says)));
        } else {
            fails(&w, cases[i].status, cases[i].says);
        }
        tear_down(&w);
    }
}

static void too_many_partitions_are_refused(void **state)
{
    struct mr_buffer stored;
    const uint32_t n = MR_KAFKA_PARTITIONS_MAX + 1;
    const int64_t offset = 0;
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "many");
    rd_kafka_mock_topic_create(w.cluster, "many", MR_KAFKA_PARTITIONS_MAX + 1, 1);
    open_ends(&w);
    fails(&w, MR_QUERY, "source \"s\": more than 4096 partitions");
    close_ends(&w);
    mr_buffer_init(&stored, &w.arena);
    mr_buffer_append(&stored, "\1", 1);
    mr_buffer_append(&stored, &n, 4);
    for (uint32_t i = 0; i < n; i++) {
        mr_buffer_append(&stored, "\1\0t", 3);
        mr_buffer_append(&stored, &i, 4);
        mr_buffer_append(&stored, &offset, 8);
        mr_buffer_append(&stored, &offset, 8);
    }
    open_ends(&w);
    assert_int_equal(mr_kafka_adopt(&w.planner, 0, mr_buffer_text(&stored), &w.err), MR_CORRUPT);
    assert_int_equal(w.planner.partitions_n, MR_KAFKA_PARTITIONS_MAX);
    tear_down(&w);
}

static void a_topic_that_goes_is_data_loss(void **state)
{
    struct world w;

    (void)state;
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        set_up(&w, "subscribe", "t");
        add_option(&w, "startingOffsets", "earliest");
        add_option(&w, "failOnDataLoss", goes_on ? "false" : "true");
        produce(&w, 0, 0, 2);
        open_ends(&w);
        assert_string_equal(plan(&w), "{\"t\":{\"0\":2,\"1\":0}}");
        rd_kafka_mock_topic_set_error(w.cluster, "t", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
        w.planner.metadata_us = INT64_MIN; /* it is time to look again */
        if (goes_on)
            assert_string_equal(plan(&w), "");
        else
            fails(&w, MR_QUERY, "data loss: partition t-0 is gone; it was read up to offset 2");
        tear_down(&w);
    }
}

/* Offsets that a restart wants, of a topic that has fewer by now. */
static void a_range_that_is_gone_is_data_loss(void **state)
{
    struct mr_text epoch;
    struct world w;

    (void)state;
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        set_up(&w, "subscribe", "t");
        add_option(&w, "startingOffsets", "{\"t\":{\"0\":3,\"1\":0}}");
        add_option(&w, "failOnDataLoss", goes_on ? "false" : "true");
        produce(&w, 0, 0, 6);
        open_ends(&w);
        assert_string_equal(plan_with(&w, MR_LIMIT_NONE, &epoch), "{\"t\":{\"0\":6,\"1\":0}}");
        close_ends(&w);
        rd_kafka_mock_cluster_destroy(w.cluster); /* all is forgotten */
        w.cluster = rd_kafka_mock_cluster_new(w.owner, 1);
        rd_kafka_mock_topic_create(w.cluster, "t", 2, 1);
        w.options[0].value = rd_kafka_mock_cluster_bootstraps(w.cluster);
        open_ends(&w);
        must(&w, mr_kafka_adopt(&w.planner, 0, epoch, &w.err));
        const char *got = rows(&w);
        if (goes_on)
            assert_string_equal(got, "");
        else if (got || strstr(w.err.message, "data loss: t-0: offsets from 3 on") == NULL)
            fail_msg("%s", w.err.message);
        tear_down(&w);
    }
}

/* Once told that an offset is not there, the source looks for what is: all of it, once. */
static void errors_while_reading(void **state)
{
    static const struct {
        rd_kafka_resp_err_t error;
        const char *fail_on_loss, *rows, *says;
    } cases[] = {
        {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, "false", "0:0=0 0:1=1 0:2=2 ", NULL},
        {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, "true", NULL, "data loss: t-0: offsets from 0 on"},
        {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, "true", "0:0=0 0:1=1 0:2=2 ", NULL},
        {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "true", NULL, "source \"s\": t-0: "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w;
        set_up(&w, "subscribe", "t");
        add_option(&w, "startingOffsets", "earliest");
        add_option(&w, "failOnDataLoss", cases[i].fail_on_loss);
        produce(&w, 0, 0, 3);
        open_ends(&w);
        assert_string_equal(plan(&w), "{\"t\":{\"0\":3,\"1\":0}}");
        rd_kafka_mock_push_request_errors_array(w.cluster, FETCH, 1, &cases[i].error);
        const char *got = rows(&w);
        if (cases[i].rows)
            assert_string_equal(got, cases[i].rows);
        else if (got || strstr(w.err.message, cases[i].says) == NULL)
            fail_msg("%zu: %s", i, w.err.message);
        tear_down(&w);
    }
}

static void errors_of_offsets(void **state)
{
    static const rd_kafka_resp_err_t denied = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    add_option(&w, "startingOffsets", "earliest");
    add_option(&w, "fetchOffset.retryIntervalMs", "1");
    produce(&w, 1, 0, 1);
    open_ends(&w);
    rd_kafka_mock_push_request_errors_array(w.cluster, LIST_OFFSETS, 1, &denied);
    fails(&w, MR_IO, "source \"s\": the brokers don't tell offsets: t-");
    close_ends(&w);
    w.options[1].value = "1"; /* retries */
    open_ends(&w);
    rd_kafka_mock_push_request_errors_array(w.cluster, LIST_OFFSETS, 1, &denied);
    assert_string_equal(plan(&w), "{\"t\":{\"0\":0,\"1\":1}}");
    assert_string_equal(rows(&w), "1:0=0 ");
    tear_down(&w);
}

/* Who waits for a broker gives up, without an error, when the query is to end. */
static void a_stop_ends_the_wait(void **state)
{
    struct mr_offsets to;
    bool has_new = true;
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    open_ends(&w);
    w.stop = 1;
    must(&w, mr_kafka_plan(&w.planner, 0, MR_LIMIT_NONE, &to, &has_new, &w.err));
    assert_false(has_new);
    assert_true(mr_text_equal(to.json, MR_TEXT("{}")));
    must(&w, mr_kafka_freeze(&w.planner, &w.err));
    assert_false(w.planner.frozen);
    tear_down(&w);
}

static void what_no_client_takes_is_refused(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    add_option(&w, "kafka.security.protocol", "SSL");
    add_option(&w, "kafka.ssl.truststore.location", "/nowhere/ca.pem");
    assert_int_equal(mr_source_kafka.check(&w.table, &w.err), MR_OK);
    assert_int_equal(mr_kafka_planner_open(&w.planner, &w.config, &w.err), MR_USER);
    assert_non_null(strstr(w.err.message, "ssl.ca.location"));
    mr_kafka_planner_close(&w.planner);
    w.planner = (struct mr_kafka_planner){0};
    w.options[1].value = "some"; /* retries */
    assert_int_equal(mr_kafka_planner_open(&w.planner, &w.config, &w.err), MR_USER);
    tear_down(&w);
}

/* Where offsets of a range are no records but ends of transactions, records from behind it come
 * along: they are those of the next ones. */
static void what_comes_along_is_kept(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, "subscribe", "t");
    add_option(&w, "maxOffsetsPerTrigger", "2");
    add_option(&w, "startingOffsets", "earliest");
    w.gaps = 30;
    produce(&w, 0, 0, 30);
    open_ends(&w);
    for (int i = 0; i < 30; i += 2) {
        char want[64];
        assert_string_not_equal(plan(&w), "");
        snprintf(want, sizeof want, "0:%d=%d 0:%d=%d ", i, i, i + 1, i + 1);
        assert_string_equal(rows(&w), want);
    }
    assert_string_equal(plan(&w), "");
    tear_down(&w);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    printf("left out: threads of C11, as librdkafka's are, are unknown to this ThreadSanitizer\n");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(epochs_share_a_limit),
        cmocka_unit_test(an_epoch_waits_for_enough),
        cmocka_unit_test(stored_offsets_come_again),
        cmocka_unit_test(starts_are_looked_up),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(too_many_partitions_are_refused),
        cmocka_unit_test(a_topic_that_goes_is_data_loss),
        cmocka_unit_test(a_range_that_is_gone_is_data_loss),
        cmocka_unit_test(what_comes_along_is_kept),
        cmocka_unit_test(errors_while_reading),
        cmocka_unit_test(errors_of_offsets),
        cmocka_unit_test(a_stop_ends_the_wait),
        cmocka_unit_test(what_no_client_takes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
