/* view_body.h - the loops, written so that the compiler makes vectors of them. Included by each
 * variant. */
#pragma once
#include "kernels/view/view.h"

enum { INLINE_BYTES = 12 };

static void lengths(int32_t *out, const uint64_t *views, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (int32_t)views[(uint64_t)i * MR_VIEW_WORDS];
}

static bool is_ascii(const char *text, uint64_t n)
{
    uint8_t all = 0;

    for (uint64_t i = 0; i < n; i++)
        all |= (uint8_t)text[i];
    return all < 0x80;
}

#define VIEW_TABLE(name)                                                                           \
    {                                                                                              \
        .isa = name, .lengths = lengths, .equal = equal, .equal_by = equal_by,                     \
        .is_ascii = is_ascii, .find = find,                                                        \
    }
