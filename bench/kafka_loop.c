/* kafka_loop.c - the yardstick of `millrace bench kafka`: librdkafka's own consumer, all partitions
 * of a topic from their begin to their end, messages taken in batches and counted, nothing else.
 *
 *   bench_kafka_loop SERVERS TOPIC          prints: messages, seconds, bytes of values
 */
#include <librdkafka/rdkafka.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    BATCH = 4096,
    TIMEOUT_MS = 10000,
    WAIT_MS = 10 /* a batch is given when it is full, or then */
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_kafka_loop: %s: %s\n", what, why);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];

    if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK)
        fail(name, why);
}

static rd_kafka_t *open_consumer(const char *servers)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[256];

    set(conf, "bootstrap.servers", servers);
    set(conf, "group.id", "bench");
    set(conf, "enable.auto.commit", "false");
    set(conf, "check.crcs", "true");
    set(conf, "isolation.level", "read_committed");
    set(conf, "fetch.queue.backoff.ms", "1");
    set(conf, "enable.partition.eof", "true");
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (rk == NULL)
        fail("consumer", why);
    rd_kafka_poll_set_consumer(rk);
    return rk;
}

/* Assigns every partition from its begin; gives how many there are. */
static int32_t assign(rd_kafka_t *rk, const char *topic)
{
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *t = rd_kafka_topic_new(rk, topic, NULL);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(16);

    if (rd_kafka_metadata(rk, 0, t, &metadata, TIMEOUT_MS) || metadata->topic_cnt != 1)
        fail(topic, "no metadata");
    const int32_t n = metadata->topics[0].partition_cnt;
    for (int32_t p = 0; p < n; p++)
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(t);
    if (rd_kafka_assign(rk, list))
        fail(topic, "cannot be assigned");
    rd_kafka_topic_partition_list_destroy(list);
    return n;
}

int main(int argc, char **argv)
{
    static rd_kafka_message_t *messages[BATCH];
    int64_t n = 0;
    int silent_ms = 0;
    uint64_t bytes = 0;

    if (argc != 3)
        fail("usage", "bench_kafka_loop SERVERS TOPIC");
    rd_kafka_t *rk = open_consumer(argv[1]);
    double start = now_s();
    int32_t left = assign(rk, argv[2]); /* partitions that have not come to their end */
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(rk);
    while (left > 0) {
        ssize_t got = rd_kafka_consume_batch_queue(queue, WAIT_MS, messages, BATCH);
        silent_ms = got > 0 ? 0 : silent_ms + WAIT_MS;
        if (silent_ms > TIMEOUT_MS)
            fail(argv[2], "nothing came for 10 seconds");
        for (ssize_t i = 0; i < got; i++) {
            const rd_kafka_message_t *m = messages[i];
            if (m->err && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
                fail(argv[2], rd_kafka_message_errstr(m));
            left -= m->err != 0;
            n += m->err == 0;
            bytes += m->err ? 0 : m->len;
            rd_kafka_message_destroy(messages[i]);
        }
    }
    printf("%lld %.6f %llu\n", (long long)n, now_s() - start, (unsigned long long)bytes);
    rd_kafka_queue_destroy(queue);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    return 0;
}
