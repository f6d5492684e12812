/* generator.h - what bodies of generators share. Inside core/expr.
 *
 * Body     Fills counts[0..n), one per selected row, by mr_generated_begin, then parents and its
 *          columns.
 */
#pragma once
#include "core/expr/coerce.h"
#include "core/expr/generate.h"

/* From the number of rows that each selected row gives: offsets, parents, rows, room for
 * columns. */
void mr_generated_begin(struct mr_call *call, const uint32_t *counts, struct mr_generated *out);
/* After the body: rows of nulls for those that gave nothing, if outer or the function is of that
 * kind. */
void mr_generate_finish(struct mr_call *call, bool outer, struct mr_generated *out);
