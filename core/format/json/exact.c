#include "core/format/json/exact.h"

#include "core/base/check.h"
#include "core/format/corrupt.h"
#include "core/format/json/copy.h"
#include "core/format/variant/variant.h"

static enum json_outcome convert(struct json_exact *x, const struct json_node *node,
                                 struct mr_cell *out);

void json_exact_init(struct json_exact *x, const struct json_plan *plan, struct mr_arena *keep)
{
    *x = (struct json_exact){.plan = plan};
    json_reader_init(&x->reader, &plan->options, keep);
}

static const char misfit[] = "a value that does not fit its field";

static enum json_outcome fail(struct json_exact *x, const char *reason)
{
    if (x->reason == NULL)
        x->reason = reason;
    return JSON_BAD;
}

static enum json_outcome broken(struct json_exact *x)
{
    return fail(x, x->reader.reason ? x->reader.reason : "the text ends within a record");
}

/* A growing run of values in the scratch arena. */
struct values {
    struct mr_cell *items;
    uint64_t n, capacity;
};

static struct mr_cell *values_add(struct json_exact *x, struct values *v)
{
    if (v->n == v->capacity) {
        uint64_t capacity = v->capacity ? v->capacity * 2 : 8;
        struct mr_cell *items = mr_arena_alloc(x->scratch, capacity * sizeof *items);
        if (v->n)
            memcpy(items, v->items, v->n * sizeof *items);
        v->items = items;
        v->capacity = capacity;
    }
    v->items[v->n] = (struct mr_cell){.is_null = true};
    return &v->items[v->n++];
}

/* Steps to the next member or element. 1: there is one; 0: end, by that token or by the end of the
 * text; -1: an error. */
static int until(struct json_exact *x, enum json_token stop)
{
    enum json_token token = json_reader_next(&x->reader);

    if (token == JSON_ERROR) {
        broken(x);
        return -1;
    }
    return token != JSON_END && token != stop;
}

/* As convert, where an object within it has a rescued member of its own, of that name. */
static enum json_outcome convert_and_rescue(struct json_exact *x, const struct json_node *node,
                                            struct mr_text name, struct mr_cell *out)
{
    struct mr_buffer *members = x->rescued, inner;
    enum json_outcome outcome;

    mr_buffer_init(&inner, x->scratch);
    x->rescued = node->type->kind == MR_STRUCT ? &inner : NULL;
    x->lost = false;
    outcome = convert(x, node, out);
    x->rescued = members;
    if (outcome == JSON_GOOD && node->type->kind != MR_STRUCT && x->lost)
        return JSON_PARTIAL;
    if (outcome == JSON_GOOD && inner.n > 0)
        mr_rescued_add(members, name, mr_rescued_cell(&inner).text);
    return outcome;
}

/* The value at hand, as it stands, goes to the rescued column if the field (UINT32_MAX: there is
 * none) does not take all of it. */
static enum json_outcome rescue_field(struct json_exact *x, const struct json_node *node,
                                      struct mr_text name, uint32_t field, struct mr_cell *items)
{
    struct json_reader *r = &x->reader;
    const char *reason = x->reason, *condition = x->condition;
    enum json_outcome outcome = JSON_BAD;
    struct mr_cell value = {.is_null = true};

    while (r->token == JSON_FIELD_NAME)
        if (json_reader_next(r) == JSON_ERROR)
            return broken(x);
    const struct json_reader before = *r;
    const struct json_level level = r->levels[r->depth];
    if (field != UINT32_MAX)
        outcome = convert_and_rescue(x, &node->children[field], name, &value);
    if (outcome != JSON_BAD)
        items[field] = value;
    if (outcome == JSON_GOOD)
        return JSON_GOOD;
    *r = before;
    r->levels[r->depth] = level;
    if (r->token == JSON_STRING ? !json_reader_finish(r) : !json_reader_skip(r))
        return broken(x);
    mr_rescued_add(
        x->rescued, name,
        (struct mr_text){(const char *)before.token_start, (uint64_t)(r->p - before.token_start)});
    x->reason = reason;
    x->condition = condition;
    return JSON_GOOD;
}

/* A field that failed keeps what an earlier one of that name gave; reading goes on behind it. */
static enum json_outcome convert_field(struct json_exact *x, const struct json_node *node,
                                       struct mr_cell *items)
{
    const struct mr_text *name = json_reader_name(&x->reader);
    uint32_t i = name ? json_node_find(node, *name) : UINT32_MAX;
    struct mr_cell value = {.is_null = true};
    bool was_good = x->reason == NULL;

    if (i == x->plan->rescued && node == &x->plan->root)
        i = UINT32_MAX;
    if (x->rescued != NULL)
        return rescue_field(x, node, name ? *name : MR_TEXT(""), i, items);
    x->lost |= i == UINT32_MAX;
    if (i == UINT32_MAX)
        return json_reader_skip(&x->reader) ? JSON_GOOD : broken(x);
    switch (convert(x, &node->children[i], &value)) {
    case JSON_GOOD:
        items[i] = value;
        return JSON_GOOD;
    case JSON_PARTIAL:
        items[i] = value;
        return JSON_PARTIAL;
    case JSON_BAD:
        if (was_good && x->reason == misfit)
            x->reason = mr_arena_format(x->scratch, "%s, %s", misfit, node->type->fields[i].name);
        return json_reader_skip(&x->reader) ? JSON_PARTIAL : broken(x);
    }
    MR_UNREACHABLE();
}

