#include "io/kafka/kafka_conf.h"

#include "core/base/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { VALUE_MAX = 8192, ERROR_MAX = 512 };

/* Java's name, librdkafka's name; NULL: taken and without effect here. */
static const struct {
    const char *java, *ours;
} renamed[] = {
    {"buffer.memory", NULL},
    {"fetch.max.wait.ms", "fetch.wait.max.ms"},
    {"max.block.ms", NULL},
    {"max.poll.records", NULL},
    {"max.request.size", "message.max.bytes"},
    {"metadata.max.age.ms", "metadata.max.age.ms"},
    {"receive.buffer.bytes", "socket.receive.buffer.bytes"},
    {"request.timeout.ms", "request.timeout.ms"},
    {"sasl.kerberos.service.name", "sasl.kerberos.service.name"},
    {"send.buffer.bytes", "socket.send.buffer.bytes"},
    {"ssl.keystore.certificate.chain", "ssl.certificate.pem"},
    {"ssl.keystore.key", "ssl.key.pem"},
    {"ssl.keystore.type", NULL},
    {"ssl.protocol", NULL},
    {"ssl.truststore.certificates", "ssl.ca.pem"},
    {"ssl.truststore.location", "ssl.ca.location"},
    {"ssl.truststore.password", NULL},
    {"ssl.truststore.type", NULL},
};

static const struct {
    const char *name, *reason;
} refused[] = {
    {"auto.offset.reset", "use startingOffsets"},
    {"enable.auto.commit", "offsets are kept in the checkpoint"},
    {"interceptor.classes", "interceptors can't be used"},
    {"key.deserializer", "keys are read as BINARY: use CAST"},
    {"key.serializer", "keys are written as they are"},
    {"transactional.id", "it is made from the query's id"},
    {"value.deserializer", "values are read as BINARY: use CAST"},
    {"value.serializer", "values are written as they are"},
};

static bool is_secret(const char *name)
{
    return strstr(name, "password") || strstr(name, "secret") || strstr(name, "jaas") ||
           strstr(name, ".key") || strstr(name, "pem");
}

void mr_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[ERROR_MAX];
    rd_kafka_conf_res_t rc = rd_kafka_conf_set(conf, name, value, text, sizeof text);

    MR_ASSERT(rc == RD_KAFKA_CONF_OK);
}

static enum mr_status set_one(rd_kafka_conf_t *conf, const char *given, const char *name,
                              const char *value, struct mr_error *err)
{
    char text[ERROR_MAX];

    switch (rd_kafka_conf_set(conf, name, value, text, sizeof text)) {
    case RD_KAFKA_CONF_OK:
        return MR_OK;
    case RD_KAFKA_CONF_UNKNOWN:
        return MR_FAIL(err, MR_USER, 0,
                       "option \"kafka.%s\": neither Kafka's Java client nor librdkafka has it",
                       given);
    default:
        return MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": %s", given,
                       is_secret(given) ? "the value is not accepted" : text);
    }
}

/* The value of name="..." in a JAAS text. */
static bool jaas_value(const char *jaas, const char *name, char *out, size_t out_bytes)
{
    size_t n = strlen(name);

    for (const char *at = jaas; (at = strcasestr(at, name)) != NULL; at += n) {
        const char *p = at + n;
        if (at > jaas && at[-1] != ' ' && at[-1] != '\t' && at[-1] != '\n')
            continue;
        if (*p++ != '=')
            continue;
        char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
        size_t m = 0;
        while (*p && (quote ? *p != quote : *p != ' ' && *p != ';') && m + 1 < out_bytes) {
            if (*p == '\\' && p[1])
                p++;
            out[m++] = *p++;
        }
        out[m] = '\0';
        return true;
    }
    return false;
}

static enum mr_status set_jaas(rd_kafka_conf_t *conf, const char *value, struct mr_error *err)
{
    char text[VALUE_MAX];
    enum mr_status status;

    if (!strstr(value, "PlainLoginModule") && !strstr(value, "ScramLoginModule"))
        return MR_FAIL(
            err, MR_USER, 0,
            "option \"kafka.sasl.jaas.config\": only PlainLoginModule and ScramLoginModule "
            "are understood; or give kafka.sasl.username and kafka.sasl.password");
    if (!jaas_value(value, "username", text, sizeof text))
        return MR_FAIL(err, MR_USER, 0, "option \"kafka.sasl.jaas.config\": no username in it");
    status = set_one(conf, "sasl.jaas.config", "sasl.username", text, err);
    if (status != MR_OK)
        return status;
    bool has = jaas_value(value, "password", text, sizeof text);
    status = has ? set_one(conf, "sasl.jaas.config", "sasl.password", text, err)
                 : MR_FAIL(err, MR_USER, 0, "option \"kafka.sasl.jaas.config\": no password in it");
    explicit_bzero(text, sizeof text);
    return status;
}

