/* group.c - GROUP BY: plain expressions, ALL, and ROLLUP, CUBE, GROUPING SETS, which all become a
 * list of sets: several of them side by side multiply. */
#include "core/sql/parse.h"

enum { SETS_MAX = 4096, GROUPS_MAX = 64 };

struct set { /* indexes into the groups */
    uint32_t *items;
    uint32_t n;
};

struct sets {
    struct set *items;
    uint32_t n, capacity;
};

struct grouping {
    struct mr_parser *p;
    struct mr_ast_list groups;
};

static bool is_analytics(const struct mr_parser *p)
{
    return ((mr_parse_is_word(p, 0, "ROLLUP") || mr_parse_is_word(p, 0, "CUBE")) &&
            mr_parse_is_symbol(p, 1, "(")) ||
           (mr_parse_is_word(p, 0, "GROUPING") && mr_parse_is_word(p, 1, "SETS"));
}

static uint32_t group_index(struct grouping *g, struct mr_ast *x)
{
    for (uint32_t i = 0; i < g->groups.n; i++)
        if (mr_ast_equal(g->groups.items[i], x))
            return i;
    if (g->groups.n == GROUPS_MAX)
        mr_parse_fail_with(g->p, mr_parse_peek(g->p, 0), "GROUPING_SIZE_LIMIT_EXCEEDED",
                           "Grouping sets size cannot be greater than %d.", GROUPS_MAX);
    mr_ast_list_push(g->p, &g->groups, x);
    return g->groups.n - 1;
}

static void push_set(struct grouping *g, struct sets *sets, struct set set)
{
    if (sets->n == SETS_MAX) {
        mr_parse_fail_with(g->p, mr_parse_peek(g->p, 0), "GROUPING_SIZE_LIMIT_EXCEEDED",
                           "More than %d grouping sets.", SETS_MAX);
        return;
    }
    if (sets->n == sets->capacity) {
        uint32_t capacity = sets->capacity ? sets->capacity * 2 : 8;
        struct set *items = MR_NEW_ARRAY(g->p->arena, struct set, capacity);
        if (sets->n)
            memcpy(items, sets->items, sizeof *items * sets->n);
        sets->items = items;
        sets->capacity = capacity;
    }
    sets->items[sets->n++] = set;
}

static bool contains(const struct set *set, uint32_t index)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (set->items[i] == index)
            return true;
    return false;
}

static struct set join_sets(struct grouping *g, const struct set *a, const struct set *b)
{
    struct set joined = {MR_NEW_ARRAY(g->p->arena, uint32_t, a->n + b->n + 1), 0};

    for (uint32_t i = 0; i < a->n; i++)
        joined.items[joined.n++] = a->items[i];
    for (uint32_t i = 0; i < b->n; i++)
        if (!contains(a, b->items[i]))
            joined.items[joined.n++] = b->items[i];
    return joined;
}

/* "(a, b)", "()" or "a" */
static struct set parse_set(struct grouping *g)
{
    struct mr_parser *p = g->p;
    struct mr_ast_list exprs = {0};

    if (mr_parse_is_symbol(p, 0, "(") && mr_parse_is_symbol(p, 1, ")")) {
        mr_parse_take_symbol(p, "(");
        mr_parse_take_symbol(p, ")");
    } else {
        struct mr_ast *x = mr_parse_expression(p);
        if (x->kind == MR_AST_CALL && strcmp(x->name, "struct") == 0)
            exprs = (struct mr_ast_list){x->args, x->args_n, x->args_n};
        else
            mr_ast_list_push(p, &exprs, x);
    }
    struct set set = {MR_NEW_ARRAY(p->arena, uint32_t, exprs.n + 1), 0};
    for (uint32_t i = 0; i < exprs.n; i++) {
        uint32_t index = group_index(g, exprs.items[i]);
        if (!contains(&set, index))
            set.items[set.n++] = index;
    }
    return set;
}

static void add_rollup(struct grouping *g, const struct sets *elements, struct sets *out)
{
    struct set none = {0}, *prefixes = MR_NEW_ARRAY(g->p->arena, struct set, elements->n + 1);

    prefixes[0] = none;
    for (uint32_t i = 0; i < elements->n; i++)
        prefixes[i + 1] = join_sets(g, &prefixes[i], &elements->items[i]);
    for (uint32_t i = elements->n + 1; i-- > 0;)
        push_set(g, out, prefixes[i]);
}

static void add_cube(struct grouping *g, const struct sets *elements, struct sets *out)
{
    if (elements->n >= 32 || (uint32_t)1 << elements->n > SETS_MAX) {
        mr_parse_fail_with(g->p, mr_parse_peek(g->p, 0), "GROUPING_SIZE_LIMIT_EXCEEDED",
                           "More than %d grouping sets.", SETS_MAX);
        return;
    }
    for (uint32_t mask = (uint32_t)1 << elements->n; mask-- > 0;) {
        struct set set = {0};
        for (uint32_t i = 0; i < elements->n; i++)
            if (mask >> (elements->n - 1 - i) & 1)
                set = join_sets(g, &set, &elements->items[i]);
        push_set(g, out, set);
    }
}

