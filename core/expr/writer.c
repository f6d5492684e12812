#include "core/expr/writer.h"

#include "core/base/check.h"

enum { HEAP_BYTES_MIN = 4096, HEAP_BYTES_MAX = 1 << 20 };

void mr_text_writer_init(struct mr_text_writer *w, struct mr_column *out,
                         const struct mr_type *type, uint32_t rows, struct mr_arena *a)
{
    *w = (struct mr_text_writer){.out = out, .arena = a};
    mr_column_alloc(out, type, rows, false, a);
    memset(out->views, 0, rows * sizeof *out->views); /* rows left out are null: length 0 */
}

void mr_text_writer_grow(struct mr_text_writer *w, uint64_t bytes)
{
    uint64_t capacity = 2 * w->capacity < HEAP_BYTES_MAX ? 2 * w->capacity : HEAP_BYTES_MAX;

    if (bytes > INT32_MAX) /* no column could hold it */
        mr_arena_exhaust(w->arena);
    if (capacity < HEAP_BYTES_MIN)
        capacity = HEAP_BYTES_MIN;
    if (capacity < bytes + MR_COPY_SLACK)
        capacity = bytes + MR_COPY_SLACK;
    if (w->out->heaps_n == w->heaps_capacity) {
        uint32_t n = w->heaps_capacity ? 2 * w->heaps_capacity : 4;
        uint8_t **heaps = mr_arena_alloc(w->arena, n * sizeof *heaps);
        if (w->out->heaps_n)
            memcpy(heaps, w->out->heaps, w->out->heaps_n * sizeof *heaps);
        w->out->heaps = heaps;
        w->heaps_capacity = n;
    }
    w->heap = mr_arena_alloc(w->arena, capacity);
    w->out->heaps[w->out->heaps_n++] = w->heap;
    w->used = 0;
    w->capacity = capacity;
}

void mr_text_writer_copy(struct mr_text_writer *w, uint32_t row, struct mr_text t)
{
    char *room = mr_text_writer_room(w, t.n);

    if (t.n)
        memcpy(room, t.data, t.n);
    mr_text_writer_put(w, row, t.n);
}

void mr_text_writer_null(struct mr_text_writer *w, uint32_t row, uint32_t rows)
{
    w->out->views[row] = (struct mr_view){0};
    mr_column_put_null(w->out, row, rows, w->arena);
}

void mr_text_share(struct mr_column *out, const struct mr_column *from, const struct mr_type *type,
                   uint32_t rows, struct mr_arena *a)
{
    mr_column_alloc(out, type, rows, false, a);
    memset(out->views, 0, rows * sizeof *out->views);
    out->heaps = from->heaps;
    out->heaps_n = from->heaps_n;
}

void mr_text_slice(struct mr_column *out, uint32_t row, const struct mr_column *from,
                   uint32_t from_row, uint32_t at, uint32_t n)
{
    const struct mr_view *v = &from->views[from_row];
    bool is_far = v->length > MR_VIEW_INLINE;

    mr_view_set(&out->views[row], mr_column_text(from, from_row).data + at, n,
                is_far ? v->far.heap : 0, is_far ? v->far.offset + (int32_t)at : 0);
}

void mr_list_writer_init(struct mr_list_writer *w, struct mr_column *out,
                         const struct mr_type *type, uint32_t rows, struct mr_arena *a)
{
    *w = (struct mr_list_writer){.out = out, .arena = a, .rows = rows};
    mr_column_alloc(out, type, rows, false, a);
    out->offsets[0] = 0;
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_builder_init(&w->children[i], type->fields[i].type, rows, a);
}

static void skip_to(struct mr_list_writer *w, uint32_t row)
{
    for (; w->next < row; w->next++)
        w->out->offsets[w->next + 1] = w->out->offsets[w->next];
}

void mr_list_writer_close(struct mr_list_writer *w, uint32_t row)
{
    MR_ASSERT(row >= w->next);
    skip_to(w, row);
    w->out->offsets[++w->next] = (int32_t)w->children[0].rows;
}

void mr_list_writer_null(struct mr_list_writer *w, uint32_t row)
{
    mr_list_writer_close(w, row);
    mr_column_put_null(w->out, row, w->rows, w->arena);
}

void mr_list_writer_finish(struct mr_list_writer *w)
{
    skip_to(w, w->rows);
    for (uint32_t i = 0; i < w->out->type->fields_n; i++)
        mr_builder_finish(&w->children[i], &w->out->children[i]);
}
