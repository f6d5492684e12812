#include "core/expr/generator.h"
#include "core/expr/json_find.h"
#include "core/expr/json_tree.h"
#include "core/expr/writer.h"

/* get_json_object, json_tuple, json_array_length, json_object_keys: over a tree of the text. */

enum { STEPS_MAX = 64 };

/* $ then .name, ['name'], [n], [*], .*; false: no path. */
static bool parse_path(struct mr_text p, struct mr_json_step *steps, uint32_t *n)
{
    uint64_t at = 1;

    *n = 0;
    if (p.n == 0 || p.data[0] != '$')
        return false;
    while (at < p.n) {
        struct mr_json_step *s = &steps[*n];
        uint64_t from = at + 1, to;
        if (*n == STEPS_MAX)
            return false;
        if (p.data[at] == '.') {
            for (to = from; to < p.n && p.data[to] != '.' && p.data[to] != '[';)
                to++;
            if (to == from)
                return false;
            s->name = (struct mr_text){p.data + from, to - from};
            s->kind = mr_text_equal(s->name, MR_TEXT("*")) ? MR_JSON_ANY_NAME : MR_JSON_NAME;
            at = to;
        } else if (p.data[at] == '[' && from < p.n && p.data[from] == '\'') {
            for (to = from + 1; to < p.n && p.data[to] != '\'' && p.data[to] != '?';)
                to++;
            if (to + 1 >= p.n || p.data[to] != '\'' || p.data[to + 1] != ']' || to == from + 1)
                return false;
            s->name = (struct mr_text){p.data + from + 1, to - from - 1};
            s->kind = mr_text_equal(s->name, MR_TEXT("*")) ? MR_JSON_ANY_NAME : MR_JSON_NAME;
            at = to + 2;
        } else if (p.data[at] == '[') {
            const char *close = memchr(p.data + from, ']', p.n - from);
            struct mr_text inside = {p.data + from, close ? (uint64_t)(close - p.data) - from : 0};
            s->kind = mr_text_equal(inside, MR_TEXT("*")) ? MR_JSON_ANY_INDEX : MR_JSON_INDEX;
            s->index = 0;
            if (inside.n == 0 || inside.n > 9)
                return false;
            for (uint64_t k = 0; s->kind == MR_JSON_INDEX && k < inside.n; k++) {
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
                 const struct mr_json_step *steps, uint32_t n);

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
                     const struct mr_json_step *steps, uint32_t n, struct mr_arena *a)
{
    uint32_t found = 0;
    struct mr_buffer b;
    struct output inner = {.b = &b, .depth = 1};

    if (style == QUOTED || (n > 0 && steps[0].kind == MR_JSON_ANY_INDEX)) {
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

/* Goes down one level a step, at most STEPS_MAX; .* leads nowhere, as in Spark. True: something was
 * written. */
static bool walk(struct output *o, const struct json_tree *x, enum style style,
                 const struct mr_json_step *steps, uint32_t n)
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
            if (steps[0].kind == MR_JSON_NAME && mr_text_equal(m->name, steps[0].name) &&
                m->kind != JSON_NULL)
                if (walk(o, m, style, steps + 1, n - 1))
                    return true;
        return false;
    }
    if (x->kind != JSON_START_ARRAY)
        return false;
    if (steps[0].kind == MR_JSON_ANY_INDEX)
        return walk_any(o, x, style, steps + 1, n - 1, o->b->arena);
    for (const struct json_tree *m = x->first; m && steps[0].kind == MR_JSON_INDEX; m = m->next)
        if (index++ == steps[0].index)
            return walk(o, m, n > 1 && steps[1].kind == MR_JSON_ANY_INDEX ? QUOTED : style,
                        steps + 1, n - 1);
    return false;
}

/* A path of names and numbers: followed by tokens, so that only what it leads to becomes a tree. */
struct search {
    struct mr_json_trees *trees;
    const struct mr_json_step *steps;
    uint32_t n;
    struct output *o;
    bool found;
};

static bool is_plain(const struct mr_json_step *steps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (steps[i].kind != MR_JSON_NAME && steps[i].kind != MR_JSON_INDEX)
            return false;
    return true;
}

/* The value that has just begun, behind at steps; all of it is read. At most STEPS_MAX deep. False:
 * malformed. */
static bool search_value(struct search *s, uint32_t at)
{
    struct json_reader *r = &s->trees->reader;
    const bool object = r->token == JSON_START_OBJECT;
    uint64_t index = 0;

    if (!s->found && at == s->n) {
        const struct json_tree *x = mr_json_tree_here(s->trees);
        if (x)
            put(s->o, x, RAW);
        s->found = x != NULL;
        return s->found;
    }
    if (s->found || (!object && r->token != JSON_START_ARRAY) ||
        object != (s->steps[at].kind == MR_JSON_NAME))
        return json_reader_skip(r);
    for (;;) {
        enum json_token token = json_reader_next(r);
        bool taken = !object && index++ == s->steps[at].index;
        if (token == JSON_END_OBJECT || token == JSON_END_ARRAY)
            return true;
        if (token == JSON_FIELD_NAME) {
            taken = mr_text_equal(*json_reader_name(r), s->steps[at].name);
            token = json_reader_next(r);
            taken = taken && token != JSON_NULL;
        }
        if (token == JSON_END || token == JSON_ERROR ||
            !(taken ? search_value(s, at + 1) : json_reader_skip(r)))
            return false;
    }
}

static bool search_text(struct search *s, struct mr_text text, struct mr_arena *a)
{
    enum json_token token = mr_json_trees_begin(s->trees, text, a);

    return token != JSON_END && token != JSON_ERROR && search_value(s, 0) && s->found;
}

static bool walk_text(struct mr_json_trees *trees, struct output *o, struct mr_text text,
                      const struct mr_json_step *steps, uint32_t n, struct mr_arena *a)
{
    const struct json_tree *x = mr_json_tree_read(trees, text, a);

    return x && walk(o, x, RAW, steps, n);
}

/* A column's text with a line end and room to read behind it. */
static const uint8_t *padded(struct mr_buffer *copy, struct mr_text text)
{
    uint8_t *to = mr_buffer_reserve(copy, text.n + MR_COPY_SLACK + MR_PAD_BYTES);

    mr_copy_blocks(to, text.data, text.n);
    to[text.n] = '\n';
    return to;
}

/* By a plain path of at least one step. False: nothing. */
static bool find_text(struct search *s, struct mr_text text, struct mr_buffer *copy,
                      struct mr_text *value, struct mr_arena *a)
{
    switch (mr_json_find(padded(copy, text), s->steps, s->n, value)) {
    case MR_JSON_NOTHING:
        return false;
    case MR_JSON_HERE:
        return true;
    default:
        s->found = search_text(s, text, a);
        *value = mr_buffer_text(s->o->b);
        return s->found;
    }
}

MR_BODY(get_json_object)
{
    struct mr_json_step steps[STEPS_MAX];
    struct mr_json_trees trees;
    struct mr_text_writer w;
    struct mr_buffer b, copy;
    uint32_t n = 0;
    bool valid = false;

    mr_json_trees_init(&trees, call->arena);
    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    mr_buffer_init(&b, call->arena);
    mr_buffer_init(&copy, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const struct mr_text t = mr_column_text(&args[0], row);
        struct output o = {.b = &b};
        struct mr_text value;
        bool found = false;
        if (i == 0 || !mr_call_is_literal(call, 1))
            valid = parse_path(mr_column_text(&args[1], row), steps, &n);
        struct search s = {&trees, steps, n, &o, false};
        b.n = 0;
        if (valid && n > 0 && is_plain(steps, n)) {
            found = find_text(&s, t, &copy, &value, call->arena);
        } else if (valid) {
            found = walk_text(&trees, &o, t, steps, n, call->arena);
            value = mr_buffer_text(&b);
        }
        if (found)
            mr_text_writer_copy(&w, row, value);
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

/* Members of the text that is read, by column of the result. */
struct members {
    struct mr_json_trees trees;
    struct mr_buffer copy;
    uint32_t n;
    struct mr_text *names;  /* data NULL: null */
    struct mr_text *values; /* data NULL: not there */
    struct mr_buffer *written;
};

/* A text bare, others as JSON. */
static struct mr_text write_bare(const struct json_tree *x, struct mr_buffer *b)
{
    b->n = 0;
    if (x->kind == JSON_STRING)
        mr_buffer_append_text(b, x->text);
    else
        mr_json_tree_write(x, b);
    return mr_buffer_text(b);
}

/* The value of the member called name goes to each column that asks for it: the last one that is
 * not null counts. False: malformed. */
static bool take_member(struct members *m, struct mr_text name)
{
    const struct json_tree *x = NULL;

    for (uint32_t c = 0; c < m->n && m->trees.reader.token != JSON_NULL; c++) {
        if (m->names[c].data == NULL || !mr_text_equal(m->names[c], name))
            continue;
        if (x == NULL && (x = mr_json_tree_here(&m->trees)) == NULL)
            return false;
        m->values[c] = write_bare(x, &m->written[c]);
    }
    return x || json_reader_skip(&m->trees.reader);
}

/* False: no object, or malformed. */
static bool take_members(struct members *m, struct mr_text text, struct mr_arena *a)
{
    const enum mr_json_found found =
        mr_json_find_members(padded(&m->copy, text), m->names, m->n, m->values);

    if (found == MR_JSON_HERE)
        return true;
    memset(m->values, 0, m->n * sizeof *m->values);
    if (mr_json_trees_begin(&m->trees, text, a) != JSON_START_OBJECT)
        return false;
    for (;;) {
        enum json_token token = json_reader_next(&m->trees.reader);
        if (token != JSON_FIELD_NAME)
            return token == JSON_END_OBJECT;
        struct mr_text name = *json_reader_name(&m->trees.reader);
        token = json_reader_next(&m->trees.reader);
        if (token == JSON_END || token == JSON_ERROR || !take_member(m, name))
            return false;
    }
}

static void init_members(struct members *m, uint32_t n, struct mr_arena *a)
{
    *m = (struct members){.n = n,
                          .names = MR_NEW_ARRAY(a, struct mr_text, n + 1),
                          .values = MR_NEW_ARRAY(a, struct mr_text, n + 1),
                          .written = MR_NEW_ARRAY(a, struct mr_buffer, n + 1)};
    mr_json_trees_init(&m->trees, a);
    mr_buffer_init(&m->copy, a);
    for (uint32_t c = 0; c < n; c++)
        mr_buffer_init(&m->written[c], a);
}

MR_GENERATE(json_tuple)
{
    uint32_t n = call->expr->type->fields_n;
    uint32_t *counts = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *counts);
    struct mr_builder *builders = MR_NEW_ARRAY(call->arena, struct mr_builder, n + 1);
    struct members m;

    for (uint32_t i = 0; i < call->n; i++)
        counts[i] = 1;
    mr_generated_begin(call, counts, out);
    init_members(&m, n, call->arena);
    for (uint32_t c = 0; c < n; c++)
        mr_builder_init(&builders[c], &mr_type_string, call->n, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        for (uint32_t c = 0; c < n; c++)
            m.names[c] = mr_column_is_null(&args[c + 1], row) ? (struct mr_text){0}
                                                              : mr_column_text(&args[c + 1], row);
        bool good = !mr_column_is_null(&args[0], row) &&
                    take_members(&m, mr_column_text(&args[0], row), call->arena);
        for (uint32_t c = 0; c < n; c++) {
            if (good && m.values[c].data)
                mr_builder_append_text(&builders[c], m.values[c]);
            else
                mr_builder_append_null(&builders[c]);
        }
    }
    for (uint32_t c = 0; c < n; c++)
        mr_builder_finish(&builders[c], &out->columns[c]);
    return MR_OK;
}
