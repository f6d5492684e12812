/* control.h - a query, as its control thread and the parts on the workers see it.
 *
 * Threads  All is the control thread's (before start: the opener's), except: while a command runs,
 *          parts read config, shape, epoch, sources and splits; they write failed (the first to
 *          fail writes error), their leaf counters and pending. The command's release and the
 *          counter's acquire order the rest.
 */
#pragma once
#include "core/run/engine.h"
#include "core/run/pipeline.h"

struct mr_query_source {
    const struct mr_source_ops *ops;
    struct mr_source_config config;
    void *planner;
    bool opened;
    /* Of the epoch in hand: */
    bool has_new;
    struct mr_text start_json, end_json, bytes; /* in the plan arena */
    struct mr_text *splits;
    uint32_t splits_n;
    uint64_t input_rows, bad;
};

struct mr_split_counter {
    _Alignas(64) _Atomic uint32_t next;
};

struct mr_plan_ahead { /* the next epoch, when it was planned before the last one was committed */
    bool made, runs, has_data;
};

#define MR_PARTS_AT_WORK UINT32_C(0xff)
#define MR_PACKET_SENT UINT32_C(0x100)
_Static_assert(MR_WORKERS_MAX <= MR_PARTS_AT_WORK, "they are counted there");

/* What the control thread is at. */
enum mr_query_place {
    MR_AT_REST,
    MR_AT_SOURCE, /* what is new? or: the epoch is committed */
    MR_AT_WORKERS,
    MR_AT_CHECKPOINT,
    MR_AT_SINK,
};
enum { MR_PLACE_BITS = 8 };

struct mr_query {
    struct mr_query_config config;
    struct mr_engine *engine;
    uint32_t slot;
    bool has_slot;
    struct mr_env *env;
    struct mr_budget budget;
    jmp_buf escape;           /* of the arenas below */
    struct mr_arena arena;    /* the query's lifetime */
    struct mr_arena scratch;  /* one epoch */
    struct mr_arena plans[2]; /* offsets: of the epoch in hand and of the one before, in turn */
    uint32_t plan_at;
    struct mr_shape shape;
    struct mr_query_source *sources;
    struct mr_split_counter *splits; /* by source node */
    struct mr_exchange *exchanges;   /* by stage - 1 */
    struct mr_part *parts;
    uint32_t workers;
    char query_id[37], run_id[37];

    void *committer;
    bool committer_opened;
    struct mr_checkpoint *checkpoint;
    struct mr_recovered recovered;

    /* Epochs */
    struct mr_epoch epoch; /* the one in hand */
    uint64_t next_id;
    int64_t watermark_us;  /* global, INT64_MIN: the query has none */
    int64_t last_evict_us; /* of the epoch before */
    int64_t watermarks_us[MR_WATERMARKS_MAX];
    bool policy_max;
    bool pending; /* recovered: a planned epoch must run first */
    bool pending_muted;
    bool ran_data;  /* an epoch with data ran since the start */
    bool is_unsure; /* a commit, or what the sink does for one, began and has not ended, or
                           failed: the next start finds out what there is */
    bool crash;     /* MILLRACE_CRASH=before_commit */
    bool begins;    /* a source says where it begins; logged once */
    bool begin_logged;
    struct mr_plan_ahead ahead;
    enum mr_source_limit limit;

    /* Between control and workers */
    _Alignas(64) _Atomic uint32_t at_work; /* low byte: parts; above: packets sent, counted */
    _Atomic uint32_t failed;
    struct mr_error error;

    /* For who watches: told by the control thread. */
    _Atomic uint32_t place; /* enum mr_query_place; above it which source */
    _Atomic uint64_t places_n, epoch_told;

    /* Between control and its owner */
    pthread_t thread;
    bool started;
    _Atomic uint32_t stop, ended;
    int stop_fd; /* eventfd, readable when stop is set */
    enum mr_status status;

    /* Progress */
    struct mr_progress *progress;
    struct mr_node_counters *counters;
    int64_t trigger_us, last_trigger_us; /* monotonic */
    int64_t last_told_us;
};

/* command.c: gives all parts the command and sleeps until they have done it. MR_OK also when the
 * query failed before; see failed. */
MR_NODISCARD enum mr_status mr_query_command(struct mr_query *q, enum mr_command command,
                                             struct mr_error *err);
/* By a worker: the first failure counts. */
/* What is taken of the memory limit, and what to do. */
enum mr_status mr_query_no_memory(const struct mr_query *q, struct mr_error *err);
void mr_query_fail(struct mr_query *q, const struct mr_error *err);

/* watch.c: by the control thread, at each of its steps; source: of MR_AT_SOURCE. */
void mr_query_at(struct mr_query *q, enum mr_query_place place, uint32_t source);

/* sources.c */
MR_NODISCARD enum mr_status mr_sources_check(struct mr_query *q, struct mr_error *err);
MR_NODISCARD enum mr_status mr_sources_open(struct mr_query *q, struct mr_error *err);
void mr_sources_close(struct mr_query *q);
/* Asks every source for what is new; *any: one has some. */
MR_NODISCARD enum mr_status mr_sources_plan(struct mr_query *q, uint64_t epoch, bool *any,
                                            struct mr_error *err);
/* The splits of what was planned or adopted; has_data false: none. */
MR_NODISCARD enum mr_status mr_sources_split(struct mr_query *q, bool has_data,
                                             struct mr_error *err);
MR_NODISCARD enum mr_status mr_sources_adopt(struct mr_query *q, const struct mr_plan_record *plan,
                                             struct mr_error *err);
MR_NODISCARD enum mr_status mr_sources_committed(struct mr_query *q, uint64_t epoch,
                                                 struct mr_error *err);
void mr_sources_record(const struct mr_query *q, struct mr_plan_record *plan);

/* fingerprint.c */
void mr_fingerprint_make(struct mr_query *q, struct mr_fingerprint *out);

/* recover.c: opens the checkpoint, loads state, brings sources and sink to where the log ends. */
MR_NODISCARD enum mr_status mr_query_recover(struct mr_query *q, struct mr_error *err);

/* epoch.c: runs what the checkpoint left planned, or plans and runs the next epoch if there is
 * reason. *ran false: nothing new. */
MR_NODISCARD enum mr_status mr_epoch_next(struct mr_query *q, bool *ran, struct mr_error *err);

/* watermark.c */
void mr_watermarks_init(struct mr_query *q);
void mr_watermarks_recover(struct mr_query *q, const struct mr_commit *commit);
/* After an epoch: per input, then the global one. */
void mr_watermarks_advance(struct mr_query *q);

/* report.c: fills progress from the parts. */
void mr_report_init(struct mr_query *q);
void mr_report_epoch(struct mr_query *q);
void mr_report_rates(struct mr_query *q); /* when the epoch is committed */
void mr_report_idle(struct mr_query *q);
