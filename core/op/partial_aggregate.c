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
#include "core/op/time_bound.h"
#include "core/state/row.h"
#include "kernels/window/window.h"

enum {
    REDUCTION_MIN = 2, /* rows per group, below which grouping does not pay */
    PASS_FACTOR = 16,  /* so many times the rows of the failed attempt pass before the next */
};

enum { WORDS, ENCODED, TABLES_N };

struct partial_state {
    struct mr_eval *eval;
    struct mr_arena arena, out_arena; /* of the input batch, of the output batch */
    struct mr_arena bytes;            /* of BYTES slots in the tables */
    bool is_open;
    struct mr_group_table tables[TABLES_N];
    uint64_t rows_in;   /* since the tables were empty */
    uint64_t pass_rows; /* still to pass */
    bool is_draining;
    uint32_t drained[TABLES_N]; /* groups given away */
    struct mr_column *keys, *args, *out_columns;
    union mr_slot **groups; /* by row: its group's first slot */
    union mr_slot **slots;  /* batch_rows */
    uint32_t *sel, *fit, *rest, *filtered, *ids, *misses;
    int64_t *starts;
    uint64_t *words, *hashes;
    struct mr_text *texts;
};

/* The rows of a batch that are to be grouped. */
struct rows {
    struct mr_batch batch; /* the input, these rows selected */
    uint32_t n;
    const uint32_t *sel;
};

static enum mr_status partial_open(struct mr_ctx *ctx)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const uint32_t n = ctx->batch_rows;
    struct mr_arena *a = ctx->arena;

    mr_arena_init(&s->arena, a->budget, a->escape);
    mr_arena_init(&s->out_arena, a->budget, a->escape);
    mr_arena_init(&s->bytes, a->budget, a->escape);
    mr_group_table_open(&s->tables[WORDS], p->has_words ? p->words.words_n : 1, p->acc.slots_n, a);
    mr_group_table_open(&s->tables[ENCODED], 0, p->acc.slots_n, a);
    s->is_open = true;
    s->keys = MR_NEW_ARRAY(a, struct mr_column, ctx->node->keys_n + 1);
    s->args = MR_NEW_ARRAY(a, struct mr_column, p->args_max + 1);
    s->out_columns = MR_NEW_ARRAY(a, struct mr_column, ctx->node->keys_n + p->acc.slots_n + 1);
    s->groups = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->slots = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->sel = MR_NEW_ARRAY(a, uint32_t, n);
    s->fit = MR_NEW_ARRAY(a, uint32_t, n);
    s->rest = MR_NEW_ARRAY(a, uint32_t, n);
    s->filtered = MR_NEW_ARRAY(a, uint32_t, n);
    s->ids = MR_NEW_ARRAY(a, uint32_t, n);
    s->misses = MR_NEW_ARRAY(a, uint32_t, n);
    s->starts = MR_NEW_ARRAY(a, int64_t, n);
    s->hashes = MR_NEW_ARRAY(a, uint64_t, n);
    s->texts = MR_NEW_ARRAY(a, struct mr_text, n);
    if (p->has_words)
        s->words = MR_NEW_ARRAY(a, uint64_t, (uint64_t)n * p->words.words_n);
    return mr_eval_open(p->exprs, p->exprs_n, n, a, &s->eval, ctx->err);
}

static void partial_close(struct mr_ctx *ctx)
{
    struct partial_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
    if (!s->is_open)
        return;
    for (uint32_t t = 0; t < TABLES_N; t++)
        mr_group_table_close(&s->tables[t]);
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->out_arena);
    mr_arena_fini(&s->bytes);
}

static int64_t late_us(const struct mr_ctx *ctx)
{
    const bool filters = ctx->node->time_rule != MR_TIME_NONE && ctx->node->mode != MR_COMPLETE &&
                         !ctx->epoch->is_batch;
    return filters ? ctx->epoch->late_us : INT64_MIN;
}

/* Windows of the rows by their time column, s->starts beside r->sel. Rows without a time have none
 * and go; late ones go and are counted. */
static void choose_by_window(struct mr_ctx *ctx, struct rows *r)
{
    struct partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    const struct mr_column *time = &s->keys[node->window_key];
    const int64_t late = node->time_key == node->window_key ? late_us(ctx) : INT64_MIN;
    struct mr_time_range range;

    mr_window->range(&range, time->i64, time->valid, r->sel, r->n);
    if (range.n < r->n) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < r->n; i++) {
            const uint32_t row = r->sel ? r->sel[i] : i;
            s->sel[kept] = row;
            kept += !mr_column_is_null(time, row);
        }
        r->sel = s->sel;
        r->n = kept;
    }
    if (r->n == 0)
        return;
    int64_t first;
    mr_window->starts(&first, &range.min, NULL, 1, node->window_us, node->offset_us);
    if ((uint64_t)range.max - (uint64_t)first < (uint64_t)node->window_us)
        for (uint32_t i = 0; i < r->n; i++)
            s->starts[i] = first;
    else
        mr_window->starts(s->starts, time->i64, r->sel, r->n, node->window_us, node->offset_us);
    if (first + node->window_us > late)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        s->sel[kept] = r->sel ? r->sel[i] : i;
        s->starts[kept] = s->starts[i];
        kept += s->starts[i] + node->window_us > late;
    }
    ctx->counts.rows_dropped += r->n - kept;
    r->sel = s->sel;
    r->n = kept;
}

