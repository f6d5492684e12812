#include "core/plan/logical.h"

#include "core/base/check.h"
#include "core/expr/function.h"

static const char *const names[] = {
#define X(kind, name) name,
    MR_LOGICALS(X)
#undef X
};

const struct mr_function mr_subquery_function = {
    .name = "subquery", .usage = "(SELECT ..)", .args_max = UINT32_MAX};

const char *mr_logical_name(enum mr_logical_kind kind)
{
    return names[kind];
}

struct mr_logical *mr_logical_new(struct mr_arena *a, enum mr_logical_kind kind,
                                  struct mr_logical *const *children, uint32_t children_n,
                                  struct mr_place place)
{
    struct mr_logical *node = MR_NEW(a, struct mr_logical);

    node->kind = kind;
    node->place = place;
    node->children = MR_NEW_ARRAY(a, struct mr_logical *, children_n);
    node->children_n = children_n;
    for (uint32_t i = 0; i < children_n; i++) {
        node->children[i] = children[i];
        node->streaming |= children[i]->streaming;
    }
    if (children_n > 0) {
        node->output = children[0]->output;
        node->output_n = children[0]->output_n;
    }
    return node;
}

struct mr_logical *mr_logical_unary(struct mr_arena *a, enum mr_logical_kind kind,
                                    struct mr_logical *child, struct mr_place place)
{
    return mr_logical_new(a, kind, &child, 1, place);
}

const struct mr_attribute *mr_attribute_find(const struct mr_attribute *list, uint32_t n,
                                             uint32_t id)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].id == id)
            return &list[i];
    return NULL;
}

struct mr_expr *mr_attribute_expr(struct mr_arena *a, const struct mr_attribute *x)
{
    return mr_expr_column(a, x->id, x->type, x->nullable, x->name);
}

struct mr_attribute *mr_attributes_copy(struct mr_arena *a, const struct mr_attribute *list,
                                        uint32_t n, uint32_t more)
{
    struct mr_attribute *copy = MR_NEW_ARRAY(a, struct mr_attribute, n + more);

    for (uint32_t i = 0; i < n; i++)
        copy[i] = list[i];
    return copy;
}

struct mr_logical *mr_logical_narrow(struct mr_arena *a, struct mr_logical *child,
                                     const struct mr_attribute *keep, uint32_t keep_n)
{
    struct mr_logical *node = mr_logical_unary(a, MR_LOGICAL_PROJECT, child, child->place);

    node->output = mr_attributes_copy(a, keep, keep_n, 0);
    node->output_n = keep_n;
    node->exprs = MR_NEW_ARRAY(a, struct mr_expr *, keep_n);
    node->exprs_n = keep_n;
    for (uint32_t i = 0; i < keep_n; i++)
        node->exprs[i] = mr_attribute_expr(a, &keep[i]);
    return node;
}

