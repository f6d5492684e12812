/* sink.h - the contract of a sink.
 *
 * Once     Exactly: writers (one per worker) write and prepare; what was prepared is named in the
 *          commit record of the epoch; then the committer (one per query) publishes it, any number
 *          of times for the last epoch. An epoch without a record is undone, then run again with
 *          the same id. External transactions (Kafka): external_commit is called before the commit
 *          record, after the log so far is durable; last_published then tells at a restart which
 *          epoch is already out.
 * Threads  writer: its worker. committer: the query's control thread.
 */
#pragma once
#include "core/op/source.h"

struct mr_sink_config {
    const char *format;
    const struct mr_option *options; /* path, topic, .. */
    uint32_t options_n;
    const char *const *partition_by;
    uint32_t partition_by_n;
    const struct mr_type *schema;
    enum mr_output_mode mode;
    const char *query_id; /* uuid, the checkpoint's */
    struct mr_env *env;
    struct mr_arena *arena;
    const struct mr_zone *zone;
    uint32_t workers;
    bool batch;
    const _Atomic uint32_t *stop; /* as of a source */
};

struct mr_sink_ops {
    const char *name;
    size_t committer_size, writer_size;
    uint32_t modes; /* bits 1 << enum mr_output_mode */
    bool repeats;   /* an epoch that runs again is out again, not exactly once; said at start */
    bool needs_checkpoint;
    const char *const *options; /* as of sources */
    /* Options and schema against what the sink needs; no side effects. Unknown options are refused
     * with the nearest name. */
    enum mr_status (*check)(const struct mr_sink_config *config, struct mr_error *err);

    enum mr_status (*committer_open)(void *committer, const struct mr_sink_config *config,
                                     struct mr_error *err);
    void (*committer_close)(void *committer);
    /* Highest epoch that is surely out although the log may not know: *epoch, or UINT64_MAX: the
     * log knows. NULL: never ahead. */
    enum mr_status (*last_published)(void *committer, uint64_t *epoch, struct mr_error *err);
    /* Removes what an epoch without a commit record left behind. */
    enum mr_status (*undo)(void *committer, uint64_t epoch, struct mr_error *err);
    /* Before workers start: what writers need from the committer (a transaction begun). May be
     * NULL. */
    enum mr_status (*begin)(void *committer, uint64_t epoch, struct mr_error *err);
    /* All writers have prepared; prepared[i]: what writer i returned. end_offsets: JSON per
     * source. */
    enum mr_status (*external_commit)(void *committer, uint64_t epoch, struct mr_text offsets,
                                      struct mr_error *err); /* NULL: none */
    /* After the commit record is durable, again at a restart for the last committed epoch. */
    enum mr_status (*publish)(void *committer, uint64_t epoch, const struct mr_text *prepared,
                              uint32_t prepared_n, struct mr_error *err);

    /* Between epochs, when no data is there, about every 100 ms: what waits for more rows may be
     * given out (an output file that is old enough). NULL: nothing waits. */
    enum mr_status (*idle)(void *committer, struct mr_error *err);
    /* The query ends, its workers rest: all that waits of committed epochs is given out. Not called
     * when a commit, prepare or idle failed: nobody knows then what is there, and the next start
     * finds out.
     * NULL: nothing waits. */
    enum mr_status (*finish)(void *committer, struct mr_error *err);

    enum mr_status (*writer_open)(void *writer, const struct mr_sink_config *config,
                                  void *committer, uint32_t worker, struct mr_error *err);
    void (*writer_close)(void *writer);
    /* Takes the selected rows; MR_NEED_INPUT: taken; MR_BLOCKED: call again with the same batch. */
    enum mr_step (*write)(void *writer, uint64_t epoch, const struct mr_batch *batch,
                          struct mr_error *err);
    /* All rows of the epoch were written: make them durable; appends what publish needs to out. */
    enum mr_step (*prepare)(void *writer, uint64_t epoch, struct mr_buffer *out,
                            struct mr_error *err);
};

const struct mr_sink_ops *mr_sink_find(const char *format); /* io/registry.c */
const char *const *mr_sink_names(void);
