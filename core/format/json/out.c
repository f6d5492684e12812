#include "core/format/json/out.h"

#include "core/base/check.h"

enum { ELEMENTS_FIRST = 64 };

void json_out_init(struct json_out *o, struct mr_column *c, const struct mr_type *type,
                   uint32_t rows, struct mr_heaps *heaps, struct mr_arena *a)
{
    bool list = type->kind == MR_ARRAY || type->kind == MR_MAP;

    *o = (struct json_out){.column = c, .arena = a, .heaps = heaps, .capacity = rows};
    mr_column_alloc(c, type, rows, true, a);
    if (type->fields_n == 0)
        return;
    o->children = MR_NEW_ARRAY(a, struct json_out, type->fields_n);
    for (uint32_t i = 0; i < type->fields_n; i++)
        json_out_init(&o->children[i], &c->children[i], type->fields[i].type,
                      list ? ELEMENTS_FIRST : rows, heaps, a);
}

static void grow(struct json_out *o)
{
    struct mr_column *c = o->column, more;
    uint32_t n = o->capacity;
    bool list = c->type->kind == MR_ARRAY || c->type->kind == MR_MAP;
    uint64_t bytes = c->type->kind == MR_BOOLEAN
                         ? mr_bit_words(n) * sizeof(uint64_t)
                         : ((uint64_t)n + list) * mr_type_value_bytes(c->type);

    MR_ASSERT(n <= INT32_MAX);
    mr_column_alloc(&more, c->type, n * 2, true, o->arena);
    if (bytes)
        memcpy(more.data, c->data, bytes);
    memcpy(more.valid, c->valid, mr_bit_words(n) * sizeof(uint64_t));
    /* bits of the last word behind n are of rows to come: valid */
    more.children = c->children;
    *c = more;
    o->capacity = n * 2;
}

static void put_null(struct json_out *o, uint32_t row)
{
    struct mr_column *c = o->column;

    mr_bit_clear(c->valid, row);
    switch (c->type->kind) {
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        memset(&c->views[row], 0, sizeof c->views[row]);
        break;
    case MR_ARRAY:
    case MR_MAP:
        c->offsets[row + 1] = c->offsets[row];
        break;
    case MR_STRUCT: { /* children need values: lists and strings in them are then well formed */
        const struct mr_cell null = {.is_null = true};
        for (uint32_t i = 0; i < c->type->fields_n; i++)
            json_out_put(&o->children[i], row, &null);
        break;
    }
    default:
        break;
    }
}

static void put_list(struct json_out *o, uint32_t row, const struct mr_cell *v)
{
    struct mr_column *c = o->column;
    uint32_t width = c->type->fields_n, n = (uint32_t)c->offsets[row];

    for (uint64_t i = 0; i < v->items_n; i += width, n++)
        for (uint32_t k = 0; k < width; k++)
            json_out_put(&o->children[k], n, &v->items[i + k]);
    c->offsets[row + 1] = (int32_t)n;
}

void json_out_put(struct json_out *o, uint32_t row, const struct mr_cell *v)
{
    struct mr_column *c = o->column;

    while (row >= o->capacity)
        grow(o);
    if (v->is_null || c->type->kind == MR_VOID) {
        put_null(o, row);
        return;
    }
    mr_bit_set(c->valid, row);
    switch (c->type->kind) {
    case MR_STRUCT:
        for (uint32_t i = 0; i < c->type->fields_n; i++)
            json_out_put(&o->children[i], row, &v->items[i]);
        break;
    case MR_ARRAY:
    case MR_MAP:
        put_list(o, row, v);
        break;
    default:
        mr_cell_store(c, row, v, o->heaps);
        break;
    }
}

void json_out_end(struct json_out *o, uint32_t rows)
{
    struct mr_column *c = o->column;
    bool list = c->type->kind == MR_ARRAY || c->type->kind == MR_MAP;

    mr_cell_end_column(c, rows, o->heaps);
    for (uint32_t i = 0; i < c->type->fields_n; i++)
        json_out_end(&o->children[i], list ? (uint32_t)c->offsets[rows] : rows);
}
