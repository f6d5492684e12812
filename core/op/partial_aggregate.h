/* partial_aggregate.h - the plan of a partial aggregate: which of its paths a query takes.
 * Internal. */
#pragma once
#include "core/op/accumulators.h"
#include "core/op/group_table.h"
#include "core/op/key_words.h"

enum { MR_NO_EXPR = UINT32_MAX };

struct mr_partial_plan {
    struct mr_accumulators acc;
    struct mr_key_words words; /* if has_words */
    bool has_words;
    const struct mr_type *key_type; /* STRUCT of the keys */
    const struct mr_expr **exprs;   /* keys, then arguments and filters */
    uint32_t exprs_n;
    uint32_t *args_at;   /* by aggregate: its first argument in exprs */
    uint32_t *filter_at; /* MR_NO_EXPR: none */
    uint32_t args_max;   /* of one aggregate */
    uint32_t groups_max; /* beyond it the table is given away */
};

enum mr_status mr_partial_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                               struct mr_error *err);
