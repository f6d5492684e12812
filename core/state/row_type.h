/* row_type.h - widths in encoded rows. Internal to core/state. */
#pragma once
#include "core/batch/type.h"

static inline uint32_t mr_row_bitmap(uint32_t fields)
{
    return (fields + 7) / 8;
}

/* Bytes of every value of a type, null or not; -1: they differ. */
static inline int32_t mr_row_fixed(const struct mr_type *type)
{
    int32_t bytes, field;

    switch (type->kind) {
    case MR_VOID:
        return 0;
    case MR_BOOLEAN:
        return 1;
    case MR_DECIMAL:
        return type->precision <= 18 ? 8 : 16;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
    case MR_ARRAY:
    case MR_MAP:
        return -1;
    case MR_STRUCT:
        bytes = (int32_t)mr_row_bitmap(type->fields_n);
        for (uint32_t i = 0; i < type->fields_n; i++) {
            field = mr_row_fixed(type->fields[i].type);
            if (field < 0)
                return -1;
            bytes += field;
        }
        return bytes;
    default:
        return (int32_t)mr_type_value_bytes(type);
    }
}
