/* hll_missing.c - in place of hll_library.cc in a build without Apache DataSketches. */
#include "core/expr/hll_library.h"

#include <stddef.h>

enum mr_hll_answer mr_hll_estimate(const void *sketch, uint64_t n, double *out)
{
    (void)sketch;
    (void)n;
    (void)out;
    return MR_HLL_MISSING;
}

enum mr_hll_answer mr_hll_lg_k(const void *sketch, uint64_t n, uint32_t *out)
{
    (void)sketch;
    (void)n;
    (void)out;
    return MR_HLL_MISSING;
}

enum mr_hll_answer mr_hll_unite(uint32_t lg_k, const void *a, uint64_t a_n, const void *b,
                                uint64_t b_n, uint8_t *out, uint32_t *out_n)
{
    (void)lg_k;
    (void)a;
    (void)a_n;
    (void)b;
    (void)b_n;
    (void)out;
    (void)out_n;
    return MR_HLL_MISSING;
}