static enum mr_status set_option(rd_kafka_conf_t *conf, const char *name, const char *value,
                                 struct mr_error *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (strcasecmp(name, refused[i].name) == 0)
            return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                     "option \"kafka.%s\" is not supported: %s", name,
                                     refused[i].reason);
    if (strcasecmp(name, "sasl.jaas.config") == 0)
        return set_jaas(conf, value, err);
    if (strcasecmp(name, "ssl.endpoint.identification.algorithm") == 0 && value[0] == '\0')
        value = "none";
    if ((strcasecmp(name, "ssl.truststore.type") == 0 ||
         strcasecmp(name, "ssl.keystore.type") == 0) &&
        strcasecmp(value, "PEM") != 0)
        return MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": only PEM is understood, not %s", name,
                       value);
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcasecmp(name, renamed[i].java) == 0)
            return renamed[i].ours ? set_one(conf, name, renamed[i].ours, value, err) : MR_OK;
    return set_one(conf, name, name, value, err);
}

/* What we want where the user says nothing. librdkafka waits up to a second when its queue is full
 * and holds up to 64 MB a partition: both are turned down. */
static void set_defaults(rd_kafka_conf_t *conf, enum mr_kafka_role role)
{
    mr_kafka_conf_set(conf, "client.id", "millrace");
    mr_kafka_conf_set(conf, "log.connection.close", "false");
    if (role == MR_KAFKA_PRODUCER) {
        mr_kafka_conf_set(conf, "enable.idempotence", "true");
        mr_kafka_conf_set(conf, "linger.ms", "1");
        return;
    }
    mr_kafka_conf_set(conf, "enable.auto.commit", "false");
    mr_kafka_conf_set(conf, "enable.auto.offset.store", "false");
    mr_kafka_conf_set(conf, "enable.partition.eof", "true");
    mr_kafka_conf_set(conf, "auto.offset.reset", "error");
    mr_kafka_conf_set(conf, "check.crcs", "true");
    mr_kafka_conf_set(conf, "fetch.queue.backoff.ms", "2");
    mr_kafka_conf_set(conf, "queued.max.messages.kbytes", "16384");
    mr_kafka_conf_set(conf, "fetch.wait.max.ms", "10");
    mr_kafka_conf_set(conf, "isolation.level", "read_uncommitted"); /* as Spark's */
}

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    if (level <= 4) /* warnings and worse */
        fprintf(stderr, "millrace: kafka: %s: %s\n", facility, text);
}

enum mr_status mr_kafka_conf_make(const struct mr_option *options, uint32_t n,
                                  enum mr_kafka_role role, rd_kafka_conf_t **out,
                                  struct mr_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum mr_status status = MR_OK;
    bool has_servers = false;

    set_defaults(conf, role);
    rd_kafka_conf_set_log_cb(conf, on_log);
    for (uint32_t i = 0; i < n && status == MR_OK; i++) {
        if (strncasecmp(options[i].name, "kafka.", 6) != 0)
            continue;
        has_servers = has_servers || strcasecmp(options[i].name, "kafka.bootstrap.servers") == 0;
        status = set_option(conf, options[i].name + 6, options[i].value, err);
    }
    if (status == MR_OK && !has_servers)
        status = MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                   "Option 'kafka.bootstrap.servers' must be specified for "
                                   "configuring Kafka consumer and producer");
    if (status != MR_OK) {
        rd_kafka_conf_destroy(conf);
        return status;
    }
    *out = conf;
    return MR_OK;
}

enum mr_status mr_kafka_conf_check(const struct mr_option *options, uint32_t n,
                                   enum mr_kafka_role role, struct mr_error *err)
{
    rd_kafka_conf_t *conf;
    enum mr_status status = mr_kafka_conf_make(options, n, role, &conf, err);

    if (status == MR_OK)
        rd_kafka_conf_destroy(conf);
    return status;
}

enum mr_status mr_kafka_client(rd_kafka_conf_t *conf, enum mr_kafka_role role, rd_kafka_t **out,
                               struct mr_error *err)
{
    char text[ERROR_MAX];

    *out = rd_kafka_new(role == MR_KAFKA_CONSUMER ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf,
                        text, sizeof text);
    if (*out)
        return MR_OK;
    rd_kafka_conf_destroy(conf);
    return MR_FAIL(err, MR_USER, 0, "kafka: %s", text);
}
