#include "kernels/select/select_body.h"

#include <immintrin.h>
#include <stddef.h>

/* Vectors of 32 bytes; a mask has one bit a value. */
static inline uint64_t eq_mask_i32(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}
static inline uint64_t lt_mask_i32(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)));
}
static inline uint64_t eq_mask_i64(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b)));
}
static inline uint64_t lt_mask_i64(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a)));
}
static inline uint64_t eq_mask_f64(__m256i x, __m256i y)
{
    __m256d a = _mm256_castsi256_pd(x), b = _mm256_castsi256_pd(y);
    __m256d nan =
        _mm256_and_pd(_mm256_cmp_pd(a, a, _CMP_UNORD_Q), _mm256_cmp_pd(b, b, _CMP_UNORD_Q));

    return (uint32_t)_mm256_movemask_pd(_mm256_or_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ), nan));
}
static inline uint64_t lt_mask_f64(__m256i x, __m256i y)
{
    __m256d a = _mm256_castsi256_pd(x), b = _mm256_castsi256_pd(y);
    __m256d nan = _mm256_and_pd(_mm256_cmp_pd(a, a, _CMP_ORD_Q), _mm256_cmp_pd(b, b, _CMP_UNORD_Q));

    return (uint32_t)_mm256_movemask_pd(_mm256_or_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ), nan));
}

static inline __m256i all_i32(const int32_t *y)
{
    return _mm256_set1_epi32(*y);
}
static inline __m256i all_i64(const int64_t *y)
{
    return _mm256_set1_epi64x(*y);
}
static inline __m256i all_f64(const double *y)
{
    return _mm256_castpd_si256(_mm256_set1_pd(*y));
}

/* Reads whole vectors, at most 28 bytes behind the last row. */
#define VECTOR_LOOP(name, type, lanes, load_y, test)                                               \
    static void name(uint64_t *bits, const void *xs, const void *ys, uint32_t n)                   \
    {                                                                                              \
        const type *x = xs, *y = ys;                                                               \
        for (uint32_t at = 0; at < n; at += 64) {                                                  \
            uint64_t word = 0;                                                                     \
            for (uint32_t j = 0; j < 64 && at + j < n; j += lanes) {                               \
                __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(x + at + j));       \
                __m256i b = load_y;                                                                \
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
    VECTOR_LOOPS_OF(lane, type, lanes, ,                                                           \
                    _mm256_loadu_si256((const __m256i *)(const void *)(y + at + j)))               \
    VECTOR_LOOPS_OF(lane, type, lanes, _by, all_##lane(y))

VECTOR_LOOPS(i32, int32_t, 8)
VECTOR_LOOPS(i64, int64_t, 4)
VECTOR_LOOPS(f64, double, 4)

FROM_BITS_BY_ROW()

const struct mr_select_kernels mr_select_avx2 = {
    .isa = "avx2",
    .compare = LANE_ROWS(),
    .compare_by = LANE_ROWS(_by),
    .from_bits = from_bits,
};
