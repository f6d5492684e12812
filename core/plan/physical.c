#include "core/plan/planner.h"

#include "core/base/check.h"
#include "core/batch/builder.h"
#include "core/expr/function.h"

struct mr_node *mr_node_new(struct mr_planner *p, enum mr_node_kind kind,
                            const struct mr_node *const *children, uint32_t children_n)
{
    struct mr_node *node = MR_NEW(p->arena, struct mr_node);
    const struct mr_node **copy = MR_NEW_ARRAY(p->arena, const struct mr_node *, children_n);

    for (uint32_t i = 0; i < children_n; i++)
        copy[i] = children[i];
    node->kind = kind;
    node->id = p->nodes_n; /* children are made first: post-order */
    p->nodes = mr_grow(p->arena, p->nodes, p->nodes_n, &p->nodes_capacity, sizeof *p->nodes);
    p->nodes[p->nodes_n++] = node;
    node->children = copy;
    node->children_n = children_n;
    node->mode = p->request->streaming ? p->request->mode : MR_COMPLETE;
    node->window_key = UINT32_MAX;
    node->batch = !p->request->streaming;
    if (children_n > 0)
        node->output = children[0]->output;
    return node;
}

const struct mr_type *mr_row_type(struct mr_planner *p, const struct mr_attribute *columns,
                                  uint32_t n)
{
    struct mr_field *fields = MR_NEW_ARRAY(p->arena, struct mr_field, n);

    for (uint32_t i = 0; i < n; i++)
        fields[i] = (struct mr_field){columns[i].name, columns[i].type, columns[i].nullable};
    return mr_type_struct(p->arena, fields, n);
}

struct mr_planned mr_plan_unsupported(struct mr_planner *p, struct mr_place place, const char *what)
{
    (void)MR_FAIL(p->err, MR_UNSUPPORTED, 0, "%s is not supported yet", what);
    p->err->line = place.line;
    p->err->column = place.column;
    return (struct mr_planned){0};
}

struct binding {
    struct mr_planner *planner;
    const struct mr_attribute *columns;
    uint32_t n;
};

static struct mr_expr *bind_part(void *arg, struct mr_expr *x)
{
    const struct binding *b = arg;

    if (x->kind == MR_EXPR_CALL && x->function == &mr_subquery_function) {
        mr_plan_unsupported(b->planner, x->place, "a subquery in an expression");
        return x;
    }
    if (x->kind == MR_EXPR_CALL && strcmp(x->function->name, "session_window") == 0) {
        mr_plan_unsupported(b->planner, x->place, "the operator session window");
        return x;
    }
    if (x->kind != MR_EXPR_COLUMN)
        return NULL;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->columns[i].id == x->index)
            return mr_expr_column(b->planner->arena, i, x->type, b->columns[i].nullable, x->text);
    (void)MR_FAIL(b->planner->err, MR_UNSUPPORTED, 0,
                  "the column %s of an outer query is used where it cannot be", x->text);
    return x;
}

struct mr_expr *mr_bind(struct mr_planner *p, struct mr_expr *x, const struct mr_attribute *columns,
                        uint32_t n)
{
    struct binding b = {p, columns, n};
    struct mr_expr *out = mr_expr_replace(p->arena, x, bind_part, &b);

    return p->err->status == MR_OK ? out : NULL;
}

const struct mr_expr **mr_bind_all(struct mr_planner *p, struct mr_expr *const *exprs,
                                   uint32_t exprs_n, const struct mr_attribute *columns, uint32_t n)
{
    const struct mr_expr **out = MR_NEW_ARRAY(p->arena, const struct mr_expr *, exprs_n + 1);

    for (uint32_t i = 0; i < exprs_n; i++)
        if ((out[i] = mr_bind(p, exprs[i], columns, n)) == NULL)
            return NULL;
    return out;
}

uint32_t mr_event_time_column(const struct mr_attribute *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (columns[i].event_time)
            return i;
    return UINT32_MAX;
}

enum mr_time_rule mr_time_rule_of(const struct mr_attribute *a)
{
    return a->type->kind == MR_STRUCT ? MR_TIME_WINDOW_END : MR_TIME_COLUMN;
}

static uint32_t column_of(const struct mr_attribute *columns, uint32_t n, uint32_t id)
{
    const struct mr_attribute *a = mr_attribute_find(columns, n, id);

    MR_ASSERT(a != NULL);
    return (uint32_t)(a - columns);
}

static bool is_spread_by(const struct mr_planned *in, const uint32_t *keys, uint32_t keys_n)
{
    if (keys_n == 0)
        return in->gathered;
    return in->by_n == keys_n && memcmp(in->by, keys, keys_n * sizeof *keys) == 0;
}

