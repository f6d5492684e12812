/* partial_aggregate.c - groups the rows of an epoch before they are exchanged.
 *
 * Paths    Keys that fit go as words (key_words.h), other rows as encoded rows; each way has its
 * table, and a key can only be in one of them. When the tables have outgrown the cache they are
 * given away (several partial rows of a group are no harm). When they did not shrink the rows by
 * half, the next rows pass as partial rows of one row each, and later grouping is tried again. Late
 * Rows behind the watermark are dropped here, and counted one by one.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/op/partial_aggregate.h"
#include "core/state/row.h"
#include "kernels/tally/tally.h"

enum {
    REDUCTION_MIN = 2, /* rows per group, below which grouping does not pay */
    PASS_FACTOR = 16,  /* so many times the rows of the failed attempt pass before the next */
};

static enum mr_status partial_open(struct mr_ctx *ctx)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const uint32_t n = ctx->batch_rows;
    struct mr_arena *a = ctx->arena;

    mr_arena_init(&s->arena, a->budget, a->escape);
    mr_arena_init(&s->out_arena, a->budget, a->escape);
    mr_arena_init(&s->bytes, a->budget, a->escape);
    mr_group_table_open(&s->tables[MR_WORDS_TABLE], p->has_words ? p->words.words_n : 1,
                        p->acc.width, a);
    mr_group_table_open(&s->tables[MR_ENCODED_TABLE], 0, p->acc.width, a);
    s->is_open = true;
    s->keys = MR_NEW_ARRAY(a, struct mr_column, ctx->node->keys_n + 1);
    s->args = MR_NEW_ARRAY(a, struct mr_column, p->args_max + 1);
    s->out_columns = MR_NEW_ARRAY(a, struct mr_column, ctx->node->keys_n + p->acc.kinds_n + 1);
    s->groups = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->slots = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->same = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->sel = MR_NEW_ARRAY(a, uint32_t, n);
    s->fit = MR_NEW_ARRAY(a, uint32_t, n);
    s->rest = MR_NEW_ARRAY(a, uint32_t, n);
    s->filtered = MR_NEW_ARRAY(a, uint32_t, n);
    s->ids = MR_NEW_ARRAY(a, uint32_t, n);
    s->misses = MR_NEW_ARRAY(a, uint32_t, n);
    s->lookup = MR_NEW_ARRAY(a, uint32_t, n);
    s->counts = MR_NEW_ARRAY(a, uint32_t, MR_FEW_GROUPS * MR_LANES);
    s->sums = MR_NEW_ARRAY(a, double, MR_FEW_GROUPS *MR_LANES);
    s->cache = MR_NEW(a, struct mr_group_cache);
    mr_partial_forget_cache(s);
    s->starts = MR_NEW_ARRAY(a, int64_t, n);
    s->hashes = MR_NEW_ARRAY(a, uint64_t, n);
    s->texts = MR_NEW_ARRAY(a, struct mr_text, n);
    if (p->has_words)
        s->words = MR_NEW_ARRAY(a, uint64_t, (uint64_t)n * p->words.words_n);
    return mr_eval_open(p->exprs, p->exprs_n, n, a, &s->eval, ctx->err);
}

static void partial_close(struct mr_ctx *ctx)
{
    struct mr_partial_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
    if (!s->is_open)
        return;
    for (uint32_t t = 0; t < MR_PARTIAL_TABLES; t++)
        mr_group_table_close(&s->tables[t]);
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->out_arena);
    mr_arena_fini(&s->bytes);
}

/* Each row as a partial row of its own: keys are shared with the input. */
static enum mr_status pass(struct mr_ctx *ctx, const struct mr_partial_rows *r,
                           struct mr_batch *out)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    union mr_slot *slots =
        mr_arena_zero(&s->arena, sizeof *slots * ((uint64_t)r->n * p->acc.width + 1));

    for (uint32_t i = 0; i < r->n; i++)
        s->groups[mr_batch_row(&r->batch, i)] = slots + (uint64_t)i * p->acc.width;
    if (mr_partial_update(ctx, r, &s->arena))
        return ctx->err->status;
    mr_partial_make_window(ctx, r);
    for (uint32_t i = 0; i < r->n; i++)
        s->slots[i] = slots + (uint64_t)i * p->acc.width;
    *out = r->batch;
    out->columns = s->out_columns;
    out->columns_n = ctx->node->keys_n + p->acc.kinds_n;
    memcpy(s->out_columns, s->keys, sizeof *s->keys * ctx->node->keys_n);
    mr_accumulators_to_columns(&p->acc, s->slots, r->sel, r->n, r->batch.rows,
                               s->out_columns + ctx->node->keys_n, &s->arena);
    s->pass_rows -= s->pass_rows < r->n ? s->pass_rows : r->n;
    return MR_OK;
}

