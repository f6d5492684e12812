#include <immintrin.h>
#include <stdint.h>

typedef uint32_t words32 __attribute__((vector_size(64)));
typedef int32_t signed32 __attribute__((vector_size(64)));
typedef uint64_t words64 __attribute__((vector_size(64)));
typedef __mmask16 mask32;
typedef __mmask8 mask64;

static inline mask32 above32(words32 x, uint32_t y)
{
    return _mm512_cmpgt_epu32_mask((__m512i)x, _mm512_set1_epi32((int32_t)y));
}
static inline mask32 equal32(words32 x, uint32_t y)
{
    return _mm512_cmpeq_epi32_mask((__m512i)x, _mm512_set1_epi32((int32_t)y));
}
static inline words32 pick32(mask32 mask, words32 x, words32 y)
{
    return (words32)_mm512_mask_mov_epi32((__m512i)y, mask, (__m512i)x);
}
static inline mask64 above64(words64 x, uint64_t y)
{
    return _mm512_cmpgt_epu64_mask((__m512i)x, _mm512_set1_epi64((int64_t)y));
}
static inline mask64 equal64(words64 x, uint64_t y)
{
    return _mm512_cmpeq_epi64_mask((__m512i)x, _mm512_set1_epi64((int64_t)y));
}
static inline words64 pick64(mask64 mask, words64 x, words64 y)
{
    return (words64)_mm512_mask_mov_epi64((__m512i)y, mask, (__m512i)x);
}
static inline words32 signed_byte(words32 x)
{
    return (words32)((signed32)x >> 24);
}
/* Of lane i bit i. */
static inline mask32 lanes32(uint32_t bits)
{
    return (mask32)bits;
}
static inline mask64 lanes64(uint32_t bits)
{
    return (mask64)bits;
}
static inline uint32_t bits32(mask32 mask)
{
    return mask;
}
static inline uint32_t bits64(mask64 mask)
{
    return mask;
}
static inline void store32(uint32_t *p, mask32 mask, words32 x, words32 y)
{
    _mm512_storeu_si512(p, (__m512i)pick32(mask, x, y));
}
static inline void store64(uint64_t *p, mask64 mask, words64 x, words64 y)
{
    _mm512_storeu_si512(p, (__m512i)pick64(mask, x, y));
}
static inline words64 widen32(const uint32_t *p)
{
    return (words64)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
static inline words32 evens32(words32 x, words32 y)
{
    return __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}
static inline words32 odds32(words32 x, words32 y)
{
    return __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

static inline __m128i block(const char *text)
{
    return _mm_loadu_si128((const __m128i *)(const void *)text);
}
static inline __m512i four(const char *a, const char *b, const char *c, const char *d)
{
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(block(a)), block(b), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(block(c)), block(d), 1);

    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The first four words of each row. */
static inline void words32_of(words32 *k, const char *const *text)
{
    __m512i r[4];

    for (uint32_t i = 0; i < 4; i++)
        r[i] = four(text[i], text[i + 4], text[i + 8], text[i + 12]);
    const __m512i a = _mm512_unpacklo_epi32(r[0], r[1]), b = _mm512_unpacklo_epi32(r[2], r[3]);
    const __m512i c = _mm512_unpackhi_epi32(r[0], r[1]), d = _mm512_unpackhi_epi32(r[2], r[3]);
    k[0] = (words32)_mm512_unpacklo_epi64(a, b);
    k[1] = (words32)_mm512_unpackhi_epi64(a, b);
    k[2] = (words32)_mm512_unpacklo_epi64(c, d);
    k[3] = (words32)_mm512_unpackhi_epi64(c, d);
}

static inline void words64_of(words64 *k, const char *const *text)
{
    for (uint32_t i = 0; i < 2; i++) {
        const __m512i even =
            four(text[0] + 16 * i, text[2] + 16 * i, text[4] + 16 * i, text[6] + 16 * i);
        const __m512i odd =
            four(text[1] + 16 * i, text[3] + 16 * i, text[5] + 16 * i, text[7] + 16 * i);
        k[2 * i] = (words64)_mm512_unpacklo_epi64(even, odd);
        k[2 * i + 1] = (words64)_mm512_unpackhi_epi64(even, odd);
    }
}

#include "kernels/sparkhash/lanes_body.h"

const struct mr_sparkhash_kernels mr_sparkhash_avx512 = {
    .isa = "avx512",
    .murmur_u32 = murmur_u32,
    .murmur_u64 = murmur_u64,
    .murmur_texts = murmur_texts,
    .xxh64_u32 = xxh64_u32,
    .xxh64_u64 = xxh64_u64,
    .xxh64_texts = xxh64_texts,
};
