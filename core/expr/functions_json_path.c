#include "core/expr/generator.h"
#include "core/expr/json_tree.h"
#include "core/expr/writer.h"

/* get_json_object, json_tuple, json_array_length, json_object_keys: over a tree of the text. */

enum step_kind { STEP_NAME, STEP_INDEX, STEP_ANY_INDEX, STEP_ANY_NAME };
struct step {
    enum step_kind kind;
    struct mr_text name;
    uint64_t index;
};
enum { STEPS_MAX = 64 };

/* $ then .name, ['name'], [n], [*], .*; false: no path. */
static bool parse_path(struct mr_text p, struct step *steps, uint32_t *n)
{
    uint64_t at = 1;

    *n = 0;
    if (p.n == 0 || p.data[0] != '$')
        return false;
    while (at < p.n) {
        struct step *s = &steps[*n];
        uint64_t from = at + 1, to;
        if (*n == STEPS_MAX)
            return false;
        if (p.data[at] == '.') {
            for (to = from; to < p.n && p.data[to] != '.' && p.data[to] != '[';)
                to++;
            if (to == from)
                return false;
            s->name = (struct mr_text){p.data + from, to - from};
            s->kind = mr_text_equal(s->name, MR_TEXT("*")) ? STEP_ANY_NAME : STEP_NAME;
            at = to;
        } else if (p.data[at] == '[' && from < p.n && p.data[from] == '\'') {
            for (to = from + 1; to < p.n && p.data[to] != '\'' && p.data[to] != '?';)
                to++;
            if (to + 1 >= p.n || p.data[to] != '\'' || p.data[to + 1] != ']' || to == from + 1)
                return false;
            s->name = (struct mr_text){p.data + from + 1, to - from - 1};
            s->kind = mr_text_equal(s->name, MR_TEXT("*")) ? STEP_ANY_NAME : STEP_NAME;
            at = to + 2;
        } else if (p.data[at] == '[') {
            const char *close = memchr(p.data + from, ']', p.n - from);
            struct mr_text inside = {p.data + from, close ? (uint64_t)(close - p.data) - from : 0};
            s->kind = mr_text_equal(inside, MR_TEXT("*")) ? STEP_ANY_INDEX : STEP_INDEX;
            s->index = 0;
            if (inside.n == 0 || inside.n > 9)
                return false;
            for (uint64_t k = 0; s->kind == STEP_INDEX && k < inside.n; k++) {
                if (inside.data[k] < '0' || inside.data[k] > '9')
                    return false;
                s->index = s->index * 10 + (uint64_t)(inside.data[k] - '0');
            }
            at = from + inside.n + 1;
        } else {
            return false;
        }
        (*n)++;
    }
    return true;
}

/* How a value found is written: a text bare, or as JSON; FLAT also opens arrays. */
enum style { RAW, QUOTED, FLAT };

struct output {
    struct mr_buffer *b;
    uint32_t depth; /* of arrays that are being written */
    bool comma;     /* something stands before */
};

static void put(struct output *o, const struct json_tree *x, enum style style)
{
    if (o->depth > 0 && o->comma)
        mr_buffer_append_text(o->b, MR_TEXT(","));
    if (x->kind == JSON_STRING && style == RAW)
        mr_buffer_append_text(o->b, x->text);
    else
        mr_json_tree_write(x, o->b);
    o->comma = true;
}

static bool walk(struct output *o, const struct json_tree *x, enum style style,
                 const struct step *steps, uint32_t n);

static void open_array(struct output *o)
{
    if (o->depth > 0 && o->comma)
        mr_buffer_append_text(o->b, MR_TEXT(","));
    mr_buffer_append_text(o->b, MR_TEXT("["));
    o->depth++;
    o->comma = false;
}

static void close_array(struct output *o)
{
    mr_buffer_append_text(o->b, MR_TEXT("]"));
    o->depth--;
    o->comma = true;
}

