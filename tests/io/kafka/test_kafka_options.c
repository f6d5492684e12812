/* Names and values of the Kafka source's and sink's options: what is taken, how it is understood,
 * and what is said about the rest. */
#include "io/kafka/kafka_sink.h"
#include "io/kafka/kafka_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka needs those above */
#include <cmocka.h>

#define SECRET "opensesame42"
#define SERVERS                                                                                    \
    {                                                                                              \
        "kafka.bootstrap.servers", "localhost:1"                                                   \
    }

static jmp_buf escape;
static struct mr_arena arena;
static struct mr_error err;
static struct mr_kafka_options got;

/* As a source's option, with what every source needs; subscribe too unless name is a way itself. */
static enum mr_status read_with(const char *name, const char *value, const char *name2,
                                const char *value2)
{
    struct mr_option o[5] = {SERVERS, {name, value}};
    uint32_t n = 2;

    if (strcmp(name, "assign") != 0 && strncmp(name, "subscribe", 9) != 0)
        o[n++] = (struct mr_option){"subscribe", "t"};
    if (name2)
        o[n++] = (struct mr_option){name2, value2};
    const struct mr_table table = {.name = "s", .format = "kafka", .options = o, .options_n = n};
    err = (struct mr_error){0};
    enum mr_status status = mr_kafka_options_read(&table, &arena, &got, &err);
    assert_int_equal(mr_source_kafka.check(&table, NULL), status);
    return status;
}

static enum mr_status read_one(const char *name, const char *value)
{
    return read_with(name, value, NULL, NULL);
}

static void takes(const char *name, const char *value)
{
    if (read_one(name, value) != MR_OK)
        fail_msg("%s=%s: %s", name, value, err.message);
}

static void refuses(const char *name, const char *value, const char *says)
{
    if (read_one(name, value) != MR_USER || strstr(err.message, says) == NULL ||
        strstr(err.message, SECRET) != NULL)
        fail_msg("%s=%s: \"%s\" instead of \"%s\"", name, value, err.message, says);
}

