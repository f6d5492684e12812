/* operators.h - the operators, one .c each; registry.c maps node kinds to them. */
#pragma once
#include "core/op/operator.h"

extern const struct mr_operator_ops mr_filter_ops, mr_project_ops, mr_expand_ops, mr_watermark_ops,
    mr_union_ops, mr_partial_aggregate_ops, mr_aggregate_ops, mr_deduplicate_ops,
    mr_deduplicate_within_ops, mr_global_limit_ops, mr_limit_ops, mr_sort_ops, mr_generate_ops;
