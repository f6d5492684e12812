/* analyze_select.c - a select list with what hangs on it: GROUP BY, HAVING, ORDER BY,
 * generators. */
#include "core/plan/analyzer.h"

#include "core/expr/coerce.h"

/* Spreads stars out, so that positions count as the user sees them. */
static bool spread(struct mr_analyzer *an, struct mr_select *q)
{
    const struct mr_relation *r = q->relation;
    uint32_t room = r->exprs_n + 1;

    for (uint32_t i = 0; i < r->exprs_n; i++)
        if (r->exprs[i]->kind == MR_AST_STAR)
            room += q->scope.attributes_n + 1;
    q->items = MR_NEW_ARRAY(an->arena, struct mr_ast *, room);
    q->named = MR_NEW_ARRAY(an->arena, struct mr_named, room);
    for (uint32_t i = 0; i < r->exprs_n; i++) {
        struct mr_named *columns;
        uint32_t n;

        if (r->exprs[i]->kind != MR_AST_STAR) {
            q->items[q->n++] = r->exprs[i];
            continue;
        }
        n = mr_analyze_star(an, &q->scope, r->exprs[i], &columns);
        if (n == UINT32_MAX)
            return false;
        if (q->n + n + (r->exprs_n - i) >
            room) { /* the fields of a struct: more than the columns */
            struct mr_ast **items = MR_NEW_ARRAY(an->arena, struct mr_ast *, room + n);
            struct mr_named *named = MR_NEW_ARRAY(an->arena, struct mr_named, room + n);

            mr_copy_items(items, q->items, q->n * sizeof *items);
            mr_copy_items(named, q->named, q->n * sizeof *named);
            q->items = items;
            q->named = named;
            room += n;
        }
        for (uint32_t c = 0; c < n; c++)
            q->named[q->n++] = columns[c];
    }
    return true;
}

static void add_output(struct mr_analyzer *an, struct mr_select *q, struct mr_attribute a,
                       struct mr_expr *x)
{
    uint32_t capacity = q->output_capacity;

    q->output = mr_grow(an->arena, q->output, q->output_n, &q->output_capacity, sizeof *q->output);
    q->exprs = mr_grow(an->arena, q->exprs, q->output_n, &capacity, sizeof *q->exprs);
    q->output[q->output_n] = a;
    q->exprs[q->output_n++] = x;
}

/* The attribute of an item, found in the child, the windows, or among groups and aggregates. */
static struct mr_attribute item_attribute(struct mr_analyzer *an, struct mr_select *q,
                                          const struct mr_named *x)
{
    uint32_t n = 0, room = q->scope.attributes_n + q->windows.n + q->groups_n + q->aggregation.n;
    struct mr_attribute *from;

    if (x->expr->kind != MR_EXPR_COLUMN)
        return mr_attribute_new(an, x->name, x->expr->type, x->expr->nullable);
    from = MR_NEW_ARRAY(an->arena, struct mr_attribute, room);
    for (uint32_t i = 0; i < q->groups_n; i++)
        from[n++] = q->group_attributes[i];
    for (uint32_t i = 0; i < q->aggregation.n; i++)
        from[n++] = q->aggregation.items[i].attribute;
    for (uint32_t i = 0; i < q->windows.n; i++)
        from[n++] = q->windows.items[i].attribute;
    for (uint32_t i = 0; i < q->scope.attributes_n; i++)
        from[n++] = q->scope.attributes[i];
    return mr_attribute_of(an, x, from, n);
}

/* A generator in the select list: it goes below, its columns come here. */
static bool generator_item(struct mr_analyzer *an, struct mr_select *q, const struct mr_ast *item)
{
    uint32_t before = q->child->output_n;
    bool aliased = item->kind == MR_AST_ALIAS;
    struct mr_logical *node;

    if (q->is_aggregate) {
        (void)MR_FAIL(
            an->err, MR_UNSUPPORTED, 0,
            "a generator beside aggregates is not supported: put the aggregation in a subquery");
        mr_analyze_fail_at(an, item->place);
        return false;
    }
    node = mr_generate_new(an, &q->scope, q->child, mr_without_alias(item), NULL,
                           aliased ? item->parts : NULL, aliased ? item->parts_n : 0, false);
    if (node == NULL)
        return false;
    q->child = node;
    for (uint32_t i = before; i < node->output_n; i++)
        add_output(an, q, node->output[i], mr_attribute_expr(an->arena, &node->output[i]));
    return true;
}

