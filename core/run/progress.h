/* progress.h - what a query tells after each epoch: the fields of Spark's StreamingQueryProgress.
 */
#pragma once
#include "core/op/operator.h"

struct mr_source_progress {
    const char *description;
    struct mr_text start_offset, end_offset, latest_offset; /* JSON, or data NULL */
    uint64_t input_rows;
    struct mr_text metrics; /* JSON members */
};

struct mr_node_counters { /* always counted: calls, rows, cycles per operator, summed over workers
                           */
    const struct mr_node *node;
    uint64_t calls, rows_in, rows_out, cycles;
};

struct mr_progress {
    const char *id, *run_id, *name;
    int64_t timestamp_us;
    uint64_t batch_id;
    bool has_data, is_idle;
    uint64_t input_rows;
    double input_rows_per_second, processed_rows_per_second;
    int64_t latest_offset_us, query_planning_us, wal_commit_us, add_batch_us, commit_offsets_us,
        trigger_execution_us;
    bool has_watermark;
    int64_t watermark_us; /* the one the epoch ran under (evict_us) */
    int64_t event_min_us, event_max_us, event_avg_us;
    bool has_event_times;
    int64_t committed_us; /* when the epoch was durable, by the clock */
    uint32_t operators_n;
    struct {
        const char *name;
        struct mr_operator_counts counts;
    } operators[MR_STATE_TABLES_MAX]; /* from the sink end of the plan */
    uint32_t sources_n;
    struct mr_source_progress sources[MR_SOURCES_MAX];
    const char *durability; /* of a commit: epoch, interval, none; NULL: there is no checkpoint */
    const char *sink_description;
    int64_t sink_rows; /* -1: unknown */
    uint64_t bad_records;
    uint32_t nodes_n;
    const struct mr_node_counters *nodes;
};

/* One line of JSON, Spark's names and order. */
void mr_progress_print_json(const struct mr_progress *p, struct mr_buffer *out);
/* One line for a terminal: rate, lag, watermark, state, epoch time. */
void mr_progress_print_line(const struct mr_progress *p, struct mr_buffer *out);
