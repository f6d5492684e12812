/* blend_body.h - the loops, written so that the compiler makes vectors of them: a word of bits is
 * as wide as the values, where there are such. Included by each variant. Words that are all the
 * same are common: rows that only one side has. */
#pragma once
#include "kernels/blend/blend.h"

#include <string.h>

#define BLEND_LOOP(name, type, each, word_type)                                                    \
    static void name(void *out, const void *values, const uint64_t *bits, uint32_t n)              \
    {                                                                                              \
        enum { BLOCK = 8 * sizeof(word_type) };                                                    \
        for (uint32_t at = 0; at < n; at += BLOCK) {                                               \
            const word_type word = ((const word_type *)(const void *)bits)[at / BLOCK];            \
            const type *x = (const type *)values + (size_t)at * each;                              \
            type *to = (type *)out + (size_t)at * each;                                            \
            const uint32_t rows = n - at < BLOCK ? n - at : BLOCK;                                 \
            if (word == 0)                                                                         \
                continue;                                                                          \
            if (word == (word_type)-1) {                                                           \
                memcpy(to, x, sizeof(type) * each * rows);                                         \
                continue;                                                                          \
            }                                                                                      \
            for (uint32_t i = 0; i < rows; i++) {                                                  \
                const type taken = (type)(0 - (word >> i & 1));                                    \
                for (uint32_t k = 0; k < each; k++)                                                \
                    to[i * each + k] =                                                             \
                        (type)((to[i * each + k] & ~taken) | (x[i * each + k] & taken));           \
            }                                                                                      \
        }                                                                                          \
    }

BLEND_LOOP(blend_1, uint8_t, 1, uint64_t)
BLEND_LOOP(blend_2, uint16_t, 1, uint64_t)
BLEND_LOOP(blend_4, uint32_t, 1, uint32_t)
BLEND_LOOP(blend_8, uint64_t, 1, uint64_t)
BLEND_LOOP(blend_16, uint64_t, 2, uint64_t)

#define BLEND_TABLE(name)                                                                          \
    {                                                                                              \
        .isa = name, .of = {blend_1, blend_2, blend_4, blend_8, blend_16},                         \
    }
