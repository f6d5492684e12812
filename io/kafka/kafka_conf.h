/* kafka_conf.h - Spark's kafka.* options -> librdkafka's configuration.
 *
 * Names    Java's client names are taken where they differ (ssl.truststore.location with PEM files,
 *          sasl.jaas.config, fetch.max.wait.ms, ..); names of librdkafka itself work too.
 * Secrets  Values of names with password, secret, jaas, key are never part of an error.
 */
#pragma once
#include "core/op/sink.h"
#include <librdkafka/rdkafka.h>

enum mr_kafka_role { MR_KAFKA_CONSUMER, MR_KAFKA_PRODUCER };

/* Checks names and values, without connecting. */
MR_NODISCARD enum mr_status mr_kafka_conf_check(const struct mr_option *options, uint32_t n,
                                                enum mr_kafka_role role, struct mr_error *err);
/* A client's configuration; the caller hands it to rd_kafka_new or destroys it. */
MR_NODISCARD enum mr_status mr_kafka_conf_make(const struct mr_option *options, uint32_t n,
                                               enum mr_kafka_role role, rd_kafka_conf_t **out,
                                               struct mr_error *err);
/* Sets a value of ours. */
void mr_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value);
/* Turns conf into a client; conf is taken. */
MR_NODISCARD enum mr_status mr_kafka_client(rd_kafka_conf_t *conf, enum mr_kafka_role role,
                                            rd_kafka_t **out, struct mr_error *err);
