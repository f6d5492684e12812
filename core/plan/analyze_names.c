/* analyze_names.c - columns, fields and tables by name: Spark's order, and its suggestions. */
#include "core/plan/analyzer.h"

#include "core/base/bounds.h"

enum { SUGGESTIONS_MAX = 5 };

/* Columns and fields: by the letter only under spark.sql.caseSensitive. */
bool mr_matches(const struct mr_analyzer *an, const char *a, const char *b)
{
    return an->session->conf.case_sensitive ? strcmp(a, b) == 0 : mr_same_name(a, b);
}

static const char *quoted(struct mr_analyzer *an, const char *const *parts, uint32_t n)
{
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(&b, "%s`%s`", i ? "." : "", parts[i]);
    return mr_arena_copy(an->arena, b.data, b.n);
}

/* Edit distance, for the order of suggestions; long names are cut. */
static uint32_t distance(const char *a, const char *b)
{
    uint32_t row[MR_NAME_MAX + 1];
    uint32_t n = (uint32_t)strnlen(a, MR_NAME_MAX), m = (uint32_t)strnlen(b, MR_NAME_MAX);

    for (uint32_t j = 0; j <= m; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t diagonal = row[0];

        row[0] = i;
        for (uint32_t j = 1; j <= m; j++) {
            uint32_t best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

void *mr_unresolved_column(struct mr_analyzer *an, const struct mr_scope *s,
                           const char *const *parts, uint32_t parts_n, struct mr_place place)
{
    const char *name = quoted(an, parts, parts_n);
    const char *best[SUGGESTIONS_MAX];
    uint32_t far[SUGGESTIONS_MAX], n = 0;
    struct mr_buffer list;

    for (uint32_t i = 0; i < s->attributes_n; i++) {
        const struct mr_attribute *a = &s->attributes[i];
        const char *full[2] = {a->qualifier, a->name};
        const char *shown =
            parts_n > 1 && a->qualifier ? quoted(an, full, 2) : quoted(an, full + 1, 1);
        uint32_t d = distance(name, shown), at = n < SUGGESTIONS_MAX ? n++ : SUGGESTIONS_MAX;

        if (at == SUGGESTIONS_MAX && d >= far[SUGGESTIONS_MAX - 1])
            continue;
        if (at == SUGGESTIONS_MAX)
            at--;
        for (; at > 0 && far[at - 1] > d; at--) {
            far[at] = far[at - 1];
            best[at] = best[at - 1];
        }
        far[at] = d;
        best[at] = shown;
    }
    if (n == 0)
        return MR_ANALYZE_FAIL(an, place, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
                               "A column, variable, or function parameter with name %s cannot be "
                               "resolved.",
                               name);
    mr_buffer_init(&list, an->arena);
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(&list, "%s%s", i ? ", " : "", best[i]);
    return MR_ANALYZE_FAIL(an, place, "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                           "A column, variable, or function parameter with name %s cannot be "
                           "resolved. Did you mean one of the following? [%.*s].",
                           name, (int)list.n, list.data);
}

void *mr_unresolved_table(struct mr_analyzer *an, const struct mr_relation *r)
{
    const struct mr_session *session = an->session;
    const char **known = MR_NEW_ARRAY(an->arena, const char *, an->views_n + session->tables_n);
    uint32_t n = 0;
    const char *near, *name = quoted(an, r->name, r->name_n);
    struct mr_buffer list;

    if (r->name_n > 2)
        return MR_ANALYZE_FAIL(an, r->place, "REQUIRES_SINGLE_PART_NAMESPACE",
                               "spark_catalog requires a single-part namespace, but got identifier "
                               "%s.",
                               name);
    for (uint32_t i = 0; i < an->views_n; i++)
        known[n++] = session->views[i].name;
    for (uint32_t i = 0; i < session->tables_n; i++)
        known[n++] = session->tables[i].name;
    near = r->name_n == 1 ? mr_error_nearest(r->name[0], known, n) : NULL;
    if (near)
        return MR_ANALYZE_FAIL(an, r->place, "TABLE_OR_VIEW_NOT_FOUND",
                               "The table or view %s cannot be found. Did you mean `%s`?", name,
                               near);
    if (r->name_n == 2 || n == 0)
        return MR_ANALYZE_FAIL(an, r->place, "TABLE_OR_VIEW_NOT_FOUND",
                               "The table or view %s cannot be found. Files are named as "
                               "json.`path`, csv.`path` or text.`path`.",
                               name);
    mr_buffer_init(&list, an->arena);
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(&list, "%s`%s`", i ? ", " : "", known[i]);
    return MR_ANALYZE_FAIL(an, r->place, "TABLE_OR_VIEW_NOT_FOUND",
                           "The table or view %s cannot be found. Known are %.*s.", name,
                           (int)list.n, (const char *)list.data);
}

static const char *field_list(struct mr_analyzer *an, const struct mr_type *t)
{
    const char **names = MR_NEW_ARRAY(an->arena, const char *, t->fields_n + 1);
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    for (uint32_t i = 0; i < t->fields_n; i++) {
        names[i] = t->fields[i].name;
        mr_buffer_append_format(&b, "%s`%s`", i ? ", " : "", names[i]);
    }
    return mr_arena_copy(an->arena, b.data, b.n);
}

struct mr_expr *mr_analyze_field(struct mr_analyzer *an, struct mr_expr *x, const char *name,
                                 struct mr_place place)
{
    const struct mr_type *t = x->type;
    struct mr_expr *args[2] = {x, NULL};
    const char *text = mr_arena_format(an->arena, "%s.%s", x->text, name);
    uint32_t found = 0;

    if (t->kind == MR_ARRAY && t->fields[0].type->kind == MR_STRUCT)
        t = t->fields[0].type;
    if (t->kind == MR_MAP || t->kind == MR_ARRAY) { /* of an array it fails: an index is a number */
        args[1] = mr_expr_literal_text(an->arena, mr_text_of(name));
        return mr_call(an, "get_item", args, 2, place,
                       mr_arena_format(an->arena, "%s[%s]", x->text, name));
    }
    if (t->kind != MR_STRUCT) {
        struct mr_buffer b;

        mr_buffer_init(&b, an->arena);
        mr_type_print_sql(t, &b);
        return MR_ANALYZE_FAIL(
            an, place, "INVALID_EXTRACT_BASE_FIELD_TYPE",
            "Can't extract a value from \"%s\". Need a complex type [STRUCT, ARRAY, "
            "MAP] but got \"%.*s\".",
            x->text, (int)b.n, b.data);
    }
    for (uint32_t i = 0; i < t->fields_n; i++)
        if (mr_matches(an, t->fields[i].name, name)) {
            found++;
            args[1] = mr_expr_literal_text(an->arena, mr_text_of(t->fields[i].name));
        }
    if (found == 0)
        return MR_ANALYZE_FAIL(an, place, "FIELD_NOT_FOUND", "No such struct field `%s` in %s.",
                               name, field_list(an, t));
    if (found > 1)
        return MR_ANALYZE_FAIL(
            an, place, "AMBIGUOUS_REFERENCE_TO_FIELDS",
            "Ambiguous reference to the field `%s`. It appears %u times in the schema.", name,
            found);
    return mr_call(an, "get_field", args, 2, place, text);
}

/* How many of list match parts; the first is *hit, and *used parts name it (the others are
 * fields). */
static uint32_t match(const struct mr_analyzer *an, const struct mr_attribute *list, uint32_t n,
                      const char *const *parts, uint32_t parts_n, const struct mr_attribute **hit,
                      uint32_t *used)
{
    uint32_t found = 0;

    for (uint32_t qualified = parts_n >= 2; found == 0; qualified = 0) {
        for (uint32_t i = 0; i < n; i++) {
            if (qualified
                    ? list[i].qualifier == NULL || !mr_matches(an, list[i].qualifier, parts[0]) ||
                          !mr_matches(an, list[i].name, parts[1])
                    : list[i].qualified_only || !mr_matches(an, list[i].name, parts[0]))
                continue;
            if (found > 0 && (*hit)->id == list[i].id)
                continue;
            if (found++ == 0)
                *hit = &list[i];
        }
        *used = qualified ? 2 : 1;
        if (!qualified)
            break;
    }
    return found;
}

static struct mr_expr *ambiguous(struct mr_analyzer *an, const struct mr_scope *s,
                                 const struct mr_ast *x, uint32_t used)
{
    struct mr_buffer b;
    uint32_t n = 0;

    mr_buffer_init(&b, an->arena);
    for (uint32_t i = 0; i < s->attributes_n; i++) {
        const struct mr_attribute *a = &s->attributes[i];
        const char *full[2] = {a->qualifier, a->name};

        if (mr_matches(an, a->name, x->parts[used - 1]) && !a->qualified_only)
            mr_buffer_append_format(&b, "%s%s", n++ ? ", " : "",
                                    a->qualifier ? quoted(an, full, 2) : quoted(an, full + 1, 1));
    }
    return MR_ANALYZE_FAIL(an, x->place, "AMBIGUOUS_REFERENCE",
                           "Reference %s is ambiguous, could be: [%.*s].",
                           quoted(an, x->parts, x->parts_n), (int)b.n, b.data);
}

static struct mr_expr *with_fields(struct mr_analyzer *an, struct mr_expr *e,
                                   const struct mr_ast *x, uint32_t used)
{
    for (; e != NULL && used < x->parts_n; used++)
        e = mr_analyze_field(an, e, x->parts[used], x->place);
    return e;
}

static struct mr_expr *lambda_variable(struct mr_analyzer *an, const struct mr_scope *s,
                                       const struct mr_ast *x)
{
    for (const struct mr_lambda_frame *f = s->lambdas; f != NULL; f = f->next)
        for (uint32_t i = 0; i < f->n; i++)
            if (mr_matches(an, f->names[i], x->parts[0])) {
                struct mr_expr *e = MR_NEW(an->arena, struct mr_expr);

                e->kind = MR_EXPR_VARIABLE;
                e->type = f->types[i];
                e->nullable = true;
                e->index = f->first + i;
                e->place = x->place;
                e->text = mr_arena_format(an->arena, "namedlambdavariable()");
                return with_fields(an, e, x, 1);
            }
    return NULL;
}

/* By the alias of another item of the select list: that item is resolved here once more. */
static struct mr_expr *by_item(struct mr_analyzer *an, const struct mr_scope *s,
                               const struct mr_ast *x, bool *found)
{
    for (uint32_t i = 0; i < s->items_n; i++) {
        const struct mr_ast *item = s->items[i];

        if (item != NULL && item->kind == MR_AST_ALIAS && item->parts_n == 1 &&
            mr_matches(an, item->parts[0], x->parts[0])) {
            struct mr_scope earlier = *s;

            *found = true;
            earlier.items_n = i;
            return with_fields(an, mr_analyze_expr(an, &earlier, item->args[0]), x, 1);
        }
    }
    return NULL;
}

static struct mr_expr *column_of(struct mr_analyzer *an, const struct mr_attribute *a,
                                 const struct mr_ast *x, uint32_t used)
{
    struct mr_expr *e = mr_attribute_expr(an->arena, a);

    e->place = x->place;
    e->text = x->parts[used - 1];
    return with_fields(an, e, x, used);
}

/* A window column made for this very node is found last, by its name: window.start. */
static struct mr_expr *by_window(struct mr_analyzer *an, const struct mr_scope *s,
                                 const struct mr_ast *x)
{
    for (uint32_t i = 0; s->windows != NULL && i < s->windows->n; i++)
        if (mr_matches(an, s->windows->items[i].attribute.name, x->parts[0]))
            return column_of(an, &s->windows->items[i].attribute, x, 1);
    return NULL;
}

static struct mr_expr *by_output(struct mr_analyzer *an, const struct mr_scope *s,
                                 const struct mr_ast *x, bool *found)
{
    const struct mr_attribute *hit = NULL;
    uint32_t used = 0;

    if (s->outputs_n == 0 || (s->aggregation != NULL && s->aggregation->inside) ||
        match(an, s->outputs, s->outputs_n, x->parts, x->parts_n, &hit, &used) == 0)
        return NULL;
    *found = true;
    return with_fields(an, s->output_exprs[hit - s->outputs], x, used);
}

/* Spark's functions that may be written without parentheses. */
static struct mr_expr *by_constant_function(struct mr_analyzer *an, const struct mr_ast *x)
{
    static const char *const bare[] = {"current_date",   "current_timestamp",
                                       "localtimestamp", "current_user",
                                       "user",           "session_user"};

    for (size_t i = 0; x->parts_n == 1 && i < sizeof bare / sizeof *bare; i++)
        if (mr_same_name(bare[i], x->parts[0]) && mr_function_find(bare[i]) != NULL)
            return mr_call(an, bare[i], NULL, 0, x->place,
                           mr_arena_format(an->arena, "%s()", bare[i]));
    return NULL;
}

struct mr_expr *mr_analyze_name(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    const struct mr_attribute *hit = NULL;
    uint32_t used = 0, n;
    bool found = false;
    struct mr_expr *e = lambda_variable(an, s, x);

    if (e != NULL || an->err->status != MR_OK)
        return e;
    for (struct mr_scope *in = s; in != NULL; in = in->outer) {
        e = by_output(an, in, x, &found);
        if (found)
            return e;
        n = match(an, in->attributes, in->attributes_n, x->parts, x->parts_n, &hit, &used);
        if (n > 1)
            return ambiguous(an, in, x, used);
        if (n == 1)
            return column_of(an, hit, x, used);
        e = by_window(an, in, x);
        if (e == NULL && an->err->status == MR_OK)
            e = by_item(an, in, x, &found);
        if (found || e != NULL || an->err->status != MR_OK)
            return e;
    }
    e = by_constant_function(an, x);
    if (e != NULL || an->err->status != MR_OK)
        return e;
    return mr_unresolved_column(an, s, x->parts, x->parts_n, x->place);
}

static bool excepted(const struct mr_analyzer *an, const struct mr_ast *x, const char *name)
{
    for (uint32_t i = 0; i < x->except_n; i++)
        if (x->except[i]->kind == MR_AST_NAME &&
            mr_matches(an, x->except[i]->parts[x->except[i]->parts_n - 1], name))
            return true;
    return false;
}

/* s.*: the fields of a struct column. */
static uint32_t struct_star(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                            struct mr_named **out)
{
    struct mr_ast name = *x;
    struct mr_expr *e;
    uint32_t n = 0;

    name.kind = MR_AST_NAME;
    e = mr_analyze_name(an, s, &name);
    if (e == NULL && strncmp(an->err->condition, "UNRESOLVED_COLUMN", 17) != 0)
        return UINT32_MAX;
    if (e == NULL || e->type->kind != MR_STRUCT) {
        MR_ANALYZE_FAIL(
            an, x->place, "CANNOT_RESOLVE_STAR_EXPAND",
            "Cannot resolve %s.* given input columns: it is neither a relation nor a struct.",
            quoted(an, x->parts, x->parts_n));
        return UINT32_MAX;
    }
    *out = MR_NEW_ARRAY(an->arena, struct mr_named, e->type->fields_n);
    for (uint32_t i = 0; i < e->type->fields_n; i++) {
        const char *field = e->type->fields[i].name;
        struct mr_expr *f =
            excepted(an, x, field) ? NULL : mr_analyze_field(an, e, field, x->place);

        if (f != NULL)
            (*out)[n++] = (struct mr_named){.expr = f, .name = field, .place = x->place};
        else if (an->err->status != MR_OK)
            return UINT32_MAX;
    }
    return n;
}

uint32_t mr_analyze_star(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                         struct mr_named **out)
{
    uint32_t n = 0, hits = 0;

    *out = MR_NEW_ARRAY(an->arena, struct mr_named, s->attributes_n);
    for (uint32_t i = 0; i < s->attributes_n; i++) {
        const struct mr_attribute *a = &s->attributes[i];

        if (x->parts_n == 0
                ? a->qualified_only
                : a->qualifier == NULL || !mr_matches(an, a->qualifier, x->parts[x->parts_n - 1]))
            continue;
        hits++;
        if (!excepted(an, x, a->name))
            (*out)[n++] = (struct mr_named){
                .expr = mr_attribute_expr(an->arena, a), .name = a->name, .place = x->place};
    }
    if (hits == 0 && x->parts_n > 0)
        return struct_star(an, s, x, out);
    for (uint32_t i = 0; i < x->except_n; i++) {
        const struct mr_attribute *hit = NULL;
        uint32_t used;
        const struct mr_ast *e = x->except[i];

        if (match(an, s->attributes, s->attributes_n, e->parts, e->parts_n, &hit, &used) == 0) {
            mr_unresolved_column(an, s, e->parts, e->parts_n, e->place);
            return UINT32_MAX;
        }
    }
    return n;
}
