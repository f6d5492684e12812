/* analyze_stream.c - watermarks and deduplication. */
#include "core/plan/analyzer.h"

#include "core/base/time.h"
#include "core/format/value.h"

static bool delay_us(struct mr_analyzer *an, const struct mr_relation *r, int64_t *us)
{
    struct mr_calendar_interval interval;
    __int128 total;

    if (!mr_value_parse_interval(mr_text_of(r->delay), &interval)) {
        MR_ANALYZE_FAIL(
            an, r->place, "CANNOT_PARSE_INTERVAL",
            "Unable to parse '%s' as a watermark delay: it is an interval, as in '10 minutes'.",
            r->delay);
        return false;
    }
    total = ((__int128)interval.months * 31 + interval.days) * MR_US_PER_DAY + interval.us;
    if (total > INT64_MAX / 2) {
        MR_ANALYZE_FAIL(an, r->place, "IllegalArgumentException",
                        "requirement failed: delay threshold (%s) is longer than 146000 years.",
                        r->delay);
        return false;
    }
    if (total < 0) {
        MR_ANALYZE_FAIL(an, r->place, "IllegalArgumentException",
                        "requirement failed: delay threshold (%s) should not be negative.",
                        r->delay);
        return false;
    }
    *us = (int64_t)total;
    return true;
}

static bool is_event_time_type(const struct mr_type *t)
{
    if (t->kind == MR_STRUCT)
        for (uint32_t i = 0; i < t->fields_n; i++)
            if (strcmp(t->fields[i].name, "end") == 0)
                return t->fields[i].type->kind == MR_TIMESTAMP;
    return t->kind == MR_TIMESTAMP;
}

static struct mr_logical *add_column(struct mr_analyzer *an, struct mr_logical *child,
                                     struct mr_expr *x, const char *name)
{
    struct mr_logical *node = mr_logical_narrow(an->arena, child, child->output, child->output_n);
    struct mr_named named = {.expr = x, .name = name, .aliased = true};
    struct mr_attribute a = mr_attribute_of(an, &named, child->output, child->output_n);
    struct mr_expr **exprs;

    node->output = mr_attributes_copy(an->arena, node->output, node->output_n, 1);
    node->output[node->output_n++] = a;
    exprs = MR_NEW_ARRAY(an->arena, struct mr_expr *, node->output_n);
    mr_copy_items(exprs, node->exprs, node->exprs_n * sizeof *exprs);
    exprs[node->exprs_n++] = x;
    node->exprs = exprs;
    return node;
}

struct mr_logical *mr_analyze_watermark(struct mr_analyzer *an, const struct mr_relation *r,
                                        struct mr_scope *outer)
{
    struct mr_logical *node, *child = mr_analyze(an, r->input, outer);
    const struct mr_ast *what = r->watermark;
    struct mr_scope scope = {.clause = MR_IN_SELECT};
    struct mr_expr *x;
    int64_t delay;

    if (child == NULL)
        return NULL;
    scope.attributes = child->output;
    scope.attributes_n = child->output_n;
    x = mr_analyze_expr(an, &scope, mr_without_alias(what));
    if (x == NULL || !delay_us(an, r, &delay))
        return NULL;
    if (what->kind == MR_AST_ALIAS) {
        child = add_column(an, child, x, what->parts[0]);
        x = mr_attribute_expr(an->arena, &child->output[child->output_n - 1]);
    }
    if (x->kind != MR_EXPR_COLUMN)
        return MR_ANALYZE_FAIL(an, what->place, "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN",
                               "The event time `%s` must be a top-level column.", x->text);
    if (!is_event_time_type(x->type)) {
        struct mr_buffer type;

        mr_buffer_init(&type, an->arena);
        mr_type_print_sql(x->type, &type);
        return MR_ANALYZE_FAIL(an, what->place, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE",
                               "The event time `%s` has the invalid type \"%.*s\", but expected "
                               "\"TIMESTAMP\".",
                               x->text, (int)type.n, type.data);
    }
    node = mr_logical_unary(an->arena, MR_LOGICAL_WATERMARK, child, r->place);
    node->delay_us = delay;
    node->keys = MR_NEW_ARRAY(an->arena, uint32_t, 1);
    node->keys[0] = x->index;
    node->keys_n = 1;
    node->output = mr_attributes_copy(an->arena, child->output, child->output_n, 0);
    for (uint32_t i = 0; i < node->output_n; i++) {
        node->output[i].event_time = node->output[i].id == x->index;
        node->output[i].delay_us = delay;
    }
    return node;
}

static void *unknown_key(struct mr_analyzer *an, const struct mr_logical *child, const char *key,
                         struct mr_place place)
{
    const char **names = MR_NEW_ARRAY(an->arena, const char *, child->output_n);
    const char *near;
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    for (uint32_t i = 0; i < child->output_n; i++) {
        names[i] = child->output[i].name;
        mr_buffer_append_format(&b, "%s%s", i ? ", " : "", names[i]);
    }
    near = mr_error_nearest(key, names, child->output_n);
    return MR_ANALYZE_FAIL(an, place, "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES",
                           "Cannot resolve column name \"%s\" among (%.*s).%s%s%s", key, (int)b.n,
                           b.data, near ? " Did you mean \"" : "", near ? near : "",
                           near ? "\"?" : "");
}

struct mr_logical *mr_analyze_deduplicate(struct mr_analyzer *an, const struct mr_relation *r,
                                          struct mr_scope *outer)
{
    struct mr_logical *node, *child = mr_analyze(an, r->input, outer);

    if (child == NULL)
        return NULL;
    node = mr_logical_unary(an->arena, MR_LOGICAL_DEDUPLICATE, child, r->place);
    node->within = r->within_watermark;
    node->keys = MR_NEW_ARRAY(an->arena, uint32_t, r->columns_n + child->output_n);
    for (uint32_t k = 0; k < r->columns_n; k++) {
        uint32_t before = node->keys_n;

        for (uint32_t i = 0; i < child->output_n; i++)
            if (mr_matches(an, child->output[i].name, r->columns[k]))
                node->keys[node->keys_n++] = child->output[i].id;
        if (node->keys_n == before)
            return unknown_key(an, child, r->columns[k], r->place);
    }
    for (uint32_t i = 0; r->columns_n == 0 && i < child->output_n; i++)
        node->keys[node->keys_n++] = child->output[i].id;
    for (uint32_t k = 0; k < node->keys_n; k++)
        if (!mr_analyze_no_map(an, mr_attribute_find(child->output, child->output_n, node->keys[k]),
                               1, r->place))
            return NULL;
    return node;
}
