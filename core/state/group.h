/* group.h - the eight places of one cache line of an index, compared at once. Internal to
 * core/state.
 *
 * Place    0: empty; else the upper half of a hash << 32 | a row's reference, which is never 0.
 * Masks    16 bits: bit 2i stands for place i of an aligned group.
 */
#pragma once
#include <stdint.h>

enum { MR_INDEX_GROUP = 8, MR_GROUP_MASK = 0x5555 };

#ifdef __SSE2__
#include <emmintrin.h>

/* Bits 2i and 2i + 1: the lower and the upper half of place i equal those of want. */
static inline uint32_t mr_group_halves(const uint64_t *places, __m128i want)
{
    const __m128i *at = (const __m128i *)(const void *)places;
    __m128i a = _mm_cmpeq_epi32(_mm_load_si128(at), want);
    __m128i b = _mm_cmpeq_epi32(_mm_load_si128(at + 1), want);
    __m128i c = _mm_cmpeq_epi32(_mm_load_si128(at + 2), want);
    __m128i d = _mm_cmpeq_epi32(_mm_load_si128(at + 3), want);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}
static inline uint32_t mr_group_equal(const uint64_t *places, uint32_t high)
{
    return mr_group_halves(places, _mm_set1_epi32((int)high)) >> 1 & MR_GROUP_MASK;
}
static inline uint32_t mr_group_empty(const uint64_t *places)
{
    return mr_group_halves(places, _mm_setzero_si128()) & MR_GROUP_MASK;
}

/* Places, empty ones too, whose uppermost byte is that. */
static inline uint32_t mr_group_of_byte(const uint64_t *places, uint32_t byte)
{
    const __m128i *at = (const __m128i *)(const void *)places, want = _mm_set1_epi32((int)byte);
    __m128i a = _mm_cmpeq_epi32(_mm_srli_epi32(_mm_load_si128(at), 24), want);
    __m128i b = _mm_cmpeq_epi32(_mm_srli_epi32(_mm_load_si128(at + 1), 24), want);
    __m128i c = _mm_cmpeq_epi32(_mm_srli_epi32(_mm_load_si128(at + 2), 24), want);
    __m128i d = _mm_cmpeq_epi32(_mm_srli_epi32(_mm_load_si128(at + 3), 24), want);
    uint32_t mask =
        (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
    return mask >> 1 & MR_GROUP_MASK;
}

#else

static inline uint32_t mr_group_equal(const uint64_t *places, uint32_t high)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MR_INDEX_GROUP; i++)
        mask |= (uint32_t)((uint32_t)(places[i] >> 32) == high) << 2 * i;
    return mask;
}
static inline uint32_t mr_group_empty(const uint64_t *places)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MR_INDEX_GROUP; i++)
        mask |= (uint32_t)((uint32_t)places[i] == 0) << 2 * i;
    return mask;
}
static inline uint32_t mr_group_of_byte(const uint64_t *places, uint32_t byte)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < MR_INDEX_GROUP; i++)
        mask |= (uint32_t)(places[i] >> 56 == byte) << 2 * i;
    return mask;
}

#endif

static inline uint32_t mr_group_first(uint32_t mask) /* the place of the first of some */
{
    return (uint32_t)__builtin_ctz(mask) / 2;
}