static void test_subscriptions(void **state)
{
    (void)state;
    takes("subscribe", "a, b");
    assert_int_equal(got.subscription, MR_KAFKA_SUBSCRIBE);
    takes("subscribepattern", "ev.*");
    assert_int_equal(got.subscription, MR_KAFKA_PATTERN);
    takes("assign", "{\"a\":[0,2],\"b\":[1]}");
    assert_int_equal(got.subscription, MR_KAFKA_ASSIGN);
    assert_int_equal(got.assigned.n, 3);
    assert_string_equal(got.assigned.items[1].topic, "a");
    assert_int_equal(got.assigned.items[1].number, 2);
    assert_string_equal(got.assigned.items[2].topic, "b");
    refuses("subscribe", " ", "must be not empty");
    refuses("subscribePattern", "ev(", "must be a regular expression");
    static const char *const bad[] = {"t",
                                      "[0]",
                                      "{\"t\":0}",
                                      "{\"t\":[\"x\"]}",
                                      "{\"t\":[-1]}",
                                      "{\"t\":[null]}",
                                      "{\"t\":null}",
                                      "{}",
                                      "{\"t\":[0]",
                                      "{\"t\":[1.5]}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("assign", bad[i], "for option 'assign', got");
    assert_int_equal(read_with("subscribe", "t", "subscribePattern", "t"), MR_USER);
    assert_non_null(strstr(err.message, "exactly one of subscribe, subscribePattern, assign"));
}

static void test_starts(void **state)
{
    (void)state;
    takes("groupIdPrefix", "x");
    assert_int_equal(got.start, MR_KAFKA_START_LATEST);
    takes("startingOffsets", "Earliest");
    assert_int_equal(got.start, MR_KAFKA_START_EARLIEST);
    takes("startingOffsets", "LATEST");
    assert_int_equal(got.start, MR_KAFKA_START_LATEST);
    takes("startingOffsets",
          "{\"t\":{\"0\":23,\"1\":-2,\"12\":-1},\"u\":{\"0\":9007199254740993}}");
    assert_int_equal(got.start, MR_KAFKA_START_OFFSETS);
    assert_int_equal(got.places.n, 4);
    assert_int_equal(got.places.items[0].value, 23);
    assert_int_equal(got.places.items[1].value, MR_KAFKA_EARLIEST);
    assert_int_equal(got.places.items[2].number, 12);
    assert_int_equal(got.places.items[2].value, MR_KAFKA_LATEST);
    assert_string_equal(got.places.items[3].topic, "u");
    assert_int_equal(got.places.items[3].value, 9007199254740993);
    takes("startingOffsetsByTimestamp", "{\"t\":{\"0\":1700000000000}}");
    assert_int_equal(got.start, MR_KAFKA_START_TIMESTAMPS);
    assert_int_equal(got.places.items[0].value, 1700000000000);
    takes("startingTimestamp", "1700000000000");
    assert_int_equal(got.start, MR_KAFKA_START_TIMESTAMP);
    assert_int_equal(got.start_ms, 1700000000000);
    takes("startingOffsetsByTimestampStrategy", "latest");
    assert_true(got.latest_if_no_offset);
    takes("startingOffsetsByTimestampStrategy", "ERROR");
    assert_false(got.latest_if_no_offset);
}

static void test_wrong_starts(void **state)
{
    static const char *const bad[] = {"{\"t\":{\"0\":-3}}",
                                      "{\"t\":{\"x\":1}}",
                                      "{\"t\":{\"-1\":1}}",
                                      "{\"t\":{\"0\":\"a\"}}",
                                      "{\"t\":{\"0\":null}}",
                                      "{\"t\":[1]}",
                                      "{\"t\":1}",
                                      "{\"t\":{\"0\":1}",
                                      "{\"t\":null}",
                                      "{\"t\":{\"0\":1.5}}",
                                      "{\"t\":{\"4294967296\":1}}"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses("startingOffsets", bad[i], "for option 'startingOffsets', got");
    refuses("startingOffsets", "erliest", "must be 'earliest', 'latest' or JSON");
    refuses("startingOffsetsByTimestamp", "{\"t\":{\"0\":-1}}",
            "'startingOffsetsByTimestamp', got");
    refuses("startingOffsetsByTimestamp", "latest", "'startingOffsetsByTimestamp', got");
    refuses("startingTimestamp", "yesterday", "'startingTimestamp', must be an integer in [0, ");
    refuses("startingTimestamp", "99999999999999999999", "must be an integer in [0, ");
    refuses("startingOffsetsByTimestampStrategy", "earliest", "must be 'error' or 'latest'");
    refuses("endingOffsets", "latest", "endingOffsets not allowed in streaming queries");
    refuses("endingOffsetsByTimestamp", "{}", "not allowed in streaming queries");
    refuses("endingTimestamp", "1", "endingTimestamp not allowed in streaming queries");
}

/* One timestamp wins over timestamps, and those over offsets, in whichever order they stand. */
static void test_precedence(void **state)
{
    static const char *const names[] = {"startingOffsets", "startingOffsetsByTimestamp",
                                        "startingTimestamp"};
    static const char *const values[] = {"{\"t\":{\"0\":5}}", "{\"t\":{\"0\":7}}", "9"};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (i == j)
                continue;
            assert_int_equal(read_with(names[i], values[i], names[j], values[j]), MR_OK);
            int wins = i > j ? i : j;
            assert_int_equal(got.start, MR_KAFKA_START_OFFSETS + wins);
            assert_int_equal(wins == 2 ? got.start_ms : got.places.items[0].value, 5 + 2 * wins);
        }
    /* What does not count must be right all the same. */
    assert_int_equal(read_with("startingTimestamp", "1", "startingOffsets", "now"), MR_USER);
}

static void test_numbers(void **state)
{
    static const char *const positive[] = {
        "maxOffsetsPerTrigger",   "minOffsetsPerTrigger",        "minPartitions",
        "maxRecordsPerPartition", "kafkaConsumer.pollTimeoutMs", NULL};

    (void)state;
    takes("groupIdPrefix", "x");
    assert_true(got.fail_on_data_loss && !got.include_headers && !got.read_committed);
    assert_int_equal(got.offsets_max, 0);
    assert_int_equal(got.retries, 3);
    assert_int_equal(got.retry_ms, 1000);
    assert_int_equal(got.delay_max_us, 900000000);
    takes("maxOffsetsPerTrigger", "9000000000");
    assert_int_equal(got.offsets_max, 9000000000);
    takes("minOffsetsPerTrigger", "7");
    assert_int_equal(got.offsets_min, 7);
    takes("fetchOffset.numRetries", "0");
    assert_int_equal(got.retries, 0);
    refuses("fetchOffset.numRetries", "4294967297", "must be an integer in [0, 2147483647]");
    takes("fetchOffset.retryIntervalMs", "10");
    assert_int_equal(got.retry_ms, 10);
    refuses("fetchOffset.retryIntervalMs", "18446744073709552", "must be an integer in [0, ");
    for (int i = 0; positive[i]; i++) {
        takes(positive[i], "1");
        refuses(positive[i], "0", "must be an integer in [1, ");
        refuses(positive[i], "-1", "must be an integer in [1, ");
        refuses(positive[i], "many", "must be an integer in [1, ");
        refuses(positive[i], "", "must be an integer in [1, ");
        refuses(positive[i], "18446744073709551617", "must be an integer in [1, ");
    }
    assert_int_equal(read_with("minOffsetsPerTrigger", "3", "maxOffsetsPerTrigger", "2"), MR_USER);
    assert_non_null(
        strstr(err.message, "minOffsetsPerTrigger (3) is above maxOffsetsPerTrigger (2)"));
}

static void test_other_values(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } delays[] = {{"15m", 900000000},      {"250ms", 250000},   {"1500", 1500000},
                  {"2h", 7200000000},      {"1d", 86400000000}, {"5 min", 300000000},
                  {"90 seconds", 90000000}};

    (void)state;
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        takes("maxTriggerDelay", delays[i].text);
        assert_int_equal(got.delay_max_us, delays[i].us);
    }
    refuses("maxTriggerDelay", "soon", "must be a duration");
    refuses("maxTriggerDelay", "-5s", "must be a duration");
    refuses("maxTriggerDelay", "1 month", "must be a duration");
    refuses("maxTriggerDelay", "9223372036854775807d", "must be a duration");
    refuses("maxTriggerDelay", "2147483647 days", "must be a duration");
    refuses("maxTriggerDelay", "106751991 days 100 hours", "must be a duration");
    takes("failOnDataLoss", "FALSE");
    assert_false(got.fail_on_data_loss);
    takes("includeHeaders", "true");
    assert_true(got.include_headers);
    refuses("failOnDataLoss", "no", "must be 'true' or 'false'");
    refuses("includeHeaders", "1", "must be 'true' or 'false'");
    takes("kafka.isolation.level", "read_committed");
    assert_true(got.read_committed);
    refuses("maxOffsetPerTrigger", "5", "did you mean \"maxOffsetsPerTrigger\"?");
    refuses("startingOffset", "5", "did you mean \"startingOffsets\"?");
    refuses("topic", "5", "there is no option \"topic\"");
}

