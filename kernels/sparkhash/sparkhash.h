/* sparkhash.h - Spark's hash functions, of whole columns: Murmur3 (with Spark's own end: the last
 * bytes are mixed in one by one, each as a signed word) and XXH64.
 *
 * Seeds    hashes[row] goes in as the seed of the row and comes out as its hash, so that columns
 *          follow one another. Where valid has a 0 the seed stays.
 * Rows     Words: all rows 0..n-1. Texts: rows sel[0..n), each one once (NULL: 0..n-1); views are
 *          as in kernels/view.
 */
#pragma once
#include "kernels/kernels.h"

struct mr_sparkhash_kernels {
    const char *isa;
    void (*murmur_u32)(uint32_t *hashes, const uint32_t *x, const uint64_t *valid, uint32_t n);
    void (*murmur_u64)(uint32_t *hashes, const uint64_t *x, const uint64_t *valid, uint32_t n);
    void (*murmur_texts)(uint32_t *hashes, const uint64_t *views, uint8_t *const *heaps,
                         const uint64_t *valid, const uint32_t *sel, uint32_t n);
    void (*xxh64_u32)(uint64_t *hashes, const uint32_t *x, const uint64_t *valid, uint32_t n);
    void (*xxh64_u64)(uint64_t *hashes, const uint64_t *x, const uint64_t *valid, uint32_t n);
    void (*xxh64_texts)(uint64_t *hashes, const uint64_t *views, uint8_t *const *heaps,
                        const uint64_t *valid, const uint32_t *sel, uint32_t n);
};
extern const struct mr_sparkhash_kernels mr_sparkhash_scalar, mr_sparkhash_avx2,
    mr_sparkhash_avx512;
extern const struct mr_sparkhash_kernels *const mr_sparkhash_variants[]; /* best first, NULL */
extern const struct mr_sparkhash_kernels *mr_sparkhash; /* set by mr_kernels_init */
