/* ring.h - bounded queue of pointers from one worker to one other (single producer, single
 * consumer).
 *
 * Why      Workers share nothing but rings, so memory ordering is reasoned about only here.
 * Source   Lamport's queue with cached indices (Lee et al., "FastForward"/"MCRingBuffer"): each
 *          side keeps a copy of the other's index on its own cache line and refreshes it only when
 *          it seems full or empty.
 * Threads  push: the producer. pop: the consumer. init, fini: before start, after stop.
 * Owner    push takes *item and NULLs it; pop gives it. Ring full: the caller keeps it.
 * Limits   capacity is a power of two in [2, MR_RING_MAX]. Full is back-pressure, not an error.
 */
#pragma once
#include "core/base/bounds.h"
#include "core/base/error.h"
#include "core/mem/mem.h"
#include <stdbool.h>
#include <stdint.h>

struct mr_ring {
    _Alignas(64) void **slots;
    uint32_t mask;
    _Alignas(64) _Atomic uint32_t head; /* producer writes */
    uint32_t cached_tail;
    _Alignas(64) _Atomic uint32_t tail; /* consumer writes */
    uint32_t cached_head;
};

MR_NODISCARD enum mr_status mr_ring_init(struct mr_ring *r, uint32_t capacity,
                                         struct mr_error *err);
void mr_ring_fini(struct mr_ring *r);
MR_NODISCARD bool mr_ring_push(struct mr_ring *r, void **item);
void *mr_ring_pop(struct mr_ring *r); /* NULL: empty */
bool mr_ring_is_empty(const struct mr_ring *r);
