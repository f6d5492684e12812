#include "kernels/arith/arith_body.h"

#include <math.h>

WIDE_LOOP(add_i128, +, 0)
WIDE_LOOP(sub_i128, -, 0)

static __int128 sum_i128(const __int128 *x, const uint64_t *valid, uint32_t n)
{
    unsigned __int128 sum = 0;

    if (valid == 0)
        return total_i128(x, n);
    for (uint32_t i = 0; i < n; i++)
        sum += (unsigned __int128)x[i] & -(unsigned __int128)(valid[i / 64] >> (i % 64) & 1);
    return (__int128)sum;
}

static void sqrt_f64(double *out, const double *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = sqrt(x[i]);
}

const struct mr_arith_kernels mr_arith_scalar = ARITH_TABLE("scalar");
