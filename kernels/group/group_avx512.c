#include "kernels/group/group.h"

#include <immintrin.h>

static inline uint32_t tags_equal(const uint8_t *tags, uint8_t tag)
{
    const __m128i all = _mm_load_si128((const __m128i *)(const void *)tags);

    return _mm_cmpeq_epi8_mask(all, _mm_set1_epi8((char)tag));
}

static inline uint32_t tags_empty(const uint8_t *tags)
{
    const __m128i all = _mm_load_si128((const __m128i *)(const void *)tags);

    return _mm_testn_epi8_mask(all, all);
}

#include "kernels/group/find.h"

const struct mr_group_kernels mr_group_avx512 = {.isa = "avx512",
                                                 .find_cached = find_cached,
                                                 .find_words = find_words,
                                                 .find_bytes = find_bytes};
