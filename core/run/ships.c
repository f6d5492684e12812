#include "core/run/shape.h"

static void add_columns_of(const struct mr_expr *x, bool *reads)
{
    if (x->kind == MR_EXPR_COLUMN)
        reads[x->index] = true;
    for (uint32_t i = 0; i < x->args_n; i++)
        add_columns_of(x->args[i], reads);
}

static void add_columns_of_each(const struct mr_expr *const *exprs, uint32_t n, bool *reads)
{
    for (uint32_t i = 0; i < n; i++)
        add_columns_of(exprs[i], reads);
}

static void add_aggregates(const struct mr_node *node, bool *reads)
{
    add_columns_of_each(node->keys, node->keys_n, reads);
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        add_columns_of(node->aggregates[i].call, reads);
        if (node->aggregates[i].filter)
            add_columns_of(node->aggregates[i].filter, reads);
    }
}

/* What is read of a node's output. */
static void add_read(const struct mr_shape *s, uint32_t id, bool *reads)
{
    for (uint32_t parent; (parent = s->nodes[id].parent) != MR_NO_NODE; id = parent) {
        const struct mr_node *n = s->nodes[parent].node;
        switch (n->kind) {
        case MR_NODE_FILTER:
        case MR_NODE_WATERMARK: /* and give the rest to the next */
            add_columns_of_each(n->exprs, n->exprs_n, reads);
            continue;
        case MR_NODE_PROJECT:
            add_columns_of_each(n->exprs, n->exprs_n, reads);
            return;
        case MR_NODE_PARTIAL_AGGREGATE:
            add_aggregates(n, reads);
            return;
        default:
            break;
        }
        break;
    }
    memset(reads, true, s->nodes[id].node->output->fields_n);
}

/* An operator with state takes its keys as the exchange encoded them. */
const bool *mr_shape_ships(const struct mr_shape *s, uint32_t exchange, struct mr_arena *a)
{
    const struct mr_node *node = s->nodes[exchange].node;
    const uint32_t n = node->output->fields_n, parent = s->nodes[exchange].parent;
    const struct mr_node *above = parent == MR_NO_NODE ? NULL : s->nodes[parent].node;
    bool *ships = MR_NEW_ARRAY(a, bool, n + 1);

    if (node->keys_n > 0 && above && above->kind == MR_NODE_AGGREGATE) {
        memset(ships + above->keys_n, true, n - above->keys_n);
    } else if (node->keys_n > 0 && above &&
               (above->kind == MR_NODE_DEDUPLICATE || above->kind == MR_NODE_DEDUPLICATE_WITHIN)) {
        add_read(s, parent, ships);
    } else {
        memset(ships, true, n);
        return ships;
    }
    const bool in_key = above->kind == MR_NODE_AGGREGATE && s->nodes[parent].tables_n > 0 &&
                        mr_state_key_has_expiry(&s->nodes[parent].tables[0]);
    if (above->time_rule != MR_TIME_NONE && !in_key)
        ships[above->time_key] = true;
    return ships;
}
