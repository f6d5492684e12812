#include "core/op/partial_aggregate.h"

enum {
    TABLE_BYTES = 768 * 1024, /* of the 1 MiB L2 cache of a core; the rest is for the batch */
    GROUPS_MIN = 1024,
    GROUPS_MAX = 16384,
};

static uint32_t groups_for(const struct mr_partial_plan *p)
{
    const uint64_t key = p->has_words ? p->words.words_n * 8 : 32;
    const uint64_t group = key + 8 + 10 + p->acc.width * sizeof(union mr_slot);
    const uint64_t n = TABLE_BYTES / group;

    return (uint32_t)(n < GROUPS_MIN ? GROUPS_MIN : n > GROUPS_MAX ? GROUPS_MAX : n);
}

/* Only our own functions: their slots are known. count: rows. sum, avg of doubles: the sum, then
 * rows. */
static enum mr_fold fold_of(const struct mr_aggregate_item *item)
{
    const struct mr_expr *call = item->call;

    if (item->filter || call->args_n > 1)
        return MR_FOLD_ANY;
    if (item->aggregate == mr_aggregate_find("count") &&
        (call->args_n == 0 || call->args[0]->type->kind != MR_VOID))
        return MR_FOLD_COUNT;
    if (call->args_n == 1 && call->args[0]->type->kind == MR_DOUBLE &&
        (item->aggregate == mr_aggregate_find("sum") ||
         item->aggregate == mr_aggregate_find("avg")))
        return MR_FOLD_SUM_F64;
    return MR_FOLD_ANY;
}

/* A text that is the only key beside the window: its views are the words. */
static uint32_t view_key_of(const struct mr_partial_plan *p, const struct mr_node *node)
{
    const bool has_window = node->window_key != UINT32_MAX;

    if (!p->has_words || p->words.texts_n != 1 || node->keys_n != 1u + has_window)
        return MR_NO_EXPR;
    return has_window ? 1 - node->window_key : 0;
}

enum mr_status mr_partial_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                               struct mr_error *err)
{
    struct mr_partial_plan *p = plan;
    uint32_t exprs_max = node->keys_n;

    (void)err;
    mr_accumulators_plan(&p->acc, node, a);
    p->has_words = node->keys_n > 0 && mr_key_words_plan(&p->words, node, a);
    p->key_type = mr_type_struct(a, node->output->fields, node->keys_n);
    for (uint32_t i = 0; i < node->aggregates_n; i++)
        exprs_max += node->aggregates[i].call->args_n + 1;
    p->exprs = MR_NEW_ARRAY(a, const struct mr_expr *, exprs_max);
    p->args_at = MR_NEW_ARRAY(a, uint32_t, node->aggregates_n);
    p->filter_at = MR_NEW_ARRAY(a, uint32_t, node->aggregates_n);
    p->folds = MR_NEW_ARRAY(a, enum mr_fold, node->aggregates_n);
    p->view_key = view_key_of(p, node);
    for (uint32_t i = 0; i < node->keys_n; i++)
        p->exprs[p->exprs_n++] = node->keys[i];
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        const struct mr_aggregate_item *item = &node->aggregates[i];
        p->args_at[i] = p->exprs_n;
        p->args_max = item->call->args_n > p->args_max ? item->call->args_n : p->args_max;
        for (uint32_t arg = 0; arg < item->call->args_n; arg++)
            p->exprs[p->exprs_n++] = item->call->args[arg];
        p->filter_at[i] = item->filter ? p->exprs_n : MR_NO_EXPR;
        p->folds[i] = fold_of(item);
        p->has_folds |= p->folds[i] != MR_FOLD_ANY;
        p->has_filters |= item->filter != NULL;
        if (item->filter)
            p->exprs[p->exprs_n++] = item->filter;
    }
    p->groups_max = groups_for(p);
    return MR_OK;
}
