/* hll_library.h - what is asked of Apache DataSketches' own library (C++ headers, behind plain C): estimates, which
 * need its measured tables, and unions of sketches of any kind that others wrote.
 *
 * Build    cmake/datasketches.cmake finds it; without it hll_missing.c answers MR_HLL_MISSING.
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum mr_hll_answer {
    MR_HLL_OK,
    MR_HLL_INVALID /* not a sketch */,
    MR_HLL_MISSING /* no library */
};

enum { MR_HLL_HEAD_BYTES = 40 };

enum mr_hll_answer mr_hll_estimate(const void *sketch, uint64_t n, double *out);
/* lg_k of a sketch. */
enum mr_hll_answer mr_hll_lg_k(const void *sketch, uint64_t n, uint32_t *out);
/* The union of two with at most 2^lg_k registers, as HLL_8; b may be NULL. out: room for MR_HLL_HEAD_BYTES +
 * 2^lg_k bytes. */
enum mr_hll_answer mr_hll_unite(uint32_t lg_k, const void *a, uint64_t a_n, const void *b,
                                uint64_t b_n, uint8_t *out, uint32_t *out_n);

#ifdef __cplusplus
}
#endif
