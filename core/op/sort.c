/* sort.c - all rows of an epoch in order, or the first limit of them.
 *
 * How      Rows and their sort keys are copied as they come and given at the mark by a stable merge
 * sort of row numbers. With a limit, whenever twice as many have gathered the rest is dropped.
 */
#include "core/op/operators.h"

#include "core/base/check.h"

enum { CAPACITY_FIRST = 1024, SLACK = 4096 };

/* Rows copied so far: the input's columns, then the sort keys. */
struct gathered {
    struct mr_arena arena;
    struct mr_builder *builders;
    uint32_t rows;
};

struct sort_state {
    struct mr_eval *eval;
    struct gathered gathered[2]; /* the one in use, and the one to prune into */
    uint32_t current;
    struct mr_arena out_arena;
    bool is_open, is_sorted;
    uint32_t columns_n; /* of the input */
    struct mr_column *columns, *out_columns;
    struct mr_column *key; /* of the input batch */
    uint32_t *order, *spare;
    uint32_t order_n, at;
};

static enum mr_status sort_open(struct mr_ctx *ctx)
{
    struct sort_state *s = ctx->state;
    const struct mr_node *node = ctx->node;
    struct mr_arena *a = ctx->arena;
    const struct mr_expr **exprs = MR_NEW_ARRAY(a, const struct mr_expr *, node->sort_n);

    mr_arena_init(&s->out_arena, a->budget, a->escape);
    for (uint32_t i = 0; i < 2; i++)
        mr_arena_init(&s->gathered[i].arena, a->budget, a->escape);
    s->is_open = true;
    s->columns_n = node->output->fields_n;
    s->columns = MR_NEW_ARRAY(a, struct mr_column, s->columns_n + node->sort_n);
    s->out_columns = MR_NEW_ARRAY(a, struct mr_column, s->columns_n);
    s->key = MR_NEW_ARRAY(a, struct mr_column, node->sort_n);
    for (uint32_t i = 0; i < node->sort_n; i++)
        exprs[i] = node->sort[i].expr;
    return mr_eval_open(exprs, node->sort_n, ctx->batch_rows, a, &s->eval, ctx->err);
}

static void sort_close(struct mr_ctx *ctx)
{
    struct sort_state *s = ctx->state;

    if (s->eval)
        mr_eval_close(s->eval);
    if (!s->is_open)
        return;
    mr_arena_fini(&s->out_arena);
    for (uint32_t i = 0; i < 2; i++)
        mr_arena_fini(&s->gathered[i].arena);
}

static const struct mr_type *type_of(const struct mr_ctx *ctx, uint32_t column)
{
    const struct sort_state *s = ctx->state;

    return column < s->columns_n ? ctx->node->output->fields[column].type
                                 : ctx->node->sort[column - s->columns_n].expr->type;
}

static void begin(struct mr_ctx *ctx, struct gathered *g)
{
    const uint32_t n = ((struct sort_state *)ctx->state)->columns_n + ctx->node->sort_n;

    mr_arena_reset(&g->arena);
    g->builders = MR_NEW_ARRAY(&g->arena, struct mr_builder, n);
    g->rows = 0;
    for (uint32_t i = 0; i < n; i++)
        mr_builder_init(&g->builders[i], type_of(ctx, i), CAPACITY_FIRST, &g->arena);
}

static int compare(const struct mr_ctx *ctx, uint32_t a, uint32_t b)
{
    const struct sort_state *s = ctx->state;

    for (uint32_t i = 0; i < ctx->node->sort_n; i++) {
        const struct mr_sort_key *key = &ctx->node->sort[i];
        const struct mr_column *c = &s->columns[s->columns_n + i];
        const bool a_null = mr_column_is_null(c, a), b_null = mr_column_is_null(c, b);
        if (a_null || b_null) {
            if (a_null != b_null)
                return a_null == key->nulls_first ? -1 : 1;
            continue;
        }
        const int order = mr_column_compare(c, a, c, b);
        if (order != 0)
            return key->descending ? -order : order;
    }
    return 0;
}

static void merge(const struct mr_ctx *ctx, const uint32_t *from, uint32_t *to, uint32_t first,
                  uint32_t middle, uint32_t end)
{
    uint32_t a = first, b = middle;

    for (uint32_t i = first; i < end; i++)
        to[i] =
            a < middle && (b == end || compare(ctx, from[a], from[b]) <= 0) ? from[a++] : from[b++];
}

