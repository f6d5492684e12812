#include "core/format/value.h"
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

enum { SAFE_DIGITS = 18 }; /* fit in 63 bits whatever they are */

bool mr_value_parse_integer(struct mr_text t, int64_t min, int64_t max, int64_t *out)
{
    t = trim_controls(t);
    const char *at = t.data, *end = t.data + t.n;
    bool negative = t.n > 0 && *at == '-';
    uint64_t value = 0;

    if (t.n > 0 && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    const char *safe = end - at > SAFE_DIGITS ? at + SAFE_DIGITS : end;
    for (; at < safe; at++) {
        uint64_t digit = (uint64_t)(unsigned char)*at - '0';
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    for (; at < end; at++) {
        uint64_t digit = (uint64_t)(unsigned char)*at - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (value > (uint64_t)INT64_MAX + negative)
        return false;
    int64_t signed_value = negative ? (int64_t)(0 - value) : (int64_t)value;
    if (signed_value < min || signed_value > max)
        return false;
    *out = signed_value;
    return true;
}

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "68697071727374757677787980818283848586878889909192939495969798"
    "99";

uint32_t mr_value_print_integer(int64_t v, char *out)
{
    char digits[20];
    uint32_t at = sizeof digits, n = 0;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    while (rest >= 100) {
        at -= 2;
        memcpy(digits + at, digit_pairs + rest % 100 * 2, 2);
        rest /= 100;
    }
    if (rest >= 10) {
        at -= 2;
        memcpy(digits + at, digit_pairs + rest * 2, 2);
    } else {
        digits[--at] = (char)('0' + rest);
    }
    if (v < 0)
        out[n++] = '-';
    memcpy(out + n, digits + at, sizeof digits - at);
    return n + (uint32_t)sizeof digits - at;
}
