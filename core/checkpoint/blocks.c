#include "core/checkpoint/blocks.h"

#include "core/base/check.h"
#include <string.h>

enum { CAPACITY_FIRST = 64 * 1024 };

enum mr_status mr_blocks_reserve(struct mr_blocks *b, uint64_t bytes, struct mr_error *err)
{
    uint64_t capacity = b->capacity ? b->capacity : CAPACITY_FIRST;

    if (b->capacity - b->n >= bytes)
        return MR_OK;
    while (capacity - b->n < bytes)
        capacity *= 2;
    uint64_t memory_bytes = capacity + MR_BLOCK + MR_PAD_BYTES;
    if (b->budget && !mr_budget_take(b->budget, memory_bytes))
        return MR_FAIL(err, MR_MEMORY, 0,
                       "checkpoint: %.1f MB more are over the memory limit; raise engine: "
                       "memory_limit, or let "
                       "an epoch read less",
                       (double)memory_bytes / 1e6);
    uint8_t *memory = mr_mem_alloc(memory_bytes);
    if (memory == NULL) {
        if (b->budget)
            mr_budget_give(b->budget, memory_bytes);
        return MR_FAIL(err, MR_MEMORY, 0, "checkpoint: no memory");
    }
    uint8_t *data = memory + (-(uintptr_t)memory & (MR_BLOCK - 1));
    if (b->n)
        memcpy(data, b->data, b->n);
    memset(data + b->n, 0, capacity + MR_PAD_BYTES - b->n);
    uint64_t n = b->n;
    struct mr_budget *budget = b->budget;
    mr_blocks_fini(b);
    *b = (struct mr_blocks){budget, data, n, capacity, memory, memory_bytes};
    return MR_OK;
}

void mr_blocks_append(struct mr_blocks *b, const void *data, uint64_t bytes)
{
    MR_ASSERT(b->capacity - b->n >= bytes);
    if (bytes)
        memcpy(b->data + b->n, data, bytes);
    b->n += bytes;
}

void mr_blocks_pad(struct mr_blocks *b)
{
    uint64_t whole = mr_blocks_round(b->n);

    MR_ASSERT(whole <= b->capacity);
    memset(b->data + b->n, 0, whole - b->n);
    b->n = whole;
}

void mr_blocks_drop(struct mr_blocks *b, uint64_t bytes)
{
    MR_ASSERT(bytes <= b->n);
    memmove(b->data, b->data + bytes, b->n - bytes);
    b->n -= bytes;
}

void mr_blocks_fini(struct mr_blocks *b)
{
    if (b->memory) {
        if (b->budget)
            mr_budget_give(b->budget, b->memory_bytes);
        mr_mem_free(b->memory, b->memory_bytes);
    }
    *b = (struct mr_blocks){.budget = b->budget};
}
