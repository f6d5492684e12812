/* hash.h - 64-bit hashes of keys, for tables that live in memory only (never stored).
 *
 * Hash     A key is words_n words of 64 bits; its hash depends on nothing else. Good in its low 7
 *          and upper 32 bits, which is what tables use (kernels/group).
 */
#pragma once
#include "kernels/kernels.h"

enum { MR_HASH_WORDS_MAX = 6 };

struct mr_hash_kernels {
    const char *isa;
    /* out[i] = hash of keys[i * words_n .. + words_n); words_n in [1, MR_HASH_WORDS_MAX]. */
    void (*words)(uint64_t *out, const uint64_t *keys, uint32_t words_n, uint32_t n);
};

extern const struct mr_hash_kernels mr_hash_scalar;
extern const struct mr_hash_kernels *const mr_hash_variants[]; /* best first, NULL at the end */
extern const struct mr_hash_kernels *mr_hash;                  /* set by mr_kernels_init */
