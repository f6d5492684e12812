#include "core/sql/parse.h"

static struct mr_relation *on_top(struct mr_parser *p, enum mr_relation_kind kind,
                                  struct mr_place place, struct mr_relation *input)
{
    struct mr_relation *r = mr_parse_relation_node(p, kind, place);

    r->input = input;
    return r;
}

/* The clause's definition of name, or NULL. */
static const struct mr_window_spec *
find_window(const struct mr_name_list *names, struct mr_window_spec *const *specs, const char *name)
{
    for (uint32_t i = 0; i < names->n; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(name), mr_text_of(names->items[i])))
            return specs[i];
    return NULL;
}

static uint32_t spec_depth(const struct mr_window_spec *spec)
{
    uint32_t depth = 0;

    for (uint32_t i = 0; i < spec->partition_n; i++)
        if (spec->partition[i]->depth > depth)
            depth = spec->partition[i]->depth;
    for (uint32_t i = 0; i < spec->order_n; i++)
        if (spec->order[i]->depth > depth)
            depth = spec->order[i]->depth;
    return depth;
}

/* name AS (..), ..: each may stand for one before it. */
static struct mr_window_spec **parse_window_definitions(struct mr_parser *p,
                                                        struct mr_name_list *names)
{
    struct mr_window_spec **specs = MR_NEW_ARRAY(p->arena, struct mr_window_spec *, p->tokens_n);

    do {
        const struct mr_token *at = mr_parse_peek(p, 0);
        const char *name = mr_parse_name(p);
        mr_parse_expect_word(p, "AS");
        struct mr_window_spec *spec = mr_parse_window_spec(p);
        const struct mr_window_spec *other =
            spec->name ? find_window(names, specs, spec->name) : NULL;
        if (find_window(names, specs, name))
            mr_parse_fail_with(p, at, "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION",
                               "Invalid SQL syntax: The definition of window `%s` is repetitive.",
                               name);
        if (other) {
            *spec = *other;
            p->windows_n--;
        }
        specs[names->n] = spec;
        mr_name_list_push(p, names, name);
    } while (mr_parse_take_symbol(p, ","));
    return specs;
}

/* WINDOW ..: fills the references noted since the query began, those below r. Windows within window
 * definitions stay unresolved, so that there is no cycle. */
static void parse_window_clause(struct mr_parser *p, uint32_t windows_from, struct mr_relation *r)
{
    struct mr_name_list names = {0};
    uint32_t references_end = p->windows_n, kept = windows_from, depth = 0;

    mr_parse_take_word(p, "WINDOW");
    struct mr_window_spec **specs = parse_window_definitions(p, &names);
    for (uint32_t i = windows_from; i < p->windows_n; i++) {
        struct mr_window_spec *w = p->windows[i];
        const struct mr_window_spec *spec =
            i < references_end ? find_window(&names, specs, w->name) : NULL;
        if (spec == NULL || spec->name) {
            p->windows[kept++] = w;
            continue;
        }
        const char *name = w->name;
        *w = *spec;
        w->name = name;
        if (spec_depth(spec) > depth)
            depth = spec_depth(spec);
    }
    p->windows_n = kept;
    mr_parse_deepen(p, r, depth);
}

static bool is_window_clause(const struct mr_parser *p)
{
    return mr_parse_is_word(p, 0, "WINDOW") && mr_parse_is_name(p, 1);
}

static struct mr_relation *make_aggregate(struct mr_parser *p, struct mr_place place,
                                          struct mr_relation *input,
                                          const struct mr_ast_list *exprs)
{
    struct mr_relation *r = on_top(p, MR_REL_AGGREGATE, place, input);

    if (mr_parse_take_words(p, "GROUP", "BY"))
        mr_parse_grouping(p, r);
    if (mr_parse_take_word(p, "HAVING"))
        r->condition = mr_parse_expression(p);
    r->exprs = exprs->items;
    r->exprs_n = exprs->n;
    return mr_parse_relation_finish(p, r);
}

/* What follows the select list and FROM; input: what FROM gave. */
static struct mr_relation *parse_select_rest(struct mr_parser *p, struct mr_place place,
                                             struct mr_relation *input,
                                             const struct mr_ast_list *exprs, bool distinct,
                                             uint32_t windows_from)
{
    struct mr_relation *r = mr_parse_lateral_views(p, input);

    if (mr_parse_is_word(p, 0, "WHERE")) {
        struct mr_relation *filter = on_top(p, MR_REL_FILTER, mr_parse_place(p), r);
        mr_parse_take_word(p, "WHERE");
        filter->condition = mr_parse_expression(p);
        r = mr_parse_relation_finish(p, filter);
    }
    if ((mr_parse_is_word(p, 0, "GROUP") && mr_parse_is_word(p, 1, "BY")) ||
        mr_parse_is_word(p, 0, "HAVING")) {
        r = make_aggregate(p, place, r, exprs);
    } else {
        r = on_top(p, MR_REL_PROJECT, place, r);
        r->exprs = exprs->items;
        r->exprs_n = exprs->n;
        mr_parse_relation_finish(p, r);
    }
    if (is_window_clause(p))
        parse_window_clause(p, windows_from, r);
    if (distinct)
        r = mr_parse_relation_finish(p, on_top(p, MR_REL_DISTINCT, place, r));
    return r;
}

