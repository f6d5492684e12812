/* select.h - comparisons of whole columns, and bitmaps to selections.
 *
 * What     A comparison fills one bit a row, as BOOLEAN columns have it, for all rows 0..n-1: a
 *          loop over all is faster than a loop over a selection unless very few rows are left, and
 *          no comparison can fail. from_bits then makes the selection.
 * Order    Doubles and floats as in Spark: NaN equals NaN and is above all, -0.0 equals 0.0.
 * Bits     Whole words are written: bits beyond n in the last word are undefined.
 */
#pragma once
#include "kernels/kernels.h"
#include <stdbool.h>

enum mr_lane {
    MR_LANE_I8,
    MR_LANE_I16,
    MR_LANE_I32,
    MR_LANE_I64,
    MR_LANE_F32,
    MR_LANE_F64,
    MR_LANES_N
};
enum mr_comparison { MR_EQ, MR_LT, MR_LE, MR_GT, MR_GE, MR_COMPARISONS_N };

typedef void mr_compare_kernel(uint64_t *bits, const void *x, const void *y, uint32_t n);

struct mr_select_kernels {
    const char *isa;
    /* x[i] against y[i]; GT and GE too. */
    mr_compare_kernel *compare[MR_LANES_N][MR_COMPARISONS_N];
    /* x[i] against the one value y[0]. */
    mr_compare_kernel *compare_by[MR_LANES_N][MR_COMPARISONS_N];
    /* Rows of sel[0..n) (NULL: 0..n-1) whose bit is set in bits and, if valid is not NULL, in
     * valid. out has room for n rows and may be sel. Gives how many. */
    uint32_t (*from_bits)(uint32_t *out, const uint32_t *sel, uint32_t n, const uint64_t *bits,
                          const uint64_t *valid);
};
extern const struct mr_select_kernels mr_select_scalar, mr_select_avx2, mr_select_avx512;
extern const struct mr_select_kernels *const mr_select_variants[]; /* best first, scalar, NULL */
extern const struct mr_select_kernels *mr_select;
