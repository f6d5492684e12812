/* analyze_join.c - two relations become one: joins, LATERAL, UNION, EXCEPT, INTERSECT. */
#include "core/plan/analyzer.h"

static struct mr_logical *no_lateral(struct mr_analyzer *an, struct mr_place place, const char *why)
{
    (void)MR_FAIL(an->err, MR_UNSUPPORTED, 0, "LATERAL is supported over the row itself only: %s",
                  why);
    mr_analyze_fail_at(an, place);
    return NULL;
}

/* A LATERAL subquery without a table of its own computes more columns of the left row: its chain of
 * nodes is put over left, which passes through. */
static struct mr_logical *graft(struct mr_analyzer *an, struct mr_logical *node,
                                struct mr_logical *left, bool *drops)
{
    struct mr_logical *child;
    uint32_t own = 0, child_n;

    if (node->kind == MR_LOGICAL_VALUES && node->rows_n == 1 && node->output_n == 0)
        return left;
    if (node->kind != MR_LOGICAL_PROJECT && node->kind != MR_LOGICAL_FILTER &&
        node->kind != MR_LOGICAL_GENERATE)
        return no_lateral(an, node->place, mr_logical_name(node->kind));
    child_n = node->children[0]->output_n;
    child = graft(an, node->children[0], left, drops);
    if (child == NULL)
        return NULL;
    *drops |= node->kind != MR_LOGICAL_PROJECT;
    node->children[0] = child;
    node->streaming = child->streaming;
    if (node->kind == MR_LOGICAL_FILTER) {
        node->output = child->output;
        node->output_n = child->output_n;
        return node;
    }
    /* PROJECT: left, then its own outputs. GENERATE: all of the child, then the generator's */
    struct mr_logical *below = node->kind == MR_LOGICAL_PROJECT ? left : child;
    uint32_t first = node->kind == MR_LOGICAL_PROJECT ? 0 : child_n;

    own = node->output_n - first;
    struct mr_attribute *output =
        mr_attributes_copy(an->arena, below->output, below->output_n, own);
    mr_copy_items(output + below->output_n, node->output + first, own * sizeof *output);
    if (node->kind == MR_LOGICAL_PROJECT) {
        struct mr_expr **exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, below->output_n + own);

        for (uint32_t i = 0; i < below->output_n; i++)
            exprs[i] = mr_attribute_expr(an->arena, &below->output[i]);
        mr_copy_items(exprs + below->output_n, node->exprs, own * sizeof *exprs);
        node->exprs = exprs;
        node->exprs_n = below->output_n + own;
    }
    node->output = output;
    node->output_n = below->output_n + own;
    return node;
}

static struct mr_expr *condition(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_expr *e = mr_analyze_expr(an, s, x);

    if (e != NULL && e->type->kind != MR_BOOLEAN)
        return MR_ANALYZE_FAIL(an, x->place, "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE",
                               "The join condition \"%s\" is not BOOLEAN.", e->text);
    return e;
}

static struct mr_logical *lateral_join(struct mr_analyzer *an, const struct mr_relation *r,
                                       struct mr_scope *outer, struct mr_logical *left)
{
    struct mr_scope scope = {.clause = MR_IN_JOIN,
                             .attributes = left->output,
                             .attributes_n = left->output_n,
                             .outer = outer};
    struct mr_logical *right = mr_analyze(an, r->right, &scope), *node;
    bool drops = false;

    if (right == NULL || (node = graft(an, right, left, &drops)) == NULL)
        return NULL;
    if (r->join_kind != MR_JOIN_INNER && r->join_kind != MR_JOIN_CROSS && (drops || r->condition))
        return no_lateral(an, r->place, "an outer join with a condition");
    if (r->condition == NULL)
        return node;
    scope.attributes = node->output;
    scope.attributes_n = node->output_n;
    scope.outer = outer;
    struct mr_expr *on = condition(an, &scope, r->condition);
    return on != NULL ? mr_filter_new(an, node, on, r->place) : NULL;
}

static const struct mr_attribute *by_name(const struct mr_logical *side, const char *name)
{
    for (uint32_t i = 0; i < side->output_n; i++)
        if (mr_same_name(side->output[i].name, name) && !side->output[i].qualified_only)
            return &side->output[i];
    return NULL;
}

static bool among(const char *const *names, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (mr_same_name(names[i], name))
            return true;
    return false;
}

