/* mem.h - where memory and threads live: machine topology, budgets, per-worker allocators.
 *
 * What     hwloc finds cores and NUMA nodes; mr_mem_place decides which worker sits where (pure, so
 *          it is tested on synthetic machines); each worker allocates from a jemalloc arena of its
 *          own, bound to its node by first touch; budgets limit what may be taken.
 * Threads  mr_mem_open before workers start. Budgets are shared and atomic.
 */
#pragma once
#include "core/base/bounds.h"
#include "core/base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits the sum of what is taken from it; parent (or NULL) is charged as well. */
struct mr_budget {
    const char *name; /* named in the error when it is exhausted */
    struct mr_budget *parent;
    uint64_t limit_bytes; /* 0: no limit of its own */
    _Atomic uint64_t used_bytes;
};

void mr_budget_init(struct mr_budget *b, const char *name, struct mr_budget *parent,
                    uint64_t limit_bytes);
/* False, and nothing taken, when a limit would be passed. */
MR_NODISCARD bool mr_budget_take(struct mr_budget *b, uint64_t bytes);
void mr_budget_give(struct mr_budget *b, uint64_t bytes);

/* Memory of the calling thread's allocator, 64-byte aligned; NULL when the system has no more. */
void *mr_mem_alloc(size_t bytes);
void mr_mem_free(void *p, size_t bytes);
/* Of what is freed, the whole process keeps about as much for later; all goes back to the kernel
 * when it is more. It comes on top of the memory limit: the budget has given it to others. */
void mr_mem_keep(uint64_t bytes);

struct mr_topology; /* hwloc's, or a synthetic one */

struct mr_placement {
    uint32_t workers_n;
    struct {
        int32_t cpu;   /* OS index; -1: not pinned */
        uint32_t node; /* NUMA node, OS index */
    } workers[MR_WORKERS_MAX];
};

struct mr_mem_config {
    uint32_t workers; /* 0: one per core */
    const char *cpus; /* "0-3,8" or NULL: all that this process may use */
    bool pin;
    const char *synthetic; /* hwloc synthetic description for tests, or NULL */
};

/* Which core each worker gets: cores before hyperthreads, nodes filled evenly, within cpus. */
MR_NODISCARD enum mr_status mr_mem_place(const struct mr_mem_config *config,
                                         struct mr_placement *out, struct mr_error *err);
/* Called by a worker first of all: pins it and gives it an allocator of its own on its node. */
MR_NODISCARD enum mr_status mr_mem_enter(const struct mr_placement *placement, uint32_t worker,
                                         struct mr_error *err);
