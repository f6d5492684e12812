/* aggregate.c - merges partial rows into state, and gives groups when the output mode says so.
 *
 * Input    [keys.., slots..]. Output: exprs over [keys.., results..].
 * Modes    append: groups whose time is at or behind the watermark, which then are gone. update:
 * groups that this epoch changed; what is behind the watermark goes silently. complete: all groups,
 * kept. A batch query: all groups, from a table of its own. Keyless  One group under the empty key,
 * there in every epoch, whether rows came or not. Its hash is 0: partition 0, of worker 0, to which
 * the exchange sends all rows.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/op/accumulators.h"
#include "core/op/empty_key.h"
#include "core/op/time_bound.h"
#include "core/state/row.h"

struct aggregate_plan {
    struct mr_accumulators acc;
    const struct mr_type *key_type; /* STRUCT */
    struct mr_state_table table;
    bool key_has_expiry; /* else it comes with the rows */
};

/* Rows that are found, then merged: few enough that they are still in the first-level cache. */
enum { BLOCK = 256 };

enum phase { MERGING, EMITTING };

struct aggregate_state {
    struct mr_eval *eval;
    struct mr_state *own; /* of a batch query */
    struct mr_state *table;
    struct mr_arena arena, out_arena, evicted_arena;
    bool is_open;
    enum phase phase;
    struct mr_state_cursor cursor;
    bool is_exhausted;             /* the cursor must not be asked again */
    struct mr_state_row **evicted; /* copies */
    uint32_t evicted_n, evicted_capacity, evicted_at;
    uint64_t *hashes, *is_new;
    int64_t *expiry_us;
    struct mr_text *keys;
    struct mr_state_row **rows;
    union mr_slot **from, **into;
    struct mr_column *columns, *out_columns;
};

static int64_t bucket_us(const struct mr_node *node)
{
    switch (node->time_rule) {
    case MR_TIME_NONE:
        return node->window_key == UINT32_MAX ? 0 : node->slide_us; /* groups of a time together */
    case MR_TIME_WINDOW_END:
        return node->slide_us    ? node->slide_us
               : node->window_us ? node->window_us
                                 : INT64_C(300000000);
    case MR_TIME_COLUMN:
        return INT64_C(60000000);
    }
    MR_UNREACHABLE();
}

/* Groups of windows lie together by time, also where no watermark ends them. */
static void plan_expiry(struct mr_state_table *t, const struct mr_node *node)
{
    const bool is_timed = node->time_rule != MR_TIME_NONE;

    t->expiry_field = is_timed ? node->time_key : node->window_key;
    t->expiry = t->expiry_field == UINT32_MAX ? MR_EXPIRY_NEVER : MR_EXPIRY_OF_KEY;
    if (!is_timed && !mr_state_key_has_expiry(t))
        t->expiry = MR_EXPIRY_NEVER;
    t->bucket_us = t->expiry == MR_EXPIRY_NEVER ? 0 : bucket_us(node);
}

static enum mr_status aggregate_plan(void *plan, const struct mr_node *node, struct mr_arena *a,
                                     struct mr_error *err)
{
    struct aggregate_plan *p = plan;

    (void)err;
    mr_accumulators_plan(&p->acc, node, a);
    p->key_type = mr_type_struct(a, node->children[0]->output->fields, node->keys_n);
    struct mr_field *values = MR_NEW_ARRAY(a, struct mr_field, p->acc.kinds_n);
    for (uint32_t i = 0; i < p->acc.items_n; i++)
        for (uint32_t k = 0; k < p->acc.items[i].kinds_n; k++) {
            const uint32_t slot = p->acc.items[i].kind + k;
            const char *name = p->acc.items[i].item->aggregate->name;
            /* Spark's buffers may be null, but for those of counts. */
            values[slot] = (struct mr_field){mr_arena_format(a, "%s_%u_%u", name, i, k),
                                             p->acc.types[slot], strncmp(name, "count", 5) != 0};
        }
    p->table = (struct mr_state_table){.name = "groups",
                                       .key = p->key_type,
                                       .value = mr_type_struct(a, values, p->acc.kinds_n),
                                       .slots_n = p->acc.kinds_n,
                                       .slots = p->acc.kinds,
                                       .keeps_changes = node->mode == MR_UPDATE};
    plan_expiry(&p->table, node);
    p->key_has_expiry = mr_state_key_has_expiry(&p->table);
    return MR_OK;
}

