#include "kernels/sparkhash/one.h"
#include "kernels/sparkhash/sparkhash.h"

#include <stddef.h>

enum { INLINE_BYTES = 12 };

static inline uint32_t has_value(const uint64_t *valid, uint32_t row)
{
    return valid ? (uint32_t)(valid[row / 64] >> (row % 64)) & 1 : 1;
}

#define WORDS_LOOP(name, hash_type, type)                                                          \
    static void name(hash_type *hashes, const type *x, const uint64_t *valid, uint32_t n)          \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            hashes[i] = has_value(valid, i) ? mr_##name(x[i], hashes[i]) : hashes[i];              \
    }
WORDS_LOOP(murmur_u32, uint32_t, uint32_t)
WORDS_LOOP(murmur_u64, uint32_t, uint64_t)
WORDS_LOOP(xxh64_u32, uint64_t, uint32_t)
WORDS_LOOP(xxh64_u64, uint64_t, uint64_t)

static inline const void *text_of(const uint64_t *view, uint8_t *const *heaps)
{
    return (uint32_t)view[0] <= INLINE_BYTES ? (const uint8_t *)view + 4
                                             : heaps[(uint32_t)view[1]] + (view[1] >> 32);
}

#define TEXTS_LOOP(name, type, hash_bytes)                                                         \
    static void name(type *hashes, const uint64_t *views, uint8_t *const *heaps,                   \
                     const uint64_t *valid, const uint32_t *sel, uint32_t n)                       \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            const uint32_t row = sel ? sel[i] : i;                                                 \
            const uint64_t *view = views + 2 * (uint64_t)row;                                      \
            if (has_value(valid, row))                                                             \
                hashes[row] = hash_bytes(text_of(view, heaps), (uint32_t)view[0], hashes[row]);    \
        }                                                                                          \
    }
TEXTS_LOOP(murmur_texts, uint32_t, mr_murmur_bytes)
TEXTS_LOOP(xxh64_texts, uint64_t, mr_xxh64_bytes)

const struct mr_sparkhash_kernels mr_sparkhash_scalar = {
    .isa = "scalar",
    .murmur_u32 = murmur_u32,
    .murmur_u64 = murmur_u64,
    .murmur_texts = murmur_texts,
    .xxh64_u32 = xxh64_u32,
    .xxh64_u64 = xxh64_u64,
    .xxh64_texts = xxh64_texts,
};
