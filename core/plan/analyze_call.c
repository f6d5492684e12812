/* analyze_call.c - calls: ordinary functions, aggregates, grouping(), OVER, struct(). */
#include "core/plan/analyzer.h"

#include "core/base/bounds.h"

static const char *lower(struct mr_analyzer *an, const char *name)
{
    char *out = mr_arena_copy(an->arena, name, strlen(name));

    for (char *c = out; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    return out;
}

const struct mr_function *mr_find_function(const char *name)
{
    const struct mr_function *f;
    char small[MR_NAME_MAX + 1];
    size_t n = strlen(name);

    if (n > MR_NAME_MAX)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + ('a' - 'A') : name[i]);
    f = mr_function_find(small);
    return f != NULL && (f->flags & MR_FN_INTERNAL) == 0 ? f : NULL;
}

bool mr_is_aggregate_call(const struct mr_ast *x)
{
    const struct mr_function *f;

    if (x->kind != MR_AST_CALL || x->over != NULL)
        return false;
    if (mr_same_name(x->name, "grouping") || mr_same_name(x->name, "grouping_id"))
        return true;
    f = mr_find_function(x->name);
    return f != NULL && (f->flags & MR_FN_AGGREGATE) != 0;
}

bool mr_has_aggregate(const struct mr_ast *x)
{
    if (mr_is_aggregate_call(x))
        return true;
    for (uint32_t i = 0; i < x->args_n; i++)
        if (mr_has_aggregate(x->args[i]))
            return true;
    return false;
}

bool mr_is_generator(const struct mr_ast *x)
{
    const struct mr_function *f;
    size_t n;

    if (x->kind != MR_AST_CALL)
        return false;
    f = mr_find_function(x->name);
    n = strlen(x->name);
    if (f == NULL && n > 6 && n <= MR_NAME_MAX && mr_same_name(x->name + n - 6, "_outer")) {
        char plain[MR_NAME_MAX + 1];

        mr_copy_items(plain, x->name, n - 6);
        plain[n - 6] = 0;
        f = mr_find_function(plain);
    }
    return f != NULL && (f->flags & MR_FN_GENERATOR) != 0;
}

static bool is_ranking(const char *name)
{
    static const char *const ranking[] = {"row_number",   "rank",  "dense_rank",
                                          "percent_rank", "ntile", "cume_dist",
                                          "lag",          "lead",  "nth_value"};

    for (size_t i = 0; i < sizeof ranking / sizeof *ranking; i++)
        if (mr_same_name(name, ranking[i]))
            return true;
    return false;
}

static void *unresolved_routine(struct mr_analyzer *an, const struct mr_ast *x)
{
    uint32_t n;
    const char *const *names = mr_function_names(&n);
    const char *near;

    if (is_ranking(x->name))
        return MR_ANALYZE_FAIL(an, x->place, "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE",
                               "Window function \"%s\" requires an OVER clause.", x->name);
    if (strchr(x->name, '.') != strrchr(x->name, '.'))
        return MR_ANALYZE_FAIL(an, x->place, "REQUIRES_SINGLE_PART_NAMESPACE",
                               "spark_catalog requires a single-part namespace, but got identifier "
                               "%s.",
                               x->name);
    near = mr_error_nearest(lower(an, x->name), names, n);

    return MR_ANALYZE_FAIL(an, x->place, "UNRESOLVED_ROUTINE",
                           "Cannot resolve routine `%s` on search path [`system`.`builtin`].%s%s%s",
                           x->name, near ? " Did you mean `" : "", near ? near : "",
                           near ? "`?" : "");
}

