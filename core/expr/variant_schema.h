/* variant_schema.h - the type of what is in a variant. Inside core/expr. */
#pragma once
#include "core/expr/coerce.h"
#include "core/format/variant/variant.h"

/* As schema_of_json, but objects are structs only here, and what has no common type stays a
 * variant. */
const struct mr_type *mr_variant_schema(struct mr_variant v, struct mr_arena *a);
/* As SQL writes it, but OBJECT for STRUCT. */
void mr_variant_schema_print(const struct mr_type *type, struct mr_buffer *out);