static enum mr_status keys_to_columns(struct mr_ctx *ctx, uint32_t table, uint32_t first,
                                      uint32_t n)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_group_table *t = &s->tables[table];

    if (table == MR_WORDS_TABLE) {
        mr_key_words_unpack(&p->words, t->words + (uint64_t)first * t->words_n, n, s->out_columns,
                            &s->out_arena);
        return MR_OK;
    }
    return mr_row_decode(p->key_type, t->keys + first, n, s->out_columns, &s->out_arena, ctx->err);
}

/* Gives the next groups of the tables; when none is left, forgets them. */
static enum mr_step drain(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    uint32_t table = MR_WORDS_TABLE;

    mr_arena_reset(&s->out_arena);
    while (table < MR_PARTIAL_TABLES && s->drained[table] == s->tables[table].n)
        table++;
    if (table < MR_PARTIAL_TABLES) {
        const struct mr_group_table *t = &s->tables[table];
        const uint32_t first = s->drained[table];
        const uint32_t n = t->n - first < ctx->batch_rows ? t->n - first : ctx->batch_rows;
        for (uint32_t i = 0; i < n; i++)
            s->slots[i] = mr_group_slots(t, first + i);
        if (keys_to_columns(ctx, table, first, n))
            return MR_FAILED;
        mr_accumulators_to_columns(&p->acc, s->slots, NULL, n, n,
                                   s->out_columns + ctx->node->keys_n, &s->out_arena);
        *out = (struct mr_batch){.columns = s->out_columns,
                                 .columns_n = ctx->node->keys_n + p->acc.kinds_n,
                                 .rows = n,
                                 .n = n};
        s->drained[table] += n;
        return MR_MORE_OUTPUT; /* out still lies in the tables */
    }
    const uint64_t groups = (uint64_t)s->tables[MR_WORDS_TABLE].n + s->tables[MR_ENCODED_TABLE].n;
    if (groups > p->groups_max && s->rows_in < groups * REDUCTION_MIN)
        s->pass_rows = s->rows_in * PASS_FACTOR;
    for (table = MR_WORDS_TABLE; table < MR_PARTIAL_TABLES; table++) {
        mr_group_table_clear(&s->tables[table]);
        s->drained[table] = 0;
    }
    mr_arena_reset(&s->bytes);
    mr_partial_forget_cache(s);
    s->rows_in = 0;
    s->is_draining = false;
    return MR_NEED_INPUT;
}

static enum mr_step partial_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                 struct mr_batch *out)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    struct mr_partial_rows r;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    if ((uint64_t)s->tables[MR_WORDS_TABLE].n + s->tables[MR_ENCODED_TABLE].n > p->groups_max)
        s->is_draining = true;
    if (s->is_draining) {
        const enum mr_step drained = drain(ctx, out);
        if (drained != MR_NEED_INPUT)
            return drained;
    }
    if (mr_partial_choose_rows(ctx, in, &r))
        return MR_FAILED;
    if (r.n == 0)
        return MR_NEED_INPUT;
    if (s->pass_rows > 0)
        return pass(ctx, &r, out) ? MR_FAILED : MR_NEED_INPUT;
    s->rows_in += r.n;
    mr_partial_find_groups(ctx, &r);
    return mr_partial_update(ctx, &r, &s->bytes) ? MR_FAILED : MR_NEED_INPUT;
}

static enum mr_step partial_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct mr_partial_state *s = ctx->state;

    s->is_draining = true;
    return drain(ctx, out);
}

const struct mr_operator_ops mr_partial_aggregate_ops = {
    .name = "partial_aggregate",
    .plan_size = sizeof(struct mr_partial_plan),
    .state_size = sizeof(struct mr_partial_state),
    .plan = mr_partial_plan,
    .open = partial_open,
    .close = partial_close,
    .step = partial_step,
    .mark = partial_mark,
};