uint32_t mr_analyze_arguments(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                              struct mr_expr ***out)
{
    uint32_t n = 0, room = x->args_n + 4;

    for (uint32_t i = 0; i < x->args_n; i++)
        if (x->args[i]->kind == MR_AST_STAR)
            room += s->attributes_n;
    *out = MR_NEW_ARRAY(an->arena, struct mr_expr *, room);
    for (uint32_t i = 0; i < x->args_n; i++) {
        const struct mr_ast *arg = x->args[i];

        if (arg->kind == MR_AST_STAR && arg->parts_n == 0 && x->args_n == 1 && !x->distinct &&
            mr_same_name(x->name, "count")) {
            (*out)[n++] = mr_literal_int(an, 1);
        } else if (arg->kind == MR_AST_STAR) {
            struct mr_named *columns;
            uint32_t columns_n = mr_analyze_star(an, s, arg, &columns);

            for (uint32_t c = 0; columns_n != UINT32_MAX && c < columns_n && n < room; c++)
                (*out)[n++] = columns[c].expr;
            if (columns_n == UINT32_MAX)
                return UINT32_MAX;
        } else {
            struct mr_expr *e = mr_analyze_expr(an, s, arg);

            if (e == NULL)
                return UINT32_MAX;
            /* some functions look at constants when they are resolved */
            (*out)[n++] = mr_expr_fold(an->arena, an->session, e);
        }
    }
    return n;
}

static struct mr_expr *no_aggregate_here(struct mr_analyzer *an, struct mr_scope *s,
                                         const struct mr_ast *x)
{
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    mr_ast_print(x, &b);
    switch (s->clause) {
    case MR_IN_WHERE:
        return MR_ANALYZE_FAIL(
            an, x->place, "INVALID_WHERE_CONDITION",
            "The WHERE condition contains invalid expressions: %.*s. Rewrite the "
            "query to avoid aggregate functions in the WHERE clause.",
            (int)b.n, b.data);
    case MR_IN_GROUP_BY:
        return MR_ANALYZE_FAIL(an, x->place, "GROUP_BY_AGGREGATE",
                               "Aggregate functions are not allowed in GROUP BY, but found %.*s.",
                               (int)b.n, b.data);
    default:
        return MR_ANALYZE_FAIL(an, x->place, "UNSUPPORTED_EXPR_FOR_OPERATOR",
                               "The aggregate function %.*s is not allowed here.", (int)b.n,
                               b.data);
    }
}

static struct mr_expr *add_aggregate(struct mr_analyzer *an, struct mr_aggregation *g,
                                     struct mr_expr *call, struct mr_expr *filter, bool distinct,
                                     const char *text)
{
    struct mr_logical_aggregate *item = NULL;

    for (uint32_t i = 0; i < g->n && item == NULL; i++)
        if (g->items[i].distinct == distinct && mr_expr_equal(g->items[i].call, call) &&
            (g->items[i].filter == NULL) == (filter == NULL) &&
            (filter == NULL || mr_expr_equal(g->items[i].filter, filter)))
            item = &g->items[i];
    if (item == NULL) {
        g->items = mr_grow(an->arena, g->items, g->n, &g->capacity, sizeof *g->items);
        item = &g->items[g->n++];
        *item = (struct mr_logical_aggregate){
            call, filter, distinct, mr_attribute_new(an, text, call->type, call->nullable)};
    }
    return mr_attribute_expr(an->arena, &item->attribute);
}

/* What follows the arguments: IGNORE NULLS is a last argument true, WITHIN GROUP gives the value
 * (and, for lists, whether it descends). */
static bool more_arguments(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                           struct mr_expr **args, uint32_t *n)
{
    if (x->ignore_nulls)
        args[(*n)++] = mr_expr_literal_i64(an->arena, &mr_type_boolean, 1);
    if (x->within_n > 1) {
        MR_ANALYZE_FAIL(an, x->place, "INVALID_WITHIN_GROUP_EXPRESSION",
                        "%s: WITHIN GROUP takes one expression here.", x->name);
        return false;
    }
    if (x->within_n == 1) {
        struct mr_expr *key = mr_analyze_expr(an, s, x->within[0]->args[0]);
        bool descending = x->within[0]->descending;

        if (key == NULL)
            return false;
        if (mr_same_name(x->name, "listagg") || mr_same_name(x->name, "string_agg")) {
            if (*n == 1)
                args[(*n)++] = mr_expr_literal_text(an->arena, MR_TEXT(""));
            args[(*n)++] = key;
            args[(*n)++] = mr_expr_literal_i64(an->arena, &mr_type_boolean, descending);
        } else { /* percentile_cont(0.5), mode(): the value comes first */
            memmove(args + 1, args, *n * sizeof *args);
            args[0] = key;
            (*n)++;
        }
    }
    return true;
}

