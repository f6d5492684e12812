/* job.h - the query of a seed, its input, and what a simple model says of its result.
 *
 * Input    Files, some an epoch; events somewhat out of order, some doubled, in some seeds some too
 *          late. The last two epochs hold only events far ahead, which close all windows: as in
 *          Spark, rows that only an epoch without data would give wait for new data when a process
 *          dies before it.
 * Rows     "EPOCH JSON", sorted; of files, which don't tell the epoch, it is 0.
 */
#pragma once
#include "tests/sim/sim.h"

enum query_kind {
    WINDOWS_TO_FILES,
    UNIQUE_WINDOWS_TO_FILES,
    UNIQUE_TO_FILES,
    UNIQUE_WINDOWS_TO_TOPIC,
    UNIQUE_TO_TOPIC,
    UPDATE_TO_TOPIC,
    COMPLETE_TO_TOPIC,
    QUERY_KINDS
};

struct rows {
    char **lines;
    uint32_t n, capacity;
};

struct event {
    int64_t time_s;
    uint32_t id, key, value, file;
};

struct job {
    enum query_kind kind;
    uint32_t per_trigger, files, per_file;
    bool has_late, keeps_open; /* output files over several epochs */
    struct event *events;
    uint32_t events_n;
    char root[64], path[96]; /* a folder that is really there; the job file */
};

/* Writes the job file; aborts when it can't. */
void job_init(struct job *j, const char *root, uint64_t seed);
void job_put_input(const struct job *j, struct disk *d);
bool job_has_topic(const struct job *j);

/* What a reader sees now. */
void rows_shown(const struct job *j, const struct world *w, struct rows *out);
/* A line that a has more often than b, or NULL. Both sorted. */
const char *rows_extra(const struct rows *a, const struct rows *b);
/* A line of a that b has not at all, or NULL. Both sorted. */
const char *rows_unknown(const struct rows *a, const struct rows *b);
/* Differs the result from the model's? A line that does, or NULL. */
const char *job_model_differs(const struct job *j, const struct rows *got);
