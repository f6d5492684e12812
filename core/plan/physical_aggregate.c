/* physical_aggregate.c - an aggregate is two nodes: per worker before the exchange, and into state.
 *
 * Panes    Where a window's size is a multiple of its slide, all times of one slide are in the same
 *          windows. So the rows of a slide, a pane, are grouped once, and what comes of them goes
 *          to each window (Li et al., "No pane, no gain", SIGMOD Record 34(1), 2005).
 */
#include "core/plan/planner.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/expr/aggregate.h"
#include "core/expr/window.h"

enum { SLOTS_MAX = 8 };

/* A window key that the partial aggregate can compute from a time column. */
struct window_key {
    uint32_t group;
    const struct mr_window *window;
    struct mr_expr *const *slices; /* of an EXPAND: each slices_step-th is a window of the row */
    uint32_t slices_step;
};

static bool is_tumbling(const struct mr_expr *x)
{
    return mr_expr_is_call(x, "window") && ((const struct mr_window *)x->data)->windows_n == 1;
}

static bool is_ordered(const struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->aggregates_n; i++)
        if (node->aggregates[i].call->function->aggregate->is_ordered)
            return true;
    return false;
}

/* Group g of node is a window of panes. Late rows are counted by window: they must be late by it.
 * And rows come pane by pane. */
static bool has_panes(const struct mr_logical *node, uint32_t g, const struct mr_expr *x)
{
    const struct mr_window *w = x->data;
    const uint32_t timed = mr_event_time_column(node->group_attributes, node->groups_n);

    return mr_expr_is_call(x, "window_slice") && w->size_us % w->slide_us == 0 &&
           (timed == g || timed == UINT32_MAX) && !is_ordered(node);
}

/* child without the condition that x is not null: the window key sees to that. */
static struct mr_logical *drop_not_null(struct mr_planner *p, struct mr_logical *child,
                                        const struct mr_expr *x)
{
    struct mr_expr **parts;
    uint32_t n, kept = 0;

    if (child->kind != MR_LOGICAL_FILTER)
        return child;
    n = mr_expr_conjuncts(child->exprs[0], NULL);
    parts = MR_NEW_ARRAY(p->arena, struct mr_expr *, n);
    mr_expr_conjuncts(child->exprs[0], parts);
    for (uint32_t i = 0; i < n; i++)
        if (!mr_expr_is_call(parts[i], "isnotnull") || !mr_expr_equal(parts[i]->args[0], x))
            parts[kept++] = parts[i];
    if (kept == 0)
        return child->children[0];
    if (kept < n)
        child->exprs[0] = mr_expr_and(p->arena, parts, kept);
    return child;
}

static bool all_columns(const struct mr_logical *project, uint32_t but)
{
    for (uint32_t i = 0; i < project->exprs_n; i++)
        if (i != but && project->exprs[i]->kind != MR_EXPR_COLUMN)
            return false;
    return true;
}

static void substitute_below(struct mr_planner *p, struct mr_logical *node,
                             const struct mr_logical *project)
{
    for (uint32_t i = 0; i < node->groups_n; i++)
        node->groups[i] = mr_expr_substitute(p->arena, node->groups[i], project->output,
                                             project->exprs, project->exprs_n);
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        struct mr_logical_aggregate *x = &node->aggregates[i];

        x->call = mr_expr_substitute(p->arena, x->call, project->output, project->exprs,
                                     project->exprs_n);
        if (x->filter != NULL)
            x->filter = mr_expr_substitute(p->arena, x->filter, project->output, project->exprs,
                                           project->exprs_n);
    }
}

/* Beside group g. */
static bool is_used_elsewhere(const struct mr_logical *node, uint32_t g, uint32_t id)
{
    for (uint32_t i = 0; i < node->groups_n; i++)
        if (i != g && mr_expr_refers(node->groups[i], id))
            return true;
    for (uint32_t i = 0; i < node->aggregates_n; i++)
        if (mr_expr_refers(node->aggregates[i].call, id) ||
            (node->aggregates[i].filter != NULL && mr_expr_refers(node->aggregates[i].filter, id)))
            return true;
    return false;
}

