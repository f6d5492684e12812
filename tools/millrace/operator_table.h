/* operator_table.h - where the time went: calls, rows and cycles of every operator of a query. */
#pragma once
#include "core/run/progress.h"
#include <stdio.h>

enum { MR_OPERATOR_TABLE_MAX = 256 };

struct mr_operator_table {
    struct mr_node_counters rows[MR_OPERATOR_TABLE_MAX]; /* totals since the start */
    uint32_t n;
};

void mr_operator_table_take(struct mr_operator_table *t, const struct mr_progress *p);
void mr_operator_table_print(const struct mr_operator_table *t, const char *query, FILE *out);
