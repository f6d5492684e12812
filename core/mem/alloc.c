#include "core/mem/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef MR_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

/* Freed and not allocated again since, about; how much of it may stay. */
static _Atomic int64_t idle_bytes, keep_bytes = INT64_MAX;

void mr_mem_keep(uint64_t bytes)
{
    atomic_store_explicit(&keep_bytes, (int64_t)bytes, memory_order_relaxed);
}

/* The kernel gets pages back in few calls, each of a long run: a call for each free would halt the
 * other cores every time, as they must forget the page. */
static void give_back(void)
{
    atomic_store_explicit(&idle_bytes, 0, memory_order_relaxed);
#ifdef MR_JEMALLOC
    char name[40];

    snprintf(name, sizeof name, "arena.%u.purge", (unsigned)MALLCTL_ARENAS_ALL);
    (void)mallctl(name, NULL, NULL, NULL, 0); /* what fails only leaves more resident */
#endif
}

/* With jemalloc, malloc of a thread goes to the arena that mr_mem_enter bound it to. */
void *mr_mem_alloc(size_t bytes)
{
    int64_t idle = atomic_load_explicit(&idle_bytes, memory_order_relaxed);

    if (idle > 0)
        atomic_store_explicit(&idle_bytes, idle - (int64_t)bytes, memory_order_relaxed);
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

void mr_mem_free(void *p, size_t bytes)
{
    free(p);
    int64_t idle = atomic_load_explicit(&idle_bytes, memory_order_relaxed);
    idle = (idle > 0 ? idle : 0) + (int64_t)bytes;
    atomic_store_explicit(&idle_bytes, idle, memory_order_relaxed);
    if (idle > atomic_load_explicit(&keep_bytes, memory_order_relaxed))
        give_back();
}
