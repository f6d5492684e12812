#include "core/expr/chars.h"

bool mr_chars_is_ascii(struct mr_text t)
{
    uint64_t all = 0, word;

    if (t.n < sizeof word) {
        for (uint64_t i = 0; i < t.n; i++)
            all |= (uint8_t)t.data[i];
        return all < 0x80;
    }
    for (uint64_t i = 0; i + sizeof word < t.n; i += sizeof word) {
        memcpy(&word, t.data + i, sizeof word);
        all |= word;
    }
    memcpy(&word, t.data + t.n - sizeof word, sizeof word);
    return ((all | word) & UINT64_C(0x8080808080808080)) == 0;
}

uint64_t mr_chars_length(struct mr_text t)
{
    uint64_t n = 0;

    if (mr_chars_is_ascii(t))
        return t.n;
    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at))
        n++;
    return n;
}

uint64_t mr_chars_offset(struct mr_text t, uint64_t index)
{
    uint64_t at = 0;

    if (mr_chars_is_ascii(t))
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
