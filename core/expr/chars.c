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

bool mr_chars_column_is_ascii(const struct mr_column *x, const uint32_t *sel, uint32_t n)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    const char *from = NULL, *to = NULL;
    uint64_t all = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct mr_view *v = &x->views[sel ? sel[i] : i];
        uint64_t words[2];
        memcpy(words, v, sizeof words);
        all |= words[0] >> 32;
        if (v->length <= MR_VIEW_INLINE) {
            all |= words[1];
            continue;
        }
        const char *at = (const char *)x->heaps[v->far.heap] + v->far.offset;
        if (at != to) {
            if (!mr_view->is_ascii(from, (uint64_t)(to - from)))
                return false;
            from = at;
        }
        to = at + v->length;
    }
    return (all & high) == 0 && mr_view->is_ascii(from, (uint64_t)(to - from));
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

    if (index == 0)
        return 0;
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
