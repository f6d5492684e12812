#include "core/expr/decimal.h"

#include "core/base/check.h"
#include "core/format/value.h"
#include <math.h>
#include <stdlib.h>

typedef unsigned __int128 u128;

/* 256 bits, for what is in between. */
struct wide {
    u128 high, low;
};

static const uint64_t powers[] = {1ULL,
                                  10ULL,
                                  100ULL,
                                  1000ULL,
                                  10000ULL,
                                  100000ULL,
                                  1000000ULL,
                                  10000000ULL,
                                  100000000ULL,
                                  1000000000ULL,
                                  10000000000ULL,
                                  100000000000ULL,
                                  1000000000000ULL,
                                  10000000000000ULL,
                                  100000000000000ULL,
                                  1000000000000000ULL,
                                  10000000000000000ULL,
                                  100000000000000000ULL,
                                  1000000000000000000ULL,
                                  10000000000000000000ULL};
enum { POWERS_64_MAX = 19 };

__int128 mr_decimal_power(uint32_t exponent)
{
    if (exponent <= POWERS_64_MAX)
        return (__int128)powers[exponent];
    MR_ASSERT(exponent <= 38);
    return (__int128)((u128)powers[POWERS_64_MAX] * powers[exponent - POWERS_64_MAX]);
}

static u128 magnitude(__int128 v)
{
    return v < 0 ? -(u128)v : (u128)v;
}

bool mr_decimal_fits(__int128 v, uint32_t precision)
{
    return magnitude(v) < (u128)mr_decimal_power(precision);
}

static struct wide wide_multiply(u128 x, u128 y)
{
    u128 x0 = (uint64_t)x, x1 = x >> 64, y0 = (uint64_t)y, y1 = y >> 64;
    u128 low = x0 * y0, a = x1 * y0, b = x0 * y1;
    u128 middle = (low >> 64) + (uint64_t)a + (uint64_t)b;

    return (struct wide){x1 * y1 + (a >> 64) + (b >> 64) + (middle >> 64),
                         (middle << 64) | (uint64_t)low};
}

/* Schoolbook, a bit at a time: only for values that 128 bits can't hold. False: more than 128 bits.
 */
static bool wide_divide(struct wide x, u128 y, u128 *quotient, u128 *remainder)
{
    u128 rest = 0, q = 0;

    if (x.high >= y)
        return false;
    rest = x.high;
    for (int32_t bit = 127; bit >= 0; bit--) {
        bool carry = rest >> 127;
        rest = (rest << 1) | ((x.low >> bit) & 1);
        q <<= 1;
        if (carry || rest >= y) {
            rest -= y;
            q |= 1;
        }
    }
    *quotient = q;
    *remainder = rest;
    return true;
}

/* Half up, sign put back, digits checked. */
static bool finish(u128 quotient, u128 remainder, u128 divisor, bool negative, uint32_t precision,
                   __int128 *out)
{
    if (remainder >= divisor - remainder && remainder != 0)
        quotient++;
    if (quotient >= (u128)mr_decimal_power(precision))
        return false;
    *out = negative ? -(__int128)quotient : (__int128)quotient;
    return true;
}

static bool divide_wide(struct wide x, u128 y, bool negative, uint32_t precision, __int128 *out)
{
    u128 quotient, remainder;

    if (x.high == 0)
        return finish(x.low / y, x.low % y, y, negative, precision, out);
    return wide_divide(x, y, &quotient, &remainder) &&
           finish(quotient, remainder, y, negative, precision, out);
}

bool mr_decimal_rescale(__int128 v, uint32_t from_scale, uint32_t to_scale, uint32_t precision,
                        __int128 *out)
{
    if (to_scale >= from_scale) {
        struct wide x = wide_multiply(magnitude(v), (u128)mr_decimal_power(to_scale - from_scale));
        if (x.high != 0 || x.low >= (u128)mr_decimal_power(precision))
            return false;
        *out = v < 0 ? -(__int128)x.low : (__int128)x.low;
        return true;
    }
    u128 power = (u128)mr_decimal_power(from_scale - to_scale);
    return finish(magnitude(v) / power, magnitude(v) % power, power, v < 0, precision, out);
}

bool mr_decimal_add(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale, uint32_t precision,
                    uint32_t scale, __int128 *out)
{
    uint32_t common = x_scale > y_scale ? x_scale : y_scale;
    struct wide a = wide_multiply(magnitude(x), (u128)mr_decimal_power(common - x_scale));
    struct wide b = wide_multiply(magnitude(y), (u128)mr_decimal_power(common - y_scale));
    struct wide sum;
    bool negative = x < 0;

    if ((x < 0) == (y < 0)) {
        sum.low = a.low + b.low;
        sum.high = a.high + b.high + (sum.low < a.low);
    } else {
        if (a.high < b.high || (a.high == b.high && a.low < b.low)) {
            struct wide t = a;
            a = b;
            b = t;
            negative = y < 0;
        }
        sum.low = a.low - b.low;
        sum.high = a.high - b.high - (a.low < b.low);
    }
    if (scale > common) {
        sum = sum.high ? sum : wide_multiply(sum.low, (u128)mr_decimal_power(scale - common));
        common = scale;
    }
    return divide_wide(sum, (u128)mr_decimal_power(common - scale), negative, precision, out);
}

