/* Strings and names. Jackson decodes UTF-8 leniently (overlong forms, surrogates in three bytes)
 * into UTF-16, and Java writes UTF-8 from that: pairs are joined, a lone surrogate becomes "?". */
#include "core/format/json/reader.h"
#include "core/format/utf8.h"

enum json_token json_reader_fail(struct json_reader *r, const char *reason)
{
    r->reason = reason;
    return JSON_ERROR;
}

struct units {
    uint8_t *out;
    bool keep;     /* lone surrogates as three bytes */
    uint32_t high; /* a surrogate that waits for its other half; 0: none */
};

static void put_lone(struct units *u, uint32_t unit)
{
    u->out += mr_utf8_put(u->keep ? unit : '?', u->out);
}

static void put_unit(struct units *u, uint32_t unit)
{
    if (u->high) {
        if (unit >= 0xdc00 && unit < 0xe000) {
            u->out += mr_utf8_put(0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00), u->out);
            u->high = 0;
            return;
        }
        put_lone(u, u->high);
        u->high = 0;
    }
    if (unit >= 0xd800 && unit < 0xdc00)
        u->high = unit;
    else if (unit >= 0xdc00 && unit < 0xe000)
        put_lone(u, unit);
    else
        u->out += mr_utf8_put(unit, u->out);
}

/* Four bytes stand for two units, whatever their value. */
static void put_code(struct units *u, int32_t code)
{
    if (code < 0) { /* behind a four-byte form: code + 0x10000 */
        put_unit(u, (uint32_t)(0xd800 | (code >> 10)) & 0xffff);
        put_unit(u, 0xdc00 | ((uint32_t)code & 0x3ff));
        return;
    }
    put_unit(u, (uint32_t)code);
}

/* One character of two bytes and more at r->p. */
static bool read_multibyte(struct json_reader *r, struct units *u)
{
    uint8_t first = *r->p;
    uint32_t n = (first & 0xe0) == 0xc0   ? 2
                 : (first & 0xf0) == 0xe0 ? 3
                 : (first & 0xf8) == 0xf0 ? 4
                                          : 0;

    r->p++;
    if (n == 0) {
        json_reader_fail(r, "invalid UTF-8 start byte");
        return false;
    }
    int32_t code = first & (0xff >> (n + 1));
    for (uint32_t i = 1; i < n; i++) {
        if (r->p == r->end) {
            json_reader_fail(r, "the text ends within a character");
            return false;
        }
        uint8_t c = *r->p++;
        if ((c & 0xc0) != 0x80) {
            json_reader_fail(r, "invalid UTF-8 middle byte");
            return false;
        }
        code = code << 6 | (c & 0x3f);
    }
    if (n == 4 && code >= 0x10000) {
        code -= 0x10000;
        put_unit(u, 0xd800 | (uint32_t)code >> 10);
        put_unit(u, 0xdc00 | ((uint32_t)code & 0x3ff));
    } else {
        put_code(u, n == 4 ? code - 0x10000 : code);
    }
    return true;
}

