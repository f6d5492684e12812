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
/* There are no vectors of 64-bit products: factors below 2^31 are multiplied as 32 bits, and the
 * rows where one is larger again. */
enum { MULTIPLY_ROWS = 512 };
#define IS_WIDE(x) (((uint64_t)(x) + ((uint64_t)1 << 31)) >> 32)

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
        for (uint32_t at = 0; at < n; at += MULTIPLY_ROWS) {                                       \
            const uint32_t end = n - at < MULTIPLY_ROWS ? n : at + MULTIPLY_ROWS;                  \
            uint64_t wide = 0;                                                                     \
            for (uint32_t i = at; i < end; i++) {                                                  \
                wide |= IS_WIDE(x[i]) | IS_WIDE(y_of);                                             \
                out[i] = (int64_t)(int32_t)x[i] * (int32_t)y_of;                                   \
            }                                                                                      \
            for (uint32_t i = at; wide && i < end; i++)                                            \
                bad |= __builtin_mul_overflow(x[i], y_of, &out[i]);                                \
        }                                                                                          \
        return bad;                                                                                \
    }

/* There are no vectors of integer divisions: a quotient of 32-bit numbers as a double is cut to the
 * right whole one, because it lies at least 2^-32 of itself below the next. Divisors 0, 1 and -1
 * leave 0. */
#define DIVISION_LOOPS(by, y_of)                                                                   \
    static bool rest_i32##by(int32_t *out, const int32_t *x, const int32_t *y, uint32_t n)         \
    {                                                                                              \
        int32_t zeros = 0;                                                                         \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            const double size = __builtin_fabs((double)x[i]), own = __builtin_fabs((double)y_of);  \
            const double divisor = own < 2 ? 2 : own;                                              \
            const double rest = size - (double)(int32_t)(size / divisor) * divisor;                \
            const double kept = own < 2 ? 0 : rest;                                                \
            zeros |= y_of == 0 ? -1 : 0;                                                           \
            out[i] = (int32_t)(x[i] < 0 ? -kept : kept);                                           \
        }                                                                                          \
        return zeros != 0;                                                                         \
    }                                                                                              \
    static bool quotient_f64##by(double *out, const double *x, const double *y, uint32_t n)        \
    {                                                                                              \
        uint64_t zeros = 0;                                                                        \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            zeros |= y_of == 0;                                                                    \
            out[i] = x[i] / y_of;                                                                  \
        }                                                                                          \
        return zeros != 0;                                                                         \
    }

LOOPS(, y[i])
LOOPS(_by, y[0])
DIVISION_LOOPS(, y[i])
DIVISION_LOOPS(_by, y[0])

#define ABS_LOOP(name, type, utype)                                                                \
    static bool name(type *out, const type *x, uint32_t n)                                         \
    {                                                                                              \
        utype bad = 0;                                                                             \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            const utype sign = x[i] < 0 ? (utype)-1 : 0, r = ((utype)x[i] ^ sign) - sign;          \
            bad |= r;                                                                              \
            out[i] = (type)r;                                                                      \
        }                                                                                          \
        return bad >> (8 * sizeof bad - 1); /* only that of the least value is negative */         \
    }
ABS_LOOP(abs_i32, int32_t, uint32_t)
ABS_LOOP(abs_i64, int64_t, uint64_t)

static inline int64_t bits_of(double x)
{
    const union {
        double value;
        int64_t bits;
    } u = {x};

    return u.bits;
}

/* Added to a double below 2^51, this leaves the nearest whole number in the low bits. */
#define WHOLE_BITS 0x1.8p52

#define WHOLE_LOOP(name, correct)                                                                  \
    static bool name(int64_t *out, const double *x, uint32_t n)                                    \
    {                                                                                              \
        uint64_t bad = 0;                                                                          \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            const double v = x[i], near = v + WHOLE_BITS, whole = near - WHOLE_BITS;               \
            bad |= !(__builtin_fabs(v) < 0x1p51);                                                  \
            out[i] = bits_of(near) - bits_of(WHOLE_BITS) + (correct);                              \
        }                                                                                          \
        return bad != 0;                                                                           \
    }
WHOLE_LOOP(floor_f64, whole > v ? -1 : 0)
WHOLE_LOOP(ceil_f64, whole < v ? 1 : 0)

