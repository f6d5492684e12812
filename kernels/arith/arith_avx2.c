#include "kernels/arith/arith_body.h"

#include <immintrin.h>

static inline __m256i load(const void *from)
{
    return _mm256_loadu_si256(from);
}

/* -1 where x < y as unsigned words, moved from low halves to the high ones of the same value. */
static inline __m256i carry_of(__m256i x, __m256i y)
{
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    const __m256i less = _mm256_cmpgt_epi64(_mm256_xor_si256(y, sign), _mm256_xor_si256(x, sign));

    return _mm256_slli_si256(less, 8);
}

/* Two values of 128 bits at a time, the last one of an odd number alone. */
#define PAIRS_LOOP(name, op, half, correct, below, than)                                           \
    WIDE_LOOP(name##_last, op, n / 2 * 2)                                                          \
    static void name(__int128 *out, const __int128 *x, const __int128 *y, uint32_t n)              \
    {                                                                                              \
        for (uint32_t i = 0; i + 2 <= n; i += 2) {                                                 \
            const __m256i a = load(x + i), b = load(y + i), r = half(a, b);                        \
            _mm256_storeu_si256((__m256i *)(void *)(out + i), correct(r, carry_of(below, than)));  \
        }                                                                                          \
        name##_last(out, x, y, n);                                                                 \
    }
PAIRS_LOOP(add_i128, +, _mm256_add_epi64, _mm256_sub_epi64, r, a)
PAIRS_LOOP(sub_i128, -, _mm256_sub_epi64, _mm256_add_epi64, a, b)

static inline unsigned __int128 total_of(__m256i low, __m256i high)
{
    uint64_t l[4], h[4];

    _mm256_storeu_si256((__m256i *)(void *)l, low);
    _mm256_storeu_si256((__m256i *)(void *)h, high);
    return (unsigned __int128)l[0] + l[2] + (((unsigned __int128)l[1] + l[3]) << 64) +
           (((unsigned __int128)h[0] + h[2]) << 32) + (((unsigned __int128)h[1] + h[3]) << 96);
}

/* Quarters apart: no sum of up to 2^32 of them can overflow. 2.5 clocks a row against 6. */
static __int128 sum_i128(const __int128 *x, const uint64_t *valid, uint32_t n)
{
    static const int64_t masks[4][4] = {
        {0, 0, 0, 0}, {-1, -1, 0, 0}, {0, 0, -1, -1}, {-1, -1, -1, -1}};
    const __m256i quarter = _mm256_set1_epi64x(UINT32_MAX);
    __m256i low = _mm256_setzero_si256(), high = low;

    if (valid == 0)
        return total_i128(x, n);
    for (uint32_t i = 0; i < n; i += 2) { /* reads a row behind the last one at most */
        const uint64_t both = valid[i / 64] >> (i % 64) & (n - i < 2 ? 1 : 3);
        const __m256i v = _mm256_and_si256(load(x + i), load(masks[both]));
        low = _mm256_add_epi64(low, _mm256_and_si256(v, quarter));
        high = _mm256_add_epi64(high, _mm256_srli_epi64(v, 32));
    }
    return (__int128)total_of(low, high);
}

static void sqrt_f64(double *out, const double *x, uint32_t n)
{
    uint32_t i = 0;

    for (; i + 4 <= n; i += 4)
        _mm256_storeu_pd(out + i, _mm256_sqrt_pd(_mm256_loadu_pd(x + i)));
    for (; i < n; i++)
        _mm_store_sd(out + i, _mm_sqrt_pd(_mm_load_sd(x + i)));
}

const struct mr_arith_kernels mr_arith_avx2 = ARITH_TABLE("avx2");
