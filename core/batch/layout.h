/* layout.h - buffers of columns and runs of bits, within core/batch only.
 *
 * Bits     Bit i lies in word i / 64; ranges may start anywhere.
 */
#pragma once
#include "core/batch/column.h"

/* The data buffer for rows values: NULL for VOID and STRUCT; bits cleared; offsets[0] = 0. */
void *mr_layout_data(const struct mr_type *type, uint32_t rows, struct mr_arena *a);
uint64_t *mr_layout_bits(uint32_t rows, bool value, struct mr_arena *a);

void mr_layout_copy_bits(uint64_t *to, uint32_t to_at, const uint64_t *from, uint32_t from_at,
                         uint32_t n);
void mr_layout_fill_bits(uint64_t *to, uint32_t at, uint32_t n, bool value);
bool mr_layout_all_set(const uint64_t *bits, uint32_t at, uint32_t n);
