#include "core/run/progress.h"

#include "core/base/time.h"
#include <math.h>

static void put_string(struct mr_buffer *out, const char *text)
{
    if (text == NULL) {
        mr_buffer_append(out, "null", 4);
        return;
    }
    mr_buffer_append(out, "\"", 1);
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            mr_buffer_append_format(out, "\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            mr_buffer_append_format(out, "\\u%04x", (unsigned)*at);
        else
            mr_buffer_append(out, at, 1);
    }
    mr_buffer_append(out, "\"", 1);
}

static void put_time(struct mr_buffer *out, int64_t us)
{
    struct mr_civil c;

    mr_civil_from_us(us, &c);
    mr_buffer_append_format(out, "\"%04d-%02u-%02uT%02u:%02u:%02u.%03uZ\"", c.year, c.month, c.day,
                            c.hour, c.minute, c.second, c.us / 1000);
}

/* Rates have one digit, as Spark rounds them; what is no number is left out. */
static void put_rate(struct mr_buffer *out, const char *name, double rate)
{
    if (isfinite(rate))
        mr_buffer_append_format(out, ",\"%s\":%.1f", name, rate);
}

static void put_durations(struct mr_buffer *out, const struct mr_progress *p)
{
    mr_buffer_append_format(
        out,
        ",\"durationMs\":{\"latestOffset\":%lld,\"queryPlanning\":%lld,\"walCommit\":%lld,"
        "\"addBatch\":%lld,\"commitOffsets\":%lld,\"triggerExecution\":%lld}",
        (long long)(p->latest_offset_us / 1000), (long long)(p->query_planning_us / 1000),
        (long long)(p->wal_commit_us / 1000), (long long)(p->add_batch_us / 1000),
        (long long)(p->commit_offsets_us / 1000), (long long)(p->trigger_execution_us / 1000));
}

static void put_event_time(struct mr_buffer *out, const struct mr_progress *p)
{
    const struct {
        const char *name;
        int64_t us;
    } times[] = {{"avg", p->event_avg_us}, {"max", p->event_max_us}, {"min", p->event_min_us}};

    if (!p->has_watermark)
        return;
    mr_buffer_append_format(out, ",\"eventTime\":{");
    for (size_t i = 0; p->has_event_times && i < sizeof times / sizeof *times; i++) {
        mr_buffer_append_format(out, "\"%s\":", times[i].name);
        put_time(out, times[i].us);
        mr_buffer_append(out, ",", 1);
    }
    mr_buffer_append_format(out, "\"watermark\":");
    put_time(out, p->watermark_us);
    mr_buffer_append(out, "}", 1);
}

/* From the latest and the earliest event to the durable commit; no field of Spark's. */
static void put_latency(struct mr_buffer *out, const struct mr_progress *p)
{
    if (p->has_event_times && !p->is_idle)
        mr_buffer_append_format(out, ",\"commitLatencyMs\":{\"min\":%.3f,\"max\":%.3f}",
                                (double)(p->committed_us - p->event_max_us) / 1000,
                                (double)(p->committed_us - p->event_min_us) / 1000);
}

static void put_operators(struct mr_buffer *out, const struct mr_progress *p)
{
    mr_buffer_append_format(out, ",\"stateOperators\":[");
    for (uint32_t i = 0; i < p->operators_n; i++) {
        const struct mr_operator_counts *c = &p->operators[i].counts;
        mr_buffer_append_format(
            out,
            "%s{\"operatorName\":\"%s\",\"numRowsTotal\":%llu,\"numRowsUpdated\":%llu,"
            "\"allUpdatesTimeMs\":0,\"numRowsRemoved\":%llu,\"allRemovalsTimeMs\":0,"
            "\"commitTimeMs\":%lld,\"memoryUsedBytes\":%llu,\"numRowsDroppedByWatermark\":%llu,"
            "\"numShufflePartitions\":%d,\"numStateStoreInstances\":%d}",
            i ? "," : "", p->operators[i].name, (unsigned long long)c->rows_total,
            (unsigned long long)c->rows_updated, (unsigned long long)c->rows_removed,
            (long long)(p->commit_offsets_us / 1000), (unsigned long long)c->memory_bytes,
            (unsigned long long)c->rows_dropped, MR_PARTITIONS, MR_PARTITIONS);
    }
    mr_buffer_append(out, "]", 1);
}

static void put_offset(struct mr_buffer *out, const char *name, struct mr_text json)
{
    mr_buffer_append_format(out, ",\"%s\":", name);
    mr_buffer_append_text(out, json.n ? json : MR_TEXT("null"));
}

static void put_sources(struct mr_buffer *out, const struct mr_progress *p)
{
    double in = p->input_rows_per_second, done = p->processed_rows_per_second;

    mr_buffer_append_format(out, ",\"sources\":[");
    for (uint32_t i = 0; i < p->sources_n; i++) {
        const struct mr_source_progress *s = &p->sources[i];
        double share = p->input_rows ? (double)s->input_rows / (double)p->input_rows : 0;
        mr_buffer_append_format(out, "%s{\"description\":", i ? "," : "");
        put_string(out, s->description);
        put_offset(out, "startOffset", s->start_offset);
        put_offset(out, "endOffset", s->end_offset);
        put_offset(out, "latestOffset", s->latest_offset);
        mr_buffer_append_format(out, ",\"numInputRows\":%llu", (unsigned long long)s->input_rows);
        put_rate(out, "inputRowsPerSecond", in * share);
        put_rate(out, "processedRowsPerSecond", done * share);
        if (s->metrics.n)
            mr_buffer_append_format(out, ",\"metrics\":{%.*s}", (int)s->metrics.n, s->metrics.data);
        mr_buffer_append(out, "}", 1);
    }
    mr_buffer_append(out, "]", 1);
}