static const char *conf_value(rd_kafka_conf_t *conf, const char *name)
{
    static char text[512];
    size_t n = sizeof text;

    assert_int_equal(rd_kafka_conf_get(conf, name, text, &n), RD_KAFKA_CONF_OK);
    return text;
}

/* Given as kafka.NAME, what librdkafka has under ours. */
static void becomes(enum mr_kafka_role role, const char *name, const char *value, const char *ours,
                    const char *want)
{
    char full[128];
    struct mr_option o[] = {SERVERS, {full, value}};
    rd_kafka_conf_t *conf = NULL;

    snprintf(full, sizeof full, "kafka.%s", name);
    err = (struct mr_error){0};
    if (mr_kafka_conf_make(o, 2, role, &conf, &err) != MR_OK)
        fail_msg("%s=%s: %s", name, value, err.message);
    if (ours && strcmp(conf_value(conf, ours), want) != 0)
        fail_msg("%s=%s: %s is \"%s\"", name, value, ours, conf_value(conf, ours));
    rd_kafka_conf_destroy(conf);
}

static void test_names_of_java(void **state)
{
    static const struct {
        const char *name, *value, *ours, *want;
    } both[] = {
        {"security.protocol", "SASL_SSL", "security.protocol", "sasl_ssl"},
        {"security.protocol", "SSL", "security.protocol", "ssl"},
        {"sasl.mechanism", "SCRAM-SHA-512", "sasl.mechanisms", "SCRAM-SHA-512"},
        {"ssl.truststore.location", "/ca.pem", "ssl.ca.location", "/ca.pem"},
        {"ssl.truststore.type", "PEM", NULL, NULL},
        {"ssl.truststore.password", "x", NULL, NULL},
        {"ssl.keystore.location", "/k.p12", "ssl.keystore.location", "/k.p12"},
        {"ssl.keystore.password", "pw", "ssl.keystore.password", "pw"},
        {"ssl.key.password", "pw", "ssl.key.password", "pw"},
        {"ssl.endpoint.identification.algorithm", "", "ssl.endpoint.identification.algorithm",
         "none"},
        {"ssl.enabled.protocols", "TLSv1.2,TLSv1.3", NULL, NULL},
        {"group.id", "mine", NULL, NULL},
        {"send.buffer.bytes", "131072", "socket.send.buffer.bytes", "131072"},
        {"receive.buffer.bytes", "65536", "socket.receive.buffer.bytes", "65536"},
        {"metadata.max.age.ms", "60000", "metadata.max.age.ms", "60000"},
        {"client.id", "me", "client.id", "me"},
        {"client.rack", "r1", "client.rack", "r1"},
        {"client.dns.lookup", "resolve_canonical_bootstrap_servers_only", "client.dns.lookup",
         "resolve_canonical_bootstrap_servers_only"},
        {"retry.backoff.ms", "8", "retry.backoff.ms", "8"},
        {"connections.max.idle.ms", "9000", "connections.max.idle.ms", "9000"},
        {"request.timeout.ms", "5000", NULL, NULL},
    };
    static const struct {
        const char *name, *value, *ours, *want;
    } reading[] = {
        {"fetch.max.wait.ms", "77", "fetch.wait.max.ms", "77"},
        {"fetch.min.bytes", "2", "fetch.min.bytes", "2"},
        {"fetch.max.bytes", "2000000", "fetch.max.bytes", "2000000"},
        {"max.partition.fetch.bytes", "3000000", "fetch.message.max.bytes", "3000000"},
        {"max.poll.records", "500", NULL, NULL},
        {"isolation.level", "read_committed", "isolation.level", "read_committed"},
        {"check.crcs", "false", "check.crcs", "false"},
    };
    static const struct {
        const char *name, *value, *ours, *want;
    } writing[] = {
        {"max.request.size", "5000000", "message.max.bytes", "5000000"},
        {"batch.size", "70000", "batch.size", "70000"},
        {"compression.type", "zstd", "compression.codec", "zstd"},
        {"buffer.memory", "1", NULL, NULL},
        {"linger.ms", "5", "queue.buffering.max.ms", "5"},
        {"acks", "all", NULL, NULL},
        {"acks", "-1", NULL, NULL},
        {"enable.idempotence", "true", "enable.idempotence", "true"},
        {"transaction.timeout.ms", "30000", "transaction.timeout.ms", "30000"},
        {"max.in.flight.requests.per.connection", "3", "max.in.flight.requests.per.connection",
         "3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++) {
        becomes(MR_KAFKA_CONSUMER, both[i].name, both[i].value, both[i].ours, both[i].want);
        becomes(MR_KAFKA_PRODUCER, both[i].name, both[i].value, both[i].ours, both[i].want);
    }
    for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++)
        becomes(MR_KAFKA_CONSUMER, reading[i].name, reading[i].value, reading[i].ours,
                reading[i].want);
    for (size_t i = 0; i < sizeof writing / sizeof writing[0]; i++)
        becomes(MR_KAFKA_PRODUCER, writing[i].name, writing[i].value, writing[i].ours,
                writing[i].want);
    becomes(MR_KAFKA_PRODUCER, "client.id", "x", "partitioner", "murmur2_random");
    becomes(MR_KAFKA_CONSUMER, "client.id", "x", "check.crcs", "true");
    becomes(MR_KAFKA_CONSUMER, "client.id", "x", "enable.auto.commit", "false");
    becomes(MR_KAFKA_CONSUMER, "client.id", "x", "isolation.level", "read_uncommitted");
}

