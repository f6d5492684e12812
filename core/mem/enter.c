#include "core/base/check.h"
#include "core/mem/mem.h"
#include <errno.h>
#include <sched.h>
#ifdef MR_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

/* Pages of the arena are first touched by its only user, so they lie on the user's NUMA node. */
static enum mr_status own_arena(struct mr_error *err)
{
#ifdef MR_JEMALLOC
    unsigned arena;
    size_t bytes = sizeof arena;
    int failed = mallctl("arenas.create", &arena, &bytes, NULL, 0);

    if (failed == 0)
        failed = mallctl("thread.arena", NULL, NULL, &arena, sizeof arena);
    if (failed != 0)
        return MR_FAIL(err, MR_MEMORY, failed, "a worker gets no allocator of its own");
#else
    (void)err;
#endif
    return MR_OK;
}

enum mr_status mr_mem_enter(const struct mr_placement *placement, uint32_t worker,
                            struct mr_error *err)
{
    MR_ASSERT(worker < placement->workers_n);
    int32_t cpu = placement->workers[worker].cpu;

    if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            return MR_FAIL(err, MR_IO, errno, "worker %u can't be pinned to cpu %d", worker, cpu);
    }
    return own_arena(err);
}
