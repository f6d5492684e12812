/* hll_library.h - what is asked of Apache DataSketches' own library (C++ headers, behind plain C):
 * estimates, which need its measured tables, and unions of sketches of any kind that others wrote.
 *
 * Build    cmake/datasketches.cmake finds it; without it hll_missing.c stands in its place and
 *          resolve refuses the functions that would ask.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MR_HLL_HEAD_BYTES = 40 };

bool mr_hll_is_there(void);
/* The others: false if bytes are not a sketch. */
bool mr_hll_is_sketch(const void *sketch, uint64_t n);
bool mr_hll_estimate(const void *sketch, uint64_t n, double *out);
/* The union of two with at most 2^lg_k registers, as HLL_8; b may be NULL. out: room for
 * MR_HLL_HEAD_BYTES + 2^lg_k bytes, which is all that a sketch of its own making takes; forged ones
 * that would take more are refused. */
bool mr_hll_unite(uint32_t lg_k, const void *a, uint64_t a_n, const void *b, uint64_t b_n,
                  uint8_t *out, uint32_t *out_n);

#ifdef __cplusplus
}
#endif
