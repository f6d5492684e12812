/* shape.h - a physical plan cut into stages: what all workers share of it, read-only.
 *
 * Stage    The nodes between leaves (sources, values, receiving exchanges) and the next exchange
 *          or the sink, which is its root. Stage 0 has the sink; a stage has a higher number than
 *          the one it sends to. An exchange is the root of its own stage and a leaf of the one
 *          above.
 */
#pragma once
#include "core/op/operator.h"

enum { MR_STAGES_MAX = 64 };
#define MR_NO_NODE UINT32_MAX

struct mr_shape_node {
    const struct mr_node *node;
    const struct mr_operator_ops *ops; /* NULL: source, values, exchange, sink */
    void *plan;                        /* the operator's */
    const struct mr_state_table *tables;
    uint32_t tables_n; /* 0 in a batch query */
    uint32_t parent;   /* MR_NO_NODE: the sink */
    uint32_t port;     /* which child of parent it is */
    uint32_t stage;    /* where it works; an exchange: where it is root */
    int32_t all_to;    /* stateful: all partitions are this worker's; -1: cut by hash */
    uint32_t source;   /* SOURCE: number among sources of the query */
    uint32_t leaf;     /* SOURCE: number among source nodes */
};

struct mr_shape_stage {
    uint32_t root;          /* node id: sink or exchange */
    const uint32_t *leaves; /* node ids */
    uint32_t leaves_n;
    const uint32_t *ops; /* node ids, ascending: children before parents */
    uint32_t ops_n;
    uint32_t depth_max; /* frames that a batch may need */
};

struct mr_shape {
    const struct mr_physical_plan *plan;
    struct mr_shape_node *nodes; /* by id */
    uint32_t nodes_n;
    struct mr_shape_stage *stages;
    uint32_t stages_n;
    const struct mr_table **tables; /* distinct tables of SOURCE nodes, by index */
    uint32_t sources_n, leaves_n;
    uint32_t *stateful; /* node ids by stateful_index */
    uint32_t stateful_n;
    bool batch;
};

/* Plans the operators too. Memory is a's. */
MR_NODISCARD enum mr_status mr_shape_build(const struct mr_physical_plan *plan, bool batch,
                                           struct mr_arena *a, struct mr_shape *out,
                                           struct mr_error *err);

/* ships.c: by column of an exchange, whether anybody above reads it. */
const bool *mr_shape_ships(const struct mr_shape *s, uint32_t exchange, struct mr_arena *a);

/* Spark's name of an operator, or ours. */
const char *mr_node_name(enum mr_node_kind kind);

static inline uint32_t mr_owner_of(uint32_t partition, uint32_t workers)
{
    return partition * workers / MR_PARTITIONS;
}

/* The worker that has a partition of stateful operator op. */
static inline uint32_t mr_state_owner(const struct mr_shape *s, uint32_t op, uint32_t partition,
                                      uint32_t workers)
{
    int32_t all_to = s->nodes[s->stateful[op]].all_to;

    return all_to >= 0 ? (uint32_t)all_to : mr_owner_of(partition, workers);
}
