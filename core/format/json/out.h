/* out.h - values of the exact path -> columns; lists grow as their elements come.
 *
 * Owner    Memory is the scratch arena's of the batch.
 */
#pragma once
#include "core/format/json/convert.h"

struct json_out {
    struct mr_column *column;
    struct mr_arena *arena;
    struct mr_heaps *heaps;
    uint32_t capacity;
    struct json_out *children;
};

/* Allocates c for rows. */
void json_out_init(struct json_out *o, struct mr_column *c, const struct mr_type *type,
                   uint32_t rows, struct mr_heaps *heaps, struct mr_arena *a);
/* Rows are put in order; one may be put again, before the next. */
void json_out_put(struct json_out *o, uint32_t row, const struct mr_cell *v);
/* Drops validity bitmaps without nulls, and hands out the heaps. rows: of the column itself. */
void json_out_end(struct json_out *o, uint32_t rows);