/* [*]: one match stands for itself, more are an array. */
static bool walk_any(struct output *o, const struct json_tree *x, enum style style,
                     const struct step *steps, uint32_t n, struct mr_arena *a)
{
    uint32_t found = 0;
    struct mr_buffer b;
    struct output inner = {.b = &b, .depth = 1};

    if (style == QUOTED || (n > 0 && steps[0].kind == STEP_ANY_INDEX)) {
        bool any = false, flat = style != QUOTED;
        open_array(o);
        for (const struct json_tree *m = x->first; m; m = m->next)
            any |= walk(o, m, flat ? FLAT : QUOTED, steps + flat, n - flat);
        close_array(o);
        return any;
    }
    mr_buffer_init(&b, a);
    for (const struct json_tree *m = x->first; m; m = m->next)
        found += walk(&inner, m, style == RAW ? QUOTED : FLAT, steps, n);
    if (found == 0)
        return false;
    if (found > 1) {
        open_array(o);
        mr_buffer_append_text(o->b, mr_buffer_text(&b));
        close_array(o);
    } else {
        if (o->depth > 0 && o->comma)
            mr_buffer_append_text(o->b, MR_TEXT(","));
        mr_buffer_append_text(o->b, mr_buffer_text(&b));
        o->comma = true;
    }
    return true;
}

/* Goes down one level a step: at most STEPS_MAX deep. True: something was written. */
static bool walk(struct output *o, const struct json_tree *x, enum style style,
                 const struct step *steps, uint32_t n)
{
    uint64_t index = 0;

    if (n == 0) {
        bool any = false;
        if (x->kind != JSON_START_ARRAY || style != FLAT) {
            put(o, x, style);
            return true;
        }
        for (const struct json_tree *m = x->first; m; m = m->next)
            any |= walk(o, m, m->kind == JSON_START_ARRAY ? QUOTED : FLAT, steps, 0);
        return any;
    }
    if (x->kind == JSON_START_OBJECT) {
        for (const struct json_tree *m = x->first; m; m = m->next)
            if (steps[0].kind == STEP_ANY_NAME ||
                (steps[0].kind == STEP_NAME && mr_text_equal(m->name, steps[0].name) &&
                 m->kind != JSON_NULL))
                if (walk(o, m, style, steps + 1, n - 1))
                    return true;
        return false;
    }
    if (x->kind != JSON_START_ARRAY)
        return false;
    if (steps[0].kind == STEP_ANY_INDEX)
        return walk_any(o, x, style, steps + 1, n - 1, o->b->arena);
    for (const struct json_tree *m = x->first; m && steps[0].kind == STEP_INDEX; m = m->next)
        if (index++ == steps[0].index)
            return walk(o, m, n > 1 && steps[1].kind == STEP_ANY_INDEX ? QUOTED : style, steps + 1,
                        n - 1);
    return false;
}

MR_BODY(get_json_object)
{
    struct step steps[STEPS_MAX];
    struct mr_json_trees trees;
    struct mr_text_writer w;
    struct mr_buffer b;
    uint32_t n = 0;

    mr_json_trees_init(&trees, call->arena);
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct output o = {.b = &b};
        bool valid = parse_path(mr_column_text(&args[1], row), steps, &n);
        struct json_tree *x =
            valid ? mr_json_tree_read(&trees, mr_column_text(&args[0], row), call->arena) : NULL;
        b.n = 0;
        if (x && walk(&o, x, RAW, steps, n))
            mr_text_writer_copy(&w, row, mr_buffer_text(&b));
        else
            mr_text_writer_null(&w, row, call->rows);
    }
    return MR_OK;
}

MR_BODY(json_array_length)
{
    struct mr_json_trees trees;

    mr_json_trees_init(&trees, call->arena);
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct json_tree *x = mr_json_tree_read(&trees, mr_column_text(&args[0], row), call->arena);
        out->i32[row] = 0;
        if (x == NULL || x->kind != JSON_START_ARRAY) {
            mr_column_put_null(out, row, call->rows, call->arena);
            continue;
        }
        for (const struct json_tree *m = x->first; m; m = m->next)
            out->i32[row]++;
    }
    return MR_OK;
}

