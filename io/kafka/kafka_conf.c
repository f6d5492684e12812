#include "io/kafka/kafka_conf.h"

#include "core/base/check.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { VALUE_MAX = 8192, NAMES_MAX = 1024, TELL_US = 3000000 };

/* Java's name, librdkafka's name; NULL: taken and without effect here. */
static const struct {
    const char *java, *ours;
} renamed[] = {
    {"auto.include.jmx.reporter", NULL},
    {"buffer.memory", NULL},
    {"default.api.timeout.ms", NULL},
    {"exclude.internal.topics", NULL},
    {"fetch.max.wait.ms", "fetch.wait.max.ms"},
    {"group.id", NULL}, /* no consumer group is used */
    {"max.block.ms", NULL},
    {"max.poll.records", NULL},
    {"max.request.size", "message.max.bytes"},
    {"metadata.max.idle.ms", NULL},
    {"metrics.num.samples", NULL},
    {"metrics.recording.level", NULL},
    {"metrics.sample.window.ms", NULL},
    {"partition.assignment.strategy", NULL},
    {"partitioner.adaptive.partitioning.enable", NULL},
    {"partitioner.availability.timeout.ms", NULL},
    {"receive.buffer.bytes", "socket.receive.buffer.bytes"},
    {"sasl.kerberos.min.time.before.relogin", "sasl.kerberos.min.time.before.relogin"},
    {"sasl.kerberos.ticket.renew.jitter", NULL},
    {"sasl.kerberos.ticket.renew.window.factor", NULL},
    {"send.buffer.bytes", "socket.send.buffer.bytes"},
    {"socket.connection.setup.timeout.max.ms", NULL},
    {"ssl.enabled.protocols", NULL}, /* TLS 1.2 and newer */
    {"ssl.keymanager.algorithm", NULL},
    {"ssl.keystore.certificate.chain", "ssl.certificate.pem"},
    {"ssl.keystore.key", "ssl.key.pem"},
    {"ssl.protocol", NULL},
    {"ssl.provider", NULL},
    {"ssl.secure.random.implementation", NULL},
    {"ssl.trustmanager.algorithm", NULL},
    {"ssl.truststore.certificates", "ssl.ca.pem"},
    {"ssl.truststore.location", "ssl.ca.location"},
    {"ssl.truststore.password", NULL},
};

static const struct {
    const char *name, *reason;
} refused[] = {
    {"auto.offset.reset", "use startingOffsets"},
    {"enable.auto.commit", "offsets are kept in the checkpoint"},
    {"enable.auto.offset.store", "offsets are kept in the checkpoint"},
    {"enable.partition.eof", "it is always on"},
    {"group.instance.id", "no consumer group is used"},
    {"interceptor.classes", "interceptors can't be used"},
    {"key.deserializer", "keys are read as BINARY: use CAST"},
    {"key.serializer", "keys are written as they are"},
    {"partitioner.class", "give rows a column partition"},
    {"transactional.id", "it is made from the query's id"},
    {"value.deserializer", "values are read as BINARY: use CAST"},
    {"value.serializer", "values are written as they are"},
};

/* librdkafka lists only names that have a value: these have none by themselves. */
static const char *const without_value[] = {
    "bootstrap.servers",
    "client.rack",
    "metadata.broker.list",
    "plugin.library.paths",
    "sasl.jaas.config",
    "sasl.password",
    "sasl.username",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.cipher.suites",
    "ssl.crl.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.type",
    "ssl.certificate.location",
};

static bool is_secret(const char *name)
{
    return strcasestr(name, "password") || strcasestr(name, "secret") || strcasestr(name, "jaas") ||
           strcasestr(name, ".key") || strcasestr(name, "pem");
}

void mr_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[MR_KAFKA_ERROR_MAX];
    rd_kafka_conf_res_t rc = rd_kafka_conf_set(conf, name, value, text, sizeof text);

    MR_ASSERT(rc == RD_KAFKA_CONF_OK);
}

