/* lanes_body.h - rows side by side, one in each lane of a vector. A text is a chain of products,
 * each of which waits for the one before; those of other rows do not.
 *
 * Lanes    All run to the end of the longest text, with masks; a text of more than FAR_BYTES has a
 *          turn of its own, one word at a time.
 * Loads    16 bytes of each row, turned into words of all rows by shuffles: gathers are slower.
 *          Up to 31 bytes behind a text are read.
 * Variant  defines vectors of words32 and words64, their masks, and what is called on them below.
 *          Then it includes this.
 */
#pragma once
#include "kernels/sparkhash/one.h"
#include "kernels/sparkhash/sparkhash.h"

#include <stddef.h>

enum {
    LANES = sizeof(words32) / 4, /* 32 bits wide; of 64 bits two vectors hold as many */
    HALF = LANES / 2,
    GROUPS = 2, /* side by side: a product of 64 bits takes 15 clocks */
    FAR_BYTES = 256,
    INLINE_BYTES = 12,
};
#define ALL_LANES (UINT32_MAX >> (32 - LANES))

static inline words32 load32(const void *p)
{
    words32 x;

    memcpy(&x, p, sizeof x);
    return x;
}
static inline words64 load64(const void *p)
{
    words64 x;

    memcpy(&x, p, sizeof x);
    return x;
}

/* The bits of LANES rows from at on; at is a multiple of LANES. */
static inline uint32_t bits_at(const uint64_t *valid, uint32_t at)
{
    return valid ? (uint32_t)(valid[at / 64] >> (at % 64)) & ALL_LANES : ALL_LANES;
}

static inline words32 murmur_mix(words32 h, words32 k)
{
    k *= 0xcc9e2d51u;
    k = (k << 15 | k >> 17) * 0x1b873593u;
    h ^= k;
    h = h << 13 | h >> 19;
    return (h << 2) + (h + 0xe6546b64u);
}
static inline words32 murmur_finish(words32 h, words32 n)
{
    h ^= n;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}
static inline words64 rotate64(words64 x, uint32_t by)
{
    return x << by | x >> (64 - by);
}
static inline words64 xxh64_round(words64 h, words64 k)
{
    return rotate64(h + k * XXH64_PRIME_2, 31) * XXH64_PRIME_1;
}
static inline words64 xxh64_mix_8(words64 h, words64 k)
{
    const words64 zero = {0};

    return rotate64(h ^ xxh64_round(zero, k), 27) * XXH64_PRIME_1 + XXH64_PRIME_4;
}
static inline words64 xxh64_mix_4(words64 h, words64 k)
{
    return rotate64(h ^ k * XXH64_PRIME_1, 23) * XXH64_PRIME_2 + XXH64_PRIME_3;
}
static inline words64 xxh64_mix_1(words64 h, words64 k)
{
    return rotate64(h ^ k * XXH64_PRIME_5, 11) * XXH64_PRIME_1;
}
static inline words64 xxh64_finish(words64 h)
{
    h = (h ^ h >> 33) * XXH64_PRIME_2;
    h = (h ^ h >> 29) * XXH64_PRIME_3;
    return h ^ h >> 32;
}

/* Words: whole vectors, then the other rows one by one. */

static void murmur_u32(uint32_t *hashes, const uint32_t *x, const uint64_t *valid, uint32_t n)
{
    uint32_t at = 0;

    for (; at + LANES <= n; at += LANES) {
        const words32 old = load32(hashes + at), four = old * 0 + 4;
        const words32 h = murmur_finish(murmur_mix(old, load32(x + at)), four);
        store32(hashes + at, lanes32(bits_at(valid, at)), h, old);
    }
    for (; at < n; at++)
        if (valid == NULL || valid[at / 64] >> (at % 64) & 1)
            hashes[at] = mr_murmur_u32(x[at], hashes[at]);
}