/* Behind SELECT. from: what a leading FROM gave, or NULL. */
static struct mr_relation *parse_select(struct mr_parser *p, struct mr_place place,
                                        struct mr_relation *from)
{
    struct mr_ast_list exprs = {0};
    uint32_t windows_from = p->windows_n;
    bool distinct = mr_parse_take_word(p, "DISTINCT");

    if (!distinct)
        mr_parse_take_word(p, "ALL");
    mr_parse_named_expressions(p, &exprs);
    if (from == NULL && mr_parse_take_word(p, "FROM"))
        from = mr_parse_from(p);
    if (from == NULL)
        from = mr_parse_relation_finish(p, mr_parse_relation_node(p, MR_REL_ONE_ROW, place));
    return parse_select_rest(p, place, from, &exprs, distinct, windows_from);
}

static struct mr_relation *parse_primary_query(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);

    if (mr_parse_is_symbol(p, 0, "("))
        return mr_parse_query_in_parentheses(p);
    if (mr_parse_take_word(p, "SELECT"))
        return parse_select(p, place, NULL);
    if (mr_parse_take_word(p, "VALUES"))
        return mr_parse_inline_table(p);
    if (mr_parse_take_word(p, "TABLE"))
        return mr_parse_read(p);
    if (mr_parse_take_word(p, "FROM")) {
        struct mr_relation *from = mr_parse_from(p);
        mr_parse_expect_word(p, "SELECT");
        return parse_select(p, place, from);
    }
    mr_parse_fail(p, "a query: SELECT, WITH, VALUES, TABLE, FROM or '('");
    return mr_parse_relation_finish(p, mr_parse_relation_node(p, MR_REL_ONE_ROW, place));
}

static struct mr_relation *make_set_operation(struct mr_parser *p, enum mr_set_kind kind,
                                              struct mr_relation *left,
                                              struct mr_relation *(*parse)(struct mr_parser *p))
{
    struct mr_relation *r = on_top(p, MR_REL_SET_OPERATION, left->place, left);

    r->set_kind = kind;
    r->all = mr_parse_take_word(p, "ALL");
    if (!r->all)
        mr_parse_take_word(p, "DISTINCT");
    r->right = parse(p);
    return mr_parse_relation_finish(p, r);
}

static struct mr_relation *parse_intersects(struct mr_parser *p)
{
    struct mr_relation *r = parse_primary_query(p);

    while (mr_parse_take_word(p, "INTERSECT"))
        r = make_set_operation(p, MR_SET_INTERSECT, r, parse_primary_query);
    return r;
}

static struct mr_relation *parse_term(struct mr_parser *p)
{
    struct mr_relation *r = parse_intersects(p);

    for (;;) {
        if (mr_parse_take_word(p, "UNION"))
            r = make_set_operation(p, MR_SET_UNION, r, parse_intersects);
        else if (mr_parse_take_word(p, "EXCEPT") || mr_parse_take_word(p, "MINUS"))
            r = make_set_operation(p, MR_SET_EXCEPT, r, parse_intersects);
        else
            return r;
    }
}

/* CLUSTER BY x, .. sorts as SORT BY x, ..: on one machine both, and ORDER BY, are one sort. */
static void parse_cluster(struct mr_parser *p, struct mr_ast_list *out)
{
    do {
        struct mr_ast *order = mr_parse_node(p, MR_AST_ORDER, mr_parse_place(p));
        order->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
        order->args[0] = mr_parse_expression(p);
        order->args_n = 1;
        order->nulls_first = true;
        mr_ast_list_push(p, out, mr_parse_finish(p, order));
    } while (mr_parse_take_symbol(p, ","));
}

static struct mr_relation *parse_sorts(struct mr_parser *p, struct mr_relation *r)
{
    struct mr_ast_list order = {0}, distribution = {0};
    struct mr_place place = mr_parse_place(p);
    const struct mr_token *first = mr_parse_peek(p, 0);
    bool is_ordered = mr_parse_take_words(p, "ORDER", "BY");