struct mr_planned mr_exchange(struct mr_planner *p, struct mr_planned in, const uint32_t *keys,
                              uint32_t keys_n)
{
    const struct mr_node *child = in.node;
    const struct mr_expr **exprs;

    if (in.node == NULL || p->request->workers <= 1 || is_spread_by(&in, keys, keys_n))
        return in;
    exprs = MR_NEW_ARRAY(p->arena, const struct mr_expr *, keys_n);
    for (uint32_t i = 0; i < keys_n; i++) {
        uint32_t at = column_of(in.columns, in.columns_n, keys[i]);
        const struct mr_attribute *a = &in.columns[at];
        exprs[i] = mr_expr_column(p->arena, at, a->type, a->nullable, a->name);
    }
    in.node = mr_node_new(p, MR_NODE_EXCHANGE, &child, 1);
    in.node->keys = exprs;
    in.node->keys_n = keys_n;
    in.by = MR_NEW_ARRAY(p->arena, uint32_t, keys_n);
    mr_copy_items(in.by, keys, keys_n * sizeof *keys);
    in.by_n = keys_n;
    in.gathered = keys_n == 0;
    return in;
}

/* The node over in, giving in's rows in the same places. */
static struct mr_planned over(struct mr_planner *p, struct mr_planned in, enum mr_node_kind kind,
                              const struct mr_logical *node)
{
    const struct mr_node *child = in.node;

    in.node = mr_node_new(p, kind, &child, 1);
    in.columns = node->output;
    in.columns_n = node->output_n;
    in.node->output = mr_row_type(p, node->output, node->output_n);
    return in;
}

static const struct mr_expr *literal_of(struct mr_arena *a, const struct mr_column *c, uint32_t row)
{
    struct mr_expr *x = mr_expr_literal_null(a, c->type);
    struct mr_column *value = MR_NEW(a, struct mr_column);
    struct mr_builder b;

    mr_builder_init(&b, c->type, 1, a);
    mr_builder_append(&b, c, row);
    mr_builder_finish(&b, value);
    x->value = value;
    x->nullable = mr_column_is_null(c, row);
    return x;
}

/* The inline rows of a table, the columns that are wanted. */
static struct mr_planned plan_rows(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned out = {.columns = node->output, .columns_n = node->output_n};
    const struct mr_batch *rows = node->table->rows;
    const struct mr_type *schema = node->table->schema;
    const struct mr_expr **exprs =
        MR_NEW_ARRAY(p->arena, const struct mr_expr *, rows->n * node->output_n + 1);

    for (uint32_t i = 0; i < node->output_n; i++) {
        uint32_t at = 0;
        while (strcmp(schema->fields[at].name, node->output[i].name) != 0)
            at++;
        for (uint32_t row = 0; row < rows->n; row++)
            exprs[row * node->output_n + i] =
                literal_of(p->arena, &rows->columns[at], mr_batch_row(rows, row));
    }
    out.node = mr_node_new(p, MR_NODE_VALUES, NULL, 0);
    out.node->output = mr_row_type(p, node->output, node->output_n);
    out.node->exprs = exprs;
    out.node->exprs_n = rows->n * node->output_n;
    out.node->rows_n = rows->n;
    return out;
}

static struct mr_planned plan_source(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned out = {.columns = node->output, .columns_n = node->output_n};

    if (node->table->rows && !p->request->streaming)
        return plan_rows(p, node);

    out.node = mr_node_new(p, MR_NODE_SOURCE, NULL, 0);
    out.node->table = node->table;
    out.node->output = mr_row_type(p, node->output, node->output_n);
    return out;
}

static bool all_literals(const struct mr_expr *const *exprs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (exprs[i]->kind != MR_EXPR_LITERAL)
            return false;
    return true;
}

static struct mr_planned plan_values(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned out = {.columns = node->output, .columns_n = node->output_n};
    const struct mr_expr **exprs = mr_bind_all(p, node->exprs, node->exprs_n, NULL, 0);

    if (exprs == NULL)
        return (struct mr_planned){0};
    out.node = mr_node_new(p, MR_NODE_VALUES, NULL, 0);
    if (!all_literals(exprs, node->exprs_n)) { /* computed when it runs, from one row of nothing */
        const struct mr_node *one = out.node;
        out.node->output = mr_row_type(p, NULL, 0);
        out.node->rows_n = 1;
        out.node = mr_node_new(p, MR_NODE_EXPAND, &one, 1);
    }
    out.node->output = mr_row_type(p, node->output, node->output_n);
    out.node->exprs = exprs;
    out.node->exprs_n = node->exprs_n;
    out.node->rows_n = node->rows_n;
    return out;
}