/* ROLLUP (..), CUBE (..) or GROUPING SETS (..), where the last may hold the others. */
static void parse_analytics(struct grouping *g, struct sets *out)
{
    struct mr_parser *p = g->p;
    struct sets elements = {0};
    bool is_rollup = mr_parse_take_word(p, "ROLLUP");
    bool is_cube = !is_rollup && mr_parse_take_word(p, "CUBE");

    if (!is_rollup && !is_cube)
        mr_parse_take_words(p, "GROUPING", "SETS");
    if (!mr_parse_enter(p))
        return;
    mr_parse_expect_symbol(p, "(");
    do {
        if (!is_rollup && !is_cube && is_analytics(p))
            parse_analytics(g, &elements);
        else
            push_set(g, &elements, parse_set(g));
    } while (mr_parse_take_symbol(p, ","));
    mr_parse_expect_symbol(p, ")");
    mr_parse_leave(p);
    if (is_rollup)
        add_rollup(g, &elements, out);
    else if (is_cube)
        add_cube(g, &elements, out);
    else
        for (uint32_t i = 0; i < elements.n; i++)
            push_set(g, out, elements.items[i]);
}

static struct sets multiply(struct grouping *g, const struct sets *a, const struct sets *b)
{
    struct sets product = {0};

    for (uint32_t i = 0; i < a->n && !g->p->failed; i++)
        for (uint32_t j = 0; j < b->n && !g->p->failed; j++)
            push_set(g, &product, join_sets(g, &a->items[i], &b->items[j]));
    return product;
}

static void store(struct grouping *g, const struct sets *sets, struct mr_relation *r)
{
    r->groups = g->groups.items;
    r->groups_n = g->groups.n;
    r->sets = MR_NEW_ARRAY(g->p->arena, uint32_t *, sets->n + 1);
    r->sets_n = sets->n;
    for (uint32_t i = 0; i < sets->n; i++) {
        const struct set *set = &sets->items[i];
        r->sets[i] = MR_NEW_ARRAY(g->p->arena, uint32_t, set->n + 1);
        r->sets[i][0] = set->n;
        if (set->n)
            memcpy(r->sets[i] + 1, set->items, sizeof(uint32_t) * set->n);
    }
}

static enum mr_group_kind analytics_kind(const struct mr_parser *p)
{
    return mr_parse_is_word(p, 0, "ROLLUP") ? MR_GROUP_ROLLUP
           : mr_parse_is_word(p, 0, "CUBE") ? MR_GROUP_CUBE
                                            : MR_GROUP_SETS;
}

/* Behind a plain list: WITH ROLLUP, WITH CUBE, GROUPING SETS (..). False: none of them. */
static bool parse_trailing(struct grouping *g, const struct mr_ast_list *plain,
                           struct mr_relation *r)
{
    struct mr_parser *p = g->p;
    struct sets elements = {0}, sets = {0};
    bool is_rollup = mr_parse_take_words(p, "WITH", "ROLLUP");
    bool is_cube = !is_rollup && mr_parse_take_words(p, "WITH", "CUBE");
    bool is_sets = mr_parse_is_word(p, 0, "GROUPING") && mr_parse_is_word(p, 1, "SETS");

    if (!is_rollup && !is_cube && !is_sets)
        return false;
    for (uint32_t i = 0; i < plain->n; i++) {
        struct set one = {MR_NEW_ARRAY(p->arena, uint32_t, 1), 1};
        one.items[0] = group_index(g, plain->items[i]);
        push_set(g, &elements, one);
    }
    if (is_rollup)
        add_rollup(g, &elements, &sets);
    else if (is_cube)
        add_cube(g, &elements, &sets);
    else
        parse_analytics(g, &sets);
    r->group_kind = is_rollup ? MR_GROUP_ROLLUP : is_cube ? MR_GROUP_CUBE : MR_GROUP_SETS;
    store(g, &sets, r);
    return true;
}

static bool is_all(const struct mr_ast_list *plain)
{
    return plain->n == 1 && plain->items[0]->kind == MR_AST_NAME && plain->items[0]->parts_n == 1 &&
           mr_text_equal_ignoring_case(mr_text_of(plain->items[0]->parts[0]), MR_TEXT("ALL"));
}

void mr_parse_grouping(struct mr_parser *p, struct mr_relation *r)
{
    struct grouping g = {.p = p};
    struct mr_ast_list plain = {0};
    struct set none = {0};
    struct sets sets = {&none, 1, 1};
    uint32_t analytics = 0;
    bool is_quoted = mr_parse_peek(p, 0)->kind == MR_TOKEN_QUOTED;

    do {
        struct sets more = {0};
        if (is_analytics(p)) {
            r->group_kind = analytics == 0 && plain.n == 0 ? analytics_kind(p) : MR_GROUP_SETS;
            analytics++;
            parse_analytics(&g, &more);
        } else {
            struct mr_ast *x = mr_parse_expression(p);
            struct set one = {MR_NEW_ARRAY(p->arena, uint32_t, 1), 1};
            mr_ast_list_push(p, &plain, x);
            one.items[0] = g.groups.n < GROUPS_MAX ? group_index(&g, x) : 0;
            push_set(&g, &more, one);
            if (analytics > 0)
                r->group_kind = MR_GROUP_SETS;
        }
        sets = multiply(&g, &sets, &more);
    } while (mr_parse_take_symbol(p, ","));
    if (analytics > 0) {
        store(&g, &sets, r);
        return;
    }
    struct grouping again = {.p = p};
    if (parse_trailing(&again, &plain, r))
        return;
    if (is_all(&plain) && !is_quoted) {
        r->group_kind = MR_GROUP_ALL;
        return;
    }
    r->group_kind = MR_GROUP_PLAIN;
    r->groups = plain.items;
    r->groups_n = plain.n;
}
