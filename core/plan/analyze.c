/* analyze.c - relations without expressions of their own kind, and the way into the others. */
#include "core/plan/analyzer.h"

#include "core/base/bounds.h"
#include "core/format/ddl.h"
#include <stdio.h>

void *mr_analyze_fail_at(struct mr_analyzer *an, struct mr_place place)
{
    an->err->line = place.line;
    an->err->column = place.column;
    return NULL;
}

bool mr_same_name(const char *a, const char *b)
{
    return mr_text_equal_ignoring_case(mr_text_of(a), mr_text_of(b));
}

struct mr_attribute mr_attribute_new(struct mr_analyzer *an, const char *name,
                                     const struct mr_type *type, bool nullable)
{
    return (struct mr_attribute){
        .id = an->next_id++, .name = name, .type = type, .nullable = nullable};
}

struct mr_attribute mr_attribute_of(struct mr_analyzer *an, const struct mr_named *x,
                                    const struct mr_attribute *from, uint32_t from_n)
{
    const struct mr_attribute *a = NULL;
    struct mr_attribute out;

    if (x->expr->kind == MR_EXPR_COLUMN)
        a = mr_attribute_find(from, from_n, x->expr->index);
    if (a == NULL)
        return mr_attribute_new(an, x->name, x->expr->type, x->expr->nullable);
    out = *a;
    out.name = x->name;
    if (x->aliased) {
        out.id = an->next_id++;
        out.qualifier = NULL;
        out.qualified_only = false;
    }
    return out;
}

static void qualify(struct mr_analyzer *an, struct mr_logical *node, const char *qualifier)
{
    node->output = mr_attributes_copy(an->arena, node->output, node->output_n, 0);
    for (uint32_t i = 0; i < node->output_n; i++) {
        node->output[i].qualifier = qualifier;
        node->output[i].qualified_only = false;
    }
}

/* A PROJECT that gives the columns new names (and ids). */
static struct mr_logical *rename_columns(struct mr_analyzer *an, struct mr_logical *child,
                                         const char *const *columns, uint32_t n,
                                         struct mr_place place)
{
    struct mr_logical *node;

    if (n != child->output_n)
        return MR_ANALYZE_FAIL(an, place, "ASSIGNMENT_ARITY_MISMATCH",
                               "The number of column aliases (%u) does not match the number of "
                               "columns (%u)",
                               n, child->output_n);
    node = mr_logical_narrow(an->arena, child, child->output, n);
    for (uint32_t i = 0; i < n; i++) {
        node->output[i].id = an->next_id++;
        node->output[i].name = columns[i];
    }
    return node;
}

static struct mr_logical *source(struct mr_analyzer *an, const struct mr_table *table,
                                 const char *qualifier, struct mr_place place)
{
    struct mr_logical *node = mr_logical_new(an->arena, MR_LOGICAL_SOURCE, NULL, 0, place);

    node->table = table;
    node->streaming = table->streaming;
    node->output_n = table->schema->fields_n;
    node->output = MR_NEW_ARRAY(an->arena, struct mr_attribute, node->output_n);
    for (uint32_t i = 0; i < node->output_n; i++) {
        const struct mr_field *f = &table->schema->fields[i];
        for (uint32_t k = 0; k < i; k++)
            if (mr_matches(an, table->schema->fields[k].name, f->name))
                return MR_ANALYZE_FAIL(an, place, "COLUMN_ALREADY_EXISTS",
                                       "The column `%s` already exists in the schema of %s. Choose "
                                       "another name or rename the existing column.",
                                       f->name, table->name);
        /* Spark reads every file column as nullable */
        node->output[i] = mr_attribute_new(an, f->name, f->type, true);
        node->output[i].qualifier = qualifier;
    }
    return node;
}

static struct mr_logical *view(struct mr_analyzer *an, uint32_t index)
{
    const struct mr_view_definition *v = &an->session->views[index];
    uint32_t views_n = an->views_n;
    struct mr_cte_scope *ctes = an->ctes;
    struct mr_logical *node;

    an->views_n = index;
    an->ctes = NULL;
    node = mr_analyze(an, v->relation, NULL);
    an->views_n = views_n;
    an->ctes = ctes;
    if (node != NULL)
        qualify(an, node, v->name);
    else if (an->err && an->session->views_path)
        snprintf(an->err->file, sizeof an->err->file, "%s", an->session->views_path);
    return node;
}

