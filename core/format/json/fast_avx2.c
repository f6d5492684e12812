/* A prefix of up to 32 bytes is one load and one compare, and so is a text. */
#include "core/format/json/fast_body.h"
#include "core/format/json/number_sse.h"

static inline uint32_t differing(const uint8_t *a, const uint8_t *b)
{
    __m256i equal =
        _mm256_cmpeq_epi8(_mm256_loadu_si256((const void *)a), _mm256_loadu_si256((const void *)b));
    return ~(uint32_t)_mm256_movemask_epi8(equal);
}

static inline bool same_prefix(const struct json_member *m, const uint8_t *p)
{
    if (MR_LIKELY(m->prefix_n <= 32))
        return _bzhi_u32(differing(m->prefix, p), m->prefix_n) == 0;
    return differing(m->prefix, p) == 0 &&
           _bzhi_u32(differing(m->prefix + 32, p + 32), m->prefix_n - 32) == 0;
}

static inline const uint8_t *plain_string_end(const uint8_t *p)
{
    const __m256i quote = _mm256_set1_epi8('"'), escape = _mm256_set1_epi8('\\'),
                  blank = _mm256_set1_epi8(' ');

    for (;; p += 32) {
        __m256i v = _mm256_loadu_si256((const void *)p);
        /* as signed bytes, control characters and those above 0x7f are below a blank */
        __m256i special = _mm256_or_si256(
            _mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, escape)),
            _mm256_cmpgt_epi8(blank, v));
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(special);
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

const struct json_fast_kernels json_fast_avx2 = {.isa = "avx2", .lines = parse_lines};
