/* planner.h - what the physical_*.c files share: logical plan -> struct mr_node.
 *
 * Errors   Functions give a planned with node NULL when they fail; the error is in p->err.
 */
#pragma once
#include "core/plan/logical.h"

struct mr_planner {
    struct mr_arena *arena;
    struct mr_error *err;
    const struct mr_plan_request *request;
    struct mr_node **nodes; /* by id */
    uint32_t nodes_n, nodes_capacity, watermarks_n;
};

/* A node and what its columns are. Rows are spread over the workers: by the hash of the columns
 * by[..] (in that order), all on one worker, or anyhow. */
struct mr_planned {
    struct mr_node *node;
    const struct mr_attribute *columns;
    uint32_t columns_n;
    uint32_t *by; /* ids */
    uint32_t by_n;
    bool gathered;
};

/* physical.c */
struct mr_planned mr_plan_node(struct mr_planner *p, struct mr_logical *node);
struct mr_node *mr_node_new(struct mr_planner *p, enum mr_node_kind kind,
                            const struct mr_node *const *children, uint32_t children_n);
const struct mr_type *mr_row_type(struct mr_planner *p, const struct mr_attribute *columns,
                                  uint32_t n);
/* x over column numbers; NULL when it holds what no operator can do (a subquery). */
struct mr_expr *mr_bind(struct mr_planner *p, struct mr_expr *x, const struct mr_attribute *columns,
                        uint32_t n);
const struct mr_expr **mr_bind_all(struct mr_planner *p, struct mr_expr *const *exprs,
                                   uint32_t exprs_n, const struct mr_attribute *columns,
                                   uint32_t n);
/* Adds an exchange by keys[0..n) (none: all to one worker) where there are several workers. */
struct mr_planned mr_exchange(struct mr_planner *p, struct mr_planned in, const uint32_t *keys,
                              uint32_t keys_n);
struct mr_planned mr_plan_unsupported(struct mr_planner *p, struct mr_place place,
                                      const char *what);
/* The first column with an event time, in columns[from..n); UINT32_MAX: none. */
uint32_t mr_event_time_column(const struct mr_attribute *columns, uint32_t n);
enum mr_time_rule mr_time_rule_of(const struct mr_attribute *a);

/* physical_aggregate.c */
struct mr_planned mr_plan_aggregate(struct mr_planner *p, struct mr_logical *node);
