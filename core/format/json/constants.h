/* constants.h - vectors of the SIMD variants, in memory: the compiler would else make each of them
 * anew for each use, three instructions at a time.
 */
#pragma once
#include <stdint.h>

struct json_constants {
    uint8_t quotes[32], escapes[32], blanks[32];
    uint8_t zeros[16] /* '0' */, nines[16] /* 9 */;
    /* [16 - n, 32 - n): a shuffle that moves the first n bytes to the end and clears the rest. */
    uint8_t align_right[32];
    /* [16 - n, 32 - n): ones in the first n bytes. */
    uint8_t first_bytes[32];
};
/* hidden: addressed without a detour */
extern const struct json_constants json_constants __attribute__((visibility("hidden")));