/* A PEM key store has certificate and key in one file. */
static void test_pem_key_store(void **state)
{
    struct mr_option o[] = {
        SERVERS, {"kafka.ssl.keystore.location", "/me.pem"}, {"kafka.ssl.keystore.type", "PEM"}};
    rd_kafka_conf_t *conf;

    (void)state;
    assert_int_equal(mr_kafka_conf_make(o, 3, MR_KAFKA_CONSUMER, &conf, &err), MR_OK);
    assert_string_equal(conf_value(conf, "ssl.certificate.location"), "/me.pem");
    assert_string_equal(conf_value(conf, "ssl.key.location"), "/me.pem");
    rd_kafka_conf_destroy(conf);
}

static void test_jaas(void **state)
{
    static const char jaas[] = "org.apache.kafka.common.security.scram.ScramLoginModule required "
                               "username=\"al \\\"ice\" password='p w;';";
    struct mr_option o[] = {SERVERS, {"kafka.sasl.jaas.config", jaas}};
    rd_kafka_conf_t *conf;

    (void)state;
    assert_int_equal(mr_kafka_conf_make(o, 2, MR_KAFKA_CONSUMER, &conf, &err), MR_OK);
    assert_string_equal(conf_value(conf, "sasl.username"), "al \"ice");
    assert_string_equal(conf_value(conf, "sasl.password"), "p w;");
    assert_non_null(strstr(mr_kafka_conf_warning(conf), "not used"));
    mr_kafka_conf_set(conf, "security.protocol", "sasl_plaintext");
    assert_non_null(strstr(mr_kafka_conf_warning(conf), "nothing is encrypted"));
    mr_kafka_conf_set(conf, "security.protocol", "sasl_ssl");
    assert_null(mr_kafka_conf_warning(conf));
    rd_kafka_conf_destroy(conf);
    refuses("kafka.sasl.jaas.config",
            "PlainLoginModule required username=\"u\" secret=\"" SECRET "\";", "no password in it");
    refuses("kafka.sasl.jaas.config", "PlainLoginModule required password=\"" SECRET "\";",
            "no username in it");
    refuses("kafka.sasl.jaas.config", "Krb5LoginModule required key=\"" SECRET "\";",
            "only PlainLoginModule and ScramLoginModule");
}

