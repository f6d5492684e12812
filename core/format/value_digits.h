/* value_digits.h - short runs of digits by word arithmetic, within core/format only.
 *
 * Why      Fields of 4 to 16 characters are the rule; a loop over their bytes waits for each
 *          multiplication and mispredicts its end. A word has the first character in its low byte.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MR_WORD_ONES UINT64_C(0x0101010101010101)
#define MR_WORD_HIGH UINT64_C(0x8080808080808080)

static inline uint64_t word_load(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

/* n in 1..8 characters, without reading behind them; the other bytes are 0. */
static inline uint64_t word_load_short(const char *p, uint64_t n)
{
    if (n == 8)
        return word_load(p);
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return first | (uint64_t)last << (8 * (n - 4));
    }
    uint64_t middle = n / 2;
    return (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[middle] << (8 * middle) |
           (uint64_t)(unsigned char)p[n - 1] << (8 * (n - 1));
}

/* Are all eight bytes 0 to 9? */
static inline bool word_is_digits(uint64_t x)
{
    return (((x + MR_WORD_ONES * (0x7f - 9)) | x) & MR_WORD_HIGH) == 0;
}

/* Byte i becomes the number of the digits i and i + 1. */
static inline uint64_t word_pairs(uint64_t x)
{
    return x * 10 + (x >> 8);
}

/* The number of eight digits (values, not characters). */
static inline uint64_t word_number(uint64_t x)
{
    x = word_pairs(x) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x * 100 + (x >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (x * 10000 + (x >> 32)) & UINT64_C(0xffffffff);
}

/* n in 1..8 digits; false when one is none. */
static inline bool digits_number(const char *p, uint64_t n, uint64_t *out)
{
    uint64_t characters = MR_WORD_ONES * '0' >> (8 * (8 - n));
    uint64_t x = (word_load_short(p, n) ^ characters) << (8 * (8 - n));

    *out = word_number(x);
    return word_is_digits(x);
}

/* The eight digits of v < 10^8 as values, the first in the low byte: two halves, then their halves,
 * side by side. */
static inline uint64_t digits_of_eight(uint32_t v)
{
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t hundreds = x * 10486 >> 20 & UINT64_C(0x0000007f0000007f);

    x = hundreds | (x - hundreds * 100) << 16;
    uint64_t tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (x - tens * 10) << 8;
}

static inline void digits_put_eight(uint32_t v, char *out)
{
    uint64_t word = digits_of_eight(v) + MR_WORD_ONES * '0';

    memcpy(out, &word, sizeof word);
}

/* v < 10^8 without leading zeros: eight bytes are written; gives how many count. */
static inline uint32_t digits_put_number(uint32_t v, char *out)
{
    uint64_t digits = digits_of_eight(v);
    uint32_t zeros = (uint32_t)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    uint64_t word = (digits + MR_WORD_ONES * '0') >> (8 * zeros);

    memcpy(out, &word, sizeof word);
    return 8 - zeros;
}

/* "00" to "99". */
extern const char mr_digit_pairs[201];

static inline void digits_put_two(char *out, uint32_t value)
{
    memcpy(out, mr_digit_pairs + value * 2, 2);
}
