#include "core/state/segment.h"

#include "core/base/check.h"
#include "core/base/copy.h"

enum {
    SLAB_BYTES_FIRST = 512,
    SLABS_MAX = 1 << 22, /* what a reference can name */
    SPLIT_ROWS = 4096,   /* 16 a partition: no index is then moved as a whole for more than these */
    SPLIT_ROWS_SOON = 256,
    EXPECTED_LEAP = 8,
};

struct mr_segment *mr_segment_open(struct mr_state_memory *m, int64_t first_us, int64_t last_us,
                                   struct mr_expiry expiry, uint32_t slots_bytes,
                                   uint64_t rows_expected)
{
    struct mr_segment *g = mr_state_alloc(m, sizeof *g);

    *g = (struct mr_segment){.first_us = first_us,
                             .last_us = last_us,
                             .min_us = INT64_MAX,
                             .max_us = INT64_MIN,
                             .rows_expected = rows_expected,
                             .expiry = expiry,
                             .slots_bytes = slots_bytes};
    return g;
}

static void small_free(struct mr_index *x, struct mr_state_memory *m)
{
    mr_state_free(m, x->places, x->capacity * sizeof *x->places);
}

static void part_free(struct mr_index *x, struct mr_state_memory *m)
{
    mr_block_give(m, x->places, x->capacity * sizeof *x->places);
}

static void free_pages(struct mr_changed *page, struct mr_state_memory *m)
{
    for (struct mr_changed *next; page; page = next) {
        next = page->next;
        mr_state_free(m, page, sizeof *page);
    }
}

void mr_segment_close(struct mr_segment *g, struct mr_state_memory *m)
{
    for (uint32_t i = 0; i < g->slabs_n; i++) {
        if (g->slabs[i]->bytes == MR_SLAB_BYTES)
            mr_slab_give(m, g->slabs[i]);
        else
            mr_state_free(m, g->slabs[i], g->slabs[i]->bytes);
    }
    mr_state_free(m, g->slabs, g->slabs_capacity * sizeof *g->slabs);
    free_pages(g->changed, m);
    free_pages(g->logged, m);
    small_free(&g->small, m);
    if (g->parts) {
        for (uint32_t i = 0; i < MR_PARTITIONS; i++)
            part_free(&g->parts[i], m);
        mr_state_free(m, g->parts, MR_PARTITIONS * sizeof *g->parts);
    }
    mr_state_free(m, g, sizeof *g);
}

void mr_index_put(struct mr_index *x, uint64_t place)
{
    uint32_t at = mr_index_start(x, (uint32_t)(place >> 32));
    uint32_t empty;

    while ((empty = mr_group_empty(x->places + at)) == 0) {
        at += MR_INDEX_GROUP;
        if (at == x->capacity)
            at = 0;
    }
    x->places[at + mr_group_first(empty)] = place;
    x->used++;
}

/* When the neighbour had many rows, this one will too, and need not be moved half a dozen times. */
static uint32_t split_rows(const struct mr_segment *g)
{
    return g->rows_expected > 2 * SPLIT_ROWS ? SPLIT_ROWS_SOON : SPLIT_ROWS;
}

static void small_init(const struct mr_segment *g, struct mr_index *x, struct mr_state_memory *m)
{
    uint32_t capacity = g->small.capacity * 2 + MR_INDEX_GROUP, rows = split_rows(g);

    *x = (struct mr_index){.places = mr_state_alloc(m, capacity * sizeof *x->places),
                           .capacity = capacity};
    x->room = capacity - capacity / 8 < rows ? capacity - capacity / 8 : rows;
    memset(x->places, 0, capacity * sizeof *x->places);
}

/* Seven eighths full at most, less in most partitions: they fill evenly, and must not all grow at
 * the same moment. */
static void part_init(struct mr_index *x, struct mr_state_memory *m, uint64_t places,
                      uint32_t partition)
{
    uint64_t bytes = mr_block_bytes(places * sizeof *x->places);
    uint32_t capacity = (uint32_t)(bytes / sizeof *x->places);

    *x = (struct mr_index){.places = mr_block_take(m, bytes), .capacity = capacity};
    x->room = capacity - capacity / 8 - capacity / 64 * (partition * 5 % 8);
    memset(x->places, 0, bytes);
}

/* The next size of a partition; when it is well under way to what the neighbour had, that at
 * once. */
