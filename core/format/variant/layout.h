/* layout.h - the bytes of a variant: the low two bits of the first one, and what the six above
 * mean. */
#pragma once
#include "core/format/variant/variant.h"

enum { VARIANT_PRIMITIVE, VARIANT_SHORT_STRING, VARIANT_OBJECT, VARIANT_ARRAY };
enum { VARIANT_SHORT_MAX = 63, VARIANT_VERSION = 1 };

enum { /* of primitives */
       VARIANT_NULL = 0,
       VARIANT_TRUE = 1,
       VARIANT_FALSE = 2,
       VARIANT_INT8 = 3,
       VARIANT_INT16 = 4,
       VARIANT_INT32 = 5,
       VARIANT_INT64 = 6,
       VARIANT_DOUBLE = 7,
       VARIANT_DECIMAL4 = 8, /* a byte of scale first */
       VARIANT_DECIMAL8 = 9,
       VARIANT_DECIMAL16 = 10,
       VARIANT_DATE = 11,
       VARIANT_TIMESTAMP = 12,
       VARIANT_TIMESTAMP_NTZ = 13,
       VARIANT_FLOAT = 14,
       VARIANT_BINARY = 15, /* four bytes of length first */
       VARIANT_STRING = 16,
};

/* As Java compares texts. */
int variant_compare_names(struct mr_text a, struct mr_text b);