static enum mr_status unknown_name(const rd_kafka_conf_t *conf, const char *name,
                                   struct mr_error *err)
{
    const char *names[NAMES_MAX];
    rd_kafka_topic_conf_t *topic_conf = rd_kafka_topic_conf_new();
    size_t pairs[2];
    const char **dumps[2] = {rd_kafka_conf_dump((rd_kafka_conf_t *)(uintptr_t)conf, &pairs[0]),
                             rd_kafka_topic_conf_dump(topic_conf, &pairs[1])};
    uint32_t n = 0;

    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        names[n++] = renamed[i].java;
    for (size_t i = 0; i < sizeof without_value / sizeof without_value[0]; i++)
        names[n++] = without_value[i];
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < pairs[d] && n < NAMES_MAX; i += 2)
            names[n++] = dumps[d][i];
    const char *nearest = mr_error_nearest(name, names, n);
    enum mr_status status = MR_FAIL(
        err, MR_USER, 0,
        "option \"kafka.%s\": neither Kafka's Java client nor librdkafka has it%s%s%s", name,
        nearest ? "; did you mean \"kafka." : "", nearest ? nearest : "", nearest ? "\"?" : "");
    for (int d = 0; d < 2; d++)
        rd_kafka_conf_dump_free(dumps[d], pairs[d]);
    rd_kafka_topic_conf_destroy(topic_conf);
    return status;
}

static enum mr_status set_one(rd_kafka_conf_t *conf, const char *given, const char *name,
                              const char *value, struct mr_error *err)
{
    char text[MR_KAFKA_ERROR_MAX];

    switch (rd_kafka_conf_set(conf, name, value, text, sizeof text)) {
    case RD_KAFKA_CONF_OK:
        return MR_OK;
    case RD_KAFKA_CONF_UNKNOWN:
        return unknown_name(conf, given, err);
    default:
        return MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": %s", given,
                       is_secret(given) ? "the value is not accepted" : text);
    }
}

#define BLANKS " \t\r\n"

/* Copies the value at p, with quotes or without; gives what is behind it. */
static const char *take_jaas_value(const char *p, char *out, size_t out_bytes)
{
    char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
    size_t n = 0;

    while (*p && (quote ? *p != quote : strchr(BLANKS ";", *p) == NULL)) {
        p += *p == '\\' && p[1];
        if (n + 1 < out_bytes)
            out[n++] = *p;
        p++;
    }
    out[n] = '\0';
    return p + (quote && *p);
}

/* The value of a name in a JAAS text: a module, a flag, then name=value up to a semicolon. */
static bool jaas_value(const char *p, const char *name, char *out, size_t out_bytes)
{
    for (p += strspn(p, BLANKS); *p && *p != ';'; p += strspn(p, BLANKS)) {
        size_t n = strcspn(p, BLANKS "=;");
        bool is_it = n == strlen(name) && strncasecmp(p, name, n) == 0;
        p += n + strspn(p + n, BLANKS);
        if (*p != '=')
            continue; /* the module or the flag */
        p = take_jaas_value(p + 1 + strspn(p + 1, BLANKS), out, out_bytes);
        if (is_it)
            return true;
    }
    return false;
}

static enum mr_status set_jaas(rd_kafka_conf_t *conf, const char *value, struct mr_error *err)
{
    static const char option[] = "sasl.jaas.config";
    char text[VALUE_MAX];

    if (!strstr(value, "PlainLoginModule") && !strstr(value, "ScramLoginModule"))
        return MR_FAIL(
            err, MR_USER, 0,
            "option \"kafka.sasl.jaas.config\": only PlainLoginModule and ScramLoginModule "
            "are understood; or give kafka.sasl.username and kafka.sasl.password");
    enum mr_status status =
        jaas_value(value, "username", text, sizeof text)
            ? set_one(conf, option, "sasl.username", text, err)
            : MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": no username in it", option);
    if (status == MR_OK)
        status = jaas_value(value, "password", text, sizeof text)
                     ? set_one(conf, option, "sasl.password", text, err)
                     : MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": no password in it", option);
    explicit_bzero(text, sizeof text);
    return status;
}

/* Java's stores: PEM files have certificates and, in a key store, the key; key stores may be
 * PKCS12. */
