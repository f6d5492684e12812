#include "core/expr/chars.h"

static bool is_ascii(struct mr_text t)
{
    uint64_t i = 0, word;

    for (; i + 8 <= t.n; i += 8) {
        memcpy(&word, t.data + i, 8);
        if (word & UINT64_C(0x8080808080808080))
            return false;
    }
    for (; i < t.n; i++)
        if (t.data[i] & 0x80)
            return false;
    return true;
}

uint64_t mr_chars_length(struct mr_text t)
{
    uint64_t n = 0;

    if (is_ascii(t))
        return t.n;
    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at))
        n++;
    return n;
}

uint64_t mr_chars_offset(struct mr_text t, uint64_t index)
{
    uint64_t at = 0;

    if (is_ascii(t))
        return index < t.n ? index : t.n;
    for (; index > 0 && at < t.n; index--)
        at = mr_chars_next(t, at);
    return at;
}

uint32_t mr_chars_decode(const char *data, uint64_t n, uint32_t *bytes)
{
    static const uint8_t lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t length = mr_chars_bytes(data[0]), c;

    if (length > n)
        length = 1;
    c = (uint8_t)data[0] & (length == 1 ? 0xff : lead_mask[length]);
    for (uint32_t i = 1; i < length; i++)
        c = c << 6 | ((uint8_t)data[i] & 0x3f);
    *bytes = length;
    return c;
}

uint32_t mr_chars_encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

uint64_t mr_text_find(struct mr_text t, struct mr_text what, uint64_t from)
{
    const char *at;

    if (what.n == 0)
        return from <= t.n ? from : UINT64_MAX;
    if (from >= t.n)
        return UINT64_MAX;
    at = memmem(t.data + from, t.n - from, what.data, what.n);
    return at ? (uint64_t)(at - t.data) : UINT64_MAX;
}
