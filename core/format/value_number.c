#include "core/format/value.h"
#include "core/format/value_digits.h"
#include "core/format/value_trim.h"

bool mr_value_parse_boolean(struct mr_text t, bool *out)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"t", true},   {"f", false}, {"1", true},
                 {"0", false},   {"yes", true},    {"no", false}, {"y", true},  {"n", false}};

    t = trim_controls(t);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (mr_text_equal_ignoring_case(t, mr_text_of(words[i].text))) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

enum { WORD_DIGITS = 8 };

/* Any number of digits, at least one; false when it is more than 64 bits. */
static bool parse_digits(const char *at, uint64_t n, uint64_t *value)
{
    const char *end = at + n;

    *value = 0;
    for (; at < end; at++) {
        uint64_t digit = (uint64_t)(unsigned char)*at - '0';
        if (digit > 9 || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return n > 0;
}

bool mr_value_parse_integer(struct mr_text t, int64_t min, int64_t max, int64_t *out)
{
    t = trim_controls(t);
    const char *at = t.data;
    uint64_t n = t.n, value = 0;
    bool negative = n > 0 && *at == '-', ok;

    if (n > 0 && (*at == '-' || *at == '+')) {
        at++;
        n--;
    }
    if (n - 1 < WORD_DIGITS) {
        ok = digits_number(at, n, &value);
    } else if (n - 1 < 2 * WORD_DIGITS) {
        uint64_t head;
        ok = digits_number(at, n - WORD_DIGITS, &head) &&
             digits_number(at + n - WORD_DIGITS, WORD_DIGITS, &value);
        value += head * 100000000;
    } else {
        ok = parse_digits(at, n, &value);
    }
    if (!ok || value > (uint64_t)INT64_MAX + negative)
        return false;
    int64_t signed_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (signed_value < min || signed_value > max)
        return false;
    *out = signed_value;
    return true;
}

const char mr_digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

uint32_t mr_value_print_integer(int64_t v, char *out)
{
    char digits[20];
    uint32_t at = sizeof digits, n = 0;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    while (rest >= 100) {
        at -= 2;
        digits_put_two(digits + at, (uint32_t)(rest % 100));
        rest /= 100;
    }
    if (rest >= 10) {
        at -= 2;
        digits_put_two(digits + at, (uint32_t)rest);
    } else {
        digits[--at] = (char)('0' + rest);
    }
    if (v < 0)
        out[n++] = '-';
    memcpy(out + n, digits + at, sizeof digits - at);
    return n + (uint32_t)sizeof digits - at;
}
