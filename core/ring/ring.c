#include "core/ring/ring.h"

#include "core/base/check.h"
#include <stdatomic.h>

enum mr_status mr_ring_init(struct mr_ring *r, uint32_t capacity, struct mr_error *err)
{
    MR_ASSERT(capacity >= 2 && capacity <= MR_RING_MAX && (capacity & (capacity - 1)) == 0);

    r->slots = mr_mem_alloc(capacity * sizeof *r->slots);
    if (r->slots == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "ring: no memory for %u slots", capacity);
    r->mask = capacity - 1;
    r->cached_head = r->cached_tail = 0;
    /* Before any other thread sees the ring, so nothing is ordered here. */
    atomic_store_explicit(&r->head, 0, memory_order_relaxed);
    atomic_store_explicit(&r->tail, 0, memory_order_relaxed);
    return MR_OK;
}

void mr_ring_fini(struct mr_ring *r)
{
    if (r->slots)
        mr_mem_free(r->slots, (r->mask + 1) * sizeof *r->slots);
    r->slots = NULL;
}

bool mr_ring_push(struct mr_ring *r, void **item)
{
    uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    MR_ASSERT(*item != NULL);
    if (head - r->cached_tail > r->mask) {
        /* Pairs with the release in pop: the slot's old item has been read before we overwrite it.
         */
        r->cached_tail = atomic_load_explicit(&r->tail, memory_order_acquire);
        if (head - r->cached_tail > r->mask)
            return false;
    }
    r->slots[head & r->mask] = *item;
    *item = NULL;
    /* Pairs with the acquire in pop: the slot and all that the item points to are seen. */
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return true;
}

void *mr_ring_pop(struct mr_ring *r)
{
    uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    if (tail == r->cached_head) {
        /* Pairs with the release in push. */
        r->cached_head = atomic_load_explicit(&r->head, memory_order_acquire);
        if (tail == r->cached_head)
            return NULL;
    }
    void *item = r->slots[tail & r->mask];
    /* Pairs with the acquire in push. */
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
    return item;
}

bool mr_ring_is_empty(const struct mr_ring *r)
{
    return atomic_load_explicit(&r->head, memory_order_acquire) ==
           atomic_load_explicit(&r->tail, memory_order_acquire);
}
