/* record.h - plans and commits as bytes. Internal to core/checkpoint.
 *
 * Layout   Little-endian, fields in the order of the structs; a text is its length in 32 bits,
 *          then its bytes; length UINT32_MAX: data NULL. README.md has the bytes.
 */
#pragma once
#include "core/checkpoint/checkpoint.h"

enum mr_record_kind { MR_RECORD_OPEN = 1, MR_RECORD_PLAN, MR_RECORD_STATE, MR_RECORD_COMMIT };

struct mr_record { /* in a group of the log; its bytes follow, padded to 8 */
    uint64_t bytes;
    uint16_t kind, op, table, unused;
};

void mr_record_put_plan(struct mr_buffer *out, const struct mr_plan_record *plan);
void mr_record_put_commit(struct mr_buffer *out, const struct mr_commit *commit);
/* Texts point into bytes. False: malformed. */
MR_NODISCARD bool mr_record_take_plan(struct mr_text bytes, struct mr_plan_record *plan);
MR_NODISCARD bool mr_record_take_commit(struct mr_text bytes, struct mr_commit *commit);
