#include "kernels/view/view_body.h"

#include <immintrin.h>

#define FIRST_WORDS UINT64_C(0x5555555555555555)

/* Two bits a row, which words are equal, of 32 rows; 1.1 clocks a row against 7. */
static inline uint64_t equal_words(const uint64_t *x, const uint64_t *y, uint32_t rows, bool by)
{
    const __m128i one = _mm_loadu_si128((const __m128i *)(const void *)y);
    const __m256i all = _mm256_broadcastsi128_si256(one);
    uint64_t equal = 0;

    for (uint32_t i = 0; i < rows; i += 2) { /* reads a row behind the last one at most */
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(x + 2 * i));
        const __m256i b = by ? all : _mm256_loadu_si256((const __m256i *)(const void *)(y + 2 * i));
        const __m256i same = _mm256_cmpeq_epi64(a, b);
        equal |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same)) << (2 * i);
    }
    return equal;
}

/* Rows that may be equal, of 32. */
static inline uint64_t maybe_equal(const uint64_t *x, const uint64_t *y, uint32_t rows, bool by)
{
    const uint64_t equal = equal_words(x, y, rows, by);
    const uint64_t first = _pext_u64(equal, FIRST_WORDS);
    uint64_t both = _pext_u64(equal & equal >> 1, FIRST_WORDS);

    for (uint64_t open = first & ~both; open; open &= open - 1) {
        const uint32_t row = (uint32_t)_tzcnt_u64(open);
        both |= (uint64_t)((uint32_t)x[2 * row] > INLINE_BYTES) << row;
    }
    return both & (UINT64_MAX >> (64 - rows));
}

static inline void equal_rows(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n,
                              bool by)
{
    for (uint32_t at = 0; at < n; at += 32) {
        const uint64_t *b = by ? y : y + 2 * (uint64_t)at;
        const uint64_t word = maybe_equal(x + 2 * (uint64_t)at, b, n - at < 32 ? n - at : 32, by);
        bits[at / 64] = at % 64 ? bits[at / 64] | word << 32 : word;
    }
}

static void equal(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n)
{
    equal_rows(bits, x, y, n, false);
}
static void equal_by(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n)
{
    equal_rows(bits, x, y, n, true);
}

static inline __m128i block_at(const char *text)
{
    return _mm_loadu_si128((const __m128i *)(const void *)text);
}

static inline __m128i differing(const char *text, const struct mr_view_piece *p)
{
    return _mm_xor_si128(_mm_and_si128(block_at(text), block_at(p->mask)), block_at(p->text));
}

static inline bool are_blocks(const char *text, const struct mr_view_piece *p, const char *end,
                              const struct mr_view_piece *q)
{
    const __m128i all = _mm_or_si128(differing(text, p), differing(end, q));

    return _mm_testz_si128(all, all);
}

/* Where both the first and the last byte fit, of 32 places at a time: texts are short, and calls of
 * memchr and memcmp take longer than that. Reads up to 31 bytes behind the text. */
static inline __attribute__((always_inline)) uint64_t find_here(const char *text, uint64_t n,
                                                                const char *what, uint64_t m)
{
    const __m256i first = _mm256_set1_epi8(what[0]), last = _mm256_set1_epi8(what[m - 1]);

    for (uint64_t at = 0; at + m <= n; at += 32) {
        const uint64_t places = n - m - at + 1;
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(text + at));
        const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + at + m - 1));
        uint32_t both = (uint32_t)_mm256_movemask_epi8(
            _mm256_and_si256(_mm256_cmpeq_epi8(a, first), _mm256_cmpeq_epi8(b, last)));
        both = places < 32 ? _bzhi_u32(both, (uint32_t)places) : both;
        for (; both; both &= both - 1) {
            const char *here = text + at + _tzcnt_u32(both);
            uint64_t k = 1;
            while (k + 1 < m && here[k] == what[k])
                k++;
            if (k + 1 >= m)
                return (uint64_t)(here - text);
        }
    }
    return UINT64_MAX;
}

const struct mr_view_kernels mr_view_avx2 = VIEW_TABLE("avx2");
