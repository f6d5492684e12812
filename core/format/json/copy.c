#include "core/format/json/copy.h"

#include "core/base/copy.h"
#include "core/format/value.h"
#include <math.h>

/* Control characters, quotes and backslashes as escapes. */
static void write_escaped(struct mr_text t, struct mr_buffer *out)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char from[] = "\"\\\b\f\n\r\t", short_form[] = "\"\\bfnrt";
    uint8_t *to = mr_buffer_reserve(out, t.n * 6), *start = to;

    for (uint64_t i = 0; i < t.n; i++) {
        uint8_t c = (uint8_t)t.data[i];
        const char *known = c && (c < 0x20 || c == '"' || c == '\\') ? strchr(from, c) : NULL;
        if (known) {
            *to++ = '\\';
            *to++ = (uint8_t)short_form[known - from];
        } else if (c < 0x20) {
            memcpy(to, "\\u00", 4);
            to[4] = (uint8_t)hex[c >> 4];
            to[5] = (uint8_t)hex[c & 15];
            to += 6;
        } else {
            *to++ = c;
        }
    }
    out->n += (uint64_t)(to - start);
}

/* Has a word of text no byte that needs an escape? */
static inline bool is_plain_word(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), quote = x ^ ones * '"';
    const uint64_t backslash = x ^ ones * '\\';
    const uint64_t escaped =
        ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash);

    return (escaped & ones * 0x80) == 0;
}

static bool is_plain(struct mr_text t)
{
    uint64_t word;
    bool plain = true;

    if (t.n < sizeof word) {
        const uint64_t blanks = UINT64_C(0x0101010101010101) * ' ' << (8 * t.n);
        return is_plain_word(mr_load_short(t.data, t.n) | blanks);
    }
    for (uint64_t i = 0; plain && i + sizeof word < t.n; i += sizeof word) {
        memcpy(&word, t.data + i, sizeof word);
        plain = is_plain_word(word);
    }
    memcpy(&word, t.data + t.n - sizeof word, sizeof word);
    return plain && is_plain_word(word);
}

void json_copy_string(struct mr_text t, struct mr_buffer *out)
{
    if (is_plain(t)) {
        uint8_t *to = mr_buffer_reserve(out, t.n + 2);
        to[0] = '"';
        mr_copy_short(to + 1, t.data, t.n);
        to[t.n + 1] = '"';
        out->n += t.n + 2;
        return;
    }
    mr_buffer_append(out, "\"", 1);
    write_escaped(t, out);
    mr_buffer_append(out, "\"", 1);
}

/* Quoted; beyond 16 bits as pairs of escapes, and lone surrogates as escapes, as Jackson's
 * generator of bytes has it. */
static void copy_text(struct mr_text t, struct mr_buffer *out)
{
    uint64_t from = 0;

    mr_buffer_append(out, "\"", 1);
    for (uint64_t i = 0; i <= t.n; i++) {
        const uint8_t *p = (const uint8_t *)t.data + i;
        bool wide = i < t.n && *p >= 0xf0, lone = i + 2 < t.n && *p == 0xed && p[1] >= 0xa0;
        if (i < t.n && !wide && !lone)
            continue;
        write_escaped((struct mr_text){t.data + from, i - from}, out);
        if (wide) {
            uint32_t code = ((uint32_t)(p[0] & 7) << 18 | (uint32_t)(p[1] & 63) << 12 |
                             (uint32_t)(p[2] & 63) << 6 | (p[3] & 63)) -
                            0x10000;
            mr_buffer_append_format(out, "\\u%04X\\u%04X", 0xd800 | code >> 10,
                                    0xdc00 | (code & 0x3ff));
            i += 3;
        } else if (lone) {
            mr_buffer_append_format(out, "\\u%04X",
                                    0xd000 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63));
            i += 2;
        }
        from = i + 1;
    }
    mr_buffer_append(out, "\"", 1);
}

/* Java's double; without a finite one, a quoted word. */
static void copy_float(struct mr_text t, struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];
    double x = 0;

    if (t.n && t.data[t.n - 1] == 'F') /* -INF, +INF */
        x = t.data[0] == '-' ? -INFINITY : INFINITY;
    else
        mr_value_parse_double(t, &x);
    uint32_t n = mr_value_print_double(x, text);
    if (isfinite(x))
        mr_buffer_append(out, text, n);
    else
        json_copy_string((struct mr_text){text, n}, out);
}

static void copy_integer(struct mr_text t, struct mr_buffer *out)
{
    if (mr_text_equal(t, MR_TEXT("-0")))
        t = MR_TEXT("0");
    mr_buffer_append_text(out, t);
}

static void copy_scalar(struct json_reader *r, struct mr_buffer *out)
{
    switch (r->token) {
    case JSON_STRING:
        copy_text(r->text, out);
        break;
    case JSON_INTEGER:
        copy_integer(r->text, out);
        break;
    case JSON_FLOAT:
        copy_float(r->text, out);
        break;
    case JSON_TRUE:
        mr_buffer_append_text(out, MR_TEXT("true"));
        break;
    case JSON_FALSE:
        mr_buffer_append_text(out, MR_TEXT("false"));
        break;
    default:
        mr_buffer_append_text(out, MR_TEXT("null"));
        break;
    }
}

static bool copy_value(struct json_reader *r, struct mr_arena *scratch, struct mr_text *out)
{
    struct mr_buffer b;
    uint32_t open = 0;
    bool comma = false; /* one is due before the next token */

    mr_buffer_init(&b, scratch);
    for (;;) {
        bool closes = r->token == JSON_END_OBJECT || r->token == JSON_END_ARRAY;
        if (comma && !closes)
            mr_buffer_append(&b, ",", 1);
        comma = true;
        switch (r->token) {
        case JSON_START_OBJECT:
        case JSON_START_ARRAY:
            mr_buffer_append(&b, r->token == JSON_START_OBJECT ? "{" : "[", 1);
            open++;
            comma = false;
            break;
        case JSON_END_OBJECT:
        case JSON_END_ARRAY:
            mr_buffer_append(&b, r->token == JSON_END_OBJECT ? "}" : "]", 1);
            open--;
            break;
        case JSON_FIELD_NAME:
            copy_text(*json_reader_name(r), &b);
            mr_buffer_append(&b, ":", 1);
            comma = false;
            break;
        default:
            if (r->token == JSON_STRING && !json_reader_finish(r))
                return false;
            copy_scalar(r, &b);
            break;
        }
        if (open == 0)
            break;
        enum json_token token = json_reader_next(r);
        if (token == JSON_ERROR || token == JSON_END)
            return false;
    }
    *out = mr_buffer_text(&b);
    return true;
}

bool json_copy_text(struct json_reader *r, struct mr_arena *scratch, struct mr_text *out)
{
    r->keep_surrogates = true;
    bool good = copy_value(r, scratch, out);
    r->keep_surrogates = false;
    return good;
}
