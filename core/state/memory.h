/* memory.h - memory of one part of state, charged to its budget. Internal to core/state.
 *
 * What     Slabs for rows and blocks for indices, both out of huge pages: random access to a large
 *          state would else miss the TLB for each row and each place. Large indices are allocated
 *          one by one: each is outgrown once, and nobody would want its block again. A heap for
 *          BYTES slots: powers of two from 16 bytes, cut from pages and kept in free lists; above
 *          MR_HEAP_SMALL_MAX each is allocated by itself, in a list.
 * Limits   When the budget is exhausted alloc jumps to escape, as an arena does.
 */
#pragma once
#include "core/expr/aggregate.h"
#include "core/mem/mem.h"
#include <setjmp.h>

enum { MR_SLAB_BYTES = 16 * 1024 };
enum { MR_BLOCK_BYTES_MIN = 256, MR_BLOCK_CLASSES = 9 }; /* up to 4 KiB */
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
    struct mr_slab_chunk *block_chunks;
    uint32_t block_used; /* bytes of the first */
    void *free_blocks[MR_BLOCK_CLASSES];
};

void *mr_state_alloc(struct mr_state_memory *m, uint64_t bytes); /* never NULL, not cleared */
void mr_state_free(struct mr_state_memory *m, void *p, uint64_t bytes);
/* MR_SLAB_BYTES. Slabs given are kept for the next; chunks last until fini. */
void *mr_slab_take(struct mr_state_memory *m);
void mr_slab_give(struct mr_state_memory *m, void *slab);
/* What take gives for bytes: 1 or 1.5 times a power of two. Above the largest class a block comes
 * from the allocator. Blocks given are kept for the next of their class. */
uint64_t mr_block_bytes(uint64_t bytes);
void *mr_block_take(struct mr_state_memory *m, uint64_t bytes);
void mr_block_give(struct mr_state_memory *m, void *block, uint64_t bytes);
void mr_heap_grow(struct mr_state_memory *m, struct mr_slot_bytes *b, uint32_t bytes);
void mr_heap_give(struct mr_state_memory *m, struct mr_slot_bytes *b);
void mr_state_memory_fini(struct mr_state_memory *m);
