/* kafka_client - what the Kafka tests need from a broker and millrace does not do itself.
 *
 * usage    kafka_client SERVERS topic NAME PARTITIONS [KEY=VALUE]..
 *          kafka_client SERVERS drop NAME
 *          kafka_client SERVERS grow NAME PARTITIONS
 *          kafka_client SERVERS truncate NAME PARTITION OFFSET      older records are deleted
 *          kafka_client SERVERS produce plain                       without a transaction
 *          kafka_client SERVERS produce commit|abort|open [ID]      a transaction; open: it stays
 *          open kafka_client SERVERS read NAME                           committed records, in
 *          order
 * Form     a line a record, fields separated by tabs: topic partition timestamp key value headers
 *          (read: partition offset key value headers); \N is null, headers are a=1;b=\N. */
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 6, WAIT_MS = 20000, TEXT = 512 };

static void check(int ok, const char *what, const char *why)
{
    if (ok)
        return;
    fprintf(stderr, "kafka_client: %s: %s\n", what, why);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[TEXT];

    check(rd_kafka_conf_set(conf, name, value, text, sizeof text) == RD_KAFKA_CONF_OK, name, text);
}

static rd_kafka_t *client(rd_kafka_type_t type, rd_kafka_conf_t *conf, const char *servers)
{
    char text[TEXT];

    set(conf, "bootstrap.servers", servers);
    rd_kafka_t *rk = rd_kafka_new(type, conf, text, sizeof text);
    check(rk != NULL, "client", text);
    return rk;
}

static void settle(rd_kafka_error_t *e, const char *what)
{
    check(e == NULL, what, e ? rd_kafka_error_string(e) : "");
}

/* The first result of an administrative call must be a success. */
static void admin_end(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    size_t n = 0;
    const rd_kafka_topic_result_t **topics = NULL;

    check(event != NULL, what, "no answer");
    check(!rd_kafka_event_error(event), what, rd_kafka_event_error_string(event));
    if (rd_kafka_event_CreateTopics_result(event))
        topics = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &n);
    if (rd_kafka_event_DeleteTopics_result(event))
        topics = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &n);
    if (rd_kafka_event_CreatePartitions_result(event))
        topics = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &n);
    for (size_t i = 0; i < n; i++)
        check(!rd_kafka_topic_result_error(topics[i]), what,
              rd_kafka_err2str(rd_kafka_topic_result_error(topics[i])));
    if (rd_kafka_event_DeleteRecords_result(event)) {
        const rd_kafka_topic_partition_list_t *list =
            rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
        check(!list->elems[0].err, what, rd_kafka_err2str(list->elems[0].err));
    }
    rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
}

static void admin(const char *servers, const char *what, int argc, char **argv)
{
    char text[TEXT];
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), servers);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);

    if (strcmp(what, "topic") == 0) {
        rd_kafka_NewTopic_t *topic =
            rd_kafka_NewTopic_new(argv[0], atoi(argv[1]), 1, text, sizeof text);
        check(topic != NULL, what, text);
        for (int i = 2; i < argc; i++) {
            char *equals = strchr(argv[i], '=');
            check(equals != NULL, argv[i], "no KEY=VALUE");
            *equals = '\0';
            rd_kafka_NewTopic_set_config(topic, argv[i], equals + 1);
        }
        rd_kafka_CreateTopics(rk, &topic, 1, NULL, queue);
    } else if (strcmp(what, "drop") == 0) {
        rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(argv[0]);
        rd_kafka_DeleteTopics(rk, &topic, 1, NULL, queue);
    } else if (strcmp(what, "grow") == 0) {
        rd_kafka_NewPartitions_t *more =
            rd_kafka_NewPartitions_new(argv[0], (size_t)atoi(argv[1]), text, sizeof text);
        check(more != NULL, what, text);
        rd_kafka_CreatePartitions(rk, &more, 1, NULL, queue);
    } else {
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, argv[0], atoi(argv[1]))->offset = atoll(argv[2]);
        rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);
        rd_kafka_DeleteRecords(rk, &records, 1, NULL, queue);
    }
    admin_end(queue, what);
}

static const char *or_null(const char *field)
{
    return strcmp(field, "\\N") == 0 ? NULL : field;
}

static rd_kafka_headers_t *headers_of(char *text)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(4);
    char *rest = NULL;

    for (char *pair = strtok_r(text, ";", &rest); pair; pair = strtok_r(NULL, ";", &rest)) {
        char *equals = strchr(pair, '=');
        check(equals != NULL, pair, "no a=b");
        *equals = '\0';
        const char *value = or_null(equals + 1);
        rd_kafka_header_add(headers, pair, -1, value, value ? (ssize_t)strlen(value) : 0);
    }
    return headers;
}

