/* number_sse.h - numbers of up to 15 bytes in one vector: for the variants with AVX2. */
#pragma once
#include "core/format/json/constants.h"
#include "core/format/json/number.h"
#include <immintrin.h>

static inline __m128i load_16(const uint8_t *p)
{
    return _mm_loadu_si128((const void *)p);
}

/* Up to 16 digits, one a byte, at the end of a vector -> their value: pairs, fours and eights of
 * digits are joined by multiply-add. */
static inline uint64_t sse_digits_value(__m128i digits)
{
    __m128i pairs = _mm_maddubs_epi16(
        digits, _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100));
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours),
                                    _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (both & 0xffffffff) * 100000000 + (both >> 32);
}

/* As json_decimal_parse, for numbers of up to 15 bytes. The dot is squeezed out by moving the
 * digits before it up by one byte. No branch depends on lengths. */
static inline const uint8_t *sse_decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    out->negative = *p == '-';
    p += out->negative;
    __m128i digits = _mm_sub_epi8(load_16(p), load_16(json_constants.zeros));
    uint32_t others = ~(uint32_t)_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_min_epu8(digits, load_16(json_constants.nines)), digits));
    uint32_t whole = (uint32_t)__builtin_ctz(others), n = whole;
    out->scale = 0;
    if (p[whole] == '.') {
        /* a second dot ends the number, and is then no comma */
        n = (uint32_t)__builtin_ctz(_blsr_u32(others) | 1u << 31);
        out->scale = n - whole - 1;
        if (out->scale == 0 || whole == 0)
            return NULL;
        /* digits [0, whole) move to [1, whole] */
        __m128i before = load_16(json_constants.first_bytes + 15 - (whole & 15));
        digits = _mm_blendv_epi8(digits, _mm_slli_si128(digits, 1), before);
    }
    bool zero_first = *p == '0' && whole > 1;
    if (n - 1 > 14 || zero_first || (p[n] | 0x20) == 'e')
        return NULL;
    digits = _mm_shuffle_epi8(digits, load_16(json_constants.align_right + n));
    out->unscaled = sse_digits_value(digits);
    return p + n;
}
