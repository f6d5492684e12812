/* Chosen rows are loaded one by one: a gather is slower on CPUs whose microcode guards it. */
#include "kernels/window/window.h"

#include <immintrin.h>
#include <stddef.h>

static __m512i load(const int64_t *x, const uint32_t *sel, uint32_t i, uint32_t rows_n)
{
    int64_t chosen[8] = {0};

    if (sel == NULL)
        return _mm512_maskz_loadu_epi64((__mmask8)((1u << rows_n) - 1), x + i);
    for (uint32_t k = 0; k < rows_n; k++)
        chosen[k] = x[sel[i + k]];
    return _mm512_loadu_si512(chosen);
}

static __mmask8 load_valid(const uint64_t *valid, const uint32_t *sel, uint32_t i, uint32_t rows_n)
{
    const uint32_t all = (1u << rows_n) - 1;
    uint64_t ok = 0;

    if (valid == NULL)
        return (__mmask8)all;
    if (sel == NULL)
        return (__mmask8)(all & (valid[i >> 6] >> (i & 63)));
    for (uint32_t k = 0; k < rows_n; k++)
        ok |= ((valid[sel[i + k] >> 6] >> (sel[i + k] & 63)) & 1) << k;
    return (__mmask8)ok;
}

static int64_t add_lanes(__m512i x)
{
    uint64_t lanes[8], sum = 0;

    _mm512_storeu_si512(lanes, x);
    for (uint32_t i = 0; i < 8; i++)
        sum += lanes[i]; /* may wrap */
    return (int64_t)sum;
}

static void range(struct mr_time_range *out, const int64_t *x, const uint64_t *valid,
                  const uint32_t *sel, uint32_t n)
{
    __m512i min = _mm512_set1_epi64(INT64_MAX), max = _mm512_set1_epi64(INT64_MIN);
    __m512i sum = _mm512_setzero_si512(), base = sum;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < n; i += 8) {
        const uint32_t rows_n = n - i < 8 ? n - i : 8;
        const __mmask8 ok = load_valid(valid, sel, i, rows_n);
        const __m512i v = load(x, sel, i, rows_n);
        if (seen == 0 && ok != 0) {
            const uint32_t first = i + (uint32_t)__builtin_ctz(ok);
            base = _mm512_set1_epi64(x[sel ? sel[first] : first]);
        }
        seen += (uint32_t)__builtin_popcount(ok);
        min = _mm512_mask_min_epi64(min, ok, min, v);
        max = _mm512_mask_max_epi64(max, ok, max, v);
        sum = _mm512_mask_add_epi64(sum, ok, sum, _mm512_sub_epi64(v, base));
    }
    *out = (struct mr_time_range){_mm512_reduce_min_epi64(min), _mm512_reduce_max_epi64(max),
                                  _mm_cvtsi128_si64(_mm512_castsi512_si128(base)), add_lanes(sum),
                                  seen};
}

/* The quotient comes from doubles and is then off by at most one, because size is at least 2^13. */
static void starts(int64_t *out, const int64_t *x, const uint32_t *sel, uint32_t n, int64_t size,
                   int64_t offset)
{
    if (size < 8192) {
        mr_window_scalar.starts(out, x, sel, n, size, offset);
        return;
    }
    const __m512i sizes = _mm512_set1_epi64(size), offsets = _mm512_set1_epi64(offset);
    const __m512i zero = _mm512_setzero_si512();
    const __m512d inverse = _mm512_set1_pd(1.0 / (double)size);

    for (uint32_t i = 0; i < n; i += 8) {
        const uint32_t rows_n = n - i < 8 ? n - i : 8;
        const __m512i v = load(x, sel, i, rows_n);
        const __m512i from = _mm512_sub_epi64(v, offsets);
        const __m512d q = _mm512_mul_pd(_mm512_cvtepi64_pd(from), inverse);
        const __m512i whole =
            _mm512_cvt_roundpd_epi64(q, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        __m512i rest = _mm512_sub_epi64(from, _mm512_mullo_epi64(whole, sizes));
        rest = _mm512_mask_add_epi64(rest, _mm512_cmplt_epi64_mask(rest, zero), rest, sizes);
        rest = _mm512_mask_sub_epi64(rest, _mm512_cmpge_epi64_mask(rest, sizes), rest, sizes);
        _mm512_mask_storeu_epi64(out + i, (__mmask8)((1u << rows_n) - 1),
                                 _mm512_sub_epi64(v, rest));
    }
}

const struct mr_window_kernels mr_window_avx512 = {
    .isa = "avx512", .range = range, .starts = starts};
