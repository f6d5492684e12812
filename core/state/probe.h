/* probe.h - finding and inserting a row of a segment: the path of every input row, so it is
 * inlined. Internal to core/state. */
#pragma once
#include "core/base/check.h"
#include "core/state/segment.h"
#include <string.h>

#define MR_NO_PLACE UINT32_MAX

/* Keys of equal length; both may be read up to the next multiple of 8 bytes. */
static inline bool mr_same_key(const struct mr_state_row *r, struct mr_text key)
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

/* The reference of a row, or 0: then *place is where insert may put the key. */
static inline uint32_t mr_segment_find(struct mr_segment *g, uint64_t hash, struct mr_text key,
                                       uint32_t *place)
{
    const struct mr_index *x = mr_segment_index(g, hash);
    uint32_t high = (uint32_t)(hash >> 32);

    *place = MR_NO_PLACE;
    if (x->capacity == 0)
        return 0;
    for (uint32_t at = mr_index_start(x, high);;) {
        uint32_t empty = mr_group_empty(x->places + at);
        uint32_t mask = mr_group_equal(x->places + at, high) & ~empty;
        for (; mask; mask &= mask - 1) {
            uint32_t ref = (uint32_t)x->places[at + mr_group_first(mask)];
            struct mr_state_row *r = mr_segment_row(g, ref);
            if ((r->key_flags & MR_ROW_BYTES_MAX) == key.n && mr_same_key(r, key))
                return ref;
        }
        if (empty) {
            *place = at + mr_group_first(empty);
            return 0;
        }
        at += MR_INDEX_GROUP;
        if (at == x->capacity)
            at = 0;
    }
}

/* The key, zeros up to the next multiple of 8 bytes, and zeros for the slots up to end. The key may
 * be read as far as there. */
static inline void mr_row_fill(struct mr_state_row *r, struct mr_text key, uint8_t *end)
{
    uint8_t *at = (uint8_t *)(r + 1);
    uint64_t word, i = 0, zero = 0;

    for (; i + 8 <= key.n; i += 8) {
        memcpy(&word, key.data + i, 8);
        memcpy(at + i, &word, 8);
    }
    if (i < key.n) {
        memcpy(&word, key.data + i, 8);
        word &= UINT64_MAX >> (64 - 8 * (key.n - i));
        memcpy(at + i, &word, 8);
        i += 8;
    }
    for (at += i; at < end; at += 8)
        memcpy(at, &zero, 8);
}

/* The key must not be there. place: find's, if no other key was inserted since, or MR_NO_PLACE.
 * Slots are zero. */
static inline uint32_t mr_segment_insert(struct mr_segment *g, struct mr_state_memory *m,
                                         uint64_t hash, struct mr_text key, int64_t expiry_us,
                                         uint32_t place)
{
    MR_ASSERT(key.n <= MR_ROW_BYTES_MAX);
    uint64_t bytes = mr_segment_row_bytes(g, key.n);
    struct mr_index *x = mr_segment_index(g, hash);

    if (x->used == x->room || g->slab_bytes - g->slab_used < bytes) {
        x = mr_segment_make_room(g, m, hash, bytes);
        place = MR_NO_PLACE;
    }
    uint32_t ref = (g->slabs_n - 1) << 10 | g->slab_used >> 4;
    struct mr_state_row *r = mr_segment_row(g, ref);
    *r = (struct mr_state_row){.hash_high = (uint32_t)(hash >> 32), .key_flags = (uint32_t)key.n};
    mr_row_fill(r, key, (uint8_t *)r - g->expiry.front + bytes);
    if (g->expiry.place == MR_AT_FRONT)
        memcpy((uint8_t *)r - sizeof expiry_us, &expiry_us, sizeof expiry_us);
    MR_ASSERT(mr_expiry(&g->expiry, r) == expiry_us);
    if (place == MR_NO_PLACE) {
        mr_index_put(x, mr_index_place(r->hash_high, ref));
    } else {
        x->places[place] = mr_index_place(r->hash_high, ref);
        x->used++;
    }
    g->slab_used = bytes > MR_SLAB_BYTES - sizeof(struct mr_slab) ? g->slab_bytes
                                                                  : g->slab_used + (uint32_t)bytes;
    g->rows++;
    g->min_us = expiry_us < g->min_us ? expiry_us : g->min_us;
    g->max_us = expiry_us > g->max_us ? expiry_us : g->max_us;
    return ref;
}
