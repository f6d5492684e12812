#include "kernels/tally/tally.h"
#include "tests/kernels/guard.h"

enum { GROUPS = 16 };

static bool bit(const uint64_t *valid, uint32_t row)
{
    return valid == NULL || ((valid[row >> 6] >> (row & 63)) & 1);
}

static void compare(const struct mr_tally_kernels *v, const struct guard *g, const uint64_t *valid,
                    const uint32_t *sel, uint32_t n)
{
    uint32_t counts[GROUPS * MR_LANES] = {0}, valids[GROUPS * MR_LANES] = {0};
    double sums[GROUPS * MR_LANES] = {0};

    v->count(counts, g->ids, n);
    if (valid)
        v->count_valid(valids, g->ids, valid, sel, n);
    v->sum_f64(sums, g->ids, g->f64, valid, sel, n);
    for (uint32_t id = 0; id < GROUPS; id++) {
        uint32_t rows = 0, values = 0, counted = 0, valued = 0;
        double sum = 0, summed = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t row = sel ? sel[i] : i;
            if (g->ids[i] != id)
                continue;
            rows++;
            values += bit(valid, row);
            sum += bit(valid, row) ? g->f64[row] : 0;
        }
        for (uint32_t lane = id * MR_LANES; lane < (id + 1) * MR_LANES; lane++) {
            counted += counts[lane];
            valued += valids[lane];
            summed += sums[lane];
        }
        assert_int_equal(counted, rows);
        if (valid)
            assert_int_equal(valued, values);
        assert_true(summed == sum); /* quarters: exact in any order */
    }
}

/* Bit by bit what sum_f64 gives, also of values that round. */
static void test_one_group(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_tally_kernels, mr_tally_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        for (uint32_t i = 0; i < n; i++) {
            g.f64[i] /= 7;
            g.ids[i] = 0;
        }
        for (int with = 0; with < 2; with++) {
            double sums[MR_LANES] = {0}, wanted[MR_LANES] = {0};
            (*v)->sum_f64_of_one(sums, g.f64, with ? g.valid : NULL, n);
            (*v)->sum_f64(wanted, g.ids, g.f64, with ? g.valid : NULL, NULL, n);
            assert_memory_equal(sums, wanted, sizeof sums);
        }
        guard_close(&g);
    }
}

static void test_lanes_add_up(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_tally_kernels, mr_tally_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        compare(*v, &g, NULL, NULL, n);
        compare(*v, &g, g.valid, NULL, n);
        compare(*v, &g, NULL, g.sel, g.sel_n);
        compare(*v, &g, g.valid, g.sel, g.sel_n);
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lanes_add_up),
                                       cmocka_unit_test(test_one_group)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