static const struct mr_state_table *aggregate_tables(const void *plan, uint32_t *n)
{
    const struct aggregate_plan *p = plan;

    *n = 1;
    return &p->table;
}

static enum mr_status aggregate_open(struct mr_ctx *ctx)
{
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;
    const struct mr_node *node = ctx->node;
    const uint32_t n = ctx->batch_rows;
    struct mr_arena *a = ctx->arena;

    mr_arena_init(&s->arena, a->budget, a->escape);
    mr_arena_init(&s->out_arena, a->budget, a->escape);
    mr_arena_init(&s->evicted_arena, a->budget, a->escape);
    s->is_open = true;
    s->hashes = MR_NEW_ARRAY(a, uint64_t, n);
    s->is_new = MR_NEW_ARRAY(a, uint64_t, mr_bit_words(n));
    s->expiry_us = MR_NEW_ARRAY(a, int64_t, n);
    s->keys = MR_NEW_ARRAY(a, struct mr_text, n);
    s->rows = MR_NEW_ARRAY(a, struct mr_state_row *, n);
    s->from = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->into = MR_NEW_ARRAY(a, union mr_slot *, n);
    s->columns = MR_NEW_ARRAY(a, struct mr_column, node->keys_n + node->aggregates_n + 1);
    s->out_columns = MR_NEW_ARRAY(a, struct mr_column, node->exprs_n + 1);
    if (node->batch) {
        const struct mr_state_config config = {
            .table = &p->table, .budget = a->budget, .escape = a->escape};
        enum mr_status status = mr_state_open(&config, &s->own, ctx->err);
        if (status)
            return status;
        s->table = s->own;
    } else {
        s->table = ctx->tables[0];
    }
    return mr_eval_open(node->exprs, node->exprs_n, n, a, &s->eval, ctx->err);
}

static void aggregate_close(struct mr_ctx *ctx)
{
    struct aggregate_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
    if (s->own)
        mr_state_close(s->own);
    if (!s->is_open)
        return;
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->out_arena);
    mr_arena_fini(&s->evicted_arena);
}

static struct mr_aggregate_call call_of(struct mr_ctx *ctx, const struct mr_accumulator *acc,
                                        struct mr_arena *a)
{
    struct aggregate_state *s = ctx->state;

    return (struct mr_aggregate_call){.expr = acc->item->call,
                                      .err = ctx->err,
                                      .grow = mr_state_grow,
                                      .owner = s->table,
                                      .arena = a,
                                      .context = ctx->eval};
}

/* Encoded keys, hashes and expiries of the rows of a batch. */
static void find_keys(struct mr_ctx *ctx, const struct mr_batch *in, const struct mr_text **keys,
                      const uint64_t **hashes)
{
    struct aggregate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    const struct aggregate_plan *p = ctx->plan;
    const struct mr_column *time =
        node->time_rule == MR_TIME_NONE ? NULL : &in->columns[node->time_key];

    MR_ASSERT(in->keys == NULL || in->sel == NULL);
    *keys = in->keys ? in->keys : s->keys;
    *hashes = in->keys ? in->hashes : s->hashes;
    if (node->keys_n > 0 && in->keys == NULL) {
        mr_row_encode(in->columns, node->keys_n, in->sel, in->n, &s->arena, s->keys, s->hashes);
    } else if (node->keys_n == 0) {
        for (uint32_t i = 0; i < in->n; i++) {
            s->hashes[i] = mr_empty_hash;
            s->keys[i] = mr_empty_key;
        }
    }
    if (p->key_has_expiry)
        mr_state_expiries(s->table, in->n, *keys, s->expiry_us);
    else
        mr_time_expiry(time, in->sel, in->n, s->expiry_us);
}

/* slots: of n rows, which go into s->rows. */
static enum mr_status merge_rows(struct mr_ctx *ctx, uint32_t n, union mr_slot *slots)
{
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;

