/* number_sse.h - numbers of up to 15 bytes in one vector: for the variants with AVX2. */
#pragma once
#include "core/format/json/number.h"
#include <immintrin.h>

/* [16 - n, 32 - n): a shuffle that moves the first n bytes to the end and clears the rest. */
extern const uint8_t json_align_right[32];
/* [16 - d, 32 - d): ones in the first d bytes. */
extern const uint8_t json_first_bytes[32];

/* As json_decimal_parse. The dot is squeezed out by moving the digits before it up by one byte; then pairs,
 * fours and eights of digits are joined by multiply-add. About 35 instructions and no branch on lengths. */
static inline const uint8_t *sse_decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    out->negative = *p == '-';
    p += out->negative;
    __m128i text = _mm_loadu_si128((const void *)p);
    __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    uint32_t digit_mask =
        (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits));
    uint32_t dot_mask = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
    uint32_t n = (uint32_t)__builtin_ctz(~(digit_mask | dot_mask));
    uint32_t whole = (uint32_t)__builtin_ctz(~digit_mask);
    /* 16 bytes or more, nothing before or behind the dot, a leading zero, two dots, an exponent */
    bool has_dot = whole < n;
    uint32_t second = dot_mask & (dot_mask - 1) & ((1u << n) - 1);
    bool zero_first = *p == '0' && whole > 1;
    if (n > 15 || whole == 0 || n - whole == 1 || second || zero_first || (p[n] | 0x20) == 'e')
        return NULL;
    /* digits [0, whole) move to [1, whole] when there is a dot at whole */
    __m128i before = _mm_loadu_si128((const void *)(json_first_bytes + 15 - whole));
    __m128i joined = _mm_blendv_epi8(digits, _mm_slli_si128(digits, 1), before);
    digits = has_dot ? joined : digits;
    digits = _mm_shuffle_epi8(digits, _mm_loadu_si128((const void *)(json_align_right + n)));
    __m128i pairs = _mm_maddubs_epi16(
        digits, _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours),
                                    _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    out->unscaled = (both & 0xffffffff) * 100000000 + (both >> 32);
    out->scale = has_dot ? n - whole - 1 : 0;
    return p + n;
}