static void murmur_u64(uint32_t *hashes, const uint64_t *x, const uint64_t *valid, uint32_t n)
{
    uint32_t at = 0;

    for (; at + LANES <= n; at += LANES) {
        const words32 a = load32(x + at), b = load32(x + at + HALF);
        const words32 old = load32(hashes + at), eight = old * 0 + 8;
        const words32 h = murmur_mix(murmur_mix(old, evens32(a, b)), odds32(a, b));
        store32(hashes + at, lanes32(bits_at(valid, at)), murmur_finish(h, eight), old);
    }
    for (; at < n; at++)
        if (valid == NULL || valid[at / 64] >> (at % 64) & 1)
            hashes[at] = mr_murmur_u64(x[at], hashes[at]);
}

#define XXH64_WORDS(name, type, bytes, load, mix)                                                  \
    static void name(uint64_t *hashes, const type *x, const uint64_t *valid, uint32_t n)           \
    {                                                                                              \
        uint32_t at = 0;                                                                           \
        for (; at + LANES <= n; at += LANES)                                                       \
            for (uint32_t i = at; i < at + LANES; i += HALF) {                                     \
                const words64 old = load64(hashes + i);                                            \
                const words64 h = mix(old + (XXH64_PRIME_5 + (bytes)), load(x + i));               \
                store64(hashes + i, lanes64(bits_at(valid, at) >> (i - at)), xxh64_finish(h),      \
                        old);                                                                      \
            }                                                                                      \
        for (; at < n; at++)                                                                       \
            if (valid == NULL || valid[at / 64] >> (at % 64) & 1)                                  \
                hashes[at] = mr_##name(x[at], hashes[at]);                                         \
    }
XXH64_WORDS(xxh64_u32, uint32_t, 4, widen32, xxh64_mix_4)
XXH64_WORDS(xxh64_u64, uint64_t, 8, load64, xxh64_mix_8)

/* Texts. */

struct group { /* of rows in the lanes */
    const char *text[LANES] __attribute__((aligned(64)));
    uint32_t row[LANES] __attribute__((aligned(64)));
    uint32_t bytes[LANES] __attribute__((aligned(64)));
    uint32_t valid, far; /* bits of lanes; far: too long, bytes 0 */
};

/* Rows sel[at..at+rows) (NULL: at..), the first one once more in the lanes behind them. */
static inline void take_rows(struct group *g, const uint64_t *valid, const uint32_t *sel,
                             uint32_t at, uint32_t rows)
{
    g->valid = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t from = i < rows ? at + i : at;
        g->row[i] = sel ? sel[from] : from;
        if (i < rows && (valid == NULL || valid[g->row[i] / 64] >> (g->row[i] % 64) & 1))
            g->valid |= 1u << i;
    }
}

/* k: the words of the views (length, prefix, heap, offset), which lie at text. */
static inline void take_texts(struct group *g, words32 *k, uint8_t *const *heaps)
{
    const uint32_t in_heap = bits32(above32(k[0], INLINE_BYTES));
    const uint32_t far = bits32(above32(k[0], FAR_BYTES));
    uint32_t offsets[LANES], numbers[LANES];

    if (far)
        k[0] = pick32(lanes32(far), k[0] * 0, k[0]);
    memcpy(g->bytes, k, sizeof g->bytes);
    memcpy(offsets, k + 3, sizeof offsets);
    memcpy(numbers, k + 2, sizeof numbers);
    g->far = far & g->valid;
    g->valid &= ~far;
    const uint32_t first = in_heap ? numbers[__builtin_ctz(in_heap)] : 0;
    const uint64_t heap = in_heap ? (uint64_t)(uintptr_t)heaps[first] : 0;
    for (uint32_t half = 0; half < LANES; half += HALF)
        store64((uint64_t *)(void *)(g->text + half), lanes64(in_heap >> half),
                widen32(offsets + half) + heap, load64(g->text + half) + 4);
    uint32_t others = in_heap & ~bits32(equal32(k[2], first));
    for (; others; others &= others - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(others);
        g->text[i] = (const char *)heaps[numbers[i]] + offsets[i];
    }
}

static inline __attribute__((always_inline)) void take_all(struct group *g, const uint64_t *views,
                                                           uint8_t *const *heaps, uint32_t valid)
{
    const char *here[LANES];
    words32 k[4];

    for (uint32_t i = 0; i < LANES; i++)
        here[i] = (const char *)(views + 2 * i);
    words32_of(k, here);
    memcpy(g->text, here, sizeof here);
    g->valid = valid;
    take_texts(g, k, heaps);
}