    if (is_ordered)
        mr_parse_sort_items(p, &order);
    bool is_clustered = mr_parse_take_words(p, "CLUSTER", "BY");
    if (is_clustered)
        parse_cluster(p, &order);
    bool is_distributed = mr_parse_take_words(p, "DISTRIBUTE", "BY");
    if (is_distributed)
        mr_parse_expressions(p, &distribution);
    bool is_sorted = mr_parse_take_words(p, "SORT", "BY");
    if (is_sorted)
        mr_parse_sort_items(p, &order);
    if (is_ordered + is_clustered + is_sorted > 1 ||
        (is_distributed && (is_ordered || is_clustered)))
        mr_parse_fail_with(p, first, "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES",
                           "The feature is not supported: Combination of ORDER BY/SORT BY/"
                           "DISTRIBUTE BY/CLUSTER BY.");
    if (order.n == 0)
        return r;
    r = on_top(p, MR_REL_SORT, place, r);
    r->exprs = order.items;
    r->exprs_n = order.n;
    return mr_parse_relation_finish(p, r);
}

static struct mr_ast **take_count(struct mr_parser *p)
{
    struct mr_ast **exprs = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);

    exprs[0] = mr_parse_expression(p);
    return exprs;
}

/* The offset skips first, whatever the order of the words. */
static struct mr_relation *parse_limits(struct mr_parser *p, struct mr_relation *r)
{
    struct mr_place place = mr_parse_place(p);
    struct mr_ast **limit = NULL;

    if (mr_parse_take_word(p, "LIMIT")) {
        if (!mr_parse_take_word(p, "ALL"))
            limit = take_count(p);
    }
    if (mr_parse_is_word(p, 0, "OFFSET")) {
        r = on_top(p, MR_REL_OFFSET, mr_parse_place(p), r);
        mr_parse_take_word(p, "OFFSET");
        r->exprs = take_count(p);
        r->exprs_n = 1;
        mr_parse_relation_finish(p, r);
    }
    if (limit) {
        r = on_top(p, MR_REL_LIMIT, place, r);
        r->exprs = limit;
        r->exprs_n = 1;
        mr_parse_relation_finish(p, r);
    }
    return r;
}

static struct mr_cte *parse_ctes(struct mr_parser *p, uint32_t *ctes_n)
{
    struct mr_cte *ctes = NULL;
    uint32_t n = 0, capacity = 0;

    do {
        if (n == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            struct mr_cte *more = MR_NEW_ARRAY(p->arena, struct mr_cte, capacity);
            if (n)
                memcpy(more, ctes, sizeof *ctes * n);
            ctes = more;
        }
        const struct mr_token *at = mr_parse_peek(p, 0);
        struct mr_cte *cte = &ctes[n];
        struct mr_name_list columns = {0};
        cte->name = mr_parse_strict_name(p);
        for (uint32_t i = 0; i < n; i++)
            if (mr_text_equal_ignoring_case(mr_text_of(cte->name), mr_text_of(ctes[i].name)))
                mr_parse_fail_with(p, at, "DUPLICATED_CTE_NAMES",
                                   "CTE definition can't have duplicate names: `%s`.", cte->name);
        if (mr_parse_is_symbol(p, 0, "(") && !mr_parse_is_query_in_parentheses(p))
            mr_parse_names_in_parentheses(p, &columns);
        mr_parse_take_word(p, "AS");
        cte->columns = columns.items;
        cte->columns_n = columns.n;
        cte->relation = mr_parse_query_in_parentheses(p);
        n++;
    } while (mr_parse_take_symbol(p, ","));
    *ctes_n = n;
    return ctes;
}

static void check_windows(struct mr_parser *p, uint32_t windows_from)
{
    if (p->windows_n > windows_from)
        mr_parse_fail_with(p, mr_parse_peek(p, 0), "MISSING_WINDOW_SPECIFICATION",
                           "Window specification is not defined in the WINDOW clause for `%s`.",
                           p->windows[windows_from]->name);
}

struct mr_relation *mr_parse_query(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    struct mr_relation *with = NULL;
    uint32_t windows_from = p->windows_n;

    if (!mr_parse_enter(p))
        return mr_parse_relation_finish(p, mr_parse_relation_node(p, MR_REL_ONE_ROW, place));
    if (mr_parse_take_word(p, "WITH")) {
        with = mr_parse_relation_node(p, MR_REL_WITH, place);
        with->ctes = parse_ctes(p, &with->ctes_n);
    }
    struct mr_relation *r = parse_sorts(p, parse_term(p));
    if (is_window_clause(p))
        parse_window_clause(p, windows_from, r);
    r = parse_limits(p, r);
    check_windows(p, windows_from);
    if (with) {
        with->input = r;
        r = mr_parse_relation_finish(p, with);
    }
    mr_parse_leave(p);
    return r;
}

struct mr_relation *mr_parse_query_in_parentheses(struct mr_parser *p)
{
    mr_parse_expect_symbol(p, "(");
    struct mr_relation *r = mr_parse_query(p);
    mr_parse_expect_symbol(p, ")");
    return r;
}