    for (uint32_t k = 0; k < p->acc.items_n; k++) {
        const struct mr_accumulator *acc = &p->acc.items[k];
        const struct mr_aggregate_call call = call_of(ctx, acc, &s->arena);
        for (uint32_t i = 0; i < n; i++) {
            s->from[i] = slots + (uint64_t)i * p->acc.width + acc->first;
            s->into[i] = mr_state_slots(s->rows[i]) + acc->first;
        }
        const enum mr_status status = acc->item->aggregate->merge(&call, n, s->from, s->into);
        if (status != MR_OK) {
            mr_expr_place_error(call.expr, ctx->err);
            return status;
        }
    }
    return MR_OK;
}

static enum mr_step aggregate_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                   struct mr_batch *out)
{
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;
    const struct mr_text *keys;
    const uint64_t *hashes;

    (void)out;
    MR_ASSERT(in->n <= ctx->batch_rows);
    mr_arena_reset(&s->arena);
    union mr_slot *slots =
        mr_arena_alloc(&s->arena, sizeof *slots * ((uint64_t)in->n * p->acc.width + 1));
    mr_accumulators_from_columns(&p->acc, in->columns + ctx->node->keys_n, in->sel, in->n, slots,
                                 &s->arena);
    find_keys(ctx, in, &keys, &hashes);
    for (uint32_t from = 0; from < in->n; from += BLOCK) {
        const uint32_t n = in->n - from < BLOCK ? in->n - from : BLOCK;
        mr_state_upsert(s->table, ctx->epoch->id, n, hashes + from, keys + from,
                        s->expiry_us + from, s->rows, s->is_new);
        if (merge_rows(ctx, n, slots + (uint64_t)from * p->acc.width))
            return MR_FAILED;
    }
    return MR_NEED_INPUT;
}

/* Keeps a row that state is about to forget. */
static void keep_evicted(void *arg, struct mr_state_row *row)
{
    struct mr_ctx *ctx = arg;
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;
    const uint64_t bytes =
        (uint64_t)((uint8_t *)(mr_state_slots(row) + p->acc.width) - (uint8_t *)row);

    if (s->evicted_n == s->evicted_capacity) {
        const uint32_t capacity = s->evicted_capacity ? s->evicted_capacity * 2 : 1024;
        struct mr_state_row **grown = mr_arena_alloc(&s->evicted_arena, sizeof(*grown) * capacity);
        if (s->evicted_n > 0)
            memcpy(grown, s->evicted, sizeof(*grown) * s->evicted_n);
        s->evicted = grown;
        s->evicted_capacity = capacity;
    }
    struct mr_state_row *copy = mr_arena_alloc(&s->evicted_arena, bytes);
    memcpy(copy, row, bytes);
    for (uint32_t k = 0; k < p->acc.kinds_n; k++) {
        struct mr_slot_bytes *b = mr_wide_bytes(&mr_state_slots(copy)[p->acc.places[k]]);
        if (p->acc.kinds[k] != MR_SLOT_BYTES || b->data == NULL)
            continue;
        uint8_t *data = mr_arena_alloc(&s->evicted_arena, (uint64_t)b->n + 1);
        memcpy(data, b->data, b->n);
        b->data = data;
    }
    s->evicted[s->evicted_n++] = copy;
}

static bool evicts(const struct mr_ctx *ctx)
{
    return ctx->node->time_rule != MR_TIME_NONE && ctx->node->mode != MR_COMPLETE &&
           !ctx->node->batch;
}

static void begin_mark(struct mr_ctx *ctx)
{
    struct aggregate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    if (node->keys_n == 0 && ctx->worker == 0) {
        mr_state_upsert(s->table, ctx->epoch->id, 1, &mr_empty_hash, &mr_empty_key,
                        &mr_empty_expiry, s->rows, s->is_new);
    }
    ctx->counts.rows_updated = mr_state_changed(s->table, ctx->epoch->id);
    s->cursor = (struct mr_state_cursor){0};
    s->phase = EMITTING;
    s->is_exhausted = false;
    s->evicted_n = s->evicted_at = s->evicted_capacity = 0;
    mr_arena_reset(&s->evicted_arena);
    if (node->mode == MR_APPEND && evicts(ctx))
        ctx->counts.rows_removed +=
            mr_state_evict(s->table, ctx->epoch->evict_us, keep_evicted, ctx);
}