/* Leaves in s->order the row numbers of what was gathered, in order, at most limit of them. */
static void put_in_order(struct mr_ctx *ctx)
{
    struct sort_state *s = ctx->state;
    struct gathered *g = &s->gathered[s->current];
    const uint32_t n = g->rows;

    s->order = mr_arena_alloc(&g->arena, sizeof *s->order * (n + 1));
    s->spare = mr_arena_alloc(&g->arena, sizeof *s->spare * (n + 1));
    for (uint32_t i = 0; i < s->columns_n + ctx->node->sort_n; i++)
        mr_builder_finish(&g->builders[i], &s->columns[i]);
    for (uint32_t i = 0; i < n; i++)
        s->order[i] = i;
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t first = 0; first < n; first += 2 * width) {
            const uint64_t middle = first + width < n ? first + width : n;
            const uint64_t end = first + 2 * width < n ? first + 2 * width : n;
            merge(ctx, s->order, s->spare, (uint32_t)first, (uint32_t)middle, (uint32_t)end);
        }
        uint32_t *swap = s->order;
        s->order = s->spare;
        s->spare = swap;
    }
    s->order_n = ctx->node->limit > 0 && ctx->node->limit < n ? (uint32_t)ctx->node->limit : n;
}

/* Keeps only the first limit rows. */
static void prune(struct mr_ctx *ctx)
{
    struct sort_state *s = ctx->state;
    struct gathered *kept = &s->gathered[1 - s->current];

    put_in_order(ctx);
    begin(ctx, kept);
    for (uint32_t i = 0; i < s->columns_n + ctx->node->sort_n; i++)
        mr_builder_append_rows(&kept->builders[i], &s->columns[i], s->order, s->order_n);
    kept->rows = s->order_n;
    mr_arena_reset(&s->gathered[s->current].arena);
    s->gathered[s->current].rows = 0;
    s->current = 1 - s->current;
}

static enum mr_step sort_step(struct mr_ctx *ctx, const struct mr_batch *in, struct mr_batch *out)
{
    struct sort_state *s = ctx->state;
    struct gathered *g = &s->gathered[s->current];
    const uint64_t limit = ctx->node->limit;

    (void)out;
    MR_ASSERT(in->rows <= ctx->batch_rows && in->columns_n == s->columns_n);
    if (in->n == 0)
        return MR_NEED_INPUT;
    if (g->rows == 0)
        begin(ctx, g);
    mr_eval_reset(s->eval, ctx->eval);
    for (uint32_t i = 0; i < ctx->node->sort_n; i++)
        if (mr_eval(s->eval, i, in, &s->key[i], ctx->err))
            return MR_FAILED;
    if (in->n > UINT32_MAX / 2 - g->rows) {
        (void)MR_FAIL(ctx->err, MR_MEMORY, 0, "sort: more than %u rows in one epoch",
                      UINT32_MAX / 2);
        return MR_FAILED;
    }
    for (uint32_t i = 0; i < s->columns_n; i++)
        mr_builder_append_rows(&g->builders[i], &in->columns[i], in->sel, in->n);
    for (uint32_t i = 0; i < ctx->node->sort_n; i++)
        mr_builder_append_rows(&g->builders[s->columns_n + i], &s->key[i], in->sel, in->n);
    g->rows += in->n;
    if (limit > 0 && g->rows >= SLACK && g->rows / 2 >= limit)
        prune(ctx);
    return MR_NEED_INPUT;
}

static enum mr_step sort_mark(struct mr_ctx *ctx, struct mr_batch *out)
{
    struct sort_state *s = ctx->state;
    struct gathered *g = &s->gathered[s->current];

    if (g->rows == 0)
        return MR_NEED_INPUT;
    if (!s->is_sorted) {
        put_in_order(ctx);
        s->is_sorted = true;
        s->at = 0;
    }
    mr_arena_reset(&s->out_arena);
    const uint32_t left = s->order_n - s->at;
    const uint32_t n = left < ctx->batch_rows ? left : ctx->batch_rows;
    if (n == 0) {
        s->is_sorted = false;
        g->rows = 0;
        mr_arena_reset(&g->arena);
        return MR_NEED_INPUT;
    }
    for (uint32_t i = 0; i < s->columns_n; i++) {
        struct mr_builder b;
        mr_builder_init(&b, type_of(ctx, i), n, &s->out_arena);
        mr_builder_append_rows(&b, &s->columns[i], s->order + s->at, n);
        mr_builder_finish(&b, &s->out_columns[i]);
    }
    *out =
        (struct mr_batch){.columns = s->out_columns, .columns_n = s->columns_n, .rows = n, .n = n};
    s->at += n;
    return MR_MORE_OUTPUT;
}

const struct mr_operator_ops mr_sort_ops = {
    .name = "sort",
    .state_size = sizeof(struct sort_state),
    .open = sort_open,
    .close = sort_close,
    .step = sort_step,
    .mark = sort_mark,
};
