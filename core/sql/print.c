/* print.c - relations as an indented tree, one node a line, its inputs below it. */
#include "core/sql/print.h"

#include "core/format/format.h"
#include "core/sql/parser.h"

static void print_relation(const struct mr_relation *r, uint32_t level, struct mr_buffer *out);

static void append(struct mr_buffer *out, const char *s)
{
    mr_buffer_append(out, s, strlen(s));
}

static void indent(uint32_t level, struct mr_buffer *out)
{
    for (uint32_t i = 0; i < level; i++)
        append(out, "  ");
}

/* The relations within an expression, below the node that has it. */
static void print_subqueries(const struct mr_ast *x, uint32_t level, struct mr_buffer *out)
{
    if (x == NULL)
        return;
    if (x->relation) {
        indent(level, out);
        append(out, "subquery\n");
        print_relation(x->relation, level + 1, out);
    }
    for (uint32_t i = 0; i < x->args_n; i++)
        print_subqueries(x->args[i], level, out);
    print_subqueries(x->filter, level, out);
}

static void print_columns(const struct mr_relation *r, struct mr_buffer *out)
{
    if (r->columns_n == 0)
        return;
    append(out, " (");
    mr_print_names(r->columns, r->columns_n, ", ", out);
    append(out, ")");
}

static void print_list(const char *title, struct mr_ast *const *items, uint32_t n,
                       struct mr_buffer *out)
{
    append(out, title);
    append(out, " [");
    mr_print_expressions(items, n, out);
    append(out, "]");
}

static void print_read(const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, r->streaming ? "stream " : "read ");
    mr_print_names(r->name, r->name_n, ".", out);
    for (uint32_t i = 0; i < r->options_n; i++)
        mr_buffer_append_format(out, "%s%s=%s", i ? ", " : " with ", r->options[i].name,
                                r->options[i].value);
}

static void print_aggregate(const struct mr_relation *r, struct mr_buffer *out)
{
    static const char *const kinds[] = {"", " rollup", " cube", " sets", " all"};

    append(out, "aggregate");
    append(out, kinds[r->group_kind]);
    print_list("", r->groups, r->groups_n, out);
    for (uint32_t i = 0; i < r->sets_n; i++) {
        append(out, i ? ", (" : " sets (");
        for (uint32_t j = 1; j <= r->sets[i][0]; j++)
            mr_buffer_append_format(out, "%s%u", j > 1 ? " " : "", r->sets[i][j]);
        append(out, ")");
    }
    print_list(" select", r->exprs, r->exprs_n, out);
    if (r->condition) {
        append(out, " having ");
        mr_ast_print(r->condition, out);
    }
}

static void print_join(const struct mr_relation *r, struct mr_buffer *out)
{
    static const char *const kinds[] = {"inner", "left", "right", "full", "semi", "anti", "cross"};

    mr_buffer_append_format(out, "%s%s%s join", r->natural ? "natural " : "",
                            r->lateral ? "lateral " : "", kinds[r->join_kind]);
    if (r->columns_n)
        append(out, " using");
    print_columns(r, out);
    if (r->condition) {
        append(out, " on ");
        mr_ast_print(r->condition, out);
    }
}

static void print_generate(const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, r->outer ? "generate outer " : "generate ");
    mr_ast_print(r->condition, out);
    append(out, " as ");
    mr_print_name(r->name[0], out);
    print_columns(r, out);
}

static void print_watermark(const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, "watermark ");
    mr_ast_print(r->watermark, out);
    mr_buffer_append_format(out, " delay %s", r->delay);
}

static void print_values(const struct mr_relation *r, struct mr_buffer *out)
{
    uint32_t width = r->exprs_n / r->rows_n;

    append(out, "values");
    for (uint32_t i = 0; i < r->rows_n; i++) {
        append(out, i ? ", (" : " (");
        mr_print_expressions(r->exprs + i * width, width, out);
        append(out, ")");
    }
}

