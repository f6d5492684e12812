/* row.h - keys of several columns as bytes that are equal iff the keys are equal.
 *
 * Rule     As Spark's state keys: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0, also inside structs
 *          and arrays; a null struct differs from a struct of nulls.
 * Layout   One null bitmap byte per 8 fields, then fields: fixed width little-endian; strings u32 length
 *          + bytes; structs and arrays nested the same way.
 */
#pragma once
#include "core/batch/builder.h"

/* Encodes rows sel[0..n) of columns; keys[i] and (if not NULL) hashes[i] are filled, memory is a's. */
void mr_row_encode(const struct mr_column *columns, uint32_t columns_n, const uint32_t *sel,
                   uint32_t n, struct mr_arena *a, struct mr_text *keys, uint64_t *hashes);
/* Appends the fields of an encoded row to builders (one per field of type, a STRUCT). */
MR_NODISCARD enum mr_status mr_row_decode(const struct mr_type *type, struct mr_text row,
                                          struct mr_builder *builders, struct mr_error *err);
uint64_t mr_row_hash(struct mr_text row);
