/* arith_body.h - the loops, written so that the compiler makes vectors of them (kernels are built
 * with -O3): no branches, overflow gathered in one word by its sign bit. Included by each variant.
 */
#pragma once
#include "kernels/arith/arith.h"

/* The sign of (x ^ r) & (y ^ r): set when a sum r of x and y overflowed. */
#define ADD_INTEGER(x, y, r) (((x) ^ (r)) & ((y) ^ (r)))
#define SUBTRACT_INTEGER(x, y, r) (((x) ^ (y)) & ((x) ^ (r)))

#define INTEGER_LOOP(name, type, utype, sign, op, overflow, y_of)                                  \
    static bool name(type *out, const type *x, const type *y, uint32_t n)                          \
    {                                                                                              \
        utype bad = 0;                                                                             \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            utype a = (utype)x[i], b = (utype)y_of, r = a op b;                                    \
            bad |= overflow(a, b, r);                                                              \
            out[i] = (type)r;                                                                      \
        }                                                                                          \
        return bad >> sign;                                                                        \
    }
#define DOUBLE_LOOP(name, op, y_of)                                                                \
    static void name(double *out, const double *x, const double *y, uint32_t n)                    \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            out[i] = x[i] op y_of;                                                                 \
    }
#define LOOPS(by, y_of)                                                                            \
    INTEGER_LOOP(add_i32##by, int32_t, uint32_t, 31, +, ADD_INTEGER, y_of)                         \
    INTEGER_LOOP(sub_i32##by, int32_t, uint32_t, 31, -, SUBTRACT_INTEGER, y_of)                    \
    INTEGER_LOOP(add_i64##by, int64_t, uint64_t, 63, +, ADD_INTEGER, y_of)                         \
    INTEGER_LOOP(sub_i64##by, int64_t, uint64_t, 63, -, SUBTRACT_INTEGER, y_of)                    \
    DOUBLE_LOOP(add_f64##by, +, y_of)                                                              \
    DOUBLE_LOOP(sub_f64##by, -, y_of)                                                              \
    DOUBLE_LOOP(mul_f64##by, *, y_of)                                                              \
    static bool mul_i32##by(int32_t *out, const int32_t *x, const int32_t *y, uint32_t n)          \
    {                                                                                              \
        uint64_t bad = 0;                                                                          \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            int64_t r = (int64_t)x[i] * y_of;                                                      \
            out[i] = (int32_t)r;                                                                   \
            bad |= ((uint64_t)r + ((uint64_t)1 << 31)) >> 32;                                      \
        }                                                                                          \
        return bad != 0;                                                                           \
    }                                                                                              \
    static bool mul_i64##by(int64_t *out, const int64_t *x, const int64_t *y, uint32_t n)          \
    {                                                                                              \
        bool bad = false;                                                                          \
        for (uint32_t i = 0; i < n; i++)                                                           \
            bad |= __builtin_mul_overflow(x[i], y_of, &out[i]);                                    \
        return bad;                                                                                \
    }

LOOPS(, y[i])
LOOPS(_by, y[0])

/* n values below 2^31 can't overflow 63 bits, so only the total is checked. */
static bool sum_i32(const int32_t *x, uint32_t n, int64_t *sum)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += x[i];
    return __builtin_add_overflow(*sum, total, sum);
}

/* Eight sums side by side; when one overflows, all is done again in 128 bits. */
static bool sum_i64(const int64_t *x, uint32_t n, int64_t *sum)
{
    uint64_t bad = 0, part[8] = {0};
    uint32_t i = 0;
    __int128 total = *sum;

    for (; i + 8 <= n; i += 8) {
        for (uint32_t k = 0; k < 8; k++) {
            uint64_t r = part[k] + (uint64_t)x[i + k];
            bad |= ADD_INTEGER(part[k], (uint64_t)x[i + k], r);
            part[k] = r;
        }
    }
    if (bad >> 63) {
        for (i = 0; i < n; i++)
            total += x[i];
    } else {
        for (uint32_t k = 0; k < 8; k++)
            total += (int64_t)part[k];
        for (; i < n; i++)
            total += x[i];
    }
    *sum = (int64_t)total;
    return total != (__int128)*sum;
}

#define ARITH_TABLE(name)                                                                          \
    {                                                                                              \
        .isa = name, .i32 = {add_i32, sub_i32, mul_i32}, .i64 = {add_i64, sub_i64, mul_i64},       \
        .f64 = {add_f64, sub_f64, mul_f64}, .i32_by = {add_i32_by, sub_i32_by, mul_i32_by},        \
        .i64_by = {add_i64_by, sub_i64_by, mul_i64_by},                                            \
        .f64_by = {add_f64_by, sub_f64_by, mul_f64_by}, .sum_i64 = sum_i64, .sum_i32 = sum_i32,    \
    }
