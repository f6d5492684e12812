#include "core/base/check.h"
#include "core/run/control.h"
#include "core/run/pipeline.h"

enum { BATCHES_PER_SLICE = 16 };

void mr_stage_begin(struct mr_part *p, struct mr_stage *s)
{
    s->phase = MR_STAGE_READING;
    s->mark_at = 0;
    s->frames_n = 0;
    s->pushing = NULL;
    for (uint32_t i = 0; i < s->shape->leaves_n; i++)
        mr_leaf_begin(p, &s->leaves[i]);
}

static void push_frame(struct mr_part *p, struct mr_stage *s, uint32_t from,
                       const struct mr_batch *in)
{
    const struct mr_shape_node *n = p->instances[from].shape;

    MR_ASSERT(s->frames_n < s->shape->depth_max);
    s->frames[s->frames_n++] = (struct mr_frame){.in = in, .node = n->parent, .port = n->port};
}

static void record(struct mr_part *p, const struct mr_batch *in)
{
    struct mr_recorded *r = MR_NEW(&p->epoch, struct mr_recorded);

    mr_batch_copy(&r->batch, in, &p->epoch);
    *p->recorded_end = r;
    p->recorded_end = &r->next;
}

static enum mr_step give_to_sink(struct mr_part *p, const struct mr_batch *in)
{
    const struct mr_query *q = p->query;
    enum mr_step step = MR_NEED_INPUT;

    if (p->muted)
        return MR_NEED_INPUT;
    if (q->config.on_rows)
        record(p, in);
    else
        step = q->config.sink_ops->write(p->writer, q->epoch.id, in, &p->err);
    if (step == MR_NEED_INPUT)
        p->sink_rows += in->n;
    return step;
}

/* The stage's root takes a batch. An exchange that is full waits for others, a sink for the
 * outside. */
static enum mr_step give_to_root(struct mr_part *p, struct mr_stage *s, struct mr_frame *f,
                                 bool *others)
{
    struct mr_instance *root = &p->instances[f->node];

    mr_part_at(p, f->node);
    uint64_t before = __builtin_ia32_rdtsc();
    enum mr_step step = s->outbox ? mr_exchange_send(s->outbox, p, f->in) : give_to_sink(p, f->in);

    root->counters.cycles += __builtin_ia32_rdtsc() - before;
    root->counters.calls++;
    *others = s->outbox != NULL;
    if (step == MR_NEED_INPUT) {
        root->counters.rows_in += f->in->n;
        root->counters.rows_out += f->in->n;
    }
    return step;
}

/* Calls step, or mark when in is NULL. */
static enum mr_step call(struct mr_part *p, struct mr_instance *instance, const struct mr_batch *in,
                         uint32_t port)
{
    const struct mr_operator_ops *ops = instance->shape->ops;

    mr_arena_reset(&instance->scratch);
    memset(&instance->out, 0, sizeof instance->out);
    instance->ctx.port = port;
    mr_part_at(p, instance->shape->node->id);
    uint64_t before = __builtin_ia32_rdtsc();
    enum mr_step step = in ? ops->step(&instance->ctx, in, &instance->out)
                           : ops->mark(&instance->ctx, &instance->out);
    instance->counters.cycles += __builtin_ia32_rdtsc() - before;
    instance->counters.calls++;
    instance->counters.rows_out += instance->out.n;
    MR_ASSERT(step != MR_FAILED || p->err.status != MR_OK);
    return step;
}

static enum mr_step step_operator(struct mr_part *p, struct mr_stage *s, struct mr_frame *f)
{
    struct mr_instance *instance = &p->instances[f->node];

    if (instance->done) {
        f->finished = true;
        return MR_NEED_INPUT;
    }
    enum mr_step step = call(p, instance, f->in, f->port);
    if (step == MR_BLOCKED || step == MR_FAILED)
        return step;
    if (step != MR_MORE_OUTPUT) {
        f->finished = true;
        instance->counters.rows_in += f->in->n;
    }
    instance->done = step == MR_DONE;
    if (instance->out.n > 0)
        push_frame(p, s, f->node, &instance->out);
    return MR_NEED_INPUT;
}

/* Until the frames are empty (MR_NEED_INPUT), or something is blocked or has failed. *others: it
 * waits for another worker. */
