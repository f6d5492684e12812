#include "kernels/hash/hash.h"

#include "kernels/hash/mix.h"

/* One loop per width, so that the compiler unrolls the words. */
#define WORDS(width)                                                                               \
    static void words_##width(uint64_t *out, const uint64_t *keys, uint32_t n)                     \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            out[i] = mr_mix_words(keys + (uint64_t)i * (width), (width));                          \
    }
WORDS(1)
WORDS(2)
WORDS(3)
WORDS(4)
WORDS(5)
WORDS(6)
#undef WORDS

static void words(uint64_t *out, const uint64_t *keys, uint32_t words_n, uint32_t n)
{
    static void (*const by_width[])(uint64_t *, const uint64_t *, uint32_t) = {
        words_1, words_2, words_3, words_4, words_5, words_6};

    by_width[words_n - 1](out, keys, n);
}

static void combine(uint64_t *hashes, const uint64_t *others, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        hashes[i] = mr_mix_end(mr_mix(mr_mix(MR_MIX_SEED, hashes[i]), others[i]));
}

static uint64_t hash_bytes(const uint8_t *data, uint32_t n)
{
    uint64_t hash = mr_mix(MR_MIX_SEED, n), word = 0;

    for (; n >= 8; n -= 8, data += 8) {
        memcpy(&word, data, 8);
        hash = mr_mix(hash, word);
    }
    if (n > 0) {
        word = 0;
        memcpy(&word, data, n);
        hash = mr_mix(hash, word);
    }
    hash = mr_mix_end(hash);
    return hash ^ (hash >> 29);
}

static void bytes(uint64_t *out, const uint8_t *const *data, const uint32_t *lengths, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = hash_bytes(data[i], lengths[i]);
}

const struct mr_hash_kernels mr_hash_scalar = {
    .isa = "scalar", .words = words, .combine = combine, .bytes = bytes};
