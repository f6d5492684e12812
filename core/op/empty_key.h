/* empty_key.h - where operators without keys keep their one row of state.
 *
 * Hash     0: partition 0, of worker 0, to which an exchange without keys sends all rows.
 */
#pragma once
#include "core/op/operator.h"

static const char mr_empty_key_bytes[MR_PAD_BYTES];
static const struct mr_text mr_empty_key = {mr_empty_key_bytes, 0};
static const uint64_t mr_empty_hash = 0;
static const int64_t mr_empty_expiry = MR_STATE_NEVER;
