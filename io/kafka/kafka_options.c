#define PCRE2_CODE_UNIT_WIDTH 8
#include "io/kafka/kafka_source.h"

#include "core/base/time.h"
#include "core/format/value.h"
#include "io/options.h"
#include <pcre2.h>
#include <stddef.h>
#include <strings.h>

const char *const mr_kafka_source_options[] = {
    "assign: partitions as JSON, {\"topic\":[0,1]}",
    "failOnDataLoss: fail when offsets are gone, else go on and say which (true)",
    "fetchOffset.numRetries: tries to get offsets, after the first (3)",
    "fetchOffset.retryIntervalMs: between the tries (1000)",
    "groupIdPrefix: accepted; no consumer group is used",
    "includeHeaders: a column headers ARRAY<STRUCT<key, value>> (false)",
    "kafka.*: the client's, by Java's names",
    "kafkaConsumer.pollTimeoutMs: accepted; fetching never waits for a poll",
    "maxOffsetsPerTrigger: offsets per epoch, over all partitions (no limit)",
    "maxRecordsPerPartition: accepted; partitions are shared by all workers",
    "maxTriggerDelay: longest wait for minOffsetsPerTrigger (15m)",
    "minOffsetsPerTrigger: an epoch waits for so many offsets (1)",
    "minPartitions: accepted; partitions are shared by all workers",
    "startingOffsets: earliest, latest or JSON, {\"topic\":{\"0\":23,\"1\":-2}} (latest)",
    "startingOffsetsByTimestamp: JSON, {\"topic\":{\"0\":milliseconds}}",
    "startingOffsetsByTimestampStrategy: no offset for a timestamp: error or latest (error)",
    "startingTimestamp: milliseconds since 1970, for all partitions",
    "subscribe: topics, separated by commas",
    "subscribePattern: topics whose whole name matches this regular expression",
    NULL,
};

/* Numbers, and where they go; those that are only accepted go to ignored. */
static const struct {
    const char *name;
    int64_t min, max;
    size_t at;
} numbers[] = {
    {"fetchOffset.numRetries", 0, INT32_MAX, offsetof(struct mr_kafka_options, retries)},
    {"fetchOffset.retryIntervalMs", 0, INT32_MAX, offsetof(struct mr_kafka_options, retry_ms)},
    {"kafkaConsumer.pollTimeoutMs", 1, INT64_MAX, offsetof(struct mr_kafka_options, ignored)},
    {"maxOffsetsPerTrigger", 1, INT64_MAX, offsetof(struct mr_kafka_options, offsets_max)},
    {"maxRecordsPerPartition", 1, INT64_MAX, offsetof(struct mr_kafka_options, ignored)},
    {"minOffsetsPerTrigger", 1, INT64_MAX, offsetof(struct mr_kafka_options, offsets_min)},
    {"minPartitions", 1, INT32_MAX, offsetof(struct mr_kafka_options, ignored)},
    {"startingTimestamp", 0, INT64_MAX, offsetof(struct mr_kafka_options, start_ms)},
};

static enum mr_status wrong(struct mr_error *err, const struct mr_option *o, const char *allowed)
{
    return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                             "Invalid value '%s' for option '%s', must be %s", o->value, o->name,
                             allowed);
}

static enum mr_status read_number(const struct mr_option *o, size_t i, void *out,
                                  struct mr_error *err)
{
    char allowed[64];

    if (mr_value_parse_integer(mr_text_of(o->value), numbers[i].min, numbers[i].max, out))
        return MR_OK;
    snprintf(allowed, sizeof allowed, "an integer in [%lld, %lld]", (long long)numbers[i].min,
             (long long)numbers[i].max);
    return wrong(err, o, allowed);
}

static enum mr_status read_boolean(const struct mr_option *o, bool *out, struct mr_error *err)
{
    *out = strcasecmp(o->value, "true") == 0;
    if (!*out && strcasecmp(o->value, "false") != 0)
        return wrong(err, o, "'true' or 'false'");
    return MR_OK;
}

static enum mr_status read_subscription(const struct mr_option *o, enum mr_kafka_subscription kind,
                                        struct mr_arena *a, struct mr_kafka_options *out,
                                        struct mr_error *err)
{
    PCRE2_SIZE at;
    int code;

    if (mr_text_trim(mr_text_of(o->value)).n == 0)
        return wrong(err, o, "not empty");
    out->subscription = kind;
    out->topics = o->value;
    if (kind == MR_KAFKA_ASSIGN)
        return mr_kafka_read_assigned(o->value, a, &out->assigned, err);
    if (kind == MR_KAFKA_PATTERN) {
        pcre2_code *pattern =
            pcre2_compile((PCRE2_SPTR)o->value, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at, NULL);
        if (pattern == NULL)
            return wrong(err, o, "a regular expression");
        pcre2_code_free(pattern);
    }
    return MR_OK;
}

