/* select_body.h - the loops that every variant has, compiled with each one's instruction set. */
#pragma once
#include "kernels/select/select.h"

static inline bool equal_f64(double x, double y)
{
    return x == y || (x != x && y != y);
}
static inline bool less_f64(double x, double y)
{
    return x < y || (y != y && x == x);
}

/* One word of bits at a time; a and b are the two values of row i. */
#define COMPARE_LOOP(name, type, a_of, b_of, test)                                                 \
    static void name(uint64_t *bits, const void *xs, const void *ys, uint32_t n)                   \
    {                                                                                              \
        const type *x = xs, *y = ys;                                                               \
        for (uint32_t at = 0; at < n; at += 64) {                                                  \
            uint32_t rows = n - at < 64 ? n - at : 64;                                             \
            uint64_t word = 0;                                                                     \
            for (uint32_t j = 0; j < rows; j++) {                                                  \
                const uint32_t i = at + j;                                                         \
                const type a = a_of, b = b_of;                                                     \
                word |= (uint64_t)(test) << j;                                                     \
            }                                                                                      \
            bits[at / 64] = word;                                                                  \
        }                                                                                          \
    }

#define COMPARE_LOOPS(lane, type, equal, less)                                                     \
    COMPARE_LOOP(eq_##lane, type, x[i], y[i], equal(a, b))                                         \
    COMPARE_LOOP(lt_##lane, type, x[i], y[i], less(a, b))                                          \
    COMPARE_LOOP(le_##lane, type, x[i], y[i], !less(b, a))                                         \
    COMPARE_LOOP(gt_##lane, type, x[i], y[i], less(b, a))                                          \
    COMPARE_LOOP(ge_##lane, type, x[i], y[i], !less(a, b))                                         \
    COMPARE_LOOP(eq_by_##lane, type, x[i], y[0], equal(a, b))                                      \
    COMPARE_LOOP(lt_by_##lane, type, x[i], y[0], less(a, b))                                       \
    COMPARE_LOOP(le_by_##lane, type, x[i], y[0], !less(b, a))                                      \
    COMPARE_LOOP(gt_by_##lane, type, x[i], y[0], less(b, a))                                       \
    COMPARE_LOOP(ge_by_##lane, type, x[i], y[0], !less(a, b))

#define PLAIN_EQUAL(a, b) ((a) == (b))
#define PLAIN_LESS(a, b) ((a) < (b))
#define WIDE_EQUAL(a, b) equal_f64((double)(a), (double)(b))
#define WIDE_LESS(a, b) less_f64((double)(a), (double)(b))

COMPARE_LOOPS(i8, int8_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(i16, int16_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(f32, float, WIDE_EQUAL, WIDE_LESS)

static inline uint32_t from_bits_of_selection(uint32_t *out, const uint32_t *sel, uint32_t n,
                                              const uint64_t *bits, const uint64_t *valid)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel[i];
        uint64_t word = valid ? bits[row >> 6] & valid[row >> 6] : bits[row >> 6];
        out[count] = row;
        count += (uint32_t)(word >> (row & 63)) & 1;
    }
    return count;
}

/* The bits of word w, none beyond n. */
static inline uint64_t word_of(const uint64_t *bits, const uint64_t *valid, uint32_t w, uint32_t n)
{
    uint64_t word = valid ? bits[w] & valid[w] : bits[w];

    return n - w * 64 < 64 ? word & (((uint64_t)1 << (n - w * 64)) - 1) : word;
}

/* Where few bits are set, and without vectors: one row after the other. */
static inline uint32_t append_rows(uint32_t *out, uint32_t count, uint64_t word, uint32_t base)
{
    for (; word; word &= word - 1)
        out[count++] = base + (uint32_t)__builtin_ctzll(word);
    return count;
}

/* from_bits without vectors: AVX2 has none that is faster. */
#define FROM_BITS_BY_ROW()                                                                         \
    static uint32_t from_bits(uint32_t *out, const uint32_t *sel, uint32_t n,                      \
                              const uint64_t *bits, const uint64_t *valid)                         \
    {                                                                                              \
        uint32_t count = 0;                                                                        \
                                                                                                   \
        if (sel)                                                                                   \
            return from_bits_of_selection(out, sel, n, bits, valid);                               \
        for (uint32_t w = 0; w * 64 < n; w++)                                                      \
            count = append_rows(out, count, word_of(bits, valid, w, n), w * 64);                   \
        return count;                                                                              \
    }

#define LANE_ROW(lane, by)                                                                         \
    {                                                                                              \
        eq##by##_##lane, lt##by##_##lane, le##by##_##lane, gt##by##_##lane, ge##by##_##lane        \
    }
#define LANE_ROWS(by)                                                                              \
    {                                                                                              \
        LANE_ROW(i8, by), LANE_ROW(i16, by), LANE_ROW(i32, by), LANE_ROW(i64, by),                 \
            LANE_ROW(f32, by), LANE_ROW(f64, by)                                                   \
    }
