#include "core/base/bounds.h"
#include "core/sql/parse.h"

void mr_ast_list_push(struct mr_parser *p, struct mr_ast_list *list, struct mr_ast *x)
{
    if (list->n == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
        struct mr_ast **items = MR_NEW_ARRAY(p->arena, struct mr_ast *, capacity);
        if (list->n)
            memcpy(items, list->items, sizeof *items * list->n);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = x;
}

void mr_name_list_push(struct mr_parser *p, struct mr_name_list *list, const char *name)
{
    if (list->n == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 4;
        const char **items = MR_NEW_ARRAY(p->arena, const char *, capacity);
        if (list->n)
            memcpy(items, list->items, sizeof *items * list->n);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = name;
}

static void too_deep(struct mr_parser *p)
{
    mr_parse_fail_with(p, mr_parse_peek(p, 0), "FAILED_TO_PARSE_TOO_COMPLEX",
                       "The statement is nested too deeply: %d levels are allowed.", MR_DEPTH_MAX);
}

bool mr_parse_enter(struct mr_parser *p)
{
    if (p->depth >= MR_DEPTH_MAX) {
        too_deep(p);
        return false;
    }
    p->depth++;
    return true;
}

void mr_parse_leave(struct mr_parser *p)
{
    p->depth--;
}

struct mr_ast *mr_parse_node(struct mr_parser *p, enum mr_ast_kind kind, struct mr_place place)
{
    struct mr_ast *x = MR_NEW(p->arena, struct mr_ast);

    x->kind = kind;
    x->place = place;
    return x;
}

static uint32_t deeper(uint32_t depth, const struct mr_ast *x)
{
    return x && x->depth > depth ? x->depth : depth;
}

static uint32_t deepest(uint32_t depth, struct mr_ast *const *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        depth = deeper(depth, items[i]);
    return depth;
}

/* A node too deep is still made, so that callers need not care; the parse has failed then. */
static uint16_t checked(struct mr_parser *p, uint32_t depth)
{
    if (depth > MR_DEPTH_MAX) {
        too_deep(p);
        return MR_DEPTH_MAX;
    }
    return (uint16_t)depth;
}

struct mr_ast *mr_parse_finish(struct mr_parser *p, struct mr_ast *x)
{
    uint32_t depth = deepest(0, x->args, x->args_n);

    depth = deepest(depth, x->within, x->within_n);
    depth = deeper(depth, x->filter);
    if (x->over) {
        depth = deepest(depth, x->over->partition, x->over->partition_n);
        depth = deepest(depth, x->over->order, x->over->order_n);
    }
    if (x->relation && x->relation->depth > depth)
        depth = x->relation->depth;
    x->depth = checked(p, depth + 1);
    return x;
}

struct mr_ast *mr_parse_call_node(struct mr_parser *p, struct mr_place place, const char *name,
                                  struct mr_ast **args, uint32_t args_n)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_CALL, place);

    x->name = name;
    x->args = args;
    x->args_n = args_n;
    return mr_parse_finish(p, x);
}

struct mr_ast *mr_parse_call_1(struct mr_parser *p, struct mr_place place, const char *name,
                               struct mr_ast *a)
{
    struct mr_ast **args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);

    args[0] = a;
    return mr_parse_call_node(p, place, name, args, 1);
}

struct mr_ast *mr_parse_call_2(struct mr_parser *p, struct mr_place place, const char *name,
                               struct mr_ast *a, struct mr_ast *b)
{
    struct mr_ast **args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 2);

    args[0] = a;
    args[1] = b;
    return mr_parse_call_node(p, place, name, args, 2);
}

struct mr_ast *mr_parse_name_node(struct mr_parser *p, struct mr_place place,
                                  const struct mr_name_list *parts)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_NAME, place);

    x->parts = parts->items;
    x->parts_n = parts->n;
    return mr_parse_finish(p, x);
}

struct mr_ast *mr_parse_alias_node(struct mr_parser *p, struct mr_ast *x,
                                   const struct mr_name_list *names)
{
    struct mr_ast *alias = mr_parse_node(p, MR_AST_ALIAS, x->place);

    alias->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
    alias->args[0] = x;
    alias->args_n = 1;
    alias->parts = names->items;
    alias->parts_n = names->n;
    return mr_parse_finish(p, alias);
}

struct mr_ast *mr_parse_join_balanced(struct mr_parser *p, const char *name,
                                      struct mr_ast *const *operands, uint32_t n)
{
    if (n == 1)
        return operands[0];
    uint32_t left = (n + 1) / 2;
    struct mr_ast *a = mr_parse_join_balanced(p, name, operands, left);
    struct mr_ast *b = mr_parse_join_balanced(p, name, operands + left, n - left);
    return mr_parse_call_2(p, a->place, name, a, b);
}

struct mr_relation *mr_parse_relation_node(struct mr_parser *p, enum mr_relation_kind kind,
                                           struct mr_place place)
{
    struct mr_relation *r = MR_NEW(p->arena, struct mr_relation);

    r->kind = kind;
    r->place = place;
    return r;
}

struct mr_relation *mr_parse_relation_finish(struct mr_parser *p, struct mr_relation *r)
{
    uint32_t depth = deepest(0, r->exprs, r->exprs_n);

    depth = deepest(depth, r->groups, r->groups_n);
    depth = deeper(depth, r->condition);
    depth = deeper(depth, r->watermark);
    if (r->input && r->input->depth > depth)
        depth = r->input->depth;
    if (r->right && r->right->depth > depth)
        depth = r->right->depth;
    for (uint32_t i = 0; i < r->ctes_n; i++)
        if (r->ctes[i].relation->depth > depth)
            depth = r->ctes[i].relation->depth;
    r->depth = checked(p, depth + 1);
    return r;
}

void mr_parse_deepen(struct mr_parser *p, struct mr_relation *r, uint32_t by)
{
    r->depth = checked(p, r->depth + by);
}

static bool names_equal(const char *const *a, const char *const *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!mr_text_equal_ignoring_case(mr_text_of(a[i]), mr_text_of(b[i])))
            return false;
    return true;
}

bool mr_ast_equal(const struct mr_ast *a, const struct mr_ast *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->args_n != b->args_n || a->parts_n != b->parts_n ||
        a->distinct != b->distinct || a->is_try != b->is_try || a->relation || b->relation ||
        a->over || b->over || a->filter || b->filter)
        return false;
    if ((a->name != NULL) != (b->name != NULL) || !names_equal(a->parts, b->parts, a->parts_n))
        return false;
    if (a->name && !(a->kind == MR_AST_LITERAL ? strcmp(a->name, b->name) == 0
                                               : names_equal(&a->name, &b->name, 1)))
        return false;
    if (a->type && !mr_type_equal(a->type, b->type))
        return false;
    for (uint32_t i = 0; i < a->args_n; i++)
        if (!mr_ast_equal(a->args[i], b->args[i]))
            return false;
    return true;
}