static bool resolve_items(struct mr_analyzer *an, struct mr_select *q)
{
    q->scope.clause = MR_IN_SELECT;
    q->scope.aggregation = q->is_aggregate ? &q->aggregation : NULL;
    q->scope.items = q->items;
    for (uint32_t i = 0; i < q->n; i++) {
        const struct mr_ast *item = q->items[i];
        struct mr_named *x = &q->named[i];

        q->scope.items_n = i;
        if (item != NULL && mr_is_generator(mr_without_alias(item))) {
            if (!generator_item(an, q, item))
                return false;
            continue;
        }
        if (item != NULL) {
            x->expr = mr_analyze_expr(an, &q->scope, mr_without_alias(item));
            if (x->expr == NULL)
                return false;
            x->name = mr_item_name(item, x->expr);
            x->aliased = item->kind == MR_AST_ALIAS;
            x->place = item->place;
            if (x->aliased && item->parts_n != 1) {
                MR_ANALYZE_FAIL(
                    an, item->place, "MULTI_ALIAS_WITHOUT_GENERATOR",
                    "Multi part aliasing (%u names) is not supported with \"%s\" as it is not a "
                    "generator function.",
                    item->parts_n, x->expr->text);
                return false;
            }
        }
        if (q->is_aggregate && (x->expr = mr_over_groups(an, q, x->expr)) == NULL)
            return false;
        add_output(an, q, item_attribute(an, q, x), x->expr);
    }
    return true;
}

static struct mr_expr *over_output(void *arg, struct mr_expr *x)
{
    struct mr_select *q = ((void **)arg)[0];
    struct mr_analyzer *an = ((void **)arg)[1];
    struct mr_named hidden = {.expr = x, .name = x->text};

    if (x->kind == MR_EXPR_LITERAL)
        return x;
    for (uint32_t i = 0; i < q->output_n; i++)
        if (mr_expr_equal(q->exprs[i], x)) {
            struct mr_expr *e = mr_attribute_expr(an->arena, &q->output[i]);

            e->text = x->text;
            e->place = x->place;
            return e;
        }
    if (x->kind != MR_EXPR_COLUMN)
        return NULL;
    add_output(an, q, item_attribute(an, q, &hidden), x);
    return mr_attribute_expr(an->arena, &q->output[q->output_n - 1]);
}

/* An expression of HAVING or ORDER BY: over the outputs of the select list, and hidden ones. */
static struct mr_expr *above(struct mr_analyzer *an, struct mr_select *q, const struct mr_ast *x,
                             enum mr_clause clause)
{
    struct mr_scope scope = q->scope;
    void *arg[2] = {q, an};
    struct mr_expr *e;

    scope.clause = clause;
    scope.items_n = 0;
    scope.outputs = q->output;
    scope.output_exprs = q->exprs;
    scope.outputs_n = q->visible_n;
    e = mr_analyze_expr(an, &scope, x);
    if (e != NULL && q->is_aggregate) {
        /* aliases stand for expressions over groups and aggregates already */
        e = mr_over_groups(an, q, e);
    }
    return e != NULL ? mr_expr_replace(an->arena, e, over_output, arg) : NULL;
}

static struct mr_expr *sort_key(struct mr_analyzer *an, struct mr_select *q, const struct mr_ast *x)
{
    if (x->kind == MR_AST_ORDER)
        x = x->args[0];
    if (x->kind == MR_AST_LITERAL && x->literal->type->kind == MR_INT) {
        int32_t at = x->literal->i32[0];

        if (at < 1 || (uint32_t)at > q->visible_n)
            return MR_ANALYZE_FAIL(
                an, x->place, "ORDER_BY_POS_OUT_OF_RANGE",
                "ORDER BY position %d is not in select list (valid range is [1, %u]).", at,
                q->visible_n);
        return mr_attribute_expr(an->arena, &q->output[at - 1]);
    }
    return above(an, q, x, MR_IN_ORDER_BY);
}

struct mr_logical *mr_sort_new(struct mr_analyzer *an, struct mr_logical *child,
                               const struct mr_relation *r, struct mr_expr *const *keys)
{
    struct mr_logical *node = mr_logical_unary(an->arena, MR_LOGICAL_SORT, child, r->place);
    struct mr_sort_key *sort = MR_NEW_ARRAY(an->arena, struct mr_sort_key, r->exprs_n);

    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, r->exprs_n);
    node->exprs_n = r->exprs_n;
    for (uint32_t i = 0; i < r->exprs_n; i++) {
        const struct mr_ast *x = r->exprs[i];
        bool order = x->kind == MR_AST_ORDER;

        if (!mr_type_is_orderable(keys[i]->type))
            return MR_ANALYZE_FAIL(an, x->place, "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
                                   "Cannot resolve \"%s\" due to data type mismatch: The "
                                   "`sortorder` does not support ordering on type \"%s\".",
                                   keys[i]->text, mr_type_sql(an->arena, keys[i]->type));
        node->exprs[i] = keys[i];
        sort[i] =
            (struct mr_sort_key){keys[i], order && x->descending, order ? x->nulls_first : true};
    }
    node->sort = sort;
    return node;
}

