#include "core/state/memory.h"

#include "core/base/check.h"
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE_BYTES = 64 * 1024,
    HUGE_BYTES = 2 * 1024 * 1024,
    CHUNK_SLABS_FIRST = 4, /* a small state takes no huge page */
    CHUNK_SLABS = HUGE_BYTES / MR_SLAB_BYTES,
};

struct mr_slab_chunk {
    struct mr_slab_chunk *next;
    uint8_t *slabs;
    uint32_t slabs_n; /* CHUNK_SLABS: mapped, else allocated */
};

static _Noreturn void exhausted(struct mr_state_memory *m)
{
    MR_ASSERT(m->escape != NULL);
    longjmp(*m->escape, 1);
}

void *mr_state_alloc(struct mr_state_memory *m, uint64_t bytes)
{
    if (m->budget == NULL || mr_budget_take(m->budget, bytes)) {
        void *p = mr_mem_alloc(bytes);
        if (p) {
            m->bytes += bytes;
            return p;
        }
        if (m->budget)
            mr_budget_give(m->budget, bytes);
    }
    exhausted(m);
}

void mr_state_free(struct mr_state_memory *m, void *p, uint64_t bytes)
{
    if (p == NULL)
        return;
    m->bytes -= bytes;
    if (m->budget)
        mr_budget_give(m->budget, bytes);
    mr_mem_free(p, bytes);
}

static struct mr_heap_link *link_new(struct mr_state_memory *m, struct mr_heap_link **list,
                                     uint64_t bytes)
{
    struct mr_heap_link *l = mr_state_alloc(m, sizeof *l + bytes);

    *l = (struct mr_heap_link){.next = *list, .bytes = sizeof *l + bytes};
    if (*list)
        (*list)->previous = l;
    *list = l;
    return l;
}

static uint32_t class_of(uint32_t capacity)
{
    return (uint32_t)__builtin_ctz(capacity) - 4;
}

static void *take(struct mr_state_memory *m, uint32_t capacity)
{
    if (capacity > MR_HEAP_SMALL_MAX)
        return link_new(m, &m->blocks, capacity) + 1;

    uint32_t class = class_of(capacity);
    if (m->free[class]) {
        void *p = m->free[class];
        memcpy(&m->free[class], p, sizeof(void *));
        return p;
    }
    if ((uint64_t)(m->page_end - m->page_next) < capacity) {
        struct mr_heap_link *page = link_new(m, &m->pages, PAGE_BYTES);
        m->page_next = (uint8_t *)(page + 1);
        m->page_end = m->page_next + PAGE_BYTES;
    }
    m->page_next += capacity;
    return m->page_next - capacity;
}

void mr_heap_give(struct mr_state_memory *m, struct mr_slot_bytes *b)
{
    if (b->capacity == 0)
        return;
    if (b->capacity > MR_HEAP_SMALL_MAX) {
        struct mr_heap_link *l = (struct mr_heap_link *)(void *)b->data - 1;
        if (l->next)
            l->next->previous = l->previous;
        if (l->previous)
            l->previous->next = l->next;
        else
            m->blocks = l->next;
        mr_state_free(m, l, l->bytes);
    } else {
        uint32_t class = class_of(b->capacity);
        memcpy(b->data, &m->free[class], sizeof(void *));
        m->free[class] = b->data;
    }
    *b = (struct mr_slot_bytes){0};
}

void mr_heap_grow(struct mr_state_memory *m, struct mr_slot_bytes *b, uint32_t bytes)
{
    if (b->capacity >= bytes)
        return;
    MR_ASSERT(bytes <= (uint32_t)1 << 31);
    uint32_t capacity = bytes <= 16 ? 16 : (uint32_t)1 << (32 - __builtin_clz(bytes - 1));
    struct mr_slot_bytes grown = {.data = take(m, capacity), .n = b->n, .capacity = capacity};

    if (b->n)
        memcpy(grown.data, b->data, b->n);
    mr_heap_give(m, b);
    *b = grown;
}

/* An aligned huge page, or what becomes one: twice the size is mapped, and what is too much
 * unmapped. */
static uint8_t *map_huge(struct mr_state_memory *m)
{
    if (m->budget && !mr_budget_take(m->budget, HUGE_BYTES))
        exhausted(m);
    uint8_t *mapped =
        mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        if (m->budget)
            mr_budget_give(m->budget, HUGE_BYTES);
        exhausted(m);
    }
    uint64_t before = -(uintptr_t)mapped & (HUGE_BYTES - 1);
    if (before)
        munmap(mapped, before);
    munmap(mapped + before + HUGE_BYTES, HUGE_BYTES - before);
    (void)madvise(mapped + before, HUGE_BYTES, MADV_HUGEPAGE); /* without it, it is only slower */
    m->bytes += HUGE_BYTES;
    return mapped + before;
}

