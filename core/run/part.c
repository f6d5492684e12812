#include "core/base/check.h"
#include "core/run/control.h"
#include "core/run/futex.h"
#include "core/run/pipeline.h"
#include <stdio.h>

static void begin_epoch(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    mr_arena_reset(&p->epoch);
    p->recorded = NULL;
    p->recorded_end = &p->recorded;
    mr_change_log_begin(p);
    mr_buffer_init(&p->prepared, &p->epoch);
    p->sink_rows = 0;
    p->eval.now_us = q->epoch.time_us;
    p->eval.epoch = q->epoch.id;
    for (uint32_t id = 0; id < q->shape.nodes_n; id++) {
        struct mr_instance *instance = &p->instances[id];
        instance->done = false;
        instance->ctx.counts = (struct mr_operator_counts){0};
        instance->ctx.max_time_us = INT64_MIN;
        instance->ctx.min_time_us = INT64_MAX;
        instance->ctx.time_sum_us = 0;
        instance->ctx.times_n = 0;
    }
    for (uint32_t i = 0; i < q->shape.stages_n; i++)
        mr_stage_begin(p, &p->stages[i]);
    p->begun = true;
}

static void count_memory(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    for (uint32_t op = 0; op < q->shape.stateful_n; op++) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[op]];
        struct mr_operator_counts *counts = &p->instances[n->node->id].ctx.counts;
        counts->memory_bytes = 0;
        for (uint32_t t = 0; t < n->tables_n; t++)
            counts->memory_bytes += mr_state_bytes(p->tables[op][t]);
    }
}

static enum mr_step finish_epoch(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    count_memory(p);
    if (!p->writer_opened || p->muted)
        return MR_NEED_INPUT;
    mr_part_at(p, q->shape.stages[0].root);
    enum mr_step step = q->config.sink_ops->prepare(p->writer, q->epoch.id, &p->prepared, &p->err);
    p->prepare_failed = step == MR_FAILED;
    return step;
}

static void complete(struct mr_part *p)
{
    struct mr_query *q = p->query;

    p->begun = false;
    mr_part_at(p, MR_NO_NODE);
    atomic_store_explicit(&p->command, MR_COMMAND_NONE, memory_order_relaxed);
    /* Release: all that this part wrote is seen by the control thread, which acquires a zero. */
    uint32_t before = atomic_fetch_sub_explicit(&q->at_work, 1, memory_order_acq_rel);
    if ((before & MR_PARTS_AT_WORK) == 1)
        mr_futex_wake(&q->at_work);
}

static enum mr_slice fail(struct mr_part *p)
{
    mr_query_fail(p->query, &p->err);
    complete(p);
    return MR_SLICE_WORKED;
}

static enum mr_slice slice_epoch(struct mr_part *p)
{
    const struct mr_query *q = p->query;
    uint64_t moved = p->moved;
    uint32_t waits_for = MR_NO_NODE;
    bool all_done = true, waits = false;

    if (atomic_load_explicit(&q->failed, memory_order_relaxed)) {
        complete(p);
        return MR_SLICE_WORKED;
    }
    if (!p->begun)
        begin_epoch(p);
    mr_change_log_ahead(p);
    for (uint32_t i = 0; i < q->shape.stages_n; i++) {
        enum mr_step step = mr_stage_slice(p, &p->stages[i]);
        if (step == MR_FAILED)
            return fail(p);
        all_done &= step == MR_DONE;
        if (step == MR_BLOCKED && !waits) {
            waits = true;
            waits_for = atomic_load_explicit(&p->at, memory_order_relaxed);
        }
    }
    if (all_done && !mr_change_log_rest(p))
        return MR_SLICE_IDLE; /* woken when a packet is home */
    if (all_done) {
        enum mr_step step = finish_epoch(p);
        if (step == MR_FAILED)
            return fail(p);
        if (step == MR_BLOCKED)
            return MR_SLICE_WAITING;
        complete(p);
        return MR_SLICE_WORKED;
    }
    if (p->moved != moved)
        return MR_SLICE_WORKED;
    mr_part_at(p, waits_for);
    return waits ? MR_SLICE_WAITING : MR_SLICE_IDLE;
}

static enum mr_slice slice(struct mr_part *p, enum mr_command command)
{
    switch (command) {
    case MR_COMMAND_NONE:
        return MR_SLICE_IDLE;
    case MR_COMMAND_OPEN:
        if (mr_part_open(p) != MR_OK)
            return fail(p);
        complete(p);
        return MR_SLICE_WORKED;
    case MR_COMMAND_EPOCH:
        return slice_epoch(p);
    case MR_COMMAND_CLOSE:
        mr_part_close(p);
        /* The slot goes first: after complete the part may be gone. */
        atomic_store_explicit(&p->worker->slots[p->query->slot], NULL, memory_order_relaxed);
        complete(p);
        return MR_SLICE_WORKED;
    }
    MR_UNREACHABLE();
    return MR_SLICE_IDLE;
}

/* Which operator asked for it, and whose state is the largest here. */
static void say_where(struct mr_part *p)
{
    const struct mr_shape *shape = &p->query->shape;
    uint32_t at = atomic_load_explicit(&p->at, memory_order_relaxed), largest = MR_NO_NODE;
    uint64_t largest_bytes = 0;
    char *end = p->err.message + strlen(p->err.message);
    const char *const limit = p->err.message + sizeof p->err.message;

    for (uint32_t op = 0; p->tables && op < shape->stateful_n; op++) {
        uint64_t bytes = 0;
        for (uint32_t t = 0; t < shape->nodes[shape->stateful[op]].tables_n; t++)
            bytes += p->tables[op] && p->tables[op][t] ? mr_state_bytes(p->tables[op][t]) : 0;
        if (bytes > largest_bytes) {
            largest_bytes = bytes;
            largest = shape->stateful[op];
        }
    }
    if (at != MR_NO_NODE)
        snprintf(end, (size_t)(limit - end), " (worker %u was at operator %s)", p->index,
                 mr_node_name(shape->nodes[at].node->kind));
    end += strlen(end);
    if (largest != MR_NO_NODE)
        snprintf(end, (size_t)(limit - end),
                 "; the state of operator %s has %.1f MB on this worker",
                 mr_node_name(shape->nodes[largest].node->kind), (double)largest_bytes / 1e6);
}

/* An arena or a state table had no memory for this part. */
static enum mr_slice escaped(struct mr_part *p)
{
    (void)mr_query_no_memory(p->query, &p->err);
    say_where(p);
    return fail(p);
}

enum mr_slice mr_part_slice(struct mr_part *p)
{
    /* Acquire: pairs with the release in mr_query_command; the epoch and its splits are seen. */
    enum mr_command command = atomic_load_explicit(&p->command, memory_order_acquire);

    if (command == MR_COMMAND_NONE)
        return MR_SLICE_IDLE;
    if (setjmp(p->escape) != 0)
        return escaped(p);
    return slice(p, command);
}
