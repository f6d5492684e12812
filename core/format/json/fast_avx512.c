/* As AVX2 with masks; 64-byte loads are slower, since each of them crosses a cache line. */
#include "core/format/json/fast_body.h"
#include "core/format/json/number_sse.h"

static inline bool same_prefix(const struct json_member *m, const uint8_t *p)
{
    __m256i a = _mm256_loadu_si256((const void *)m->prefix),
            b = _mm256_loadu_si256((const void *)p);

    if (MR_LIKELY(m->prefix_n <= 32))
        return _bzhi_u32(_mm256_cmpneq_epi8_mask(a, b), m->prefix_n) == 0;
    __m512i c = _mm512_loadu_si512(m->prefix), d = _mm512_loadu_si512(p);
    return _bzhi_u64(_mm512_cmpneq_epi8_mask(c, d), m->prefix_n) == 0;
}

static inline const uint8_t *plain_string_end(const uint8_t *p)
{
    const __m256i quote = _mm256_set1_epi8('"'), escape = _mm256_set1_epi8('\\'),
                  blank = _mm256_set1_epi8(' ');

    for (;; p += 32) {
        __m256i v = _mm256_loadu_si256((const void *)p);
        /* as signed bytes, control characters and those above 0x7f are below a blank */
        uint32_t mask = _mm256_cmpeq_epi8_mask(v, quote) | _mm256_cmpeq_epi8_mask(v, escape) |
                        _mm256_cmplt_epi8_mask(v, blank);
        if (MR_LIKELY(mask)) {
            p += __builtin_ctz(mask);
            return MR_LIKELY(*p == '"') ? p : json_string_end(p);
        }
    }
}

static inline const uint8_t *decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    return sse_decimal_parse(p, out);
}

const struct json_fast_kernels json_fast_avx512 = {.isa = "avx512", .lines = parse_lines};
