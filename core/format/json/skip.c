#include "core/format/json/skip.h"

#include "core/format/json/plan.h"
#include "core/format/utf8.h"

const uint8_t *json_string_end(const uint8_t *p)
{
    for (;;) {
        if (*p == '"')
            return p;
        if (*p < 0x20 || *p == '\\')
            return NULL;
        uint32_t n = mr_utf8_length(p);
        if (n == 0)
            return NULL;
        p += n;
    }
}

/* Four hex digits, or -1. */
static int32_t hex_4(const uint8_t *p)
{
    int32_t code = 0;

    for (int i = 0; i < 4; i++) {
        int digit = mr_hex_digit((char)p[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

static bool is_simple_escape(uint8_t c)
{
    return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' ||
           c == 't';
}

const uint8_t *json_escaped_end(const uint8_t *p, bool *escaped)
{
    for (;;) {
        if (*p == '"')
            return p;
        if (*p < 0x20)
            return NULL;
        if (*p == '\\') {
            *escaped = true;
            if (p[1] == 'u' && hex_4(p + 2) >= 0)
                p += 6;
            else if (is_simple_escape(p[1]))
                p += 2;
            else
                return NULL;
            continue;
        }
        uint32_t n = mr_utf8_length(p);
        if (n == 0)
            return NULL;
        p += n;
    }
}

static uint8_t simple_escape(uint8_t c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

/* One \u escape or a pair of them at p; gives the bytes passed over. */
static uint32_t put_unicode(const uint8_t *p, const uint8_t *end, uint8_t **out)
{
    uint32_t code = (uint32_t)hex_4(p + 2);

    if (code >= 0xd800 && code < 0xdc00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
        int32_t low = hex_4(p + 8);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
            *out += mr_utf8_put(code, *out);
            return 12;
        }
    }
    *out += mr_utf8_put(code >= 0xd800 && code < 0xe000 ? '?' : code, *out);
    return 6;
}

uint64_t json_unescape(const uint8_t *p, const uint8_t *end, uint8_t *out)
{
    uint8_t *start = out;

    while (p < end) {
        if (*p != '\\') {
            *out++ = *p++;
        } else if (p[1] == 'u') {
            p += put_unicode(p, end, &out);
        } else {
            *out++ = simple_escape(p[1]);
            p += 2;
        }
    }
    return (uint64_t)(out - start);
}

static const uint8_t *skip_digits(const uint8_t *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

const uint8_t *json_skip_number(const uint8_t *p)
{
    const uint8_t *start = p, *digits;

    p += *p == '-';
    digits = p;
    p = skip_digits(p);
    if (p == digits || (*digits == '0' && p - digits > 1))
        return NULL;
    if (*p == '.') {
        digits = ++p;
        p = skip_digits(p);
        if (p == digits)
            return NULL;
    }
    if ((*p | 0x20) == 'e') {
        p++;
        p += *p == '+' || *p == '-';
        digits = p;
        p = skip_digits(p);
        if (p == digits)
            return NULL;
    }
    return p - start > JSON_NUMBER_MAX ? NULL : p;
}

const uint8_t *json_skip_scalar(const uint8_t *p, bool *escaped)
{
    switch (*p) {
    case '"': {
        const uint8_t *end = json_escaped_end(p + 1, escaped);
        return end ? end + 1 : NULL;
    }
    case 't':
        return memcmp(p, "true", 4) == 0 ? p + 4 : NULL;
    case 'f':
        return memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
    case 'n':
        return memcmp(p, "null", 4) == 0 ? p + 4 : NULL;
    default:
        return *p == '-' || (*p >= '0' && *p <= '9') ? json_skip_number(p) : NULL;
    }
}

static const uint8_t *skip_space(const uint8_t *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* A key with its colon, up to the value. */
static const uint8_t *skip_name(const uint8_t *p)
{
    bool escaped;
    const uint8_t *end = *p == '"' ? json_escaped_end(p + 1, &escaped) : NULL;

    if (end == NULL || end - p > JSON_NAME_MAX)
        return NULL;
    p = skip_space(end + 1);
    return *p == ':' ? skip_space(p + 1) : NULL;
}

const uint8_t *json_skip_nested(const uint8_t *p)
{
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1]; /* bit: that level is an object */
    uint32_t depth = 0;
    bool escaped;

    for (;;) {
        /* p is at a value */
        if (*p == '{' || *p == '[') {
            bool object = *p == '{';
            if (depth == JSON_DEPTH_MAX - 1) /* the record itself is the first level */
                return NULL;
            mr_bit_put(objects, depth++, object);
            p = skip_space(p + 1);
            if (*p != (object ? '}' : ']')) {
                if (object && (p = skip_name(p)) == NULL)
                    return NULL;
                continue;
            }
        } else {
            p = json_skip_scalar(p, &escaped);
            if (p == NULL)
                return NULL;
            p = skip_space(p);
        }
        /* p is behind a value: at a comma, or at the end of one or more levels */
        while (*p == (mr_bit_get(objects, depth - 1) ? '}' : ']')) {
            if (--depth == 0)
                return p + 1;
            p = skip_space(p + 1);
        }
        if (*p != ',')
            return NULL;
        p = skip_space(p + 1);
        if (mr_bit_get(objects, depth - 1) && (p = skip_name(p)) == NULL)
            return NULL;
    }
}
