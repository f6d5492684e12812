/* explain.c - plans as indented trees. */
#include "core/plan/logical.h"

static void indent(struct mr_buffer *out, uint32_t depth)
{
    for (uint32_t i = 1; i < depth; i++)
        mr_buffer_append_text(out, MR_TEXT("   "));
    if (depth > 0)
        mr_buffer_append_text(out, MR_TEXT("+- "));
}

static void list_attributes(struct mr_buffer *out, const struct mr_attribute *list, uint32_t n)
{
    mr_buffer_append_text(out, MR_TEXT(" ["));
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(out, "%s%s#%u%s", i ? ", " : "", list[i].name, list[i].id,
                                list[i].event_time ? "-T" : "");
    mr_buffer_append_text(out, MR_TEXT("]"));
}

static void list_exprs(struct mr_buffer *out, struct mr_expr *const *exprs,
                       const struct mr_attribute *names, uint32_t n)
{
    mr_buffer_append_text(out, MR_TEXT(" ["));
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_expr *x = exprs[i];

        mr_buffer_append_format(out, "%s%s", i ? ", " : "", mr_expr_text(x));
        if (x->kind == MR_EXPR_COLUMN)
            mr_buffer_append_format(out, "#%u", x->index);
        if (names != NULL && !(x->kind == MR_EXPR_COLUMN && x->index == names[i].id))
            mr_buffer_append_format(out, " AS %s#%u", names[i].name, names[i].id);
    }
    mr_buffer_append_text(out, MR_TEXT("]"));
}

static void describe(const struct mr_logical *node, struct mr_buffer *out)
{
    static const char *const joins[] = {"Inner",    "LeftOuter", "RightOuter", "FullOuter",
                                        "LeftSemi", "LeftAnti",  "Cross"};

    switch (node->kind) {
    case MR_LOGICAL_SOURCE:
        mr_buffer_append_format(out, " %s%s", node->table->name,
                                node->streaming ? " (stream)" : "");
        list_attributes(out, node->output, node->output_n);
        break;
    case MR_LOGICAL_VALUES:
        list_attributes(out, node->output, node->output_n);
        mr_buffer_append_format(out, " %u rows", node->rows_n);
        break;
    case MR_LOGICAL_PROJECT:
        list_exprs(out, node->exprs, node->output, node->output_n);
        break;
    case MR_LOGICAL_FILTER:
    case MR_LOGICAL_SORT:
        list_exprs(out, node->exprs, NULL, node->exprs_n);
        break;
    case MR_LOGICAL_AGGREGATE:
        list_exprs(out, node->groups, node->group_attributes, node->groups_n);
        list_exprs(out, node->exprs, node->output, node->output_n);
        break;
    case MR_LOGICAL_EXPAND:
        list_attributes(out, node->output, node->output_n);
        mr_buffer_append_format(out, " %u rows each", node->rows_n);
        break;
    case MR_LOGICAL_GENERATE:
        mr_buffer_append_format(out, " %s%s", mr_expr_text(node->exprs[0]),
                                node->outer ? " outer" : "");
        list_attributes(out, node->output, node->output_n);
        break;
    case MR_LOGICAL_WATERMARK:
        mr_buffer_append_format(
            out, " %s, %lld ms",
            mr_attribute_find(node->output, node->output_n, node->keys[0])->name,
            (long long)(node->delay_us / 1000));
        break;
    case MR_LOGICAL_DEDUPLICATE:
        mr_buffer_append_text(out, node->within ? MR_TEXT(" within watermark [") : MR_TEXT(" ["));
        for (uint32_t i = 0; i < node->keys_n; i++)
            mr_buffer_append_format(
                out, "%s%s#%u", i ? ", " : "",
                mr_attribute_find(node->output, node->output_n, node->keys[i])->name,
                node->keys[i]);
        mr_buffer_append_text(out, MR_TEXT("]"));
        break;
    case MR_LOGICAL_JOIN:
        mr_buffer_append_format(out, " %s", joins[node->join_kind]);
        list_exprs(out, node->exprs, NULL, node->exprs_n);
        break;
    case MR_LOGICAL_LIMIT:
    case MR_LOGICAL_OFFSET:
        mr_buffer_append_format(out, " %llu", (unsigned long long)node->limit);
        break;
    case MR_LOGICAL_CTE_REF:
    case MR_LOGICAL_WINDOW:
        mr_buffer_append_format(out, " %s", node->name);
        list_attributes(out, node->output, node->output_n);
        break;
    default:
        list_attributes(out, node->output, node->output_n);
        break;
    }
}

static void print_logical(const struct mr_logical *node, uint32_t depth, struct mr_buffer *out)
{
    indent(out, depth);
    mr_buffer_append_text(out, mr_text_of(mr_logical_name(node->kind)));
    describe(node, out);
    mr_buffer_append_text(out, MR_TEXT("\n"));
    for (uint32_t i = 0; i < node->children_n; i++)
        print_logical(node->children[i], depth + 1, out);
}

