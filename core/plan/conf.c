/* conf.c - one row for each of Spark's settings that a job may name. */
#include "core/plan/session.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum conf_kind { CONF_BOOL, CONF_COUNT, CONF_ZONE, CONF_POLICY, CONF_SIZE, CONF_NONE };

#define FIELD(name) offsetof(struct mr_conf, name)
/* name, kind, where it goes, default; CONF_NONE: accepted, without effect here; CONF_SIZE: the
 * same, but a count from 1 */
static const struct {
    const char *name;
    enum conf_kind kind;
    size_t offset;
    const char *initial;
} rows[] = {
    {"spark.sql.ansi.enabled", CONF_BOOL, FIELD(ansi), "true"},
    {"spark.sql.caseSensitive", CONF_BOOL, FIELD(case_sensitive), "false"},
    {"spark.sql.session.timeZone", CONF_ZONE, FIELD(zone), "UTC"},
    {"spark.sql.sources.partitionColumnTypeInference.enabled", CONF_BOOL,
     FIELD(infer_partition_types), "true"},
    {"spark.sql.streaming.minBatchesToRetain", CONF_COUNT, FIELD(min_batches_to_retain), "100"},
    {"spark.sql.streaming.multipleWatermarkPolicy", CONF_POLICY, FIELD(watermark_policy_max),
     "min"},
    {"spark.sql.streaming.noDataMicroBatches.enabled", CONF_BOOL, FIELD(no_data_batches), "true"},
    {"spark.sql.streaming.statefulOperator.checkCorrectness.enabled", CONF_BOOL,
     FIELD(check_correctness), "true"},
    {"spark.app.name", CONF_NONE, 0, NULL},
    {"spark.default.parallelism", CONF_SIZE, 0, NULL},
    {"spark.master", CONF_NONE, 0, NULL},
    {"spark.sql.adaptive.enabled", CONF_NONE, 0, NULL},
    {"spark.sql.files.maxPartitionBytes", CONF_NONE, 0, NULL},
    {"spark.sql.parquet.compression.codec", CONF_NONE, 0, NULL},
    {"spark.sql.shuffle.partitions", CONF_SIZE, 0, NULL},
    {"spark.sql.sources.partitionOverwriteMode", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.checkpointLocation", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.fileSink.log.compactInterval", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.fileSource.log.compactInterval", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.forceDeleteTempCheckpointLocation", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.metricsEnabled", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.numRecentProgressUpdates", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.pollingDelay", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.commitValidation.enabled", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.compression.codec", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.encodingFormat", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.maintenanceInterval", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.maxBatchesToRetainInMemory", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.minDeltasForSnapshot", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.providerClass", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.blockCacheSizeMB", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.blockSizeKB", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.compression", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.lockAcquireTimeoutMs", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stateStore.stateSchemaCheck", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.statefulOperator.allowMultiple", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stopActiveRunOnRestart", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.stopTimeout", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.streamingQueryListeners", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.transformWithState.stateSchemaVersion", CONF_NONE, 0, NULL},
    {"spark.sql.streaming.validateEventTimeWatermarkColumn", CONF_NONE, 0, NULL},
    {"spark.sql.warehouse.dir", CONF_NONE, 0, NULL},
};
enum { ROWS_N = sizeof rows / sizeof *rows };

static enum mr_status bad_value(const char *name, const char *value, const char *allowed,
                                struct mr_error *err)
{
    return MR_FAIL_CONDITION(err, MR_USER, "INVALID_CONF_VALUE.TYPE_MISMATCH",
                             "The value '%s' in the config \"%s\" is invalid: %s.", value, name,
                             allowed);
}

static bool is(const char *value, const char *word)
{
    return mr_text_equal_ignoring_case(mr_text_trim(mr_text_of(value)), mr_text_of(word));
}

static enum mr_status set(struct mr_conf *conf, uint32_t row, const char *value,
                          struct mr_error *err)
{
    char *field = (char *)conf + rows[row].offset;
    char *end;
    unsigned long long count;

    switch (rows[row].kind) {
    case CONF_BOOL:
        if (!is(value, "true") && !is(value, "false"))
            return bad_value(rows[row].name, value, "true or false", err);
        *(bool *)field = is(value, "true");
        return MR_OK;
    case CONF_POLICY:
        if (!is(value, "min") && !is(value, "max"))
            return bad_value(rows[row].name, value, "min or max", err);
        *(bool *)field = is(value, "max");
        return MR_OK;
    case CONF_COUNT:
    case CONF_SIZE:
        errno = 0;
        count = strtoull(value, &end, 10);
        if (errno != 0 || end == value || *end != 0 || *value == '-' || count < 1 ||
            count > UINT32_MAX)
            return bad_value(rows[row].name, value, "a whole number from 1", err);
        if (rows[row].kind == CONF_COUNT)
            *(uint32_t *)field = (uint32_t)count;
        return MR_OK;
    case CONF_ZONE:
        return mr_zone_open(mr_text_of(value), (const struct mr_zone **)field, err);
    case CONF_NONE:
        return MR_OK;
    }
    return MR_OK;
}

void mr_conf_init(struct mr_conf *conf)
{
    *conf = (struct mr_conf){0};
    for (uint32_t i = 0; i < ROWS_N; i++)
        if (rows[i].initial != NULL && set(conf, i, rows[i].initial, NULL) != MR_OK)
            conf->zone = NULL; /* no zone files: the caller's first use tells */
}

enum mr_status mr_conf_set(struct mr_conf *conf, const char *name, const char *value,
                           struct mr_error *err)
{
    const char *names[ROWS_N], *near;

    for (uint32_t i = 0; i < ROWS_N; i++) {
        names[i] = rows[i].name;
        if (strcmp(rows[i].name, name) == 0)
            return set(conf, i, value, err);
    }
    near = mr_error_nearest(name, names, ROWS_N);
    return MR_FAIL_CONDITION(err, MR_USER, "SQL_CONF_NOT_FOUND",
                             "The config \"%s\" is not known.%s%s%s", name,
                             near ? " Did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}
