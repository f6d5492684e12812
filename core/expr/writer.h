/* writer.h - result columns of texts and of lists, filled row by row in ascending order of rows.
 *
 * Use      Texts: room, write, put. Slices of an argument's text need no room: slice. Lists: append
 *          elements to children, then close the row; rows left out are empty.
 */
#pragma once
#include "core/base/check.h"
#include "core/base/copy.h"
#include "core/batch/builder.h"

struct mr_text_writer {
    struct mr_column *out;
    struct mr_arena *arena;
    uint8_t *heap; /* the one being filled: the last of out's */
    uint64_t used, capacity;
    uint32_t heaps_capacity;
};

/* Allocates out (STRING or BINARY). */
void mr_text_writer_init(struct mr_text_writer *w, struct mr_column *out,
                         const struct mr_type *type, uint32_t rows, struct mr_arena *a);
void mr_text_writer_grow(struct mr_text_writer *w, uint64_t bytes);
/* Room for bytes, and MR_COPY_SLACK behind; what is written there becomes row's value by put. */
static inline char *mr_text_writer_room(struct mr_text_writer *w, uint64_t bytes)
{
    if (w->capacity - w->used < bytes + MR_COPY_SLACK)
        mr_text_writer_grow(w, bytes);
    return (char *)w->heap + w->used;
}
static inline void mr_text_writer_put(struct mr_text_writer *w, uint32_t row, uint64_t bytes)
{
    MR_ASSERT(w->used + bytes <= w->capacity);
    mr_view_set(&w->out->views[row], (char *)w->heap + w->used, (uint32_t)bytes,
                (int32_t)w->out->heaps_n - 1, (int32_t)w->used);
    if (bytes > MR_VIEW_INLINE)
        w->used += bytes;
}
void mr_text_writer_copy(struct mr_text_writer *w, uint32_t row, struct mr_text t);
void mr_text_writer_null(struct mr_text_writer *w, uint32_t row, uint32_t rows);

/* out shares from's heaps; slices of from's texts then need no copy. */
void mr_text_share(struct mr_column *out, const struct mr_column *from, const struct mr_type *type,
                   uint32_t rows, struct mr_arena *a);
void mr_text_slice(struct mr_column *out, uint32_t row, const struct mr_column *from,
                   uint32_t from_row, uint32_t at, uint32_t n);

struct mr_list_writer {
    struct mr_column *out;
    struct mr_arena *arena;
    uint32_t rows, next;
    struct mr_builder children[2]; /* elements; or keys and values */
};

void mr_list_writer_init(struct mr_list_writer *w, struct mr_column *out,
                         const struct mr_type *type, uint32_t rows, struct mr_arena *a);
void mr_list_writer_close(struct mr_list_writer *w, uint32_t row); /* ends row's list */
void mr_list_writer_null(struct mr_list_writer *w, uint32_t row);
void mr_list_writer_finish(struct mr_list_writer *w);

/* Row is null from now on. */
static inline void mr_column_put_null(struct mr_column *c, uint32_t row, uint32_t rows,
                                      struct mr_arena *a)
{
    mr_column_need_valid(c, rows, a);
    mr_bit_clear(c->valid, row);
}
