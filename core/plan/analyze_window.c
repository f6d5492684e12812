/* analyze_window.c - window(..), session_window(..) and window_time(..): columns of nodes below. */
#include "core/plan/analyzer.h"

#include "core/expr/window.h"

bool mr_is_time_window(const char *name)
{
    return mr_same_name(name, "window") || mr_same_name(name, "session_window") ||
           mr_same_name(name, "window_time");
}

/* Wrong arguments are told later: when a name fails first, Spark tells of the name. */
static struct mr_expr *bad_window(struct mr_analyzer *an, struct mr_scope *s, struct mr_place place)
{
    static const char mismatch[] = "DATATYPE_MISMATCH.";

    if (strncmp(an->err->condition, mismatch, sizeof mismatch - 1) != 0)
        return NULL;
    (void)mr_analyze_fail_at(an, place);
    if (s->windows->bad.status == MR_OK)
        s->windows->bad = *an->err;
    *an->err = (struct mr_error){0};
    return mr_expr_literal_null(an->arena, mr_window_type(an->arena, &mr_type_timestamp));
}

/* Event time goes from a column to its window; of any other expression it is lost. */
static const struct mr_attribute *source_attribute(struct mr_scope *s, const struct mr_expr *x)
{
    const struct mr_attribute *a;

    if (x->kind != MR_EXPR_COLUMN)
        return NULL;
    a = mr_attribute_find(s->attributes, s->attributes_n, x->index);
    for (uint32_t i = 0; a == NULL && i < s->windows->n; i++)
        if (s->windows->items[i].attribute.id == x->index)
            a = &s->windows->items[i].attribute;
    return a;
}

static struct mr_expr *add_window(struct mr_analyzer *an, struct mr_scope *s, struct mr_expr *call,
                                  struct mr_expr *source, struct mr_attribute attribute)
{
    struct mr_time_windows *all = s->windows;
    const struct mr_attribute *from = source_attribute(s, source);
    struct mr_time_window w = {.call = call, .attribute = attribute};
    struct mr_expr *e;

    for (uint32_t i = 0; i < all->n; i++)
        if (mr_expr_equal(all->items[i].call, call))
            return mr_attribute_expr(an->arena, &all->items[i].attribute);
    for (uint32_t i = 0; i < all->n; i++)
        w.nested |= mr_expr_refers(source, all->items[i].attribute.id);
    if (from != NULL) {
        w.attribute.event_time = from->event_time;
        w.attribute.delay_us = from->delay_us;
    }
    all->items = mr_grow(an->arena, all->items, all->n, &all->capacity, sizeof *all->items);
    all->items[all->n++] = w;
    e = mr_attribute_expr(an->arena, &w.attribute);
    e->place = call->place;
    return e;
}

static bool is_duration(const struct mr_ast *x)
{
    return x->kind == MR_AST_LITERAL && !mr_column_is_null(x->literal, 0) &&
           (x->literal->type->kind == MR_STRING || x->literal->type->kind == MR_INT ||
            x->literal->type->kind == MR_BIGINT);
}

struct mr_expr *mr_analyze_time_window(struct mr_analyzer *an, struct mr_scope *s,
                                       const struct mr_ast *x)
{
    bool session = mr_same_name(x->name, "session_window");
    bool is_time = mr_same_name(x->name, "window_time");
    const char *name = is_time ? "window_time" : session ? "session_window" : "window";
    struct mr_attribute attribute;
    struct mr_expr **args, *source, *call;
    uint32_t n = mr_analyze_arguments(an, s, x, &args);

    if (n == UINT32_MAX)
        return NULL;
    for (uint32_t i = 1; i < n && i < 4 && !session; i++)
        if (!is_duration(x->args[i]))
            return MR_ANALYZE_FAIL(an, x->place, "_LEGACY_ERROR_TEMP_1207",
                                   "The duration and time inputs to window must be an integer, "
                                   "long or string literal.");
    source = n > 0 ? args[0] : NULL;
    call = mr_call(an, name, args, n, x->place, mr_call_text(an, x, args, n));
    if (call == NULL)
        return is_time || s->windows == NULL ? NULL : bad_window(an, s, x->place);
    if (s->windows == NULL)
        return is_time
                   ? call
                   : MR_ANALYZE_FAIL(an, x->place, "UNSUPPORTED_EXPR_FOR_OPERATOR",
                                     "%s(..) is not allowed here: use it in SELECT or GROUP BY.",
                                     name);
    attribute =
        mr_attribute_new(an, is_time ? call->text : name, call->type, is_time && call->nullable);
    attribute.window = !is_time;
    attribute.session = session;
    return add_window(an, s, call, source, attribute);
}

