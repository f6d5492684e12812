#include "core/format/utf8.h"

/* Bytes at p, which begin no valid character, that are replaced together. */
static uint32_t broken_length(const uint8_t *p, const uint8_t *end)
{
    uint32_t wanted = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                      : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                      : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                    : 1;
    if (wanted == 1 || end - p < 2 || (p[1] & 0xc0) != 0x80)
        return 1;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 1;
    return wanted == 4 && end - p >= 3 && (p[2] & 0xc0) == 0x80 ? 3 : wanted == 2 ? 1 : 2;
}

/* How many bytes from the start are valid. */
static uint64_t valid_length(const uint8_t *p, uint64_t n)
{
    uint64_t i = 0;

    while (i < n) {
        uint64_t word = ~UINT64_C(0);
        if (n - i >= 8)
            memcpy(&word, p + i, 8);
        if ((word & UINT64_C(0x8080808080808080)) == 0) {
            i += 8;
            continue;
        }
        uint32_t length = mr_utf8_length(p + i);
        if (length == 0 || length > n - i)
            return i;
        i += length;
    }
    return n;
}

struct mr_text mr_utf8_replace(struct mr_text t, struct mr_arena *a)
{
    const uint8_t *from = (const uint8_t *)t.data;
    uint64_t i = valid_length(from, t.n);

    if (i == t.n)
        return t;
    uint8_t *out = mr_arena_alloc(a, t.n * 3), *to = out + i;
    memcpy(out, from, i);
    while (i < t.n) {
        uint32_t n = mr_utf8_length(from + i);
        if (n == 0 || n > t.n - i) {
            to += mr_utf8_put(0xfffd, to);
            i += broken_length(from + i, from + t.n);
        } else {
            memcpy(to, from + i, n);
            to += n;
            i += n;
        }
    }
    return (struct mr_text){(const char *)out, (uint64_t)(to - out)};
}