static struct mr_expr **copy_exprs(struct mr_planner *p, struct mr_expr *const *exprs, uint32_t n)
{
    struct mr_expr **copy = MR_NEW_ARRAY(p->arena, struct mr_expr *, n);

    mr_copy_items(copy, exprs, n * sizeof *copy);
    return copy;
}

/* Finds a window among the keys, tumbling or of panes, whose window struct nobody else needs, and
 * puts the time in its place: the node below then gives the time, once for all windows. */
static bool take_window(struct mr_planner *p, struct mr_logical *node, struct window_key *out)
{
    struct mr_logical *project = node->children[0];
    const bool is_over = project->kind == MR_LOGICAL_PROJECT || project->kind == MR_LOGICAL_EXPAND;

    for (uint32_t g = 0; is_over && g < node->groups_n; g++)
        for (uint32_t i = 0; i < project->output_n; i++) {
            uint32_t id = project->output[i].id;
            struct mr_expr *x = project->exprs[i], *time;

            if (node->groups[g]->kind != MR_EXPR_COLUMN || node->groups[g]->index != id ||
                !(is_tumbling(x) || has_panes(node, g, x)) || is_used_elsewhere(node, g, id))
                continue;
            time = x->args[0];
            *out = (struct window_key){g, x->data, project->exprs + i, project->output_n};
            project->kind = MR_LOGICAL_PROJECT;
            project->exprs_n = project->output_n; /* those of the first window */
            project->rows_n = 0;
            project->exprs = copy_exprs(p, project->exprs, project->exprs_n);
            project->children[0] = drop_not_null(p, project->children[0], time);
            project->exprs[i] = time;
            project->output[i].type = time->type;
            project->output[i].nullable = true;
            node->groups[g] = mr_attribute_expr(p->arena, &project->output[i]);
            if (time->kind == MR_EXPR_COLUMN && all_columns(project, i)) {
                substitute_below(p, node, project);
                node->children[0] = project->children[0];
            }
            return true;
        }
    return false;
}

/* The window that a key is by the nodes below it, for the size of state's time buckets. */
static const struct mr_window *window_below(const struct mr_logical *node,
                                            const struct mr_expr *key)
{
    if (key->kind != MR_EXPR_COLUMN)
        return NULL;
    for (; node->kind == MR_LOGICAL_FILTER || node->kind == MR_LOGICAL_PROJECT ||
           node->kind == MR_LOGICAL_EXPAND;
         node = node->children[0])
        for (uint32_t i = 0; i < node->output_n && node->exprs_n >= node->output_n; i++)
            if (node->kind != MR_LOGICAL_FILTER && node->output[i].id == key->index) {
                if (mr_expr_is_call(node->exprs[i], "window") ||
                    mr_expr_is_call(node->exprs[i], "window_slice"))
                    return node->exprs[i]->data;
                if (node->exprs[i]->kind != MR_EXPR_COLUMN)
                    return NULL;
                key = node->exprs[i];
                break;
            }
    return NULL;
}

static const struct mr_type *slot_type(struct mr_planner *p, enum mr_slot_kind kind)
{
    switch (kind) {
    case MR_SLOT_I64:
        return &mr_type_bigint;
    case MR_SLOT_F64:
        return &mr_type_double;
    case MR_SLOT_I128:
        return mr_type_decimal(p->arena, MR_DECIMAL_DIGITS, 0);
    case MR_SLOT_BYTES:
        return &mr_type_binary;
    }
    MR_UNREACHABLE();
}

/* Keys, then the slots of each aggregate. */
static const struct mr_type *partial_type(struct mr_planner *p, const struct mr_logical *node,
                                          const struct mr_aggregate_item *items)
{
    struct mr_field *fields =
        MR_NEW_ARRAY(p->arena, struct mr_field, node->groups_n + node->aggregates_n * SLOTS_MAX);
    uint32_t n = 0;

    for (uint32_t i = 0; i < node->groups_n; i++) {
        const struct mr_attribute *a = &node->group_attributes[i];
        fields[n++] = (struct mr_field){a->name, a->type, a->nullable};
    }
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        enum mr_slot_kind kinds[SLOTS_MAX];
        const struct mr_type *types[SLOTS_MAX];
        uint32_t slots = items[i].aggregate->slots(items[i].call, kinds, types, p->arena);

        for (uint32_t k = 0; k < slots; k++)
            fields[n++] = (struct mr_field){
                mr_arena_format(p->arena, "%s.%u", node->aggregates[i].attribute.name, k),
                slot_type(p, kinds[k]), true};
    }
    return mr_type_struct(p->arena, fields, n);
}

