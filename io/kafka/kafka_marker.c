#include "io/kafka/kafka_sink.h"

#include "core/base/check.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { CALL_MS = 10000, TRANSACTION_MS = 30000, READ_MS = 20000 };

/* Made once per cluster: one partition, compacted, so it holds one record per query. */
enum mr_status mr_kafka_marker_make_topic(struct mr_kafka_committer *c, struct mr_error *err)
{
    char text[256];
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(MR_KAFKA_MARKER_TOPIC, 1, -1, text, sizeof text);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(c->producer);
    enum mr_status status = MR_OK;

    rd_kafka_NewTopic_set_config(topic, "cleanup.policy", "compact");
    rd_kafka_CreateTopics(c->producer, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CALL_MS);
    rd_kafka_resp_err_t rc = RD_KAFKA_RESP_ERR__TIMED_OUT;
    if (event) {
        size_t n = 0;
        const rd_kafka_topic_result_t **results = NULL;
        const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
        rc = rd_kafka_event_error(event);
        if (result)
            results = rd_kafka_CreateTopics_result_topics(result, &n);
        if (n == 1)
            rc = rd_kafka_topic_result_error(results[0]);
    }
    if (rc != RD_KAFKA_RESP_ERR_NO_ERROR && rc != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        status = MR_FAIL(err, MR_IO, 0, "kafka sink: can't make topic %s: %s",
                         MR_KAFKA_MARKER_TOPIC, rd_kafka_err2str(rc));
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
    return status;
}

static void see_marker(const struct mr_kafka_committer *c, const rd_kafka_message_t *m,
                       uint64_t *epoch)
{
    const char *id = c->config->query_id;
    char text[32] = "";

    if (m->key_len != strlen(id) || memcmp(m->key, id, m->key_len) != 0 || m->payload == NULL)
        return;
    memcpy(text, m->payload, m->len < sizeof text - 1 ? m->len : sizeof text - 1);
    *epoch = strtoull(text, NULL, 10);
}

enum mr_status mr_kafka_marker_read(struct mr_kafka_committer *c, uint64_t *epoch,
                                    struct mr_error *err)
{
    rd_kafka_conf_t *conf;
    rd_kafka_t *consumer;
    enum mr_status status =
        mr_kafka_conf_make(c->config->options, c->config->options_n, MR_KAFKA_CONSUMER, &conf, err);

    *epoch = UINT64_MAX;
    if (status != MR_OK)
        return status;
    mr_kafka_conf_set(conf, "isolation.level", "read_committed");
    status = mr_kafka_client(conf, MR_KAFKA_CONSUMER, &consumer, err);
    if (status != MR_OK)
        return status;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, MR_KAFKA_MARKER_TOPIC, NULL);
    int64_t until_us = c->config->env->ops->monotonic_us(c->config->env) + READ_MS * INT64_C(1000);
    bool at_end = false;
    if (rd_kafka_consume_start(topic, 0, RD_KAFKA_OFFSET_BEGINNING) == 0) {
        while (!at_end && c->config->env->ops->monotonic_us(c->config->env) < until_us) {
            rd_kafka_message_t *m = rd_kafka_consume(topic, 0, 100);
            if (m == NULL)
                continue;
            if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                see_marker(c, m, epoch);
            at_end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            rd_kafka_message_destroy(m);
        }
        rd_kafka_consume_stop(topic, 0);
    }
    if (!at_end)
        status = MR_FAIL(err, MR_IO, 0, "kafka sink: topic %s can't be read to its end in %d s",
                         MR_KAFKA_MARKER_TOPIC, READ_MS / 1000);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(consumer);
    return status;
}

enum mr_status mr_kafka_marker_write(struct mr_kafka_committer *c, uint64_t epoch,
                                     struct mr_text offsets, struct mr_error *err)
{
    struct mr_buffer value;

    mr_arena_reset(&c->scratch);
    mr_buffer_init(&value, &c->scratch);
    mr_buffer_append_format(&value, "%llu ", (unsigned long long)epoch);
    mr_buffer_append_text(&value, offsets);
    rd_kafka_resp_err_t rc = rd_kafka_producev(
        c->producer, RD_KAFKA_V_TOPIC(MR_KAFKA_MARKER_TOPIC), RD_KAFKA_V_PARTITION(0),
        RD_KAFKA_V_KEY(c->config->query_id, strlen(c->config->query_id)),
        RD_KAFKA_V_VALUE(value.data, value.n), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_END);
    return rc ? MR_FAIL(err, MR_IO, 0, "kafka sink: marker of epoch %llu: %s",
                        (unsigned long long)epoch, rd_kafka_err2str(rc))
              : MR_OK;
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct mr_kafka_committer *c = opaque;
    int none = 0;

    (void)rk;
    /* Relaxed: it is read after commit_transaction, whose flush orders it. */
    if (m->err)
        atomic_compare_exchange_strong_explicit(&c->delivery_error, &none, (int)m->err,
                                                memory_order_relaxed, memory_order_relaxed);
}

enum mr_status mr_kafka_producer_open(struct mr_kafka_committer *c, struct mr_error *err)
{
    rd_kafka_conf_t *conf;
    char id[256];
    enum mr_status status =
        mr_kafka_conf_make(c->config->options, c->config->options_n, MR_KAFKA_PRODUCER, &conf, err);

    if (status != MR_OK)
        return status;
    snprintf(id, sizeof id, "millrace-%s", c->config->query_id);
    mr_kafka_conf_set(conf, "transactional.id", id);
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_opaque(conf, c);
    status = mr_kafka_client(conf, MR_KAFKA_PRODUCER, &c->producer, err);
    if (status != MR_OK)
        return status;
    rd_kafka_error_t *e = rd_kafka_init_transactions(c->producer, TRANSACTION_MS);
    for (int i = 0; e && rd_kafka_error_is_retriable(e) && i < 5; i++) {
        rd_kafka_error_destroy(e);
        e = rd_kafka_init_transactions(c->producer, TRANSACTION_MS);
    }
    if (e) {
        status = MR_FAIL(err, MR_IO, 0, "kafka sink: transactions can't start: %s",
                         rd_kafka_error_string(e));
        rd_kafka_error_destroy(e);
        return status;
    }
    if (c->topic)
        c->handle = rd_kafka_topic_new(c->producer, c->topic, NULL);
    return MR_OK;
}

void mr_kafka_producer_close(struct mr_kafka_committer *c)
{
    if (c->handle)
        rd_kafka_topic_destroy(c->handle);
    c->handle = NULL;
    if (c->producer) {
        /* What was not committed must not go out: nothing is flushed. */
        rd_kafka_purge(c->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_destroy(c->producer);
    }
    c->producer = NULL;
    c->in_transaction = false;
}
