/* limit.c - at most limit rows after the first skip: of an epoch (limit), or of all epochs
 * (globalLimit).
 *
 * globalLimit remembers one counter, under the empty key, as Spark does: it changes only in epochs
 * that let rows through. A stream goes on reading when the limit is reached, since its input rows
 * count and move watermarks; a batch query stops.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/op/empty_key.h"

struct limit_state {
    uint64_t epoch; /* + 1 */
    uint64_t seen;
    uint32_t *sel;
};

static enum mr_status limit_open(struct mr_ctx *ctx)
{
    struct limit_state *s = ctx->state;

    s->sel = mr_arena_alloc(ctx->arena, sizeof *s->sel * ctx->batch_rows);
    return MR_OK;
}

static void limit_close(struct mr_ctx *ctx)
{
    (void)ctx;
}

/* Rows of in whose number, counted from seen, lies in [skip, skip + limit). */
static void choose(const struct mr_node *node, struct limit_state *s, const struct mr_batch *in,
                   struct mr_batch *out)
{
    const uint64_t end =
        node->limit > UINT64_MAX - node->skip ? UINT64_MAX : node->skip + node->limit;
    uint64_t first = node->skip > s->seen ? node->skip - s->seen : 0;
    uint64_t last = end > s->seen ? end - s->seen : 0;

    first = first < in->n ? first : in->n;
    last = last < in->n ? last : in->n;
    mr_batch_view(out, in);
    out->n = 0;
    if (first < last) {
        out->n = (uint32_t)(last - first);
        for (uint32_t i = 0; i < out->n; i++)
            s->sel[i] = mr_batch_row(in, (uint32_t)first + i);
        out->sel = s->sel;
    }
    s->seen += in->n;
}

static bool is_reached(const struct mr_node *node, const struct limit_state *s)
{
    return s->seen >= node->skip && s->seen - node->skip >= node->limit;
}

static enum mr_step limit_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    struct limit_state *s = ctx->state;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    if (s->epoch != ctx->epoch->id + 1) {
        s->epoch = ctx->epoch->id + 1;
        s->seen = 0;
    }
    choose(ctx->node, s, in, out);
    return ctx->epoch->is_batch && is_reached(ctx->node, s) ? MR_DONE : MR_NEED_INPUT;
}

static const struct mr_field count_fields[] = {{"count", &mr_type_bigint, false}};
static const struct mr_type count_type = {.kind = MR_STRUCT, .fields_n = 1, .fields = count_fields};
static const struct mr_type empty_type = {.kind = MR_STRUCT};
static const enum mr_slot_kind count_slots[] = {MR_SLOT_I64};
static const struct mr_state_table count_table = {.name = "limit",
                                                  .key = &empty_type,
                                                  .value = &count_type,
                                                  .slots_n = 1,
                                                  .slots = count_slots,
                                                  .expiry = MR_EXPIRY_NEVER};

static const struct mr_state_table *global_limit_tables(const void *plan, uint32_t *n)
{
    (void)plan;
    *n = 1;
    return &count_table;
}

static enum mr_step global_limit_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                      struct mr_batch *out)
{
    struct limit_state *s = ctx->state;
    struct mr_state_row *row = NULL;

    MR_ASSERT(in->rows <= ctx->batch_rows);
    if (ctx->epoch->is_batch)
        return limit_step(ctx, in, out);
    mr_state_find(ctx->tables[0], 1, &mr_empty_hash, &mr_empty_key, &mr_empty_expiry, &row);
    s->seen = row ? (uint64_t)mr_state_slots(row)->i64 : 0;
    if (is_reached(ctx->node, s) || in->n == 0)
        return MR_NEED_INPUT;
    choose(ctx->node, s, in, out);
    uint64_t is_new = 0;
    mr_state_upsert(ctx->tables[0], ctx->epoch->id, 1, &mr_empty_hash, &mr_empty_key,
                    &mr_empty_expiry, &row, &is_new);
    mr_state_slots(row)->i64 = (int64_t)s->seen;
    return MR_NEED_INPUT;
}

static enum mr_step global_limit_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    (void)out;
    if (ctx->epoch->is_batch)
        return MR_NEED_INPUT;
    ctx->counts.rows_updated = mr_state_changed(ctx->tables[0], ctx->epoch->id);
    ctx->counts.rows_total = mr_state_rows(ctx->tables[0]);
    ctx->counts.memory_bytes = mr_state_bytes(ctx->tables[0]);
    return MR_NEED_INPUT;
}

const struct mr_operator_ops mr_limit_ops = {
    .name = "limit",
    .state_size = sizeof(struct limit_state),
    .open = limit_open,
    .close = limit_close,
    .step = limit_step,
};

const struct mr_operator_ops mr_global_limit_ops = {
    .name = "globalLimit",
    .state_size = sizeof(struct limit_state),
    .open = limit_open,
    .close = limit_close,
    .step = global_limit_step,
    .mark = global_limit_mark,
    .tables = global_limit_tables,
};