static inline void take_some(struct group *g, const uint64_t *views, uint8_t *const *heaps)
{
    words32 k[4];

    for (uint32_t i = 0; i < LANES; i++)
        g->text[i] = (const char *)(views + 2 * (uint64_t)g->row[i]);
    words32_of(k, g->text);
    take_texts(g, k, heaps);
}

/* Those of more than end bytes go on by step. */
static inline void advance(const char **text, words64 n, uint64_t end, uint64_t step)
{
    const words64 here = load64(text);

    store64((uint64_t *)(void *)text, above64(n, end), here + step, here);
}

#define INLINE static inline __attribute__((always_inline))
#define EACH(v, n) for (uint32_t v = 0; v < (n); v++)

/* h[v]: of the group g[v]. */
INLINE void murmur_lanes(words32 *h, struct group *g, uint32_t groups)
{
    words32 n[GROUPS], last[GROUPS], longest = {0};

    EACH(v, groups)
    {
        n[v] = last[v] = load32(g[v].bytes);
        longest |= n[v]; /* no shorter, and not twice as long */
    }
    for (uint32_t at = 0;; at += 16) {
        words32 k[GROUPS][4];
        EACH(v, groups)
        words32_of(k[v], g[v].text);
        EACH(j, 4)
        EACH(v, groups)
        {
            const words32 words = n[v] >> 2;
            last[v] = pick32(equal32(words, at / 4 + j), k[v][j], last[v]);
            h[v] = pick32(above32(words, at / 4 + j), murmur_mix(h[v], k[v][j]), h[v]);
        }
        if (bits32(above32(longest, at + 15)) == 0)
            break;
        EACH(v, groups)
        for (uint32_t half = 0; half < LANES; half += HALF)
            advance(g[v].text + half, widen32(g[v].bytes + half), at + 15, 16);
    }
    EACH(j, 3)
    EACH(v, groups)
    h[v] =
        pick32(above32(n[v] & 3, j), murmur_mix(h[v], signed_byte(last[v] << (24 - 8 * j))), h[v]);
    EACH(v, groups)
    h[v] = murmur_finish(h[v], n[v]);
}

/* What the stripes of 32 bytes give, where there are any. Texts go on to what is behind them. */
static inline words64 xxh64_stripes(words64 seed, words64 n, const char **text)
{
    words64 sums[4] = {seed + (XXH64_PRIME_1 + XXH64_PRIME_2), seed + XXH64_PRIME_2, seed,
                       seed - XXH64_PRIME_1};
    words64 h, k[4], zero = {0};

    for (uint32_t at = 31; bits64(above64(n, at)); at += 32) {
        words64_of(k, text);
        EACH(j, 4)
        sums[j] = pick64(above64(n, at), xxh64_round(sums[j], k[j]), sums[j]);
        advance(text, n, at, 32);
    }
    h = rotate64(sums[0], 1) + rotate64(sums[1], 7) + rotate64(sums[2], 12) + rotate64(sums[3], 18);
    EACH(j, 4)
    h = (h ^ xxh64_round(zero, sums[j])) * XXH64_PRIME_1 + XXH64_PRIME_4;
    return h;
}

/* h[v]: of half a group. */
INLINE void xxh64_lanes(words64 *h, struct group *g, uint32_t halves)
{
    words64 n[2 * GROUPS], k[2 * GROUPS][4], last[2 * GROUPS];

    EACH(v, halves)
    {
        const char **text = g[v / 2].text + v % 2 * HALF;
        const words64 seed = h[v];
        n[v] = widen32(g[v / 2].bytes + v % 2 * HALF);
        h[v] = seed + XXH64_PRIME_5;
        if (bits64(above64(n[v], 31)))
            h[v] = pick64(above64(n[v], 31), xxh64_stripes(seed, n[v], text), h[v]);
        h[v] += n[v];
        words64_of(k[v], text);
        last[v] = k[v][3];
    }
    EACH(j, 3)
    EACH(v, halves)
    {
        const words64 words = (n[v] & 31) >> 3;
        last[v] = pick64(equal64(words, j), k[v][j], last[v]);
        h[v] = pick64(above64(words, j), xxh64_mix_8(h[v], k[v][j]), h[v]);
    }
    EACH(v, halves)
    {
        const mask64 fours = above64(n[v] & 4, 0);
        h[v] = pick64(fours, xxh64_mix_4(h[v], last[v] & UINT32_MAX), h[v]);
        last[v] = pick64(fours, last[v] >> 32, last[v]);
    }
    EACH(j, 3)
    EACH(v, halves)
    h[v] = pick64(above64(n[v] & 3, j), xxh64_mix_1(h[v], last[v] >> (8 * j) & 0xff), h[v]);
    EACH(v, halves)
    h[v] = xxh64_finish(h[v]);
}

