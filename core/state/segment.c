#include "core/state/segment.h"

#include "core/base/check.h"
#include "core/state/group.h"

enum {
    SLAB_BYTES_FIRST = 512,
    SLAB_HEADER = 16,
    SLABS_MAX = 1 << 22, /* what a reference can name */
    SPLIT_ROWS = 4096,   /* 16 a partition: no index is then moved as a whole for more than these */
};

struct mr_segment *mr_segment_open(struct mr_state_memory *m, int64_t first_us, int64_t last_us)
{
    struct mr_segment *g = mr_state_alloc(m, sizeof *g);

    *g = (struct mr_segment){
        .first_us = first_us, .last_us = last_us, .min_us = INT64_MAX, .max_us = INT64_MIN};
    return g;
}

static void index_free(struct mr_index *x, struct mr_state_memory *m)
{
    mr_state_free(m, x->tags, (uint64_t)x->capacity * 5);
}

void mr_segment_close(struct mr_segment *g, struct mr_state_memory *m)
{
    for (uint32_t i = 0; i < g->slabs_n; i++) {
        uint64_t bytes;
        memcpy(&bytes, g->slabs[i], sizeof bytes);
        if (bytes == MR_SLAB_BYTES)
            mr_slab_give(m, g->slabs[i]);
        else
            mr_state_free(m, g->slabs[i], bytes);
    }
    mr_state_free(m, g->slabs, g->slabs_capacity * sizeof *g->slabs);
    for (struct mr_changed *c = g->changed, *next; c; c = next) {
        next = c->next;
        mr_state_free(m, c, sizeof *c);
    }
    index_free(&g->small, m);
    if (g->parts) {
        for (uint32_t i = 0; i < MR_PARTITIONS; i++)
            index_free(&g->parts[i], m);
        mr_state_free(m, g->parts, MR_PARTITIONS * sizeof *g->parts);
    }
    mr_state_free(m, g, sizeof *g);
}

/* Keys of equal length; both may be read up to the next multiple of 8 bytes. */
static bool same_key(const struct mr_state_row *r, struct mr_text key)
{
    const uint8_t *a = (const uint8_t *)(r + 1), *b = (const uint8_t *)key.data;
    uint64_t x, y, i = 0;

    for (; i + 8 <= key.n; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            return false;
    }
    if (i == key.n)
        return true;
    memcpy(&x, a + i, 8);
    memcpy(&y, b + i, 8);
    return ((x ^ y) << (64 - 8 * (key.n - i))) == 0;
}

struct mr_state_row *mr_segment_find(struct mr_segment *g, uint64_t hash, struct mr_text key)
{
    struct mr_index *x = mr_segment_index(g, hash);
    uint32_t high = (uint32_t)(hash >> 32);

    if (x->used == 0)
        return NULL;
    for (uint32_t at = mr_index_start(x, high);;) {
        uint32_t mask = mr_group_equal(x->tags + at, mr_index_tag(hash));
        for (; mask; mask &= mask - 1) {
            struct mr_state_row *r = mr_segment_row(g, x->refs[at + (uint32_t)__builtin_ctz(mask)]);
            if (r->hash_high == high && (r->key_flags & MR_STATE_KEY_MAX) == key.n &&
                same_key(r, key))
                return r;
        }
        if (mr_group_empty(x->tags + at))
            return NULL;
        at += MR_INDEX_GROUP;
        if (at == x->capacity)
            at = 0;
    }
}

static void index_put(struct mr_index *x, uint32_t high, uint8_t tag, uint32_t ref)
{
    uint32_t at = mr_index_start(x, high);
    uint32_t empty;

    while ((empty = mr_group_empty(x->tags + at)) == 0) {
        at += MR_INDEX_GROUP;
        if (at == x->capacity)
            at = 0;
    }
    at += (uint32_t)__builtin_ctz(empty);
    x->tags[at] = tag;
    x->refs[at] = ref;
    x->used++;
}

static void index_init(struct mr_index *x, struct mr_state_memory *m, uint32_t capacity)
{
    *x = (struct mr_index){.tags = mr_state_alloc(m, (uint64_t)capacity * 5), .capacity = capacity};
    x->refs = (uint32_t *)(void *)(x->tags + capacity);
    memset(x->tags, 0, capacity);
}

