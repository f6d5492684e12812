/* logical.h - the analyzed plan: relational operators over attributes with unique ids.
 *
 * Why      Names are resolved once, by the analyzer. From then on an output column is known by its
 *          id, so that nodes can be moved, merged and cut without resolving anything again.
 * Exprs    As in core/expr, but the index of a MR_EXPR_COLUMN is the id of an attribute of the
 *          child. The physical planner turns ids into column numbers.
 * Owner    The arena of the planning call. Nodes are changed in place by the rewrites; expressions
 *          are shared and never changed.
 */
#pragma once
#include "core/plan/plan.h"

/* What is known of an output column. Spark's metadata is the event time and the window marks: it
 * goes with the column through projections and aliases, and is lost in any other expression. */
struct mr_attribute {
    uint32_t id;
    const char *name;
    const char *qualifier; /* name of the relation it is from, or NULL */
    const struct mr_type *type;
    bool nullable;
    bool event_time;      /* has a watermark: delay_us counts */
    bool window, session; /* made by window(..), session_window(..) */
    bool qualified_only;  /* of a USING join: not in *, found by its qualifier */
    int64_t delay_us;
};

/* kind, name in explain */
#define MR_LOGICALS(X)                                                                             \
    X(MR_LOGICAL_SOURCE, "Relation")                                                               \
    X(MR_LOGICAL_VALUES, "LocalRelation")                                                          \
    X(MR_LOGICAL_PROJECT, "Project")                                                               \
    X(MR_LOGICAL_FILTER, "Filter")                                                                 \
    X(MR_LOGICAL_AGGREGATE, "Aggregate")                                                           \
    X(MR_LOGICAL_DISTINCT, "Distinct")                                                             \
    X(MR_LOGICAL_EXPAND, "Expand")                                                                 \
    X(MR_LOGICAL_GENERATE, "Generate")                                                             \
    X(MR_LOGICAL_WATERMARK, "EventTimeWatermark")                                                  \
    X(MR_LOGICAL_DEDUPLICATE, "Deduplicate")                                                       \
    X(MR_LOGICAL_WINDOW, "Window")                                                                 \
    X(MR_LOGICAL_UNION, "Union")                                                                   \
    X(MR_LOGICAL_EXCEPT, "Except")                                                                 \
    X(MR_LOGICAL_INTERSECT, "Intersect")                                                           \
    X(MR_LOGICAL_JOIN, "Join")                                                                     \
    X(MR_LOGICAL_SORT, "Sort")                                                                     \
    X(MR_LOGICAL_LIMIT, "GlobalLimit")                                                             \
    X(MR_LOGICAL_OFFSET, "Offset")                                                                 \
    X(MR_LOGICAL_SAMPLE, "Sample")                                                                 \
    X(MR_LOGICAL_PIVOT, "Pivot")                                                                   \
    X(MR_LOGICAL_WITH, "WithCTE") /* children: the definitions, then the query */                  \
    X(MR_LOGICAL_CTE_REF, "CTERelationRef")

enum mr_logical_kind {
#define X(kind, name) kind,
    MR_LOGICALS(X)
#undef X
        MR_LOGICALS_N
};

struct mr_logical_aggregate {
    struct mr_expr *call;   /* over the child's attributes */
    struct mr_expr *filter; /* FILTER (WHERE ..), or NULL */
    bool distinct;
    struct mr_attribute attribute; /* its result */
};

struct mr_logical {
    enum mr_logical_kind kind;
    struct mr_place place;
    bool streaming; /* some leaf is a stream */
    struct mr_logical **children;
    uint32_t children_n;
    struct mr_attribute *output;
    uint32_t output_n;

    /* PROJECT: one for each output. AGGREGATE: the same, over group and result attributes. FILTER:
     * exprs[0]. EXPAND, VALUES: rows_n rows of one for each output. GENERATE: exprs[0] the call;
     * its outputs are the child's, then those of the generator. WINDOW: calls, as texts. JOIN:
     * exprs[0], the condition, or none. SORT: keys. */
    struct mr_expr **exprs;
    uint32_t exprs_n, rows_n;
    const struct mr_sort_key *sort; /* SORT: exprs again, with direction */

    struct mr_expr **groups; /* AGGREGATE */
    struct mr_attribute *group_attributes;
    uint32_t groups_n;
    struct mr_logical_aggregate *aggregates;
    uint32_t aggregates_n;

    uint32_t *keys; /* DEDUPLICATE: ids. WATERMARK: keys[0], the event time */
    uint32_t keys_n;
    bool within; /* DEDUPLICATE: within the watermark */
    bool outer;  /* GENERATE */
    bool all;    /* EXCEPT, INTERSECT */
    int64_t delay_us;
    uint64_t limit; /* LIMIT, OFFSET */
    enum mr_join_kind join_kind;
    const struct mr_table *table;  /* SOURCE */
    struct mr_logical *definition; /* CTE_REF; its columns in order are output's */
    const char *name;              /* CTE_REF, WINDOW: the call; WITH: none */
};

