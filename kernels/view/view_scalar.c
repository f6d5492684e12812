#include "kernels/view/view_body.h"

/* Without branches: texts of one length often begin alike. */
#define EQUAL_LOOP(name, y_of)                                                                     \
    static void name(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n)             \
    {                                                                                              \
        for (uint32_t at = 0; at < n; at += 64) {                                                  \
            const uint32_t rows = n - at < 64 ? n - at : 64;                                       \
            uint64_t word = 0;                                                                     \
            for (uint32_t k = 0; k < rows; k++) {                                                  \
                const uint64_t *a = x + (uint64_t)(at + k) * MR_VIEW_WORDS, *b = y_of;             \
                const uint64_t is_long = (uint32_t)a[0] > INLINE_BYTES;                            \
                word |= ((uint64_t)(a[0] == b[0]) & ((uint64_t)(a[1] == b[1]) | is_long)) << k;    \
            }                                                                                      \
            bits[at / 64] = word;                                                                  \
        }                                                                                          \
    }

EQUAL_LOOP(equal, y + (uint64_t)(at + k) * MR_VIEW_WORDS)
EQUAL_LOOP(equal_by, y)

static inline bool are_blocks(const char *text, const struct mr_view_piece *p, const char *end,
                              const struct mr_view_piece *q)
{
    uint64_t x[4], y[4], mask[4];

    memcpy(x, text, MR_VIEW_BLOCK);
    memcpy(x + 2, end, MR_VIEW_BLOCK);
    memcpy(y, p->text, MR_VIEW_BLOCK);
    memcpy(y + 2, q->text, MR_VIEW_BLOCK);
    memcpy(mask, p->mask, MR_VIEW_BLOCK);
    memcpy(mask + 2, q->mask, MR_VIEW_BLOCK);
    return (((x[0] & mask[0]) ^ y[0]) | ((x[1] & mask[1]) ^ y[1]) | ((x[2] & mask[2]) ^ y[2]) |
            ((x[3] & mask[3]) ^ y[3])) == 0;
}

static inline uint64_t find_here(const char *text, uint64_t n, const char *what, uint64_t m)
{
    enum { TRIES = 8 }; /* first bytes that lead to nothing, before memmem's preparations pay */
    const char *at = text, *end = text + n;

    for (uint32_t i = 0; i < TRIES; i++, at++) {
        if ((uint64_t)(end - at) < m || (at = memchr(at, *what, (uint64_t)(end - at) - m + 1)) == 0)
            return UINT64_MAX;
        if (memcmp(at, what, m) == 0)
            return (uint64_t)(at - text);
    }
    at = memmem(at, (uint64_t)(end - at), what, m);
    return at ? (uint64_t)(at - text) : UINT64_MAX;
}

static struct mr_view_span span(const uint64_t *views, uint32_t n)
{
    struct mr_view_span s = {.from_heap = UINT32_MAX, .from = UINT32_MAX};

    for (uint32_t i = 0; i < n; i++)
        span_one(&s, views + (uint64_t)i * MR_VIEW_WORDS);
    return s;
}

static bool is_ascii(const char *text, uint64_t n)
{
    uint8_t all = 0;

    for (uint64_t i = 0; i < n; i++)
        all |= (uint8_t)text[i];
    return all < 0x80;
}

const struct mr_view_kernels mr_view_scalar = VIEW_TABLE("scalar");
