#include "kernels/window/window.h"
#include "tests/kernels/guard.h"

static void same_range(const struct mr_time_range *a, const struct mr_time_range *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->min, b->min);
    assert_int_equal(a->max, b->max);
    if (a->n > 0)
        assert_int_equal((int64_t)((uint64_t)a->base * a->n + (uint64_t)a->sum),
                         (int64_t)((uint64_t)b->base * b->n + (uint64_t)b->sum));
}

static void test_range_equals_scalar(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_window_kernels, mr_window_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        const uint64_t *valids[] = {NULL, g.valid};
        const uint32_t *sels[] = {NULL, g.sel};
        for (uint32_t k = 0; k < 4; k++) {
            struct mr_time_range got, wanted;
            const uint32_t rows = k & 1 ? g.sel_n : n;
            (*v)->range(&got, g.i64, valids[k >> 1], sels[k & 1], rows);
            mr_window_scalar.range(&wanted, g.i64, valids[k >> 1], sels[k & 1], rows);
            same_range(&got, &wanted);
        }
        guard_close(&g);
    }
}

static void test_starts_hold_their_rows(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 60, 8191, 8192, 300000000, INT64_C(86400000000)};

    GUARD_EACH(v, mr_window_kernels, mr_window_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++)
        for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct guard g = guard_open(n);
            int64_t got[GUARD_ROWS], wanted[GUARD_ROWS];
            const int64_t offset = (int64_t)(n % 3) * sizes[s] / 4 - sizes[s] / 8;
            for (uint32_t i = 0; i < n; i++)
                g.i64[i] >>= n % 8; /* all magnitudes below 2^60 */
            (*v)->starts(got, g.i64, NULL, n, sizes[s], offset);
            mr_window_scalar.starts(wanted, g.i64, NULL, n, sizes[s], offset);
            for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(got[i], wanted[i]);
                assert_true(got[i] <= g.i64[i] && g.i64[i] - got[i] < sizes[s]);
                assert_int_equal((got[i] - offset) % sizes[s], 0);
            }
            (*v)->starts(got, g.i64, g.sel, g.sel_n, sizes[s], offset);
            for (uint32_t i = 0; i < g.sel_n; i++)
                assert_int_equal(got[i], wanted[g.sel[i]]);
            guard_close(&g);
        }
}

static void test_borders(void **state)
{
    (void)state;
    static const int64_t times[] = {-1, 0, 1, 299999999, 300000000, -300000000, -300000001, 5};
    static const int64_t wanted[] = {-300000000, 0, 0, 0, 300000000, -300000000, -600000000, 0};

    GUARD_EACH(v, mr_window_kernels, mr_window_variants)
    {
        int64_t got[8];
        (*v)->starts(got, times, NULL, 8, 300000000, 0);
        assert_memory_equal(got, wanted, sizeof wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range_equals_scalar),
        cmocka_unit_test(test_starts_hold_their_rows),
        cmocka_unit_test(test_borders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
