#include "core/format/java_digits.h"

#include "core/base/check.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    MANTISSA_BITS = 53,      /* the first of them is set, as in a normal double */
    WHOLE_EXPONENT_MAX = 62, /* whole numbers up to here are printed as such */
    PLAIN_EXPONENT_MIN = -3, /* outside of it the form with E, which has two digits at least */
    PLAIN_EXPONENT_MAX = 7,
    FIVE_POWER_MAX = 27, /* 5^27 fits in 63 bits */
    SMALL_BITS = 64,
};

struct binary {
    uint64_t mantissa; /* 53 bits */
    int32_t exponent;  /* v = mantissa / 2^52 * 2^exponent */
    int32_t bits;      /* how many of the mantissa the number really had */
};

/* ---- exact numbers ---- */

enum { LIMBS = 20 }; /* 5^325 * 2^54 * 10 has 824 bits, 2^1024 / 5^.. less than 1100 */

struct big {
    uint64_t limb[LIMBS];
    uint32_t n;
};

static void big_multiply(struct big *b, uint64_t factor)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        unsigned __int128 product = (unsigned __int128)b->limb[i] * factor + carry;
        b->limb[i] = (uint64_t)product;
        carry = (uint64_t)(product >> 64);
    }
    if (carry) {
        MR_ASSERT(b->n < LIMBS);
        b->limb[b->n++] = carry;
    }
}

static uint64_t five_to(uint32_t power)
{
    uint64_t value = 1;

    while (power-- > 0)
        value *= 5;
    return value;
}

/* value * 5^fives * 2^twos */
static void big_make(struct big *b, uint64_t value, uint32_t fives, uint32_t twos)
{
    *b = (struct big){{value}, 1};
    for (; fives >= FIVE_POWER_MAX; fives -= FIVE_POWER_MAX)
        big_multiply(b, five_to(FIVE_POWER_MAX));
    big_multiply(b, five_to(fives));
    for (; twos >= 32; twos -= 32)
        big_multiply(b, UINT64_C(1) << 32);
    big_multiply(b, UINT64_C(1) << twos);
}

static int big_compare(const struct big *a, const struct big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void big_add(struct big *a, const struct big *b)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < b->n || carry; i++) {
        MR_ASSERT(i < LIMBS);
        unsigned __int128 sum =
            (unsigned __int128)(i < a->n ? a->limb[i] : 0) + (i < b->n ? b->limb[i] : 0) + carry;
        a->limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
        if (i >= a->n)
            a->n = i + 1;
    }
}

