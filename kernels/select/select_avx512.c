#include "kernels/select/select_body.h"

#include <immintrin.h>
#include <stddef.h>

static inline uint64_t eq_mask_i32(__m512i a, __m512i b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}
static inline uint64_t lt_mask_i32(__m512i a, __m512i b)
{
    return _mm512_cmplt_epi32_mask(a, b);
}
static inline uint64_t eq_mask_i64(__m512i a, __m512i b)
{
    return _mm512_cmpeq_epi64_mask(a, b);
}
static inline uint64_t lt_mask_i64(__m512i a, __m512i b)
{
    return _mm512_cmplt_epi64_mask(a, b);
}
static inline uint64_t eq_mask_f64(__m512i x, __m512i y)
{
    __m512d a = _mm512_castsi512_pd(x), b = _mm512_castsi512_pd(y);

    return (uint32_t)_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ) |
           ((uint32_t)_mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q) &
            (uint32_t)_mm512_cmp_pd_mask(b, b, _CMP_UNORD_Q));
}
static inline uint64_t lt_mask_f64(__m512i x, __m512i y)
{
    __m512d a = _mm512_castsi512_pd(x), b = _mm512_castsi512_pd(y);

    return (uint32_t)_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ) |
           ((uint32_t)_mm512_cmp_pd_mask(a, a, _CMP_ORD_Q) &
            (uint32_t)_mm512_cmp_pd_mask(b, b, _CMP_UNORD_Q));
}

static inline __m512i all_i32(const int32_t *y)
{
    return _mm512_set1_epi32(*y);
}
static inline __m512i all_i64(const int64_t *y)
{
    return _mm512_set1_epi64(*y);
}
static inline __m512i all_f64(const double *y)
{
    return _mm512_castpd_si512(_mm512_set1_pd(*y));
}

/* Reads whole vectors, at most 60 bytes behind the last row. */
#define VECTOR_LOOP(name, type, lanes, load_y, test)                                               \
    static void name(uint64_t *bits, const void *xs, const void *ys, uint32_t n)                   \
    {                                                                                              \
        const type *x = xs, *y = ys;                                                               \
        for (uint32_t at = 0; at < n; at += 64) {                                                  \
            uint64_t word = 0;                                                                     \
            for (uint32_t j = 0; j < 64 && at + j < n; j += lanes) {                               \
                __m512i a = _mm512_loadu_si512(x + at + j);                                        \
                __m512i b = load_y;                                                                \
                word |= (test) << j;                                                               \
            }                                                                                      \
            bits[at / 64] = word;                                                                  \
        }                                                                                          \
    }
#define NOT(mask, lanes) ((mask) ^ (((uint64_t)1 << (lanes)) - 1))
#define VECTOR_LOOPS_OF(lane, type, lanes, by, load_y)                                             \
    VECTOR_LOOP(eq##by##_##lane, type, lanes, load_y, eq_mask_##lane(a, b))                        \
    VECTOR_LOOP(lt##by##_##lane, type, lanes, load_y, lt_mask_##lane(a, b))                        \
    VECTOR_LOOP(le##by##_##lane, type, lanes, load_y, NOT(lt_mask_##lane(b, a), lanes))            \
    VECTOR_LOOP(gt##by##_##lane, type, lanes, load_y, lt_mask_##lane(b, a))                        \
    VECTOR_LOOP(ge##by##_##lane, type, lanes, load_y, NOT(lt_mask_##lane(a, b), lanes))
#define VECTOR_LOOPS(lane, type, lanes)                                                            \
    VECTOR_LOOPS_OF(lane, type, lanes, , _mm512_loadu_si512(y + at + j))                           \
    VECTOR_LOOPS_OF(lane, type, lanes, _by, all_##lane(y))

VECTOR_LOOPS(i32, int32_t, 16)
VECTOR_LOOPS(i64, int64_t, 8)
VECTOR_LOOPS(f64, double, 8)

enum { FEW = 6 }; /* rows of 64: one by one is faster */

/* Row numbers of 16 bits at a time are packed in a register; a masked store writes no row too many.
 */
static uint32_t from_bits(uint32_t *out, const uint32_t *sel, uint32_t n, const uint64_t *bits,
                          const uint64_t *valid)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint32_t count = 0;

    if (sel)
        return from_bits_of_selection(out, sel, n, bits, valid);
    for (uint32_t w = 0; w * 64 < n; w++) {
        uint64_t word = word_of(bits, valid, w, n);
        if (_mm_popcnt_u64(word) <= FEW) {
            count = append_rows(out, count, word, w * 64);
            continue;
        }
        for (uint32_t j = 0; word; j += 16, word >>= 16) {
            __mmask16 mask = (__mmask16)(word & 0xffff);
            uint32_t rows = (uint32_t)_mm_popcnt_u32(mask);
            __m512i row = _mm512_add_epi32(lanes, _mm512_set1_epi32((int32_t)(w * 64 + j)));
            _mm512_mask_storeu_epi32(out + count, (__mmask16)((1u << rows) - 1),
                                     _mm512_maskz_compress_epi32(mask, row));
            count += rows;
        }
    }
    return count;
}

const struct mr_select_kernels mr_select_avx512 = {
    .isa = "avx512",
    .compare = LANE_ROWS(),
    .compare_by = LANE_ROWS(_by),
    .from_bits = from_bits,
};
