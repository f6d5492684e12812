/* tally.h - folds the values of a batch into few groups, by the group number of each row.
 *
 * Why      One pass over the rows per aggregate, with nothing but a load, an add and a store in it.
 *          Rows of one group in a row would wait for each other's store, so four lanes take turns.
 * Lanes    lanes[id * MR_LANES + i % MR_LANES]; the caller clears them before and adds them up
 *          after.
 */
#pragma once
#include "kernels/kernels.h"

enum { MR_LANES = 4 };

struct mr_tally_kernels {
    const char *isa;
    /* Rows of each group. */
    void (*count)(uint32_t *lanes, const uint32_t *ids, uint32_t n);
    /* Rows sel[i] (NULL: i) whose bit in valid is set. */
    void (*count_valid)(uint32_t *lanes, const uint32_t *ids, const uint64_t *valid,
                        const uint32_t *sel, uint32_t n);
    /* x[sel[i]] to the sum of ids[i]; rows whose bit in valid (NULL: all) is not set add
     * nothing. */
    void (*sum_f64)(double *lanes, const uint32_t *ids, const double *x, const uint64_t *valid,
                    const uint32_t *sel, uint32_t n);
    /* The same of all rows 0..n-1 into one group: lanes[0..MR_LANES). */
    void (*sum_f64_of_one)(double *lanes, const double *x, const uint64_t *valid, uint32_t n);
};

extern const struct mr_tally_kernels mr_tally_scalar;
extern const struct mr_tally_kernels *const mr_tally_variants[]; /* best first, then NULL */
extern const struct mr_tally_kernels *mr_tally;                  /* set by mr_kernels_init */
