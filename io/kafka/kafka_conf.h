/* kafka_conf.h - Spark's kafka.* options -> librdkafka's configuration, and a client from it.
 *
 * Names    Java's client names are taken where they differ (ssl.truststore.location with PEM files,
 *          sasl.jaas.config, fetch.max.wait.ms, ..); names of librdkafka itself work too.
 * Secrets  Values of names with password, secret, jaas, key are never part of an error.
 * Refusal  A broker that refuses us (certificate, password) would be tried for ever: who waits for
 *          an answer asks mr_kafka_refusal now and then, and gives up with what it says.
 */
#pragma once
#include "core/op/sink.h"
#include <librdkafka/rdkafka.h>

enum mr_kafka_role { MR_KAFKA_CONSUMER, MR_KAFKA_PRODUCER };
enum { MR_KAFKA_ERROR_MAX = 512 };

/* What librdkafka's callbacks tell, on whichever thread calls into it; lives as long as the
 * client. */
struct mr_kafka_reports {
    _Atomic int refused; /* 0: no, 1: being written, 2: the text is whole */
    char refusal[MR_KAFKA_ERROR_MAX];
    _Atomic int delivery_error; /* of a producer: the first rd_kafka_resp_err_t */
    bool is_told;               /* that nobody answers */
};

/* Checks names and values, without connecting. */
MR_NODISCARD enum mr_status mr_kafka_conf_check(const struct mr_option *options, uint32_t n,
                                                enum mr_kafka_role role, struct mr_error *err);
/* A client's configuration; the caller hands it to mr_kafka_client or destroys it. */
MR_NODISCARD enum mr_status mr_kafka_conf_make(const struct mr_option *options, uint32_t n,
                                               enum mr_kafka_role role, rd_kafka_conf_t **out,
                                               struct mr_error *err);
/* Sets a value of ours. */
void mr_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value);
/* What to tell the user at start about a password and no encryption, or NULL. */
const char *mr_kafka_conf_warning(const rd_kafka_conf_t *conf);
/* Turns conf into a client; conf is taken. */
MR_NODISCARD enum mr_status mr_kafka_client(rd_kafka_conf_t *conf, enum mr_kafka_role role,
                                            struct mr_kafka_reports *reports, rd_kafka_t **out,
                                            struct mr_error *err);
/* The query is to end: who waits for a broker gives up. */
bool mr_kafka_is_stopped(const _Atomic uint32_t *stop);
/* Who waits for brokers says after some seconds, once, which ones don't answer. who: "source
 * \"a\"". */
void mr_kafka_tell_waiting(struct mr_kafka_reports *reports, int64_t waited_us, const char *who,
                           const struct mr_option *options, uint32_t n);
/* Why the brokers refuse this client, or NULL. */
const char *mr_kafka_refusal(rd_kafka_t *client, struct mr_kafka_reports *reports);