/* Evaluates the keys and leaves the rows that count in r. */
static enum mr_status choose_rows(struct mr_ctx *ctx, const struct mr_batch *in, struct rows *r)
{
    struct partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    mr_eval_reset(s->eval, ctx->eval);
    mr_arena_reset(&s->arena);
    for (uint32_t i = 0; i < node->keys_n; i++)
        if (mr_eval(s->eval, i, in, &s->keys[i], ctx->err))
            return ctx->err->status;
    r->batch = *in;
    r->sel = in->sel;
    r->n = in->n;
    if (node->window_key != UINT32_MAX) {
        choose_by_window(ctx, r);
    } else if (late_us(ctx) != INT64_MIN) {
        r->n = mr_time_drop_late(&s->keys[node->time_key], late_us(ctx), in->sel, in->n, s->sel);
        r->sel = r->n == in->n ? in->sel : s->sel;
        ctx->counts.rows_dropped += in->n - r->n;
    }
    r->batch.sel = r->sel;
    r->batch.n = r->n;
    return MR_OK;
}

/* Turns the time column of a window key into the window; its rows are those of r. */
static void make_window_column(struct mr_ctx *ctx, const struct rows *r)
{
    struct partial_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    if (node->window_key != UINT32_MAX)
        mr_window_column(&s->keys[node->window_key], node->output->fields[node->window_key].type,
                         s->starts, node->window_us, r->sel, r->n, r->batch.rows, &s->arena);
}

static void group_words(struct mr_ctx *ctx, const uint32_t *sel, uint32_t n)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;

    mr_key_words_pack(&p->words, s->keys, s->starts, sel, n, s->words);
    mr_hash->words(s->hashes, s->words, p->words.words_n, n);
    mr_group_table_add_words(&s->tables[WORDS], n, s->hashes, s->words, s->ids, s->misses);
}

static void group_encoded(struct mr_ctx *ctx, const uint32_t *sel, uint32_t n)
{
    struct partial_state *s = ctx->state;

    mr_row_encode(s->keys, ctx->node->keys_n, sel, n, &s->arena, s->texts, s->hashes);
    mr_group_table_add_keys(&s->tables[ENCODED], n, s->hashes, s->texts, s->ids, s->misses);
}

static void note_groups(struct partial_state *s, const struct mr_group_table *t,
                        const uint32_t *sel, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        s->groups[sel ? sel[i] : i] = mr_group_slots(t, s->ids[i]);
}

/* Finds the group of each row: s->groups by row. */
static void find_groups(struct mr_ctx *ctx, const struct rows *r)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const uint32_t window_key = ctx->node->window_key;
    uint32_t fit_n = p->has_words ? r->n : 0;

    if (p->has_words && p->words.texts_n > 0)
        fit_n = mr_key_words_split(&p->words, s->keys, r->sel, r->n, s->fit, s->rest);
    if (fit_n == r->n) {
        group_words(ctx, r->sel, r->n);
        note_groups(s, &s->tables[WORDS], r->sel, r->n);
        return;
    }
    const struct mr_column time = s->keys[window_key == UINT32_MAX ? 0 : window_key];
    make_window_column(ctx, r);
    group_encoded(ctx, fit_n ? s->rest : r->sel, r->n - fit_n);
    note_groups(s, &s->tables[ENCODED], fit_n ? s->rest : r->sel, r->n - fit_n);
    if (fit_n == 0)
        return;
    if (window_key != UINT32_MAX) { /* the windows of the rows that fit, beside them */
        for (uint32_t i = 0; i < fit_n; i++)
            s->starts[i] = s->keys[window_key].children[0].i64[s->fit[i]];
        s->keys[window_key] = time;
    }
    group_words(ctx, s->fit, fit_n);
    note_groups(s, &s->tables[WORDS], s->fit, fit_n);
}

/* Folds the rows of r into the slots at s->groups. */
static enum mr_status update(struct mr_ctx *ctx, const struct rows *r, struct mr_arena *owner)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;

    for (uint32_t k = 0; k < p->acc.items_n; k++) {
        const struct mr_accumulator *acc = &p->acc.items[k];
        const struct mr_aggregate_call call = {.expr = acc->item->call,
                                               .err = ctx->err,
                                               .grow = mr_slot_grow_in_arena,
                                               .owner = owner,
                                               .arena = &s->arena,
                                               .context = ctx->eval};
        struct mr_batch batch = r->batch;
        if (p->filter_at[k] != MR_NO_EXPR) {
            if (mr_eval_filter(s->eval, p->filter_at[k], &r->batch, s->filtered, &batch.n,
                               ctx->err))
                return ctx->err->status;
            batch.sel = s->filtered;
        }
        if (batch.n == 0)
            continue;
        for (uint32_t arg = 0; arg < acc->item->call->args_n; arg++)
            if (mr_eval(s->eval, p->args_at[k] + arg, &batch, &s->args[arg], ctx->err))
                return ctx->err->status;
        for (uint32_t i = 0; i < batch.n; i++)
            s->slots[i] = s->groups[mr_batch_row(&batch, i)] + acc->first;
        if (acc->item->aggregate->update(&call, batch.n, batch.sel, s->args, s->slots))
            return ctx->err->status;
    }
    return MR_OK;
}