/* Functions of an order have a twin for the other direction. */
static const char *ordered_name(const struct mr_function *f, const struct mr_ast *x)
{
    if (x->within_n == 0 || !x->within[0]->descending)
        return f->name;
    return strcmp(f->name, "mode") == 0              ? "mode_desc"
           : strcmp(f->name, "percentile_disc") == 0 ? "percentile_disc_desc"
                                                     : f->name;
}

/* FILTER (WHERE x) */
static struct mr_expr *aggregate_filter(struct mr_analyzer *an, struct mr_scope *s,
                                        const struct mr_ast *x)
{
    struct mr_expr *filter;

    if (mr_has_aggregate(x))
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE",
                               "The FILTER expression of an aggregate function is invalid: it must "
                               "not contain an aggregate function.");
    filter = mr_analyze_expr(an, s, x);
    if (filter != NULL && filter->type->kind != MR_BOOLEAN)
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_AGGREGATE_FILTER.NOT_BOOLEAN",
                               "The FILTER expression \"%s\" in an aggregate function is invalid: "
                               "it must be BOOLEAN.",
                               filter->text);
    if (filter != NULL && !mr_expr_is_deterministic(filter))
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_AGGREGATE_FILTER.NON_DETERMINISTIC",
                               "The FILTER expression \"%s\" in an aggregate function is invalid: "
                               "it must be deterministic.",
                               filter->text);
    return filter;
}

static struct mr_expr *aggregate(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                                 const struct mr_function *f)
{
    struct mr_aggregation *g = s->aggregation;
    struct mr_expr **args, *call, *filter = NULL;
    const char *text;
    uint32_t n;

    if (g == NULL)
        return no_aggregate_here(an, s, x);
    if (g->inside)
        return MR_ANALYZE_FAIL(
            an, x->place, "NESTED_AGGREGATE_FUNCTION",
            "It is not allowed to use an aggregate function in the argument of "
            "another aggregate function. Please use the inner aggregate function "
            "in a sub-query.");
    g->inside = true;
    n = mr_analyze_arguments(an, s, x, &args);
    if (n == UINT32_MAX)
        return NULL;
    text = mr_call_text(an, x, args, n);
    if (!more_arguments(an, s, x, args, &n))
        return NULL;
    if (x->filter != NULL) {
        filter = aggregate_filter(an, s, x->filter);
        if (filter == NULL)
            return NULL;
        text = mr_arena_format(an->arena, "%s FILTER (WHERE %s)", text, filter->text);
    }
    g->inside = false;
    for (uint32_t i = 0; i < n; i++)
        if (!mr_expr_is_deterministic(args[i]))
            return MR_ANALYZE_FAIL(an, x->place,
                                   "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION",
                                   "Non-deterministic expression \"%s\" should not appear in the "
                                   "arguments of an aggregate function.",
                                   text);
    call = mr_call(an, ordered_name(f, x), args, n, x->place, text);
    return call != NULL ? add_aggregate(an, g, call, filter, x->distinct, text) : NULL;
}

/* HAVING and ORDER BY know the outputs first; the keys are told by the columns below. */
static struct mr_scope below_outputs(const struct mr_scope *s)
{
    struct mr_scope below = *s;

    below.outputs_n = 0;
    return below;
}

/* grouping_id(a, b): all the grouping columns, in their order, or none. */
static bool names_all_groups(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    const struct mr_aggregation *g = s->aggregation;
    struct mr_scope below = below_outputs(s);
    bool same = x->args_n == 0 || x->args_n == g->groups_n;

    for (uint32_t i = 0; i < x->args_n; i++) {
        struct mr_expr *e = mr_analyze_expr(an, &below, x->args[i]);

        if (e == NULL)
            return false;
        same = same && mr_expr_equal(e, g->groups[i]);
    }
    if (!same)
        MR_ANALYZE_FAIL(an, x->place, "GROUPING_ID_COLUMN_MISMATCH",
                        "The columns of grouping_id do not match the grouping columns.");
    return same;
}