const char *mr_logical_name(enum mr_logical_kind kind);
/* A node over children, streaming if one of them is; output: that of the first child, if there is
 * one. */
struct mr_logical *mr_logical_new(struct mr_arena *a, enum mr_logical_kind kind,
                                  struct mr_logical *const *children, uint32_t children_n,
                                  struct mr_place place);
struct mr_logical *mr_logical_unary(struct mr_arena *a, enum mr_logical_kind kind,
                                    struct mr_logical *child, struct mr_place place);
const struct mr_attribute *mr_attribute_find(const struct mr_attribute *list, uint32_t n,
                                             uint32_t id);
struct mr_expr *mr_attribute_expr(struct mr_arena *a, const struct mr_attribute *x);
struct mr_attribute *mr_attributes_copy(struct mr_arena *a, const struct mr_attribute *list,
                                        uint32_t n, uint32_t more);
/* Passes on child's columns as they are; what is not in keep (if given) is left out. */
struct mr_logical *mr_logical_narrow(struct mr_arena *a, struct mr_logical *child,
                                     const struct mr_attribute *keep, uint32_t keep_n);

/* items with room for one more behind n; capacity follows. */
void *mr_grow(struct mr_arena *a, void *items, uint32_t n, uint32_t *capacity, size_t item_bytes);

/* memcpy that may be asked for nothing from nowhere. */
static inline void mr_copy_items(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* A set of attribute ids. */
struct mr_ids {
    uint64_t *bits;
    uint32_t n; /* ids are below it */
};
struct mr_ids mr_ids_new(struct mr_arena *a, uint32_t n);
void mr_ids_add(struct mr_ids *s, uint32_t id);
bool mr_ids_has(const struct mr_ids *s, uint32_t id);
void mr_ids_add_expr(struct mr_ids *s, const struct mr_expr *x); /* all columns in x */

bool mr_expr_refers(const struct mr_expr *x, uint32_t id);
/* All columns of x are among list. */
bool mr_expr_covered(const struct mr_expr *x, const struct mr_attribute *list, uint32_t n);
/* Copies x; where replace gives something, that stands in place of the part. */
struct mr_expr *mr_expr_replace(struct mr_arena *a, struct mr_expr *x,
                                struct mr_expr *(*replace)(void *arg, struct mr_expr *x),
                                void *arg);
/* Puts exprs[i] for the column with the id of list[i]. */
struct mr_expr *mr_expr_substitute(struct mr_arena *a, struct mr_expr *x,
                                   const struct mr_attribute *list, struct mr_expr *const *exprs,
                                   uint32_t n);
bool mr_expr_is_call(const struct mr_expr *x, const char *name);
/* Splits a AND b AND .. into parts[0..result); room for mr_expr_conjuncts(x, NULL). */
uint32_t mr_expr_conjuncts(struct mr_expr *x, struct mr_expr **parts);
/* parts joined by AND, which must be BOOLEAN; NULL for none. */
struct mr_expr *mr_expr_and(struct mr_arena *a, struct mr_expr *const *parts, uint32_t n);

/* Constant parts become literals, with the text that they had. What depends on the epoch stays;
 * what fails stays too, and fails when a row needs it. */
struct mr_expr *mr_expr_fold(struct mr_arena *a, const struct mr_session *session,
                             struct mr_expr *x);

/* An expression that stands for a subquery: data is its struct mr_logical. */
extern const struct mr_function mr_subquery_function;

/* stream_rules.c: what Spark refuses, in Spark's order. */
/* The topmost streaming aggregation of a plan, or NULL. */
const struct mr_logical *mr_first_aggregate(const struct mr_logical *node);
MR_NODISCARD enum mr_status mr_stream_rules_check(const struct mr_logical *plan, bool streaming,
                                                  enum mr_output_mode mode,
                                                  const struct mr_conf *conf, struct mr_error *err);

struct mr_rewriter {
    struct mr_arena *arena;
    const struct mr_session *session;
    struct mr_error *err;
    uint32_t next_id; /* the next free attribute id */
    bool streaming;
};
/* rewrite.c: Spark's rewrites that change results; pushdown.c: filters down; prune.c: columns. */
MR_NODISCARD enum mr_status mr_rewrite(struct mr_rewriter *r, struct mr_logical **plan);
struct mr_logical *mr_pushdown(struct mr_rewriter *r, struct mr_logical *plan);
struct mr_logical *mr_prune(struct mr_rewriter *r, struct mr_logical *plan);

/* explain.c; mr_node_text: one line for struct mr_node.text */
const char *mr_node_text(const struct mr_node *node, struct mr_arena *a);
void mr_logical_print(const struct mr_logical *plan, struct mr_buffer *out);
