/* console.h - the sink that shows each epoch's rows as a table, as Spark's console sink does.
 *
 * How      Writers keep the first numRows rows as texts and count the rest; the committer prints
 *          when the epoch is committed, and once more at a restart: at-least-once.
 */
#pragma once
#include "core/op/sink.h"

extern const struct mr_sink_ops mr_sink_console;

/* A value as Dataset.show prints it. */
void mr_console_cell(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                     struct mr_buffer *out);

/* The table of rows, a cell after the other. truncate 0: whole cells, to the left. */
struct mr_console_table {
    const struct mr_type *schema;
    const struct mr_text *cells;
    uint64_t rows_n;
    uint32_t truncate;
};
void mr_console_print(const struct mr_console_table *t, struct mr_arena *scratch,
                      struct mr_buffer *out);