/* x[0..n), n <= 64, those whose bit is set; others as 0. */
#define TAKE_LOOP(name, type, utype)                                                               \
    static inline void name(type *out, const type *x, uint64_t bits, uint32_t n)                   \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++)                                                           \
            out[i] = (type)((utype)x[i] & (utype)(0 - (bits >> i & 1)));                           \
    }
TAKE_LOOP(take_i32, int32_t, uint32_t)
TAKE_LOOP(take_i64, int64_t, uint64_t)

/* n values below 2^31 can't overflow 63 bits, so only the total is checked. */
static int64_t total_i32(const int32_t *x, uint32_t n)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += x[i];
    return total;
}

static bool sum_i32(const int32_t *x, const uint64_t *valid, uint32_t n, int64_t *sum)
{
    int64_t total = 0;

    if (valid == 0)
        total = total_i32(x, n);
    for (uint32_t at = 0; valid && at < n; at += 64) {
        int32_t taken[64];
        const uint32_t rows = n - at < 64 ? n - at : 64;
        take_i32(taken, x + at, valid[at / 64], rows);
        total += total_i32(taken, rows);
    }
    return __builtin_add_overflow(*sum, total, sum);
}

/* Halves apart, the high ones as if counted from INT64_MIN: neither sum can overflow. */
static __int128 total_i64(const int64_t *x, uint32_t n)
{
    uint64_t high = 0, low = 0;

    for (uint32_t i = 0; i < n; i++) {
        low += (uint32_t)x[i];
        high += ((uint64_t)x[i] ^ UINT64_C(1) << 63) >> 32;
    }
    return ((__int128)high - ((__int128)n << 31)) * ((__int128)1 << 32) + low;
}

static bool sum_i64(const int64_t *x, const uint64_t *valid, uint32_t n, int64_t *sum)
{
    __int128 total = *sum;

    if (valid == 0)
        total += total_i64(x, n);
    for (uint32_t at = 0; valid && at < n; at += 64) {
        int64_t taken[64];
        const uint32_t rows = n - at < 64 ? n - at : 64;
        take_i64(taken, x + at, valid[at / 64], rows);
        total += total_i64(taken, rows);
    }
    *sum = (int64_t)total;
    return total != (__int128)*sum;
}

#define WIDE_LOOP(name, op, from)                                                                  \
    static inline void name(__int128 *out, const __int128 *x, const __int128 *y, uint32_t n)       \
    {                                                                                              \
        for (uint32_t i = from; i < n; i++)                                                        \
            out[i] = (__int128)((unsigned __int128)x[i] op(unsigned __int128) y[i]);               \
    }
WIDE_LOOP(mul_i128, *, 0)

/* Two sums side by side, which do not wait for each other. */
static __int128 total_i128(const __int128 *x, uint32_t n)
{
    unsigned __int128 even = 0, odd = 0;
    uint32_t i = 0;

    for (; i + 2 <= n; i += 2) {
        even += (unsigned __int128)x[i];
        odd += (unsigned __int128)x[i + 1];
    }
    return (__int128)(even + odd + (i < n ? (unsigned __int128)x[i] : 0));
}

#define ARITH_TABLE(name)                                                                          \
    {                                                                                              \
        .isa = name, .i32 = {add_i32, sub_i32, mul_i32}, .i64 = {add_i64, sub_i64, mul_i64},       \
        .f64 = {add_f64, sub_f64, mul_f64}, .i32_by = {add_i32_by, sub_i32_by, mul_i32_by},        \
        .i64_by = {add_i64_by, sub_i64_by, mul_i64_by},                                            \
        .f64_by = {add_f64_by, sub_f64_by, mul_f64_by}, .abs_i32 = abs_i32, .abs_i64 = abs_i64,    \
        .floor_f64 = floor_f64, .ceil_f64 = ceil_f64, .rest_i32 = rest_i32,                        \
        .i128 = {add_i128, sub_i128, mul_i128}, .sum_i128 = sum_i128, .sqrt_f64 = sqrt_f64,        \
        .rest_i32_by = rest_i32_by, .quotient_f64 = quotient_f64,                                  \
        .quotient_f64_by = quotient_f64_by, .sum_i64 = sum_i64, .sum_i32 = sum_i32,                \
    }