void mr_logical_print(const struct mr_logical *plan, struct mr_buffer *out)
{
    print_logical(plan, 0, out);
}

static const char *const node_names[] = {
#define X(kind, name) name,
    MR_NODES(X)
#undef X
};

static void list_bound(struct mr_buffer *out, const char *label, const struct mr_expr *const *exprs,
                       uint32_t n)
{
    mr_buffer_append_format(out, " %s[", label);
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(out, "%s%s", i ? ", " : "", mr_expr_text(exprs[i]));
    mr_buffer_append_text(out, MR_TEXT("]"));
}

static void describe_times(const struct mr_node *node, struct mr_buffer *out)
{
    static const char *const rules[] = {"", " until window end", " until event time"};

    mr_buffer_append_text(out, mr_text_of(rules[node->time_rule]));
    if (node->is_stateful)
        mr_buffer_append_format(out, " state %u", node->stateful_index);
}

static void describe_node(const struct mr_node *node, struct mr_buffer *out)
{
    static const char *const modes[] = {"append", "update", "complete"};

    switch (node->kind) {
    case MR_NODE_SOURCE:
        mr_buffer_append_format(out, " %s", node->table->name);
        break;
    case MR_NODE_VALUES:
        mr_buffer_append_format(out, " %u rows", node->rows_n);
        break;
    case MR_NODE_FILTER:
    case MR_NODE_PROJECT:
    case MR_NODE_GENERATE:
        list_bound(out, "", node->exprs, node->exprs_n);
        break;
    case MR_NODE_EXPAND:
        mr_buffer_append_format(out, " %u rows each", node->rows_n);
        break;
    case MR_NODE_WATERMARK:
        list_bound(out, "", node->exprs, node->exprs_n);
        mr_buffer_append_format(out, " %lld ms, number %u", (long long)(node->delay_us / 1000),
                                node->watermark_index);
        break;
    case MR_NODE_EXCHANGE:
        if (node->keys_n > 0)
            list_bound(out, "hash ", node->keys, node->keys_n);
        else
            mr_buffer_append_text(out, MR_TEXT(" to one worker"));
        break;
    case MR_NODE_PARTIAL_AGGREGATE:
    case MR_NODE_AGGREGATE:
        list_bound(out, "keys ", node->keys, node->keys_n);
        mr_buffer_append_text(out, MR_TEXT(" ["));
        for (uint32_t i = 0; i < node->aggregates_n; i++)
            mr_buffer_append_format(out, "%s%s", i ? ", " : "",
                                    mr_expr_text(node->aggregates[i].call));
        mr_buffer_append_text(out, MR_TEXT("]"));
        if (node->kind == MR_NODE_AGGREGATE)
            mr_buffer_append_format(out, " %s", modes[node->mode]);
        else if (node->window_key != UINT32_MAX)
            mr_buffer_append_format(out, " %s key %u of %lld ms",
                                    node->slide_us < node->window_us ? "pane" : "window",
                                    node->window_key, (long long)(node->slide_us / 1000));
        describe_times(node, out);
        break;
    case MR_NODE_DEDUPLICATE:
    case MR_NODE_DEDUPLICATE_WITHIN:
        list_bound(out, "keys ", node->keys, node->keys_n);
        describe_times(node, out);
        break;
    case MR_NODE_GLOBAL_LIMIT:
    case MR_NODE_LIMIT:
        mr_buffer_append_format(out, " %llu", (unsigned long long)node->limit);
        if (node->skip > 0)
            mr_buffer_append_format(out, " after %llu", (unsigned long long)node->skip);
        break;
    case MR_NODE_SORT:
        for (uint32_t i = 0; i < node->sort_n; i++)
            mr_buffer_append_format(out, "%s%s%s", i ? ", " : " ", mr_expr_text(node->sort[i].expr),
                                    node->sort[i].descending ? " DESC" : "");
        break;
    default:
        break;
    }
}

static void print_node(const struct mr_node *node, uint32_t depth, struct mr_buffer *out)
{
    indent(out, depth);
    mr_buffer_append_format(out, "(%u) %s", node->id, node_names[node->kind]);
    describe_node(node, out);
    mr_buffer_append_text(out, MR_TEXT(" -> "));
    mr_type_print(node->output, out);
    mr_buffer_append_text(out, MR_TEXT("\n"));
    for (uint32_t i = 0; i < node->children_n; i++)
        print_node(node->children[i], depth + 1, out);
}

void mr_physical_print(const struct mr_physical_plan *plan, struct mr_buffer *out)
{
    print_node(plan->root, 0, out);
}

const char *mr_node_text(const struct mr_node *node, struct mr_arena *a)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    mr_buffer_append_text(&b, mr_text_of(node_names[node->kind]));
    describe_node(node, &b);
    return mr_arena_copy(a, b.data, b.n);
}
