#include "core/run/exchange.h"

#include "core/base/check.h"
#include "core/base/copy.h"
#include "core/run/control.h"
#include "core/run/engine.h"
#include "core/run/pipeline.h"
#include "core/state/row.h"

enum { ROWS_FIRST = 64 };

static struct mr_exchange_pair *pair_of(struct mr_exchange *x, uint32_t source, uint32_t target)
{
    return &x->pairs[source * x->workers + target];
}

static uint32_t ring_capacity(uint32_t items)
{
    uint32_t capacity = 2;

    while (capacity < items)
        capacity *= 2;
    return capacity;
}

enum mr_status mr_exchange_init(struct mr_exchange *x, const struct mr_shape *shape, uint32_t id,
                                uint32_t workers, uint32_t slots, struct mr_arena *a,
                                struct mr_error *err)
{
    uint32_t pairs_n = workers * workers;

    *x = (struct mr_exchange){.node = shape->nodes[id].node, .workers = workers, .slots = slots};
    x->ships = mr_shape_ships(shape, id, a);
    x->senders = MR_NEW_ARRAY(a, struct mr_exchange_sender, workers);
    x->pairs = MR_NEW_ARRAY(a, struct mr_exchange_pair, pairs_n);
    for (uint32_t i = 0; i < pairs_n; i++) {
        struct mr_exchange_pair *pair = &x->pairs[i];
        pair->packets = MR_NEW_ARRAY(a, struct mr_packet, slots + 1);
        pair->home = MR_NEW_ARRAY(a, struct mr_packet *, slots);
        for (uint32_t k = 0; k <= slots; k++)
            pair->packets[k].source = i / workers;
        pair->packets[slots].is_end = true;
        enum mr_status status = mr_ring_init(&pair->there, ring_capacity(slots + 1), err);
        if (status == MR_OK)
            status = mr_ring_init(&pair->back, ring_capacity(slots), err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

void mr_exchange_fini(struct mr_exchange *x)
{
    for (uint32_t i = 0; x->pairs && i < x->workers * x->workers; i++) {
        mr_ring_fini(&x->pairs[i].there);
        mr_ring_fini(&x->pairs[i].back);
    }
}

void mr_exchange_open(struct mr_exchange *x, struct mr_part *part)
{
    mr_arena_init(&x->senders[part->index].scratch, part->arena.budget, &part->escape);
}

void mr_exchange_close(struct mr_exchange *x, struct mr_part *part)
{
    mr_arena_fini(&x->senders[part->index].scratch);
    for (uint32_t target = 0; target < x->workers; target++) {
        struct mr_exchange_pair *pair = pair_of(x, part->index, target);
        for (uint32_t i = 0; i < pair->used_n; i++)
            mr_arena_fini(&pair->packets[i].arena);
    }
}

static struct mr_packet *packet_at_home(struct mr_exchange *x, struct mr_part *part,
                                        struct mr_exchange_pair *pair)
{
    struct mr_packet *packet;

    while ((packet = mr_ring_pop(&pair->back)) != NULL)
        pair->home[pair->home_n++] = packet;
    if (pair->home_n > 0)
        return pair->home[--pair->home_n];
    if (pair->used_n == x->slots)
        return NULL;
    packet = &pair->packets[pair->used_n++];
    mr_arena_init(&packet->arena, part->arena.budget, &part->escape);
    return packet;
}

static void init_builders(struct mr_exchange *x, struct mr_packet *packet, uint32_t rows)
{
    const struct mr_type *type = x->node->output;

    packet->builders = MR_NEW_ARRAY(&packet->arena, struct mr_builder, type->fields_n);
    for (uint32_t c = 0; c < type->fields_n; c++) {
        packet->batch.columns[c].type = type->fields[c].type;
        if (x->ships[c])
            mr_builder_init(&packet->builders[c], type->fields[c].type,
                            rows < ROWS_FIRST ? ROWS_FIRST : rows, &packet->arena);
    }
}

/* An empty packet with builders for about rows more; NULL when all are away. */
static struct mr_packet *take_packet(struct mr_exchange *x, struct mr_part *part,
                                     struct mr_exchange_pair *pair, uint32_t rows)
{
    const struct mr_type *type = x->node->output;
    struct mr_packet *packet = packet_at_home(x, part, pair);

    if (packet == NULL)
        return NULL;
    mr_arena_reset(&packet->arena);
    packet->rows = 0;
    packet->batch =
        (struct mr_batch){.columns = MR_NEW_ARRAY(&packet->arena, struct mr_column, type->fields_n),
                          .columns_n = type->fields_n};
    init_builders(x, packet, rows);
    if (x->node->keys_n > 0) {
        uint32_t rows_max = part->worker->engine->config.batch_rows;
        packet->keys = mr_arena_alloc(&packet->arena, rows_max * sizeof *packet->keys);
        packet->hashes = mr_arena_alloc(&packet->arena, rows_max * sizeof *packet->hashes);
        packet->batch.keys = packet->keys;
        packet->batch.hashes = packet->hashes;
    }
    return packet;
}

static void push(struct mr_exchange *x, struct mr_part *part, uint32_t target,
                 struct mr_packet *packet)
{
    void *item = packet;
    bool pushed = mr_ring_push(&pair_of(x, part->index, target)->there, &item);

    MR_ASSERT(pushed);
    mr_part_moved(part);
    if (target != part->index)
        mr_worker_wake(&part->worker->engine->workers[target]);
}

static void send_open(struct mr_exchange *x, struct mr_part *part, uint32_t target)
{
    struct mr_exchange_pair *pair = pair_of(x, part->index, target);
    struct mr_packet *packet = pair->open;

    for (uint32_t c = 0; c < packet->batch.columns_n; c++)
        if (x->ships[c])
            mr_builder_finish(&packet->builders[c], &packet->batch.columns[c]);
    packet->batch.rows = packet->batch.n = packet->rows;
    pair->open = NULL;
    push(x, part, target, packet);
}

static void list_all_to_first(struct mr_exchange *x, struct mr_part *part,
                              const struct mr_batch *in)
{
    struct mr_exchange_pair *pair = pair_of(x, part->index, 0);
    const uint32_t *rows = in->sel;

    if (rows == NULL) {
        uint32_t *all = mr_arena_alloc(&x->senders[part->index].scratch, in->n * sizeof *all);
        for (uint32_t i = 0; i < in->n; i++)
            all[i] = i;
        rows = all;
    }
    pair->rows = rows;
    pair->rows_n = in->n;
    pair->rows_at = 0;
}

/* Rows by target worker, in order: a counting sort. */
static void list_by_hash(struct mr_exchange *x, struct mr_part *part, const struct mr_batch *in)
{
    struct mr_arena *a = &x->senders[part->index].scratch;
    const struct mr_node *node = x->node;
    struct mr_column *keys = mr_arena_alloc(a, node->keys_n * sizeof *keys);
    struct mr_text *texts = mr_arena_alloc(a, in->n * sizeof *texts);
    uint64_t *hashes = mr_arena_alloc(a, in->n * sizeof *hashes);
    uint32_t *rows = mr_arena_alloc(a, in->n * sizeof *rows);
    uint32_t *selected = mr_arena_alloc(a, in->n * sizeof *selected);
    uint32_t starts[MR_WORKERS_MAX + 1] = {0};

    for (uint32_t k = 0; k < node->keys_n; k++)
        keys[k] = in->columns[node->keys[k]->index];
    mr_row_encode(keys, node->keys_n, in->sel, in->n, a, texts, hashes);
    for (uint32_t i = 0; i < in->n; i++)
        starts[mr_owner_of((uint32_t)(hashes[i] >> 56), x->workers) + 1]++;
    for (uint32_t t = 0; t < x->workers; t++) {
        struct mr_exchange_pair *pair = pair_of(x, part->index, t);
        pair->rows_n = starts[t + 1];
        starts[t + 1] += starts[t];
        pair->rows = rows + starts[t];
        pair->selected = selected + starts[t];
        pair->rows_at = 0;
    }
    for (uint32_t i = 0; i < in->n; i++) {
        uint32_t at = starts[mr_owner_of((uint32_t)(hashes[i] >> 56), x->workers)]++;
        rows[at] = mr_batch_row(in, i);
        selected[at] = i;
    }
    x->senders[part->index].keys = texts;
    x->senders[part->index].hashes = hashes;
}

/* Encoded keys of the next n rows of a pair. */
static void append_keys(const struct mr_exchange_sender *sender,
                        const struct mr_exchange_pair *pair, struct mr_packet *packet, uint32_t n)
{
    const uint32_t *selected = pair->selected + pair->rows_at;
    struct mr_text *keys = packet->keys + packet->rows;
    uint64_t *hashes = packet->hashes + packet->rows, bytes = 0;

    for (uint32_t i = 0; i < n; i++)
        bytes += sender->keys[selected[i]].n;
    char *at = mr_arena_alloc(&packet->arena, bytes);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_text key = sender->keys[selected[i]];
        mr_copy_short(at, key.data, key.n);
        keys[i] = (struct mr_text){at, key.n};
        hashes[i] = sender->hashes[selected[i]];
        at += key.n;
    }
}

/* As many rows as packets can be had for; true when none is left. */
static bool copy_rows(struct mr_exchange *x, struct mr_part *part, uint32_t target,
                      const struct mr_batch *in)
{
    struct mr_exchange_pair *pair = pair_of(x, part->index, target);
    uint32_t rows_max = part->worker->engine->config.batch_rows;

    while (pair->rows_at < pair->rows_n) {
        uint32_t n = pair->rows_n - pair->rows_at;
        if (pair->open == NULL)
            pair->open = take_packet(x, part, pair, n < rows_max ? n : rows_max);
        if (pair->open == NULL)
            return false;
        struct mr_packet *packet = pair->open;
        if (n > rows_max - packet->rows)
            n = rows_max - packet->rows;
        for (uint32_t c = 0; c < in->columns_n; c++)
            if (x->ships[c])
                mr_builder_append_rows(&packet->builders[c], &in->columns[c],
                                       pair->rows + pair->rows_at, n);
        if (packet->keys)
            append_keys(&x->senders[part->index], pair, packet, n);
        packet->rows += n;
        pair->rows_at += n;
        if (packet->rows == rows_max)
            send_open(x, part, target);
    }
    return true;
}

enum mr_step mr_exchange_send(struct mr_exchange *x, struct mr_part *part,
                              const struct mr_batch *in)
{
    struct mr_exchange_sender *sender = &x->senders[part->index];
    bool all = true;

    MR_ASSERT(in->columns_n == x->node->output->fields_n);
    if (!sender->in_hand) {
        mr_arena_reset(&sender->scratch);
        if (x->node->keys_n == 0)
            list_all_to_first(x, part, in);
        else
            list_by_hash(x, part, in);
        sender->in_hand = true;
    }
    for (uint32_t t = 0; t < x->workers; t++)
        all &= copy_rows(x, part, t, in);
    if (!all)
        return MR_BLOCKED;
    sender->in_hand = false;
    return MR_NEED_INPUT;
}

void mr_exchange_end(struct mr_exchange *x, struct mr_part *part)
{
    for (uint32_t t = 0; t < x->workers; t++) {
        struct mr_exchange_pair *pair = pair_of(x, part->index, t);
        if (pair->open)
            send_open(x, part, t);
        push(x, part, t, &pair->packets[x->slots]);
    }
}

struct mr_packet *mr_exchange_receive(struct mr_exchange *x, struct mr_part *part, uint32_t *at)
{
    for (uint32_t i = 0; i < x->workers; i++) {
        uint32_t source = (*at + i) % x->workers;
        struct mr_packet *packet = mr_ring_pop(&pair_of(x, source, part->index)->there);
        if (packet) {
            *at = (source + 1) % x->workers;
            return packet;
        }
    }
    return NULL;
}

void mr_exchange_give_back(struct mr_exchange *x, struct mr_part *part, struct mr_packet *packet)
{
    void *item = packet;
    uint32_t source = packet->source;

    if (packet->is_end)
        return;
    bool pushed = mr_ring_push(&pair_of(x, source, part->index)->back, &item);
    MR_ASSERT(pushed);
    if (source != part->index)
        mr_worker_wake(&part->worker->engine->workers[source]);
}