/* a -= b, which is not greater. */
static void big_subtract(struct big *a, const struct big *b)
{
    uint64_t borrow = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t low = i < b->n ? b->limb[i] : 0;
        unsigned __int128 difference = (unsigned __int128)a->limb[i] - low - borrow;
        a->limb[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    while (a->n > 1 && a->limb[a->n - 1] == 0)
        a->n--;
}

/* ---- digits ---- */

/* rest / scale is what is left of the number, border / scale half the distance to the next one. */
struct state {
    struct big rest, scale, border, scale_by_ten;
    bool border_counts; /* a digit that ends exactly on the border reads back */
    bool low, high;     /* stopping here reads back, one more in the last digit does */
};

static char next_digit(struct state *s)
{
    char digit = '0';
    struct big sum;

    while (big_compare(&s->rest, &s->scale) >= 0) {
        big_subtract(&s->rest, &s->scale);
        digit++;
    }
    big_multiply(&s->rest, 10);
    big_multiply(&s->border, 10);
    s->low = big_compare(&s->rest, &s->border) < 0;
    sum = s->rest;
    big_add(&sum, &s->border);
    s->high = big_compare(&sum, &s->scale_by_ten) >= (s->border_counts ? 0 : 1);
    return digit;
}

/* Gives whether all were nines: the digits are 10.. now. */
static bool round_up(char *digits, uint32_t n)
{
    while (n > 0 && digits[n - 1] == '9')
        digits[--n] = '0';
    if (n == 0) {
        digits[0] = '1';
        return true;
    }
    digits[n - 1]++;
    return false;
}

static bool rounds_up(struct state *s, char last)
{
    if (!s->low || !s->high)
        return s->high;
    big_multiply(&s->rest, 2);
    int order = big_compare(&s->rest, &s->scale_by_ten);
    return order == 0 ? (last & 1) != 0 : order > 0;
}

/* Java guesses the decimal exponent by a line through the logarithm: at most one too high. */
static int32_t guess_exponent(const struct binary *v)
{
    double of_mantissa = ldexp((double)v->mantissa, 1 - MANTISSA_BITS);

    return (int32_t)floor((of_mantissa - 1.5) * 0.289529654 + 0.176091259 +
                          v->exponent * 0.301029995663981);
}

static uint32_t five_bits(int32_t power)
{
    return power < FIVE_POWER_MAX
               ? 64 - (uint32_t)__builtin_clzll(five_to((uint32_t)power)) - (power == 0)
               : (uint32_t)power * 3;
}

static int32_t at_least(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Gives the decimal exponent that was guessed. fraction_bits: behind the binary point, at least
 * 0. */
static int32_t prepare(struct state *s, const struct binary *v, int32_t mantissa_bits,
                       int32_t fraction_bits)
{
    int32_t exponent = guess_exponent(v);
    int32_t rest_fives = at_least(0, -exponent), scale_fives = at_least(0, exponent);
    int32_t rest_twos = rest_fives + fraction_bits + v->exponent;
    int32_t scale_twos = scale_fives + fraction_bits;
    int32_t border_twos = rest_twos - v->bits;

    rest_twos -= mantissa_bits - 1;
    int32_t common = rest_twos < scale_twos ? rest_twos : scale_twos;
    rest_twos -= common;
    scale_twos -= common;
    border_twos -= common;
    if (mantissa_bits == 1)
        border_twos--; /* below a power of two the next number is half as far */
    if (border_twos < 0) {
        rest_twos -= border_twos;
        scale_twos -= border_twos;
        border_twos = 0;
    }
    uint32_t rest_bits = (uint32_t)(mantissa_bits + rest_twos) + five_bits(rest_fives);
    uint32_t scale_bits = (uint32_t)scale_twos + 1 + five_bits(scale_fives + 1);
    s->border_counts = rest_bits >= SMALL_BITS || scale_bits >= SMALL_BITS;
    big_make(&s->rest, v->mantissa >> (MANTISSA_BITS - mantissa_bits), (uint32_t)rest_fives,
             (uint32_t)rest_twos);
    big_make(&s->scale, 1, (uint32_t)scale_fives, (uint32_t)scale_twos);
    big_make(&s->border, 1, (uint32_t)rest_fives, (uint32_t)border_twos);
    s->scale_by_ten = s->scale;
    big_multiply(&s->scale_by_ten, 10);
    return exponent;
}

static uint32_t print_fraction(const struct binary *v, int32_t mantissa_bits, int32_t fraction_bits,
                               char *digits, int32_t *exponent)
{
    struct state s;
    uint32_t n = 0;

    *exponent = prepare(&s, v, mantissa_bits, fraction_bits);
    char digit = next_digit(&s);
    if (digit == '0' && !s.high)
        --*exponent;
    else
        digits[n++] = digit;
    if (*exponent < PLAIN_EXPONENT_MIN || *exponent > PLAIN_EXPONENT_MAX)
        s.low = s.high = false;
    while (!s.low && !s.high)
        digits[n++] = next_digit(&s);
    if (rounds_up(&s, digits[n - 1]) && round_up(digits, n))
        ++*exponent;
    return n;
}

/* Digits below the precision of the number are rounded away, but not all that could be. */
static uint32_t print_whole(const struct binary *v, char *digits, int32_t *exponent)
{
    int32_t shift = v->exponent - (MANTISSA_BITS - 1);
    uint64_t value = shift >= 0 ? v->mantissa << shift : v->mantissa >> -shift;
    uint64_t power = 1,
             doubt = v->exponent > v->bits ? UINT64_C(1) << (v->exponent - v->bits - 1) : 1;
    char reversed[JAVA_DIGITS_MAX];
    uint32_t n = 0;

    for (*exponent = -1; power * 10 <= doubt; power *= 10)
        ++*exponent;
    value = value / power + (power > 1 && value % power >= power / 2);
    for (; value > 0; value /= 10)
        reversed[n++] = (char)('0' + value % 10);
    for (uint32_t i = 0; i < n; i++)
        digits[i] = reversed[n - 1 - i];
    *exponent += (int32_t)n;
    return n;
}

static uint32_t print(const struct binary *v, char *digits, int32_t *exponent)
{
    int32_t mantissa_bits = MANTISSA_BITS - __builtin_ctzll(v->mantissa);
    int32_t fraction_bits = at_least(0, mantissa_bits - v->exponent - 1);
    bool whole = fraction_bits == 0 && v->exponent <= WHOLE_EXPONENT_MAX;
    uint32_t n = whole ? print_whole(v, digits, exponent)
                       : print_fraction(v, mantissa_bits, fraction_bits, digits, exponent);

    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* fraction and exponent as stored; of either width. */
static struct binary normalize(uint64_t fraction, int32_t stored_exponent, int32_t fraction_bits)
{
    int32_t bias = fraction_bits == 52 ? 1023 : 127;
    struct binary v = {fraction, stored_exponent - bias, fraction_bits + 1};

    if (stored_exponent == 0) {
        v.bits = 64 - __builtin_clzll(fraction);
        v.exponent = v.bits - fraction_bits - bias;
    } else {
        v.mantissa |= UINT64_C(1) << fraction_bits;
    }
    v.mantissa <<= MANTISSA_BITS - v.bits;
    return v;
}

uint32_t mr_java_digits_f64(double v, char *digits, int32_t *exponent)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    struct binary b =
        normalize(bits & ((UINT64_C(1) << 52) - 1), (int32_t)(bits >> 52 & 0x7ff), 52);
    return print(&b, digits, exponent);
}

uint32_t mr_java_digits_f32(float v, char *digits, int32_t *exponent)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    struct binary b = normalize(bits & ((1u << 23) - 1), (int32_t)(bits >> 23 & 0xff), 23);
    return print(&b, digits, exponent);
}
