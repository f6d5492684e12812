/* operator.h - the contract of an operator.
 *
 * What     Operators form a tree, one instance per worker; batches are pushed from the leaves to
 *          the root. The plan part is read-only and shared; the state part is one per worker. The
 *          runtime (core/run) allocates both, calls open, step, mark, close, and counts calls,
 *          rows, cycles.
 * Batches  step borrows in and fills out; what out borrows lives until the next call of step or
 *          mark of the same operator. The consumer is done with out before that.
 * Time     mark is called once per epoch, after all input of the epoch (children are marked first;
 *          what they give in mark arrives by step before). ctx->epoch holds the watermarks.
 * Memory   ctx->scratch is reset before each step; ctx->arena lives as long as the query.
 */
#pragma once
#include "core/base/env.h"
#include "core/plan/physical.h"
#include "core/state/state.h"

enum mr_step { MR_NEED_INPUT, MR_MORE_OUTPUT, MR_BLOCKED, MR_DONE, MR_FAILED };

struct mr_epoch {
    uint64_t id;
    int64_t time_us; /* the batch's timestamp, current_timestamp() */
    int64_t late_us; /* rows whose time is <= this are late; INT64_MIN: no watermark in the query */
    int64_t evict_us; /* state whose time is <= this is final; INT64_MIN: none */
    bool is_batch;    /* batch query: everything is final at the end */
    bool has_data;    /* false: a no-data batch */
};

/* What progress and --record tell of a stateful operator, per worker and epoch; summed over
 * workers. Rows that a partial aggregate drops as late are those of the aggregate above it. */
struct mr_operator_counts {
    uint64_t rows_total, rows_updated, rows_removed, rows_dropped, memory_bytes;
};

struct mr_ctx {
    const void *plan; /* the operator's, made by plan() */
    void *state;      /* the operator's, zeroed before open */
    const struct mr_node *node;
    const struct mr_epoch *epoch;
    const struct mr_eval_context *eval;
    struct mr_state **tables; /* those declared by tables(), in order; none in a batch query */
    struct mr_arena *arena, *scratch;
    struct mr_env *env;
    struct mr_error *err;
    uint32_t worker, workers;
    uint32_t batch_rows;
    uint32_t port;                    /* in step: which child the batch comes from */
    struct mr_operator_counts counts; /* reset at epoch start; rows_total is read at its end */
    /* The watermark operator's, of the rows with a time since the runtime last reset them (times_n
     * 0). */
    int64_t max_time_us, min_time_us;
    __int128 time_sum_us;
    uint64_t times_n;
};

struct mr_operator_ops {
    const char *name;
    size_t plan_size, state_size;
    /* plan: once per query; allocates from a. open: once per worker; close undoes it, also after a
     * failed open. */
    enum mr_status (*plan)(void *plan, const struct mr_node *node, struct mr_arena *a,
                           struct mr_error *err);
    enum mr_status (*open)(struct mr_ctx *ctx);
    void (*close)(struct mr_ctx *ctx);
    /* Borrows in, fills the empty out. MR_MORE_OUTPUT: call again with the same in. MR_DONE: it
     * needs no more input in this epoch (a limit); out may hold its last rows. */
    enum mr_step (*step)(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out);
    /* Epoch end. MR_MORE_OUTPUT: call again. NULL: time does not matter to it. */
    enum mr_step (*mark)(struct mr_ctx *ctx, struct mr_batch *out);
    /* What it remembers; NULL: stateless. */
    const struct mr_state_table *(*tables)(const void *plan, uint32_t *n);
};

/* By node kind; NULL for source, exchange and sink, which core/run executes itself. */
const struct mr_operator_ops *mr_operator_for(enum mr_node_kind kind);
