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

enum { WORD_DIGITS = 8, POWER_8 = 100000000 };

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
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, head = rest / POWER_8;
    uint32_t n = 0;

    if (v < 0)
        out[n++] = '-';
    if (head == 0)
        return n + digits_put_number((uint32_t)rest, out + n);
    if (head < POWER_8) {
        n += digits_put_number((uint32_t)head, out + n);
    } else {
        n += digits_put_number((uint32_t)(head / POWER_8), out + n);
        digits_put_eight((uint32_t)(head % POWER_8), out + n);
        n += WORD_DIGITS;
    }
    digits_put_eight((uint32_t)(rest % POWER_8), out + n);
    return n + WORD_DIGITS;
}

bool mr_value_parse_digits(const struct mr_view *v, int64_t *out)
{
    const uint64_t n = (uint32_t)v->length;
    uint64_t x;

    if (n - 1 >= WORD_DIGITS)
        return false;
    x = (word_load(v->inlined) ^ MR_WORD_ONES * '0' >> (8 * (8 - n))) << (8 * (8 - n));
    *out = (int64_t)word_number(x);
    return word_is_digits(x);
}