/* Where rows lie is still known if the columns that say so are passed on. */
static void keep_spread(struct mr_planner *p, struct mr_planned *out, const struct mr_logical *node)
{
    uint32_t *by = MR_NEW_ARRAY(p->arena, uint32_t, out->by_n);

    for (uint32_t k = 0; k < out->by_n; k++) {
        uint32_t i = 0;

        while (i < node->output_n &&
               !(node->exprs[i]->kind == MR_EXPR_COLUMN && node->exprs[i]->index == out->by[k]))
            i++;
        if (i == node->output_n) {
            out->by_n = 0;
            return;
        }
        by[k] = node->output[i].id;
    }
    out->by = by;
}

static struct mr_planned plan_project(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_plan_node(p, node->children[0]), out;
    const struct mr_expr **exprs;

    if (in.node == NULL ||
        (exprs = mr_bind_all(p, node->exprs, node->exprs_n, in.columns, in.columns_n)) == NULL)
        return (struct mr_planned){0};
    out = over(p, in, node->kind == MR_LOGICAL_EXPAND ? MR_NODE_EXPAND : MR_NODE_PROJECT, node);
    out.node->exprs = exprs;
    out.node->exprs_n = node->exprs_n;
    out.node->rows_n = node->kind == MR_LOGICAL_EXPAND ? node->rows_n : 0;
    if (node->kind == MR_LOGICAL_PROJECT)
        keep_spread(p, &out, node);
    else
        out.by_n = 0;
    return out;
}

static struct mr_planned plan_filter(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_plan_node(p, node->children[0]), out;
    const struct mr_expr **exprs = MR_NEW_ARRAY(p->arena, const struct mr_expr *, 1);
    struct mr_expr *x;

    if (in.node == NULL || (x = mr_bind(p, node->exprs[0], in.columns, in.columns_n)) == NULL)
        return (struct mr_planned){0};
    out = over(p, in, MR_NODE_FILTER, node);
    exprs[0] = x;
    out.node->exprs = exprs;
    out.node->exprs_n = 1;
    return out;
}

static struct mr_planned plan_generate(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_plan_node(p, node->children[0]), out;
    uint32_t fields = node->exprs[0]->type->fields_n, kept = node->output_n - fields;
    const struct mr_expr **exprs = MR_NEW_ARRAY(p->arena, const struct mr_expr *, kept + 1);

    if (in.node == NULL ||
        (exprs[0] = mr_bind(p, node->exprs[0], in.columns, in.columns_n)) == NULL)
        return (struct mr_planned){0};
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t at = column_of(in.columns, in.columns_n, node->output[i].id);
        exprs[1 + i] = mr_expr_column(p->arena, at, in.columns[at].type, in.columns[at].nullable,
                                      in.columns[at].name);
    }
    out = over(p, in, MR_NODE_GENERATE, node);
    out.node->exprs = exprs;
    out.node->exprs_n = kept + 1;
    out.node->outer = node->outer;
    out.by_n = 0;
    return out;
}

static struct mr_planned plan_watermark(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_plan_node(p, node->children[0]), out;
    const struct mr_expr **exprs = MR_NEW_ARRAY(p->arena, const struct mr_expr *, 1);
    struct mr_resolve resolve = {.arena = p->arena, .ansi = true, .err = p->err};
    const struct mr_attribute *a;
    struct mr_expr *time;

    if (in.node == NULL)
        return in;
    a = &in.columns[column_of(in.columns, in.columns_n, node->keys[0])];
    time = mr_expr_column(p->arena, (uint32_t)(a - in.columns), a->type, a->nullable, a->name);
    if (a->type->kind == MR_STRUCT) { /* a window counts by its end */
        struct mr_expr *args[2] = {time, mr_expr_literal_text(p->arena, MR_TEXT("end"))};
        if (mr_call_make(&resolve, mr_function_find("get_field"), args, 2, node->place, "end",
                         &time) != MR_OK)
            return (struct mr_planned){0};
    }
    exprs[0] = time;
    out = over(p, in, MR_NODE_WATERMARK, node);
    out.node->exprs = exprs;
    out.node->exprs_n = 1;
    out.node->delay_us = node->delay_us;
    out.node->watermark_index = p->watermarks_n++;
    return out;
}

static struct mr_planned plan_union(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned out = {.columns = node->output, .columns_n = node->output_n};
    const struct mr_node **children =
        MR_NEW_ARRAY(p->arena, const struct mr_node *, node->children_n);

    for (uint32_t i = 0; i < node->children_n; i++) {
        children[i] = mr_plan_node(p, node->children[i]).node;
        if (children[i] == NULL)
            return (struct mr_planned){0};
    }
    out.node = mr_node_new(p, MR_NODE_UNION, children, node->children_n);
    out.node->output = mr_row_type(p, node->output, node->output_n);
    return out;
}