static void add_chunk(struct mr_state_memory *m)
{
    uint32_t slabs_n = m->chunks_n < 4 ? (uint32_t)CHUNK_SLABS_FIRST << m->chunks_n : CHUNK_SLABS;
    struct mr_slab_chunk *c = mr_state_alloc(m, sizeof *c);

    *c = (struct mr_slab_chunk){.next = m->chunks};
    m->chunks = c; /* before its slabs are there: an escape must find it */
    c->slabs =
        slabs_n == CHUNK_SLABS ? map_huge(m) : mr_state_alloc(m, (uint64_t)slabs_n * MR_SLAB_BYTES);
    c->slabs_n = slabs_n;
    m->chunks_n++;
    m->chunk_used = 0;
}

static void free_chunk(struct mr_state_memory *m, struct mr_slab_chunk *c)
{
    if (c->slabs_n == CHUNK_SLABS && c->slabs) {
        munmap(c->slabs, HUGE_BYTES);
        m->bytes -= HUGE_BYTES;
        if (m->budget)
            mr_budget_give(m->budget, HUGE_BYTES);
    } else {
        mr_state_free(m, c->slabs, (uint64_t)c->slabs_n * MR_SLAB_BYTES);
    }
    mr_state_free(m, c, sizeof *c);
}

void *mr_slab_take(struct mr_state_memory *m)
{
    void *slab = m->free_slabs;

    if (slab) {
        memcpy(&m->free_slabs, slab, sizeof(void *));
        return slab;
    }
    if (m->chunks == NULL || m->chunk_used == m->chunks->slabs_n)
        add_chunk(m);
    return m->chunks->slabs + (uint64_t)m->chunk_used++ * MR_SLAB_BYTES;
}

void mr_slab_give(struct mr_state_memory *m, void *slab)
{
    memcpy(slab, &m->free_slabs, sizeof(void *));
    m->free_slabs = slab;
}

/* Even classes are powers of two, odd ones half as much again. */
static uint64_t block_class_bytes(uint32_t class)
{
    return (uint64_t)(MR_BLOCK_BYTES_MIN / 2 * (2 + class % 2)) << class / 2;
}

static uint32_t block_class_of(uint64_t bytes)
{
    uint32_t class = 0;

    while (class < MR_BLOCK_CLASSES && block_class_bytes(class) < bytes)
        class ++;
    return class;
}

uint64_t mr_block_bytes(uint64_t bytes)
{
    uint32_t class = block_class_of(bytes);

    return class < MR_BLOCK_CLASSES ? block_class_bytes(class) : bytes;
}

static void add_block_chunk(struct mr_state_memory *m)
{
    struct mr_slab_chunk *c = mr_state_alloc(m, sizeof *c);

    *c = (struct mr_slab_chunk){.next = m->block_chunks};
    m->block_chunks = c; /* before its page is there: an escape must find it */
    c->slabs = map_huge(m);
    c->slabs_n = CHUNK_SLABS;
    m->block_used = 0;
}

void *mr_block_take(struct mr_state_memory *m, uint64_t bytes)
{
    uint32_t class = block_class_of(bytes);

    if (class == MR_BLOCK_CLASSES)
        return mr_state_alloc(m, bytes);
    void *block = m->free_blocks[class];
    if (block) {
        memcpy(&m->free_blocks[class], block, sizeof(void *));
        return block;
    }
    uint64_t whole = block_class_bytes(class);
    if (m->block_chunks == NULL || m->block_used + whole > HUGE_BYTES)
        add_block_chunk(m);
    m->block_used += (uint32_t)whole;
    return m->block_chunks->slabs + m->block_used - whole;
}

void mr_block_give(struct mr_state_memory *m, void *block, uint64_t bytes)
{
    uint32_t class = block_class_of(bytes);

    if (block == NULL)
        return;
    if (class == MR_BLOCK_CLASSES) {
        mr_state_free(m, block, bytes);
        return;
    }
    memcpy(block, &m->free_blocks[class], sizeof(void *));
    m->free_blocks[class] = block;
}

static void free_chunks(struct mr_state_memory *m, struct mr_slab_chunk *chunks)
{
    for (struct mr_slab_chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        free_chunk(m, c);
    }
}

void mr_state_memory_fini(struct mr_state_memory *m)
{
    struct mr_heap_link *lists[] = {m->pages, m->blocks};

    for (uint32_t i = 0; i < 2; i++) {
        for (struct mr_heap_link *l = lists[i], *next; l; l = next) {
            next = l->next;
            mr_state_free(m, l, l->bytes);
        }
    }
    free_chunks(m, m->chunks);
    free_chunks(m, m->block_chunks);
    m->pages = m->blocks = NULL;
    m->chunks = m->block_chunks = NULL;
}
