/* blend.h - values of one column put into another where a bit is set, for all rows 0..n-1.
 *
 * Why      CASE, coalesce and their like take each row from one of several columns: a pass per
 *          column, without a branch on the row.
 * Bits     None beyond n need be 0; nothing is written there.
 */
#pragma once
#include "kernels/kernels.h"

/* out[i] = x[i] where bit i is set. */
typedef void mr_blend_kernel(void *out, const void *x, const uint64_t *bits, uint32_t n);

enum mr_blend_width { MR_BLEND_1, MR_BLEND_2, MR_BLEND_4, MR_BLEND_8, MR_BLEND_16, MR_BLENDS_N };

struct mr_blend_kernels {
    const char *isa;
    mr_blend_kernel *of[MR_BLENDS_N]; /* values of 1, 2, 4, 8 and 16 bytes */
};
extern const struct mr_blend_kernels mr_blend_scalar, mr_blend_avx2;
extern const struct mr_blend_kernels *const mr_blend_variants[]; /* best first, NULL */
extern const struct mr_blend_kernels *mr_blend;
