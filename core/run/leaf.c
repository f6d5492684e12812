#include "core/base/check.h"
#include "core/run/control.h"
#include "core/run/pipeline.h"

void mr_leaf_begin(struct mr_part *p, struct mr_leaf *leaf)
{
    MR_ASSERT(leaf->packet == NULL && !leaf->split_open);
    leaf->exhausted = leaf->inbox == NULL && leaf->source_ops == NULL && p->index != 0;
    leaf->values_at = 0;
    leaf->input = (struct mr_input_block){0};
    leaf->ends_n = 0;
    leaf->counts = (struct mr_source_counts){0};
}

/* Inline rows are given once, by worker 0. */
static enum mr_pulled pull_values(struct mr_leaf *leaf, const struct mr_batch **batch)
{
    struct mr_instance *instance = leaf->instance;
    const struct mr_node *node = instance->shape->node;
    const struct mr_type *type = node->output;
    uint32_t n = node->rows_n - leaf->values_at;

    if (n == 0)
        return MR_PULLED_END;
    if (n > instance->ctx.batch_rows)
        n = instance->ctx.batch_rows;
    mr_arena_reset(&instance->scratch);
    instance->out = (struct mr_batch){.rows = n, .n = n, .columns_n = type->fields_n};
    instance->out.columns = MR_NEW_ARRAY(&instance->scratch, struct mr_column, type->fields_n);
    for (uint32_t c = 0; c < type->fields_n; c++) {
        struct mr_builder b;
        mr_builder_init(&b, type->fields[c].type, n, &instance->scratch);
        for (uint32_t r = 0; r < n; r++) {
            const struct mr_expr *x = node->exprs[(leaf->values_at + r) * type->fields_n + c];
            MR_ASSERT(x->kind == MR_EXPR_LITERAL);
            mr_builder_append(&b, x->value, 0);
        }
        mr_builder_finish(&b, &instance->out.columns[c]);
    }
    leaf->values_at += n;
    *batch = &instance->out;
    return MR_PULLED_ROWS;
}

static enum mr_pulled pull_inbox(struct mr_part *p, struct mr_leaf *leaf,
                                 const struct mr_batch **batch)
{
    struct mr_packet *packet = mr_exchange_receive(leaf->inbox, p, &leaf->inbox_at);

    if (packet == NULL)
        return MR_PULLED_EMPTY;
    if (packet->is_end) {
        leaf->ends_n++;
        return leaf->ends_n == leaf->inbox->workers ? MR_PULLED_END : MR_PULLED_NOTHING;
    }
    leaf->packet = packet;
    *batch = &packet->batch;
    return MR_PULLED_ROWS;
}

/* In a batch query nothing need be read when all above is satisfied (LIMIT). In a stream the rows
 * are behind us anyway, and watermarks below the limit count them. */
static bool is_satisfied(const struct mr_part *p, const struct mr_leaf *leaf)
{
    if (!p->query->shape.batch)
        return false;
    const struct mr_shape_node *n = leaf->instance->shape;
    for (uint32_t id = n->parent; id != MR_NO_NODE; id = p->instances[id].shape->parent) {
        if (p->instances[id].done)
            return true;
        if (p->instances[id].shape->node->kind == MR_NODE_EXCHANGE)
            break;
    }
    return false;
}

/* Any worker takes any split. False: none is left. */
static bool take_split(struct mr_part *p, struct mr_leaf *leaf, struct mr_text *split)
{
    const struct mr_shape_node *n = leaf->instance->shape;
    const struct mr_query_source *source = &p->query->sources[n->source];
    _Atomic uint32_t *next = &p->query->splits[n->leaf].next;

    if (atomic_load_explicit(next, memory_order_relaxed) >= source->splits_n)
        return false;
    /* Relaxed: the splits themselves came with the command. */
    uint32_t at = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    if (at >= source->splits_n)
        return false;
    *split = source->splits[at];
    return true;
}

static enum mr_pulled pull_source(struct mr_part *p, struct mr_leaf *leaf,
                                  const struct mr_batch **batch)
{
    const struct mr_source_ops *ops = leaf->source_ops;
    struct mr_instance *instance = leaf->instance;

    mr_part_at(p, instance->shape->node->id);
    if (!leaf->split_open) {
        struct mr_text split;
        if (is_satisfied(p, leaf) || !take_split(p, leaf, &split))
            return MR_PULLED_END;
        if (ops->open_split(leaf->reader, split, &p->err) != MR_OK)
            return MR_PULLED_FAILED;
        leaf->split_open = true;
        leaf->input = (struct mr_input_block){0};
        if (ops->input)
            ops->input(leaf->reader, &leaf->input);
    }
    memset(&instance->out, 0, sizeof instance->out);
    uint64_t before = __builtin_ia32_rdtsc();
    enum mr_step step = ops->pull(leaf->reader, &instance->out, &leaf->counts, &p->err);
    instance->counters.cycles += __builtin_ia32_rdtsc() - before;
    instance->counters.calls++;
    if (step == MR_FAILED)
        return MR_PULLED_FAILED;
    if (step == MR_BLOCKED)
        return MR_PULLED_WAIT;
    if (step == MR_DONE)
        leaf->split_open = false;
    instance->counters.rows_out += instance->out.n;
    *batch = &instance->out;
    return instance->out.n > 0 ? MR_PULLED_ROWS : MR_PULLED_NOTHING;
}

enum mr_pulled mr_leaf_pull(struct mr_part *p, struct mr_leaf *leaf, const struct mr_batch **batch)
{
    enum mr_pulled pulled = leaf->inbox        ? pull_inbox(p, leaf, batch)
                            : leaf->source_ops ? pull_source(p, leaf, batch)
                                               : pull_values(leaf, batch);

    p->eval.input = leaf->input;
    return pulled;
}

void mr_leaf_pushed(struct mr_part *p, struct mr_leaf *leaf)
{
    if (leaf->packet)
        mr_exchange_give_back(leaf->inbox, p, leaf->packet);
    leaf->packet = NULL;
}
