/* hash.h - 64-bit hashes of keys, for tables that live in memory only (never stored).
 *
 * Hash     A key is words_n words of 64 bits, padding included; its hash depends on nothing else,
 * and is the same in all variants. Good in its low 7 and upper 32 bits, which is what tables use.
 */
#pragma once
#include "kernels/kernels.h"

struct mr_hash_kernels {
    const char *isa;
    /* out[i] = hash of keys[i * words_n .. + words_n); words_n in [1, MR_HASH_WORDS_MAX]. */
    void (*words)(uint64_t *out, const uint64_t *keys, uint32_t words_n, uint32_t n);
    /* hashes[i] = hash of (hashes[i], others[i]): order matters. */
    void (*combine)(uint64_t *hashes, const uint64_t *others, uint32_t n);
    /* out[i] of the bytes data[i][0..bytes[i]). */
    void (*bytes)(uint64_t *out, const uint8_t *const *data, const uint32_t *bytes, uint32_t n);
};
enum { MR_HASH_WORDS_MAX = 6 };

extern const struct mr_hash_kernels mr_hash_scalar, mr_hash_avx512;
extern const struct mr_hash_kernels *const mr_hash_variants[]; /* best first, NULL at the end */
extern const struct mr_hash_kernels *mr_hash;                  /* set by mr_kernels_init */
