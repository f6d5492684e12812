#include "core/op/operators.h"

static const struct mr_operator_ops *const operators[MR_NODES_N] = {
    [MR_NODE_FILTER] = &mr_filter_ops,
    [MR_NODE_PROJECT] = &mr_project_ops,
    [MR_NODE_GENERATE] = &mr_generate_ops,
    [MR_NODE_EXPAND] = &mr_expand_ops,
    [MR_NODE_WATERMARK] = &mr_watermark_ops,
    [MR_NODE_UNION] = &mr_union_ops,
    [MR_NODE_PARTIAL_AGGREGATE] = &mr_partial_aggregate_ops,
    [MR_NODE_AGGREGATE] = &mr_aggregate_ops,
    [MR_NODE_DEDUPLICATE] = &mr_deduplicate_ops,
    [MR_NODE_DEDUPLICATE_WITHIN] = &mr_deduplicate_within_ops,
    [MR_NODE_GLOBAL_LIMIT] = &mr_global_limit_ops,
    [MR_NODE_LIMIT] = &mr_limit_ops,
    [MR_NODE_SORT] = &mr_sort_ops,
};

const struct mr_operator_ops *mr_operator_for(enum mr_node_kind kind)
{
    return operators[kind];
}
