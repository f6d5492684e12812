/* positions.h - bit masks of blocks -> positions, shared by the SIMD variants. */
#pragma once
#include "kernels/lines/lines.h"
#include <immintrin.h>

/* Appends the set bits of mask. One is written whatever the mask, since a branch on whether there
 * is one mispredicts on lines of usual length. */
static inline uint32_t append_bits(uint32_t *out, uint32_t found, uint64_t mask, uint32_t base)
{
    uint32_t n = (uint32_t)__builtin_popcountll(mask);

    out[found] = base + (uint32_t)_tzcnt_u64(mask);
    for (uint32_t i = 1; i < n; i++) {
        mask &= mask - 1;
        out[found + i] = base + (uint32_t)__builtin_ctzll(mask);
    }
    return found + n;
}

/* Bits of the bytes that lie before n, for a block of 64 at i. */
static inline uint64_t block_limit(uint32_t i, uint32_t n)
{
    return n - i >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << (n - i)) - 1;
}

/* The last block may have given more than max: the scan then ends after the last one counted. */
static inline uint32_t end_scan(const uint32_t *out, uint32_t found, uint32_t max, uint32_t i,
                                uint32_t n, uint32_t *scanned)
{
    if (found >= max) {
        *scanned = max ? out[max - 1] + 1 : 0;
        return max;
    }
    *scanned = i < n ? i : n;
    return found;
}