/* Refused as in Spark, and what can't be done here; with the reason, never with a secret. */
static void test_refused(void **state)
{
    static const char *const forbidden[] = {"kafka.auto.offset.reset",
                                            "kafka.key.deserializer",
                                            "kafka.value.deserializer",
                                            "kafka.enable.auto.commit",
                                            "kafka.interceptor.classes",
                                            "kafka.key.serializer",
                                            "kafka.value.serializer",
                                            "kafka.transactional.id",
                                            "kafka.partitioner.class",
                                            "KAFKA.AUTO.OFFSET.RESET",
                                            NULL};
    struct mr_option none[] = {{"subscribe", "t"}};
    const struct mr_table table = {.name = "s", .options = none, .options_n = 1};

    (void)state;
    for (int i = 0; forbidden[i]; i++)
        refuses(forbidden[i], SECRET, "is not supported: ");
    refuses("kafka.metric.reporters", "a.B", "classes of Java can't be loaded");
    refuses("kafka.sasl.login.callback.handler.class", "a.B", "classes of Java can't be loaded");
    refuses("kafka.ssl.truststore.type", "JKS", "only PEM is understood, not JKS");
    refuses("kafka.ssl.keystore.type", "JKS", "only PEM and PKCS12 are understood, not JKS");
    refuses("kafka.fetch.min.byte", "1", "did you mean \"kafka.fetch.min.bytes\"?");
    refuses("kafka.ssl.truststore.locatio", SECRET,
            "did you mean \"kafka.ssl.truststore.location\"?");
    refuses("kafka.sasl.passwort", SECRET, "did you mean \"kafka.sasl.password\"?");
    refuses("kafka.request.timeout.m", "1", "did you mean \"kafka.request.timeout.ms\"?");
    refuses("kafka.security.protocol", "TLS", "kafka.security.protocol");
    refuses("kafka.fetch.min.bytes", "-1", "kafka.fetch.min.bytes");
    assert_int_equal(mr_kafka_options_read(&table, &arena, &got, &err), MR_USER);
    assert_non_null(strstr(err.message, "Option 'kafka.bootstrap.servers' must be specified"));
    none[0] = (struct mr_option){"kafka.bootstrap.servers", ""};
    assert_int_equal(mr_kafka_conf_check(none, 1, MR_KAFKA_CONSUMER, &err), MR_USER);
}