static struct mr_logical *select_node(struct mr_analyzer *an, struct mr_select *q)
{
    struct mr_logical *node;

    if (q->is_aggregate) {
        node = mr_aggregate_new(an, q);
    } else {
        struct mr_logical *child =
            mr_time_windows_place(an, &q->windows, q->child, q->relation->place);

        node = child ? mr_logical_unary(an->arena, MR_LOGICAL_PROJECT, child, q->relation->place)
                     : NULL;
    }
    if (node == NULL)
        return NULL;
    node->output = q->output;
    node->output_n = q->output_n;
    node->exprs = q->exprs;
    node->exprs_n = q->output_n;
    return node;
}

static bool is_aggregate(const struct mr_relation *r)
{
    if (r->kind == MR_REL_AGGREGATE)
        return true;
    for (uint32_t i = 0; i < r->exprs_n; i++)
        if (mr_has_aggregate(r->exprs[i]))
            return true;
    return false;
}

/* SELECT a, FROM t reads as a column FROM, named t, of nothing. */
static bool is_trailing_comma(const struct mr_relation *r)
{
    const struct mr_ast *last = r->exprs[r->exprs_n - 1];

    return r->input->kind == MR_REL_ONE_ROW && r->exprs_n > 1 && last->kind == MR_AST_ALIAS &&
           last->args[0]->kind == MR_AST_NAME && last->args[0]->parts_n == 1 &&
           mr_same_name(last->args[0]->parts[0], "FROM");
}

/* HAVING of something else than a condition is cast to one. */
static struct mr_expr *having_condition(struct mr_analyzer *an, struct mr_select *q)
{
    const struct mr_ast *x = q->relation->condition;
    struct mr_expr *e = above(an, q, x, MR_IN_HAVING);

    if (e != NULL && e->type->kind != MR_BOOLEAN &&
        mr_cast_make(&an->resolve, e, &mr_type_boolean, false, x->place, &e) != MR_OK)
        return mr_analyze_fail_at(an, x->place);
    return e;
}

struct mr_logical *mr_analyze_select(struct mr_analyzer *an, const struct mr_relation *r,
                                     struct mr_scope *outer, const struct mr_relation *sort)
{
    struct mr_select *q = MR_NEW(an->arena, struct mr_select);
    struct mr_expr *having = NULL, **keys = NULL;
    struct mr_logical *node;

    if (is_trailing_comma(r))
        return MR_ANALYZE_FAIL(an, r->exprs[r->exprs_n - 1]->place, "TRAILING_COMMA_IN_SELECT",
                               "Trailing comma detected in SELECT clause. Remove the trailing "
                               "comma before the FROM clause.");
    q->relation = r;
    q->child = mr_analyze(an, r->input, outer);
    if (q->child == NULL)
        return NULL;
    q->scope = (struct mr_scope){.clause = MR_IN_SELECT,
                                 .attributes = q->child->output,
                                 .attributes_n = q->child->output_n,
                                 .outer = outer,
                                 .windows = &q->windows,
                                 .over = &q->child};
    q->is_aggregate = is_aggregate(r);
    if (!spread(an, q) || (q->is_aggregate && !mr_analyze_groups(an, q)) || !resolve_items(an, q))
        return NULL;
    q->visible_n = q->output_n;
    if (r->condition != NULL && (having = having_condition(an, q)) == NULL)
        return NULL;
    if (sort != NULL) {
        keys = MR_NEW_ARRAY(an->arena, struct mr_expr *, sort->exprs_n);
        for (uint32_t i = 0; i < sort->exprs_n; i++)
            if ((keys[i] = sort_key(an, q, sort->exprs[i])) == NULL)
                return NULL;
    }
    node = select_node(an, q);
    if (node != NULL && having != NULL)
        node = mr_analyze_condition(an, node, having, r->condition->place);
    if (node != NULL && sort != NULL)
        node = mr_sort_new(an, node, sort, keys);
    if (node != NULL && q->output_n > q->visible_n)
        node = mr_logical_narrow(an->arena, node, node->output, q->visible_n);
    return node;
}
