#include "kernels/window/window.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_valid(const uint64_t *valid, uint32_t row)
{
    return valid == NULL || ((valid[row >> 6] >> (row & 63)) & 1);
}

static void range(struct mr_time_range *out, const int64_t *x, const uint64_t *valid,
                  const uint32_t *sel, uint32_t n)
{
    int64_t min = INT64_MAX, max = INT64_MIN, base = 0;
    uint64_t sum = 0;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        if (!is_valid(valid, row))
            continue;
        if (seen++ == 0)
            base = x[row];
        min = x[row] < min ? x[row] : min;
        max = x[row] > max ? x[row] : max;
        sum += (uint64_t)x[row] - (uint64_t)base;
    }
    *out = (struct mr_time_range){min, max, base, (int64_t)sum, seen};
}

/* Rows come mostly in order of time, so the window of the row before is tried first. */
static void starts(int64_t *out, const int64_t *x, const uint32_t *sel, uint32_t n, int64_t size,
                   int64_t offset)
{
    int64_t start = INT64_MIN;
    bool is_known = false;

    for (uint32_t i = 0; i < n; i++) {
        const int64_t t = x[sel ? sel[i] : i];
        if (!is_known || (uint64_t)t - (uint64_t)start >= (uint64_t)size) {
            const int64_t from = (int64_t)((uint64_t)t - (uint64_t)offset);
            const int64_t rest = from % size;
            start = (int64_t)((uint64_t)t - (uint64_t)(rest < 0 ? rest + size : rest));
            is_known = true;
        }
        out[i] = start;
    }
}

const struct mr_window_kernels mr_window_scalar = {
    .isa = "scalar", .range = range, .starts = starts};
