/* record.h - what each epoch gave, as one JSON file: for comparison with recorded runs of Spark.
 *
 * Format   {"batches": [{"batch", "input_rows", "watermark", "rows", "state": [{"op", "total",
 *          "updated", "dropped"}]}]}, after a failure also "error" (condition), "at", "message".
 *          The file is whole JSON after every epoch, also when the process is killed.
 */
#pragma once
#include "core/format/json/json.h"
#include "core/run/progress.h"
#include <stdio.h>

struct mr_record {
    FILE *file;
    const char *path;
    struct mr_arena arena; /* of the rows of the epoch so far */
    jmp_buf escape; /* of the arena: each function sets its own, they run on several threads */
    struct mr_buffer rows;
    const struct mr_type *schema;
    struct mr_json_writer writer;
    long tail; /* where the closing brackets begin */
    uint32_t batches_n;
};

/* A file that is there is replaced only when it is empty or a record; MR_USER otherwise. */
MR_NODISCARD enum mr_status mr_record_open(struct mr_record *r, const char *path,
                                           struct mr_error *err);
/* Before the first row. */
void mr_record_schema(struct mr_record *r, const struct mr_type *schema,
                      const struct mr_zone *zone);
void mr_record_rows(void *record, uint64_t epoch, const struct mr_batch *batch);
enum mr_status mr_record_epoch(void *record, const struct mr_progress *p, struct mr_error *err);
/* at: "parse", "analysis", "start" or "run". */
void mr_record_error(struct mr_record *r, const struct mr_error *error, const char *at);
void mr_record_close(struct mr_record *r);
