/* kafka_sink.h - inside the Kafka sink.
 *
 * How      One transactional producer per query, shared by the writers (librdkafka is
 *          thread-safe). An epoch is one transaction; a record with the query's id as key and the
 *          epoch as value goes, in the same transaction, to the compacted topic millrace.epochs,
 *          which does not expire. After a crash, init_transactions ends what was left open, and
 *          the marker, read with read_committed, tells whether the last planned epoch is out.
 * Doubt    When the end of a transaction times out, the producer is thrown away, a new one asks
 *          Kafka to settle the transaction (init_transactions), and the marker decides: out, or
 *          failed.
 */
#pragma once
#include "io/kafka/kafka_conf.h"

#define MR_KAFKA_MARKER_TOPIC "millrace.epochs"

struct mr_kafka_sink_columns { /* indexes into the schema; -1: not there */
    int key, value, topic, headers, partition;
};

struct mr_kafka_committer {
    const struct mr_sink_config *config;
    struct mr_kafka_sink_columns columns;
    const char *topic; /* option, or NULL */
    rd_kafka_t *producer;
    rd_kafka_topic_t *handle; /* of topic */
    bool in_transaction;
    struct mr_arena scratch; /* of the marker */
    struct mr_kafka_reports reports;
};

struct mr_kafka_writer {
    struct mr_kafka_committer *committer;
    uint32_t at; /* rows of the batch already handed over, while it blocks */
};

/* kafka_marker.c */
MR_NODISCARD enum mr_status mr_kafka_marker_make_topic(struct mr_kafka_committer *c,
                                                       struct mr_error *err);
/* *epoch: UINT64_MAX when there is none. */
MR_NODISCARD enum mr_status mr_kafka_marker_read(struct mr_kafka_committer *c, uint64_t *epoch,
                                                 struct mr_error *err);
/* Into the current transaction. */
MR_NODISCARD enum mr_status mr_kafka_marker_write(struct mr_kafka_committer *c, uint64_t epoch,
                                                  struct mr_text offsets, struct mr_error *err);
/* A new producer, its transactions initialised: older ones of this query are fenced off. */
MR_NODISCARD enum mr_status mr_kafka_producer_open(struct mr_kafka_committer *c,
                                                   struct mr_error *err);
void mr_kafka_producer_close(struct mr_kafka_committer *c);