static void sink_refuses(const struct mr_type *schema, const char *name, const char *value,
                         const char *says)
{
    struct mr_option o[] = {SERVERS, {name, value}};
    struct mr_sink_config config = {
        .format = "kafka", .options = o, .options_n = name ? 2 : 1, .schema = schema};

    err = (struct mr_error){0};
    enum mr_status status = mr_sink_kafka.check(&config, &err);
    if (says == NULL && status != MR_OK)
        fail_msg("%s: %s", name, err.message);
    if (says &&
        (status != MR_USER || strstr(err.message, says) == NULL || strstr(err.message, SECRET)))
        fail_msg("%s=%s: \"%s\" instead of \"%s\"", name, value, err.message, says);
}

static void test_sink(void **state)
{
    static const struct mr_field value[] = {{"value", &mr_type_string, true}};
    static const struct mr_field key_only[] = {{"key", &mr_type_string, true}};
    static const struct mr_field with_topic[] = {{"VALUE", &mr_type_binary, true},
                                                 {"topic", &mr_type_string, true}};
    static const struct mr_field bad_value[] = {{"value", &mr_type_int, true}};
    static const struct mr_field bad_partition[] = {{"value", &mr_type_string, true},
                                                    {"partition", &mr_type_bigint, true}};
    static const struct mr_field bad_topic[] = {{"value", &mr_type_string, true},
                                                {"topic", &mr_type_int, true}};
    static const struct mr_field bad_headers[] = {{"value", &mr_type_string, true},
                                                  {"headers", &mr_type_string, true}};
#define SCHEMA(list)                                                                               \
    &(struct mr_type){                                                                             \
        .kind = MR_STRUCT, .fields_n = sizeof(list) / sizeof((list)[0]), .fields = list}

    (void)state;
    sink_refuses(SCHEMA(value), "topic", "t", NULL);
    sink_refuses(SCHEMA(with_topic), NULL, NULL, NULL);
    sink_refuses(SCHEMA(with_topic), "includeHeaders", "true", NULL);
    sink_refuses(SCHEMA(value), NULL, NULL, "'topic' is needed");
    sink_refuses(SCHEMA(key_only), "topic", "t", "needs a column \"value\"");
    sink_refuses(SCHEMA(bad_value), "topic", "t", "must be STRING or BINARY");
    sink_refuses(SCHEMA(bad_partition), "topic", "t", "\"partition\" must be INT");
    sink_refuses(SCHEMA(bad_topic), NULL, NULL, "\"topic\" must be STRING");
    sink_refuses(SCHEMA(bad_headers), "topic", "t", "ARRAY<STRUCT<key: STRING, value: BINARY>>");
    sink_refuses(SCHEMA(with_topic), "topics", "t", "did you mean \"topic\"?");
    sink_refuses(SCHEMA(with_topic), "subscribe", "t", "there is no option \"subscribe\"");
    sink_refuses(SCHEMA(with_topic), "kafka.acks", "1", "needs all, not 1");
    sink_refuses(SCHEMA(with_topic), "kafka.request.required.acks", "0", "needs all, not 0");
    sink_refuses(SCHEMA(with_topic), "kafka.enable.idempotence", "false", "needs true, not false");
    sink_refuses(SCHEMA(with_topic), "kafka.transactional.id", SECRET, "made from the query's id");
    sink_refuses(SCHEMA(with_topic), "kafka.compression.type", "rar", "kafka.compression.type");
}

