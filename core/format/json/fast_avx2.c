/* A prefix of up to 32 bytes is one load and one compare, and so is a text. */
#include "core/format/json/fast_body.h"
#include "core/format/json/number_sse.h"

static inline __m256i load_32(const uint8_t *p)
{
    return _mm256_loadu_si256((const void *)p);
}

static inline uint32_t differing(const uint8_t *a, const uint8_t *b)
{
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load_32(a), load_32(b)));
}

static inline bool same_prefix(const struct json_member *m, const uint8_t *p)
{
    if (MR_LIKELY(m->prefix_n <= 32))
        return _bzhi_u32(differing(m->prefix, p), m->prefix_n) == 0;
    return differing(m->prefix, p) == 0 &&
           _bzhi_u32(differing(m->prefix + 32, p + 32), m->prefix_n - 32) == 0;
}

/* Bits of the bytes at p that are no plain text: quotes, backslashes, control characters and (as
 * signed bytes, these two are below a blank) those above 0x7f. */
static inline uint32_t special_mask(const uint8_t *p)
{
    const struct json_constants *c = &json_constants;
    __m256i v = load_32(p);
    __m256i special = _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(v, load_32(c->quotes)),
                                                      _mm256_cmpeq_epi8(v, load_32(c->escapes))),
                                      _mm256_cmpgt_epi8(load_32(c->blanks), v));
    return (uint32_t)_mm256_movemask_epi8(special);
}

static __attribute__((noinline)) const uint8_t *long_string_end(const uint8_t *p)
{
    uint32_t mask;

    while ((mask = special_mask(p)) == 0)
        p += 32;
    p += __builtin_ctz(mask);
    return *p == '"' ? p : json_string_end(p);
}

static inline const uint8_t *plain_string_end(const uint8_t *p)
{
    uint32_t mask = special_mask(p);

    if (MR_UNLIKELY(mask == 0))
        return long_string_end(p + 32);
    p += __builtin_ctz(mask);
    return MR_LIKELY(*p == '"') ? p : json_string_end(p);
}

static inline const uint8_t *decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    return sse_decimal_parse(p, out);
}

const struct json_fast_kernels json_fast_avx2 = {.isa = "avx2", .lines = parse_lines};
