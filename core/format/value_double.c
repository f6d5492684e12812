#include "core/base/check.h"
#include "core/format/java_digits.h"
#include "core/format/value.h"
#include "core/format/value_charconv.h"
#include "core/format/value_digits.h"

#include <ctype.h>
#include <math.h>

/* ---- parsing ---- */

enum { FAST_DIGITS = 19, FAST_EXPONENT_F64 = 22, FAST_EXPONENT_F32 = 10 };

static const double powers_f64[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number cut in its parts: text is [-]digits[.digits][e..], as charconv takes it. */
struct number {
    struct mr_text text; /* without sign and type suffix */
    bool negative;
    bool exact; /* mantissa * 10^exponent is the value */
    uint64_t mantissa;
    int32_t exponent;
    int32_t magnitude; /* of the first digit that is not 0; INT32_MIN: all are 0 */
};

/* e[+-]digits at *at, if it is there; false when it is broken. Clamped far beyond any double. */
static bool scan_exponent(struct mr_text t, uint64_t *at, int32_t *exponent)
{
    bool negative = false;
    int32_t value = 0;

    *exponent = 0;
    if (*at == t.n || (t.data[*at] | 0x20) != 'e')
        return true;
    ++*at;
    if (*at < t.n && (t.data[*at] == '+' || t.data[*at] == '-'))
        negative = t.data[(*at)++] == '-';
    if (*at == t.n || !mr_is_digit(t.data[*at]))
        return false;
    for (; *at < t.n && mr_is_digit(t.data[*at]); ++*at)
        if (value < 100000000)
            value = value * 10 + (t.data[*at] - '0');
    *exponent = negative ? -value : value;
    return true;
}

/* Java's decimal floating point literals, after the sign. */
static bool scan_decimal(struct mr_text t, struct number *out)
{
    uint64_t at = 0, mantissa = 0;
    int64_t first = INT64_MIN, place = 0; /* places before the point count up, behind it down */
    uint32_t digits = 0, significant = 0;
    int32_t exponent;

    for (; at < t.n && mr_is_digit(t.data[at]); at++, digits++) {
        significant += significant > 0 || t.data[at] != '0';
        if (significant == 1 && first == INT64_MIN)
            first = (int64_t)at;
        mantissa = mantissa * 10 + (uint64_t)(t.data[at] - '0');
    }
    int64_t integer_digits = (int64_t)digits;
    if (at < t.n && t.data[at] == '.') {
        for (at++; at < t.n && mr_is_digit(t.data[at]); at++, digits++, place--) {
            significant += significant > 0 || t.data[at] != '0';
            if (significant == 1 && first == INT64_MIN)
                first = integer_digits - place;
            mantissa = mantissa * 10 + (uint64_t)(t.data[at] - '0');
        }
    }
    if (digits == 0 || !scan_exponent(t, &at, &exponent))
        return false;
    out->text = (struct mr_text){t.data, at};
    if (at < t.n && ((t.data[at] | 0x20) == 'd' || (t.data[at] | 0x20) == 'f'))
        at++;
    out->mantissa = mantissa;
    out->exact = significant <= FAST_DIGITS;
    out->exponent = exponent + (int32_t)place;
    out->magnitude = first == INT64_MIN ? INT32_MIN : (int32_t)(integer_digits - first) + exponent;
    return at == t.n;
}

/* 0x1.8p3: rare, so only its frame is checked here. */
static bool scan_hex(struct mr_text t, struct number *out)
{
    if (t.n < 3 || t.data[0] != '0' || (t.data[1] | 0x20) != 'x' ||
        !(isxdigit((unsigned char)t.data[2]) || t.data[2] == '.'))
        return false;
    uint64_t p = 2;
    while (p < t.n && (t.data[p] | 0x20) != 'p')
        p++;
    if (p + 1 >= t.n)
        return false;
    char last = (char)(t.data[t.n - 1] | 0x20);
    uint64_t suffix = last == 'd' || last == 'f';
    out->text = (struct mr_text){t.data + 2, t.n - 2 - suffix};
    out->magnitude = t.data[p + 1] == '-' ? -1 : 1;
    return true;
}

/* inf, infinity, nan in any case. */
static bool scan_special(struct mr_text t, double *out)
{
    if (mr_text_equal_ignoring_case(t, MR_TEXT("infinity")) ||
        mr_text_equal_ignoring_case(t, MR_TEXT("inf")))
        *out = (double)INFINITY;
    else if (mr_text_equal_ignoring_case(t, MR_TEXT("nan")))
        *out = (double)NAN;
    else
        return false;
    return true;
}

static struct mr_text cut_sign(struct mr_text t, bool *negative)
{
    *negative = t.n > 0 && t.data[0] == '-';
    if (t.n > 0 && (t.data[0] == '-' || t.data[0] == '+')) {
        t.data++;
        t.n--;
    }
    return t;
}

/* "+nan" and "-nan" are numbers to Java only when written NaN. */
static bool is_signed_nan(struct mr_text whole, struct mr_text t)
{
    return whole.n != t.n && mr_text_equal_ignoring_case(t, MR_TEXT("nan")) &&
           !mr_text_equal(t, MR_TEXT("NaN"));
}

/* "123.45": 1 to 8 characters, digits and at most one point. false: look closer. */
static inline bool parse_short(struct mr_text t, uint32_t *mantissa, uint32_t *fraction_digits)
{
    if (t.n - 1 >= 8)
        return false;
    uint64_t word = word_load_short(t.data, t.n), n = t.n;
    uint64_t difference = word ^ (MR_WORD_ONES * '.');
    uint64_t points = (difference - MR_WORD_ONES) & ~difference & MR_WORD_HIGH;
    uint64_t x = word ^ (MR_WORD_ONES * '0' >> (8 * (8 - n)));

    *fraction_digits = 0;
    if (points) {
        uint32_t at = (uint32_t)__builtin_ctzll(points) & ~7u; /* in bits */
        if (n == 1)
            return false;
        x = (x & ((UINT64_C(1) << at) - 1)) | (x >> at >> 8 << at);
        n--;
        *fraction_digits = (uint32_t)n - at / 8;
    }
    x <<= 8 * (8 - n);
    *mantissa = (uint32_t)word_number(x);
    return word_is_digits(x);
}

bool mr_value_parse_double(struct mr_text t, double *out)
{
    struct number n = {0};
    double value = 0;
    bool overflow = false, hex = false;
    struct mr_text whole = mr_text_trim(t), rest = cut_sign(whole, &n.negative);
    uint32_t mantissa, fraction_digits;

    if (MR_LIKELY(parse_short(rest, &mantissa, &fraction_digits))) {
        value = (double)mantissa / powers_f64[fraction_digits];
        *out = n.negative ? -value : value;
        return true;
    }
    if (scan_decimal(rest, &n)) {
        if (MR_LIKELY(n.exact && n.mantissa <= UINT64_C(1) << 53 &&
                      n.exponent >= -FAST_EXPONENT_F64 && n.exponent <= FAST_EXPONENT_F64)) {
            /* Both operands are exact, so one rounding is the right one (Clinger 1990). */
            value = n.exponent < 0 ? (double)n.mantissa / powers_f64[-n.exponent]
                                   : (double)n.mantissa * powers_f64[n.exponent];
            *out = n.negative ? -value : value;
            return true;
        }
    } else if (scan_special(rest, &value)) {
        *out = n.negative ? -value : value;
        return !is_signed_nan(whole, rest);
    } else if (scan_hex(rest, &n)) {
        hex = true;
    } else {
        return false;
    }
    if (!mr_charconv_parse_f64(n.text.data, n.text.n, hex, &value, &overflow))
        return false;
    if (overflow)
        value = n.magnitude > 0 ? (double)INFINITY : 0;
    *out = n.negative ? -value : value;
    return true;
}

bool mr_value_parse_float(struct mr_text t, float *out)
{
    struct number n = {0};
    double special = 0;
    float value = 0;
    bool overflow = false, hex = false;
    struct mr_text whole = mr_text_trim(t), rest = cut_sign(whole, &n.negative);

    if (scan_decimal(rest, &n)) {
        if (MR_LIKELY(n.exact && n.mantissa <= UINT64_C(1) << 24 &&
                      n.exponent >= -FAST_EXPONENT_F32 && n.exponent <= FAST_EXPONENT_F32)) {
            float power = (float)powers_f64[n.exponent < 0 ? -n.exponent : n.exponent];
            value = n.exponent < 0 ? (float)n.mantissa / power : (float)n.mantissa * power;
            *out = n.negative ? -value : value;
            return true;
        }
    } else if (scan_special(rest, &special)) {
        *out = n.negative ? -(float)special : (float)special;
        return !is_signed_nan(whole, rest);
    } else if (scan_hex(rest, &n)) {
        hex = true;
    } else {
        return false;
    }
    if (!mr_charconv_parse_f32(n.text.data, n.text.n, hex, &value, &overflow))
        return false;
    if (overflow)
        value = n.magnitude > 0 ? INFINITY : 0;
    *out = n.negative ? -value : value;
    return true;
}

/* ---- printing ---- */

enum { PLAIN_EXPONENT_MIN = -3, PLAIN_EXPONENT_MAX = 6 };

static uint32_t print_plain(const char *digits, uint32_t n, int32_t exponent, char *out)
{
    uint32_t at = 0;

    if (exponent < 0) {
        out[at++] = '0';
        out[at++] = '.';
        for (int32_t i = -1; i > exponent; i--)
            out[at++] = '0';
        memcpy(out + at, digits, n);
        return at + n;
    }
    for (uint32_t i = 0; i <= (uint32_t)exponent; i++)
        out[at++] = i < n ? digits[i] : '0';
    out[at++] = '.';
    if (n <= (uint32_t)exponent + 1) {
        out[at++] = '0';
        return at;
    }
    memcpy(out + at, digits + exponent + 1, n - (uint32_t)exponent - 1);
    return at + n - (uint32_t)exponent - 1;
}

static uint32_t print_scientific(const char *digits, uint32_t n, int32_t exponent, char *out)
{
    uint32_t at = 0;

    out[at++] = digits[0];
    out[at++] = '.';
    if (n == 1)
        out[at++] = '0';
    memcpy(out + at, digits + 1, n - 1);
    at += n - 1;
    out[at++] = 'E';
    return at + mr_value_print_integer(exponent, out + at);
}

static uint32_t print_digits(bool negative, const char *digits, uint32_t n, int32_t exponent,
                             char *out)
{
    uint32_t at = 0;

    if (negative)
        out[at++] = '-';
    if (exponent >= PLAIN_EXPONENT_MIN && exponent <= PLAIN_EXPONENT_MAX)
        return at + print_plain(digits, n, exponent, out + at);
    return at + print_scientific(digits, n, exponent, out + at);
}

static uint32_t print_special(double v, char *out)
{
    const char *text = isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity";
    size_t n = strlen(text);

    memcpy(out, text, n);
    return (uint32_t)n;
}

/* Amounts: up to four decimals. A decimal of at most 15 digits that reads back as v is the
 * shortest. */
static uint32_t print_amount(double v, char *out)
{
    enum { SCALE = 10000 };
    double magnitude = fabs(v);
    uint64_t scaled = (uint64_t)(magnitude * SCALE + 0.5);
    uint32_t at = 0, fraction = (uint32_t)(scaled % SCALE);

    if ((double)scaled / SCALE != magnitude)
        return 0;
    if (v < 0)
        out[at++] = '-';
    at += mr_value_print_integer((int64_t)(scaled / SCALE), out + at);
    out[at] = '.';
    digits_put_two(out + at + 1, fraction / 100);
    digits_put_two(out + at + 3, fraction % 100);
    at += 5;
    while (out[at - 1] == '0' && out[at - 2] != '.')
        at--;
    return at;
}

/* Does Java 17 print the n shortest digits, which the C++ library finds fast? v has a fraction, or
 * is a whole number that its type holds exactly (below exact_max), so no decimal of fewer digits
 * lies on the border between two numbers. The form with E has two digits at least, and powers of
 * two have a border of their own. */
static bool shortest_is_java(double magnitude, uint32_t n, double exact_max)
{
    uint64_t bits;

    memcpy(&bits, &magnitude, sizeof bits);
    if (magnitude >= exact_max)
        return false;
    if (magnitude >= 1e-3 && magnitude < 1e7)
        return true;
    return magnitude == floor(magnitude) || (n > 1 && bits << 12 != 0);
}

static uint32_t print_zero(bool negative, char *out)
{
    memcpy(out, negative ? "-0.0" : "0.0", 4);
    return negative ? 4 : 3;
}

uint32_t mr_value_print_double(double v, char *out)
{
    char digits[JAVA_DIGITS_MAX];
    int32_t exponent;
    double magnitude = fabs(v);

    if (v == 0)
        return print_zero(signbit(v) != 0, out);
    if (magnitude >= 1e-3 && magnitude < 1e7) {
        uint32_t amount = print_amount(v, out);
        if (amount > 0)
            return amount;
    }
    if (!isfinite(v))
        return print_special(v, out);
    uint32_t n = mr_charconv_digits_f64(v, digits, &exponent);
    if (MR_UNLIKELY(!shortest_is_java(magnitude, n, 0x1p53)))
        n = mr_java_digits_f64(v, digits, &exponent);
    return print_digits(v < 0, digits, n, exponent, out);
}

uint32_t mr_value_print_float(float v, char *out)
{
    char digits[JAVA_DIGITS_MAX];
    int32_t exponent;

    if (v == 0)
        return print_zero(signbit(v) != 0, out);
    if (!isfinite(v))
        return print_special((double)v, out);
    uint32_t n = mr_charconv_digits_f32(v, digits, &exponent);
    if (MR_UNLIKELY(!shortest_is_java(fabs((double)v), n, 0x1p24)))
        n = mr_java_digits_f32(v, digits, &exponent);
    return print_digits(v < 0, digits, n, exponent, out);
}