static enum mr_step run_frames(struct mr_part *p, struct mr_stage *s, bool *others)
{
    while (s->frames_n > 0) {
        struct mr_frame *f = &s->frames[s->frames_n - 1];
        enum mr_step step = MR_NEED_INPUT;
        *others = false;
        if (f->finished) {
            s->frames_n--;
        } else if (f->node == s->shape->root) {
            step = give_to_root(p, s, f, others);
            if (step == MR_NEED_INPUT)
                s->frames_n--;
        } else {
            step = step_operator(p, s, f);
        }
        if (step != MR_NEED_INPUT)
            return step;
    }
    return MR_NEED_INPUT;
}

/* One batch of one leaf goes into the frames. */
static enum mr_step read_leaf(struct mr_part *p, struct mr_stage *s)
{
    bool waits = false, ended = true;

    for (uint32_t i = 0; i < s->shape->leaves_n; i++) {
        uint32_t at = (s->leaf_at + i) % s->shape->leaves_n;
        struct mr_leaf *leaf = &s->leaves[at];
        const struct mr_batch *batch = NULL;
        if (leaf->exhausted)
            continue;
        ended = false;
        switch (mr_leaf_pull(p, leaf, &batch)) {
        case MR_PULLED_ROWS:
            push_frame(p, s, leaf->instance->shape->node->id, batch);
            s->pushing = leaf;
            s->leaf_at = (at + 1) % s->shape->leaves_n;
            mr_part_moved(p);
            return MR_MORE_OUTPUT;
        case MR_PULLED_NOTHING:
            s->leaf_at = (at + 1) % s->shape->leaves_n;
            mr_part_moved(p);
            return MR_MORE_OUTPUT;
        case MR_PULLED_END:
            leaf->exhausted = true;
            mr_part_moved(p);
            return MR_MORE_OUTPUT;
        case MR_PULLED_FAILED:
            return MR_FAILED;
        case MR_PULLED_WAIT:
            waits = true;
            break;
        case MR_PULLED_EMPTY:
            break;
        }
    }
    if (!ended)
        return waits ? MR_BLOCKED : MR_NEED_INPUT;
    s->phase = MR_STAGE_MARKING;
    return MR_MORE_OUTPUT;
}

static enum mr_step mark_operator(struct mr_part *p, struct mr_stage *s)
{
    if (s->mark_at == s->shape->ops_n) {
        s->phase = MR_STAGE_ENDING;
        return MR_MORE_OUTPUT;
    }
    uint32_t id = s->shape->ops[s->mark_at];
    struct mr_instance *instance = &p->instances[id];
    if (instance->shape->ops->mark == NULL) {
        s->mark_at++;
        return MR_MORE_OUTPUT;
    }
    p->eval.input = (struct mr_input_block){0};
    enum mr_step step = call(p, instance, NULL, 0);
    if (step == MR_FAILED || step == MR_BLOCKED)
        return step;
    if (step != MR_MORE_OUTPUT)
        s->mark_at++;
    if (instance->out.n > 0)
        push_frame(p, s, id, &instance->out);
    mr_part_moved(p);
    return MR_MORE_OUTPUT;
}

static enum mr_step advance(struct mr_part *p, struct mr_stage *s)
{
    if (s->frames_n > 0) {
        bool others;
        enum mr_step step = run_frames(p, s, &others);
        if (step == MR_BLOCKED)
            return others ? MR_NEED_INPUT : MR_BLOCKED;
        if (step == MR_FAILED)
            return step;
        mr_part_moved(p);
    }
    if (s->pushing) {
        mr_leaf_pushed(p, s->pushing);
        s->pushing = NULL;
    }
    switch (s->phase) {
    case MR_STAGE_READING:
        return read_leaf(p, s);
    case MR_STAGE_MARKING:
        return mark_operator(p, s);
    case MR_STAGE_ENDING:
        if (s->outbox)
            mr_exchange_end(s->outbox, p);
        s->phase = MR_STAGE_DONE;
        mr_part_moved(p);
        return MR_DONE;
    case MR_STAGE_DONE:
        return MR_DONE;
    }
    MR_UNREACHABLE();
    return MR_FAILED;
}

enum mr_step mr_stage_slice(struct mr_part *p, struct mr_stage *s)
{
    for (uint32_t i = 0; i < BATCHES_PER_SLICE; i++) {
        enum mr_step step = advance(p, s);
        if (step != MR_MORE_OUTPUT)
            return step;
    }
    return MR_MORE_OUTPUT;
}