void mr_progress_print_json(const struct mr_progress *p, struct mr_buffer *out)
{
    mr_buffer_append_format(out, "{\"id\":\"%s\",\"runId\":\"%s\",\"name\":", p->id, p->run_id);
    put_string(out, p->name);
    mr_buffer_append_format(out, ",\"timestamp\":");
    put_time(out, p->timestamp_us);
    mr_buffer_append_format(out, ",\"batchId\":%llu,\"batchDuration\":%lld,\"numInputRows\":%llu",
                            (unsigned long long)p->batch_id,
                            (long long)(p->trigger_execution_us / 1000),
                            (unsigned long long)p->input_rows);
    put_rate(out, "inputRowsPerSecond", p->input_rows_per_second);
    put_rate(out, "processedRowsPerSecond", p->processed_rows_per_second);
    put_durations(out, p);
    put_event_time(out, p);
    put_latency(out, p);
    if (p->durability)
        mr_buffer_append_format(out, ",\"durability\":\"%s\"", p->durability);
    put_operators(out, p);
    put_sources(out, p);
    mr_buffer_append_format(out, ",\"sink\":{\"description\":");
    put_string(out, p->sink_description);
    mr_buffer_append_format(out, ",\"numOutputRows\":%lld}", (long long)p->sink_rows);
    if (p->bad_records)
        mr_buffer_append_format(out, ",\"badRecords\":%llu", (unsigned long long)p->bad_records);
    mr_buffer_append(out, "}", 1);
}

/* 1234567 -> "1.23 M" */
static void put_count(struct mr_buffer *out, double n)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int unit = 0;

    while (n >= 1000 && unit < 4) {
        n /= 1000;
        unit++;
    }
    mr_buffer_append_format(out, "%.*f%s",
                            unit == 0 || n >= 100 ? 0
                            : n >= 10             ? 1
                                                  : 2,
                            n, units[unit]);
}

static void put_lag(struct mr_buffer *out, const struct mr_progress *p)
{
    if (!p->has_event_times)
        return;
    double seconds = (double)(p->timestamp_us - p->event_max_us) / 1e6;
    if (seconds < 120)
        mr_buffer_append_format(out, "  lag %.1f s", seconds);
    else if (seconds < 7200)
        mr_buffer_append_format(out, "  lag %.0f min", seconds / 60);
    else if (seconds < 172800)
        mr_buffer_append_format(out, "  lag %.0f h", seconds / 3600);
    else
        mr_buffer_append_format(out, "  lag %.0f d", seconds / 86400);
}

void mr_progress_print_line(const struct mr_progress *p, struct mr_buffer *out)
{
    uint64_t rows = 0, bytes = 0, late = 0;

    for (uint32_t i = 0; i < p->operators_n; i++) {
        rows += p->operators[i].counts.rows_total;
        bytes += p->operators[i].counts.memory_bytes;
        late += p->operators[i].counts.rows_dropped;
    }
    if (p->name)
        mr_buffer_append_format(out, "%s  ", p->name);
    if (p->is_idle) {
        mr_buffer_append_format(out, "waiting for data, next batch %llu",
                                (unsigned long long)p->batch_id);
    } else {
        mr_buffer_append_format(out, "batch %llu  ", (unsigned long long)p->batch_id);
        put_count(out, (double)p->input_rows);
        mr_buffer_append_format(out, " rows  ");
        put_count(out, isfinite(p->processed_rows_per_second) ? p->processed_rows_per_second : 0);
        mr_buffer_append_format(out, " rows/s");
        put_lag(out, p);
    }
    if (p->has_watermark) {
        struct mr_civil c;
        mr_civil_from_us(p->watermark_us, &c);
        mr_buffer_append_format(out, "  watermark %04d-%02u-%02u %02u:%02u:%02u", c.year, c.month,
                                c.day, c.hour, c.minute, c.second);
    }
    if (p->operators_n && !p->is_idle) {
        mr_buffer_append_format(out, "  state ");
        put_count(out, (double)rows);
        mr_buffer_append_format(out, " rows, %.1f MB", (double)bytes / 1e6);
    }
    if (!p->is_idle)
        mr_buffer_append_format(out, "  epoch %.1f ms", (double)p->trigger_execution_us / 1000);
    if (p->durability && strcmp(p->durability, "epoch") != 0)
        mr_buffer_append_format(out, "  durability %s", p->durability);
    if (late && !p->is_idle)
        mr_buffer_append_format(out, "  %llu late", (unsigned long long)late);
    if (p->bad_records)
        mr_buffer_append_format(out, "  %llu bad records", (unsigned long long)p->bad_records);
}
