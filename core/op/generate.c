/* generate.c - explode and its kin: a row gives as many rows as its list has, beside columns kept.
 *
 * The generator runs once over the whole input batch; what it gives is handed on in batches of at
 * most batch_rows rows, kept columns repeated.
 */
#include "core/op/operators.h"

#include "core/base/check.h"
#include "core/expr/gather.h"
#include "core/expr/generate.h"

struct generate_state {
    struct mr_eval *eval;
    struct mr_column *columns, *kept;
    struct mr_generated generated;
    uint32_t next; /* row of it; 0: the next step brings new input */
};

static enum mr_status generate_open(struct mr_ctx *ctx)
{
    struct generate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    MR_ASSERT(node->exprs_n > 0);
    s->columns = MR_NEW_ARRAY(ctx->arena, struct mr_column, node->output->fields_n + 1);
    s->kept = MR_NEW_ARRAY(ctx->arena, struct mr_column, node->exprs_n);
    return mr_eval_open(node->exprs, node->exprs_n, ctx->batch_rows, ctx->arena, &s->eval,
                        ctx->err);
}

static void generate_close(struct mr_ctx *ctx)
{
    struct generate_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
}

static enum mr_status generate(struct mr_ctx *ctx, const struct mr_batch *in)
{
    struct generate_state *s = ctx->state;
    const struct mr_node *node = ctx->node;

    mr_eval_reset(s->eval, ctx->eval);
    enum mr_status status = mr_generate(s->eval, 0, in, node->outer, &s->generated, ctx->err);
    for (uint32_t i = 1; i < node->exprs_n && status == MR_OK; i++)
        status = mr_eval(s->eval, i, in, &s->kept[i - 1], ctx->err);
    return status;
}

static enum mr_step generate_step(struct mr_ctx *ctx, const struct mr_batch *in,
                                  struct mr_batch *out)
{
    struct generate_state *s = ctx->state;
    const struct mr_generated *g = &s->generated;
    const uint32_t kept_n = ctx->node->exprs_n - 1;

    if (s->next == 0 && generate(ctx, in) != MR_OK)
        return MR_FAILED;
    MR_ASSERT(kept_n + g->columns_n == ctx->node->output->fields_n);
    const uint32_t from = s->next, left = g->rows - from;
    const uint32_t n = left < ctx->batch_rows ? left : ctx->batch_rows;
    uint32_t *rows = mr_arena_alloc(ctx->scratch, ((size_t)n + 1) * sizeof *rows);
    for (uint32_t i = 0; i < n; i++)
        rows[i] = from + i;
    for (uint32_t c = 0; c < kept_n; c++)
        mr_column_gather(&s->columns[c], &s->kept[c], g->parents + from, n, ctx->scratch);
    for (uint32_t c = 0; c < g->columns_n; c++) {
        if (n == g->rows)
            s->columns[kept_n + c] = g->columns[c];
        else
            mr_column_gather(&s->columns[kept_n + c], &g->columns[c], rows, n, ctx->scratch);
    }
    *out = (struct mr_batch){
        .columns = s->columns, .columns_n = kept_n + g->columns_n, .rows = n, .n = n};
    s->next = n < left ? from + n : 0;
    return s->next == 0 ? MR_NEED_INPUT : MR_MORE_OUTPUT;
}

const struct mr_operator_ops mr_generate_ops = {
    .name = "generate",
    .state_size = sizeof(struct generate_state),
    .open = generate_open,
    .close = generate_close,
    .step = generate_step,
};