static struct mr_logical *cte_reference(struct mr_analyzer *an, const struct mr_cte_scope *cte,
                                        struct mr_place place)
{
    struct mr_logical *node = mr_logical_new(an->arena, MR_LOGICAL_CTE_REF, NULL, 0, place);

    node->definition = cte->plan;
    node->name = cte->name;
    node->streaming = cte->plan->streaming;
    node->output = mr_attributes_copy(an->arena, cte->plan->output, cte->plan->output_n, 0);
    node->output_n = cte->plan->output_n;
    for (uint32_t i = 0; i < node->output_n; i++)
        node->output[i].id = an->next_id++;
    qualify(an, node, cte->name);
    return node;
}

/* format.`path`: a static table made on the spot. */
static struct mr_logical *path_source(struct mr_analyzer *an, const struct mr_relation *r)
{
    const struct mr_format_ops *format = mr_format_find(r->name[0]);
    const char *schema = mr_option_get(r->options, r->options_n, "schema");
    struct mr_table *table = MR_NEW(an->arena, struct mr_table);
    struct mr_option *options = MR_NEW_ARRAY(an->arena, struct mr_option, r->options_n + 1);

    if (format == NULL)
        return mr_unresolved_table(an, r);
    table->name = r->name[1];
    table->format = format->name;
    table->place = r->place;
    table->options = options;
    for (uint32_t i = 0; i < r->options_n; i++)
        if (!mr_same_name(r->options[i].name, "schema"))
            options[table->options_n++] = r->options[i];
    options[table->options_n++] = (struct mr_option){"path", r->name[1]};
    table->schema = format->default_schema;
    if (schema == NULL) {
        schema = r->inferred_schema;
        table->is_inferred = schema != NULL;
    }
    if (schema != NULL &&
        mr_ddl_parse_columns(mr_text_of(schema), an->arena, &table->schema, an->err) != MR_OK)
        return mr_analyze_fail_at(an, r->place); /* not that within the schema's text */
    if (table->schema == NULL)
        return MR_ANALYZE_FAIL(an, r->place, "UNABLE_TO_INFER_SCHEMA",
                               "%s.`%s`: the schema must be given: "
                               "WITH (schema = 'id INT, name STRING', header = true)",
                               r->name[0], r->name[1]);
    if (an->session->complete_schema &&
        an->session->complete_schema(table, &an->session->conf, an->arena, an->err) != MR_OK)
        return NULL;
    return source(an, table, NULL, r->place);
}

static struct mr_logical *read_relation(struct mr_analyzer *an, const struct mr_relation *r)
{
    if (r->name_n == 1) {
        for (const struct mr_cte_scope *c = an->ctes; c != NULL; c = c->next)
            if (mr_same_name(c->name, r->name[0]))
                return cte_reference(an, c, r->place);
        for (uint32_t i = an->views_n; i-- > 0;)
            if (mr_same_name(an->session->views[i].name, r->name[0]))
                return view(an, i);
        for (uint32_t i = 0; i < an->session->tables_n; i++)
            if (mr_same_name(an->session->tables[i].name, r->name[0]))
                return source(an, &an->session->tables[i], r->name[0], r->place);
    } else if (r->name_n == 2) {
        return path_source(an, r);
    }
    return mr_unresolved_table(an, r);
}

static struct mr_logical *local_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                         struct mr_scope *outer)
{
    struct mr_logical *node = mr_logical_new(an->arena, MR_LOGICAL_VALUES, NULL, 0, r->place);
    struct mr_scope scope = {.clause = MR_IN_VALUES, .outer = outer};
    uint32_t columns_n = r->rows_n ? r->exprs_n / r->rows_n : 0;

    node->rows_n = r->rows_n;
    node->output_n = columns_n;
    node->output = MR_NEW_ARRAY(an->arena, struct mr_attribute, columns_n);
    node->exprs_n = r->exprs_n;
    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, r->exprs_n);
    for (uint32_t i = 0; i < r->exprs_n; i++) {
        node->exprs[i] = mr_analyze_expr(an, &scope, r->exprs[i]);
        if (node->exprs[i] == NULL)
            return NULL;
    }
    for (uint32_t c = 0; c < columns_n; c++) {
        const struct mr_type *type = node->exprs[c]->type;
        bool nullable = false;

        for (uint32_t row = 0; row < r->rows_n && type != NULL; row++) {
            struct mr_expr *x = node->exprs[row * columns_n + c];
            type = mr_type_common_strict(type, x->type, an->session->conf.ansi, an->arena);
            nullable |= x->nullable;
        }
        if (type == NULL)
            return MR_ANALYZE_FAIL(an, r->place,
                                   "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE",
                                   "Invalid inline table. Found incompatible types in the column "
                                   "`col%u` for inline table.",
                                   c + 1);
        for (uint32_t row = 0; row < r->rows_n; row++) {
            struct mr_expr **x = &node->exprs[row * columns_n + c];
            if (mr_cast_make(&an->resolve, *x, type, false, (*x)->place, x) != MR_OK)
                return NULL;
        }
        node->output[c] =
            mr_attribute_new(an, mr_arena_format(an->arena, "col%u", c + 1), type, nullable);
    }
    return node;
}

