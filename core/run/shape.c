#include "core/run/shape.h"

#include "core/base/check.h"

const char *mr_node_name(enum mr_node_kind kind)
{
    static const char *const names[] = {
#define X(kind, name) name,
        MR_NODES(X)
#undef X
    };
    return names[kind];
}

static bool is_leaf(const struct mr_shape_node *n)
{
    return n->node->kind == MR_NODE_SOURCE || n->node->kind == MR_NODE_EXCHANGE ||
           (n->node->kind == MR_NODE_VALUES && n->ops == NULL);
}

/* Parents have higher ids, so that from the root down every parent is known before its children. */
static enum mr_status place_nodes(struct mr_shape *s, struct mr_error *err)
{
    const struct mr_node *root = s->plan->root;

    MR_ASSERT(root->kind == MR_NODE_SINK && root->id == s->nodes_n - 1);
    s->stages_n = 1;
    s->stages[0].root = root->id;
    s->nodes[root->id].parent = MR_NO_NODE;
    for (uint32_t id = s->nodes_n; id-- > 0;) {
        struct mr_shape_node *n = &s->nodes[id];
        if (n->node->kind == MR_NODE_EXCHANGE) {
            if (s->stages_n == MR_STAGES_MAX)
                return MR_FAIL(err, MR_UNSUPPORTED, 0, "the query has more than %d stages",
                               MR_STAGES_MAX);
            n->stage = s->stages_n++;
            s->stages[n->stage].root = id;
        }
        for (uint32_t c = 0; c < n->node->children_n; c++) {
            struct mr_shape_node *child = &s->nodes[n->node->children[c]->id];
            MR_ASSERT(child->node->id < id);
            child->parent = id;
            child->port = c;
            child->stage = n->stage;
        }
    }
    return MR_OK;
}

/* The stage in which a node does its work for those above: an exchange is a leaf of its parent's.
 */
static uint32_t stage_above(const struct mr_shape *s, const struct mr_shape_node *n)
{
    return n->node->kind == MR_NODE_EXCHANGE ? s->nodes[n->parent].stage : n->stage;
}

static void fill_stage(struct mr_shape *s, uint32_t number, struct mr_arena *a)
{
    struct mr_shape_stage *stage = &s->stages[number];
    uint32_t *leaves = MR_NEW_ARRAY(a, uint32_t, s->nodes_n);
    uint32_t *ops = MR_NEW_ARRAY(a, uint32_t, s->nodes_n);

    for (uint32_t id = 0; id < s->nodes_n; id++) {
        const struct mr_shape_node *n = &s->nodes[id];
        if (id == stage->root || stage_above(s, n) != number)
            continue;
        if (is_leaf(n))
            leaves[stage->leaves_n++] = id;
        else
            ops[stage->ops_n++] = id;
    }
    stage->leaves = leaves;
    stage->ops = ops;
    stage->depth_max = stage->ops_n + 1;
}

static void list_sources(struct mr_shape *s, struct mr_arena *a)
{
    s->tables = MR_NEW_ARRAY(a, const struct mr_table *, s->nodes_n);
    for (uint32_t id = 0; id < s->nodes_n; id++) {
        const struct mr_node *node = s->nodes[id].node;
        if (node->kind != MR_NODE_SOURCE)
            continue;
        s->nodes[id].leaf = s->leaves_n++;
        uint32_t at = 0;
        while (at < s->sources_n && s->tables[at]->index < node->table->index)
            at++;
        if (at < s->sources_n && s->tables[at] == node->table)
            continue;
        memmove(s->tables + at + 1, s->tables + at, (s->sources_n - at) * sizeof *s->tables);
        s->tables[at] = node->table;
        s->sources_n++;
    }
    for (uint32_t id = 0; id < s->nodes_n; id++)
        for (uint32_t i = 0; i < s->sources_n; i++)
            if (s->nodes[id].node->table == s->tables[i])
                s->nodes[id].source = i;
}

/* Worker 0 gets all rows of an exchange without keys, and with them all state above it. */
static int32_t all_to_of(const struct mr_shape *s, uint32_t id)
{
    const struct mr_node *n = s->nodes[id].node;

    while (n->kind != MR_NODE_EXCHANGE && n->children_n > 0)
        n = n->children[0];
    return n->kind == MR_NODE_EXCHANGE && n->keys_n == 0 ? 0 : -1;
}

static enum mr_status plan_operators(struct mr_shape *s, struct mr_arena *a, struct mr_error *err)
{
    s->stateful = MR_NEW_ARRAY(a, uint32_t, s->nodes_n);
    for (uint32_t id = 0; id < s->nodes_n; id++) {
        struct mr_shape_node *n = &s->nodes[id];
        n->all_to = -1;
        if (n->ops == NULL)
            continue;
        n->plan = mr_arena_zero(a, n->ops->plan_size ? n->ops->plan_size : 1);
        enum mr_status status = n->ops->plan ? n->ops->plan(n->plan, n->node, a, err) : MR_OK;
        if (status != MR_OK)
            return status;
        if (!n->node->is_stateful || s->batch || n->ops->tables == NULL)
            continue;
        n->tables = n->ops->tables(n->plan, &n->tables_n);
        n->all_to = all_to_of(s, id);
        MR_ASSERT(n->node->stateful_index < s->plan->stateful_n);
        MR_ASSERT(n->tables_n <= MR_STATE_TABLES_MAX);
        s->stateful[n->node->stateful_index] = id;
        s->stateful_n++;
    }
    MR_ASSERT(s->batch || s->stateful_n == s->plan->stateful_n);
    return MR_OK;
}

enum mr_status mr_shape_build(const struct mr_physical_plan *plan, bool batch, struct mr_arena *a,
                              struct mr_shape *out, struct mr_error *err)
{
    *out = (struct mr_shape){.plan = plan, .batch = batch, .nodes_n = plan->nodes_n};
    out->nodes = MR_NEW_ARRAY(a, struct mr_shape_node, plan->nodes_n);
    out->stages = MR_NEW_ARRAY(a, struct mr_shape_stage, MR_STAGES_MAX);
    for (uint32_t id = 0; id < plan->nodes_n; id++) {
        out->nodes[id].node = plan->nodes[id];
        out->nodes[id].ops = mr_operator_for(plan->nodes[id]->kind);
        MR_ASSERT(plan->nodes[id]->id == id);
    }
    enum mr_status status = place_nodes(out, err);
    if (status != MR_OK)
        return status;
    for (uint32_t i = 0; i < out->stages_n; i++)
        fill_stage(out, i, a);
    list_sources(out, a);
    if (out->sources_n > MR_SOURCES_MAX)
        return MR_FAIL(err, MR_USER, 0, "the query reads %u sources, the limit is %d",
                       out->sources_n, MR_SOURCES_MAX);
    return plan_operators(out, a, err);
}