static int32_t read_unicode_escape(struct json_reader *r)
{
    int32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        int digit = r->p < r->end ? mr_hex_digit((char)*r->p++) : -1;
        if (digit < 0) {
            json_reader_fail(r, "a \\u escape without four hex digits");
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

int32_t json_read_escape(struct json_reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

    if (r->p == r->end) {
        json_reader_fail(r, "the text ends within an escape");
        return -1;
    }
    uint8_t c = *r->p++;
    if (c == 'u')
        return read_unicode_escape(r);
    const char *known = c ? strchr(from, c) : NULL;
    if (known)
        return to[known - from];
    if (!r->options->any_escape && !(r->options->single_quotes && c == '\'')) {
        json_reader_fail(r, "unrecognized character escape");
        return -1;
    }
    return c;
}

static bool read_escape(struct json_reader *r, struct units *u)
{
    int32_t unit = json_read_escape(r);

    if (unit < 0)
        return false;
    if (unit >= 0x80 && r->p[-1] == unit) { /* an escaped character of several bytes */
        r->p--;
        return read_multibyte(r, u);
    }
    put_unit(u, (uint32_t)unit);
    return true;
}

/* One character, escape or not, that is no closing quote. */
static bool read_character(struct json_reader *r, struct units *u)
{
    uint8_t c = *r->p;

    if (c == '\\') {
        r->p++;
        return read_escape(r, u);
    }
    if (c >= 0x80)
        return read_multibyte(r, u);
    r->p++;
    if (c < 0x20 && !r->options->control_chars) {
        json_reader_fail(r, "a control character in a text");
        return false;
    }
    put_unit(u, c);
    return true;
}

/* The end of a run that needs no change: plain ASCII, and no quote of this kind. */
static const uint8_t *plain_run(const uint8_t *p, const uint8_t *end, uint8_t quote)
{
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '\\' && *p != quote)
        p++;
    return p;
}

bool json_read_string(struct json_reader *r, uint8_t quote, bool name, struct mr_text *text)
{
    const uint8_t *start = r->p;

    r->p = plain_run(r->p, r->end, quote);
    if (r->p < r->end && *r->p == quote) {
        *text = (struct mr_text){(const char *)start, (uint64_t)(r->p++ - start)};
    } else {
        /* a character of n bytes gives at most as many, an escape fewer; one more for a last "?" */
        const uint8_t *close = r->p;
        while (close < r->end && *close != quote)
            close += *close == '\\' && r->end - close > 1 ? 2 : 1;
        uint8_t *out = mr_arena_alloc(r->scratch, (size_t)(close - start) + 8);
        memcpy(out, start, (size_t)(r->p - start));
        struct units u = {.out = out + (r->p - start), .keep = r->keep_surrogates};
        for (;;) {
            if (r->p == r->end) {
                json_reader_fail(r, "the text ends within a string");
                return false;
            }
            if (*r->p == quote)
                break;
            if (!read_character(r, &u))
                return false;
        }
        r->p++;
        if (u.high)
            put_lone(&u, u.high);
        *text = (struct mr_text){(const char *)out, (uint64_t)(u.out - out)};
    }
    if (name && text->n > JSON_NAME_MAX) {
        json_reader_fail(r, "a name is too long");
        return false;
    }
    return true;
}

bool json_pass_string(struct json_reader *r)
{
    uint8_t sink[8];

    for (;;) {
        r->p = plain_run(r->p, r->end, '"');
        if (r->p == r->end) {
            json_reader_fail(r, "the text ends within a string");
            return false;
        }
        if (*r->p == '"') {
            r->p++;
            return true;
        }
        struct units u = {.out = sink};
        if (!read_character(r, &u))
            return false;
    }
}

/* What Jackson allows in names without quotes: of bytes above 0x7f those that are letters in
 * Latin-1, though they are parts of characters. */
static bool is_name_byte(const struct json_reader *r, uint8_t c)
{
    if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
        return true;
    if (c >= 0x80 && !r->options->from_characters)
        return c < 0xa0 || (c >= 0xa2 && c <= 0xa5) || c == 0xaa || c == 0xad || c == 0xb5 ||
               c == 0xba || (c >= 0xc0 && c != 0xd7 && c != 0xf7);
    return c >= 0x80 || c == '_' || c == '$' || c == '@' || c == '#' || c == '*' || c == '-' ||
           c == '+';
}

bool json_read_bare_name(struct json_reader *r, struct mr_text *text)
{
    const uint8_t *start = r->p;

    while (r->p < r->end && is_name_byte(r, *r->p))
        r->p++;
    *text = (struct mr_text){(const char *)start, (uint64_t)(r->p - start)};
    for (const uint8_t *p = start; p < r->p;) {
        uint32_t n = mr_utf8_length(p);
        if (n == 0 || n > (uint64_t)(r->p - p)) {
            json_reader_fail(r, "a name that is no UTF-8");
            return false;
        }
        p += n;
    }
    if (text->n == 0 || text->n > JSON_NAME_MAX) {
        r->p += text->n == 0 && r->p < r->end;
        json_reader_fail(r, "a member without a quoted name");
        return false;
    }
    return true;
}
