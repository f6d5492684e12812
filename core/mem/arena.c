#include "core/mem/arena.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/mem/mem.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    CHUNK_BYTES_FIRST = 16 * 1024,
    CHUNK_BYTES_MAX = 1024 * 1024,
    KEEP_BYTES = 4 * 1024 * 1024,
    LINE_BYTES = 64,
};

struct mr_arena_chunk {
    struct mr_arena_chunk *next;
    uint64_t bytes; /* with this header */
};

static uint8_t *chunk_begin(struct mr_arena_chunk *c)
{
    return (uint8_t *)c + LINE_BYTES;
}

static uint8_t *chunk_end(struct mr_arena_chunk *c)
{
    return (uint8_t *)c + c->bytes - MR_PAD_BYTES;
}

void mr_arena_init(struct mr_arena *a, struct mr_budget *budget, jmp_buf *escape)
{
    *a = (struct mr_arena){.budget = budget, .escape = escape};
}

static void free_chunks(struct mr_arena *a, struct mr_arena_chunk *from)
{
    while (from) {
        struct mr_arena_chunk *next = from->next;
        if (a->budget)
            mr_budget_give(a->budget, from->bytes);
        a->used_bytes -= from->bytes;
        mr_mem_free(from, from->bytes);
        from = next;
    }
}

void mr_arena_fini(struct mr_arena *a)
{
    free_chunks(a, a->first);
    *a = (struct mr_arena){.budget = a->budget, .escape = a->escape};
}

static void enter_chunk(struct mr_arena *a, struct mr_arena_chunk *c)
{
    a->current = c;
    a->next = chunk_begin(c);
    a->end = chunk_end(c);
}

void mr_arena_reset(struct mr_arena *a)
{
    if (a->first == NULL)
        return;
    if (a->used_bytes > KEEP_BYTES) {
        free_chunks(a, a->first->next);
        a->first->next = NULL;
    }
    enter_chunk(a, a->first);
}

_Noreturn void mr_arena_exhaust(struct mr_arena *a)
{
    MR_ASSERT(a->escape != NULL);
    longjmp(*a->escape, 1);
}

/* The next chunk that can hold bytes: one kept from before a reset, or a new one. */
static void *alloc_slow(struct mr_arena *a, size_t bytes, size_t align)
{
    while (a->current && a->current->next) {
        enter_chunk(a, a->current->next);
        if ((size_t)(a->end - a->next) >= bytes + align)
            return mr_arena_alloc(a, bytes);
    }

    uint64_t want = a->current ? a->current->bytes * 2 : CHUNK_BYTES_FIRST;
    if (want > CHUNK_BYTES_MAX)
        want = CHUNK_BYTES_MAX;
    if (want < bytes + align + LINE_BYTES + MR_PAD_BYTES)
        want = bytes + align + LINE_BYTES + MR_PAD_BYTES;
    if (a->budget && !mr_budget_take(a->budget, want))
        mr_arena_exhaust(a);
    struct mr_arena_chunk *c = mr_mem_alloc(want);
    if (c == NULL) {
        if (a->budget)
            mr_budget_give(a->budget, want);
        mr_arena_exhaust(a);
    }
    c->next = NULL;
    c->bytes = want;
    a->used_bytes += want;
    if (a->current)
        a->current->next = c;
    else
        a->first = c;
    /* The pad is readable by promise: give it a value once, so that checkers agree. */
    memset((uint8_t *)c + want - MR_PAD_BYTES, 0, MR_PAD_BYTES);
    enter_chunk(a, c);
    return mr_arena_alloc(a, bytes);
}

void *mr_arena_alloc(struct mr_arena *a, size_t bytes)
{
    size_t align = bytes >= LINE_BYTES ? LINE_BYTES : 16;
    uint8_t *at = (uint8_t *)(((uintptr_t)a->next + align - 1) & ~(uintptr_t)(align - 1));

    if (MR_UNLIKELY(a->next == NULL || at > a->end || (size_t)(a->end - at) < bytes))
        return alloc_slow(a, bytes, align);
    a->next = at + bytes;
    return at;
}

void *mr_arena_zero(struct mr_arena *a, size_t bytes)
{
    return memset(mr_arena_alloc(a, bytes), 0, bytes);
}

char *mr_arena_copy(struct mr_arena *a, const void *data, size_t bytes)
{
    char *copy = mr_arena_alloc(a, bytes + 1);

    if (bytes)
        memcpy(copy, data, bytes);
    copy[bytes] = '\0';
    return copy;
}

char *mr_arena_format(struct mr_arena *a, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    MR_ASSERT(n >= 0);
    char *text = mr_arena_alloc(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

void mr_buffer_init(struct mr_buffer *b, struct mr_arena *arena)
{
    *b = (struct mr_buffer){.arena = arena};
}

void mr_buffer_grow(struct mr_buffer *b, uint64_t bytes)
{
    uint64_t capacity = b->capacity ? b->capacity * 2 : 256;

    while (capacity - b->n < bytes)
        capacity *= 2;
    uint8_t *data = mr_arena_alloc(b->arena, capacity);
    if (b->n)
        memcpy(data, b->data, b->n);
    b->data = data;
    b->capacity = capacity;
}

void mr_buffer_append(struct mr_buffer *b, const void *data, uint64_t bytes)
{
    uint8_t *at = mr_buffer_reserve(b, bytes);

    if (bytes)
        memcpy(at, data, bytes);
    b->n += bytes;
}

void mr_buffer_append_text(struct mr_buffer *b, struct mr_text t)
{
    mr_buffer_append(b, t.data, t.n);
}

void mr_buffer_append_format(struct mr_buffer *b, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    MR_ASSERT(n >= 0);
    vsnprintf((char *)mr_buffer_reserve(b, (uint64_t)n + 1), (size_t)n + 1, format, again);
    va_end(again);
    b->n += (uint64_t)n;
}