static struct mr_planned plan_deduplicate(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_plan_node(p, node->children[0]);
    struct mr_planned out = mr_exchange(p, in, node->keys, node->keys_n);
    const struct mr_expr **keys = MR_NEW_ARRAY(p->arena, const struct mr_expr *, node->keys_n);
    uint32_t time = UINT32_MAX;

    if (out.node == NULL)
        return out;
    for (uint32_t i = 0; i < node->keys_n; i++) {
        uint32_t at = column_of(out.columns, out.columns_n, node->keys[i]);
        const struct mr_attribute *a = &out.columns[at];

        keys[i] = mr_expr_column(p->arena, at, a->type, a->nullable, a->name);
        if (time == UINT32_MAX && a->event_time)
            time = at;
    }
    if (time == UINT32_MAX)
        time = mr_event_time_column(out.columns, out.columns_n);
    out = over(p, out, node->within ? MR_NODE_DEDUPLICATE_WITHIN : MR_NODE_DEDUPLICATE, node);
    out.node->keys = keys;
    out.node->keys_n = node->keys_n;
    if (p->request->streaming && time != UINT32_MAX) {
        out.node->time_rule = mr_time_rule_of(&out.columns[time]);
        out.node->time_key = time;
        out.node->delay_us = out.columns[time].delay_us;
    }
    out.node->is_stateful = p->request->streaming;
    return out;
}

static struct mr_planned plan_sort(struct mr_planner *p, struct mr_logical *node)
{
    struct mr_planned in = mr_exchange(p, mr_plan_node(p, node->children[0]), NULL, 0), out;
    struct mr_sort_key *sort = MR_NEW_ARRAY(p->arena, struct mr_sort_key, node->exprs_n);

    if (in.node == NULL)
        return in;
    for (uint32_t i = 0; i < node->exprs_n; i++) {
        sort[i] = node->sort[i];
        sort[i].expr = mr_bind(p, node->exprs[i], in.columns, in.columns_n);
        if (sort[i].expr == NULL)
            return (struct mr_planned){0};
    }
    out = over(p, in, MR_NODE_SORT, node);
    out.node->sort = sort;
    out.node->sort_n = node->exprs_n;
    return out;
}

static struct mr_planned plan_limit(struct mr_planner *p, struct mr_logical *node)
{
    /* below all aggregations rows only ever come, whatever the mode */
    bool stateful = p->request->streaming && node->streaming &&
                    (p->request->mode != MR_COMPLETE || mr_first_aggregate(node) == NULL);
    struct mr_logical *child = node->children[0];
    uint64_t limit = node->kind == MR_LOGICAL_LIMIT ? node->limit : UINT64_MAX;
    uint64_t skip = node->kind == MR_LOGICAL_OFFSET ? node->limit : 0;
    struct mr_planned in, out;

    if (node->kind == MR_LOGICAL_LIMIT && child->kind == MR_LOGICAL_OFFSET) {
        skip = child->limit;
        child = child->children[0];
    }
    in = mr_exchange(p, mr_plan_node(p, child), NULL, 0);
    if (in.node == NULL)
        return in;
    if (in.node->kind == MR_NODE_SORT && limit < UINT64_MAX - skip)
        in.node->limit = limit + skip;
    out = over(p, in, stateful ? MR_NODE_GLOBAL_LIMIT : MR_NODE_LIMIT, node);
    out.node->limit = limit;
    out.node->skip = skip;
    out.node->is_stateful = stateful;
    return out;
}

struct mr_planned mr_plan_node(struct mr_planner *p, struct mr_logical *node)
{
    switch (node->kind) {
    case MR_LOGICAL_SOURCE:
        return plan_source(p, node);
    case MR_LOGICAL_VALUES:
        return plan_values(p, node);
    case MR_LOGICAL_PROJECT:
    case MR_LOGICAL_EXPAND:
        return plan_project(p, node);
    case MR_LOGICAL_FILTER:
        return plan_filter(p, node);
    case MR_LOGICAL_AGGREGATE:
        return mr_plan_aggregate(p, node);
    case MR_LOGICAL_GENERATE:
        return plan_generate(p, node);
    case MR_LOGICAL_WATERMARK:
        return plan_watermark(p, node);
    case MR_LOGICAL_UNION:
        return plan_union(p, node);
    case MR_LOGICAL_DEDUPLICATE:
        return plan_deduplicate(p, node);
    case MR_LOGICAL_SORT:
        return plan_sort(p, node);
    case MR_LOGICAL_LIMIT:
    case MR_LOGICAL_OFFSET:
        return plan_limit(p, node);
    case MR_LOGICAL_JOIN:
        return mr_plan_unsupported(p, node->place, "the operator join");
    case MR_LOGICAL_WINDOW:
        return mr_plan_unsupported(p, node->place, "the operator OVER (window functions)");
    default:
        return mr_plan_unsupported(
            p, node->place,
            mr_arena_format(p->arena, "the operator %s", mr_logical_name(node->kind)));
    }
}
