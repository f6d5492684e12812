#include "core/base/check.h"
#include "core/mem/mem.h"
#include <stdatomic.h>

void mr_budget_init(struct mr_budget *b, const char *name, struct mr_budget *parent,
                    uint64_t limit_bytes)
{
    b->name = name;
    b->parent = parent;
    b->limit_bytes = limit_bytes;
    atomic_store_explicit(&b->used_bytes, 0, memory_order_relaxed);
}

/* Relaxed throughout: the counter orders nothing, it only has to be exact. */
bool mr_budget_take(struct mr_budget *b, uint64_t bytes)
{
    uint64_t before = atomic_fetch_add_explicit(&b->used_bytes, bytes, memory_order_relaxed);

    if (b->limit_bytes && before + bytes > b->limit_bytes) {
        atomic_fetch_sub_explicit(&b->used_bytes, bytes, memory_order_relaxed);
        return false;
    }
    if (b->parent && !mr_budget_take(b->parent, bytes)) {
        atomic_fetch_sub_explicit(&b->used_bytes, bytes, memory_order_relaxed);
        return false;
    }
    return true;
}

void mr_budget_give(struct mr_budget *b, uint64_t bytes)
{
    uint64_t before = atomic_fetch_sub_explicit(&b->used_bytes, bytes, memory_order_relaxed);

    MR_ASSERT(before >= bytes);
    if (b->parent)
        mr_budget_give(b->parent, bytes);
}