static struct mr_expr *slice_call(struct mr_analyzer *an, const struct mr_expr *window,
                                  uint32_t number)
{
    const struct mr_window *w = window->data;
    int64_t values[4] = {w->size_us, w->slide_us, w->offset_us, number};
    struct mr_expr **args = MR_NEW_ARRAY(an->arena, struct mr_expr *, 5);

    args[0] = window->args[0];
    for (uint32_t i = 0; i < 4; i++)
        args[1 + i] = mr_expr_literal_i64(an->arena, &mr_type_bigint, values[i]);
    return mr_call(an, "window_slice", args, 5, window->place, window->text);
}

/* The child's columns behind a new one, as Spark has it, in a row for each window. */
static struct mr_logical *with_column(struct mr_analyzer *an, struct mr_logical *child,
                                      const struct mr_time_window *w, uint32_t rows_n)
{
    enum mr_logical_kind kind = rows_n > 1 ? MR_LOGICAL_EXPAND : MR_LOGICAL_PROJECT;
    struct mr_logical *node = mr_logical_unary(an->arena, kind, child, child->place);
    uint32_t n = child->output_n + 1;

    node->output = MR_NEW_ARRAY(an->arena, struct mr_attribute, n);
    node->output[0] = w->attribute;
    mr_copy_items(node->output + 1, child->output, child->output_n * sizeof *child->output);
    node->output_n = n;
    node->rows_n = rows_n;
    node->exprs_n = n * rows_n;
    node->exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, node->exprs_n);
    for (uint32_t row = 0; row < rows_n; row++) {
        node->exprs[row * n] = rows_n > 1 ? slice_call(an, w->call, row) : w->call;
        if (node->exprs[row * n] == NULL)
            return NULL;
        for (uint32_t i = 1; i < n; i++)
            node->exprs[row * n + i] = mr_attribute_expr(an->arena, &node->output[i]);
    }
    return node;
}

static struct mr_logical *not_null(struct mr_analyzer *an, struct mr_logical *child,
                                   struct mr_expr *x)
{
    struct mr_expr *args[1] = {x};
    const char *text = mr_arena_format(an->arena, "(%s IS NOT NULL)", x->text);
    struct mr_expr *call;

    if (child == NULL)
        return NULL;
    call = mr_call(an, "isnotnull", args, 1, x->place, text);
    return call != NULL ? mr_filter_new(an, child, call, x->place) : NULL;
}

static struct mr_logical *place_window(struct mr_analyzer *an, const struct mr_time_window *w,
                                       struct mr_logical *child)
{
    const struct mr_window *window = w->call->data;

    if (!w->attribute.window)
        return with_column(an, child, w, 1);
    if (w->call->args[0]->nullable)
        child = not_null(an, child, w->call->args[0]);
    if (child == NULL || w->attribute.session || window->windows_n == 1)
        return child != NULL ? with_column(an, child, w, 1) : NULL;
    child = with_column(an, child, w, window->windows_n);
    /* the earliest of the windows may end too early to hold the time */
    if (window->size_us % window->slide_us != 0)
        child = not_null(an, child, mr_attribute_expr(an->arena, &w->attribute));
    return child;
}

struct mr_logical *mr_time_windows_place(struct mr_analyzer *an, struct mr_time_windows *w,
                                         struct mr_logical *child, struct mr_place place)
{
    uint32_t windows = 0;

    if (w->bad.status != MR_OK) {
        *an->err = w->bad;
        return NULL;
    }
    for (uint32_t i = 0; i < w->n; i++)
        windows += w->items[i].attribute.window && !w->items[i].nested;
    if (windows > 1)
        return MR_ANALYZE_FAIL(
            an, place, "_LEGACY_ERROR_TEMP_1039",
            "Multiple time/session window expressions would result in a cartesian "
            "product of rows, therefore they are currently not supported.");
    for (uint32_t i = 0; i < w->n && child != NULL; i++)
        child = place_window(an, &w->items[i], child);
    return child;
}
