/* infer.h - the schema of JSON records from what they hold, as Spark infers it.
 *
 * Rule     Fields sorted by name; whole numbers BIGINT (more digits: DECIMAL(n,0), above 38:
 *          DOUBLE), others DOUBLE; a field that is null everywhere and one of mixed kinds is
 *          STRING; records that are no JSON add a column _corrupt_record.
 * Limits   Values nested deeper than MR_DEPTH_MAX count as STRING.
 */
#pragma once
#include "core/format/format.h"

struct mr_json_inference;

MR_NODISCARD enum mr_status mr_json_infer_open(struct mr_arena *a, struct mr_json_inference **out,
                                               struct mr_error *err);
/* One record. MR_PAD_BYTES readable behind. */
void mr_json_infer_record(struct mr_json_inference *in, struct mr_text record);
/* As columns in DDL. False, and nothing appended: no record had a field. */
bool mr_json_infer_finish(const struct mr_json_inference *in, struct mr_buffer *ddl);
