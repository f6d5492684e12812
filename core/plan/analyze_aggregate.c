/* analyze_aggregate.c - GROUP BY: by position, alias, expression, ALL; grouping sets. */
#include "core/plan/analyzer.h"

static const struct mr_attribute *known_attribute(const struct mr_select *q, uint32_t id)
{
    const struct mr_attribute *a =
        mr_attribute_find(q->scope.attributes, q->scope.attributes_n, id);

    for (uint32_t i = 0; a == NULL && i < q->windows.n; i++)
        if (q->windows.items[i].attribute.id == id)
            a = &q->windows.items[i].attribute;
    return a;
}

static void add_group(struct mr_analyzer *an, struct mr_select *q, struct mr_expr *x,
                      const char *name)
{
    const struct mr_attribute *a = x->kind == MR_EXPR_COLUMN ? known_attribute(q, x->index) : NULL;
    struct mr_attribute *out = &q->group_attributes[q->groups_n];
    bool sets = q->relation->sets_n > 0;

    for (uint32_t i = 0; i < q->groups_n; i++)
        if (mr_expr_equal(q->groups[i], x))
            return;
    q->groups[q->groups_n++] = x;
    if (a == NULL) {
        *out = mr_attribute_new(an, name, x->type, x->nullable);
    } else {
        *out = *a;
        out->name = name;
        if (sets)
            out->id = an->next_id++;
    }
    if (sets)
        out->nullable = true;
}

static bool group_by_position(struct mr_analyzer *an, struct mr_select *q, const struct mr_ast *x)
{
    int32_t at = x->literal->i32[0];
    const struct mr_ast *item;
    struct mr_expr *e;

    if (at < 1 || (uint32_t)at > q->n) {
        MR_ANALYZE_FAIL(an, x->place, "GROUP_BY_POS_OUT_OF_RANGE",
                        "GROUP BY position %d is not in select list (valid range is [1, %u]).", at,
                        q->n);
        return false;
    }
    item = q->items[at - 1];
    if (item == NULL) {
        add_group(an, q, q->named[at - 1].expr, q->named[at - 1].name);
        return true;
    }
    if (mr_has_aggregate(item)) {
        MR_ANALYZE_FAIL(an, x->place, "GROUP_BY_POS_AGGREGATE",
                        "GROUP BY %d refers to an expression that contains an aggregate function. "
                        "Aggregate functions are not allowed in GROUP BY.",
                        at);
        return false;
    }
    e = mr_analyze_expr(an, &q->scope, mr_without_alias(item));
    if (e != NULL)
        add_group(an, q, e, mr_item_name(item, e));
    return e != NULL;
}

static bool group_by_all(struct mr_analyzer *an, struct mr_select *q)
{
    for (uint32_t i = 0; i < q->n; i++) {
        struct mr_expr *e = q->items[i] == NULL ? q->named[i].expr : NULL;

        if (q->items[i] != NULL && mr_has_aggregate(q->items[i]))
            continue;
        if (e == NULL &&
            (e = mr_analyze_expr(an, &q->scope, mr_without_alias(q->items[i]))) == NULL)
            return false;
        if (e->kind != MR_EXPR_LITERAL)
            add_group(an, q, e, q->items[i] ? mr_item_name(q->items[i], e) : q->named[i].name);
    }
    return true;
}

static bool groups_are_orderable(struct mr_analyzer *an, const struct mr_select *q)
{
    for (uint32_t i = 0; i < q->groups_n; i++)
        if (mr_type_has(q->groups[i]->type, MR_VARIANT)) {
            MR_ANALYZE_FAIL(an, q->groups[i]->place, "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE",
                            "The expression \"%s\" cannot be used as a grouping expression "
                            "because its data type is or holds a VARIANT, which is not orderable.",
                            q->groups[i]->text ? q->groups[i]->text : "");
            return false;
        }
    return true;
}

/* Before other keys: they may name a window's fields, wherever they stand. */
static bool find_windows(struct mr_analyzer *an, struct mr_select *q)
{
    const struct mr_relation *r = q->relation;

    for (uint32_t i = 0; i < r->groups_n; i++)
        if (r->groups[i]->kind == MR_AST_CALL && mr_same_name(r->groups[i]->name, "window") &&
            mr_analyze_expr(an, &q->scope, r->groups[i]) == NULL)
            return false;
    return true;
}

bool mr_analyze_groups(struct mr_analyzer *an, struct mr_select *q)
{
    const struct mr_relation *r = q->relation;
    uint32_t room = r->groups_n + q->n + 1;

    q->groups = MR_NEW_ARRAY(an->arena, struct mr_expr *, room);
    q->group_attributes = MR_NEW_ARRAY(an->arena, struct mr_attribute, room);
    q->scope.clause = MR_IN_GROUP_BY;
    q->scope.aggregation = NULL;
    q->scope.items = q->items;
    q->scope.items_n = q->n;
    if (r->kind == MR_REL_AGGREGATE && r->group_kind == MR_GROUP_ALL && !group_by_all(an, q))
        return false;
    if (!find_windows(an, q))
        return false;
    for (uint32_t i = 0; i < r->groups_n; i++) {
        const struct mr_ast *x = r->groups[i];
        struct mr_expr *e;

        if (x->kind == MR_AST_LITERAL && x->literal->type->kind == MR_INT) {
            if (!group_by_position(an, q, x))
                return false;
            continue;
        }
        e = mr_analyze_expr(an, &q->scope, x);
        if (e == NULL)
            return false;
        add_group(an, q, e, mr_item_name(x, e));
    }
    if (r->sets_n > 0) {
        q->grouping_id = mr_attribute_new(an, "spark_grouping_id", &mr_type_bigint, false);
        q->aggregation.grouping_id = mr_attribute_expr(an->arena, &q->grouping_id);
    }
    q->aggregation.groups = q->groups;
    q->aggregation.groups_n = q->groups_n;
    return groups_are_orderable(an, q);
}