static struct mr_aggregate_item *items_of(struct mr_planner *p, const struct mr_logical *node,
                                          const struct mr_planned *in)
{
    struct mr_aggregate_item *items =
        MR_NEW_ARRAY(p->arena, struct mr_aggregate_item, node->aggregates_n + 1);

    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        const struct mr_logical_aggregate *x = &node->aggregates[i];

        if (x->distinct) {
            mr_plan_unsupported(p, x->call->place, "DISTINCT inside an aggregate");
            return NULL;
        }
        items[i].aggregate = x->call->function->aggregate;
        items[i].call = mr_bind(p, x->call, in->columns, in->columns_n);
        if (x->filter != NULL)
            items[i].filter = mr_bind(p, x->filter, in->columns, in->columns_n);
        if (p->err->status != MR_OK)
            return NULL;
        MR_ASSERT(items[i].aggregate != NULL);
    }
    return items;
}

static void set_time(struct mr_planner *p, struct mr_node *node, const struct mr_logical *logical)
{
    uint32_t key = mr_event_time_column(logical->group_attributes, logical->groups_n);

    if (key == UINT32_MAX || !p->request->streaming)
        return;
    node->time_rule = mr_time_rule_of(&logical->group_attributes[key]);
    node->time_key = key;
}

/* The window that slice gives of a time, of a pane. */
static const struct mr_expr *window_of_pane(struct mr_planner *p, const struct mr_expr *slice,
                                            struct mr_expr *pane)
{
    struct mr_expr *call = MR_NEW(p->arena, struct mr_expr);

    *call = *slice;
    call->args = copy_exprs(p, slice->args, slice->args_n);
    call->args[0] = pane;
    return call;
}

/* Partial rows of panes as partial rows of windows. */
static struct mr_planned expand_panes(struct mr_planner *p, struct mr_planned in,
                                      const struct mr_logical *node, const struct window_key *key)
{
    const struct mr_type *type = in.node->output;
    const uint32_t n = type->fields_n, rows_n = key->window->windows_n;
    const struct mr_expr **exprs = MR_NEW_ARRAY(p->arena, const struct mr_expr *, n *rows_n);
    const struct mr_node *child = in.node;

    for (uint32_t c = 0; c < n; c++) {
        const struct mr_field *f = &type->fields[c];
        struct mr_expr *x = mr_expr_column(p->arena, c, f->type, f->nullable, f->name);
        for (uint32_t row = 0; row < rows_n; row++)
            exprs[row * n + c] =
                c == key->group ? window_of_pane(p, key->slices[row * key->slices_step], x) : x;
    }
    in.node = mr_node_new(p, MR_NODE_EXPAND, &child, 1);
    in.node->exprs = exprs;
    in.node->exprs_n = n * rows_n;
    in.node->rows_n = rows_n;
    in.node->output = type;
    set_time(p, in.node, node);
    return in;
}

