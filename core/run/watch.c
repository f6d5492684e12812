/* Where a query stands, for who looks at it from another thread: does it go on, and what is it
 * at? */
#include "core/run/control.h"
#include <stdarg.h>
#include <stdio.h>

void mr_query_at(struct mr_query *q, enum mr_query_place place, uint32_t source)
{
    /* Relaxed, here and where it is read: it orders nothing, and may be a moment old. */
    atomic_store_explicit(&q->place, (uint32_t)place | source << MR_PLACE_BITS,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&q->places_n, 1, memory_order_relaxed);
}

static MR_PRINTF(2, 3) void say(struct mr_query_view *v, const char *format, ...)
{
    size_t n = strlen(v->at);
    va_list args;

    va_start(args, format);
    vsnprintf(v->at + n, sizeof v->at - n, format, args);
    va_end(args);
}

static void say_node(const struct mr_query *q, uint32_t id, struct mr_query_view *v)
{
    const struct mr_shape_node *n = &q->shape.nodes[id];

    if (n->node->kind == MR_NODE_SOURCE)
        say(v, "source \"%s\"", q->shape.tables[n->source]->name);
    else if (id == q->shape.stages[0].root)
        say(v, "sink %s", q->config.sink_ops->name);
    else
        say(v, "operator %s", mr_node_name(n->node->kind));
}

static void say_workers(const struct mr_query *q, struct mr_query_view *v)
{
    for (uint32_t w = 0; w < q->workers; w++) {
        uint32_t at = atomic_load_explicit(&q->parts[w].at, memory_order_relaxed);
        if (at == MR_NO_NODE)
            continue; /* it waits for the others */
        say(v, "%sworker %u is at ", v->at[0] ? ", " : "", w);
        say_node(q, at, v);
    }
    if (v->at[0] == '\0')
        say(v, "the workers wait for each other");
}

void mr_query_look(const struct mr_query *q, struct mr_query_view *v)
{
    uint32_t told = atomic_load_explicit(&q->place, memory_order_relaxed);
    enum mr_query_place place = (enum mr_query_place)(told & ((1u << MR_PLACE_BITS) - 1));

    v->at[0] = '\0';
    v->moves = atomic_load_explicit(&q->places_n, memory_order_relaxed);
    for (uint32_t w = 0; w < q->workers; w++)
        v->moves += atomic_load_explicit(&q->parts[w].moved_told, memory_order_relaxed);
    v->epoch = atomic_load_explicit(&q->epoch_told, memory_order_relaxed);
    v->is_resting = place == MR_AT_REST;
    switch (place) {
    case MR_AT_REST:
        break;
    case MR_AT_SOURCE:
        say(v, "it asks source \"%s\"", q->shape.tables[told >> MR_PLACE_BITS]->name);
        break;
    case MR_AT_WORKERS:
        say_workers(q, v);
        break;
    case MR_AT_CHECKPOINT:
        say(v, "it writes its checkpoint");
        break;
    case MR_AT_SINK:
        say(v, "it gives rows out to sink %s", q->config.sink_ops->name);
        break;
    }
}
