/* encode.h - single values of any type as bytes, in slots of aggregates.
 *
 * Layout   one byte (0: null), then fixed width as it lies in memory, texts as u32 length and
 *          bytes, lists as u32 length and elements, structs field by field. Nothing is normalised:
 *          -0.0 stays.
 */
#pragma once
#include "core/batch/builder.h"

void mr_value_encode(const struct mr_column *c, uint32_t row, struct mr_buffer *out);
/* Appends the value at *at to b, and moves *at behind it. */
void mr_value_decode(const uint8_t **at, struct mr_builder *b);
