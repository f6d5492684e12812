#include "core/run/change_log.h"

#include "core/base/check.h"
#include "core/run/control.h"
#include "core/run/futex.h"
#include <stdio.h>

enum {
    PACKET_BYTES = 1024 * 1024,
    KEEP_BYTES = 4 * PACKET_BYTES, /* of a packet that held a huge row */
};

enum mr_status mr_change_log_init(struct mr_change_log *l, struct mr_error *err)
{
    enum mr_status status = mr_ring_init(&l->there, MR_LOG_PACKETS, err);

    return status == MR_OK ? mr_ring_init(&l->back, MR_LOG_PACKETS, err) : status;
}

void mr_change_log_fini(struct mr_change_log *l)
{
    mr_ring_fini(&l->there);
    mr_ring_fini(&l->back);
}

void mr_change_log_open(struct mr_part *p)
{
    struct mr_change_log *l = &p->log;

    for (uint32_t i = 0; i < MR_LOG_PACKETS; i++) {
        mr_arena_init(&l->packets[i].arena, &p->query->budget, &p->escape);
        mr_buffer_init(&l->packets[i].data, &l->packets[i].arena);
        l->home[l->home_n++] = &l->packets[i];
    }
    l->is_open = true;
}

void mr_change_log_close(struct mr_part *p)
{
    for (uint32_t i = 0; p->log.is_open && i < MR_LOG_PACKETS; i++)
        mr_arena_fini(&p->log.packets[i].arena);
}

void mr_change_log_begin(struct mr_part *p)
{
    p->log.op = p->log.table = 0;
}

/* An empty packet, NULL when all are away. */
static struct mr_log_packet *packet_at_home(struct mr_change_log *l)
{
    struct mr_log_packet *packet;

    while ((packet = mr_ring_pop(&l->back)) != NULL)
        l->home[l->home_n++] = packet;
    if (l->home_n == 0)
        return NULL;
    packet = l->home[l->home_n - 1];
    if (packet->data.capacity > KEEP_BYTES) {
        mr_arena_reset(&packet->arena);
        mr_buffer_init(&packet->data, &packet->arena);
    }
    packet->data.n = 0;
    return packet;
}

/* The packet on top of those at home goes, if something is in it. is_last: of its table; the end of
 * the epoch, which is near, wakes the control thread anyway. */
static void send(struct mr_part *p, uint32_t op, uint32_t table, bool is_last)
{
    struct mr_change_log *l = &p->log;
    struct mr_log_packet *packet = l->home[l->home_n - 1];
    void *item = packet;

    if (packet->data.n == 0)
        return;
    packet->op = op;
    packet->table = table;
    l->home_n--;
    bool pushed = mr_ring_push(&l->there, &item);
    MR_ASSERT(pushed);
    if (is_last && l->home_n > 0)
        return;
    /* The control thread sleeps until the word is another one. */
    atomic_fetch_add_explicit(&p->query->at_work, MR_PACKET_SENT, memory_order_release);
    mr_futex_wake(&p->query->at_work);
}

void mr_change_log_ahead(struct mr_part *p)
{
    const struct mr_query *q = p->query;

    for (uint32_t op = 0; q->checkpoint && op < q->shape.stateful_n; op++) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[op]];
        for (uint32_t t = 0; t < n->tables_n; t++) {
            struct mr_log_packet *packet = packet_at_home(&p->log);
            if (packet == NULL)
                return;
            mr_state_log_ahead(p->tables[op][t], q->epoch.id, PACKET_BYTES, &packet->data);
            send(p, op, t, false);
        }
    }
}

bool mr_change_log_rest(struct mr_part *p)
{
    const struct mr_query *q = p->query;
    struct mr_change_log *l = &p->log;

    for (; q->checkpoint && l->op < q->shape.stateful_n; l->op++, l->table = 0) {
        const struct mr_shape_node *n = &q->shape.nodes[q->shape.stateful[l->op]];
        while (l->table < n->tables_n) {
            struct mr_log_packet *packet = packet_at_home(l);
            if (packet == NULL)
                return false;
            bool more =
                mr_state_log(p->tables[l->op][l->table], q->epoch.id, PACKET_BYTES, &packet->data);
            send(p, l->op, l->table, !more);
            l->table += !more;
        }
    }
    return true;
}

static enum mr_status write_one(struct mr_query *q, struct mr_log_packet *packet,
                                struct mr_error *err)
{
    mr_query_at(q, MR_AT_CHECKPOINT, 0);
    enum mr_status status = mr_checkpoint_log(q->checkpoint, q->epoch.id, packet->op, packet->table,
                                              mr_buffer_text(&packet->data), err);

    mr_query_at(q, MR_AT_WORKERS, 0);
    if (status != MR_MEMORY)
        return status;
    status = mr_query_no_memory(q, err);
    size_t n = strlen(err->message);
    snprintf(err->message + n, sizeof err->message - n,
             " (what operator %s changed was being logged)",
             mr_node_name(q->shape.nodes[q->shape.stateful[packet->op]].node->kind));
    return status;
}

static void write_all(struct mr_query *q)
{
    struct mr_error err = {0};

    for (uint32_t w = 0; w < q->workers; w++) {
        struct mr_part *p = &q->parts[w];
        struct mr_log_packet *packet;
        while ((packet = mr_ring_pop(&p->log.there)) != NULL) {
            void *item = packet;
            if (!atomic_load_explicit(&q->failed, memory_order_relaxed) &&
                write_one(q, packet, &err) != MR_OK)
                mr_query_fail(q, &err);
            bool pushed = mr_ring_push(&p->log.back, &item);
            MR_ASSERT(pushed);
            mr_worker_wake(p->worker);
        }
    }
}

void mr_change_log_take(struct mr_query *q)
{
    struct mr_error err = {0};
    jmp_buf outer;

    /* Parts are at work: memory that is exhausted must not jump out of here. */
    memcpy(&outer, &q->escape, sizeof outer);
    if (setjmp(q->escape) == 0) {
        write_all(q);
    } else {
        (void)mr_query_no_memory(q, &err);
        mr_query_fail(q, &err);
    }
    memcpy(&q->escape, &outer, sizeof outer);
}