INLINE void murmur_groups(uint32_t *hashes, struct group *g, uint32_t groups)
{
    words32 h[GROUPS];

    EACH(v, groups)
    h[v] = load32(hashes + v * LANES);
    murmur_lanes(h, g, groups);
    EACH(v, groups)
    store32(hashes + v * LANES, lanes32(g[v].valid), h[v], load32(hashes + v * LANES));
}
INLINE void xxh64_groups(uint64_t *hashes, struct group *g, uint32_t groups)
{
    words64 h[2 * GROUPS];

    EACH(v, 2 * groups)
    h[v] = load64(hashes + v * HALF);
    xxh64_lanes(h, g, 2 * groups);
    EACH(v, 2 * groups)
    store64(hashes + v * HALF, lanes64(g[v / 2].valid >> (v % 2 * HALF)), h[v],
            load64(hashes + v * HALF));
}

/* All rows in whole groups, then the others, whose hashes go by way of an array. */
#define TEXTS_LOOP(name, type, hash_groups, hash_bytes)                                            \
    static void name##_far(type *hashes, const uint64_t *views, uint8_t *const *heaps,             \
                           const uint32_t *rows, uint32_t far)                                     \
    {                                                                                              \
        for (; far; far &= far - 1) {                                                              \
            const uint32_t row = rows[__builtin_ctz(far)];                                         \
            const uint64_t *view = views + 2 * (uint64_t)row;                                      \
            const uint8_t *text = heaps[(uint32_t)view[1]] + (view[1] >> 32);                      \
            hashes[row] = hash_bytes(text, (uint32_t)view[0], hashes[row]);                        \
        }                                                                                          \
    }                                                                                              \
    static void name(type *hashes, const uint64_t *views, uint8_t *const *heaps,                   \
                     const uint64_t *valid, const uint32_t *sel, uint32_t n)                       \
    {                                                                                              \
        static const uint32_t first_rows[] = {                                                     \
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};                                 \
        struct group g[GROUPS];                                                                    \
        type chosen[LANES];                                                                        \
        uint32_t at = 0;                                                                           \
        for (; sel == NULL && at + GROUPS * LANES <= n; at += GROUPS * LANES) {                    \
            for (uint32_t v = 0, from = at; v < GROUPS; v++, from += LANES)                        \
                take_all(&g[v], views + 2 * (uint64_t)from, heaps, bits_at(valid, from));          \
            hash_groups(hashes + at, g, GROUPS);                                                   \
            for (uint32_t v = 0, from = at; v < GROUPS; v++, from += LANES)                        \
                name##_far(hashes + from, views + 2 * (uint64_t)from, heaps, first_rows,           \
                           g[v].far);                                                              \
        }                                                                                          \
        for (; at < n; at += LANES) {                                                              \
            const uint32_t rows = n - at < LANES ? n - at : LANES;                                 \
            take_rows(g, valid, sel, at, rows);                                                    \
            take_some(g, views, heaps);                                                            \
            EACH(i, LANES)                                                                         \
            chosen[i] = hashes[g->row[i]];                                                         \
            hash_groups(chosen, g, 1);                                                             \
            EACH(i, rows)                                                                          \
            hashes[g->row[i]] = chosen[i];                                                         \
            name##_far(hashes, views, heaps, g->row, g->far);                                      \
        }                                                                                          \
    }
TEXTS_LOOP(murmur_texts, uint32_t, murmur_groups, mr_murmur_bytes)
TEXTS_LOOP(xxh64_texts, uint64_t, xxh64_groups, mr_xxh64_bytes)