/* USING and NATURAL: equality of the named columns. */
static struct mr_expr *using_condition(struct mr_analyzer *an, const struct mr_logical *left,
                                       const struct mr_logical *right, const char *const *names,
                                       uint32_t n, struct mr_place place)
{
    struct mr_expr **parts = MR_NEW_ARRAY(an->arena, struct mr_expr *, n);

    for (uint32_t i = 0; i < n; i++) {
        const struct mr_attribute *l = by_name(left, names[i]), *r = by_name(right, names[i]);
        struct mr_expr *args[2];

        if (l == NULL || r == NULL)
            return MR_ANALYZE_FAIL(
                an, place, "UNRESOLVED_USING_COLUMN_FOR_JOIN",
                "USING column `%s` cannot be resolved on the %s side of the join.", names[i],
                l == NULL ? "left" : "right");
        args[0] = mr_attribute_expr(an->arena, l);
        args[1] = mr_attribute_expr(an->arena, r);
        parts[i] = mr_call(an, "=", args, 2, place,
                           mr_arena_format(an->arena, "(%s = %s)", l->name, r->name));
        if (parts[i] == NULL)
            return NULL;
    }
    return mr_expr_and(an->arena, parts, n);
}

/* The columns of a USING join: the named ones once, then the others of both sides. */
static struct mr_logical *using_project(struct mr_analyzer *an, struct mr_logical *join,
                                        const char *const *names, uint32_t n)
{
    struct mr_logical *left = join->children[0], *right = join->children[1];
    uint32_t room = join->output_n + n, at = 0;
    bool semi = join->join_kind == MR_JOIN_SEMI || join->join_kind == MR_JOIN_ANTI;
    struct mr_logical *node = mr_logical_unary(an->arena, MR_LOGICAL_PROJECT, join, join->place);

    node->output = MR_NEW_ARRAY(an->arena, struct mr_attribute, room);
    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, room);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_attribute *l = by_name(left, names[i]), *r = by_name(right, names[i]);
        const struct mr_attribute *one = join->join_kind == MR_JOIN_RIGHT ? r : l;
        struct mr_expr *args[2] = {mr_attribute_expr(an->arena, l),
                                   mr_attribute_expr(an->arena, r)};

        node->output[at] = *one;
        node->exprs[at] = mr_attribute_expr(an->arena, one);
        if (join->join_kind == MR_JOIN_FULL) {
            node->exprs[at] = mr_call(an, "coalesce", args, 2, join->place, one->name);
            if (node->exprs[at] == NULL)
                return NULL;
            node->output[at] = mr_attribute_new(an, one->name, node->exprs[at]->type, true);
        }
        at++;
    }
    for (uint32_t i = 0; i < join->output_n; i++) {
        struct mr_attribute a = join->output[i];

        if (among(names, n, a.name)) {
            if (semi || mr_attribute_find(node->output, at, a.id) != NULL)
                continue;
            a.qualified_only = true;
        }
        node->output[at] = a;
        node->exprs[at++] = mr_attribute_expr(an->arena, &a);
    }
    node->output_n = node->exprs_n = at;
    return node;
}

static void join_output(struct mr_analyzer *an, struct mr_logical *node)
{
    struct mr_logical *left = node->children[0], *right = node->children[1];
    enum mr_join_kind kind = node->join_kind;

    if (kind == MR_JOIN_SEMI || kind == MR_JOIN_ANTI)
        return;
    node->output = mr_attributes_copy(an->arena, left->output, left->output_n, right->output_n);
    mr_copy_items(node->output + left->output_n, right->output,
                  right->output_n * sizeof *right->output);
    node->output_n = left->output_n + right->output_n;
    for (uint32_t i = 0; i < node->output_n; i++)
        if (i < left->output_n ? kind == MR_JOIN_RIGHT || kind == MR_JOIN_FULL
                               : kind == MR_JOIN_LEFT || kind == MR_JOIN_FULL)
            node->output[i].nullable = true;
}

struct mr_logical *mr_analyze_join(struct mr_analyzer *an, const struct mr_relation *r,
                                   struct mr_scope *outer)
{
    struct mr_logical *sides[2], *node;
    struct mr_scope scope = {.clause = MR_IN_JOIN, .outer = outer};
    const char **names = r->columns;
    uint32_t names_n = r->columns_n;
    struct mr_expr *on = NULL;