struct over_groups {
    struct mr_analyzer *an;
    struct mr_select *q;
};

static struct mr_expr *over_group(void *arg, struct mr_expr *x)
{
    const struct over_groups *o = arg;
    struct mr_select *q = o->q;

    if (x->kind == MR_EXPR_LITERAL)
        return x;
    for (uint32_t i = 0; i < q->groups_n; i++)
        if (mr_expr_equal(q->groups[i], x)) {
            struct mr_expr *e = mr_attribute_expr(o->an->arena, &q->group_attributes[i]);

            e->text = x->text;
            e->place = x->place;
            return e;
        }
    if (x->kind != MR_EXPR_COLUMN || known_attribute(q, x->index) == NULL)
        return NULL;
    if (q->visible_n > 0) {
        struct mr_scope outputs = {.attributes = q->output, .attributes_n = q->visible_n};
        mr_unresolved_column(o->an, &outputs, &x->text, 1, x->place);
    } else if (q->groups_n == 0)
        MR_ANALYZE_FAIL(
            o->an, x->place, "MISSING_GROUP_BY",
            "The query does not include a GROUP BY clause, but \"%s\" is beside aggregate "
            "functions. Add GROUP BY or turn them into window functions using OVER clauses.",
            x->text);
    else
        MR_ANALYZE_FAIL(
            o->an, x->place, "MISSING_AGGREGATION",
            "The non-aggregating expression \"%s\" is based on columns which are not "
            "participating in the GROUP BY clause. Add the columns or the expression to the "
            "GROUP BY, aggregate the expression, or use \"any_value(%s)\" if you do not care "
            "which of the values within a group is returned.",
            x->text, x->text);
    return x;
}

struct mr_expr *mr_over_groups(struct mr_analyzer *an, struct mr_select *q, struct mr_expr *x)
{
    struct over_groups o = {an, q};

    if (x == NULL)
        return NULL;
    x = mr_expr_replace(an->arena, x, over_group, &o);
    return an->err->status == MR_OK ? x : NULL;
}

static bool set_has(const uint32_t *set, uint32_t group)
{
    for (uint32_t i = 1; i <= set[0]; i++)
        if (set[i] == group)
            return true;
    return false;
}

/* One row for each grouping set: the child's columns, the groups (null where not in the set), and
 * the number of the set, a bit for each group that is left out. */
static struct mr_logical *grouping_sets(struct mr_analyzer *an, struct mr_select *q,
                                        struct mr_logical *child)
{
    const struct mr_relation *r = q->relation;
    struct mr_logical *node = mr_logical_unary(an->arena, MR_LOGICAL_EXPAND, child, r->place);
    uint32_t n = child->output_n + q->groups_n + 1, at = 0;

    node->output = mr_attributes_copy(an->arena, child->output, child->output_n, q->groups_n + 1);
    mr_copy_items(node->output + child->output_n, q->group_attributes,
                  q->groups_n * sizeof *node->output);
    node->output[n - 1] = q->grouping_id;
    node->output_n = n;
    node->rows_n = r->sets_n;
    node->exprs_n = n * r->sets_n;
    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, node->exprs_n);
    for (uint32_t set = 0; set < r->sets_n; set++) {
        int64_t id = 0;

        for (uint32_t i = 0; i < child->output_n; i++)
            node->exprs[at++] = mr_attribute_expr(an->arena, &child->output[i]);
        for (uint32_t i = 0; i < q->groups_n; i++) {
            bool in = set_has(r->sets[set], i);

            node->exprs[at++] =
                in ? q->groups[i] : mr_expr_literal_null(an->arena, q->groups[i]->type);
            id |= in ? 0 : (int64_t)1 << (q->groups_n - 1 - i);
        }
        node->exprs[at++] = mr_expr_literal_i64(an->arena, &mr_type_bigint, id);
    }
    return node;
}

struct mr_logical *mr_aggregate_new(struct mr_analyzer *an, struct mr_select *q)
{
    const struct mr_relation *r = q->relation;
    struct mr_logical *child = mr_time_windows_place(an, &q->windows, q->child, r->place);
    struct mr_logical *node;

    if (child == NULL)
        return NULL;
    if (r->sets_n > 0) {
        child = grouping_sets(an, q, child);
        q->group_attributes[q->groups_n] = q->grouping_id;
        q->groups_n++;
        for (uint32_t i = 0; i < q->groups_n; i++)
            q->groups[i] = mr_attribute_expr(an->arena, &q->group_attributes[i]);
    }
    node = mr_logical_unary(an->arena, MR_LOGICAL_AGGREGATE, child, r->place);
    node->groups = q->groups;
    node->group_attributes = q->group_attributes;
    node->groups_n = q->groups_n;
    node->aggregates = q->aggregation.items;
    node->aggregates_n = q->aggregation.n;
    return node;
}
