/* arrow_format.h - the format strings of the Arrow C Data Interface, for arrow_*.c only. */
#pragma once
#include "core/batch/arrow.h"

enum arrow_layout {
    ARROW_FIXED, /* one value a row, bits for BOOLEAN */
    ARROW_VIEWS,
    ARROW_OFFSETS_32, /* bytes by offsets, or a list */
    ARROW_OFFSETS_64,
    ARROW_ENTRIES, /* a list of one struct of key and value */
    ARROW_FIELDS,
    ARROW_NOTHING,
};

struct arrow_format {
    enum mr_kind kind;
    enum arrow_layout layout;
    uint32_t precision, scale;
};

/* False: none of ours. */
bool mr_arrow_format_read(const char *format, struct arrow_format *out);
const char *mr_arrow_format_write(const struct mr_type *type, struct mr_arena *a);