void *mr_grow(struct mr_arena *a, void *items, uint32_t n, uint32_t *capacity, size_t item_bytes)
{
    void *more;

    if (n < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 8;
    more = mr_arena_zero(a, *capacity * item_bytes);
    if (n > 0)
        mr_copy_items(more, items, n * item_bytes);
    return more;
}

struct mr_ids mr_ids_new(struct mr_arena *a, uint32_t n)
{
    return (struct mr_ids){MR_NEW_ARRAY(a, uint64_t, mr_bit_words(n) + 1), n};
}

void mr_ids_add(struct mr_ids *s, uint32_t id)
{
    MR_ASSERT(id < s->n);
    mr_bit_set(s->bits, id);
}

bool mr_ids_has(const struct mr_ids *s, uint32_t id)
{
    return id < s->n && mr_bit_get(s->bits, id);
}

void mr_ids_add_expr(struct mr_ids *s, const struct mr_expr *x)
{
    if (x->kind == MR_EXPR_COLUMN)
        mr_ids_add(s, x->index);
    for (uint32_t i = 0; i < x->args_n; i++)
        mr_ids_add_expr(s, x->args[i]);
}

bool mr_expr_refers(const struct mr_expr *x, uint32_t id)
{
    if (x->kind == MR_EXPR_COLUMN)
        return x->index == id;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (mr_expr_refers(x->args[i], id))
            return true;
    return false;
}

bool mr_expr_covered(const struct mr_expr *x, const struct mr_attribute *list, uint32_t n)
{
    if (x->kind == MR_EXPR_COLUMN)
        return mr_attribute_find(list, n, x->index) != NULL;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (!mr_expr_covered(x->args[i], list, n))
            return false;
    return true;
}

struct mr_expr *mr_expr_replace(struct mr_arena *a, struct mr_expr *x,
                                struct mr_expr *(*replace)(void *arg, struct mr_expr *x), void *arg)
{
    struct mr_expr *out = replace(arg, x);

    if (out != NULL)
        return out;
    out = x;
    for (uint32_t i = 0; i < x->args_n; i++) {
        struct mr_expr *part = mr_expr_replace(a, x->args[i], replace, arg);

        if (part == x->args[i])
            continue;
        if (out == x) {
            out = MR_NEW(a, struct mr_expr);
            *out = *x;
            out->args = MR_NEW_ARRAY(a, struct mr_expr *, x->args_n);
            mr_copy_items(out->args, x->args, x->args_n * sizeof *x->args);
        }
        out->args[i] = part;
    }
    return out;
}

struct substitution {
    const struct mr_attribute *list;
    struct mr_expr *const *exprs;
    uint32_t n;
};

static struct mr_expr *substitute(void *arg, struct mr_expr *x)
{
    const struct substitution *s = arg;

    if (x->kind != MR_EXPR_COLUMN)
        return NULL;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->list[i].id == x->index)
            return s->exprs[i];
    return NULL;
}

struct mr_expr *mr_expr_substitute(struct mr_arena *a, struct mr_expr *x,
                                   const struct mr_attribute *list, struct mr_expr *const *exprs,
                                   uint32_t n)
{
    struct substitution s = {list, exprs, n};

    return mr_expr_replace(a, x, substitute, &s);
}

bool mr_expr_is_call(const struct mr_expr *x, const char *name)
{
    return x->kind == MR_EXPR_CALL && strcmp(x->function->name, name) == 0;
}

uint32_t mr_expr_conjuncts(struct mr_expr *x, struct mr_expr **parts)
{
    uint32_t n = 0;

    if (!mr_expr_is_call(x, "and")) {
        if (parts != NULL)
            parts[0] = x;
        return 1;
    }
    for (uint32_t i = 0; i < x->args_n; i++)
        n += mr_expr_conjuncts(x->args[i], parts != NULL ? parts + n : NULL);
    return n;
}

/* "((a AND b) AND c)", made once: of a long chain only the whole has its text. */
static const char *and_text(struct mr_arena *a, struct mr_expr *const *parts, uint32_t n)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    for (uint32_t i = 1; i < n; i++)
        mr_buffer_append(&b, "(", 1);
    for (uint32_t i = 0; i < n; i++) {
        mr_buffer_append_text(&b, mr_text_of(i ? " AND " : ""));
        mr_buffer_append_text(&b, mr_text_of(parts[i]->text ? parts[i]->text : "?"));
        mr_buffer_append_text(&b, mr_text_of(i ? ")" : ""));
    }
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

struct mr_expr *mr_expr_and(struct mr_arena *a, struct mr_expr *const *parts, uint32_t n)
{
    struct mr_expr *all;

    if (n == 0)
        return NULL;
    all = parts[0];
    for (uint32_t i = 1; i < n; i++) {
        struct mr_expr *both = MR_NEW(a, struct mr_expr);

        both->kind = MR_EXPR_CALL;
        both->type = &mr_type_boolean;
        both->nullable = all->nullable || parts[i]->nullable;
        both->place = all->place;
        both->function = mr_function_find("and");
        MR_ASSERT(both->function != NULL);
        both->args_n = 2;
        both->args = MR_NEW_ARRAY(a, struct mr_expr *, 2);
        both->args[0] = all;
        both->args[1] = parts[i];
        both->text = i == n - 1 ? and_text(a, parts, n) : "..";
        all = both;
    }
    return all;
}
