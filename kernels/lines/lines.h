/* lines.h - where records end.
 *
 * Out      Positions go to out in ascending order. out has room for max + MR_LINES_SLACK: a variant
 *          may write, but not count, a few more than max.
 * Return   How many were found, at most max. *scanned: bytes looked at; all ends in [0, *scanned)
 *          were found. A full out stops the scan early.
 */
#pragma once
#include "kernels/kernels.h"

enum { MR_LINES_SLACK = 64 };

struct mr_lines_kernels {
    const char *isa;
    /* '\n' and '\r' alike */
    uint32_t (*find_ends)(uint32_t *out, uint32_t max, const uint8_t *data, uint32_t n,
                          uint32_t *scanned);
    uint32_t (*find_byte)(uint32_t *out, uint32_t max, const uint8_t *data, uint32_t n,
                          uint8_t byte, uint32_t *scanned);
};

extern const struct mr_lines_kernels mr_lines_scalar;
extern const struct mr_lines_kernels mr_lines_avx2;
extern const struct mr_lines_kernels *const mr_lines_variants[]; /* best first, scalar, NULL */
extern const struct mr_lines_kernels *mr_lines;

void mr_lines_choose(enum mr_isa isa);