    sides[0] = mr_analyze(an, r->input, outer);
    if (sides[0] == NULL)
        return NULL;
    if (r->lateral)
        return lateral_join(an, r, outer, sides[0]);
    sides[1] = mr_analyze(an, r->right, outer);
    if (sides[1] == NULL)
        return NULL;
    node = mr_logical_new(an->arena, MR_LOGICAL_JOIN, sides, 2, r->place);
    node->join_kind = r->join_kind;
    join_output(an, node);
    if (r->natural) {
        names = MR_NEW_ARRAY(an->arena, const char *, sides[0]->output_n);
        names_n = 0;
        for (uint32_t i = 0; i < sides[0]->output_n; i++)
            if (by_name(sides[1], sides[0]->output[i].name) != NULL)
                names[names_n++] = sides[0]->output[i].name;
    }
    if (names_n > 0) {
        on = using_condition(an, sides[0], sides[1], names, names_n, r->place);
        if (on == NULL)
            return NULL;
    } else if (r->condition != NULL) {
        struct mr_attribute *both =
            mr_attributes_copy(an->arena, sides[0]->output, sides[0]->output_n, sides[1]->output_n);

        mr_copy_items(both + sides[0]->output_n, sides[1]->output,
                      sides[1]->output_n * sizeof *both);
        scope.attributes = both;
        scope.attributes_n = sides[0]->output_n + sides[1]->output_n;
        on = condition(an, &scope, r->condition);
        if (on == NULL)
            return NULL;
    }
    if (on != NULL) {
        node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, 1);
        node->exprs[0] = on;
        node->exprs_n = 1;
    }
    return names_n > 0 ? using_project(an, node, names, names_n) : node;
}

/* side with its columns cast to types, where they differ. */
static struct mr_logical *cast_columns(struct mr_analyzer *an, struct mr_logical *side,
                                       const struct mr_type *const *types)
{
    bool same = true;
    struct mr_logical *node;

    for (uint32_t i = 0; i < side->output_n; i++)
        same &= mr_type_equal(side->output[i].type, types[i]);
    if (same)
        return side;
    node = mr_logical_narrow(an->arena, side, side->output, side->output_n);
    for (uint32_t i = 0; i < node->output_n; i++) {
        if (mr_type_equal(side->output[i].type, types[i]))
            continue;
        if (mr_cast_make(&an->resolve, node->exprs[i], types[i], false, side->place,
                         &node->exprs[i]) != MR_OK)
            return NULL;
        node->output[i] =
            mr_attribute_new(an, side->output[i].name, types[i], node->exprs[i]->nullable);
    }
    return node;
}

struct mr_logical *mr_analyze_set_operation(struct mr_analyzer *an, const struct mr_relation *r,
                                            struct mr_scope *outer)
{
    static const char *const names[] = {"UNION", "EXCEPT", "INTERSECT"};
    static const enum mr_logical_kind kinds[] = {MR_LOGICAL_UNION, MR_LOGICAL_EXCEPT,
                                                 MR_LOGICAL_INTERSECT};
    struct mr_logical *sides[2], *node;
    const struct mr_type **types;

    sides[0] = mr_analyze(an, r->input, outer);
    sides[1] = sides[0] != NULL ? mr_analyze(an, r->right, outer) : NULL;
    if (sides[1] == NULL)
        return NULL;
    if (sides[0]->output_n != sides[1]->output_n)
        return MR_ANALYZE_FAIL(
            an, r->place, "NUM_COLUMNS_MISMATCH",
            "%s can only be performed on inputs with the same number of columns, but "
            "the first input has %u columns and the second input has %u columns.",
            names[r->set_kind], sides[0]->output_n, sides[1]->output_n);
    types = MR_NEW_ARRAY(an->arena, const struct mr_type *, sides[0]->output_n);
    for (uint32_t i = 0; i < sides[0]->output_n; i++) {
        types[i] = mr_type_common(sides[0]->output[i].type, sides[1]->output[i].type,
                                  an->session->conf.ansi, an->arena);
        if (types[i] == NULL) {
            struct mr_buffer b;

            mr_buffer_init(&b, an->arena);
            mr_type_print_sql(sides[1]->output[i].type, &b);
            mr_buffer_append_text(&b, MR_TEXT("\" type which is not compatible with \""));
            mr_type_print_sql(sides[0]->output[i].type, &b);
            return MR_ANALYZE_FAIL(
                an, r->place, "INCOMPATIBLE_COLUMN_TYPE",
                "%s can only be performed on tables with compatible column types. Column "
                "%u of the second table is \"%.*s\" at the same column of the first.",
                names[r->set_kind], i + 1, (int)b.n, b.data);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        if ((sides[i] = cast_columns(an, sides[i], types)) == NULL)
            return NULL;
    if (!(r->set_kind == MR_SET_UNION && r->all) &&
        !mr_analyze_no_map(an, sides[0]->output, sides[0]->output_n, r->place))
        return NULL;
    node = mr_logical_new(an->arena, kinds[r->set_kind], sides, 2, r->place);
    node->all = r->all;
    if (r->set_kind != MR_SET_UNION)
        return node;
    node->output = mr_attributes_copy(an->arena, sides[0]->output, sides[0]->output_n, 0);
    for (uint32_t i = 0; i < node->output_n; i++) {
        node->output[i].id = an->next_id++;
        node->output[i].qualifier = NULL;
        node->output[i].nullable |= sides[1]->output[i].nullable;
    }
    return r->all ? node : mr_logical_unary(an->arena, MR_LOGICAL_DISTINCT, node, r->place);
}
