/* pushdown.c - filters go down as far as Spark moves them.
 *
 * Why      It is no mere optimization: rows that a filter removes below a watermark node do not
 *          advance the watermark. So a filter sinks below it exactly when it does not touch the
 *          event time.
 */
#include "core/plan/logical.h"

#include "core/base/check.h"
#include "core/expr/function.h"

struct conditions {
    struct mr_expr **items;
    uint32_t n;
};

static struct conditions room_for(struct mr_rewriter *r, uint32_t n)
{
    return (struct conditions){MR_NEW_ARRAY(r->arena, struct mr_expr *, n), 0};
}

static struct mr_logical *filter_over(struct mr_rewriter *r, struct mr_logical *node,
                                      const struct conditions *c)
{
    struct mr_logical *filter;

    if (c->n == 0)
        return node;
    filter = mr_logical_unary(r->arena, MR_LOGICAL_FILTER, node, c->items[0]->place);
    filter->exprs = MR_NEW_ARRAY(r->arena, struct mr_expr *, 1);
    filter->exprs[0] = mr_expr_and(r->arena, c->items, c->n);
    filter->exprs_n = 1;
    return filter;
}

static struct mr_logical *push(struct mr_rewriter *r, struct mr_logical *node,
                               const struct conditions *c);

/* Those of c that below can say over the child go there; the others stay above node. */
static struct mr_logical *
split(struct mr_rewriter *r, struct mr_logical *node, const struct conditions *c,
      struct mr_expr *(*below)(struct mr_rewriter *r, const struct mr_logical *node,
                               struct mr_expr *x))
{
    struct conditions down = room_for(r, c->n), stay = room_for(r, c->n);

    for (uint32_t i = 0; i < c->n; i++) {
        struct mr_expr *x =
            mr_expr_is_deterministic(c->items[i]) ? below(r, node, c->items[i]) : NULL;

        if (x != NULL)
            down.items[down.n++] = x;
        else
            stay.items[stay.n++] = c->items[i];
    }
    node->children[0] = push(r, node->children[0], &down);
    return filter_over(r, node, &stay);
}

static struct mr_expr *below_project(struct mr_rewriter *r, const struct mr_logical *node,
                                     struct mr_expr *x)
{
    for (uint32_t i = 0; i < node->exprs_n; i++)
        if (!mr_expr_is_deterministic(node->exprs[i]))
            return NULL;
    return mr_expr_substitute(r->arena, x, node->output, node->exprs, node->exprs_n);
}

static struct mr_expr *below_watermark(struct mr_rewriter *r, const struct mr_logical *node,
                                       struct mr_expr *x)
{
    (void)r;
    return mr_expr_refers(x, node->keys[0]) ? NULL : x;
}

/* What looks at keys only holds for whole groups. */
static struct mr_expr *below_aggregate(struct mr_rewriter *r, const struct mr_logical *node,
                                       struct mr_expr *x)
{
    x = mr_expr_substitute(r->arena, x, node->output, node->exprs, node->exprs_n);
    if (node->groups_n == 0 || mr_expr_covered(x, NULL, 0) ||
        !mr_expr_covered(x, node->group_attributes, node->groups_n))
        return NULL;
    x = mr_expr_substitute(r->arena, x, node->group_attributes, node->groups, node->groups_n);
    return mr_expr_covered(x, NULL, 0) ? NULL : x;
}

/* GENERATE, EXPAND, SORT: their columns from below keep their ids. */
static struct mr_expr *below_same(struct mr_rewriter *r, const struct mr_logical *node,
                                  struct mr_expr *x)
{
    const struct mr_logical *child = node->children[0];

    (void)r;
    return mr_expr_covered(x, child->output, child->output_n) ? x : NULL;
}

