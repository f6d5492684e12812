#include "kernels/tally/tally.h"

static uint32_t row_of(const uint32_t *sel, uint32_t i)
{
    return sel ? sel[i] : i;
}

static uint32_t bit_of(const uint64_t *valid, uint32_t row)
{
    return (uint32_t)(valid[row >> 6] >> (row & 63)) & 1;
}

static void count(uint32_t *lanes, const uint32_t *ids, uint32_t n)
{
    uint32_t i = 0;

    for (; i + MR_LANES <= n; i += MR_LANES)
        for (uint32_t lane = 0; lane < MR_LANES; lane++)
            lanes[ids[i + lane] * MR_LANES + lane]++;
    for (; i < n; i++)
        lanes[ids[i] * MR_LANES]++;
}

static void count_valid(uint32_t *lanes, const uint32_t *ids, const uint64_t *valid,
                        const uint32_t *sel, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        lanes[ids[i] * MR_LANES + i % MR_LANES] += bit_of(valid, row_of(sel, i));
}

static void sum_f64(double *lanes, const uint32_t *ids, const double *x, const uint64_t *valid,
                    const uint32_t *sel, uint32_t n)
{
    uint32_t i = 0;

    if (valid == 0 && sel == 0) {
        for (; i + MR_LANES <= n; i += MR_LANES)
            for (uint32_t lane = 0; lane < MR_LANES; lane++)
                lanes[ids[i + lane] * MR_LANES + lane] += x[i + lane];
    }
    for (; i < n; i++) {
        const uint32_t row = row_of(sel, i);
        const double value = valid == 0 || bit_of(valid, row) ? x[row] : 0;
        lanes[ids[i] * MR_LANES + i % MR_LANES] += value;
    }
}

/* As sum_f64 would, value by value, so that the totals are the same. */
static void sum_f64_of_one(double *lanes, const double *x, const uint64_t *valid, uint32_t n)
{
    double sum[MR_LANES] = {lanes[0], lanes[1], lanes[2], lanes[3]};
    uint32_t i = 0;

    for (; i + MR_LANES <= n; i += MR_LANES) {
        const uint64_t bits = valid ? valid[i / 64] >> (i % 64) : UINT64_MAX;
        for (uint32_t lane = 0; lane < MR_LANES; lane++)
            sum[lane] += bits >> lane & 1 ? x[i + lane] : 0;
    }
    for (; i < n; i++)
        sum[i % MR_LANES] += valid == 0 || bit_of(valid, i) ? x[i] : 0;
    for (uint32_t lane = 0; lane < MR_LANES; lane++)
        lanes[lane] = sum[lane];
}

const struct mr_tally_kernels mr_tally_scalar = {.isa = "scalar",
                                                 .count = count,
                                                 .count_valid = count_valid,
                                                 .sum_f64 = sum_f64,
                                                 .sum_f64_of_one = sum_f64_of_one};
