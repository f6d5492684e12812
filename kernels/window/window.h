/* window.h - event times: the range of a column, and the windows that hold its rows.
 *
 * Why      The range tells in two reads of a column whether a whole batch lies in one window; then
 *          no row needs a division. It also is what a watermark notes.
 * Rows     sel[0..n) (NULL: 0..n-1), those whose bit in valid (NULL: all) is set.
 */
#pragma once
#include "kernels/kernels.h"

struct mr_time_range {
    int64_t min, max; /* INT64_MAX, INT64_MIN: no row */
    int64_t base;     /* sum is of x - base, so that it fits */
    int64_t sum;
    uint32_t n;
};

struct mr_window_kernels {
    const char *isa;
    void (*range)(struct mr_time_range *out, const int64_t *x, const uint64_t *valid,
                  const uint32_t *sel, uint32_t n);
    /* out[i] = start of the window of size that holds x[sel[i]], windows starting at offset + k *
     * size; null rows give anything. size > 0. */
    void (*starts)(int64_t *out, const int64_t *x, const uint32_t *sel, uint32_t n, int64_t size,
                   int64_t offset);
};

extern const struct mr_window_kernels mr_window_scalar, mr_window_avx512;
extern const struct mr_window_kernels *const mr_window_variants[]; /* best first, NULL at the end */
extern const struct mr_window_kernels *mr_window;                  /* set by mr_kernels_init */
