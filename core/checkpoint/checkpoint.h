/* checkpoint.h - the folder of a query: what was planned, committed and remembered, durably.
 *
 * Layout   metadata, lock, head, log/N, snapshot/N: README.md has their bytes.
 * Log      A torn tail is cut; anything else wrong stops with file and offset named. One durable
 *          write per epoch: plan and state are logged while it runs, the commit syncs them all.
 * Recovery open -> mr_checkpoint_replay gives state, plans and commits back in order -> the runtime
 *          undoes or runs again the epoch that was planned but not committed.
 * Threads  The query's control thread.
 */
#pragma once
#include "core/base/env.h"
#include "core/op/operator.h"

struct mr_checkpoint;

/* What must stay the same over restarts. Operators by position. */
struct mr_fingerprint_operator {
    const char *name; /* dedupe, stateStoreSave, .. */
    const struct mr_state_table *tables;
    uint32_t tables_n;
    const char *detail; /* window size and the like: a change is refused with both texts; "" */
};
struct mr_fingerprint {
    uint32_t sources_n;
    const char *const *sources; /* "json /path": format free, place fixed: FileSource[path] */
    uint32_t operators_n;
    const struct mr_fingerprint_operator *operators;
    const char *mode; /* append, update, complete */
    const char *sink; /* its kind; NULL: any */
};

enum mr_durability { MR_DURABLE_EPOCH, MR_DURABLE_INTERVAL, MR_DURABLE_NONE };

struct mr_checkpoint_config {
    const char *path;
    struct mr_env *env;
    struct mr_budget *budget;
    jmp_buf *escape;
    enum mr_durability durability;
    uint64_t segment_bytes;            /* of the log, default 16 MiB */
    uint64_t snapshot_bytes_per_epoch; /* default 1 MiB */
};

/* What the commit of an epoch says; also what replay gives for the last one. */
struct mr_commit {
    uint64_t epoch;
    int64_t time_us;                          /* the epoch's current_timestamp */
    int64_t late_us, evict_us;                /* the watermarks it ran under */
    int64_t next_watermark_us;                /* the global one after it */
    int64_t watermarks_us[MR_WATERMARKS_MAX]; /* of each input after it */
    uint32_t watermarks_n;
    bool watermark_policy_max; /* pinned: the policy of the first epoch holds after restarts */
    bool had_data;
    struct mr_text prepared; /* of the sink: concatenated, with lengths */
};

struct mr_plan_record {
    uint64_t epoch;
    int64_t time_us, late_us, evict_us;
    bool has_data;
    uint32_t sources_n;
    struct mr_text
        offsets[MR_SOURCES_MAX]; /* bytes of mr_offsets; data NULL: nothing new of that one */
    struct mr_text offsets_json[MR_SOURCES_MAX];
};

struct mr_recovered {           /* memory: the checkpoint's, until close */
    bool is_new;                /* no epoch was ever planned */
    bool has_commit, has_plan;  /* has_plan: an epoch after the last commit was planned */
    bool is_published;          /* the output of the last one is known to be out */
    struct mr_commit commit;    /* the last one */
    struct mr_plan_record plan; /* the uncommitted one */
    const char *query_id;
};

/* Locks (MR_BUSY if held), reads metadata, compares fingerprint (MR_USER with Spark's condition and
 * the difference), makes the folder if it is new. */
MR_NODISCARD enum mr_status mr_checkpoint_open(const struct mr_checkpoint_config *config,
                                               const struct mr_fingerprint *fingerprint,
                                               struct mr_checkpoint **out, struct mr_error *err);
void mr_checkpoint_close(struct mr_checkpoint *c);
/* The uuid in its metadata, until close. */
const char *mr_checkpoint_query_id(const struct mr_checkpoint *c);

struct mr_replay { /* receivers of what is stored */
    void *arg;
    /* State of operator op, table t: a snapshot of one partition, or a log record. */
    enum mr_status (*snapshot)(void *arg, uint32_t op, uint32_t table, uint32_t partition,
                               struct mr_text data, struct mr_error *err);
    enum mr_status (*change)(void *arg, uint32_t op, uint32_t table, uint64_t epoch,
                             bool (*newer)(void *filter, uint32_t partition), void *filter,
                             struct mr_text record, struct mr_error *err);
    enum mr_status (*source_saved)(void *arg, uint32_t source, struct mr_text saved,
                                   struct mr_error *err);
    enum mr_status (*planned)(void *arg, const struct mr_plan_record *plan, bool committed,
                              struct mr_error *err);
};
/* Only records of committed epochs reach change. */
MR_NODISCARD enum mr_status mr_checkpoint_replay(struct mr_checkpoint *c,
                                                 const struct mr_replay *to,
                                                 struct mr_recovered *out, struct mr_error *err);

/* Appended now, durable with the next commit or sync. */
MR_NODISCARD enum mr_status mr_checkpoint_plan(struct mr_checkpoint *c,
                                               const struct mr_plan_record *plan,
                                               struct mr_error *err);
MR_NODISCARD enum mr_status mr_checkpoint_log(struct mr_checkpoint *c, uint64_t epoch, uint32_t op,
                                              uint32_t table, struct mr_text record,
                                              struct mr_error *err);
MR_NODISCARD enum mr_status mr_checkpoint_sync(struct mr_checkpoint *c, struct mr_error *err);
MR_NODISCARD enum mr_status
mr_checkpoint_commit(struct mr_checkpoint *c, const struct mr_commit *commit, struct mr_error *err);

/* The output of a committed epoch is out: kept for the next run if this one ends cleanly. */
void mr_checkpoint_published(struct mr_checkpoint *c, uint64_t epoch);

/* Between epochs: goes on with the snapshot round, up to snapshot_bytes_per_epoch, more when the
 * log gets long; old log segments are recycled when a round is complete. take gives the snapshot of
 * a partition of a table; source_save that of a source. */
struct mr_snapshot_from {
    void *arg;
    uint32_t operators_n;
    const uint32_t *tables_n;
    uint32_t sources_n;
    void (*take)(void *arg, uint32_t op, uint32_t table, uint32_t partition, struct mr_buffer *out);
    void (*source_save)(void *arg, uint32_t source, struct mr_buffer *out);
};
MR_NODISCARD enum mr_status mr_checkpoint_snapshot(struct mr_checkpoint *c, uint64_t epoch,
                                                   const struct mr_snapshot_from *from,
                                                   struct mr_error *err);

/* For "millrace checkpoint show|verify": reads only, takes no lock. Both list problems in out and
 * then give MR_CORRUPT. */
MR_NODISCARD enum mr_status mr_checkpoint_show(struct mr_env *env, const char *path,
                                               struct mr_buffer *out, struct mr_error *err);
/* Every CRC of every file. */
MR_NODISCARD enum mr_status mr_checkpoint_verify(struct mr_env *env, const char *path,
                                                 struct mr_buffer *out, struct mr_error *err);
