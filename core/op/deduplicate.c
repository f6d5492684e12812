/* deduplicate.c - lets the first row of each key through.
 *
 * dedupe   A key ends with its own time, if the event time is one of the keys; else it stays for
 * ever, and late rows are dropped all the same. within   A key ends at the time of its first row
 * plus the delay; it goes after the epoch, so that it still suppresses its duplicates in the epoch
 * that ends it. A row without a time counts as one of 1970, as in Spark.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/op/time_bound.h"
#include "core/state/row.h"

struct deduplicate_plan {
    bool is_within;
    bool time_in_keys;
    struct mr_state_table table;
};

struct deduplicate_state {
    struct mr_eval *eval;
    struct mr_state *own; /* of a batch query */
    struct mr_state *table;
    struct mr_arena arena;
    bool is_open;
    struct mr_column *keys;
    uint64_t *hashes, *is_new;
    int64_t *expiry_us;
    struct mr_text *texts;
    struct mr_state_row **rows;
    uint32_t *sel;
};

enum { BUCKETS_PER_DELAY = 16 };

static enum mr_status plan_table(struct deduplicate_plan *p, const struct mr_node *node,
                                 struct mr_arena *a)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, node->keys_n);
    const int64_t bucket = node->delay_us / BUCKETS_PER_DELAY;
    uint32_t time_key = 0;

    for (uint32_t i = 0; i < node->keys_n; i++) {
        fields[i] = (struct mr_field){node->keys[i]->text ? node->keys[i]->text : "key",
                                      node->keys[i]->type, node->keys[i]->nullable};
        if (node->time_rule != MR_TIME_NONE && node->keys[i]->kind == MR_EXPR_COLUMN &&
            node->keys[i]->index == node->time_key) {
            p->time_in_keys = true;
            time_key = i;
        }
    }
    p->table = (struct mr_state_table){.name = "seen",
                                       .key = mr_type_struct(a, fields, node->keys_n),
                                       .value = mr_type_struct(a, NULL, 0),
                                       .expiry_field = time_key,
                                       .rows_are_final = true};
    p->table.expiry = p->is_within                      ? MR_EXPIRY_GIVEN
                      : p->time_in_keys && !node->batch ? MR_EXPIRY_OF_KEY
                                                        : MR_EXPIRY_NEVER;
    if (p->is_within || p->time_in_keys)
        p->table.bucket_us = bucket > 1000000 ? bucket : 1000000;
    p->table.any_expiry = p->is_within;
    return MR_OK;
}

static enum mr_status deduplicate_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                                       struct mr_error *err)
{
    (void)err;
    return plan_table(plan, node, a);
}

static enum mr_status within_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                                  struct mr_error *err)
{
    struct deduplicate_plan *p = plan;

    (void)err;
    p->is_within = true;
    return plan_table(p, node, a);
}

static const struct mr_state_table *deduplicate_tables(const void *plan, uint32_t *n)
{
    const struct deduplicate_plan *p = plan;

    *n = 1;
    return &p->table;
}

static enum mr_status deduplicate_open(struct mr_ctx *ctx)
{
    struct deduplicate_state *s = ctx->state;
    const struct deduplicate_plan *p = ctx->plan;
    const struct mr_node *node = ctx->node;
    const uint32_t n = ctx->batch_rows;
    struct mr_arena *a = ctx->arena;

    mr_arena_init(&s->arena, a->budget, a->escape);
    s->is_open = true;
    s->keys = MR_NEW_ARRAY(a, struct mr_column, node->keys_n);
    s->hashes = MR_NEW_ARRAY(a, uint64_t, n);
    s->is_new = MR_NEW_ARRAY(a, uint64_t, mr_bit_words(n));
    s->expiry_us = MR_NEW_ARRAY(a, int64_t, n);
    s->texts = MR_NEW_ARRAY(a, struct mr_text, n);
    s->rows = MR_NEW_ARRAY(a, struct mr_state_row *, n);
    s->sel = MR_NEW_ARRAY(a, uint32_t, n);
    if (node->batch) {
        const struct mr_state_config config = {
            .table = &p->table, .budget = a->budget, .escape = a->escape};
        const enum mr_status status = mr_state_open(&config, &s->own, ctx->err);
        if (status)
            return status;
        s->table = s->own;
    } else {
        s->table = ctx->tables[0];
    }
    return mr_eval_open(node->keys, node->keys_n, n, a, &s->eval, ctx->err);
}