static void print_set_operation(const struct mr_relation *r, struct mr_buffer *out)
{
    static const char *const kinds[] = {"union", "except", "intersect"};

    append(out, kinds[r->set_kind]);
    if (r->all)
        append(out, " all");
}

static void print_named(const char *title, const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, title);
    mr_print_names(r->name, r->name_n, ".", out);
    print_columns(r, out);
}

static void print_pivot(const struct mr_relation *r, struct mr_buffer *out)
{
    print_list("pivot", r->exprs, r->exprs_n, out);
    append(out, " for");
    print_columns(r, out);
    print_list(" in", r->groups, r->groups_n, out);
}

static void print_filter(const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, "filter ");
    mr_ast_print(r->condition, out);
}

static void print_deduplicate(const struct mr_relation *r, struct mr_buffer *out)
{
    append(out, r->within_watermark ? "deduplicate within watermark" : "deduplicate");
    print_columns(r, out);
}

static void print_node(const struct mr_relation *r, struct mr_buffer *out)
{
    switch (r->kind) {
    case MR_REL_READ:
        print_read(r, out);
        break;
    case MR_REL_LOCAL:
        print_values(r, out);
        break;
    case MR_REL_ONE_ROW:
        append(out, "one row");
        break;
    case MR_REL_ALIAS:
        print_named("alias ", r, out);
        break;
    case MR_REL_PROJECT:
        print_list("project", r->exprs, r->exprs_n, out);
        break;
    case MR_REL_FILTER:
        print_filter(r, out);
        break;
    case MR_REL_AGGREGATE:
        print_aggregate(r, out);
        break;
    case MR_REL_DISTINCT:
        append(out, "distinct");
        break;
    case MR_REL_DEDUPLICATE:
        print_deduplicate(r, out);
        break;
    case MR_REL_WITH_WATERMARK:
        print_watermark(r, out);
        break;
    case MR_REL_GENERATE:
        print_generate(r, out);
        break;
    case MR_REL_JOIN:
        print_join(r, out);
        break;
    case MR_REL_SET_OPERATION:
        print_set_operation(r, out);
        break;
    case MR_REL_SORT:
        print_list("sort", r->exprs, r->exprs_n, out);
        break;
    case MR_REL_LIMIT:
        print_list("limit", r->exprs, r->exprs_n, out);
        break;
    case MR_REL_OFFSET:
        print_list("offset", r->exprs, r->exprs_n, out);
        break;
    case MR_REL_WITH:
        append(out, "with");
        break;
    case MR_REL_PIVOT:
        print_pivot(r, out);
        break;
    case MR_REL_SAMPLE:
        print_list("sample", r->exprs, r->exprs_n, out);
        mr_buffer_append_format(out, " %s", r->name[0]);
        break;
    case MR_REL_TABLE_FUNCTION:
        print_named("table function ", r, out);
        print_list("", r->exprs, r->exprs_n, out);
        break;
    }
}

static void print_relation(const struct mr_relation *r, uint32_t level, struct mr_buffer *out)
{
    indent(level, out);
    print_node(r, out);
    append(out, "\n");
    for (uint32_t i = 0; i < r->ctes_n; i++) {
        indent(level + 1, out);
        append(out, "cte ");
        mr_print_name(r->ctes[i].name, out);
        if (r->ctes[i].columns_n) {
            append(out, " (");
            mr_print_names(r->ctes[i].columns, r->ctes[i].columns_n, ", ", out);
            append(out, ")");
        }
        append(out, "\n");
        print_relation(r->ctes[i].relation, level + 2, out);
    }
    for (uint32_t i = 0; i < r->exprs_n; i++)
        print_subqueries(r->exprs[i], level + 1, out);
    print_subqueries(r->condition, level + 1, out);
    if (r->input)
        print_relation(r->input, level + 1, out);
    if (r->right)
        print_relation(r->right, level + 1, out);
}

void mr_relation_print(const struct mr_relation *r, struct mr_buffer *out)
{
    print_relation(r, 0, out);
}