static enum mr_status set_store(rd_kafka_conf_t *conf, const char *name, const char *value,
                                bool is_pem, struct mr_error *err)
{
    enum mr_status status;

    if (strcasecmp(name, "ssl.truststore.type") == 0 && strcasecmp(value, "PEM") != 0)
        return MR_FAIL(err, MR_USER, 0, "option \"kafka.%s\": only PEM is understood, not %s", name,
                       value);
    if (strcasecmp(name, "ssl.keystore.type") == 0 && strcasecmp(value, "PEM") != 0 &&
        strcasecmp(value, "PKCS12") != 0)
        return MR_FAIL(err, MR_USER, 0,
                       "option \"kafka.%s\": only PEM and PKCS12 are understood, not %s", name,
                       value);
    if (strcasecmp(name, "ssl.keystore.location") != 0)
        return MR_OK;
    if (!is_pem)
        return set_one(conf, name, name, value, err);
    status = set_one(conf, name, "ssl.certificate.location", value, err);
    return status == MR_OK ? set_one(conf, name, "ssl.key.location", value, err) : status;
}

/* Transactions need these as they are. */
static enum mr_status check_producer(const char *name, const char *value, struct mr_error *err)
{
    if ((strcasecmp(name, "enable.idempotence") == 0 && strcasecmp(value, "true") != 0) ||
        ((strcasecmp(name, "acks") == 0 || strcasecmp(name, "request.required.acks") == 0) &&
         strcasecmp(value, "all") != 0 && strcmp(value, "-1") != 0))
        return MR_FAIL(err, MR_USER, 0,
                       "option \"kafka.%s\": an epoch is a transaction, which needs %s, not %s",
                       name, strcasecmp(name, "enable.idempotence") == 0 ? "true" : "all", value);
    return MR_OK;
}

static bool is_store(const char *name)
{
    return strcasecmp(name, "ssl.truststore.type") == 0 ||
           strcasecmp(name, "ssl.keystore.type") == 0 ||
           strcasecmp(name, "ssl.keystore.location") == 0;
}

/* Java names its classes so: callbacks, engines, reporters. */
static bool is_java_class(const char *name)
{
    static const char *const ends[] = {".class", ".classes", ".reporters", ".providers"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t m = strlen(ends[i]);
        if (n > m && strcasecmp(name + n - m, ends[i]) == 0)
            return true;
    }
    return false;
}

static enum mr_status set_option(rd_kafka_conf_t *conf, enum mr_kafka_role role, const char *name,
                                 const char *value, bool is_pem, struct mr_error *err)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (strcasecmp(name, refused[i].name) == 0)
            return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                     "option \"kafka.%s\" is not supported: %s", name,
                                     refused[i].reason);
    if (is_java_class(name))
        return MR_FAIL(err, MR_USER, 0,
                       "option \"kafka.%s\" is not supported: classes of Java can't be loaded",
                       name);
    enum mr_status status = role == MR_KAFKA_PRODUCER ? check_producer(name, value, err) : MR_OK;
    if (status != MR_OK)
        return status;
    if (strcasecmp(name, "sasl.jaas.config") == 0)
        return set_jaas(conf, value, err);
    if (is_store(name))
        return set_store(conf, name, value, is_pem, err);
    if (strcasecmp(name, "ssl.endpoint.identification.algorithm") == 0 && value[0] == '\0')
        value = "none";
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (strcasecmp(name, renamed[i].java) == 0)
            return renamed[i].ours ? set_one(conf, name, renamed[i].ours, value, err) : MR_OK;
    return set_one(conf, name, name, value, err);
}

/* What we want where the user says nothing. librdkafka waits up to a second when its queue is full
 * and holds up to 64 MB a partition: both are turned down. Keys go to the partitions that Java's
 * client would choose, records may be as large, and an epoch may take as long as brokers allow by
 * default. */
