/* source.h - the contract of a source.
 *
 * Plan     One planner per query and source: says what is new, within limits, as offsets: Spark's
 *          offset JSON for progress, and the bytes that make the same rows come again (logged
 *          before any is read). An epoch's range is cut into splits; workers take splits from a
 *          shared queue.
 * Read     One reader per worker and source; open_split, pull until MR_DONE, close_split.
 * Threads  planner: the query's control thread. reader: its worker.
 */
#pragma once
#include "core/op/operator.h"

struct mr_source_config {
    const struct mr_table *table;
    const struct mr_type *schema; /* columns to give: a subset of table->schema */
    struct mr_env *env;
    struct mr_arena *arena;
    const struct mr_zone *zone;
    uint32_t batch_rows, workers;
    const _Atomic uint32_t *stop; /* not 0: the query is to end, who waits gives up. NULL: never */
};

enum mr_source_limit { MR_LIMIT_AS_CONFIGURED, MR_LIMIT_NONE /* trigger once */ };

struct mr_offsets {       /* memory: the planner's, until its next call */
    struct mr_text json;  /* Spark's offset JSON, for progress and explain */
    struct mr_text bytes; /* what replay needs: opaque, versioned by the source */
    bool keep;            /* to be logged also when nothing is new: where a new query begins */
};

struct mr_source_counts { /* of a reader, added to; the runtime resets them at epoch start */
    uint64_t rows;        /* as Spark counts input rows */
    uint64_t bad;         /* records that could not be parsed */
};

struct mr_source_ops {
    const char *name;
    size_t planner_size, reader_size;
    bool replayable;            /* false: socket; said to the user at start */
    const char *const *options; /* "name: what it does (default)", NULL-ended; formats have more */
    /* Fixed schema (kafka, rate, socket, text) for these options, or NULL: it must be declared. */
    const struct mr_type *(*schema)(const struct mr_option *options, uint32_t n,
                                    struct mr_arena *a);
    /* Adds what only a look at the data tells to a declared schema: columns of folders. NULL:
     * nothing. */
    enum mr_status (*complete_schema)(struct mr_table *table, const struct mr_conf *conf,
                                      struct mr_arena *a, struct mr_error *err);
    /* Validates without side effects: for check and before anything is made. Unknown options are
     * refused with the nearest name. */
    enum mr_status (*check)(const struct mr_table *table, struct mr_error *err);

    enum mr_status (*planner_open)(void *planner, const struct mr_source_config *config,
                                   struct mr_error *err);
    void (*planner_close)(void *planner);
    /* What is new since the last planned end. *has_new false: nothing (offsets then say where it
     * stands). */
    enum mr_status (*plan)(void *planner, uint64_t epoch, enum mr_source_limit limit,
                           struct mr_offsets *to, bool *has_new, struct mr_error *err);
    /* trigger available_now: later plans go no further than what is there now. */
    enum mr_status (*freeze)(void *planner, struct mr_error *err);
    /* At a restart: bytes of a planned epoch, in order, from the log: its rows come again (the
     * last, uncommitted one) or are behind us. */
    enum mr_status (*adopt)(void *planner, uint64_t epoch, struct mr_text bytes,
                            struct mr_error *err);
    /* The whole memory of the planner (files seen), for snapshots of the checkpoint; load
     * undoes. */
    void (*save)(void *planner, struct mr_buffer *out);
    enum mr_status (*load)(void *planner, struct mr_text saved, struct mr_error *err);
    /* After the epoch is durable: cleanSource, monitor commits. */
    enum mr_status (*committed)(void *planner, uint64_t epoch, struct mr_error *err);
    /* Cuts the planned (or adopted) epoch into splits: count, and the bytes of each,
     * self-contained. */
    enum mr_status (*splits)(void *planner, uint32_t *n, struct mr_error *err);
    struct mr_text (*split)(void *planner, uint32_t i);
    /* Wakes when new data may be there: a file descriptor to poll, or -1 (poll every few ms). */
    int (*wake_fd)(void *planner);
    /* How long until new data may be there, by the clock; instead of a descriptor. */
    int64_t (*wake_us)(void *planner);
    /* Appends members of Spark's "metrics" object (", "-separated), or NULL. */
    void (*metrics)(void *planner, struct mr_buffer *out);

    enum mr_status (*reader_open)(void *reader, const struct mr_source_config *config,
                                  struct mr_error *err);
    void (*reader_close)(void *reader);
    /* split's bytes may go away after the call. */
    enum mr_status (*open_split)(void *reader, struct mr_text split, struct mr_error *err);
    /* Fills out (valid until the next call). MR_NEED_INPUT or MR_MORE_OUTPUT: out has rows, maybe
     * 0; MR_BLOCKED: nothing yet; MR_DONE: the split is finished (out may have its last rows). */
    enum mr_step (*pull)(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                         struct mr_error *err);
    /* What the open split reads, for input_file_name(). NULL: it reads no files. */
    void (*input)(void *reader, struct mr_input_block *out);
};

const struct mr_source_ops *mr_source_find(const char *format); /* io/registry.c */
const char *const *mr_source_names(void);
