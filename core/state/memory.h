/* memory.h - memory of one part of state, charged to its budget. Internal to core/state.
 *
 * What     Blocks for indices, slabs for rows, and a heap for BYTES slots: powers of two from 16
 *          bytes, cut from pages and kept in free lists; above MR_HEAP_SMALL_MAX each is a block
 *          of its own, in a list.
 * Limits   When the budget is exhausted alloc jumps to escape, as an arena does.
 */
#pragma once
#include "core/expr/aggregate.h"
#include "core/mem/mem.h"
#include <setjmp.h>

enum { MR_SLAB_BYTES = 16 * 1024 };
enum { MR_HEAP_CLASSES = 11, MR_HEAP_SMALL_MAX = 16 << (MR_HEAP_CLASSES - 1) };

struct mr_heap_link {
    struct mr_heap_link *next, *previous;
    uint64_t bytes, unused; /* the value follows, 16-byte aligned */
};

struct mr_slab_chunk;
struct mr_state_memory {
    struct mr_budget *budget;
    jmp_buf *escape;
    uint64_t bytes;                      /* taken now */
    struct mr_heap_link *pages, *blocks; /* of the heap: small values, one large value each */
    void *free[MR_HEAP_CLASSES];
    uint8_t *page_next, *page_end;
    struct mr_slab_chunk *chunks; /* of slabs */
    uint32_t chunks_n, chunk_used;
    void *free_slabs;
};

void *mr_state_alloc(struct mr_state_memory *m, uint64_t bytes); /* never NULL, not cleared */
void mr_state_free(struct mr_state_memory *m, void *p, uint64_t bytes);
/* MR_SLAB_BYTES. Cut from chunks that become huge pages: random access to a large state would else miss the
 * TLB for every row. Slabs given are kept for the next; chunks last until fini. */
void *mr_slab_take(struct mr_state_memory *m);
void mr_slab_give(struct mr_state_memory *m, void *slab);
void mr_heap_grow(struct mr_state_memory *m, struct mr_slot_bytes *b, uint32_t bytes);
void mr_heap_give(struct mr_state_memory *m, struct mr_slot_bytes *b);
void mr_state_memory_fini(struct mr_state_memory *m);
