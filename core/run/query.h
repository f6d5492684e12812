/* query.h - a running query: its workers' operators, its epochs, its commits.
 *
 * Epoch    plan offsets -> log them -> workers read, push, mark -> sink prepares -> commit record
 *          -> publish. The watermark after the epoch is max(event time) - delay per input, their
 *          minimum (or maximum) globally, never moving back; the next epoch evicts by it and
 *          filters by the one before.
 * Threads  One engine: W workers, pinned. Each query has a control thread; queries may be added to
 *          and removed from running workers at an epoch border.
 */
#pragma once
#include "core/checkpoint/checkpoint.h"
#include "core/op/sink.h"
#include "core/plan/plan.h"

/* Everything on the caller's thread, for a simulator: who would wait lets a worker that is awake
 * have its turn. */
struct mr_turns {
    void *arg;
    /* Of the n > 0 workers that are awake, the one that goes on. */
    uint32_t (*choose)(void *arg, const uint32_t *awake, uint32_t n);
};

struct mr_engine_config { /* the job file's engine: */
    uint32_t workers;     /* 0: one per core */
    const char *cpus;     /* or NULL */
    bool pin;
    uint32_t batch_rows;
    uint32_t ring_slots;
    uint64_t memory_limit_bytes; /* 0: 3/4 of the machine's */
    const char *kernels;         /* scalar, avx2, avx512 or NULL: best */
    const char *io;              /* io_uring, syscalls or NULL: io_uring if it works */
    enum mr_durability durability;
    int64_t stall_s; /* who watches tells of an epoch that stands still for so long; 0: never */
    const struct mr_turns *turns; /* NULL: every worker and query has a thread */
};

struct mr_engine;
MR_NODISCARD enum mr_status mr_engine_open(const struct mr_engine_config *config,
                                           struct mr_engine **out, struct mr_error *err);
void mr_engine_close(struct mr_engine *e);
uint32_t mr_engine_workers(const struct mr_engine *e);
/* Why plain system calls are used although io_uring would be; NULL: io_uring, or as the config
 * says. */
const char *mr_engine_why_not_uring(const struct mr_engine *e);

enum mr_trigger_kind {
    MR_TRIGGER_ASAP,
    MR_TRIGGER_PROCESSING_TIME,
    MR_TRIGGER_AVAILABLE_NOW,
    MR_TRIGGER_ONCE
};

struct mr_progress; /* progress.h */

struct mr_query_config {
    const char *name;
    const struct mr_session *session;
    const struct mr_physical_plan *plan;
    const struct mr_sink_ops *sink_ops;
    struct mr_sink_config sink; /* env, arena, query_id, workers are filled by the query */
    const char *checkpoint;     /* NULL: none (console, memory, batch queries) */
    enum mr_trigger_kind trigger;
    int64_t trigger_us;
    bool batch;
    /* Called by the control thread after each commit; and with an idle progress every 10 s. */
    void (*on_progress)(void *arg, const struct mr_progress *p);
    void *on_progress_arg;
    /* Called by the control thread when the query has ended; err is filled if it failed. */
    void (*on_end)(void *arg, enum mr_status status, const struct mr_error *err);
    void *on_end_arg;
    /* --record: sees each epoch's rows instead of the sink, before its commit. Called by the
     * control thread; batches are in no order. */
    void (*on_rows)(void *arg, uint64_t epoch, const struct mr_batch *batch);
    /* After the last on_rows of an epoch, before its commit (thus before MILLRACE_CRASH kills it):
     * what is known by then, surely id, input rows, watermark and operators. Its failure is the
     * epoch's. */
    enum mr_status (*on_epoch)(void *arg, const struct mr_progress *p, struct mr_error *err);
    void *on_rows_arg;
};

struct mr_query;
/* Checks, opens the checkpoint, recovers; nothing runs yet. *out is there before it waits for
 * anyone, so that a signal handler can stop it, and NULL again after a failure. */
MR_NODISCARD enum mr_status mr_query_open(struct mr_engine *e, const struct mr_query_config *config,
                                          struct mr_query **out, struct mr_error *err);
/* Starts the control thread; with turns: runs the query to its end. */
MR_NODISCARD enum mr_status mr_query_start(struct mr_query *q, struct mr_error *err);
/* Finish the epoch, commit, end. Safe in a signal handler. */
void mr_query_stop(struct mr_query *q);
/* Whether it has ended, after us at most. */
bool mr_query_ends_within(struct mr_query *q, int64_t us);

/* Where it stands, from any thread between start and wait. */
struct mr_query_view {
    uint64_t moves; /* other than before: something went on */
    uint64_t epoch;
    bool is_resting; /* nothing is to be done */
    char at[256];    /* what is done: worker 0 is at source "raw" */
};
void mr_query_look(const struct mr_query *q, struct mr_query_view *out);
/* Waits for its end: of itself (available_now, once, batch), by stop or by failure. */
MR_NODISCARD enum mr_status mr_query_wait(struct mr_query *q, struct mr_error *err);
void mr_query_close(struct mr_query *q);