static enum json_outcome convert_members(struct json_exact *x, const struct json_node *node,
                                         struct mr_cell *out)
{
    enum json_outcome outcome = JSON_GOOD;
    uint32_t n = node->children_n;
    struct mr_cell *items = mr_arena_alloc(x->scratch, (n + 1) * sizeof *items);
    int more;

    for (uint32_t i = 0; i < n; i++)
        items[i] = (struct mr_cell){.is_null = true};
    while ((more = until(x, JSON_END_OBJECT)) > 0) {
        enum json_outcome field = convert_field(x, node, items);
        if (field == JSON_BAD)
            return JSON_BAD;
        if (field == JSON_PARTIAL)
            outcome = JSON_PARTIAL;
    }
    if (more < 0)
        return JSON_BAD;
    *out = (struct mr_cell){.items = items, .items_n = n};
    return outcome;
}

/* With a rescued column a row gathers what its fields do not take. */
static enum json_outcome convert_object(struct json_exact *x, const struct json_node *node,
                                        struct mr_cell *out)
{
    enum json_outcome outcome;
    struct mr_buffer rescued;

    if (x->plan->options.rescued_name == NULL || node != &x->plan->root)
        return convert_members(x, node, out);
    mr_buffer_init(&rescued, x->scratch);
    x->rescued = &rescued;
    outcome = convert_members(x, node, out);
    x->rescued = NULL;
    if (outcome != JSON_BAD && x->plan->rescued != UINT32_MAX)
        out->items[x->plan->rescued] = mr_rescued_cell(&rescued);
    return outcome;
}

/* One bad value makes the whole map bad, but it is read to its end. */
static enum json_outcome convert_map(struct json_exact *x, const struct json_node *node,
                                     struct mr_cell *out)
{
    enum json_outcome outcome = JSON_GOOD;
    struct values v = {0};
    int more;

    while ((more = until(x, JSON_END_OBJECT)) > 0) {
        const struct mr_text *name = json_reader_name(&x->reader);
        struct mr_cell key = {.is_null = name == NULL}, value = {.is_null = true};
        if (name)
            key.text = *name;
        enum json_outcome item = convert(x, &node->children[1], &value);
        if (item == JSON_BAD && !json_reader_skip(&x->reader))
            return broken(x);
        if (item > outcome)
            outcome = item;
        *values_add(x, &v) = key;
        *values_add(x, &v) = value;
    }
    if (more < 0 || outcome == JSON_BAD)
        return JSON_BAD;
    *out = (struct mr_cell){.items = v.items, .items_n = v.n};
    return outcome;
}

/* One bad element ends it; what is left of it is read as if it belonged to the level around.
 * as_rows: at the root, where null is no row. */
static enum json_outcome convert_array(struct json_exact *x, const struct json_node *element,
                                       bool as_rows, struct mr_cell *out)
{
    enum json_outcome outcome = JSON_GOOD;
    struct values v = {0};
    int more;

    while ((more = until(x, JSON_END_ARRAY)) > 0) {
        struct mr_cell value = {.is_null = true};
        enum json_outcome item = convert(x, element, &value);
        if (item == JSON_BAD)
            return JSON_BAD;
        if (as_rows && value.is_null)
            return fail(x, "null in place of a record");
        if (item == JSON_PARTIAL)
            outcome = JSON_PARTIAL;
        *values_add(x, &v) = value;
    }
    if (more < 0)
        return JSON_BAD;
    *out = (struct mr_cell){.items = v.items, .items_n = v.n};
    return outcome;
}

/* Anything but a string, for a STRING field. */
static enum json_outcome take_text(struct json_exact *x, struct mr_cell *out)
{
    struct json_reader *r = &x->reader;
    const uint8_t *start = r->token_start;

    out->is_null = false;
    if (!x->plan->options.exact_text) {
        if (r->token == JSON_END_OBJECT || r->token == JSON_END_ARRAY)
            return fail(x, "a value is missing");
        return json_copy_text(r, x->scratch, &out->text) ? JSON_GOOD : broken(x);
    }
    if (!json_reader_skip(r))
        return broken(x);
    out->text = (struct mr_text){(const char *)start, (uint64_t)(r->p - start)};
    return JSON_GOOD;
}

/* Whatever stands there, null too. */
static enum json_outcome take_variant(struct json_exact *x, struct mr_cell *out)
{
    struct mr_variant_builder b;
    struct mr_buffer bytes;

    mr_variant_builder_init(&b, x->scratch);
    mr_variant_begin(&b);
    mr_buffer_init(&bytes, x->scratch);
    if (!mr_variant_read_json(&b, &x->reader))
        return b.duplicate.data ? fail(x, "an object has a key twice") : broken(x);
    if (!mr_variant_finish(&b, &bytes))
        return fail(x, "a variant is too large");
    *out = (struct mr_cell){.text = mr_buffer_text(&bytes)};
    return JSON_GOOD;
}