static uint64_t part_places(const struct mr_segment *g, uint32_t capacity)
{
    uint64_t grown = (capacity + capacity / 4 + MR_INDEX_GROUP) & ~(uint64_t)(MR_INDEX_GROUP - 1);
    uint64_t expected = g->rows_expected / g->parts_n;
    uint64_t wanted = (expected + expected / 2 + 2 * MR_INDEX_GROUP) & /* they differ in size */
                      ~(uint64_t)(MR_INDEX_GROUP - 1);

    return wanted > grown && wanted / EXPECTED_LEAP <= grown ? wanted : grown;
}

static void index_grow(struct mr_segment *g, struct mr_index *x, struct mr_state_memory *m)
{
    struct mr_index grown;

    if (g->parts)
        part_init(&grown, m, part_places(g, x->capacity), (uint32_t)(x - g->parts));
    else
        small_init(g, &grown, m);
    for (uint32_t i = 0; i < x->capacity; i++)
        if (x->places[i])
            mr_index_put(&grown, x->places[i]);
    if (g->parts)
        part_free(x, m);
    else
        small_free(x, m);
    *x = grown;
}

static void split(struct mr_segment *g, struct mr_state_memory *m)
{
    uint32_t counts[MR_PARTITIONS] = {0};
    struct mr_index small = g->small;
    struct mr_index *parts = mr_state_alloc(m, MR_PARTITIONS * sizeof *parts);

    memset(parts, 0, MR_PARTITIONS * sizeof *parts);
    for (uint32_t i = 0; i < small.capacity; i++)
        if (small.places[i])
            counts[small.places[i] >> 56]++;
    for (uint32_t p = 0; p < MR_PARTITIONS; p++)
        g->parts_n += counts[p] > 0;
    /* On a jump out of take parts must be reachable; afterwards the state is only closed. */
    g->parts = parts;
    for (uint32_t p = 0; p < MR_PARTITIONS; p++)
        if (counts[p]) /* others are another worker's */
            part_init(&parts[p], m, part_places(g, 2 * counts[p]), p);
    for (uint32_t i = 0; i < small.capacity; i++)
        if (small.places[i])
            mr_index_put(&parts[small.places[i] >> 56], small.places[i]);
    small_free(&g->small, m);
    g->small = (struct mr_index){0};
}

static void add_slab(struct mr_segment *g, struct mr_state_memory *m, uint64_t need)
{
    uint64_t bytes = g->slab_bytes ? (uint64_t)g->slab_bytes * 2 : SLAB_BYTES_FIRST;

    if (bytes > MR_SLAB_BYTES)
        bytes = MR_SLAB_BYTES;
    if (bytes < need + sizeof(struct mr_slab))
        bytes = need + sizeof(struct mr_slab);
    if (g->slabs_n == g->slabs_capacity) {
        uint32_t capacity = g->slabs_capacity ? g->slabs_capacity * 2 : 4;
        struct mr_slab **slabs = mr_state_alloc(m, capacity * sizeof *slabs);
        if (g->slabs_n)
            memcpy(slabs, g->slabs, g->slabs_n * sizeof *slabs);
        mr_state_free(m, g->slabs, g->slabs_capacity * sizeof *slabs);
        g->slabs = slabs;
        g->slabs_capacity = capacity;
    }
    MR_ASSERT(g->slabs_n < SLABS_MAX);
    if (g->slabs_n)
        g->slabs[g->slabs_n - 1]->used = g->slab_used;
    struct mr_slab *slab = bytes == MR_SLAB_BYTES ? mr_slab_take(m) : mr_state_alloc(m, bytes);
    slab->bytes = bytes;
    g->slabs[g->slabs_n++] = slab;
    /* Behind a huge row nothing else is put: its offset could not be named. */
    g->slab_bytes = bytes > MR_SLAB_BYTES ? MR_SLAB_BYTES : (uint32_t)bytes;
    g->slab_used = sizeof *slab;
}

struct mr_index *mr_segment_make_room(struct mr_segment *g, struct mr_state_memory *m,
                                      uint64_t hash, uint64_t row_bytes)
{
    struct mr_index *x = mr_segment_index(g, hash);

    if (g->parts == NULL && x->used == split_rows(g)) {
        split(g, m);
        x = mr_segment_index(g, hash);
    }
    if (x->used == x->room)
        index_grow(g, x, m);
    if (g->slab_bytes - g->slab_used < row_bytes)
        add_slab(g, m, row_bytes);
    return x;
}

