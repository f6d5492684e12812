/* partial_update.c - one loop per aggregate over the rows of a batch.
 *
 * Few      When all rows are in the table of words and it has few groups, counts and sums of
 *          doubles run by group number into lanes (kernels/tally) that are folded into the slots
 *          after the batch. The number of rows of each group is counted once, for all aggregates
 *          that need it.
 * Any      Everything else: addresses of slots, and the function's own loop.
 */
#include "core/op/partial_aggregate.h"

#include "core/base/check.h"
#include "kernels/tally/tally.h"

static union mr_slot *slot_of(const struct mr_group_table *t, const struct mr_accumulator *acc,
                              uint32_t group)
{
    return mr_group_slots(t, group) + acc->first;
}

/* Lanes of counts into slot number at of each group. */
static void fold_counts(const struct mr_partial_state *s, const uint32_t *lanes,
                        const struct mr_accumulator *acc, uint32_t at)
{
    const struct mr_group_table *t = &s->tables[MR_WORDS_TABLE];

    for (uint32_t g = 0; g < t->n; g++, lanes += MR_LANES)
        slot_of(t, acc, g)[at].i64 += lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

/* All rows of the batch are in one group, and none is left out. */
static bool is_one_group(const struct mr_partial_state *s, const struct mr_partial_rows *r)
{
    return r->has_ids && s->tables[MR_WORDS_TABLE].n == 1 && r->sel == NULL;
}

/* Rows of each group with a value, in lanes of their own or, if all have one, those of all rows. */
static const uint32_t *count_values(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                                    const struct mr_column *x)
{
    struct mr_partial_state *s = ctx->state;
    const uint32_t groups = s->tables[MR_WORDS_TABLE].n;

    if (x == NULL || x->valid == NULL)
        return s->counts;
    uint32_t *lanes = MR_NEW_ARRAY(&s->arena, uint32_t, (uint64_t)groups * MR_LANES);
    if (is_one_group(s, r))
        lanes[0] = mr_bit_count(x->valid, r->n);
    else
        mr_tally->count_valid(lanes, s->ids, x->valid, r->sel, r->n);
    return lanes;
}

static void sum_values(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                       const struct mr_accumulator *acc, const struct mr_column *x)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_group_table *t = &s->tables[MR_WORDS_TABLE];

    memset(s->sums, 0, sizeof *s->sums * t->n * MR_LANES);
    if (is_one_group(s, r))
        mr_tally->sum_f64_of_one(s->sums, x->f64, x->valid, r->n);
    else
        mr_tally->sum_f64(s->sums, s->ids, x->f64, x->valid, r->sel, r->n);
    for (uint32_t g = 0; g < t->n; g++) {
        const double *lanes = s->sums + (uint64_t)g * MR_LANES;
        slot_of(t, acc, g)[1].f64 += (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
    fold_counts(s, count_values(ctx, r, x), acc, 0);
}

/* n times the slot; what an earlier batch left there stays. */
static union mr_slot **same_slots(struct mr_partial_state *s, union mr_slot *slot, uint32_t n)
{
    if (s->same_n > 0 && s->same[0] != slot)
        s->same_n = 0;
    for (; s->same_n < n; s->same_n++)
        s->same[s->same_n] = slot;
    return s->same;
}

static enum mr_status update_any(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                                 const struct mr_batch *batch, uint32_t k, struct mr_arena *owner)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_accumulator *acc = &p->acc.items[k];
    const struct mr_aggregate_call call = {.expr = acc->item->call,
                                           .err = ctx->err,
                                           .grow = mr_slot_grow_in_arena,
                                           .owner = owner,
                                           .arena = &s->arena,
                                           .context = ctx->eval,
                                           .is_one = is_one_group(s, r)};
    union mr_slot **slots = s->slots;

    if (call.is_one)
        slots = same_slots(s, slot_of(&s->tables[MR_WORDS_TABLE], acc, 0), batch->n);
    else if (r->has_ids && batch->sel == r->sel)
        for (uint32_t i = 0; i < batch->n; i++)
            s->slots[i] = slot_of(&s->tables[MR_WORDS_TABLE], acc, s->ids[i]);
    else
        for (uint32_t i = 0; i < batch->n; i++)
            s->slots[i] = s->groups[mr_batch_row(batch, i)] + acc->first;
    enum mr_status status =
        acc->item->aggregate->update(&call, batch->n, batch->sel, s->args, slots);
    if (status != MR_OK)
        mr_expr_place_error(call.expr, ctx->err);
    return status;
}

static enum mr_status update_one(struct mr_ctx *ctx, const struct mr_partial_rows *r, uint32_t k,
                                 bool is_few, struct mr_arena *owner)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_accumulator *acc = &p->acc.items[k];
    struct mr_batch batch = r->batch;
    enum mr_status status = MR_OK;

    if (p->filter_at[k] != MR_NO_EXPR) {
        status =
            mr_eval_filter(s->eval, p->filter_at[k], &r->batch, s->filtered, &batch.n, ctx->err);
        batch.sel = s->filtered;
    }
    if (batch.n == 0)
        return status;
    for (uint32_t arg = 0; arg < acc->item->call->args_n && status == MR_OK; arg++)
        status = mr_eval(s->eval, p->args_at[k] + arg, &batch, &s->args[arg], ctx->err);
    if (status)
        return status;
    if (is_few && p->folds[k] == MR_FOLD_COUNT)
        fold_counts(s, count_values(ctx, r, acc->item->call->args_n ? s->args : NULL), acc, 0);
    else if (is_few && p->folds[k] == MR_FOLD_SUM_F64)
        sum_values(ctx, r, acc, s->args);
    else
        return update_any(ctx, r, &batch, k, owner);
    return MR_OK;
}

enum mr_status mr_partial_update(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                                 struct mr_arena *owner)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_group_table *t = &s->tables[MR_WORDS_TABLE];
    const bool is_few = r->has_ids && p->has_folds && t->n <= MR_FEW_GROUPS && r->n >= t->n;

    if (is_few) {
        memset(s->counts, 0, sizeof *s->counts * t->n * MR_LANES);
        if (is_one_group(s, r))
            s->counts[0] = r->n;
        else
            mr_tally->count(s->counts, s->ids, r->n);
    }
    if (r->has_ids && p->has_filters)
        for (uint32_t i = 0; i < r->n; i++)
            s->groups[mr_batch_row(&r->batch, i)] = mr_group_slots(t, s->ids[i]);
    for (uint32_t k = 0; k < p->acc.items_n; k++) {
        const enum mr_status status = update_one(ctx, r, k, is_few, owner);
        if (status)
            return status;
    }
    return MR_OK;
}
