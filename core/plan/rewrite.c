/* rewrite.c - Spark's rewrites in their order: WITH inlined, DISTINCT as an aggregate, constants
 * folded, filters inferred and pushed down, columns pruned, projections merged. */
#include "core/plan/logical.h"

#include "core/base/check.h"
#include "core/expr/function.h"

/* A copy of the nodes (expressions and attributes are shared): definitions may be used several
 * times. */
static struct mr_logical *copy_plan(struct mr_arena *a, const struct mr_logical *node)
{
    struct mr_logical *copy = MR_NEW(a, struct mr_logical);

    *copy = *node;
    copy->children = MR_NEW_ARRAY(a, struct mr_logical *, node->children_n);
    for (uint32_t i = 0; i < node->children_n; i++)
        copy->children[i] = copy_plan(a, node->children[i]);
    return copy;
}

static struct mr_logical *inline_ctes(struct mr_rewriter *r, struct mr_logical *node)
{
    struct mr_logical *out;

    if (node->kind == MR_LOGICAL_WITH)
        return inline_ctes(r, node->children[node->children_n - 1]);
    if (node->kind == MR_LOGICAL_CTE_REF) {
        struct mr_logical *definition = copy_plan(r->arena, node->definition);

        out = mr_logical_narrow(r->arena, inline_ctes(r, definition), definition->output,
                                definition->output_n);
        out->output = node->output;
        return out;
    }
    for (uint32_t i = 0; i < node->children_n; i++)
        node->children[i] = inline_ctes(r, node->children[i]);
    return node;
}

/* SELECT DISTINCT, UNION: an aggregate whose keys are all columns. */
static void distinct_as_aggregate(struct mr_rewriter *r, struct mr_logical *node)
{
    for (uint32_t i = 0; i < node->children_n; i++)
        distinct_as_aggregate(r, node->children[i]);
    if (node->kind != MR_LOGICAL_DISTINCT)
        return;
    node->kind = MR_LOGICAL_AGGREGATE;
    node->groups_n = node->exprs_n = node->output_n;
    node->group_attributes = node->output;
    node->groups = MR_NEW_ARRAY(r->arena, struct mr_expr *, node->output_n);
    for (uint32_t i = 0; i < node->output_n; i++)
        node->groups[i] = mr_attribute_expr(r->arena, &node->output[i]);
    node->exprs = node->groups;
}

/* All aggregates are DISTINCT over the same arguments. */
static bool is_all_distinct(const struct mr_logical *node)
{
    const struct mr_expr *first = node->aggregates_n ? node->aggregates[0].call : NULL;

    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        const struct mr_logical_aggregate *x = &node->aggregates[i];

        if (!x->distinct || x->filter != NULL || x->call->args_n != first->args_n)
            return false;
        for (uint32_t k = 0; k < first->args_n; k++)
            if (!mr_expr_equal(x->call->args[k], first->args[k]))
                return false;
    }
    return first != NULL;
}

/* Batch only: sum(DISTINCT v) GROUP BY k is sum(v) over the rows of SELECT DISTINCT k, v. */
static void distinct_below(struct mr_rewriter *r, struct mr_logical *node)
{
    struct mr_logical *below;
    const struct mr_expr *call;
    uint32_t n = 0, room;

    for (uint32_t i = 0; i < node->children_n; i++)
        distinct_below(r, node->children[i]);
    if (node->kind != MR_LOGICAL_AGGREGATE || !is_all_distinct(node))
        return;
    call = node->aggregates[0].call;
    room = node->groups_n + call->args_n;
    below = mr_logical_unary(r->arena, MR_LOGICAL_AGGREGATE, node->children[0], node->place);
    below->groups = MR_NEW_ARRAY(r->arena, struct mr_expr *, room);
    below->group_attributes = MR_NEW_ARRAY(r->arena, struct mr_attribute, room);
    below->exprs = MR_NEW_ARRAY(r->arena, struct mr_expr *, room);
    for (uint32_t i = 0; i < room; i++) {
        struct mr_expr *x = i < node->groups_n ? node->groups[i] : call->args[i - node->groups_n];
        struct mr_attribute a = {
            .id = r->next_id++, .name = x->text, .type = x->type, .nullable = x->nullable};

        below->groups[n] = x;
        below->group_attributes[n] = a;
        below->exprs[n++] = mr_attribute_expr(r->arena, &a);
        if (i < node->groups_n)
            node->groups[i] = below->exprs[i];
    }
    below->groups_n = below->exprs_n = below->output_n = n;
    below->output = below->group_attributes;
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        struct mr_expr *over = MR_NEW(r->arena, struct mr_expr);

        *over = *node->aggregates[i].call;
        over->args = below->exprs + node->groups_n;
        node->aggregates[i].call = over;
        node->aggregates[i].distinct = false;
    }
    node->children[0] = below;
}

