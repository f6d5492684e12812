#include "io/kafka/kafka_sink.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALL_MS = 10000, INIT_MS = 60000, SLICE_MS = 200, READ_MS = 60000, WINDOW_FIRST = 1000 };

static bool has_topic(struct mr_kafka_committer *c)
{
    const struct rd_kafka_metadata *m;
    bool has = false;

    /* Asked for by its name, brokers that make topics by themselves would make it, not
     * compacted. */
    if (rd_kafka_metadata(c->producer, 1, NULL, &m, CALL_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        for (int i = 0; i < m->topic_cnt; i++)
            has = has || strcmp(m->topics[i].topic, MR_KAFKA_MARKER_TOPIC) == 0;
        rd_kafka_metadata_destroy(m);
    }
    return has;
}

/* Made once per cluster: one partition, compacted, so it holds one record per query. */
enum mr_status mr_kafka_marker_make_topic(struct mr_kafka_committer *c, struct mr_error *err)
{
    char text[256];
    rd_kafka_resp_err_t rc = RD_KAFKA_RESP_ERR__TIMED_OUT;

    if (has_topic(c))
        return MR_OK;
    rd_kafka_NewTopic_t *topic =
        rd_kafka_NewTopic_new(MR_KAFKA_MARKER_TOPIC, 1, -1, text, sizeof text);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(c->producer);
    rd_kafka_NewTopic_set_config(topic, "cleanup.policy", "compact");
    rd_kafka_NewTopic_set_config(topic, "segment.bytes", "16777216"); /* only full ones shrink */
    rd_kafka_CreateTopics(c->producer, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, CALL_MS);
    if (event) {
        size_t n = 0;
        const rd_kafka_topic_result_t **results = NULL;
        const rd_kafka_CreateTopics_result_t *result = rd_kafka_event_CreateTopics_result(event);
        rc = rd_kafka_event_error(event);
        if (result)
            results = rd_kafka_CreateTopics_result_topics(result, &n);
        if (n == 1)
            rc = rd_kafka_topic_result_error(results[0]);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(topic);
    if (rc == RD_KAFKA_RESP_ERR_NO_ERROR || rc == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return MR_OK;
    return MR_FAIL(err, MR_IO, 0, "kafka sink: can't make topic %s: %s", MR_KAFKA_MARKER_TOPIC,
                   rd_kafka_err2str(rc));
}

/* A stretch of the marker topic, and this query's last record in it. */
struct scan {
    int64_t from, until;
    int64_t offset; /* -1: none */
    uint64_t epoch; /* UINT64_MAX: none */
};

static void see_marker(const struct mr_kafka_committer *c, const rd_kafka_message_t *m,
                       struct scan *s)
{
    const char *id = c->config->query_id;
    char text[32] = "";

    if (m->key_len != strlen(id) || memcmp(m->key, id, m->key_len) != 0 || m->payload == NULL)
        return;
    memcpy(text, m->payload, m->len < sizeof text - 1 ? m->len : sizeof text - 1);
    s->offset = m->offset;
    s->epoch = strtoull(text, NULL, 10);
}

static enum mr_status open_consumer(struct mr_kafka_committer *c, const char *isolation,
                                    struct mr_kafka_reports *reports, rd_kafka_t **consumer,
                                    struct mr_error *err)
{
    rd_kafka_conf_t *conf;
    enum mr_status status =
        mr_kafka_conf_make(c->config->options, c->config->options_n, MR_KAFKA_CONSUMER, &conf, err);

    if (status != MR_OK)
        return status;
    mr_kafka_conf_set(conf, "isolation.level", isolation);
    return mr_kafka_client(conf, MR_KAFKA_CONSUMER, reports, consumer, err);
}

/* Up to s->until. With read_committed that may have to wait for transactions of other queries. */
static enum mr_status scan(struct mr_kafka_committer *c, rd_kafka_t *consumer, struct scan *s,
                           struct mr_error *err)
{
    struct mr_env *env = c->config->env;
    int64_t deadline_us = env->ops->monotonic_us(env) + READ_MS * INT64_C(1000);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(consumer, MR_KAFKA_MARKER_TOPIC, NULL);
    int64_t at = s->from;
    const char *why = "no answer";

    s->offset = -1;
    s->epoch = UINT64_MAX;
    if (rd_kafka_consume_start(topic, 0, s->from) == 0) {
        while (at < s->until && env->ops->monotonic_us(env) < deadline_us &&
               !mr_kafka_is_stopped(c->config->stop)) {
            rd_kafka_message_t *m = rd_kafka_consume(topic, 0, 100);
            if (m == NULL)
                continue;
            if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR && m->offset < s->until)
                see_marker(c, m, s);
            if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                at = m->offset + 1;
            else if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && m->offset > at)
                at = m->offset;
            why = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF
                      ? "a transaction of another query is still open"
                      : rd_kafka_err2str(m->err);
            rd_kafka_message_destroy(m);
        }
        rd_kafka_consume_stop(topic, 0);
    }
    rd_kafka_topic_destroy(topic);
    return at >= s->until
               ? MR_OK
               : MR_FAIL(err, MR_IO, 0, "kafka sink: topic %s can't be read to its end in %d s: %s",
                         MR_KAFKA_MARKER_TOPIC, READ_MS / 1000, why);
}

/* Backwards in growing windows, for a topic of many queries may be long. What is there at all is
 * read without regard to transactions; then read_committed tells which of it counts, and is known
 * to have got as far as our last record: another query's open transaction may hold it back. */
static enum mr_status find_marker(struct mr_kafka_committer *c, rd_kafka_t *all,
                                  rd_kafka_t *committed, uint64_t *epoch, struct mr_error *err)
{
    int64_t low, high;
    rd_kafka_resp_err_t rc =
        rd_kafka_query_watermark_offsets(all, MR_KAFKA_MARKER_TOPIC, 0, &low, &high, CALL_MS);

    if (rc)
        return MR_FAIL(err, MR_IO, 0, "kafka sink: topic %s: %s", MR_KAFKA_MARKER_TOPIC,
                       rd_kafka_err2str(rc));
    for (int64_t window = WINDOW_FIRST;; window *= 16) {
        int64_t from = high - window > low ? high - window : low;
        struct scan s = {.from = from, .until = high};
        enum mr_status status = scan(c, all, &s, err);
        if (status == MR_OK && s.offset >= 0) {
            s.until = s.offset + 1;
            status = scan(c, committed, &s, err);
        }
        *epoch = s.epoch;
        if (status != MR_OK || s.epoch != UINT64_MAX || from == low)
            return status;
    }
}

enum mr_status mr_kafka_marker_read(struct mr_kafka_committer *c, uint64_t *epoch,
                                    struct mr_error *err)
{
    struct mr_kafka_reports reports[2];
    rd_kafka_t *all = NULL, *committed = NULL;
    enum mr_status status = open_consumer(c, "read_uncommitted", &reports[0], &all, err);

    *epoch = UINT64_MAX;
    if (status == MR_OK)
        status = open_consumer(c, "read_committed", &reports[1], &committed, err);
    if (status == MR_OK)
        status = find_marker(c, all, committed, epoch, err);
    if (committed)
        rd_kafka_destroy(committed);
    if (all)
        rd_kafka_destroy(all);
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
    rd_kafka_resp_err_t rc;

    /* Records leave a full queue when they are out, or time out. */
    while ((rc = rd_kafka_producev(
                c->producer, RD_KAFKA_V_TOPIC(MR_KAFKA_MARKER_TOPIC), RD_KAFKA_V_PARTITION(0),
                RD_KAFKA_V_KEY(c->config->query_id, strlen(c->config->query_id)),
                RD_KAFKA_V_VALUE(value.data, value.n), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                RD_KAFKA_V_END)) == RD_KAFKA_RESP_ERR__QUEUE_FULL &&
           !mr_kafka_is_stopped(c->config->stop))
        rd_kafka_poll(c->producer, 1);
    return rc ? MR_FAIL(err, MR_IO, 0, "kafka sink: marker of epoch %llu: %s",
                        (unsigned long long)epoch, rd_kafka_err2str(rc))
              : MR_OK;
}

/* Fences older producers of this query off and settles what they left open. */
static enum mr_status init_transactions(struct mr_kafka_committer *c, struct mr_error *err)
{
    struct mr_env *env = c->config->env;
    int64_t begin_us = env->ops->monotonic_us(env), waited_us = 0;

    for (;;) {
        rd_kafka_error_t *e = rd_kafka_init_transactions(c->producer, SLICE_MS);
        if (e == NULL)
            return MR_OK;
        const char *refusal = mr_kafka_refusal(c->producer, &c->reports);
        waited_us = env->ops->monotonic_us(env) - begin_us;
        bool again = rd_kafka_error_is_retriable(e) && refusal == NULL &&
                     waited_us < INIT_MS * INT64_C(1000) && !mr_kafka_is_stopped(c->config->stop);
        mr_kafka_tell_waiting(&c->reports, waited_us, "sink", c->config->options,
                              c->config->options_n);
        if (!again)
            (void)MR_FAIL(
                err, MR_IO, 0,
                refusal ? "kafka sink: the broker can't be trusted or refuses us: %s"
                        : "kafka sink: no broker of kafka.bootstrap.servers lets transactions "
                          "start (is one running there?): %s",
                refusal ? refusal : rd_kafka_err2str(rd_kafka_error_code(e)));
        rd_kafka_error_destroy(e);
        if (!again)
            return MR_IO;
    }
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
    status = mr_kafka_client(conf, MR_KAFKA_PRODUCER, &c->reports, &c->producer, err);
    if (status == MR_OK)
        status = init_transactions(c, err);
    if (status == MR_OK && c->topic)
        c->handle = rd_kafka_topic_new(c->producer, c->topic, NULL);
    return status;
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
