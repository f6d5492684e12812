/* arena.h - memory by lifetime: what is allocated together is freed together.
 *
 * Why      Nothing is freed singly, so there is nothing to leak and no malloc per row.
 * Limits   Chunks are charged to a budget. When the budget or the system has no more, the arena
 *          jumps to its escape (setjmp by the owner of the lifetime: a front-end call, a worker's
 *          loop), which reports MR_MEMORY. So mr_arena_alloc never returns NULL. Between setjmp and
 *          the last allocation no other resource may be held that only the caller could release,
 *          and no C++ frame may lie between.
 * Threads  One owner at a time. A budget is shared: its counter is atomic.
 */
#pragma once
#include "core/base/text.h"
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct mr_budget; /* mem.h */
struct mr_arena_chunk;

struct mr_arena {
    struct mr_budget *budget; /* NULL: not limited */
    jmp_buf *escape;
    struct mr_arena_chunk *first, *current;
    uint8_t *next, *end; /* free bytes of the current chunk */
    uint64_t used_bytes; /* of all chunks, for statistics */
};

/* No memory is taken before the first allocation. escape must outlive the arena's use. */
void mr_arena_init(struct mr_arena *a, struct mr_budget *budget, jmp_buf *escape);
void mr_arena_fini(struct mr_arena *a);
/* To the escape, as if there were no more memory: a value is too large to be held. */
_Noreturn void mr_arena_exhaust(struct mr_arena *a);
/* All that was allocated is gone; chunks are kept for the next use (above 4 MiB only the first). */
void mr_arena_reset(struct mr_arena *a);

/* 64-byte aligned when bytes >= 64, else 16; MR_PAD_BYTES readable bytes follow; not cleared. */
void *mr_arena_alloc(struct mr_arena *a, size_t bytes);
void *mr_arena_zero(struct mr_arena *a, size_t bytes);
/* A NUL-ended copy. */
char *mr_arena_copy(struct mr_arena *a, const void *data, size_t bytes);
char *mr_arena_format(struct mr_arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define MR_NEW(arena, type) ((type *)mr_arena_zero((arena), sizeof(type)))
#define MR_NEW_ARRAY(arena, type, n) ((type *)mr_arena_zero((arena), sizeof(type) * (size_t)(n)))

/* A growing run of bytes in an arena: JSON text, encoded rows, log records. data is not
 * NUL-ended. */
struct mr_buffer {
    struct mr_arena *arena;
    uint8_t *data;
    uint64_t n, capacity;
};

void mr_buffer_init(struct mr_buffer *b, struct mr_arena *arena);
/* reserve: room for bytes more; gives the place of the first. The caller adds what it wrote to
 * b->n. */
void mr_buffer_grow(struct mr_buffer *b, uint64_t bytes);
static inline uint8_t *mr_buffer_reserve(struct mr_buffer *b, uint64_t bytes)
{
    if (b->capacity - b->n <= bytes) /* never NULL, not for no bytes either */
        mr_buffer_grow(b, bytes);
    return b->data + b->n;
}
void mr_buffer_append(struct mr_buffer *b, const void *data, uint64_t bytes);
void mr_buffer_append_text(struct mr_buffer *b, struct mr_text t);
void mr_buffer_append_format(struct mr_buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline struct mr_text mr_buffer_text(const struct mr_buffer *b)
{
    return (struct mr_text){(const char *)b->data, b->n};
}
