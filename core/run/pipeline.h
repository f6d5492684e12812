/* pipeline.h - the share of a query on one worker: its operators, and how batches are pushed
 * through.
 *
 * Push     A leaf's batch goes to its parent, what that gives out to the next, up to the stage's
 *          root. Frames stand for calls, so nothing recurses on data and a blocked push is resumed
 *          where it was: only its stage waits, the stages above go on (and are served first, so
 *          rings drain).
 * Epoch    Leaves exhausted -> mark, children before parents -> end markers or sink; all stages
 *          done -> the state changes are put down, the sink's part is prepared -> the part has
 *          finished.
 * Memory   arena: the query's lifetime. scratch: one per operator, reset before each of its calls.
 *          epoch: reset at each epoch's start. When a budget is exhausted they jump to escape,
 *          which mr_part_slice sets and turns into the failure of the query.
 */
#pragma once
#include "core/op/sink.h"
#include "core/run/exchange.h"
#include "core/run/progress.h"
#include "core/run/shape.h"
#include "core/run/change_log.h"
#include <stdatomic.h>

struct mr_query;
struct mr_worker;

enum mr_command {
    MR_COMMAND_NONE,
    MR_COMMAND_OPEN,
    MR_COMMAND_EPOCH,
    MR_COMMAND_CLOSE,
};

enum mr_slice { MR_SLICE_IDLE, MR_SLICE_WORKED, MR_SLICE_WAITING };

struct mr_instance { /* a node on one worker */
    const struct mr_shape_node *shape;
    struct mr_ctx ctx;
    struct mr_arena scratch;
    struct mr_batch out;
    bool open_called;
    bool done; /* needs no more input in this epoch */
    struct mr_node_counters counters;
};

struct mr_leaf { /* what a leaf remembers of the epoch */
    struct mr_instance *instance;
    void *reader; /* SOURCE */
    const struct mr_source_ops *source_ops;
    struct mr_source_config config;
    struct mr_source_counts counts;
    bool reader_opened, split_open;
    bool exhausted;
    uint32_t values_at;          /* VALUES: next row */
    struct mr_exchange *inbox;   /* EXCHANGE */
    struct mr_input_block input; /* SOURCE of files: what the open split reads */
    uint32_t ends_n, inbox_at;   /* end markers seen; worker to look at first */
    struct mr_packet *packet;    /* being pushed */
};

enum mr_stage_phase { MR_STAGE_READING, MR_STAGE_MARKING, MR_STAGE_ENDING, MR_STAGE_DONE };

struct mr_frame {
    const struct mr_batch *in;
    uint32_t node; /* consumer */
    uint32_t port;
    bool finished; /* its operator wants no second call with in */
};

struct mr_stage {
    const struct mr_shape_stage *shape;
    enum mr_stage_phase phase;
    struct mr_leaf *leaves;
    uint32_t leaf_at;        /* whose turn it is */
    struct mr_leaf *pushing; /* the leaf whose batch is in the frames, or NULL */
    uint32_t mark_at;
    struct mr_frame *frames;
    uint32_t frames_n;
    struct mr_exchange *outbox; /* NULL: the sink's stage */
};

struct mr_recorded { /* rows for on_rows */
    struct mr_recorded *next;
    struct mr_batch batch;
};

struct mr_part {
    _Alignas(64) _Atomic uint32_t command;
    struct mr_query *query;
    struct mr_worker *worker;
    uint32_t index;
    jmp_buf escape;
    struct mr_error err;
    struct mr_arena arena, epoch;
    struct mr_eval_context eval;
    struct mr_instance *instances; /* by node id */
    struct mr_stage *stages;
    struct mr_state ***tables; /* by stateful_index, then table */
    void *writer;
    struct mr_sink_config sink;
    bool writer_opened;
    bool muted; /* the epoch's rows are out already: nothing is given to the sink */
    bool prepare_failed;
    uint64_t sink_rows;
    struct mr_recorded *recorded, **recorded_end;
    struct mr_change_log log;
    struct mr_buffer prepared;
    bool begun;     /* the epoch */
    uint64_t moved; /* raised by all that is progress */
    /* For who watches: moved; the node that is called, or waited for. */
    _Atomic uint64_t moved_told;
    _Atomic uint32_t at; /* MR_NO_NODE: other workers */
};

/* Before the node is called. */
static inline void mr_part_at(struct mr_part *p, uint32_t node)
{
    atomic_store_explicit(&p->at, node, memory_order_relaxed);
}

/* Something went on: a batch, a split, a packet. */
static inline void mr_part_moved(struct mr_part *p)
{
    atomic_store_explicit(&p->moved_told, ++p->moved, memory_order_relaxed);
}

/* By the worker: a slice of work for whatever command the part has. */
enum mr_slice mr_part_slice(struct mr_part *p);

/* open.c: by the worker, within mr_part_slice. */
MR_NODISCARD enum mr_status mr_part_open(struct mr_part *p);
void mr_part_close(struct mr_part *p);

/* leaf.c: the next batch of a leaf. */
enum mr_pulled {
    MR_PULLED_ROWS,    /* *batch has some */
    MR_PULLED_NOTHING, /* but ask again */
    MR_PULLED_EMPTY,   /* until another worker sends */
    MR_PULLED_WAIT,    /* until the outside has more */
    MR_PULLED_END,     /* of the epoch */
    MR_PULLED_FAILED,
};
enum mr_pulled mr_leaf_pull(struct mr_part *p, struct mr_leaf *leaf, const struct mr_batch **batch);
/* The batch that was pulled last has been pushed. */
void mr_leaf_pushed(struct mr_part *p, struct mr_leaf *leaf);
void mr_leaf_begin(struct mr_part *p, struct mr_leaf *leaf);

/* push.c: one slice of a stage. MR_NEED_INPUT: waits for others. MR_MORE_OUTPUT: has more to do.
 * MR_BLOCKED: waits for the outside. MR_DONE: finished with the epoch. */
void mr_stage_begin(struct mr_part *p, struct mr_stage *s);
enum mr_step mr_stage_slice(struct mr_part *p, struct mr_stage *s);