static struct mr_expr *fold(struct mr_rewriter *r, struct mr_expr *x)
{
    return x != NULL ? mr_expr_fold(r->arena, r->session, x) : NULL;
}

static void fold_constants(struct mr_rewriter *r, struct mr_logical *node)
{
    struct mr_sort_key *sort;

    for (uint32_t i = 0; i < node->children_n; i++)
        fold_constants(r, node->children[i]);
    for (uint32_t i = 0; i < node->exprs_n; i++)
        node->exprs[i] = fold(r, node->exprs[i]);
    for (uint32_t i = 0; i < node->groups_n; i++)
        node->groups[i] = fold(r, node->groups[i]);
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        node->aggregates[i].call = fold(r, node->aggregates[i].call);
        node->aggregates[i].filter = fold(r, node->aggregates[i].filter);
    }
    if (node->kind != MR_LOGICAL_SORT)
        return;
    sort = MR_NEW_ARRAY(r->arena, struct mr_sort_key, node->exprs_n);
    for (uint32_t i = 0; i < node->exprs_n; i++) {
        sort[i] = node->sort[i];
        sort[i].expr = node->exprs[i];
    }
    node->sort = sort;
}

static void count_uses(const struct mr_expr *x, const struct mr_logical *inner, uint32_t *uses)
{
    if (x->kind == MR_EXPR_COLUMN)
        for (uint32_t i = 0; i < inner->output_n; i++)
            uses[i] += inner->output[i].id == x->index;
    for (uint32_t i = 0; i < x->args_n; i++)
        count_uses(x->args[i], inner, uses);
}

/* A projection over another becomes one, unless that would compute something twice. */
static bool can_merge(struct mr_rewriter *r, const struct mr_logical *outer,
                      const struct mr_logical *inner)
{
    uint32_t *uses = MR_NEW_ARRAY(r->arena, uint32_t, inner->output_n);

    for (uint32_t i = 0; i < outer->exprs_n; i++)
        count_uses(outer->exprs[i], inner, uses);
    for (uint32_t i = 0; i < inner->exprs_n; i++) {
        const struct mr_expr *x = inner->exprs[i];

        if (x->kind != MR_EXPR_COLUMN && x->kind != MR_EXPR_LITERAL &&
            (uses[i] > 1 || !mr_expr_is_deterministic(x)))
            return false;
    }
    return true;
}

static bool is_identity(const struct mr_logical *node)
{
    const struct mr_logical *child = node->children[0];

    if (node->kind != MR_LOGICAL_PROJECT || node->output_n != child->output_n)
        return false;
    for (uint32_t i = 0; i < node->output_n; i++)
        if (node->exprs[i]->kind != MR_EXPR_COLUMN ||
            node->exprs[i]->index != child->output[i].id ||
            node->output[i].id != child->output[i].id ||
            strcmp(node->output[i].name, child->output[i].name) != 0)
            return false;
    return true;
}

static struct mr_logical *merge_projections(struct mr_rewriter *r, struct mr_logical *node)
{
    struct mr_logical *inner;

    for (uint32_t i = 0; i < node->children_n; i++)
        node->children[i] = merge_projections(r, node->children[i]);
    if (node->kind != MR_LOGICAL_PROJECT)
        return node;
    if (is_identity(node))
        return node->children[0];
    inner = node->children[0];
    if (inner->kind == MR_LOGICAL_PROJECT && can_merge(r, node, inner)) {
        for (uint32_t i = 0; i < node->exprs_n; i++)
            node->exprs[i] = mr_expr_substitute(r->arena, node->exprs[i], inner->output,
                                                inner->exprs, inner->exprs_n);
        node->children[0] = inner->children[0];
        if (is_identity(node))
            return node->children[0];
    }
    return node;
}

enum mr_status mr_rewrite(struct mr_rewriter *r, struct mr_logical **plan)
{
    struct mr_logical *node = inline_ctes(r, *plan);

    distinct_as_aggregate(r, node);
    if (!r->streaming)
        distinct_below(r, node);
    fold_constants(r, node);
    node = mr_pushdown(r, node);
    node = node != NULL ? mr_prune(r, node) : NULL;
    if (node == NULL)
        return r->err->status;
    *plan = merge_projections(r, node);
    return MR_OK;
}
