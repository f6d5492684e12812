#include "core/format/value_charconv.h"

#include <charconv>
#include <cmath>
#include <cstring>

/* "d.ddde-05" -> digits and exponent. */
static uint32_t split(const char *text, const char *end, char *digits, int32_t *exponent)
{
    const char *e = static_cast<const char *>(std::memchr(text, 'e', size_t(end - text)));
    uint32_t n = 0;
    int32_t value = 0;

    for (const char *c = text; c < e; c++)
        if (*c != '.')
            digits[n++] = *c;
    for (const char *c = e + 2; c < end; c++)
        value = value * 10 + (*c - '0');
    *exponent = e[1] == '-' ? -value : value;
    return n;
}

template <typename T> static uint32_t shortest(T v, char *digits, int32_t *exponent)
{
    char text[64];
    v = std::fabs(v);
    auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific).ptr;
    return split(text, end, digits, exponent);
}

uint32_t mr_charconv_digits_f64(double v, char *digits, int32_t *exponent)
{
    return shortest(v, digits, exponent);
}

uint32_t mr_charconv_digits_f32(float v, char *digits, int32_t *exponent)
{
    return shortest(v, digits, exponent);
}

template <typename T>
static bool parse(const char *data, uint64_t n, bool hex, T *out, bool *overflow)
{
    auto form = hex ? std::chars_format::hex : std::chars_format::general;
    auto result = std::from_chars(data, data + n, *out, form);

    *overflow = result.ec == std::errc::result_out_of_range;
    return result.ec != std::errc::invalid_argument && result.ptr == data + n;
}

bool mr_charconv_parse_f64(const char *data, uint64_t n, bool hex, double *out, bool *overflow)
{
    return parse(data, n, hex, out, overflow);
}

bool mr_charconv_parse_f32(const char *data, uint64_t n, bool hex, float *out, bool *overflow)
{
    return parse(data, n, hex, out, overflow);
}