static void end_mark(struct mr_ctx *ctx)
{
    struct aggregate_state *s = ctx->state;

    s->phase = MERGING;
    if (ctx->node->mode == MR_UPDATE && evicts(ctx))
        ctx->counts.rows_removed += mr_state_evict(s->table, ctx->epoch->evict_us, NULL, NULL);
    ctx->counts.rows_total = mr_state_rows(s->table);
    ctx->counts.memory_bytes = mr_state_bytes(s->table);
}

static bool next_row(struct mr_ctx *ctx, struct mr_state_row **row)
{
    struct aggregate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    if (node->mode == MR_APPEND && !node->batch) {
        if (s->evicted_at == s->evicted_n)
            return false;
        *row = s->evicted[s->evicted_at++];
        return true;
    }
    if (node->mode == MR_UPDATE && !node->batch)
        return mr_state_next_changed(s->table, ctx->epoch->id, &s->cursor, row);
    return mr_state_next(s->table, &s->cursor, row);
}

/* The next rows to give, in s->rows; 0: that was all. */
static uint32_t next_rows(struct mr_ctx *ctx)
{
    struct aggregate_state *s = ctx->state;
    uint32_t n = 0;

    while (n < ctx->batch_rows && !s->is_exhausted) {
        s->is_exhausted = !next_row(ctx, &s->rows[n]);
        n += !s->is_exhausted;
    }
    return n;
}

static enum mr_status decode_keys(struct mr_ctx *ctx, uint32_t n)
{
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;

    for (uint32_t i = 0; i < n; i++)
        s->keys[i] = mr_state_key(s->rows[i]);
    return mr_row_decode(p->key_type, s->keys, n, s->columns, &s->out_arena, ctx->err);
}

/* Turns s->rows into an output batch. */
static enum mr_status give_rows(struct mr_ctx *ctx, uint32_t n, struct mr_batch *out)
{
    struct aggregate_state *s = ctx->state;
    const struct aggregate_plan *p = ctx->plan;
    const struct mr_node *node = ctx->node;
    enum mr_status status = decode_keys(ctx, n);

    for (uint32_t k = 0; k < p->acc.items_n && status == MR_OK; k++) {
        const struct mr_accumulator *acc = &p->acc.items[k];
        const struct mr_aggregate_call call = call_of(ctx, acc, &s->out_arena);
        struct mr_column *result = &s->columns[node->keys_n + k];
        *result = (struct mr_column){.type = acc->item->call->type};
        for (uint32_t i = 0; i < n; i++)
            s->from[i] = mr_state_slots(s->rows[i]) + acc->first;
        status = acc->item->aggregate->result(&call, n, s->from, result);
        if (status != MR_OK)
            mr_expr_place_error(call.expr, ctx->err);
    }
    const struct mr_batch groups = {
        .columns = s->columns, .columns_n = node->keys_n + p->acc.items_n, .rows = n, .n = n};
    *out = groups;
    out->columns = s->out_columns;
    out->columns_n = node->exprs_n;
    mr_eval_reset(s->eval, ctx->eval);
    for (uint32_t i = 0; i < node->exprs_n && status == MR_OK; i++)
        status = mr_eval(s->eval, i, &groups, &s->out_columns[i], ctx->err);
    return status;
}

static enum mr_step aggregate_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct aggregate_state *s = ctx->state;

    if (s->phase == MERGING)
        begin_mark(ctx);
    mr_arena_reset(&s->out_arena);
    const uint32_t n = next_rows(ctx);
    if (n == 0) {
        end_mark(ctx);
        return MR_NEED_INPUT;
    }
    return give_rows(ctx, n, out) ? MR_FAILED : MR_MORE_OUTPUT;
}

const struct mr_operator_ops mr_aggregate_ops = {
    .name = "stateStoreSave",
    .plan_size = sizeof(struct aggregate_plan),
    .state_size = sizeof(struct aggregate_state),
    .plan = aggregate_plan,
    .open = aggregate_open,
    .close = aggregate_close,
    .step = aggregate_step,
    .mark = aggregate_mark,
    .tables = aggregate_tables,
};
