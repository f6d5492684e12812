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

static inline __m256i two_views(const uint64_t *views)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)views);
}
static inline uint32_t most_of(__m256i x) /* of 8 words */
{
    __m128i y = _mm_max_epu32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));

    y = _mm_max_epu32(y, _mm_shuffle_epi32(y, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(y, _mm_shuffle_epi32(y, 0xb1)));
}
static inline uint32_t least_of(__m256i x)
{
    return ~most_of(_mm256_xor_si256(x, _mm256_set1_epi32(-1)));
}

/* Eight views at a time, turned into their four words: lengths, prefixes, heaps, offsets. */
static struct mr_view_span span(const uint64_t *views, uint32_t n)
{
    const __m256i longer = _mm256_set1_epi32(INLINE_BYTES + 1);
    __m256i bytes = _mm256_setzero_si256(), to_heap = bytes, to = bytes;
    __m256i from_heap = _mm256_set1_epi32(-1), from = from_heap;
    struct mr_view_span s;
    uint32_t i = 0;

    for (; i + 8 <= n; i += 8) {
        const __m256i a = two_views(views + 2 * i), b = two_views(views + 2 * i + 4);
        const __m256i c = two_views(views + 2 * i + 8), d = two_views(views + 2 * i + 12);
        const __m256i low = _mm256_unpacklo_epi32(a, b), more_low = _mm256_unpacklo_epi32(c, d);
        const __m256i high = _mm256_unpackhi_epi32(a, b), more_high = _mm256_unpackhi_epi32(c, d);
        const __m256i length = _mm256_unpacklo_epi64(low, more_low);
        const __m256i prefix = _mm256_unpackhi_epi64(low, more_low);
        const __m256i heap = _mm256_unpacklo_epi64(high, more_high);
        const __m256i offset = _mm256_unpackhi_epi64(high, more_high);
        const __m256i is_short = _mm256_cmpgt_epi32(longer, length);
        const __m256i end = _mm256_add_epi32(offset, length);
        bytes = _mm256_or_si256(_mm256_or_si256(bytes, prefix),
                                _mm256_and_si256(_mm256_or_si256(heap, offset), is_short));
        from_heap = _mm256_min_epu32(from_heap, _mm256_or_si256(heap, is_short));
        to_heap = _mm256_max_epu32(to_heap, _mm256_andnot_si256(is_short, heap));
        from = _mm256_min_epu32(from, _mm256_or_si256(offset, is_short));
        to = _mm256_max_epu32(to, _mm256_andnot_si256(is_short, end));
    }
    s = (struct mr_view_span){.from_heap = least_of(from_heap),
                              .to_heap = most_of(to_heap),
                              .from = least_of(from),
                              .to = most_of(to)};
    s.high = (uint32_t)_mm256_movemask_epi8(bytes) != 0;
    for (; i < n; i++)
        span_one(&s, views + 2 * (uint64_t)i);
    return s;
}

static inline __m256i bytes_at(const char *text)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)text);
}

/* The last bytes with those before them, as often as it comes. */
static bool is_ascii(const char *text, uint64_t n)
{
    __m256i all[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                      _mm256_setzero_si256()};
    uint8_t few = 0;
    uint64_t i = 0;

    if (n < 32) {
        for (; i < n; i++)
            few |= (uint8_t)text[i];
        return few < 0x80;
    }
    for (; i + 128 <= n; i += 128)
        for (uint32_t k = 0; k < 4; k++)
            all[k] = _mm256_or_si256(all[k], bytes_at(text + i + 32 * k));
    for (; i + 32 <= n; i += 32)
        all[0] = _mm256_or_si256(all[0], bytes_at(text + i));
    all[1] = _mm256_or_si256(all[1], bytes_at(text + n - 32));
    all[2] = _mm256_or_si256(all[2], all[3]);
    return _mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(all[0], all[1]), all[2])) == 0;
}

const struct mr_view_kernels mr_view_avx2 = VIEW_TABLE("avx2");
