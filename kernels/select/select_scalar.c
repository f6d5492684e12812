#include "kernels/select/select_body.h"

#include <stddef.h>

COMPARE_LOOPS(i32, int32_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(i64, int64_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(f64, double, equal_f64, less_f64)

static uint32_t from_bits(uint32_t *out, const uint32_t *sel, uint32_t n, const uint64_t *bits,
                          const uint64_t *valid)
{
    uint32_t count = 0;

    if (sel)
        return from_bits_of_selection(out, sel, n, bits, valid);
    for (uint32_t w = 0; w * 64 < n; w++)
        for (uint64_t word = word_of(bits, valid, w, n); word; word &= word - 1)
            out[count++] = w * 64 + (uint32_t)__builtin_ctzll(word);
    return count;
}

const struct mr_select_kernels mr_select_scalar = {
    .isa = "scalar",
    .compare = LANE_ROWS(),
    .compare_by = LANE_ROWS(_by),
    .from_bits = from_bits,
};