static void produce(const char *servers, const char *end, const char *id)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char *line = NULL;
    size_t room = 0;

    int is_plain = strcmp(end, "plain") == 0;

    if (!is_plain)
        set(conf, "transactional.id", id);
    set(conf, "linger.ms", "0");
    set(conf, "transaction.timeout.ms", "8000"); /* one that stays open ends soon */
    set(conf, "message.max.bytes", "20000000");
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, conf, servers);
    if (!is_plain) {
        settle(rd_kafka_init_transactions(rk, WAIT_MS), "init");
        settle(rd_kafka_begin_transaction(rk), "begin");
    }
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        char *fields[FIELDS], *rest = line;
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        for (int i = 0; i < FIELDS; i++)
            fields[i] = strsep(&rest, "\t");
        check(fields[FIELDS - 1] != NULL, line, "fields are missing");
        const char *key = or_null(fields[3]), *value = or_null(fields[4]);
        rd_kafka_resp_err_t rc = rd_kafka_producev(
            rk, RD_KAFKA_V_TOPIC(fields[0]), RD_KAFKA_V_PARTITION(atoi(fields[1])),
            RD_KAFKA_V_TIMESTAMP(atoll(fields[2])), RD_KAFKA_V_KEY(key, key ? strlen(key) : 0),
            RD_KAFKA_V_VALUE((void *)(uintptr_t)value, value ? strlen(value) : 0),
            RD_KAFKA_V_HEADERS(headers_of(fields[5])), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
            RD_KAFKA_V_END);
        check(!rc, "produce", rd_kafka_err2str(rc));
    }
    check(!rd_kafka_flush(rk, WAIT_MS), "flush", "not everything was delivered");
    if (is_plain || strcmp(end, "open") == 0)
        _exit(0);
    settle(strcmp(end, "abort") == 0 ? rd_kafka_abort_transaction(rk, WAIT_MS)
                                     : rd_kafka_commit_transaction(rk, WAIT_MS),
           end);
}

static void print_bytes(const void *data, size_t n, char end)
{
    if (data)
        fwrite(data, 1, n, stdout);
    else
        fputs("\\N", stdout);
    putchar(end);
}

static void print(const rd_kafka_message_t *m)
{
    rd_kafka_headers_t *headers;
    const char *name;
    const void *value;
    size_t n;

    printf("%d\t%lld\t", (int)m->partition, (long long)m->offset);
    print_bytes(m->key, m->key_len, '\t');
    print_bytes(m->payload, m->len, '\t');
    if (rd_kafka_message_headers(m, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
        for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &n); i++) {
            printf("%s%s=", i ? ";" : "", name);
            if (value)
                fwrite(value, 1, n, stdout);
            else
                fputs("\\N", stdout);
        }
    putchar('\n');
}

static void read_all(const char *servers, const char *name)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    const struct rd_kafka_metadata *m;

    set(conf, "enable.partition.eof", "true");
    set(conf, "isolation.level", "read_committed");
    set(conf, "fetch.wait.max.ms", "10");
    rd_kafka_t *rk = client(RD_KAFKA_CONSUMER, conf, servers);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, name, NULL);
    rd_kafka_resp_err_t rc = rd_kafka_metadata(rk, 0, topic, &m, WAIT_MS);
    check(!rc, name, rd_kafka_err2str(rc));
    for (int i = 0; i < m->topics[0].partition_cnt; i++) {
        int at_end = 0;
        rd_kafka_consume_start(topic, i, RD_KAFKA_OFFSET_BEGINNING);
        while (!at_end) {
            rd_kafka_message_t *message = rd_kafka_consume(topic, i, WAIT_MS);
            check(message != NULL, name, "no end in sight");
            at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            if (!message->err)
                print(message);
            rd_kafka_message_destroy(message);
        }
        rd_kafka_consume_stop(topic, i);
    }
}

int main(int argc, char **argv)
{
    check(argc >= 4, "usage", "see the head of its source");
    if (strcmp(argv[2], "produce") == 0)
        produce(argv[1], argv[3], argc > 4 ? argv[4] : "kafka_client");
    else if (strcmp(argv[2], "read") == 0)
        read_all(argv[1], argv[3]);
    else
        admin(argv[1], argv[2], argc - 3, argv + 3);
    fflush(stdout);
    _exit(0); /* the broker does not mind, and it is quicker */
}