/* grouping(a): the bit of a in grouping_id(), which the EXPAND below gives. */
static struct mr_expr *grouping(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_aggregation *g = s->aggregation;
    struct mr_expr *id, *out, *args[2];
    struct mr_scope below;
    bool whole = mr_same_name(x->name, "grouping_id");

    if (g == NULL || g->grouping_id == NULL)
        return mr_call(an, "grouping_id", NULL, 0, x->place, x->name); /* refused by its resolve */
    id = MR_NEW(an->arena, struct mr_expr);
    *id = *g->grouping_id;
    if (whole && !names_all_groups(an, s, x))
        return NULL;
    if (whole) {
        id->text = "grouping_id()";
        return id;
    }
    if (x->args_n != 1) /* refused for their number */
        return mr_call(an, "grouping", MR_NEW_ARRAY(an->arena, struct mr_expr *, x->args_n + 1),
                       x->args_n, x->place, x->name);
    below = below_outputs(s);
    out = mr_analyze_expr(an, &below, x->args[0]);
    for (uint32_t i = 0; out != NULL && i < g->groups_n; i++) {
        if (!mr_expr_equal(out, g->groups[i]))
            continue;
        args[0] = id;
        args[1] = mr_literal_int(an, g->groups_n - 1 - i);
        args[0] = mr_call(an, "shiftright", args, 2, x->place, "grouping");
        args[1] = mr_expr_literal_i64(an->arena, &mr_type_bigint, 1);
        if (args[0] == NULL || (id = mr_call(an, "&", args, 2, x->place, "grouping")) == NULL ||
            mr_cast_make(&an->resolve, id, &mr_type_tinyint, false, x->place, &id) != MR_OK)
            return NULL;
        id->text = mr_arena_format(an->arena, "grouping(%s)", out->text);
        return id;
    }
    if (out == NULL)
        return NULL;
    return MR_ANALYZE_FAIL(an, x->place, "GROUPING_COLUMN_MISMATCH",
                           "Column of grouping (%s) can't be found in grouping columns.",
                           out->text);
}

static const struct mr_type *over_type(struct mr_analyzer *an, const struct mr_ast *x,
                                       const struct mr_function *f, struct mr_expr **args,
                                       uint32_t n)
{
    struct mr_expr *call;

    if (f != NULL && (f->flags & MR_FN_AGGREGATE)) {
        call = mr_call(an, f->name, args, n, x->place, mr_call_text(an, x, args, n));
        return call != NULL ? call->type : NULL;
    }
    if (mr_same_name(x->name, "percent_rank") || mr_same_name(x->name, "cume_dist"))
        return &mr_type_double;
    if (n > 0 && !mr_same_name(x->name, "ntile"))
        return args[0]->type; /* lag, lead, nth_value */
    return &mr_type_int;
}

/* OVER (..): a WINDOW node below gives the value as a column. */
static struct mr_expr *over(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    const struct mr_function *f = mr_find_function(x->name);
    struct mr_expr **args, **calls = MR_NEW_ARRAY(an->arena, struct mr_expr *, 1);
    struct mr_logical *node;
    const struct mr_type *type;
    uint32_t n = mr_analyze_arguments(an, s, x, &args);
    bool known = (f != NULL && (f->flags & MR_FN_AGGREGATE) != 0) || is_ranking(x->name);

    if (n == UINT32_MAX)
        return NULL;
    if (!known)
        return f == NULL
                   ? unresolved_routine(an, x)
                   : MR_ANALYZE_FAIL(an, x->place, "UNSUPPORTED_EXPR_FOR_WINDOW",
                                     "Expression \"%s\" not supported within a window function.",
                                     mr_call_text(an, x, args, n));
    for (uint32_t i = 0; i < x->over->partition_n; i++)
        if (mr_analyze_expr(an, s, x->over->partition[i]) == NULL)
            return NULL;
    for (uint32_t i = 0; i < x->over->order_n; i++)
        if (mr_analyze_expr(an, s, x->over->order[i]) == NULL)
            return NULL;
    if (s->over == NULL)
        return MR_ANALYZE_FAIL(an, x->place, "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE",
                               "A window function is not allowed here.");
    type = over_type(an, x, f, args, n);
    if (type == NULL)
        return NULL;
    node = mr_logical_unary(an->arena, MR_LOGICAL_WINDOW, *s->over, x->place);
    node->name = mr_call_text(an, x, args, n);
    node->output = mr_attributes_copy(an->arena, node->output, node->output_n, 1);
    node->output[node->output_n] = mr_attribute_new(an, node->name, type, true);
    node->output[node->output_n].qualified_only = true;
    calls[0] = mr_attribute_expr(an->arena, &node->output[node->output_n++]);
    *s->over = node;
    return calls[0];
}

