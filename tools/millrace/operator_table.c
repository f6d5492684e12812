#include "tools/millrace/operator_table.h"

#include <string.h>

void mr_operator_table_take(struct mr_operator_table *t, const struct mr_progress *p)
{
    t->n = p->nodes_n < MR_OPERATOR_TABLE_MAX ? p->nodes_n : MR_OPERATOR_TABLE_MAX;
    if (t->n)
        memcpy(t->rows, p->nodes, t->n * sizeof *t->rows);
}

void mr_operator_table_print(const struct mr_operator_table *t, const char *query, FILE *out)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < t->n; i++)
        all += t->rows[i].cycles;
    fprintf(out, "%s: operators, from the sink down\n%6s %12s %14s %14s %16s %11s  %s\n", query,
            "share", "calls", "rows in", "rows out", "cycles", "cycles/row", "operator");
    for (uint32_t i = t->n; i-- > 0;) {
        const struct mr_node_counters *c = &t->rows[i];
        uint64_t rows = c->rows_in ? c->rows_in : c->rows_out; /* a source has none in */
        if (c->node == NULL)
            continue;
        fprintf(out, "%5.1f%% %12llu %14llu %14llu %16llu %11.1f  %s\n",
                all ? 100.0 * (double)c->cycles / (double)all : 0.0, (unsigned long long)c->calls,
                (unsigned long long)c->rows_in, (unsigned long long)c->rows_out,
                (unsigned long long)c->cycles, rows ? (double)c->cycles / (double)rows : 0.0,
                c->node->text ? c->node->text : "");
    }
}
