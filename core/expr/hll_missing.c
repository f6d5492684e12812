/* hll_missing.c - in place of hll_library.cc in a build without Apache DataSketches. */
#include "core/expr/hll_library.h"

#include <stddef.h>

bool mr_hll_is_there(void)
{
    return false;
}

bool mr_hll_is_sketch(const void *sketch, uint64_t n)
{
    (void)sketch;
    (void)n;
    return false;
}

bool mr_hll_estimate(const void *sketch, uint64_t n, double *out)
{
    (void)sketch;
    (void)n;
    (void)out;
    return false;
}

bool mr_hll_unite(uint32_t lg_k, const void *a, uint64_t a_n, const void *b, uint64_t b_n,
                  uint8_t *out, uint32_t *out_n)
{
    (void)lg_k;
    (void)a;
    (void)a_n;
    (void)b;
    (void)b_n;
    (void)out;
    (void)out_n;
    return false;
}
