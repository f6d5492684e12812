/* row.h - keys of several columns as bytes that are equal iff the keys are equal.
 *
 * Rule     As Spark's state keys: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0, also inside
 *          structs and arrays; a null struct differs from a struct of nulls.
 * Layout   A null bitmap (bit i of byte i/8 set = field i is null), then the fields. Fixed width:
 *          little-endian, zeros if null (DECIMAL up to 18 digits: 8 bytes; BOOLEAN: 1). STRING,
 *          BINARY: u32 length, bytes. STRUCT: nested the same way. ARRAY: u32 count, null bitmap,
 *          elements. MAP: u32 count, bitmap and elements of the keys, then of the values. A null
 *          of these: nothing (a struct of fixed width only: zeros). No fields: no bytes.
 */
#pragma once
#include "core/batch/builder.h"

/* Of an encoded row, and a mask of what may be its length; a longer one counts as memory
 * exhausted. */
enum { MR_ROW_BYTES_MAX = (1 << 29) - 1 };

/* Encodes rows sel[0..n) of columns; keys[i] and (if not NULL) hashes[i] are filled, memory is a's.
 */
void mr_row_encode(const struct mr_column *columns, uint32_t columns_n, const uint32_t *sel,
                   uint32_t n, struct mr_arena *a, struct mr_text *keys, uint64_t *hashes);
/* The fields of n encoded rows as columns, one per field of type (a STRUCT); memory is a's. */
MR_NODISCARD enum mr_status mr_row_decode(const struct mr_type *type, const struct mr_text *keys,
                                          uint32_t n, struct mr_column *columns, struct mr_arena *a,
                                          struct mr_error *err);
/* 0 for the empty key, as operators without keys have it. */
uint64_t mr_row_hash(struct mr_text row);
