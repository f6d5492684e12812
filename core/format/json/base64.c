/* Base64 in strings, read as Jackson reads it: straight from the input, blanks skipped between
 * groups of four, padding required. */
#include "core/format/json/reader.h"

enum { PADDING = 64, BLANK = 65, QUOTE = 66 };

static int digit_of(int32_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? PADDING : -1;
}

/* The next digit, PADDING, or QUOTE (consumed); between groups also BLANK. -1: an error. */
static int next_digit(struct json_reader *r, bool between)
{
    if (r->p == r->end) {
        json_reader_fail(r, "the text ends within a string");
        return -1;
    }
    int32_t c = *r->p++;
    if (c == '"')
        return QUOTE;
    if (between && c <= ' ')
        return BLANK;
    if (c == '\\') {
        c = json_read_escape(r);
        if (c < 0)
            return -1;
        if (between && c <= ' ')
            return BLANK;
    }
    while (c >= 0x80 && r->options->from_characters && r->p < r->end && (*r->p & 0xc0) == 0x80)
        r->p++;
    int digit = digit_of(c);
    if (digit < 0)
        json_reader_fail(r, "no base64");
    return digit;
}

static bool refuse(struct json_reader *r)
{
    json_reader_fail(r, "no base64");
    return false;
}

/* The rest of a group of which the first digit was read: gives its bytes, or 0. */
static uint32_t read_group(struct json_reader *r, int first, uint8_t *out)
{
    int digits[4] = {first};
    uint32_t n = 1;

    for (; n < 4; n++) {
        digits[n] = next_digit(r, false);
        if (digits[n] == QUOTE && n >= 2)
            r->p--; /* padding is missing: Jackson steps back */
        if (digits[n] < 0 || digits[n] == QUOTE || (digits[n] == PADDING && n < 2))
            return refuse(r);
        if (digits[n] == PADDING)
            break;
    }
    if (n == 2 && next_digit(r, false) != PADDING)
        return refuse(r);
    uint32_t bits = (uint32_t)digits[0] << 18 | (uint32_t)digits[1] << 12;
    bits |= n > 2 ? (uint32_t)digits[2] << 6 : 0;
    bits |= n > 3 ? (uint32_t)digits[3] : 0;
    out[0] = (uint8_t)(bits >> 16);
    out[1] = (uint8_t)(bits >> 8);
    out[2] = (uint8_t)bits;
    return n - 1;
}

bool json_read_base64(struct json_reader *r, struct mr_text *out)
{
    const uint8_t *quote = memchr(r->p, '"', (size_t)(r->end - r->p));
    uint64_t most = (uint64_t)((quote ? quote : r->end) - r->p);
    uint8_t *bytes = mr_arena_alloc(r->scratch, most + 3);
    uint64_t n = 0;

    for (;;) {
        int first = next_digit(r, true);
        if (first == BLANK)
            continue;
        if (first == QUOTE)
            break;
        if (first < 0 || first == PADDING)
            return refuse(r);
        uint32_t more = read_group(r, first, bytes + n);
        if (more == 0)
            return false;
        n += more;
    }
    r->unfinished = false;
    *out = (struct mr_text){(const char *)bytes, n};
    return true;
}
