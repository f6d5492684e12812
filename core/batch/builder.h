/* builder.h - makes a column by appending rows copied from others: deep, own memory.
 *
 * Why      What crosses a ring, enters a sort or comes out of state is copied whole.
 * Owner    Memory is the arena's. mr_builder_finish gives a column valid until the arena is reset.
 * Limits   Grows by doubling; strings share heaps of up to 1 MiB. More than INT32_MAX rows,
 *          elements or bytes of a text: as if memory were exhausted, to the escape of the arena.
 */
#pragma once
#include "core/batch/column.h"

struct mr_builder {
    const struct mr_type *type;
    struct mr_arena *arena;
    struct mr_column column; /* as far as built */
    uint32_t rows, capacity;
    uint32_t heap_used, heap_capacity, heaps_capacity;
    struct mr_builder *children;
};

void mr_builder_init(struct mr_builder *b, const struct mr_type *type, uint32_t capacity,
                     struct mr_arena *a);
void mr_builder_append_null(struct mr_builder *b);
void mr_builder_append(struct mr_builder *b, const struct mr_column *from, uint32_t row);
/* rows[0..n) of from; rows NULL: 0..n-1. */
void mr_builder_append_rows(struct mr_builder *b, const struct mr_column *from,
                            const uint32_t *rows, uint32_t n);
/* Appends one value; the type must be the builder's. i64 serves every integer-like kind. */
void mr_builder_append_i64(struct mr_builder *b, int64_t value);
void mr_builder_append_f64(struct mr_builder *b, double value);
void mr_builder_append_i128(struct mr_builder *b, __int128 value);
void mr_builder_append_text(struct mr_builder *b, struct mr_text t);
void mr_builder_append_calendar(struct mr_builder *b, const struct mr_calendar_interval *value);
/* ARRAY, MAP, STRUCT: append to children first (STRUCT: one each), then close the row. */
void mr_builder_close_row(struct mr_builder *b);
/* Fills out; the builder may go on. */
void mr_builder_finish(struct mr_builder *b, struct mr_column *out);