struct mr_logical *mr_filter_new(struct mr_analyzer *an, struct mr_logical *child,
                                 struct mr_expr *condition, struct mr_place place)
{
    struct mr_logical *node = mr_logical_unary(an->arena, MR_LOGICAL_FILTER, child, place);

    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, 1);
    node->exprs[0] = condition;
    node->exprs_n = 1;
    return node;
}

struct mr_logical *mr_analyze_condition(struct mr_analyzer *an, struct mr_logical *child,
                                        struct mr_expr *condition, struct mr_place place)
{
    if (condition == NULL)
        return NULL;
    if (condition->type->kind == MR_VOID &&
        mr_cast_make(&an->resolve, condition, &mr_type_boolean, false, place, &condition) != MR_OK)
        return NULL;
    if (condition->type->kind != MR_BOOLEAN) {
        struct mr_buffer type;

        mr_buffer_init(&type, an->arena);
        mr_type_print_sql(condition->type, &type);
        return MR_ANALYZE_FAIL(an, place, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
                               "Cannot resolve \"%s\" due to data type mismatch: Filter expression "
                               "\"%s\" of type \"%.*s\" is not a boolean.",
                               condition->text, condition->text, (int)type.n, type.data);
    }
    return mr_filter_new(an, child, condition, place);
}

static struct mr_logical *filter_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                          struct mr_scope *outer)
{
    struct mr_logical *child = mr_analyze(an, r->input, outer);
    struct mr_time_windows windows = {0};
    struct mr_scope scope = {.clause = MR_IN_WHERE, .outer = outer, .windows = &windows};
    struct mr_expr *condition;

    if (child == NULL)
        return NULL;
    scope.attributes = child->output;
    scope.attributes_n = child->output_n;
    condition = mr_analyze_expr(an, &scope, r->condition);
    child = condition != NULL ? mr_time_windows_place(an, &windows, child, r->place) : NULL;
    return child != NULL ? mr_analyze_condition(an, child, condition, r->place) : NULL;
}

static struct mr_logical *limit_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                         struct mr_scope *outer, enum mr_logical_kind kind)
{
    struct mr_logical *node, *child = mr_analyze(an, r->input, outer);
    struct mr_scope scope = {.clause = MR_IN_VALUES};
    const char *what = kind == MR_LOGICAL_LIMIT ? "limit" : "offset";
    struct mr_expr *x;

    if (child == NULL)
        return NULL;
    scope.attributes = child->output;
    scope.attributes_n = child->output_n;
    x = mr_analyze_expr(an, &scope, r->exprs[0]);
    if (x != NULL && (!mr_expr_covered(x, NULL, 0) || !mr_expr_is_deterministic(x)))
        return MR_ANALYZE_FAIL(
            an, r->exprs[0]->place, "INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE",
            "The limit like expression \"%s\" is invalid. The %s expression must "
            "evaluate to a constant value.",
            x->text, what);
    if (x == NULL || (x = mr_analyze_constant(an, x)) == NULL)
        return NULL;
    if (!mr_type_is_integer(x->type) || mr_column_is_null(x->value, 0))
        return MR_ANALYZE_FAIL(an, r->exprs[0]->place, "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE",
                               "The %s expression \"%s\" must be of type INT and not null.", what,
                               x->text);
    if (mr_cast_make(&an->resolve, x, &mr_type_bigint, false, r->place, &x) != MR_OK ||
        (x = mr_analyze_constant(an, x)) == NULL)
        return NULL;
    if (x->value->i64[0] < 0)
        return MR_ANALYZE_FAIL(
            an, r->exprs[0]->place, "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE",
            "The %s expression must be equal to or greater than 0, but got %lld.", what,
            (long long)x->value->i64[0]);
    node = mr_logical_unary(an->arena, kind, child, r->place);
    node->limit = (uint64_t)x->value->i64[0];
    return node;
}

