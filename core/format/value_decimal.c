#include "core/base/bounds.h"
#include "core/format/value.h"
#include "core/format/value_digits.h"

/* ---- parsing ---- */

enum { EXPONENT_DIGITS_MAX = 10 };

/* A decimal number as its digits: 0.d1d2d3.. * 10^point, without leading zeros. */
struct digits {
    struct mr_text integer, fraction;
    bool negative;
    int64_t exponent;
};

static struct mr_text take_digits(struct mr_text *t)
{
    struct mr_text taken = {t->data, 0};

    while (taken.n < t->n && mr_is_digit(t->data[taken.n]))
        taken.n++;
    t->data += taken.n;
    t->n -= taken.n;
    return taken;
}

static bool take_sign(struct mr_text *t)
{
    bool negative = t->n > 0 && t->data[0] == '-';

    if (t->n > 0 && (t->data[0] == '-' || t->data[0] == '+')) {
        t->data++;
        t->n--;
    }
    return negative;
}

static bool scan(struct mr_text t, struct digits *out)
{
    out->negative = take_sign(&t);
    out->integer = take_digits(&t);
    out->fraction = (struct mr_text){t.data, 0};
    if (t.n > 0 && t.data[0] == '.') {
        t.data++;
        t.n--;
        out->fraction = take_digits(&t);
    }
    if (out->integer.n + out->fraction.n == 0)
        return false;
    out->exponent = 0;
    if (t.n == 0)
        return true;
    if ((t.data[0] | 0x20) != 'e')
        return false;
    t.data++;
    t.n--;
    bool negative = take_sign(&t);
    struct mr_text exponent = take_digits(&t);
    if (exponent.n == 0 || exponent.n > EXPONENT_DIGITS_MAX || t.n > 0)
        return false;
    for (uint64_t i = 0; i < exponent.n; i++)
        out->exponent = out->exponent * 10 + (exponent.data[i] - '0');
    if (out->exponent > INT32_MAX)
        return false;
    if (negative)
        out->exponent = -out->exponent;
    return true;
}

/* The digit at index, counted from the first of the integer part. */
static inline char digit_at(const struct digits *d, uint64_t index)
{
    return index < d->integer.n ? d->integer.data[index] : d->fraction.data[index - d->integer.n];
}

static __int128 power_of_ten(uint32_t n)
{
    __int128 power = 1;

    while (n-- > 0)
        power *= 10;
    return power;
}

bool mr_value_parse_decimal(struct mr_text t, uint32_t precision, uint32_t scale, __int128 *out)
{
    struct digits d;
    uint64_t at = 0;

    if (!scan(mr_text_trim(t), &d))
        return false;
    uint64_t n = d.integer.n + d.fraction.n;
    while (at < n && digit_at(&d, at) == '0')
        at++;
    *out = 0;
    if (at == n)
        return true;
    /* How many digits from the first that counts on are kept; the next one rounds. */
    int64_t keep = (int64_t)d.integer.n - (int64_t)at + d.exponent + (int64_t)scale;
    if (keep < 0)
        return true;
    if (keep > MR_DECIMAL_DIGITS)
        return false;
    unsigned __int128 value = 0;
    for (int64_t i = 0; i < keep; i++, at++)
        value = value * 10 + (unsigned)(at < n ? digit_at(&d, at) - '0' : 0);
    if (at < n && digit_at(&d, at) >= '5')
        value++;
    if (value >= (unsigned __int128)power_of_ten(precision))
        return false;
    *out = d.negative ? -(__int128)value : (__int128)value;
    return true;
}

/* ---- printing ---- */

enum { DIGITS_ROOM = 40, HALF_DIGITS = 19 };

/* The digits of |v| without leading zeros (0: "0"), at the end of digits[DIGITS_ROOM]; gives how
 * many. */
static uint32_t print_magnitude(__int128 v, char *digits)
{
    unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    const uint64_t half = UINT64_C(10000000000000000000);
    uint32_t at = DIGITS_ROOM;

    while (rest > UINT64_MAX) { /* 64-bit divisions of the low half */
        uint64_t low = (uint64_t)(rest % half);
        rest /= half;
        for (uint32_t i = 0; i < HALF_DIGITS; i++, low /= 10)
            digits[--at] = (char)('0' + low % 10);
    }
    uint64_t high = (uint64_t)rest;
    for (; high >= 100000000; high /= 100000000)
        digits_put_eight((uint32_t)(high % 100000000), digits + (at -= 8));
    char room[8];
    uint32_t n = digits_put_number((uint32_t)high, room);
    memcpy(digits + (at -= n), room, n);
    return DIGITS_ROOM - at;
}

static uint32_t put_plain(bool negative, const char *digits, uint32_t n, uint32_t scale, char *out)
{
    uint32_t at = 0, integer = n > scale ? n - scale : 0;

    if (negative)
        out[at++] = '-';
    if (integer == 0)
        out[at++] = '0';
    memcpy(out + at, digits, integer);
    at += integer;
    if (scale == 0)
        return at;
    out[at++] = '.';
    for (uint32_t i = n; i < scale; i++)
        out[at++] = '0';
    memcpy(out + at, digits + integer, n - integer);
    return at + n - integer;
}

/* Amounts: digits of 64 bits, of which the last ones move on by the point. 0: print it otherwise.
 */
static uint32_t print_amount(__int128 v, uint32_t scale, char *out)
{
    const int64_t value = (int64_t)v;
    const uint32_t n = v == value && scale - 1 < 8 ? mr_value_print_integer(value, out) : 0;
    uint64_t fraction;

    if (n <= scale + (value < 0)) /* zeros are missing */
        return 0;
    memcpy(&fraction, out + n - scale, sizeof fraction);
    out[n - scale] = '.';
    memcpy(out + n - scale + 1, &fraction, sizeof fraction);
    return n + 1;
}

uint32_t mr_value_print_decimal(__int128 v, uint32_t scale, char *out)
{
    char digits[DIGITS_ROOM];
    uint32_t n = print_amount(v, scale, out);

    if (n > 0)
        return n;
    n = print_magnitude(v, digits);
    return put_plain(v < 0, digits + DIGITS_ROOM - n, n, scale, out);
}

uint32_t mr_value_print_decimal_short(__int128 v, uint32_t scale, char *out)
{
    char room[DIGITS_ROOM];
    uint32_t n = print_magnitude(v, room), at = 0;
    const char *digits = room + DIGITS_ROOM - n;
    int32_t exponent = (int32_t)n - 1 - (int32_t)scale;

    if (exponent >= -6)
        return put_plain(v < 0, digits, n, scale, out);
    if (v < 0)
        out[at++] = '-';
    out[at++] = digits[0];
    if (n > 1) {
        out[at++] = '.';
        memcpy(out + at, digits + 1, n - 1);
        at += n - 1;
    }
    out[at++] = 'E';
    return at + mr_value_print_integer(exponent, out + at);
}