/* Puts what x holds into the index that the hash names, by to or, when NULL, into parts. */
static void index_move(const struct mr_segment *g, const struct mr_index *x, struct mr_index *to,
                       struct mr_index *parts)
{
    for (uint32_t i = 0; i < x->capacity; i++) {
        if (x->tags[i] == 0)
            continue;
        uint32_t high = mr_segment_row(g, x->refs[i])->hash_high;
        index_put(to ? to : &parts[high >> 24], high, x->tags[i], x->refs[i]);
    }
}

static uint32_t room(uint32_t capacity) /* seven eighths */
{
    return capacity - capacity / 8;
}

/* By a quarter to a half: partitions fill evenly, and must not all grow at the same moment. */
static uint32_t capacity_after(uint32_t capacity, uint32_t partition)
{
    uint32_t grown = capacity + capacity / 4 + capacity / 32 * (partition * 5 % 8);
    return grown < MR_INDEX_GROUP ? MR_INDEX_GROUP : (grown + MR_INDEX_GROUP - 1) & ~15u;
}

static void index_grow(const struct mr_segment *g, struct mr_index *x, struct mr_state_memory *m)
{
    struct mr_index grown;
    uint32_t partition = g->parts ? (uint32_t)(x - g->parts) : 7;

    index_init(&grown, m, capacity_after(x->capacity, partition));
    index_move(g, x, &grown, NULL);
    index_free(x, m);
    *x = grown;
}

static void split(struct mr_segment *g, struct mr_state_memory *m)
{
    uint32_t counts[MR_PARTITIONS] = {0};
    struct mr_index *parts = mr_state_alloc(m, MR_PARTITIONS * sizeof *parts);

    memset(parts, 0, MR_PARTITIONS * sizeof *parts);
    for (uint32_t i = 0; i < g->small.capacity; i++) {
        if (g->small.tags[i])
            counts[mr_segment_row(g, g->small.refs[i])->hash_high >> 24]++;
    }
    /* On a jump out of alloc, parts must be reachable: they are empty, and small still holds all.
     */
    g->parts = parts;
    for (uint32_t p = 0; p < MR_PARTITIONS; p++) {
        uint32_t capacity = 0;
        while (room(capacity) < counts[p])
            capacity = capacity_after(capacity, p);
        if (capacity)
            index_init(&parts[p], m, capacity);
    }
    index_move(g, &g->small, NULL, parts);
    index_free(&g->small, m);
    g->small = (struct mr_index){0};
}

static void add_slab(struct mr_segment *g, struct mr_state_memory *m, uint64_t need)
{
    uint64_t bytes = g->slab_bytes ? (uint64_t)g->slab_bytes * 2 : SLAB_BYTES_FIRST;

    if (bytes > MR_SLAB_BYTES)
        bytes = MR_SLAB_BYTES;
    if (bytes < need + SLAB_HEADER)
        bytes = need + SLAB_HEADER;
    if (g->slabs_n == g->slabs_capacity) {
        uint32_t capacity = g->slabs_capacity ? g->slabs_capacity * 2 : 4;
        uint8_t **slabs = mr_state_alloc(m, capacity * sizeof *slabs);
        if (g->slabs_n)
            memcpy(slabs, g->slabs, g->slabs_n * sizeof *slabs);
        mr_state_free(m, g->slabs, g->slabs_capacity * sizeof *slabs);
        g->slabs = slabs;
        g->slabs_capacity = capacity;
    }
    MR_ASSERT(g->slabs_n < SLABS_MAX);
    uint8_t *slab = bytes == MR_SLAB_BYTES ? mr_slab_take(m) : mr_state_alloc(m, bytes);
    memcpy(slab, &bytes, sizeof bytes);
    g->slabs[g->slabs_n++] = slab;
    /* Behind a huge row nothing else is put: its offset could not be named. */
    g->slab_bytes = bytes > MR_SLAB_BYTES ? MR_SLAB_BYTES : (uint32_t)bytes;
    g->slab_used = SLAB_HEADER;
}

