/* copy.h - copies of a few bytes, as keys and texts have, without a call.
 *
 * What     Up to 16 bytes go by two loads that may overlap; more by memcpy. n may be 0.
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
    } else {
        for (uint64_t i = 0; i < n; i++)
            ((char *)to)[i] = ((const char *)from)[i];
    }
}