static enum json_outcome convert_scalar(struct json_exact *x, const struct mr_type *type,
                                        struct mr_cell *out)
{
    struct json_reader *r = &x->reader;
    bool good = false;

    switch (r->token) {
    case JSON_STRING:
        if (type->kind == MR_BINARY && r->unfinished) {
            out->is_null = false;
            return json_read_base64(r, &out->text) ? JSON_GOOD : broken(x);
        }
        if (!json_reader_finish(r))
            return broken(x);
        good = json_convert_text(x->plan, type, r->text, x->scratch, out);
        if (!good && type->kind == MR_DOUBLE)
            x->condition = "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_STRING_AS_DATATYPE";
        break;
    case JSON_INTEGER:
    case JSON_FLOAT:
        good = json_convert_number(type, r->text, r->token == JSON_INTEGER, out);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        good = type->kind == MR_BOOLEAN;
        *out = (struct mr_cell){.i64 = r->token == JSON_TRUE};
        break;
    default:
        break;
    }
    return good ? JSON_GOOD : fail(x, misfit);
}

/* The value behind a name, or the current token. */
static enum json_outcome convert(struct json_exact *x, const struct json_node *node,
                                 struct mr_cell *out)
{
    struct json_reader *r = &x->reader;

    while (r->token == JSON_FIELD_NAME)
        if (json_reader_next(r) == JSON_ERROR)
            return broken(x);
    if (node->type->kind == MR_VARIANT && r->token != JSON_END)
        return take_variant(x, out);
    if (r->token == JSON_NULL || r->token == JSON_END)
        return JSON_GOOD;
    switch (node->type->kind) {
    case MR_VOID:
        return JSON_GOOD;
    case MR_STRUCT:
        if (r->token == JSON_START_OBJECT)
            return convert_object(x, node, out);
        break;
    case MR_ARRAY:
        if (r->token == JSON_START_ARRAY)
            return convert_array(x, &node->children[0], false, out);
        break;
    case MR_MAP:
        if (r->token == JSON_START_OBJECT)
            return convert_map(x, node, out);
        break;
    case MR_STRING:
        if (r->token != JSON_STRING)
            return take_text(x, out);
        break;
    default:
        break;
    }
    return convert_scalar(x, node->type, out);
}

/* A row of one value, from an object where an array of objects is wanted. */
static enum json_outcome wrap_object(struct json_exact *x, const struct json_node *element,
                                     struct mr_cell *out)
{
    struct mr_cell *item = MR_NEW(x->scratch, struct mr_cell);
    enum json_outcome outcome = convert_object(x, element, item);

    *out = (struct mr_cell){.items = item, .items_n = 1};
    return outcome;
}

static enum json_outcome convert_root(struct json_exact *x, struct mr_cell *out)
{
    const struct json_node *root = &x->plan->root;
    enum json_token token = x->reader.token;
    enum mr_kind kind = root->type->kind;

    if (kind == MR_VARIANT)
        return take_variant(x, out);
    if (kind == MR_ARRAY && token == JSON_START_OBJECT && root->children[0].type->kind == MR_STRUCT)
        return wrap_object(x, &root->children[0], out);
    if (kind == MR_ARRAY && token == JSON_START_ARRAY)
        return convert_array(x, &root->children[0], false, out);
    if (kind == MR_MAP && token == JSON_START_OBJECT)
        return convert_map(x, root, out);
    if (kind == MR_STRUCT && token == JSON_START_OBJECT)
        return convert_object(x, root, out);
    if (kind == MR_STRUCT && token == JSON_START_ARRAY)
        x->condition = "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS";
    return fail(x, token == JSON_NULL ? "null in place of a record"
                                      : "the text does not begin like a record");
}

enum json_outcome json_exact_parse(struct json_exact *x, struct mr_text text,
                                   struct mr_arena *scratch)
{
    const uint8_t *data = (const uint8_t *)text.data, *end = data + text.n;
    struct mr_cell *row = mr_arena_alloc(scratch, sizeof *row);

    x->scratch = scratch;
    x->rows_n = 0;
    x->rescued = NULL;
    x->reason = x->condition = NULL;
    json_reader_begin(&x->reader, data, end, scratch);
    enum json_token token = json_reader_next(&x->reader);
    if (token == JSON_END)
        return JSON_GOOD;
    if (token == JSON_ERROR)
        return broken(x);
    *row = (struct mr_cell){.is_null = true};
    if (token == JSON_START_ARRAY && x->plan->options.array_as_structs &&
        x->plan->root.type->kind == MR_STRUCT) {
        enum json_outcome outcome = convert_array(x, &x->plan->root, true, row);
        x->rows = row->items;
        x->rows_n = outcome == JSON_BAD ? 0 : (uint32_t)row->items_n;
        return outcome;
    }
    enum json_outcome outcome = convert_root(x, row);
    x->rows = row;
    x->rows_n = outcome != JSON_BAD;
    return outcome;
}