static struct mr_expr *generator_here(struct mr_analyzer *an, struct mr_scope *s,
                                      const struct mr_ast *x)
{
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    mr_ast_print(x, &b);
    if (s->clause == MR_IN_SELECT)
        return MR_ANALYZE_FAIL(an, x->place, "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
                               "The generator is not supported: nested in expressions \"%.*s\".",
                               (int)b.n, b.data);
    if (s->clause == MR_IN_GROUP_BY)
        return MR_ANALYZE_FAIL(an, x->place, "UNSUPPORTED_EXPR_FOR_OPERATOR",
                               "A query operator contains one or more unsupported expressions: "
                               "the generator %.*s is not allowed in GROUP BY.",
                               (int)b.n, b.data);
    return MR_ANALYZE_FAIL(
        an, x->place, "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        "The generator is not supported: outside the SELECT clause, found: %.*s.", (int)b.n,
        b.data);
}

/* struct(a, b AS x) = named_struct('a', a, 'x', b); what has no name is col1, col2.. by its
 * place. */
static struct mr_expr *make_struct(struct mr_analyzer *an, struct mr_scope *s,
                                   const struct mr_ast *x)
{
    struct mr_expr **plain, **args;
    uint32_t n = mr_analyze_arguments(an, s, x, &plain);
    bool stars = n != x->args_n;

    if (n == UINT32_MAX)
        return NULL;
    args = MR_NEW_ARRAY(an->arena, struct mr_expr *, n * 2 + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_ast *arg = stars ? NULL : x->args[i];
        const char *name = mr_arena_format(an->arena, "col%u", i + 1);

        if (arg == NULL && plain[i]->kind == MR_EXPR_COLUMN)
            name = plain[i]->text;
        else if (arg != NULL && arg->kind == MR_AST_NAME && plain[i]->kind == MR_EXPR_VARIABLE)
            name = arg->parts[0];
        else if (arg != NULL && arg->kind == MR_AST_FIELD)
            name = arg->name;
        else if (arg != NULL && (arg->kind == MR_AST_NAME || arg->kind == MR_AST_ALIAS))
            name = mr_item_name(arg, plain[i]);
        args[2 * i] = mr_expr_literal_text(an->arena, mr_text_of(name));
        args[2 * i + 1] = plain[i];
    }
    return mr_call(an, "named_struct", args, 2 * n, x->place, mr_call_text(an, x, plain, n));
}

struct mr_expr *mr_analyze_call(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    const struct mr_function *f;
    struct mr_expr **args;
    uint32_t n;

    if (x->over != NULL)
        return over(an, s, x);
    if (mr_is_time_window(x->name))
        return mr_analyze_time_window(an, s, x);
    if (mr_same_name(x->name, "grouping") || mr_same_name(x->name, "grouping_id"))
        return grouping(an, s, x);
    for (uint32_t i = 0; i < x->args_n; i++)
        if (x->args[i]->kind == MR_AST_LAMBDA)
            return mr_analyze_higher_order(an, s, x);
    if (mr_same_name(x->name, "struct"))
        return make_struct(an, s, x);
    if (mr_is_generator(x))
        return generator_here(an, s, x);
    f = mr_find_function(x->name);
    if (f == NULL)
        return unresolved_routine(an, x);
    if (f->flags & MR_FN_AGGREGATE)
        return aggregate(an, s, x, f);
    if (x->distinct || x->filter != NULL || x->ignore_nulls)
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX",
                               "Invalid SQL syntax: The function `%s` does not support %s.",
                               f->name,
                               x->distinct         ? "DISTINCT"
                               : x->filter != NULL ? "FILTER CLAUSE"
                                                   : "IGNORE NULLS");
    n = mr_analyze_arguments(an, s, x, &args);
    if (n == UINT32_MAX)
        return NULL;
    return mr_call(an, f->name, args, n, x->place, mr_call_text(an, x, args, n));
}
