/* cell.h - one parsed value on its way into a column.
 *
 * Owner    Texts and items lie in the input or in a scratch arena: a cell is short-lived.
 */
#pragma once
#include "core/format/heaps.h"

struct mr_cell {
    bool is_null;
    union {
        int64_t i64; /* integers, BOOLEAN, DATE, TIMESTAMP*, intervals */
        double f64;
        float f32;
        __int128 i128;
        struct mr_text text; /* STRING, BINARY: in the input or in the scratch arena */
        struct mr_calendar_interval calendar;
        struct {
            struct mr_cell *items; /* STRUCT: fields; ARRAY: elements; MAP: key, value, key, .. */
            uint64_t items_n;
        };
    };
};

/* Puts a scalar that is not null into a row, and marks it valid if the column has a bitmap. */
void mr_cell_store(struct mr_column *c, uint32_t row, const struct mr_cell *v,
                   struct mr_heaps *heaps);

/* Texts for DECIMAL: grouping commas, anywhere, are ignored, blanks are not. */
bool mr_cell_parse_decimal(const struct mr_type *type, struct mr_text t, struct mr_arena *scratch,
                           __int128 *out);
/* Texts for the three kinds of intervals. */
bool mr_cell_parse_interval(const struct mr_type *type, struct mr_text t, struct mr_cell *out);

/* When all rows are in: drops a bitmap without nulls, hands out the heaps. */
void mr_cell_end_column(struct mr_column *c, uint32_t rows, const struct mr_heaps *heaps);
