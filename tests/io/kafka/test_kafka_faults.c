/* The sink against librdkafka's mock cluster, which answers with errors: every record is there
 * once.
 *
 * Only errors after which the transaction goes on, or which end the query before anything is out:
 * the mock cluster does not hide what an aborted transaction wrote. Lost answers and aborts are
 * tried on a real broker (tests/integration/kafka_faults.py). */
#include "core/batch/builder.h"
#include "io/kafka/kafka_sink.h"
#include "io/kafka/kafka_source.h"

#include <librdkafka/rdkafka_mock.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { PRODUCE = 0, FIND_COORDINATOR = 10, INIT_PRODUCER = 22, ADD_PARTITIONS = 24, END_TXN = 26 };
enum { ROWS = 5, BROKERS = 3, PARTITIONS = 4, EPOCHS_MAX = 1024 };

static int64_t monotonic_us(struct mr_env *env)
{
    struct timespec t;

    (void)env;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static void sleep_us(struct mr_env *env, int64_t us)
{
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};

    (void)env;
    nanosleep(&t, NULL);
}
static const struct mr_env_ops env_ops = {
    .name = "fake", .monotonic_us = monotonic_us, .sleep_us = sleep_us};
static struct mr_env env = {.ops = &env_ops};

static const struct mr_field fields[] = {{"value", &mr_type_string, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 1, .fields = fields};

struct world {
    jmp_buf escape;
    struct mr_arena arena, epoch;
    struct mr_error err;
    rd_kafka_t *owner;
    rd_kafka_mock_cluster_t *cluster;
    struct mr_option options[8];
    struct mr_sink_config config;
    struct mr_kafka_committer committer;
    struct mr_kafka_writer writer;
};

static void set_up(struct world *w)
{
    char text[256];

    memset(w, 0, sizeof *w);
    mr_arena_init(&w->arena, NULL, &w->escape);
    mr_arena_init(&w->epoch, NULL, &w->escape);
    w->owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    w->cluster = rd_kafka_mock_cluster_new(w->owner, BROKERS);
    rd_kafka_mock_topic_create(w->cluster, MR_KAFKA_MARKER_TOPIC, 1, 1);
    rd_kafka_mock_topic_create(w->cluster, "out", PARTITIONS, 1);
    rd_kafka_mock_coordinator_set(w->cluster, "transaction", "millrace-q", 1);
    w->options[0] =
        (struct mr_option){"kafka.bootstrap.servers", rd_kafka_mock_cluster_bootstraps(w->cluster)};
    w->options[1] = (struct mr_option){"topic", "out"};
    w->options[2] = (struct mr_option){"kafka.retry.backoff.ms", "5"};
    w->options[3] = (struct mr_option){"kafka.reconnect.backoff.ms", "5"};
    w->options[4] = (struct mr_option){"kafka.reconnect.backoff.max.ms", "20"};
    w->options[5] = (struct mr_option){"kafka.retry.backoff.max.ms", "20"};
    w->config = (struct mr_sink_config){.format = "kafka",
                                        .options = w->options,
                                        .options_n = 6,
                                        .schema = &schema,
                                        .query_id = "q",
                                        .env = &env,
                                        .arena = &w->arena,
                                        .workers = 1};
}

static void tear_down(struct world *w)
{
    rd_kafka_mock_cluster_destroy(w->cluster);
    rd_kafka_destroy(w->owner);
    mr_arena_fini(&w->epoch);
    mr_arena_fini(&w->arena);
}

static enum mr_status open_sink(struct world *w, struct mr_kafka_committer *c)
{
    memset(c, 0, sizeof *c);
    return mr_sink_kafka.committer_open(c, &w->config, &w->err);
}

static enum mr_status run_epoch(struct world *w, struct mr_kafka_committer *c, uint64_t epoch)
{
    struct mr_column column;
    struct mr_batch batch = {.columns = &column, .columns_n = 1, .rows = ROWS, .n = ROWS};
    enum mr_step step = MR_BLOCKED;

    mr_arena_reset(&w->epoch);
    mr_column_alloc(&column, &mr_type_string, ROWS, false, &w->epoch);
    for (uint32_t i = 0; i < ROWS; i++) {
        const char *text = mr_arena_format(&w->epoch, "%u", (unsigned)(epoch * ROWS + i));
        mr_column_set_text(&column, i, mr_text_of(text), &w->epoch);
    }
    w->writer = (struct mr_kafka_writer){.committer = c};
    enum mr_status status = mr_sink_kafka.begin(c, epoch, &w->err);
    while (status == MR_OK && step == MR_BLOCKED)
        step = mr_sink_kafka.write(&w->writer, epoch, &batch, &w->err);
    if (status == MR_OK && step == MR_FAILED)
        return w->err.status;
    return status == MR_OK ? mr_sink_kafka.external_commit(c, epoch, MR_TEXT("{}"), &w->err)
                           : status;
}

static void must(struct world *w, enum mr_status status)
{
    if (status != MR_OK)
        fail_msg("%s", w->err.message);
}

/* How often each record of epochs 0 to epochs - 1 is in the topic: once. */
static void check_once(struct world *w, uint32_t epochs)
{
    static uint8_t seen[EPOCHS_MAX * ROWS];
    rd_kafka_conf_t *conf;
    rd_kafka_t *reader;
    struct mr_kafka_reports reports;

    assert_true(epochs <= EPOCHS_MAX);
    memset(seen, 0, sizeof seen);
    must(w, mr_kafka_conf_make(w->options, 1, MR_KAFKA_CONSUMER, &conf, &w->err));
    must(w, mr_kafka_client(conf, MR_KAFKA_CONSUMER, &reports, &reader, &w->err));
    rd_kafka_topic_t *topic = rd_kafka_topic_new(reader, "out", NULL);
    for (int32_t p = 0; p < PARTITIONS; p++) {
        bool at_end = false;
        assert_int_equal(rd_kafka_consume_start(topic, p, RD_KAFKA_OFFSET_BEGINNING), 0);
        while (!at_end) {
            rd_kafka_message_t *m = rd_kafka_consume(topic, p, 10000);
            char text[16] = "";
            assert_non_null(m);
            at_end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            if (!m->err && m->len < sizeof text) {
                memcpy(text, m->payload, m->len);
                seen[atoi(text)]++;
            }
            rd_kafka_message_destroy(m);
        }
        rd_kafka_consume_stop(topic, p);
    }
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(reader);
    for (uint32_t i = 0; i < epochs * ROWS; i++)
        if (seen[i] != 1)
            fail_msg("record %u of epoch %u is there %u times", i % ROWS, i / ROWS, seen[i]);
}

/* The marker says the last epoch, and a new producer finds it. */
static void check_marker(struct world *w, struct mr_kafka_committer *c, uint64_t want)
{
    uint64_t epoch;

    must(w, mr_sink_kafka.last_published(c, &epoch, &w->err));
    assert_int_equal(epoch, want);
}

static const struct fault {
    const char *name;
    int16_t api;
    rd_kafka_resp_err_t errors[2];
    uint32_t times;
} faults[] = {
    {"not the leader",
     PRODUCE,
     {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE},
     4},
    {"too few replicas",
     PRODUCE,
     {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT},
     4},
    {"produce, connection lost",
     PRODUCE,
     {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TRANSPORT},
     1},
    /* Half a second each, for librdkafka asks again no sooner. */
    {"partitions, coordinator loads",
     ADD_PARTITIONS,
     {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS},
     1},
    {"partitions, not the coordinator",
     ADD_PARTITIONS,
     {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE},
     1},
    {"partitions, connection lost",
     ADD_PARTITIONS,
     {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TRANSPORT},
     1},
    {"end, coordinator loads",
     END_TXN,
     {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS},
     1},
    {"end, not the coordinator",
     END_TXN,
     {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE},
     1},
    {"end, connection lost",
     END_TXN,
     {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__TRANSPORT},
     1},
};
enum { QUICK = 3, SLOW = sizeof faults / sizeof faults[0] - QUICK };

/* Gives how many errors wait; quick ones are three of four. */
static uint32_t inject(struct world *w, uint64_t epoch, const struct fault **fault)
{
    uint64_t kind = epoch % 4 < QUICK ? epoch % 4 : QUICK + epoch / 4 % SLOW;
    const struct fault *f = *fault = &faults[kind];

    for (uint32_t i = 0; i < f->times; i++)
        rd_kafka_mock_push_request_errors_array(w->cluster, f->api, 2, f->errors);
    if (epoch % 5 == 0)
        rd_kafka_mock_coordinator_set(w->cluster, "transaction", "millrace-q",
                                      (int32_t)(epoch / 5 % BROKERS) + 1);
    if (epoch % 7 == 0)
        rd_kafka_mock_partition_set_leader(w->cluster, "out", (int32_t)epoch % PARTITIONS,
                                           (int32_t)(epoch / 7 % BROKERS) + 1);
    return 2 * f->times;
}

/* Each kind again and again, and the coordinator and the leaders move meanwhile. */
static void test_errors(void **state)
{
    struct world w;
    uint32_t injected = 0;
    uint64_t epoch = 0;

    (void)state;
    set_up(&w);
    must(&w, open_sink(&w, &w.committer));
    for (; injected < 500; epoch++) {
        const struct fault *f;
        injected += inject(&w, epoch, &f);
        if (run_epoch(&w, &w.committer, epoch) != MR_OK)
            fail_msg("%s, epoch %u: %s", f->name, (unsigned)epoch, w.err.message);
    }
    check_marker(&w, &w.committer, epoch - 1);
    mr_sink_kafka.committer_close(&w.committer);
    check_once(&w, (uint32_t)epoch);
    printf("%u errors in %u epochs\n", injected, (unsigned)epoch);
    tear_down(&w);
}

static void test_broker_down(void **state)
{
    struct world w;

    (void)state;
    set_up(&w);
    must(&w, open_sink(&w, &w.committer));
    must(&w, run_epoch(&w, &w.committer, 0));
    for (int32_t broker = 1; broker <= BROKERS; broker++) {
        /* It comes back by itself: the first answer of another broker is late. */
        rd_kafka_mock_broker_set_down(w.cluster, broker);
        sleep_us(&env, 50000);
        rd_kafka_mock_broker_set_up(w.cluster, broker);
        must(&w, run_epoch(&w, &w.committer, (uint64_t)broker));
    }
    check_marker(&w, &w.committer, BROKERS);
    mr_sink_kafka.committer_close(&w.committer);
    check_once(&w, BROKERS + 1);
    tear_down(&w);
}

/* Every answer takes 3 s. */
static void test_far_away(void **state)
{
    struct world w;

    (void)state;
    set_up(&w);
    must(&w, open_sink(&w, &w.committer));
    must(&w, run_epoch(&w, &w.committer, 0));
    for (int32_t broker = 1; broker <= BROKERS; broker++)
        rd_kafka_mock_broker_set_rtt(w.cluster, broker, 3000);
    must(&w, run_epoch(&w, &w.committer, 1));
    for (int32_t broker = 1; broker <= BROKERS; broker++)
        rd_kafka_mock_broker_set_rtt(w.cluster, broker, 0);
    check_marker(&w, &w.committer, 1);
    mr_sink_kafka.committer_close(&w.committer);
    check_once(&w, 2);
    tear_down(&w);
}

/* The predecessor wakes up after its successor has begun: it writes nothing more, and says why. */
static void test_zombie(void **state)
{
    struct mr_kafka_committer zombie;
    struct world w;

    (void)state;
    set_up(&w);
    must(&w, open_sink(&w, &zombie));
    must(&w, run_epoch(&w, &zombie, 0));
    must(&w, open_sink(&w, &w.committer));
    must(&w, run_epoch(&w, &w.committer, 1));
    rd_kafka_mock_push_request_errors(w.cluster, ADD_PARTITIONS, 1,
                                      RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
    rd_kafka_mock_push_request_errors(w.cluster, INIT_PRODUCER, 1,
                                      RD_KAFKA_RESP_ERR_PRODUCER_FENCED);
    assert_int_equal(run_epoch(&w, &zombie, 1), MR_IO);
    assert_non_null(strstr(w.err.message, "fenced"));
    mr_sink_kafka.committer_close(&zombie);
    must(&w, run_epoch(&w, &w.committer, 2));
    check_marker(&w, &w.committer, 2);
    mr_sink_kafka.committer_close(&w.committer);
    check_once(&w, 3);
    tear_down(&w);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    printf("left out: threads of C11, as librdkafka's are, are unknown to this ThreadSanitizer\n");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_broker_down),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_zombie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
