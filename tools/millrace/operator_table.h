/* operator_table.h - where the time went: calls, rows and cycles of every operator of a query, on
 * its plan.
 */
#pragma once
#include "core/run/job.h"
#include "core/run/progress.h"

enum { MR_OPERATOR_TABLE_MAX = 256 };

struct mr_operator_table {
    struct mr_node_counters rows[MR_OPERATOR_TABLE_MAX]; /* by node id; totals since the start */
    uint32_t n;
    uint64_t began, ended; /* cycles of the clock: when the query started, when it told last */
};

void mr_operator_table_begin(struct mr_operator_table *t);
void mr_operator_table_take(struct mr_operator_table *t, const struct mr_progress *p);
/* The tree of the job's query, a line a node, its secrets hidden. workers: how many shared the
 * cycles. Memory is a's. */
struct mr_text mr_operator_table_text(const struct mr_operator_table *t, const struct mr_job *job,
                                      const char *query, const struct mr_node *root,
                                      uint32_t workers, struct mr_arena *a);
