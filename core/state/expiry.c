#include "core/state/expiry.h"

#include "core/state/row_type.h"

/* Bytes of n fields in each row, or -1. */
static int32_t fixed_bytes(const struct mr_field *fields, uint32_t n)
{
    int32_t bytes = 0;

    for (uint32_t i = 0; i < n; i++) {
        const int32_t field = mr_row_fixed(fields[i].type);
        if (field < 0)
            return -1;
        bytes += field;
    }
    return bytes;
}

struct mr_expiry mr_expiry_of(const struct mr_state_table *table)
{
    struct mr_expiry out = {.place = MR_AT_FRONT, .front = sizeof(int64_t)};

    if (table->expiry == MR_EXPIRY_NEVER)
        return (struct mr_expiry){.place = MR_NOWHERE};
    if (table->expiry == MR_EXPIRY_GIVEN)
        return out;
    const uint32_t field = table->expiry_field, n = table->key->fields_n;
    const struct mr_field *fields = table->key->fields;
    const int32_t before = fixed_bytes(fields, field);
    const int32_t behind = fixed_bytes(fields + field + 1, n - field - 1);
    const int32_t width = mr_row_fixed(fields[field].type);
    if (before < 0 && behind < 0)
        return out;
    out = (struct mr_expiry){.place = before < 0 ? MR_IN_KEY_FROM_END : MR_IN_KEY,
                             .null_at = field >> 3,
                             .null_mask = (uint8_t)(1u << (field & 7))};
    /* The end of a window is the last of its bytes, as a plain time is. */
    out.at = before < 0 ? (uint32_t)behind + 8 : mr_row_bitmap(n) + (uint32_t)(before + width) - 8;
    return out;
}

bool mr_state_key_has_expiry(const struct mr_state_table *table)
{
    return table->expiry == MR_EXPIRY_OF_KEY && mr_expiry_of(table).place != MR_AT_FRONT;
}
