#include "core/expr/program.h"

/* An equal node is looked for among the last ones only: thousands of literals must not cost a
 * quadratic time. One that is missed is evaluated twice. */
enum { SEARCH_MAX = 256 };

static uint32_t search_from(const struct program *p)
{
    return p->nodes_n > SEARCH_MAX ? p->nodes_n - SEARCH_MAX : 0;
}

static struct mr_eval_node *new_node(struct program *p, const struct mr_expr *x, struct mr_arena *a)
{
    struct mr_eval_node *node = MR_NEW(a, struct mr_eval_node);

    if (p->nodes_n == p->nodes_capacity) {
        uint32_t capacity = p->nodes_capacity ? 2 * p->nodes_capacity : 16;
        struct mr_eval_node **nodes = MR_NEW_ARRAY(a, struct mr_eval_node *, capacity);
        if (p->nodes_n)
            memcpy(nodes, p->nodes, p->nodes_n * sizeof *nodes);
        p->nodes = nodes;
        p->nodes_capacity = capacity;
    }
    node->expr = x;
    p->nodes[p->nodes_n++] = node;
    return node;
}

static uint32_t capture(struct program *p, const struct mr_expr *x, struct mr_arena *a)
{
    for (uint32_t i = 0; i < p->captures_n; i++)
        if (p->captures[i].kind == x->kind && p->captures[i].index == x->index)
            return i;
    if (p->captures_n == p->captures_capacity) {
        uint32_t capacity = p->captures_capacity ? 2 * p->captures_capacity : 8;
        struct capture *captures = MR_NEW_ARRAY(a, struct capture, capacity);
        if (p->captures_n)
            memcpy(captures, p->captures, p->captures_n * sizeof *captures);
        p->captures = captures;
        p->captures_capacity = capacity;
    }
    p->captures[p->captures_n] =
        (struct capture){x->kind, x->index, mr_program_add(p->outer, x, a)};
    return p->captures_n++;
}

/* Parameters come behind the captures, whose number is known only at the end. */
static void number_inputs(struct program *p)
{
    for (uint32_t i = 0; i < p->nodes_n; i++) {
        struct mr_eval_node *node = p->nodes[i];
        if (node->expr->kind == MR_EXPR_VARIABLE && node->expr->index >= p->variables_from)
            node->index = p->captures_n + node->expr->index - p->variables_from;
    }
}

static uint32_t variables_around(const struct program *p)
{
    uint32_t n = 0;

    for (; p; p = p->outer)
        n += p->variables_n;
    return n;
}

static struct program *lambda_program(struct program *outer, const struct mr_expr *x,
                                      struct mr_arena *a)
{
    struct program *p = MR_NEW(a, struct program);

    p->outer = outer;
    p->variables_from = variables_around(outer);
    p->variables_n = x->variables_n;
    p->body = mr_program_add(p, x->args[0], a);
    number_inputs(p);
    return p;
}

static struct mr_eval_node *add_input(struct program *p, const struct mr_expr *x,
                                      struct mr_arena *a)
{
    bool own = x->kind == MR_EXPR_VARIABLE && p->outer && x->index >= p->variables_from;
    struct mr_eval_node *node;

    for (uint32_t i = search_from(p); i < p->nodes_n; i++)
        if (p->nodes[i]->expr->kind == x->kind && p->nodes[i]->expr->index == x->index)
            return p->nodes[i];
    node = new_node(p, x, a);
    node->is_input = true;
    if (!own)
        node->index = p->outer ? capture(p, x, a) : x->index;
    return node;
}

static bool same_call(const struct mr_eval_node *node, const struct mr_expr *x,
                      struct mr_eval_node *const *args)
{
    return node->expr->kind == MR_EXPR_CALL && node->expr->function == x->function &&
           node->expr->args_n == x->args_n && mr_type_equal(node->expr->type, x->type) &&
           (x->args_n == 0 || memcmp(node->args, args, x->args_n * sizeof *args) == 0);
}

struct mr_eval_node *mr_program_add(struct program *p, const struct mr_expr *x, struct mr_arena *a)
{
    struct mr_eval_node *node, **args;

    if (x->kind == MR_EXPR_COLUMN || x->kind == MR_EXPR_VARIABLE)
        return add_input(p, x, a);
    if (x->kind == MR_EXPR_LITERAL) {
        for (uint32_t i = search_from(p); i < p->nodes_n; i++)
            if (p->nodes[i]->expr->kind == MR_EXPR_LITERAL && mr_expr_equal(p->nodes[i]->expr, x))
                return p->nodes[i];
        return new_node(p, x, a);
    }
    if (x->kind == MR_EXPR_LAMBDA) {
        node = new_node(p, x, a);
        node->lambda = lambda_program(p, x, a);
        return node;
    }
    args = MR_NEW_ARRAY(a, struct mr_eval_node *, x->args_n + 1);
    for (uint32_t i = 0; i < x->args_n; i++)
        args[i] = mr_program_add(p, x->args[i], a);
    if (!(x->function->flags & MR_FN_NONDETERMINISTIC))
        for (uint32_t i = search_from(p); i < p->nodes_n; i++)
            if (same_call(p->nodes[i], x, args))
                return p->nodes[i];
    node = new_node(p, x, a);
    node->args = args;
    if (x->function->state_size)
        node->state = mr_arena_zero(a, x->function->state_size);
    return node;
}

void mr_program_fini(struct program *p)
{
    for (uint32_t i = 0; i < p->nodes_n; i++) {
        struct mr_eval_node *node = p->nodes[i];
        if (node->lambda)
            mr_program_fini(node->lambda);
        if (node->state && node->expr->function->state_fini)
            node->expr->function->state_fini(node->state);
    }
}