static uint32_t used_of(const struct mr_segment *g, uint32_t slab)
{
    return slab + 1 == g->slabs_n ? g->slab_used : (uint32_t)g->slabs[slab]->used;
}

/* The row at or after *at, living or not. */
static struct mr_state_row *next_row(const struct mr_segment *g, uint64_t *at, uint32_t *ref)
{
    uint32_t slab = (uint32_t)(*at >> 32), offset = (uint32_t)*at;

    if (slab < g->slabs_n && offset >= used_of(g, slab)) {
        slab++;
        offset = 0;
    }
    if (slab >= g->slabs_n)
        return NULL;
    if (offset == 0)
        offset = sizeof(struct mr_slab);
    *ref = slab << 10 | offset >> 4;
    struct mr_state_row *r = mr_segment_row(g, *ref);
    uint64_t bytes = mr_segment_row_bytes(g, r->key_flags & MR_ROW_BYTES_MAX);
    uint64_t end = bytes > MR_SLAB_BYTES - sizeof(struct mr_slab) ? MR_SLAB_BYTES : offset + bytes;
    *at = (uint64_t)slab << 32 | end;
    return r;
}

struct mr_state_row *mr_segment_next(const struct mr_segment *g, uint64_t *at)
{
    struct mr_state_row *r;
    uint32_t ref;

    while ((r = next_row(g, at, &ref)) != NULL && r->key_flags & MR_ROW_DEAD)
        continue;
    return r;
}

static void clear_index(struct mr_index *x)
{
    memset(x->places, 0, x->capacity * sizeof *x->places);
    x->used = 0;
}

static void fill_index(struct mr_segment *g)
{
    struct mr_state_row *r;
    uint64_t at = 0;
    uint32_t ref;

    if (g->parts == NULL)
        clear_index(&g->small);
    for (uint32_t p = 0; g->parts && p < MR_PARTITIONS; p++)
        if (g->parts[p].used)
            clear_index(&g->parts[p]);
    while ((r = next_row(g, &at, &ref)) != NULL)
        if (!(r->key_flags & MR_ROW_DEAD))
            mr_index_put(mr_segment_index(g, (uint64_t)r->hash_high << 32),
                         mr_index_place(r->hash_high, ref));
}

static void sweep_changed(struct mr_segment *g)
{
    for (struct mr_changed *c = g->changed; c; c = c->next) {
        uint32_t n = c->logged_n;
        for (uint32_t i = n; i < c->n; i++) {
            c->refs[n] = c->refs[i];
            n += !(mr_segment_row(g, c->refs[i])->key_flags & MR_ROW_DEAD);
        }
        c->n = n;
    }
}

uint64_t mr_segment_sweep(struct mr_segment *g, int64_t watermark_us,
                          void (*visit)(void *arg, struct mr_state_row *row), void *arg)
{
    struct mr_state_row *r;
    uint64_t removed = 0, at = 0;

    g->min_us = INT64_MAX;
    g->max_us = INT64_MIN;
    while ((r = mr_segment_next(g, &at)) != NULL) {
        const int64_t expiry_us = mr_expiry(&g->expiry, r);
        if (expiry_us > watermark_us) {
            g->min_us = expiry_us < g->min_us ? expiry_us : g->min_us;
            g->max_us = expiry_us > g->max_us ? expiry_us : g->max_us;
            continue;
        }
        if (visit)
            visit(arg, r);
        r->key_flags |= MR_ROW_DEAD;
        removed++;
    }
    if (removed) {
        fill_index(g);
        sweep_changed(g);
    }
    g->rows -= removed;
    return removed;
}

void mr_segment_visit_partition(struct mr_segment *g, uint32_t partition,
                                void (*visit)(void *arg, struct mr_state_row *row), void *arg)
{
    const struct mr_index *x = g->parts ? &g->parts[partition] : &g->small;

    /* The index of a small segment has all partitions, and is looked through once for each. */
    for (uint32_t at = 0; at < x->capacity; at += MR_INDEX_GROUP) {
        const uint64_t *places = x->places + at;
        uint32_t mask = mr_group_of_byte(places, partition);
        if (mask)
            mask &= ~mr_group_empty(places);
        for (; mask; mask &= mask - 1)
            visit(arg, mr_segment_row(g, (uint32_t)places[mr_group_first(mask)]));
    }
}