bool mr_decimal_multiply(__int128 x, __int128 y, uint32_t product_scale, uint32_t precision,
                         uint32_t scale, __int128 *out)
{
    struct wide product = wide_multiply(magnitude(x), magnitude(y));
    uint32_t cut = product_scale > scale ? product_scale - scale : 0;

    if (cut > 38) { /* scales up to 76: in two steps would round twice, so drop digits exactly */
        u128 q, r;
        if (!wide_divide(product, (u128)mr_decimal_power(38), &q, &r))
            return false;
        product = (struct wide){0, q};
        cut -= 38;
    }
    return divide_wide(product, (u128)mr_decimal_power(cut), (x < 0) != (y < 0), precision, out);
}

bool mr_decimal_divide(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                       uint32_t precision, uint32_t scale, __int128 *out)
{
    /* x / 10^xs / (y / 10^ys) * 10^scale = x * 10^(scale + ys - xs) / y */
    int32_t shift = (int32_t)(scale + y_scale) - (int32_t)x_scale;
    bool negative = (x < 0) != (y < 0);

    if (shift < 0) {
        struct wide divisor = wide_multiply(magnitude(y), (u128)mr_decimal_power((uint32_t)-shift));
        if (divisor.high != 0) {
            *out = 0;
            return true;
        }
        return divide_wide((struct wide){0, magnitude(x)}, divisor.low, negative, precision, out);
    }
    u128 left = magnitude(x);
    while (shift > 38) {
        struct wide step = wide_multiply(left, 10);
        if (step.high != 0)
            return left == 0 && (*out = 0, true);
        left = step.low;
        shift--;
    }
    return divide_wide(wide_multiply(left, (u128)mr_decimal_power((uint32_t)shift)), magnitude(y),
                       negative, precision, out);
}

static bool wide_is_below(struct wide x, struct wide y)
{
    return x.high < y.high || (x.high == y.high && x.low < y.low);
}
static struct wide wide_subtract(struct wide x, struct wide y)
{
    return (struct wide){x.high - y.high - (x.low < y.low), x.low - y.low};
}
static struct wide wide_shift(struct wide x, bool bit)
{
    return (struct wide){x.high << 1 | x.low >> 127, x.low << 1 | bit};
}

/* |x| / |y| at one scale, which they share then; below 2^253. */
struct division {
    struct wide quotient, rest, divisor;
    uint32_t scale;
};

static struct division long_division(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale)
{
    struct division d = {.scale = x_scale > y_scale ? x_scale : y_scale};
    struct wide l = wide_multiply(magnitude(x), (u128)mr_decimal_power(d.scale - x_scale));

    d.divisor = wide_multiply(magnitude(y), (u128)mr_decimal_power(d.scale - y_scale));
    if (l.high == 0 && d.divisor.high == 0) {
        d.quotient.low = l.low / d.divisor.low;
        d.rest.low = l.low % d.divisor.low;
        return d;
    }
    for (int32_t bit = 255; bit >= 0; bit--) {
        d.rest = wide_shift(d.rest, (bit > 127 ? l.high >> (bit - 128) : l.low >> bit) & 1);
        bool fits = !wide_is_below(d.rest, d.divisor);
        d.quotient = wide_shift(d.quotient, fits);
        if (fits)
            d.rest = wide_subtract(d.rest, d.divisor);
    }
    return d;
}

bool mr_decimal_quotient(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale, int64_t *out)
{
    struct division d = long_division(x, x_scale, y, y_scale);
    bool is_negative = (x < 0) != (y < 0);

    if (d.quotient.high != 0 || d.quotient.low > ((u128)1 << 63) - !is_negative)
        return false;
    *out = (int64_t)(is_negative ? -(__int128)d.quotient.low : (__int128)d.quotient.low);
    return true;
}

bool mr_decimal_remainder(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                          uint32_t precision, uint32_t scale, __int128 *out)
{
    struct division d = long_division(x, x_scale, y, y_scale);

    return divide_wide(d.rest, (u128)mr_decimal_power(d.scale - scale), x < 0, precision, out);
}

bool mr_decimal_modulo(__int128 x, uint32_t x_scale, __int128 y, uint32_t y_scale,
                       uint32_t precision, uint32_t scale, __int128 *out)
{
    struct division d = long_division(x, x_scale, y, y_scale);
    bool turned = x < 0 && y > 0 && (d.rest.high != 0 || d.rest.low != 0);

    if (turned)
        d.rest = wide_subtract(d.divisor, d.rest);
    return divide_wide(d.rest, (u128)mr_decimal_power(d.scale - scale), x < 0 && !turned, precision,
                       out);
}

double mr_decimal_to_double(__int128 v, uint32_t scale)
{
    char text[MR_VALUE_TEXT + 1];

    if (magnitude(v) < (u128)1 << 53 && scale <= 15)
        return (double)(int64_t)v / (double)powers[scale];
    text[mr_value_print_decimal(v, scale, text)] = 0;
    return strtod(text, NULL);
}

bool mr_decimal_from_double(double v, uint32_t precision, uint32_t scale, __int128 *out)
{
    char text[MR_VALUE_TEXT];

    if (!isfinite(v))
        return false;
    return mr_value_parse_decimal((struct mr_text){text, mr_value_print_double(v, text)}, precision,
                                  scale, out);
}
