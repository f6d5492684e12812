#include "core/base/check.h"
#include "core/run/control.h"
#include "core/run/pipeline.h"

static void init_instances(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    p->instances = MR_NEW_ARRAY(&p->arena, struct mr_instance, q->shape.nodes_n);
    for (uint32_t id = 0; id < q->shape.nodes_n; id++) {
        struct mr_instance *instance = &p->instances[id];
        const struct mr_shape_node *n = &q->shape.nodes[id];
        mr_arena_init(&instance->scratch, &p->query->budget, &p->escape);
        instance->shape = n;
        instance->counters.node = n->node;
        instance->ctx = (struct mr_ctx){
            .plan = n->plan,
            .node = n->node,
            .epoch = &q->epoch,
            .eval = &p->eval,
            .arena = &p->arena,
            .scratch = &instance->scratch,
            .env = p->worker->env,
            .err = &p->err,
            .worker = p->index,
            .workers = q->workers,
            .batch_rows = q->engine->config.batch_rows,
        };
    }
}

static enum mr_status open_tables(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    p->tables = MR_NEW_ARRAY(&p->arena, struct mr_state **, q->shape.stateful_n);
    for (uint32_t op = 0; op < q->shape.stateful_n; op++) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[op]];
        p->tables[op] = MR_NEW_ARRAY(&p->arena, struct mr_state *, n->tables_n);
        for (uint32_t t = 0; t < n->tables_n; t++) {
            struct mr_state_config config = {
                .table = &n->tables[t], .budget = &p->query->budget, .escape = &p->escape};
            enum mr_status status = mr_state_open(&config, &p->tables[op][t], &p->err);
            if (status != MR_OK)
                return status;
        }
        p->instances[n->node->id].ctx.tables = p->tables[op];
    }
    return MR_OK;
}

static enum mr_status open_operators(struct mr_part *p)
{
    for (uint32_t id = 0; id < p->query->shape.nodes_n; id++) {
        struct mr_instance *instance = &p->instances[id];
        const struct mr_operator_ops *ops = instance->shape->ops;
        if (ops == NULL)
            continue;
        instance->ctx.state = mr_arena_zero(&p->arena, ops->state_size ? ops->state_size : 1);
        instance->open_called = true;
        enum mr_status status = ops->open ? ops->open(&instance->ctx) : MR_OK;
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status open_leaf(struct mr_part *p, struct mr_leaf *leaf, uint32_t id)
{
    const struct mr_shape_node *n = &p->query->shape.nodes[id];

    leaf->instance = &p->instances[id];
    if (n->node->kind == MR_NODE_EXCHANGE)
        leaf->inbox = &p->query->exchanges[n->stage - 1];
    if (n->node->kind != MR_NODE_SOURCE)
        return MR_OK;
    const struct mr_query_source *source = &p->query->sources[n->source];
    leaf->source_ops = source->ops;
    leaf->config = source->config;
    leaf->config.schema = n->node->output;
    leaf->config.env = p->worker->env;
    leaf->config.arena = &p->arena;
    leaf->reader =
        mr_arena_zero(&p->arena, source->ops->reader_size ? source->ops->reader_size : 1);
    leaf->reader_opened = true;
    return source->ops->reader_open(leaf->reader, &leaf->config, &p->err);
}

static enum mr_status open_stages(struct mr_part *p)
{
    const struct mr_shape *shape = &p->query->shape;

    p->stages = MR_NEW_ARRAY(&p->arena, struct mr_stage, shape->stages_n);
    for (uint32_t i = 0; i < shape->stages_n; i++) {
        struct mr_stage *s = &p->stages[i];
        s->shape = &shape->stages[i];
        s->frames = MR_NEW_ARRAY(&p->arena, struct mr_frame, s->shape->depth_max);
        s->leaves = MR_NEW_ARRAY(&p->arena, struct mr_leaf, s->shape->leaves_n);
        if (i > 0) {
            s->outbox = &p->query->exchanges[i - 1];
            mr_exchange_open(s->outbox, p);
        }
    }
    for (uint32_t i = 0; i < shape->stages_n; i++)
        for (uint32_t l = 0; l < shape->stages[i].leaves_n; l++) {
            enum mr_status status =
                open_leaf(p, &p->stages[i].leaves[l], shape->stages[i].leaves[l]);
            if (status != MR_OK)
                return status;
        }
    return MR_OK;
}

static enum mr_status open_writer(struct mr_part *p)
{
    const struct mr_query *q = p->query;
    const struct mr_sink_ops *ops = q->config.sink_ops;

    if (q->config.on_rows)
        return MR_OK;
    p->sink = q->config.sink;
    p->sink.env = p->worker->env;
    p->sink.arena = &p->arena;
    p->writer = mr_arena_zero(&p->arena, ops->writer_size ? ops->writer_size : 1);
    p->writer_opened = true;
    return ops->writer_open(p->writer, &p->sink, q->committer, p->index, &p->err);
}

enum mr_status mr_part_open(struct mr_part *p)
{
    struct mr_query *q = p->query;

    mr_arena_init(&p->arena, &q->budget, &p->escape);
    mr_arena_init(&p->epoch, &q->budget, &p->escape);
    mr_change_log_open(p);
    p->eval = (struct mr_eval_context){
        .zone = q->config.session ? q->config.session->conf.zone : mr_zone_utc(),
        .ansi = q->config.session ? q->config.session->conf.ansi : true,
        .worker = p->index,
    };
    init_instances(p);
    enum mr_status status = open_tables(p);
    if (status == MR_OK)
        status = open_operators(p);
    if (status == MR_OK)
        status = open_stages(p);
    if (status == MR_OK)
        status = open_writer(p);
    return status;
}

/* Also after an open that failed half way, or that ran out of memory. */
void mr_part_close(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    if (p->writer_opened)
        q->config.sink_ops->writer_close(p->writer);
    for (uint32_t i = 0; p->stages && i < q->shape.stages_n; i++) {
        struct mr_stage *s = &p->stages[i];
        for (uint32_t l = 0; s->leaves && l < s->shape->leaves_n; l++)
            if (s->leaves[l].reader_opened)
                s->leaves[l].source_ops->reader_close(s->leaves[l].reader);
        if (s->outbox)
            mr_exchange_close(s->outbox, p);
    }
    for (uint32_t id = 0; p->instances && id < q->shape.nodes_n; id++) {
        struct mr_instance *instance = &p->instances[id];
        if (instance->open_called && instance->shape->ops->close)
            instance->shape->ops->close(&instance->ctx);
        if (instance->shape)
            mr_arena_fini(&instance->scratch);
    }
    for (uint32_t op = 0; p->tables && op < q->shape.stateful_n; op++) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[op]];
        for (uint32_t t = 0; p->tables[op] && t < n->tables_n; t++)
            if (p->tables[op][t])
                mr_state_close(p->tables[op][t]);
    }
    mr_change_log_close(p);
    mr_arena_fini(&p->epoch);
    mr_arena_fini(&p->arena);
}
