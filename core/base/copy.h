/* copy.h - copies of a few bytes, as keys and texts have, without a call.
 *
 * What     short: up to 16 bytes go by two loads that may overlap; more by memcpy. n may be 0.
 *          load_short: fewer than 8, into a register.
 *          blocks: 16 bytes at a time, so that up to MR_COPY_SLACK are read and written behind n,
 *          and as many when n is 0.
 */
#pragma once
#include <stdint.h>
#include <string.h>

static inline void mr_copy_short(void *to, const void *from, uint64_t n)
{
    uint64_t a, b;
    uint32_t c, d;

    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        memcpy(&a, from, 8);
        memcpy(&b, (const char *)from + n - 8, 8);
        memcpy(to, &a, 8);
        memcpy((char *)to + n - 8, &b, 8);
    } else if (n >= 4) {
        memcpy(&c, from, 4);
        memcpy(&d, (const char *)from + n - 4, 4);
        memcpy(to, &c, 4);
        memcpy((char *)to + n - 4, &d, 4);
    } else if (n > 0) {
        const char first = *(const char *)from, middle = ((const char *)from)[n / 2];
        const char last = ((const char *)from)[n - 1];
        *(char *)to = first;
        ((char *)to)[n / 2] = middle;
        ((char *)to)[n - 1] = last;
    }
}

/* n < 8 bytes as a word, the others 0: without a copy that the word would have to wait for. */
static inline uint64_t mr_load_short(const void *from, uint64_t n)
{
    const uint8_t *p = from;
    uint32_t first, last;

    if (n >= 4) {
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        return first | (uint64_t)last << (8 * (n - 4));
    }
    return n == 0
               ? 0
               : p[0] | (uint64_t)p[n / 2] << (8 * (n / 2)) | (uint64_t)p[n - 1] << (8 * (n - 1));
}

enum { MR_COPY_SLACK = 16 };

static inline void mr_copy_blocks(void *to, const void *from, uint64_t n)
{
    uint64_t at = 0, block[2];

    do {
        memcpy(block, (const char *)from + at, sizeof block);
        memcpy((char *)to + at, block, sizeof block);
        at += sizeof block;
    } while (at < n);
}