static struct mr_logical *push_union(struct mr_rewriter *r, struct mr_logical *node,
                                     const struct conditions *c)
{
    struct conditions stay = room_for(r, c->n), down = room_for(r, c->n);

    for (uint32_t i = 0; i < c->n; i++) {
        struct conditions *to = mr_expr_is_deterministic(c->items[i]) ? &down : &stay;
        to->items[to->n++] = c->items[i];
    }
    for (uint32_t k = 0; k < node->children_n; k++) {
        struct mr_logical *child = node->children[k];
        struct conditions own = room_for(r, down.n);
        struct mr_expr **columns = MR_NEW_ARRAY(r->arena, struct mr_expr *, child->output_n);

        for (uint32_t i = 0; i < child->output_n; i++)
            columns[i] = mr_attribute_expr(r->arena, &child->output[i]);
        for (uint32_t i = 0; i < down.n; i++)
            own.items[own.n++] =
                mr_expr_substitute(r->arena, down.items[i], node->output, columns, node->output_n);
        node->children[k] = push(r, child, &own);
    }
    return filter_over(r, node, &stay);
}

static struct mr_logical *push_filter(struct mr_rewriter *r, struct mr_logical *node,
                                      const struct conditions *c)
{
    struct conditions all = room_for(r, c->n + mr_expr_conjuncts(node->exprs[0], NULL));

    all.n = mr_expr_conjuncts(node->exprs[0], all.items);
    for (uint32_t i = 0; i < c->n; i++) {
        bool known = false;

        for (uint32_t k = 0; k < all.n && !known; k++)
            known = mr_expr_equal(all.items[k], c->items[i]);
        if (!known)
            all.items[all.n++] = c->items[i];
    }
    return push(r, node->children[0], &all);
}

/* Spark infers that a row whose array is null or empty gives nothing. */
static struct mr_logical *push_generate(struct mr_rewriter *r, struct mr_logical *node,
                                        const struct conditions *c)
{
    static const char *const inferring[] = {"explode", "posexplode", "inline"};
    struct mr_resolve resolve = {r->arena, r->session->conf.ansi, r->session->conf.zone, r->err};
    const struct mr_expr *call = node->exprs[0];
    struct conditions all = room_for(r, c->n + 2);
    struct mr_expr *args[2] = {call->args_n == 1 ? call->args[0] : NULL, NULL}, *size;

    mr_copy_items(all.items, c->items, c->n * sizeof *c->items);
    all.n = c->n;
    for (size_t i = 0; i < sizeof inferring / sizeof *inferring; i++) {
        if (!mr_expr_is_call(call, inferring[i]) || node->outer || args[0] == NULL ||
            args[0]->kind != MR_EXPR_COLUMN)
            continue;
        if (mr_call_make(&resolve, mr_function_find("size"), args, 1, call->place, "size", &size) !=
            MR_OK)
            return NULL;
        args[0] = size;
        args[1] = mr_expr_literal_i64(r->arena, &mr_type_int, 0);
        if (mr_call_make(&resolve, mr_function_find(">"), args, 2, call->place,
                         mr_arena_format(r->arena, "(size(%s) > 0)", call->args[0]->text),
                         &all.items[all.n]) != MR_OK)
            return NULL;
        all.n++;
    }
    return split(r, node, &all, below_same);
}

static struct mr_logical *push(struct mr_rewriter *r, struct mr_logical *node,
                               const struct conditions *c)
{
    struct conditions none = {0};

    switch (node->kind) {
    case MR_LOGICAL_FILTER:
        return push_filter(r, node, c);
    case MR_LOGICAL_PROJECT:
        return split(r, node, c, below_project);
    case MR_LOGICAL_WATERMARK:
        return split(r, node, c, below_watermark);
    case MR_LOGICAL_AGGREGATE:
        return split(r, node, c, below_aggregate);
    case MR_LOGICAL_GENERATE:
        return push_generate(r, node, c);
    case MR_LOGICAL_EXPAND:
    case MR_LOGICAL_SORT:
        return split(r, node, c, below_same);
    case MR_LOGICAL_UNION:
        return push_union(r, node, c);
    default:
        break;
    }
    for (uint32_t i = 0; i < node->children_n; i++)
        if ((node->children[i] = push(r, node->children[i], &none)) == NULL)
            return NULL;
    return filter_over(r, node, c);
}

struct mr_logical *mr_pushdown(struct mr_rewriter *r, struct mr_logical *plan)
{
    struct conditions none = {0};
    struct mr_logical *out = push(r, plan, &none);

    return r->err->status == MR_OK ? out : NULL;
}
