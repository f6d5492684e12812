/* rate.h - sources that make numbers: Spark's rate and rate-micro-batch.
 *
 * Columns  timestamp TIMESTAMP, value BIGINT. Both are pure functions of the offsets, so that a
 *          replay gives the same rows; rate's clock starts when the query first runs, which the log
 *          keeps.
 */
#pragma once
#include "core/op/source.h"

extern const struct mr_source_ops mr_source_rate, mr_source_rate_micro_batch;

/* Shared by both: the rows of a split. */
struct mr_rate_split {
    int64_t value_from, value_to; /* value_to excluded */
    int64_t step;                 /* from one row's value to the next */
    int64_t base;                 /* value that has time_us; later ones follow at span / count */
    int64_t time_us, span_us, count;
    int64_t unit_us; /* times are rounded to it, half up: 1000 as in Spark */
};

struct mr_rate_reader {
    struct mr_arena *arena;
    uint32_t batch_rows;
    uint32_t columns_n;
    bool is_time[2];
    struct mr_rate_split split;
    struct mr_column columns[2];
    int64_t *times, *values;
};

/* The columns of both. */
const struct mr_type *mr_rate_schema(const struct mr_option *options, uint32_t n,
                                     struct mr_arena *a);
enum mr_status mr_rate_reader_open(void *reader, const struct mr_source_config *config,
                                   struct mr_error *err);
void mr_rate_reader_close(void *reader);
enum mr_status mr_rate_open_split(void *reader, struct mr_text split, struct mr_error *err);
enum mr_step mr_rate_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                          struct mr_error *err);
