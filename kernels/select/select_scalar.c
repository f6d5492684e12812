#include "kernels/select/select_body.h"

#include <stddef.h>

COMPARE_LOOPS(i32, int32_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(i64, int64_t, PLAIN_EQUAL, PLAIN_LESS)
COMPARE_LOOPS(f64, double, equal_f64, less_f64)

FROM_BITS_BY_ROW()

const struct mr_select_kernels mr_select_scalar = {
    .isa = "scalar",
    .compare = LANE_ROWS(),
    .compare_by = LANE_ROWS(_by),
    .from_bits = from_bits,
};
