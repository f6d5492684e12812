#include "io/kafka/kafka_source.h"

#include "core/base/time.h"
#include "core/format/value.h"
#include "io/options.h"
#include <stdlib.h>
#include <strings.h>

static const char *const known[] = {
    "assign: partitions as JSON, {\"topic\":[0,1]}",
    "failOnDataLoss: fail when offsets are gone, else go on and say which (true)",
    "fetchOffset.numRetries: tries to get offsets (3)",
    "fetchOffset.retryIntervalMs: between the tries (1000)",
    "groupIdPrefix: accepted; no consumer group is used",
    "includeHeaders: a column headers ARRAY<STRUCT<key, value>> (false)",
    "kafka.*: the client's, by Java's names",
    "kafkaConsumer.pollTimeoutMs: accepted; fetching never waits for a poll",
    "maxOffsetsPerTrigger: offsets per epoch, over all partitions (no limit)",
    "maxRecordsPerPartition: accepted",
    "maxTriggerDelay: longest wait for minOffsetsPerTrigger (15m)",
    "minOffsetsPerTrigger: an epoch waits for so many offsets (1)",
    "minPartitions: accepted; partitions are shared by all workers",
    "startingOffsets: earliest, latest or JSON, {\"topic\":{\"0\":23,\"1\":-2}} (latest)",
    "startingOffsetsByTimestamp: JSON, {\"topic\":{\"0\":milliseconds}}",
    "startingOffsetsByTimestampStrategy: no offset for a timestamp: error or latest (error)",
    "startingTimestamp: milliseconds since 1970, for all partitions",
    "subscribe: topics, separated by commas",
    "subscribePattern: topics that match this regular expression",
    NULL,
};

static enum mr_status wrong(struct mr_error *err, const struct mr_option *o, const char *allowed)
{
    return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                             "Invalid value '%s' for option '%s', must be %s", o->value, o->name,
                             allowed);
}

static enum mr_status read_number(const struct mr_option *o, uint64_t *out, struct mr_error *err)
{
    char *end;

    *out = strtoull(o->value, &end, 10);
    if (*o->value < '0' || *o->value > '9' || *end)
        return wrong(err, o, "an integer of 0 or more");
    return MR_OK;
}

static enum mr_status read_boolean(const struct mr_option *o, bool *out, struct mr_error *err)
{
    *out = strcasecmp(o->value, "true") == 0;
    if (!*out && strcasecmp(o->value, "false") != 0)
        return wrong(err, o, "'true' or 'false'");
    return MR_OK;
}

static enum mr_status read_delay(const struct mr_option *o, int64_t *us, struct mr_error *err)
{
    struct mr_calendar_interval i;
    char *end;
    long long n = strtoll(o->value, &end, 10);
    int64_t unit = strcmp(end, "ms") == 0  ? 1000
                   : strcmp(end, "s") == 0 ? MR_US_PER_SECOND
                   : strcmp(end, "m") == 0 ? MR_US_PER_MINUTE
                   : strcmp(end, "h") == 0 ? MR_US_PER_HOUR
                                           : 0;

    if (unit && n >= 0)
        return __builtin_mul_overflow(n, unit, us) ? wrong(err, o, "a shorter duration") : MR_OK;
    if (!mr_value_parse_interval(mr_text_of(o->value), &i) || i.months || i.days < 0 || i.us < 0)
        return wrong(err, o, "a duration, as 15m or '90 seconds'");
    *us = i.days * MR_US_PER_DAY + i.us;
    return MR_OK;
}

static enum mr_status read_start(const struct mr_option *o, struct mr_kafka_options *out,
                                 struct mr_error *err)
{
    if (out->start >= MR_KAFKA_START_TIMESTAMP)
        return MR_OK; /* timestamps come first */
    if (strcasecmp(o->value, "earliest") == 0)
        out->start = MR_KAFKA_START_EARLIEST;
    else if (strcasecmp(o->value, "latest") == 0)
        out->start = MR_KAFKA_START_LATEST;
    else if (o->value[0] == '{')
        out->start = MR_KAFKA_START_OFFSETS;
    else
        return wrong(err, o, "'earliest', 'latest' or JSON as {\"topic\":{\"0\":23,\"1\":-2}}");
    out->start_json = out->start == MR_KAFKA_START_OFFSETS ? o->value : out->start_json;
    return MR_OK;
}

