/* java_random.h - the numbers of java.util.Random, where Spark's results depend on them. */
#pragma once
#include <stdint.h>

static inline uint64_t mr_java_random_start(uint64_t seed)
{
    return (seed ^ UINT64_C(0x5DEECE66D)) & ((UINT64_C(1) << 48) - 1);
}

static inline uint64_t mr_java_random_bits(uint64_t *state, uint32_t bits)
{
    *state = (*state * UINT64_C(0x5DEECE66D) + 0xB) & ((UINT64_C(1) << 48) - 1);
    return *state >> (48 - bits);
}

static inline double mr_java_random_double(uint64_t *state)
{
    uint64_t high = mr_java_random_bits(state, 26);

    return (double)((high << 27) + mr_java_random_bits(state, 27)) * 0x1p-53;
}

/* In [0, n), for an n that is no power of two: the last, incomplete stretch of 31 bits is not
 * taken. */
static inline uint32_t mr_java_random_below(uint64_t *state, uint32_t n)
{
    uint64_t bits;

    do {
        bits = mr_java_random_bits(state, 31);
    } while (bits - bits % n + (n - 1) > INT32_MAX);
    return (uint32_t)(bits % n);
}