MR_RESOLVE(json_object_keys)
{
    call->type = mr_type_array(r->arena, &mr_type_string, true);
    call->nullable = true;
    return mr_coerce_argument(r, call, 0, &mr_type_string, NULL);
}

MR_BODY(json_object_keys)
{
    struct mr_json_trees trees;
    struct mr_list_writer w;

    mr_json_trees_init(&trees, call->arena);
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct json_tree *x = mr_json_tree_read(&trees, mr_column_text(&args[0], row), call->arena);
        if (x == NULL || x->kind != JSON_START_OBJECT) {
            mr_list_writer_null(&w, row);
            continue;
        }
        for (const struct json_tree *m = x->first; m; m = m->next)
            mr_builder_append_text(&w.children[0], m->name);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* json_tuple(text, name, ..): columns c0, c1, .. of texts. */
MR_RESOLVE(json_tuple)
{
    uint32_t n = call->args_n - 1;
    struct mr_field *fields = MR_NEW_ARRAY(r->arena, struct mr_field, n + 1);

    for (uint32_t i = 0; i < call->args_n; i++) {
        if (call->args[i]->type->kind != MR_STRING && call->args[i]->type->kind != MR_VOID)
            return mr_mismatch(r, call, "NON_STRING_TYPE",
                               "all arguments of the function `json_tuple` must be strings.");
        call->args[i] = mr_coerce(r, call->args[i], &mr_type_string);
    }
    for (uint32_t i = 0; i < n; i++)
        fields[i] = (struct mr_field){mr_arena_format(r->arena, "c%u", i), &mr_type_string, true};
    call->type = mr_type_struct(r->arena, fields, n);
    return MR_OK;
}

/* The last member of that name that is not null; nested ones as JSON. */
static void put_member(struct mr_builder *to, const struct json_tree *x, struct mr_text name,
                       struct mr_buffer *b)
{
    const struct json_tree *found = NULL;

    for (const struct json_tree *m = x ? x->first : NULL; m; m = m->next)
        if (mr_text_equal(m->name, name) && m->kind != JSON_NULL)
            found = m;
    if (found == NULL) {
        mr_builder_append_null(to);
        return;
    }
    b->n = 0;
    if (found->kind == JSON_STRING)
        mr_buffer_append_text(b, found->text);
    else
        mr_json_tree_write(found, b);
    mr_builder_append_text(to, mr_buffer_text(b));
}

MR_GENERATE(json_tuple)
{
    uint32_t n = call->expr->type->fields_n;
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts);
    struct mr_builder *builders = MR_NEW_ARRAY(call->arena, struct mr_builder, n + 1);
    struct mr_json_trees trees;
    struct mr_buffer b;

    for (uint32_t i = 0; i < call->n; i++)
        counts[i] = 1;
    mr_generated_begin(call, counts, out);
    mr_json_trees_init(&trees, call->arena);
    mr_buffer_init(&b, call->arena);
    for (uint32_t c = 0; c < n; c++)
        mr_builder_init(&builders[c], &mr_type_string, call->n, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct json_tree *x = NULL;
        if (!mr_column_is_null(&args[0], row))
            x = mr_json_tree_read(&trees, mr_column_text(&args[0], row), call->arena);
        if (x && x->kind != JSON_START_OBJECT)
            x = NULL;
        for (uint32_t c = 0; c < n; c++) {
            if (mr_column_is_null(&args[c + 1], row))
                mr_builder_append_null(&builders[c]);
            else
                put_member(&builders[c], x, mr_column_text(&args[c + 1], row), &b);
        }
    }
    for (uint32_t c = 0; c < n; c++)
        mr_builder_finish(&builders[c], &out->columns[c]);
    return MR_OK;
}
