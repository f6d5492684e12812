/* mix.h - the hash itself, shared by the variants: multiply and fold, word by word. */
#pragma once
#include <stdint.h>
#include <string.h>

#define MR_MIX_SEED UINT64_C(0x9e3779b97f4a7c15)
#define MR_MIX_FACTOR UINT64_C(0xd6e8feb86659fd93)

static inline uint64_t mr_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * MR_MIX_FACTOR;
    return hash ^ (hash >> 32);
}

/* After the last word: the upper half has gone into the lower, now the lower into the upper. */
static inline uint64_t mr_mix_end(uint64_t hash)
{
    return hash * MR_MIX_FACTOR;
}

static inline uint64_t mr_mix_words(const uint64_t *key, uint32_t words_n)
{
    uint64_t hash = MR_MIX_SEED;

    for (uint32_t w = 0; w < words_n; w++)
        hash = mr_mix(hash, key[w]);
    hash = mr_mix_end(hash);
    return hash ^ (hash >> 29);
}