struct mr_state_row *mr_segment_insert(struct mr_segment *g, struct mr_state_memory *m,
                                       uint64_t hash, struct mr_text key, uint32_t slots_bytes,
                                       int64_t expiry_us)
{
    MR_ASSERT(key.n <= MR_STATE_KEY_MAX);
    uint64_t key_bytes = (key.n + 15) & ~(uint64_t)15;
    uint64_t bytes = sizeof(struct mr_state_row) + key_bytes + slots_bytes;
    struct mr_index *x = mr_segment_index(g, hash);

    if (g->parts == NULL && x->used == SPLIT_ROWS) {
        split(g, m);
        x = mr_segment_index(g, hash);
    }
    if (x->used == room(x->capacity))
        index_grow(g, x, m);
    if (g->slab_bytes - g->slab_used < bytes)
        add_slab(g, m, bytes);

    uint32_t ref = (g->slabs_n - 1) << 10 | g->slab_used >> 4;
    struct mr_state_row *r = mr_segment_row(g, ref);
    *r = (struct mr_state_row){
        .expiry_us = expiry_us, .hash_high = (uint32_t)(hash >> 32), .key_flags = (uint32_t)key.n};
    memset((uint8_t *)(r + 1) + (key_bytes ? key_bytes - 16 : 0), 0,
           (key_bytes ? 16 : 0) + (uint64_t)slots_bytes);
    if (key.n)
        memcpy(r + 1, key.data, key.n);
    index_put(x, r->hash_high, mr_index_tag(hash), ref);
    g->slab_used =
        bytes > MR_SLAB_BYTES - SLAB_HEADER ? g->slab_bytes : g->slab_used + (uint32_t)bytes;
    g->rows++;
    if (expiry_us < g->min_us)
        g->min_us = expiry_us;
    if (expiry_us > g->max_us)
        g->max_us = expiry_us;
    return r;
}

/* The same index without the rows that end; capacity stays. */
static uint64_t sweep_index(struct mr_segment *g, struct mr_index *x, struct mr_state_memory *m,
                            int64_t watermark_us,
                            void (*visit)(void *arg, struct mr_state_row *row), void *arg)
{
    uint64_t removed = 0;

    for (uint32_t i = 0; i < x->capacity; i++) {
        if (x->tags[i] == 0)
            continue;
        struct mr_state_row *r = mr_segment_row(g, x->refs[i]);
        if (r->expiry_us > watermark_us) {
            g->min_us = r->expiry_us < g->min_us ? r->expiry_us : g->min_us;
            g->max_us = r->expiry_us > g->max_us ? r->expiry_us : g->max_us;
            continue;
        }
        if (visit)
            visit(arg, r);
        x->tags[i] = 0;
        removed++;
    }
    if (removed == 0)
        return 0;
    struct mr_index kept;
    index_init(&kept, m, x->capacity);
    index_move(g, x, &kept, NULL);
    index_free(x, m);
    *x = kept;
    return removed;
}

uint64_t mr_segment_sweep(struct mr_segment *g, struct mr_state_memory *m, int64_t watermark_us,
                          void (*visit)(void *arg, struct mr_state_row *row), void *arg)
{
    uint64_t removed = 0;

    for (struct mr_changed *c = g->changed; c; c = c->next) {
        uint64_t n = 0;
        for (uint64_t i = 0; i < c->n; i++) {
            c->rows[n] = c->rows[i];
            n += c->rows[i]->expiry_us > watermark_us;
        }
        c->n = n;
    }
    g->min_us = INT64_MAX;
    g->max_us = INT64_MIN;
    if (g->parts == NULL)
        removed = sweep_index(g, &g->small, m, watermark_us, visit, arg);
    for (uint32_t p = 0; g->parts && p < MR_PARTITIONS; p++)
        removed += sweep_index(g, &g->parts[p], m, watermark_us, visit, arg);
    g->rows -= removed;
    return removed;
}

struct mr_state_row *mr_segment_next(struct mr_segment *g, uint64_t *at)
{
    uint32_t parts_n = g->parts ? MR_PARTITIONS : 1;
    uint32_t part = (uint32_t)(*at >> 32), place = (uint32_t)*at;

    for (; part < parts_n; part++, place = 0) {
        const struct mr_index *x = g->parts ? &g->parts[part] : &g->small;
        for (; place < x->capacity; place++) {
            if (x->tags[place]) {
                *at = (uint64_t)part << 32 | (place + 1);
                return mr_segment_row(g, x->refs[place]);
            }
        }
    }
    *at = (uint64_t)part << 32;
    return NULL;
}
