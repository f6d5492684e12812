/* generate.h - explode and its kin: one row in, any number out.
 *
 * What     mr_generate evaluates the generator call that is expression number i of the evaluator
 *          over the selected rows of a batch. The call's type is the STRUCT of its output columns.
 * Owner    Results live as long as those of mr_eval.
 */
#pragma once
#include "core/expr/function.h"

struct mr_generated {
    uint32_t rows; /* rows that come out */
    const uint32_t
        *offsets; /* n + 1: selected row number k gives rows offsets[k] .. offsets[k + 1] */
    const uint32_t *parents;   /* rows: the row of the batch that each comes from */
    struct mr_column *columns; /* of rows rows; as many as the call's type has fields */
    uint32_t columns_n;
};

/* outer: a row that gives nothing gives one row of nulls. */
MR_NODISCARD enum mr_status mr_generate(struct mr_eval *e, uint32_t i, const struct mr_batch *in,
                                        bool outer, struct mr_generated *out, struct mr_error *err);