/* Precedence: one timestamp for all, then timestamps per partition, then offsets. */
static enum mr_status read_start(const struct mr_option *o, struct mr_arena *a,
                                 struct mr_kafka_options *out, struct mr_error *err)
{
    enum mr_kafka_start start;
    struct mr_kafka_places places = {0};
    enum mr_status status = MR_OK;

    if (strcasecmp(o->name, "startingTimestamp") == 0) {
        start = MR_KAFKA_START_TIMESTAMP;
    } else if (strcasecmp(o->name, "startingOffsetsByTimestamp") == 0) {
        start = MR_KAFKA_START_TIMESTAMPS;
        status = mr_kafka_read_places(o->value, "startingOffsetsByTimestamp", 0, a, &places, err);
    } else if (strcasecmp(o->value, "earliest") == 0) {
        start = MR_KAFKA_START_EARLIEST;
    } else if (strcasecmp(o->value, "latest") == 0) {
        start = MR_KAFKA_START_LATEST;
    } else if (o->value[0] == '{') {
        start = MR_KAFKA_START_OFFSETS;
        status =
            mr_kafka_read_places(o->value, "startingOffsets", MR_KAFKA_EARLIEST, a, &places, err);
    } else {
        return wrong(err, o, "'earliest', 'latest' or JSON as {\"topic\":{\"0\":23,\"1\":-2}}");
    }
    if (status == MR_OK && start > out->start) {
        out->start = start;
        out->places = places;
    }
    return status;
}

static enum mr_status read_one(const struct mr_option *o, struct mr_arena *a,
                               struct mr_kafka_options *out, uint32_t *ways, struct mr_error *err)
{
    static const char *const subscriptions[] = {"subscribe", "subscribePattern", "assign"};

    for (uint32_t i = 0; i < 3; i++)
        if (strcasecmp(o->name, subscriptions[i]) == 0) {
            (*ways)++;
            return read_subscription(o, (enum mr_kafka_subscription)i, a, out, err);
        }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcasecmp(o->name, numbers[i].name) == 0) {
            enum mr_status status = read_number(o, i, (char *)out + numbers[i].at, err);
            if (status != MR_OK)
                return status;
        }
    if (strcasecmp(o->name, "startingOffsets") == 0 ||
        strcasecmp(o->name, "startingTimestamp") == 0 ||
        strcasecmp(o->name, "startingOffsetsByTimestamp") == 0)
        return read_start(o, a, out, err);
    if (strcasecmp(o->name, "startingOffsetsByTimestampStrategy") == 0) {
        out->latest_if_no_offset = strcasecmp(o->value, "latest") == 0;
        return out->latest_if_no_offset || strcasecmp(o->value, "error") == 0
                   ? MR_OK
                   : wrong(err, o, "'error' or 'latest'");
    }
    if (strcasecmp(o->name, "failOnDataLoss") == 0)
        return read_boolean(o, &out->fail_on_data_loss, err);
    if (strcasecmp(o->name, "includeHeaders") == 0)
        return read_boolean(o, &out->include_headers, err);
    if (strcasecmp(o->name, "kafka.isolation.level") == 0)
        out->read_committed = strcasecmp(o->value, "read_committed") == 0;
    if (strcasecmp(o->name, "maxTriggerDelay") == 0 &&
        !mr_io_parse_duration(mr_text_of(o->value), 1000, &out->delay_max_us))
        return wrong(err, o, "a duration, as 15m or '90 seconds'");
    if (strncasecmp(o->name, "endingOffsets", 13) == 0 ||
        strcasecmp(o->name, "endingTimestamp") == 0)
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "%s not allowed in streaming queries", o->name);
    return MR_OK;
}

enum mr_status mr_kafka_options_read(const struct mr_table *table, struct mr_arena *a,
                                     struct mr_kafka_options *out, struct mr_error *err)
{
    uint32_t ways = 0;

    *out = (struct mr_kafka_options){.fail_on_data_loss = true,
                                     .delay_max_us = 15 * MR_US_PER_MINUTE,
                                     .retries = 3,
                                     .retry_ms = 1000};
    for (uint32_t i = 0; i < table->options_n; i++) {
        enum mr_status read = read_one(&table->options[i], a, out, &ways, err);
        if (read != MR_OK)
            return read;
    }
    enum mr_status status = mr_io_options_check(table->options, table->options_n,
                                                mr_kafka_source_options, "source kafka", err);
    if (status != MR_OK)
        return status;
    if (ways != 1)
        return MR_FAIL_CONDITION(
            err, MR_USER, "IllegalArgumentException",
            "source \"%s\": exactly one of subscribe, subscribePattern, assign "
            "must be specified, here are %u",
            table->name, ways);
    if (out->offsets_max && out->offsets_min > out->offsets_max)
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": minOffsetsPerTrigger (%lld) is above "
                                 "maxOffsetsPerTrigger (%lld)",
                                 table->name, (long long)out->offsets_min,
                                 (long long)out->offsets_max);
    return mr_kafka_conf_check(table->options, table->options_n, MR_KAFKA_CONSUMER, err);
}
