#include "kernels/hash/hash.h"

#include "kernels/hash/mix.h"

#include <immintrin.h>

static __m512i mix(__m512i hash, __m512i word)
{
    hash =
        _mm512_mullo_epi64(_mm512_xor_si512(hash, word), _mm512_set1_epi64((int64_t)MR_MIX_FACTOR));
    return _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32));
}

static __m512i end(__m512i hash)
{
    return _mm512_mullo_epi64(hash, _mm512_set1_epi64((int64_t)MR_MIX_FACTOR));
}

/* Word w of eight keys is a gather with a stride: the loads hit the same few lines. */
static void words(uint64_t *out, const uint64_t *keys, uint32_t words_n, uint32_t n)
{
    const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i at = _mm512_mullo_epi64(lanes, _mm512_set1_epi64(words_n));
    uint32_t i = 0;

    for (; i + 8 <= n; i += 8) {
        const uint64_t *key = keys + (uint64_t)i * words_n;
        __m512i hash = _mm512_set1_epi64((int64_t)MR_MIX_SEED);
        for (uint32_t w = 0; w < words_n; w++)
            hash = mix(hash, _mm512_i64gather_epi64(at, key + w, 8));
        hash = end(hash);
        hash = _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 29));
        _mm512_storeu_si512(out + i, hash);
    }
    if (i < n)
        mr_hash_scalar.words(out + i, keys + (uint64_t)i * words_n, words_n, n - i);
}

static void combine(uint64_t *hashes, const uint64_t *others, uint32_t n)
{
    uint32_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i hash = _mm512_set1_epi64((int64_t)MR_MIX_SEED);
        hash = mix(hash, _mm512_loadu_si512(hashes + i));
        hash = mix(hash, _mm512_loadu_si512(others + i));
        _mm512_storeu_si512(hashes + i, end(hash));
    }
    if (i < n)
        mr_hash_scalar.combine(hashes + i, others + i, n - i);
}

static void bytes(uint64_t *out, const uint8_t *const *data, const uint32_t *lengths, uint32_t n)
{
    mr_hash_scalar.bytes(out, data, lengths, n);
}

const struct mr_hash_kernels mr_hash_avx512 = {
    .isa = "avx512", .words = words, .combine = combine, .bytes = bytes};
