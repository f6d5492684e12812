/* one.h - the same hashes of one value. */
#pragma once
#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define XXH64_PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define XXH64_PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define XXH64_PRIME_3 UINT64_C(0x165667b19e3779f9)
#define XXH64_PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define XXH64_PRIME_5 UINT64_C(0x27d4eb2f165667c5)

static inline uint32_t mr_murmur_mix(uint32_t h, uint32_t k)
{
    k *= 0xcc9e2d51u;
    k = (k << 15 | k >> 17) * 0x1b873593u;
    h ^= k;
    return (h << 13 | h >> 19) * 5 + 0xe6546b64u;
}
static inline uint32_t mr_murmur_finish(uint32_t h, uint32_t n)
{
    h ^= n;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}
static inline uint32_t mr_murmur_u32(uint32_t v, uint32_t seed)
{
    return mr_murmur_finish(mr_murmur_mix(seed, v), 4);
}
static inline uint32_t mr_murmur_u64(uint64_t v, uint32_t seed)
{
    return mr_murmur_finish(mr_murmur_mix(mr_murmur_mix(seed, (uint32_t)v), (uint32_t)(v >> 32)),
                            8);
}
static inline uint32_t mr_murmur_bytes(const void *data, uint64_t n, uint32_t seed)
{
    const uint8_t *p = data;
    uint32_t h = seed, k;
    uint64_t i = 0;

    for (; i + 4 <= n; i += 4) {
        memcpy(&k, p + i, 4);
        h = mr_murmur_mix(h, k);
    }
    for (; i < n; i++)
        h = mr_murmur_mix(h, (uint32_t)(int32_t)(int8_t)p[i]);
    return mr_murmur_finish(h, (uint32_t)n);
}

static inline uint64_t mr_xxh64_finish(uint64_t h)
{
    h = (h ^ h >> 33) * XXH64_PRIME_2;
    h = (h ^ h >> 29) * XXH64_PRIME_3;
    return h ^ h >> 32;
}
static inline uint64_t mr_xxh64_u32(uint32_t v, uint64_t seed)
{
    const uint64_t h = (seed + XXH64_PRIME_5 + 4) ^ v * XXH64_PRIME_1;

    return mr_xxh64_finish((h << 23 | h >> 41) * XXH64_PRIME_2 + XXH64_PRIME_3);
}
static inline uint64_t mr_xxh64_u64(uint64_t v, uint64_t seed)
{
    uint64_t h = seed + XXH64_PRIME_5 + 8;

    v *= XXH64_PRIME_2;
    h ^= (v << 31 | v >> 33) * XXH64_PRIME_1;
    return mr_xxh64_finish((h << 27 | h >> 37) * XXH64_PRIME_1 + XXH64_PRIME_4);
}
static inline uint64_t mr_xxh64_bytes(const void *data, uint64_t n, uint64_t seed)
{
    return XXH64(data, n, seed);
}