/* Each row as a partial row of its own: keys are shared with the input. */
static enum mr_status pass(struct mr_ctx *ctx, const struct rows *r, struct mr_batch *out)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    union mr_slot *slots =
        mr_arena_zero(&s->arena, sizeof *slots * ((uint64_t)r->n * p->acc.slots_n + 1));

    for (uint32_t i = 0; i < r->n; i++)
        s->groups[mr_batch_row(&r->batch, i)] = slots + (uint64_t)i * p->acc.slots_n;
    if (update(ctx, r, &s->arena))
        return ctx->err->status;
    make_window_column(ctx, r);
    for (uint32_t i = 0; i < r->n; i++)
        s->slots[i] = slots + (uint64_t)i * p->acc.slots_n;
    *out = r->batch;
    out->columns = s->out_columns;
    out->columns_n = ctx->node->keys_n + p->acc.slots_n;
    memcpy(s->out_columns, s->keys, sizeof *s->keys * ctx->node->keys_n);
    mr_accumulators_to_columns(&p->acc, s->slots, r->sel, r->n, r->batch.rows,
                               s->out_columns + ctx->node->keys_n, &s->arena);
    s->pass_rows -= s->pass_rows < r->n ? s->pass_rows : r->n;
    return MR_OK;
}

static enum mr_status keys_to_columns(struct mr_ctx *ctx, uint32_t table, uint32_t first,
                                      uint32_t n)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_group_table *t = &s->tables[table];
    const uint32_t keys_n = ctx->node->keys_n;

    if (table == WORDS) {
        mr_key_words_unpack(&p->words, t->words + (uint64_t)first * t->words_n, n, s->out_columns,
                            &s->out_arena);
        return MR_OK;
    }
    struct mr_builder *builders = MR_NEW_ARRAY(&s->out_arena, struct mr_builder, keys_n + 1);
    for (uint32_t i = 0; i < keys_n; i++)
        mr_builder_init(&builders[i], p->key_type->fields[i].type, n, &s->out_arena);
    for (uint32_t i = 0; i < n; i++)
        if (mr_row_decode(p->key_type, t->keys[first + i], builders, ctx->err))
            return ctx->err->status;
    for (uint32_t i = 0; i < keys_n; i++)
        mr_builder_finish(&builders[i], &s->out_columns[i]);
    return MR_OK;
}

/* Gives the next groups of the tables; when none is left, forgets them. */
static enum mr_step drain(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    uint32_t table = WORDS;

    mr_arena_reset(&s->out_arena);
    while (table < TABLES_N && s->drained[table] == s->tables[table].n)
        table++;
    if (table < TABLES_N) {
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
                                 .columns_n = ctx->node->keys_n + p->acc.slots_n,
                                 .rows = n,
                                 .n = n};
        s->drained[table] += n;
        return MR_MORE_OUTPUT; /* out still lies in the tables */
    }
    const uint64_t groups = (uint64_t)s->tables[WORDS].n + s->tables[ENCODED].n;
    if (groups > p->groups_max && s->rows_in < groups * REDUCTION_MIN)
        s->pass_rows = s->rows_in * PASS_FACTOR;
    for (table = WORDS; table < TABLES_N; table++) {
        mr_group_table_clear(&s->tables[table]);
        s->drained[table] = 0;
    }
    mr_arena_reset(&s->bytes);
    s->rows_in = 0;
    s->is_draining = false;
    return MR_NEED_INPUT;
}

static enum mr_step partial_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                 struct mr_batch *out)
{
    struct partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    struct rows r;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    if ((uint64_t)s->tables[WORDS].n + s->tables[ENCODED].n > p->groups_max)
        s->is_draining = true;
    if (s->is_draining) {
        const enum mr_step drained = drain(ctx, out);
        if (drained != MR_NEED_INPUT)
            return drained;
    }
    if (choose_rows(ctx, in, &r))
        return MR_FAILED;
    if (r.n == 0)
        return MR_NEED_INPUT;
    if (s->pass_rows > 0)
        return pass(ctx, &r, out) ? MR_FAILED : MR_NEED_INPUT;
    s->rows_in += r.n;
    find_groups(ctx, &r);
    return update(ctx, &r, &s->bytes) ? MR_FAILED : MR_NEED_INPUT;
}

static enum mr_step partial_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct partial_state *s = ctx->state;

    s->is_draining = true;
    return drain(ctx, out);
}

const struct mr_operator_ops mr_partial_aggregate_ops = {
    .name = "partial_aggregate",
    .plan_size = sizeof(struct mr_partial_plan),
    .state_size = sizeof(struct partial_state),
    .plan = mr_partial_plan,
    .open = partial_open,
    .close = partial_close,
    .step = partial_step,
    .mark = partial_mark,
};
