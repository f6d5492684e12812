#include "kernels/hash/hash.h"

#define SEED UINT64_C(0x9e3779b97f4a7c15)
#define LAST_FACTOR UINT64_C(0xd6e8feb86659fd93)

static const uint64_t factors[MR_HASH_WORDS_MAX] = {
    UINT64_C(0x9fb21c651e98df25), UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
    UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53), UINT64_C(0xa0761d6478bd642f)};

/* Words are multiplied side by side, each by a factor of its own, so that none waits for
 * another. */
static inline uint64_t hash(const uint64_t *key, uint32_t words_n)
{
    uint64_t h = SEED;

    for (uint32_t w = 0; w < words_n; w++)
        h += (key[w] ^ (key[w] >> 32)) * factors[w];
    h = (h ^ (h >> 32)) * LAST_FACTOR;
    return h ^ (h >> 29);
}

/* One loop per width, so that the compiler unrolls the words. */
#define WORDS(width)                                                                               \
    static void words_##width(uint64_t *out, const uint64_t *keys, uint32_t n)                     \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            out[i] = hash(keys + (uint64_t)i * (width), (width));                                  \
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

const struct mr_hash_kernels mr_hash_scalar = {.isa = "scalar", .words = words};
