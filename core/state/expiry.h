/* expiry.h - where the expiry of a row is: in its key, or in front of it. Internal to core/state.
 *
 * Place    In the key when all fields before it, or all behind it, have a fixed width, so that its
 *          place is known from the key's start or end. A null there is a row that never ends.
 */
#pragma once
#include "core/state/state.h"
#include <string.h>

struct mr_expiry {
    enum mr_expiry_place { MR_AT_FRONT, MR_NOWHERE, MR_IN_KEY, MR_IN_KEY_FROM_END } place;
    uint32_t front; /* bytes before the row: 8 if the expiry is there */
    uint32_t at;    /* of 8 bytes: from the key's start, or back from its end */
    uint32_t null_at;
    uint8_t null_mask; /* the field's bit in the bitmap of the key */
};

struct mr_expiry mr_expiry_of(const struct mr_state_table *table);

/* Of a key that is long enough. */
static inline int64_t mr_expiry_in(const struct mr_expiry *x, struct mr_text key)
{
    const char *at = x->place == MR_IN_KEY ? key.data + x->at : key.data + key.n - x->at;
    int64_t expiry_us;

    if ((uint8_t)key.data[x->null_at] & x->null_mask)
        return MR_STATE_NEVER;
    memcpy(&expiry_us, at, sizeof expiry_us);
    return expiry_us;
}

static inline int64_t mr_expiry(const struct mr_expiry *x, const struct mr_state_row *row)
{
    int64_t expiry_us = MR_STATE_NEVER;

    if (x->place == MR_AT_FRONT)
        memcpy(&expiry_us, (const uint8_t *)row - sizeof expiry_us, sizeof expiry_us);
    else if (x->place != MR_NOWHERE)
        expiry_us = mr_expiry_in(x, mr_state_key(row));
    return expiry_us;
}