static struct mr_logical *with_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                        struct mr_scope *outer)
{
    struct mr_logical **children = MR_NEW_ARRAY(an->arena, struct mr_logical *, r->ctes_n + 1);
    struct mr_cte_scope *before = an->ctes;
    struct mr_logical *node, *query;

    for (uint32_t i = 0; i < r->ctes_n; i++) {
        const struct mr_cte *cte = &r->ctes[i];
        struct mr_cte_scope *c = MR_NEW(an->arena, struct mr_cte_scope);

        children[i] = mr_analyze(an, cte->relation, NULL);
        if (children[i] != NULL && cte->columns_n > 0)
            children[i] = rename_columns(an, children[i], cte->columns, cte->columns_n, r->place);
        if (children[i] == NULL)
            return NULL;
        *c = (struct mr_cte_scope){cte->name, children[i], an->ctes};
        an->ctes = c;
    }
    query = mr_analyze(an, r->input, outer);
    an->ctes = before;
    if (query == NULL)
        return NULL;
    children[r->ctes_n] = query;
    node = mr_logical_new(an->arena, MR_LOGICAL_WITH, children, r->ctes_n + 1, r->place);
    node->output = query->output;
    node->output_n = query->output_n;
    node->streaming = query->streaming;
    return node;
}

static struct mr_logical *lateral_view(struct mr_analyzer *an, const struct mr_relation *r,
                                       struct mr_scope *outer)
{
    struct mr_logical *child = mr_analyze(an, r->input, outer);
    struct mr_scope scope = {.clause = MR_IN_SELECT, .outer = outer};

    if (child == NULL)
        return NULL;
    scope.attributes = child->output;
    scope.attributes_n = child->output_n;
    return mr_generate_new(an, &scope, child, r->condition, r->name_n ? r->name[0] : NULL,
                           r->columns, r->columns_n, r->outer);
}

static struct mr_logical *table_function(struct mr_analyzer *an, const struct mr_relation *r,
                                         struct mr_scope *outer)
{
    struct mr_logical *child = mr_logical_new(an->arena, MR_LOGICAL_VALUES, NULL, 0, r->place);
    struct mr_ast call = {.kind = MR_AST_CALL,
                          .place = r->place,
                          .name = r->name[0],
                          .args = r->exprs,
                          .args_n = r->exprs_n};
    struct mr_scope scope = {.clause = MR_IN_SELECT, .outer = outer};

    child->rows_n = 1;
    if (r->condition == NULL && !mr_is_generator(&call))
        return MR_ANALYZE_FAIL(an, r->place, "UNRESOLVABLE_TABLE_VALUED_FUNCTION",
                               "Could not resolve `%s` to a table-valued function.", r->name[0]);
    return mr_generate_new(an, &scope, child, r->condition ? r->condition : &call, NULL, r->columns,
                           r->columns_n, r->outer);
}

static struct mr_logical *sort_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                        struct mr_scope *outer)
{
    struct mr_scope scope = {.clause = MR_IN_ORDER_BY, .outer = outer};
    struct mr_expr **keys = MR_NEW_ARRAY(an->arena, struct mr_expr *, r->exprs_n);
    struct mr_logical *child;

    if (r->input->kind == MR_REL_PROJECT || r->input->kind == MR_REL_AGGREGATE)
        return mr_analyze_select(an, r->input, outer, r);
    child = mr_analyze(an, r->input, outer);
    if (child == NULL)
        return NULL;
    scope.attributes = child->output;
    scope.attributes_n = child->output_n;
    for (uint32_t i = 0; i < r->exprs_n; i++) {
        const struct mr_ast *x =
            r->exprs[i]->kind == MR_AST_ORDER ? r->exprs[i]->args[0] : r->exprs[i];

        keys[i] = mr_analyze_expr(an, &scope, x);
        if (keys[i] == NULL)
            return NULL;
        if (keys[i]->kind == MR_EXPR_LITERAL && keys[i]->type->kind == MR_INT) {
            int32_t at = keys[i]->value->i32[0];

            if (at < 1 || (uint32_t)at > child->output_n)
                return MR_ANALYZE_FAIL(an, x->place, "ORDER_BY_POS_OUT_OF_RANGE",
                                       "ORDER BY position %d is not in select list (valid range is "
                                       "[1, %u]).",
                                       at, child->output_n);
            keys[i] = mr_attribute_expr(an->arena, &child->output[at - 1]);
        }
    }
    return mr_sort_new(an, child, r, keys);
}

