/* physical.h - the physical plan: a tree of nodes that operators (core/op) execute.
 *
 * What     Each node is one operator on every worker. Expressions are bound: MR_EXPR_COLUMN is a
 *          column index of the (first) child's output. Exchange nodes cut the tree into stages.
 * Owner    Immutable after planning; lives as long as the query.
 */
#pragma once
#include "core/expr/aggregate.h"
#include "core/plan/session.h"

enum mr_output_mode { MR_APPEND, MR_UPDATE, MR_COMPLETE };

/* node kind, name in explain and progress */
#define MR_NODES(X)                                                                                \
    X(MR_NODE_SOURCE, "source") /* leaf: a streaming source or static table */                     \
    X(MR_NODE_VALUES, "values") /* leaf: inline rows, given once (batch) */                        \
    X(MR_NODE_FILTER, "filter")                                                                    \
    X(MR_NODE_PROJECT, "project")                                                                  \
    X(MR_NODE_GENERATE, "generate")   /* explode and its kin */                                    \
    X(MR_NODE_EXPAND, "expand")       /* grouping sets, sliding windows: row -> rows */            \
    X(MR_NODE_WATERMARK, "watermark") /* notes the maximum of the time column */                   \
    X(MR_NODE_UNION, "union")                                                                      \
    X(MR_NODE_EXCHANGE, "exchange") /* by key hash, or all to one worker */                        \
    X(MR_NODE_PARTIAL_AGGREGATE, "partial_aggregate")                                              \
    X(MR_NODE_AGGREGATE, "stateStoreSave") /* merges partial rows into state */                    \
    X(MR_NODE_DEDUPLICATE, "dedupe")                                                               \
    X(MR_NODE_DEDUPLICATE_WITHIN, "dedupeWithinWatermark")                                         \
    X(MR_NODE_GLOBAL_LIMIT, "globalLimit") /* with state in a stream */                            \
    X(MR_NODE_LIMIT, "limit")              /* per epoch: complete mode, batch */                   \
    X(MR_NODE_SORT, "sort")                                                                        \
    X(MR_NODE_SINK, "sink")

enum mr_node_kind {
#define X(kind, name) kind,
    MR_NODES(X)
#undef X
        MR_NODES_N
};

struct mr_sort_key {
    struct mr_expr *expr;
    bool descending, nulls_first;
};

struct mr_aggregate_item {
    const struct mr_aggregate *aggregate;
    const struct mr_expr *call;   /* arguments bound to the partial node's input */
    const struct mr_expr *filter; /* FILTER (WHERE ..), or NULL */
};

/* How time bounds a stateful operator. */
enum mr_time_rule {
    MR_TIME_NONE,       /* no watermark in its keys: no late filter, no eviction */
    MR_TIME_WINDOW_END, /* key time_key is a window struct {start, end}: its end counts */
    MR_TIME_COLUMN,     /* key time_key is the event time itself */
};

struct mr_node {
    enum mr_node_kind kind;
    uint32_t id; /* in post-order, dense from 0: unique in the query */
    const struct mr_node *const *children;
    uint32_t children_n;
    const struct mr_type *output; /* STRUCT */
    const char *text;             /* one line for explain: what Spark would print, shortened */

    /* PROJECT: outputs. FILTER: exprs[0]. WATERMARK: exprs[0] the time. EXPAND: exprs_n = rows_n *
     * output columns, row by row. GENERATE: exprs[0] the generator call, outputs after it: columns
     * kept; output: those columns, then the generator's. VALUES: as EXPAND, literals. AGGREGATE:
     * final outputs over [keys, results]. */
    const struct mr_expr *const *exprs;
    uint32_t exprs_n;
    /* EXPAND: rows out per row in; with a time_rule late ones are left out, and counted by the
     * PARTIAL_AGGREGATE below. VALUES: rows. */
    uint32_t rows_n;
    bool outer; /* GENERATE */
    const struct mr_table
        *table; /* SOURCE: output may be a subset of table->schema, in any order */

    /* EXCHANGE: hash of columns keys[0..n); none: all rows to one worker. AGGREGATE, DEDUPLICATE*:
     * keys */
    const struct mr_expr *const *keys;
    uint32_t keys_n;
    const struct mr_aggregate_item *aggregates; /* both aggregate nodes, the same list */
    uint32_t aggregates_n;
    enum mr_output_mode mode;
    enum mr_time_rule time_rule;
    /* Index into keys (aggregate) or input columns (dedup, where state is evicted only if that
     * column is also one of keys). */
    uint32_t time_key;
    int64_t window_us, slide_us, offset_us; /* a window key made here by a time column: see below */
    /* PARTIAL_AGGREGATE: key that is the pane of a time, slide_us wide (tumbling: the window),
     * computed by the operator itself for speed: its expr is the time column, rows where it is null
     * are left out (no FILTER does it), the output column is a window struct; else UINT32_MAX.
     * AGGREGATE: that key, of whole windows then. */
    uint32_t window_key;
    bool is_stateful;         /* has state tables in a stream */
    uint32_t stateful_index;  /* from the sink end, as in progress; operators with state only */
    uint32_t watermark_index; /* WATERMARK */
    int64_t delay_us;         /* WATERMARK (a month counts 31 days), DEDUPLICATE_WITHIN */
    const struct mr_sort_key *sort; /* SORT */
    uint32_t sort_n;
    uint64_t limit, skip; /* LIMIT, GLOBAL_LIMIT */
    bool batch;           /* a batch query: no state, one epoch, all out at its end */
};

struct mr_physical_plan {
    const struct mr_node *root;         /* the sink node; its child gives the result */
    const struct mr_node *const *nodes; /* by id */
    uint32_t nodes_n;
    uint32_t watermarks_n;
    uint32_t stateful_n;
    bool needs_no_data_batches; /* a stateful operator acts when the watermark moves */
    enum mr_output_mode mode;
};