/* What a column of headers may be: a list of pairs of a name and bytes. */
static void test_headers_of_sink(void **state)
{
    static const struct {
        const struct mr_type *name, *value; /* value NULL: no pair */
        bool is_taken;
    } cases[] = {
        {&mr_type_string, &mr_type_binary, true}, {&mr_type_string, &mr_type_string, true},
        {&mr_type_string, &mr_type_int, false},   {&mr_type_binary, &mr_type_binary, false},
        {&mr_type_string, NULL, false},
    };
    const struct mr_type *numbers = mr_type_array(&arena, &mr_type_int, true);
    struct mr_field columns[] = {{"value", &mr_type_string, true}, {"headers", numbers, true}};
    const struct mr_type all = {.kind = MR_STRUCT, .fields_n = 2, .fields = columns};
    const char *says = "ARRAY<STRUCT<key: STRING, value: BINARY>>";

    (void)state;
    sink_refuses(&all, "topic", "t", says);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mr_field fields[] = {{"key", cases[i].name, true},
                                          {"value", cases[i].value, true}};
        const struct mr_type *pair = mr_type_struct(&arena, fields, cases[i].value ? 2 : 1);
        columns[1].type = mr_type_array(&arena, pair, true);
        sink_refuses(&all, "topic", "t", cases[i].is_taken ? NULL : says);
    }
    columns[1] = (struct mr_field){"key", &mr_type_int, true};
    sink_refuses(&all, "topic", "t", "must be STRING or BINARY");
}

/* What is no name of a value, and values without quotes. */
static void test_odd_jaas(void **state)
{
    static const struct {
        const char *text, *user, *password; /* user NULL: refused */
    } cases[] = {
        {"PlainLoginModule required username=u password=p;", "u", "p"},
        {"PlainLoginModule required\n\tpassword = p\n\tusername\t=u;", "u", "p"},
        {"PlainLoginModule required myusername=no username='u' password=\"p\\\"\\\\\";", "u",
         "p\"\\"},
        {"PlainLoginModule required username=\"u\" password=\"p", "u", "p"},
        {"PlainLoginModule required username=\"u\" password=\\", "u", "\\"},
        {"username=u password=p PlainLoginModule required;", "u", "p"},
        {"PlainLoginModule required password=\"a username=no;\" username=\"x\";", "x",
         "a username=no;"},
        {"PlainLoginModule required;username=u;password=p;", NULL, NULL},
        {"PlainLoginModule required username", NULL, NULL},
        {"PlainLoginModule required user=u password=p", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mr_option o[] = {SERVERS, {"kafka.sasl.jaas.config", cases[i].text}};
        rd_kafka_conf_t *conf;
        enum mr_status status = mr_kafka_conf_make(o, 2, MR_KAFKA_CONSUMER, &conf, &err);
        assert_int_equal(status, cases[i].user ? MR_OK : MR_USER);
        if (status != MR_OK)
            continue;
        assert_string_equal(conf_value(conf, "sasl.username"), cases[i].user);
        assert_string_equal(conf_value(conf, "sasl.password"), cases[i].password);
        rd_kafka_conf_destroy(conf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subscriptions), cmocka_unit_test(test_starts),
        cmocka_unit_test(test_wrong_starts),  cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_numbers),       cmocka_unit_test(test_other_values),
        cmocka_unit_test(test_names_of_java), cmocka_unit_test(test_pem_key_store),
        cmocka_unit_test(test_jaas),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sink),          cmocka_unit_test(test_headers_of_sink),
        cmocka_unit_test(test_odd_jaas),
    };

    mr_arena_init(&arena, NULL, &escape);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mr_arena_fini(&arena);
    return failed;
}
