/* guard.h - inputs of kernels that end MR_PAD_BYTES before a page that must not be touched. */
#pragma once
#include "core/base/bounds.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { GUARD_ROWS = 257, GUARD_PAGES = 8, GUARD_MAPS = 12 };

/* Random values of n rows; sel: some of them. */
struct guard {
    int64_t *i64;
    double *f64;
    uint64_t *valid;
    uint32_t *sel, *ids; /* ids below 16 */
    uint32_t n, sel_n;
    void *maps[GUARD_MAPS];
    uint32_t maps_n;
};

static inline void *guard_alloc(struct guard *g, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, (GUARD_PAGES + 1) * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(map, MAP_FAILED);
    assert_true(g->maps_n < GUARD_MAPS);
    assert_true(bytes + MR_PAD_BYTES <= GUARD_PAGES * page);
    assert_int_equal(mprotect(map + GUARD_PAGES * page, page, PROT_NONE), 0);
    g->maps[g->maps_n++] = map;
    return map + GUARD_PAGES * page - MR_PAD_BYTES - bytes;
}

static inline uint64_t guard_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 3;
}

static inline struct guard guard_open(uint32_t n)
{
    struct guard g = {.n = n};
    uint64_t seed = n + 1;
    const uint32_t words = (n + 63) / 64;

    g.i64 = guard_alloc(&g, n * sizeof *g.i64);
    g.f64 = guard_alloc(&g, n * sizeof *g.f64);
    g.valid = guard_alloc(&g, words * sizeof *g.valid);
    g.sel = guard_alloc(&g, n * sizeof *g.sel);
    g.ids = guard_alloc(&g, n * sizeof *g.ids);
    for (uint32_t w = 0; w < words; w++)
        g.valid[w] = guard_random(&seed) ^ guard_random(&seed) << 7;
    for (uint32_t i = 0; i < n; i++) {
        g.i64[i] = (int64_t)guard_random(&seed) - (INT64_C(1) << 60);
        g.f64[i] = (double)(guard_random(&seed) % 1000) / 4;
        g.ids[i] = (uint32_t)(guard_random(&seed) >> 30) % 16;
        if (guard_random(&seed) >> 40 & 1)
            g.sel[g.sel_n++] = i;
    }
    return g;
}

static inline void guard_close(struct guard *g)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    for (uint32_t i = 0; i < g->maps_n; i++)
        munmap(g->maps[i], (GUARD_PAGES + 1) * page);
}

/* Whether this CPU runs a variant. */
static inline bool guard_runs(const char *isa)
{
    enum mr_isa needed = MR_ISA_SCALAR;

    while (strcmp(mr_isa_name(needed), isa) != 0)
        needed++;
    return needed <= mr_kernels_best();
}

/* Each variant of a list that this CPU runs. */
#define GUARD_EACH(v, kernels, variants)                                                           \
    for (const struct kernels *const *v = (variants); *v; v++)                                     \
        if (guard_runs((*v)->isa))