static struct mr_logical *alias_relation(struct mr_analyzer *an, const struct mr_relation *r,
                                         struct mr_scope *outer)
{
    struct mr_logical *node = mr_analyze(an, r->input, outer);

    if (node != NULL && r->columns_n > 0)
        node = rename_columns(an, node, r->columns, r->columns_n, r->place);
    if (node != NULL && r->name_n > 0)
        qualify(an, node, r->name[0]);
    return node;
}

bool mr_analyze_no_map(struct mr_analyzer *an, const struct mr_attribute *list, uint32_t n,
                       struct mr_place place)
{
    for (uint32_t i = 0; i < n; i++) {
        bool map = mr_type_has(list[i].type, MR_MAP);
        if (map || mr_type_has(list[i].type, MR_VARIANT)) {
            MR_ANALYZE_FAIL(an, place,
                            map ? "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE"
                                : "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE",
                            "The feature is not supported: rows are compared by the column `%s`, "
                            "which is or holds a %s.",
                            list[i].name, map ? "MAP" : "VARIANT");
            return false;
        }
    }
    return true;
}

/* DISTINCT, SAMPLE, PIVOT: a node over the input as it is. */
static struct mr_logical *plain(struct mr_analyzer *an, const struct mr_relation *r,
                                struct mr_scope *outer, enum mr_logical_kind kind)
{
    struct mr_logical *child = mr_analyze(an, r->input, outer);

    if (child == NULL || (kind == MR_LOGICAL_DISTINCT &&
                          !mr_analyze_no_map(an, child->output, child->output_n, r->place)))
        return NULL;
    return mr_logical_unary(an->arena, kind, child, r->place);
}

struct mr_logical *mr_analyze(struct mr_analyzer *an, const struct mr_relation *r,
                              struct mr_scope *outer)
{
    struct mr_logical *node = NULL;

    if (an->depth >= MR_DEPTH_MAX * 4)
        return MR_ANALYZE_FAIL(an, r->place, "", "the query is nested deeper than %d levels",
                               MR_DEPTH_MAX * 4);
    an->depth++;
    switch (r->kind) {
    case MR_REL_READ:
        node = read_relation(an, r);
        break;
    case MR_REL_LOCAL:
        node = local_relation(an, r, outer);
        break;
    case MR_REL_ONE_ROW:
        node = mr_logical_new(an->arena, MR_LOGICAL_VALUES, NULL, 0, r->place);
        node->rows_n = 1;
        break;
    case MR_REL_ALIAS:
        node = alias_relation(an, r, outer);
        break;
    case MR_REL_PROJECT:
    case MR_REL_AGGREGATE:
        node = mr_analyze_select(an, r, outer, NULL);
        break;
    case MR_REL_FILTER:
        node = filter_relation(an, r, outer);
        break;
    case MR_REL_DISTINCT:
        node = plain(an, r, outer, MR_LOGICAL_DISTINCT);
        break;
    case MR_REL_DEDUPLICATE:
        node = mr_analyze_deduplicate(an, r, outer);
        break;
    case MR_REL_WITH_WATERMARK:
        node = mr_analyze_watermark(an, r, outer);
        break;
    case MR_REL_GENERATE:
        node = lateral_view(an, r, outer);
        break;
    case MR_REL_JOIN:
        node = mr_analyze_join(an, r, outer);
        break;
    case MR_REL_SET_OPERATION:
        node = mr_analyze_set_operation(an, r, outer);
        break;
    case MR_REL_SORT:
        node = sort_relation(an, r, outer);
        break;
    case MR_REL_LIMIT:
        node = limit_relation(an, r, outer, MR_LOGICAL_LIMIT);
        break;
    case MR_REL_OFFSET:
        node = limit_relation(an, r, outer, MR_LOGICAL_OFFSET);
        break;
    case MR_REL_WITH:
        node = with_relation(an, r, outer);
        break;
    case MR_REL_PIVOT:
        node = plain(an, r, outer, MR_LOGICAL_PIVOT);
        break;
    case MR_REL_SAMPLE:
        node = plain(an, r, outer, MR_LOGICAL_SAMPLE);
        break;
    case MR_REL_TABLE_FUNCTION:
        node = table_function(an, r, outer);
        break;
    }
    an->depth--;
    return node;
}
