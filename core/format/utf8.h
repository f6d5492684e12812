/* utf8.h - one character of UTF-8, strictly: no surrogates, no overlong forms, nothing above
 * U+10FFFF. */
#pragma once
#include "core/mem/arena.h"
#include <stdbool.h>

/* Bytes of the character at p (1 to 4), or 0: it is not valid. Three bytes behind p are
 * readable. */
static inline uint32_t mr_utf8_length(const uint8_t *p)
{
#define MR_UTF8_TAIL(x) (((x)&0xc0) == 0x80)
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4 || !MR_UTF8_TAIL(p[1]))
        return 0;
    if (p[0] < 0xe0)
        return 2;
    if (!MR_UTF8_TAIL(p[2]))
        return 0;
    if (p[0] < 0xf0) {
        if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))
            return 0;
        return 3;
    }
    if (!MR_UTF8_TAIL(p[3]) || (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return 4;
#undef MR_UTF8_TAIL
}

/* Writes a code point; surrogates are not refused. Gives 1 to 4. */
static inline uint32_t mr_utf8_put(uint32_t code, uint8_t *out)
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 | code >> 6);
        out[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 | code >> 12);
        out[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | code >> 18);
    out[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

/* The text itself if it is valid, else a copy in which what is not is replaced by U+FFFD as Java's
 * decoder does it: one for the longest part that could begin a character. Three bytes behind t are
 * readable. */
struct mr_text mr_utf8_replace(struct mr_text t, struct mr_arena *a);