static struct mr_planned final_node(struct mr_planner *p, struct mr_planned in,
                                    struct mr_logical *node, const struct mr_aggregate_item *items,
                                    const struct mr_window *window)
{
    uint32_t n = node->groups_n + node->aggregates_n;
    struct mr_attribute *columns =
        mr_attributes_copy(p->arena, node->group_attributes, node->groups_n, node->aggregates_n);
    const struct mr_expr **keys = MR_NEW_ARRAY(p->arena, const struct mr_expr *, node->groups_n);
    const struct mr_node *child = in.node;
    struct mr_planned out = in;

    for (uint32_t i = 0; i < node->aggregates_n; i++)
        columns[node->groups_n + i] = node->aggregates[i].attribute;
    for (uint32_t i = 0; i < node->groups_n; i++)
        keys[i] =
            mr_expr_column(p->arena, i, columns[i].type, columns[i].nullable, columns[i].name);
    out.node = mr_node_new(p, MR_NODE_AGGREGATE, &child, 1);
    out.node->exprs = mr_bind_all(p, node->exprs, node->exprs_n, columns, n);
    if (out.node->exprs == NULL)
        return (struct mr_planned){0};
    out.node->exprs_n = node->exprs_n;
    out.node->output = mr_row_type(p, node->output, node->output_n);
    out.node->keys = keys;
    out.node->keys_n = node->groups_n;
    out.node->aggregates = items;
    out.node->aggregates_n = node->aggregates_n;
    out.node->is_stateful = p->request->streaming;
    set_time(p, out.node, node);
    if (window != NULL) {
        out.node->window_us = window->size_us;
        out.node->slide_us = window->slide_us;
        out.node->offset_us = window->offset_us;
    }
    out.columns = node->output;
    out.columns_n = node->output_n;
    out.by_n = 0;
    return out;
}

/* The groups are at the owners of their keys: known above by the outputs that are plain keys. */
static void spread_above(struct mr_planner *p, struct mr_planned *out,
                         const struct mr_logical *node)
{
    out->by = MR_NEW_ARRAY(p->arena, uint32_t, node->groups_n);
    out->gathered = node->groups_n == 0;
    for (uint32_t k = 0; k < node->groups_n; k++) {
        uint32_t i = 0;

        while (i < node->exprs_n && !(node->exprs[i]->kind == MR_EXPR_COLUMN &&
                                      node->exprs[i]->index == node->group_attributes[k].id))
            i++;
        if (i == node->exprs_n) {
            out->by_n = 0;
            return;
        }
        out->by[out->by_n++] = node->output[i].id;
    }
}

struct mr_planned mr_plan_aggregate(struct mr_planner *p, struct mr_logical *node)
{
    struct window_key key = {.group = UINT32_MAX};
    const struct mr_window *window = NULL;
    const struct mr_aggregate_item *items;
    struct mr_planned in, out;
    const struct mr_node *child;
    uint32_t *ids = MR_NEW_ARRAY(p->arena, uint32_t, node->groups_n);
    uint32_t timed;

    for (uint32_t i = 0; i < node->groups_n; i++)
        if (node->group_attributes[i].session)
            return mr_plan_unsupported(p, node->place, "the operator session window");
    if (take_window(p, node, &key))
        window = key.window;
    timed = mr_event_time_column(node->group_attributes, node->groups_n);
    if (window == NULL && timed != UINT32_MAX)
        window = window_below(node->children[0], node->groups[timed]);
    in = mr_plan_node(p, node->children[0]);
    if (in.node == NULL || (items = items_of(p, node, &in)) == NULL)
        return (struct mr_planned){0};
    child = in.node;
    out = in;
    out.node = mr_node_new(p, MR_NODE_PARTIAL_AGGREGATE, &child, 1);
    out.node->keys = mr_bind_all(p, node->groups, node->groups_n, in.columns, in.columns_n);
    if (out.node->keys == NULL)
        return (struct mr_planned){0};
    out.node->keys_n = node->groups_n;
    out.node->aggregates = items;
    out.node->aggregates_n = node->aggregates_n;
    out.node->output = partial_type(p, node, items);
    out.node->window_key = key.group;
    if (key.group != UINT32_MAX) {
        out.node->window_us = window->size_us;
        out.node->slide_us = window->slide_us;
        out.node->offset_us = window->offset_us;
    }
    set_time(p, out.node, node);
    out.columns = node->group_attributes;
    out.columns_n = node->groups_n;
    if (key.group != UINT32_MAX && window->windows_n > 1)
        out = expand_panes(p, out, node, &key);
    for (uint32_t i = 0; i < node->groups_n; i++)
        ids[i] = node->group_attributes[i].id;
    out = final_node(p, mr_exchange(p, out, ids, node->groups_n), node, items, window);
    if (out.node != NULL) {
        out.node->window_key = key.group;
        spread_above(p, &out, node);
    }
    return out;
}