static void deduplicate_close(struct mr_ctx *ctx)
{
    struct deduplicate_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
    if (s->own)
        mr_state_close(s->own);
    if (s->is_open)
        mr_arena_fini(&s->arena);
}

static void expire(const struct mr_ctx *ctx, const struct mr_batch *in)
{
    struct deduplicate_state *s = ctx->state;
    const struct deduplicate_plan *p = ctx->plan;
    const bool is_timed = (p->is_within || p->time_in_keys) && !ctx->node->batch;
    const struct mr_column *time = is_timed ? &in->columns[ctx->node->time_key] : NULL;

    mr_time_expiry(time, in->sel, in->n, s->expiry_us);
    if (!p->is_within || !is_timed)
        return;
    for (uint32_t i = 0; i < in->n; i++) {
        const int64_t time_us = s->expiry_us[i] == MR_STATE_NEVER ? 0 : s->expiry_us[i];
        if (__builtin_add_overflow(time_us, ctx->node->delay_us, &s->expiry_us[i]))
            s->expiry_us[i] = MR_STATE_NEVER;
    }
}

/* Into texts and hashes, by selected row. */
static enum mr_status find_keys(struct mr_ctx *ctx, const struct mr_batch *rows)
{
    struct deduplicate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    for (uint32_t i = 0; i < rows->n && rows->keys; i++) {
        s->texts[i] = rows->keys[mr_batch_row(rows, i)];
        s->hashes[i] = rows->hashes[mr_batch_row(rows, i)];
    }
    if (rows->keys)
        return MR_OK;
    mr_arena_reset(&s->arena);
    mr_eval_reset(s->eval, ctx->eval);
    for (uint32_t i = 0; i < node->keys_n; i++) {
        enum mr_status status = mr_eval(s->eval, i, rows, &s->keys[i], ctx->err);
        if (status != MR_OK)
            return status;
    }
    mr_row_encode(s->keys, node->keys_n, rows->sel, rows->n, &s->arena, s->texts, s->hashes);
    return MR_OK;
}

static enum mr_step deduplicate_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                     struct mr_batch *out)
{
    struct deduplicate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    struct mr_batch rows = *in;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    if (node->time_rule != MR_TIME_NONE && !node->batch) {
        rows.n = mr_time_drop_late(&in->columns[node->time_key], ctx->epoch->late_us, in->sel,
                                   in->n, s->sel);
        rows.sel = rows.n == in->n ? in->sel : s->sel;
        ctx->counts.rows_dropped += in->n - rows.n;
    }
    if (rows.n == 0)
        return MR_NEED_INPUT;
    if (find_keys(ctx, &rows) != MR_OK)
        return MR_FAILED;
    expire(ctx, &rows);
    mr_state_insert(s->table, ctx->epoch->id, rows.n, s->hashes, s->texts, s->expiry_us, s->rows,
                    s->is_new);
    mr_batch_view(out, &rows);
    out->n = 0;
    for (uint32_t i = 0; i < rows.n; i++) {
        s->sel[out->n] = mr_batch_row(&rows, i);
        out->n += mr_bit_get(s->is_new, i);
    }
    out->sel = s->sel;
    ctx->counts.rows_updated += out->n;
    return MR_NEED_INPUT;
}

static enum mr_step deduplicate_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct deduplicate_state *s = ctx->state;
    const struct deduplicate_plan *p = ctx->plan;

    (void)out;
    if ((p->is_within || p->time_in_keys) && !ctx->node->batch)
        ctx->counts.rows_removed += mr_state_evict(s->table, ctx->epoch->evict_us, NULL, NULL);
    ctx->counts.rows_total = mr_state_rows(s->table);
    ctx->counts.memory_bytes = mr_state_bytes(s->table);
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_deduplicate_ops = {
    .name = "dedupe",
    .plan_size = sizeof(struct deduplicate_plan),
    .state_size = sizeof(struct deduplicate_state),
    .plan = deduplicate_plan,
    .open = deduplicate_open,
    .close = deduplicate_close,
    .step = deduplicate_step,
    .mark = deduplicate_mark,
    .tables = deduplicate_tables,
};

const struct mr_operator_ops mr_deduplicate_within_ops = {
    .name = "dedupeWithinWatermark",
    .plan_size = sizeof(struct deduplicate_plan),
    .state_size = sizeof(struct deduplicate_state),
    .plan = within_plan,
    .open = deduplicate_open,
    .close = deduplicate_close,
    .step = deduplicate_step,
    .mark = deduplicate_mark,
    .tables = deduplicate_tables,
};
