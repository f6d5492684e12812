#include "core/expr/json_tree.h"

#include "core/format/json/json.h"
#include "core/format/value.h"
#include <math.h>

enum { CHUNK_NODES = 32 };

struct json_tree_chunk {
    struct json_tree_chunk *next;
    struct json_tree nodes[CHUNK_NODES];
};

void mr_json_trees_init(struct mr_json_trees *t, struct mr_arena *keep)
{
    *t = (struct mr_json_trees){.keep = keep};
    t->first = t->current = mr_arena_alloc(keep, sizeof *t->first);
    t->first->next = NULL;
    /* as SharedFactory of Spark's JSON expressions: single quotes are taken, nothing else
     * unusual */
    t->options = (struct json_options){.single_quotes = true, .non_numeric = false};
    json_reader_init(&t->reader, &t->options, keep);
}

/* Memory is that of the text before, so that a batch of large texts does not take as many trees. */
static struct json_tree *new_node(struct mr_json_trees *t)
{
    if (t->used == CHUNK_NODES) {
        if (t->current->next == NULL) {
            t->current->next = mr_arena_alloc(t->keep, sizeof *t->current);
            t->current->next->next = NULL;
        }
        t->current = t->current->next;
        t->used = 0;
    }
    struct json_tree *x = &t->current->nodes[t->used++];
    *x = (struct json_tree){0};
    return x;
}

static bool fill(struct mr_json_trees *t, struct json_tree *x)
{
    const struct json_reader *r = &t->reader;

    x->kind = r->token;
    if (r->token == JSON_STRING && !json_reader_finish(&t->reader))
        return false;
    if (r->token == JSON_STRING || r->token == JSON_INTEGER || r->token == JSON_FLOAT)
        x->text = r->text;
    return true;
}

static void append(struct json_tree *parent, struct json_tree *x)
{
    if (parent->last)
        parent->last->next = x;
    else
        parent->first = x;
    parent->last = x;
}

struct json_tree *mr_json_tree_here(struct mr_json_trees *t)
{
    struct json_tree *open[MR_JSON_TREE_DEPTH + 1], *x;
    struct mr_text name = {0};
    uint32_t depth = 0;

    t->current = t->first;
    t->used = 0;
    for (enum json_token token = t->reader.token;; token = json_reader_next(&t->reader)) {
        if (token == JSON_END || token == JSON_ERROR)
            return NULL;
        if (token == JSON_FIELD_NAME) {
            name = *json_reader_name(&t->reader);
            continue;
        }
        if (token == JSON_END_OBJECT || token == JSON_END_ARRAY) {
            if (--depth == 0)
                return open[0];
            continue;
        }
        x = new_node(t);
        x->name = name;
        if (!fill(t, x))
            return NULL;
        if (depth > 0)
            append(open[depth - 1], x);
        if (token == JSON_START_OBJECT || token == JSON_START_ARRAY) {
            if (depth == MR_JSON_TREE_DEPTH)
                return NULL;
            open[depth++] = x;
        } else if (depth == 0) {
            return x;
        }
    }
}

enum json_token mr_json_trees_begin(struct mr_json_trees *t, struct mr_text text,
                                    struct mr_arena *a)
{
    json_reader_begin(&t->reader, (const uint8_t *)text.data, (const uint8_t *)text.data + text.n,
                      a);
    return json_reader_next(&t->reader);
}

struct json_tree *mr_json_tree_read(struct mr_json_trees *t, struct mr_text text,
                                    struct mr_arena *a)
{
    return mr_json_trees_begin(t, text, a) == JSON_ERROR ? NULL : mr_json_tree_here(t);
}

static void write_number(const struct json_tree *x, struct mr_buffer *out)
{
    double v;
    bool quoted;

    if (x->kind == JSON_INTEGER || !mr_value_parse_double(x->text, &v)) {
        mr_buffer_append_text(out, x->text);
        return;
    }
    quoted = !isfinite(v); /* too large for a double */
    mr_buffer_append(out, "\"", quoted);
    out->n += mr_value_print_double(v, (char *)mr_buffer_reserve(out, MR_VALUE_TEXT));
    mr_buffer_append(out, "\"", quoted);
}

static void write_members(const struct json_tree *x, struct mr_buffer *out)
{
    bool object = x->kind == JSON_START_OBJECT;

    mr_buffer_append_text(out, object ? MR_TEXT("{") : MR_TEXT("["));
    for (const struct json_tree *m = x->first; m; m = m->next) {
        if (m != x->first)
            mr_buffer_append_text(out, MR_TEXT(","));
        if (object) {
            mr_json_write_text(m->name, out);
            mr_buffer_append_text(out, MR_TEXT(":"));
        }
        mr_json_tree_write(m, out);
    }
    mr_buffer_append_text(out, object ? MR_TEXT("}") : MR_TEXT("]"));
}

void mr_json_tree_write(const struct json_tree *x, struct mr_buffer *out)
{
    switch (x->kind) {
    case JSON_START_OBJECT:
    case JSON_START_ARRAY:
        write_members(x, out);
        break;
    case JSON_STRING:
        mr_json_write_text(x->text, out);
        break;
    case JSON_INTEGER:
    case JSON_FLOAT:
        write_number(x, out);
        break;
    case JSON_TRUE:
        mr_buffer_append_text(out, MR_TEXT("true"));
        break;
    case JSON_FALSE:
        mr_buffer_append_text(out, MR_TEXT("false"));
        break;
    default:
        mr_buffer_append_text(out, MR_TEXT("null"));
    }
}
