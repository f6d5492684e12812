#include "core/state/memory.h"

#include "core/base/check.h"
#include <string.h>

enum { PAGE_BYTES = 64 * 1024 };

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
    MR_ASSERT(m->escape != NULL);
    longjmp(*m->escape, 1);
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

void mr_heap_fini(struct mr_state_memory *m)
{
    struct mr_heap_link *lists[] = {m->pages, m->blocks};

    for (uint32_t i = 0; i < 2; i++) {
        for (struct mr_heap_link *l = lists[i], *next; l; l = next) {
            next = l->next;
            mr_state_free(m, l, l->bytes);
        }
    }
    m->pages = m->blocks = NULL;
}