/* Precedence: one timestamp for all, then timestamps per partition, then offsets. */
static enum mr_status read_timestamp(const struct mr_option *o, struct mr_kafka_options *out,
                                     struct mr_error *err)
{
    uint64_t ms;

    if (strcasecmp(o->name, "startingOffsetsByTimestamp") == 0) {
        if (out->start != MR_KAFKA_START_TIMESTAMP) {
            out->start = MR_KAFKA_START_TIMESTAMPS;
            out->start_json = o->value;
        }
        return MR_OK;
    }
    out->start = MR_KAFKA_START_TIMESTAMP;
    enum mr_status status = read_number(o, &ms, err);
    out->start_ms = (int64_t)ms;
    return status;
}

static enum mr_status read_one(const struct mr_option *o, struct mr_kafka_options *out,
                               uint32_t *ways, struct mr_error *err)
{
    static const char *const subscriptions[] = {"subscribe", "subscribePattern", "assign"};
    uint64_t n;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < 3; i++)
        if (strcasecmp(o->name, subscriptions[i]) == 0) {
            out->subscription = (enum mr_kafka_subscription)i;
            out->topics = o->value;
            (*ways)++;
            return o->value[0] ? MR_OK : wrong(err, o, "not empty");
        }
    if (strcasecmp(o->name, "startingOffsets") == 0)
        return read_start(o, out, err);
    if (strcasecmp(o->name, "startingTimestamp") == 0 ||
        strcasecmp(o->name, "startingOffsetsByTimestamp") == 0)
        return read_timestamp(o, out, err);
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
    if (strcasecmp(o->name, "maxOffsetsPerTrigger") == 0)
        return read_number(o, &out->offsets_max, err);
    if (strcasecmp(o->name, "minOffsetsPerTrigger") == 0)
        return read_number(o, &out->offsets_min, err);
    if (strcasecmp(o->name, "maxTriggerDelay") == 0)
        return read_delay(o, &out->delay_max_us, err);
    if (strcasecmp(o->name, "fetchOffset.numRetries") == 0) {
        status = read_number(o, &n, err);
        out->retries = (uint32_t)n;
    } else if (strcasecmp(o->name, "fetchOffset.retryIntervalMs") == 0) {
        status = read_number(o, &n, err);
        out->retry_us = (int64_t)n * 1000;
    } else if (strncasecmp(o->name, "endingOffsets", 13) == 0 ||
               strcasecmp(o->name, "endingTimestamp") == 0) {
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "%s not allowed in streaming queries", o->name);
    }
    return status;
}

enum mr_status mr_kafka_options_read(const struct mr_table *table, struct mr_kafka_options *out,
                                     struct mr_error *err)
{
    uint32_t ways = 0;

    *out = (struct mr_kafka_options){.fail_on_data_loss = true,
                                     .delay_max_us = 15 * MR_US_PER_MINUTE,
                                     .retries = 3,
                                     .retry_us = MR_US_PER_SECOND};
    for (uint32_t i = 0; i < table->options_n; i++) {
        enum mr_status read = read_one(&table->options[i], out, &ways, err);
        if (read != MR_OK)
            return read;
    }
    enum mr_status status =
        mr_io_options_check(table->options, table->options_n, known, "source kafka", err);
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
                                 "source \"%s\": minOffsetsPerTrigger (%llu) is above "
                                 "maxOffsetsPerTrigger (%llu)",
                                 table->name, (unsigned long long)out->offsets_min,
                                 (unsigned long long)out->offsets_max);
    return mr_kafka_conf_check(table->options, table->options_n, MR_KAFKA_CONSUMER, err);
}
