#include "tools/millrace/operator_table.h"

#include <string.h>

void mr_operator_table_begin(struct mr_operator_table *t)
{
    t->n = 0;
    t->began = t->ended = __builtin_ia32_rdtsc();
}

void mr_operator_table_take(struct mr_operator_table *t, const struct mr_progress *p)
{
    t->n = p->nodes_n < MR_OPERATOR_TABLE_MAX ? p->nodes_n : MR_OPERATOR_TABLE_MAX;
    if (t->n)
        memcpy(t->rows, p->nodes, t->n * sizeof *t->rows);
    if (!p->is_idle)
        t->ended = __builtin_ia32_rdtsc();
}

static double share(uint64_t part, uint64_t all)
{
    return all ? 100.0 * (double)part / (double)all : 0.0;
}

static void print_node(const struct mr_operator_table *t, const struct mr_node *node,
                       uint32_t depth, uint64_t all, struct mr_buffer *out)
{
    static const struct mr_node_counters none;
    const struct mr_node_counters *c = node->id < t->n ? &t->rows[node->id] : &none;
    uint64_t rows = c->rows_in ? c->rows_in : c->rows_out; /* a source has none in */

    mr_buffer_append_format(out, "%5.1f%% %12llu %14llu %14llu %16llu %11.1f  ",
                            share(c->cycles, all), (unsigned long long)c->calls,
                            (unsigned long long)c->rows_in, (unsigned long long)c->rows_out,
                            (unsigned long long)c->cycles,
                            rows ? (double)c->cycles / (double)rows : 0.0);
    mr_buffer_append_format(out, "%*s%s%s\n", depth > 1 ? (int)(depth - 1) * 3 : 0, "",
                            depth ? "+- " : "", node->text ? node->text : "");
    for (uint32_t i = 0; i < node->children_n; i++)
        print_node(t, node->children[i], depth + 1, all, out);
}

struct mr_text mr_operator_table_text(const struct mr_operator_table *t, const struct mr_job *job,
                                      const char *query, const struct mr_node *root,
                                      uint32_t workers, struct mr_arena *a)
{
    struct mr_buffer out;
    uint64_t all = 0;

    mr_buffer_init(&out, a);
    for (uint32_t i = 0; i < t->n; i++)
        all += t->rows[i].cycles;
    mr_buffer_append_format(&out, "%s: operators, from the sink down\n", query);
    mr_buffer_append_format(&out, "%6s %12s %14s %14s %16s %11s  %s\n", "share", "calls", "rows in",
                            "rows out", "cycles", "cycles/row", "operator");
    print_node(t, root, 0, all, &out);
    mr_buffer_append_format(
        &out,
        "the operators had %.0f%% of the time of %u worker%s; planning, waiting "
        "and committing the rest\n",
        share(all, (t->ended - t->began) * workers), workers, workers == 1 ? "" : "s");
    return mr_job_hide_in_text(job, (struct mr_text){(const char *)out.data, out.n}, a);
}