static void set_defaults(rd_kafka_conf_t *conf, enum mr_kafka_role role)
{
    mr_kafka_conf_set(conf, "client.id", "millrace");
    mr_kafka_conf_set(conf, "log.connection.close", "false");
    if (role == MR_KAFKA_PRODUCER) {
        mr_kafka_conf_set(conf, "enable.idempotence", "true");
        mr_kafka_conf_set(conf, "linger.ms", "1");
        mr_kafka_conf_set(conf, "message.max.bytes", "1048576");
        mr_kafka_conf_set(conf, "partitioner", "murmur2_random");
        mr_kafka_conf_set(conf, "transaction.timeout.ms", "900000");
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
    /* Options of the other role are no fault: the sink reads with the producer's. */
    if (level <= 4 && strcmp(facility, "CONFWARN") != 0) /* warnings and worse */
        fprintf(stderr, "millrace: kafka: %s: %s\n", facility, text);
}

static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    struct mr_kafka_reports *reports = opaque;
    int none = 0;

    (void)rk;
    if (code != RD_KAFKA_RESP_ERR__SSL && code != RD_KAFKA_RESP_ERR__AUTHENTICATION &&
        code != RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED)
        return;
    if (!atomic_compare_exchange_strong_explicit(&reports->refused, &none, 1, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    snprintf(reports->refusal, sizeof reports->refusal, "%s", reason);
    /* Pairs with mr_kafka_refusal: the text is whole. */
    atomic_store_explicit(&reports->refused, 2, memory_order_release);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct mr_kafka_reports *reports = opaque;
    int none = 0;

    (void)rk;
    /* Relaxed: it is read after commit_transaction, whose flush orders it. */
    if (m->err)
        atomic_compare_exchange_strong_explicit(&reports->delivery_error, &none, (int)m->err,
                                                memory_order_relaxed, memory_order_relaxed);
}

const char *mr_kafka_refusal(rd_kafka_t *client, struct mr_kafka_reports *reports)
{
    rd_kafka_poll(client, 0);
    return atomic_load_explicit(&reports->refused, memory_order_acquire) == 2 ? reports->refusal
                                                                              : NULL;
}

const char *mr_kafka_conf_warning(const rd_kafka_conf_t *conf)
{
    char protocol[32] = "";
    size_t n = sizeof protocol, m = 0;

    rd_kafka_conf_get(conf, "security.protocol", protocol, &n);
    if (rd_kafka_conf_get(conf, "sasl.password", NULL, &m) != RD_KAFKA_CONF_OK || m <= 1)
        return NULL;
    if (strcmp(protocol, "plaintext") == 0 || strcmp(protocol, "ssl") == 0)
        return "a user's password is given, but not used: kafka.security.protocol is "
               "neither SASL_SSL nor SASL_PLAINTEXT";
    return strcmp(protocol, "sasl_plaintext") == 0
               ? "a user's password is given, and nothing is encrypted: "
                 "kafka.security.protocol should be SASL_SSL"
               : NULL;
}

enum mr_status mr_kafka_conf_make(const struct mr_option *options, uint32_t n,
                                  enum mr_kafka_role role, rd_kafka_conf_t **out,
                                  struct mr_error *err)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const char *type = mr_option_get(options, n, "kafka.ssl.keystore.type");
    bool is_pem = type && strcasecmp(type, "PEM") == 0;
    enum mr_status status = MR_OK;
    bool has_servers = false;

    set_defaults(conf, role);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    if (role == MR_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    for (uint32_t i = 0; i < n && status == MR_OK; i++) {
        if (strncasecmp(options[i].name, "kafka.", 6) != 0)
            continue;
        has_servers = has_servers || (options[i].value[0] &&
                                      strcasecmp(options[i].name, "kafka.bootstrap.servers") == 0);
        status = set_option(conf, role, options[i].name + 6, options[i].value, is_pem, err);
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

enum mr_status mr_kafka_client(rd_kafka_conf_t *conf, enum mr_kafka_role role,
                               struct mr_kafka_reports *reports, rd_kafka_t **out,
                               struct mr_error *err)
{
    char text[MR_KAFKA_ERROR_MAX];

    *reports = (struct mr_kafka_reports){0};
    rd_kafka_conf_set_opaque(conf, reports);
    *out = rd_kafka_new(role == MR_KAFKA_CONSUMER ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf,
                        text, sizeof text);
    if (*out)
        return MR_OK;
    rd_kafka_conf_destroy(conf);
    return MR_FAIL(err, MR_USER, 0, "kafka: %s", text);
}

bool mr_kafka_is_stopped(const _Atomic uint32_t *stop)
{
    /* Acquire: pairs with the release of mr_query_stop. */
    return stop && atomic_load_explicit(stop, memory_order_acquire) != 0;
}

void mr_kafka_tell_waiting(struct mr_kafka_reports *reports, int64_t waited_us, const char *who,
                           const struct mr_option *options, uint32_t n)
{
    if (reports->is_told || waited_us < TELL_US)
        return;
    reports->is_told = true;
    fprintf(stderr,
            "millrace: note: %s: no answer yet from kafka.bootstrap.servers %s; still trying\n",
            who, mr_option_get(options, n, "kafka.bootstrap.servers"));
}
