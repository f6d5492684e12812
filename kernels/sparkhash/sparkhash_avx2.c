#include <immintrin.h>
#include <stdint.h>

typedef uint32_t words32 __attribute__((vector_size(32)));
typedef int32_t signed32 __attribute__((vector_size(32)));
typedef uint64_t words64 __attribute__((vector_size(32)));
typedef __m256i mask32;
typedef __m256i mask64;

/* Lengths and counts: no sign bit is set. */
static inline mask32 above32(words32 x, uint32_t y)
{
    return _mm256_cmpgt_epi32((__m256i)x, _mm256_set1_epi32((int32_t)y));
}
static inline mask32 equal32(words32 x, uint32_t y)
{
    return _mm256_cmpeq_epi32((__m256i)x, _mm256_set1_epi32((int32_t)y));
}
static inline words32 pick32(mask32 mask, words32 x, words32 y)
{
    return (words32)_mm256_blendv_epi8((__m256i)y, (__m256i)x, mask);
}
static inline mask64 above64(words64 x, uint64_t y)
{
    return _mm256_cmpgt_epi64((__m256i)x, _mm256_set1_epi64x((int64_t)y));
}
static inline mask64 equal64(words64 x, uint64_t y)
{
    return _mm256_cmpeq_epi64((__m256i)x, _mm256_set1_epi64x((int64_t)y));
}
static inline words64 pick64(mask64 mask, words64 x, words64 y)
{
    return (words64)_mm256_blendv_epi8((__m256i)y, (__m256i)x, mask);
}
static inline words32 signed_byte(words32 x)
{
    return (words32)((signed32)x >> 24);
}
/* Of lane i bit i. */
static inline mask32 lanes32(uint32_t bits)
{
    const __m256i one = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)bits), one), one);
}
static inline mask64 lanes64(uint32_t bits)
{
    const __m256i one = _mm256_set_epi64x(8, 4, 2, 1);

    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), one), one);
}
static inline uint32_t bits32(mask32 mask)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}
static inline uint32_t bits64(mask64 mask)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(mask));
}
static inline void store32(uint32_t *p, mask32 mask, words32 x, words32 y)
{
    _mm256_storeu_si256((__m256i *)(void *)p, (__m256i)pick32(mask, x, y));
}
static inline void store64(uint64_t *p, mask64 mask, words64 x, words64 y)
{
    _mm256_storeu_si256((__m256i *)(void *)p, (__m256i)pick64(mask, x, y));
}
static inline words64 widen32(const uint32_t *p)
{
    return (words64)_mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)p));
}
static inline words32 evens32(words32 x, words32 y)
{
    return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14);
}
static inline words32 odds32(words32 x, words32 y)
{
    return __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15);
}

static inline __m256i two(const char *a, const char *b)
{
    return _mm256_loadu2_m128i((const __m128i *)(const void *)b, (const __m128i *)(const void *)a);
}

/* The first four words of each row. */
static inline void words32_of(words32 *k, const char *const *text)
{
    __m256i r[4];

    for (uint32_t i = 0; i < 4; i++)
        r[i] = two(text[i], text[i + 4]);
    const __m256i a = _mm256_unpacklo_epi32(r[0], r[1]), b = _mm256_unpacklo_epi32(r[2], r[3]);
    const __m256i c = _mm256_unpackhi_epi32(r[0], r[1]), d = _mm256_unpackhi_epi32(r[2], r[3]);
    k[0] = (words32)_mm256_unpacklo_epi64(a, b);
    k[1] = (words32)_mm256_unpackhi_epi64(a, b);
    k[2] = (words32)_mm256_unpacklo_epi64(c, d);
    k[3] = (words32)_mm256_unpackhi_epi64(c, d);
}

static inline void words64_of(words64 *k, const char *const *text)
{
    for (uint32_t i = 0; i < 2; i++) {
        const __m256i even = two(text[0] + 16 * i, text[2] + 16 * i);
        const __m256i odd = two(text[1] + 16 * i, text[3] + 16 * i);
        k[2 * i] = (words64)_mm256_unpacklo_epi64(even, odd);
        k[2 * i + 1] = (words64)_mm256_unpackhi_epi64(even, odd);
    }
}

#include "kernels/sparkhash/lanes_body.h"

const struct mr_sparkhash_kernels mr_sparkhash_avx2 = {
    .isa = "avx2",
    .murmur_u32 = murmur_u32,
    .murmur_u64 = murmur_u64,
    .murmur_texts = murmur_texts,
    .xxh64_u32 = xxh64_u32,
    .xxh64_u64 = xxh64_u64,
    .xxh64_texts = xxh64_texts,
};
