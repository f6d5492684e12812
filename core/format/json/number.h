/* number.h - digits of JSON numbers, eight at a time in a 64-bit word. For the fast path: what is
 * unusual (more than 7 digits in a row of a fraction, exponents, leading zeros) is refused and goes
 * the slow way.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MR_ASCII_ZEROS UINT64_C(0x3030303030303030)

static inline uint64_t load_8(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

/* How many of the eight bytes are digits before the first that is none. digits: x ^
 * MR_ASCII_ZEROS. */
static inline uint32_t digits_run(uint64_t digits)
{
    uint64_t other =
        ((digits + UINT64_C(0x7676767676767676)) | digits) & UINT64_C(0x8080808080808080);
    return other ? (uint32_t)__builtin_ctzll(other) >> 3 : 8;
}

/* The value of the first n (0..8) digits. */
static inline uint32_t digits_value(uint64_t digits, uint32_t n)
{
    if (n == 0)
        return 0;
    digits <<= 64 - 8 * n;
    digits = digits * 10 + (digits >> 8);
    return (uint32_t)((((digits & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
                       (((digits >> 16) & UINT64_C(0x000000ff000000ff)) *
                        UINT64_C(0x0000271000000001))) >>
                      32);
}

/* A number without exponent whose runs of digits are short. */
struct json_decimal {
    uint64_t unscaled; /* at most 15 digits */
    uint32_t scale;    /* digits after the dot */
    bool negative;
};

/* Gives the byte behind the number, or NULL: not of this simple form. */
static inline const uint8_t *json_decimal_parse(const uint8_t *p, struct json_decimal *out)
{
    out->negative = *p == '-';
    p += out->negative;
    uint64_t digits = load_8(p) ^ MR_ASCII_ZEROS;
    uint32_t n = digits_run(digits);
    if (n - 1 > 6 || (n > 1 && (digits & 0xff) == 0))
        return NULL;
    out->unscaled = digits_value(digits, n);
    out->scale = 0;
    p += n;
    if (*p == '.') {
        static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
        digits = load_8(p + 1) ^ MR_ASCII_ZEROS;
        n = digits_run(digits);
        if (n - 1 > 6)
            return NULL;
        out->unscaled = out->unscaled * powers[n] + digits_value(digits, n);
        out->scale = n;
        p += 1 + n;
    }
    return (*p | 0x20) == 'e' ? NULL : p;
}
