#include "kernels/arith/arith.h"
#include "tests/kernels/guard.h"

#include <math.h>

/* Small values, and at edge a row that overflows. */
static void fill(struct guard *g, int32_t *x, int32_t *y, int64_t *l, int64_t *m, uint32_t edge)
{
    uint64_t seed = g->n + edge;

    for (uint32_t i = 0; i < g->n; i++) {
        x[i] = (int32_t)(guard_random(&seed) % 2001) - 1000;
        y[i] = (int32_t)(guard_random(&seed) % 2001) - 1000;
        l[i] = x[i] * INT64_C(100000);
        m[i] = y[i] * INT64_C(100000);
        if (i == edge) {
            x[i] = INT32_MIN;
            y[i] = 7;
            l[i] = INT64_MIN;
            m[i] = 7;
        }
    }
}

static void test_variants_agree(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++)
        for (uint32_t edge = n / 2; edge <= n; edge += n / 2 + 1) {
            struct guard g = guard_open(n);
            int32_t *x = guard_alloc(&g, n * 4), *y = guard_alloc(&g, n * 4);
            int64_t *m = guard_alloc(&g, n * 8), *l = g.i64;
            int32_t a32[GUARD_ROWS], b32[GUARD_ROWS];
            int64_t a64[GUARD_ROWS], b64[GUARD_ROWS];
            double af[GUARD_ROWS], bf[GUARD_ROWS];
            fill(&g, x, y, l, m, edge);
            for (enum mr_arith_op op = 0; op < MR_ARITH_OPS_N; op++) {
                assert_int_equal((*v)->i32[op](a32, x, y, n),
                                 mr_arith_scalar.i32[op](b32, x, y, n));
                assert_memory_equal(a32, b32, n * 4);
                assert_int_equal((*v)->i64[op](a64, l, m, n),
                                 mr_arith_scalar.i64[op](b64, l, m, n));
                assert_memory_equal(a64, b64, n * 8);
                (*v)->f64[op](af, g.f64, g.f64, n);
                mr_arith_scalar.f64[op](bf, g.f64, g.f64, n);
                assert_memory_equal(af, bf, n * 8);
                if (n == 0)
                    continue;
                assert_int_equal((*v)->i32_by[op](a32, x, y, n),
                                 mr_arith_scalar.i32_by[op](b32, x, y, n));
                assert_memory_equal(a32, b32, n * 4);
                assert_int_equal((*v)->i64_by[op](a64, l, m, n),
                                 mr_arith_scalar.i64_by[op](b64, l, m, n));
                assert_memory_equal(a64, b64, n * 8);
                (*v)->f64_by[op](af, g.f64, g.f64, n);
                mr_arith_scalar.f64_by[op](bf, g.f64, g.f64, n);
                assert_memory_equal(af, bf, n * 8);
            }
            guard_close(&g);
        }
}

/* The reference itself: against 128-bit arithmetic. */
static void test_overflow_is_told(void **state)
{
    static const int64_t edges[] = {0, 1, -1, 7, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    enum { EDGES = sizeof edges / sizeof edges[0] };

    (void)state;
    for (uint32_t i = 0; i < EDGES; i++)
        for (uint32_t k = 0; k < EDGES; k++)
            for (enum mr_arith_op op = 0; op < MR_ARITH_OPS_N; op++) {
                __int128 x = edges[i], y = edges[k];
                __int128 r = op == MR_ADD ? x + y : op == MR_SUBTRACT ? x - y : x * y;
                int64_t out;
                int32_t x32 = (int32_t)x, y32 = (int32_t)y, out32;
                assert_int_equal(mr_arith_scalar.i64[op](&out, &edges[i], &edges[k], 1),
                                 r != (int64_t)r);
                assert_int_equal(out, (int64_t)r);
                r = op == MR_ADD        ? (__int128)x32 + y32
                    : op == MR_SUBTRACT ? (__int128)x32 - y32
                                        : (__int128)x32 * y32;
                assert_int_equal(mr_arith_scalar.i32[op](&out32, &x32, &y32, 1), r != (int32_t)r);
            }
}

static void test_sums(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        __int128 wanted = 17;
        int64_t sum = 17, small = 17, wanted_small = 17;
        int32_t *x = guard_alloc(&g, n * 4);
        for (uint32_t i = 0; i < n; i++) {
            wanted += g.i64[i];
            x[i] = (int32_t)g.i64[i];
            wanted_small += x[i];
        }
        assert_int_equal((*v)->sum_i64(g.i64, NULL, n, &sum), wanted != (int64_t)wanted);
        assert_int_equal(sum, (int64_t)wanted);
        assert_false((*v)->sum_i32(x, NULL, n, &small));
        assert_int_equal(small, wanted_small);
        guard_close(&g);
    }
    const int64_t up[] = {INT64_MAX, 5, -6, INT64_MIN, 0, 0, 0, 0, 9};
    int64_t sum = 0;
    assert_false(mr_arith->sum_i64(up, NULL, 9, &sum));
    assert_int_equal(sum, 7);
    sum = INT64_MAX;
    assert_true(mr_arith->sum_i64(up + 1, NULL, 1, &sum));
}

static void test_sums_without_nulls(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        __int128 wanted = 17;
        int64_t sum = 17, small = 17, wanted_small = 17;
        int32_t *x = guard_alloc(&g, n * 4);
        for (uint32_t i = 0; i < n; i++) {
            x[i] = (int32_t)g.i64[i];
            if (!(g.valid[i / 64] >> (i % 64) & 1))
                continue;
            wanted += g.i64[i];
            wanted_small += x[i];
        }
        assert_int_equal((*v)->sum_i64(g.i64, g.valid, n, &sum), wanted != (int64_t)wanted);
        assert_int_equal(sum, (int64_t)wanted);
        assert_false((*v)->sum_i32(x, g.valid, n, &small));
        assert_int_equal(small, wanted_small);
        guard_close(&g);
    }
}

static void test_wide(void **state)
{
    static const __int128 edges[] = {-1, 0, 1, INT64_MIN, INT64_MAX, UINT64_MAX};

    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        __int128 *x = guard_alloc(&g, n * sizeof *x), *y = guard_alloc(&g, n * sizeof *y);
        __int128 out[MR_ARITH_OPS_N][GUARD_ROWS + 1];
        unsigned __int128 all = 0, some = 0;
        for (uint32_t i = 0; i < n; i++) {
            x[i] = i % 3 ? (__int128)g.i64[i] * g.i64[n - 1 - i] : edges[i / 3 % 6];
            y[i] = i % 5 ? (__int128)g.i64[n - 1 - i] * 7 : edges[i / 5 % 6];
            all += (unsigned __int128)x[i];
            some += g.valid[i / 64] >> (i % 64) & 1 ? (unsigned __int128)x[i] : 0;
        }
        for (uint32_t op = 0; op < MR_ARITH_OPS_N; op++) {
            out[op][n] = 17;
            (*v)->i128[op](out[op], x, y, n);
            assert_true(out[op][n] == 17);
        }
        for (uint32_t i = 0; i < n; i++) {
            const unsigned __int128 a = (unsigned __int128)x[i], b = (unsigned __int128)y[i];
            assert_true(out[MR_ADD][i] == (__int128)(a + b));
            assert_true(out[MR_SUBTRACT][i] == (__int128)(a - b));
            assert_true(out[MR_MULTIPLY][i] == (__int128)(a * b));
        }
        assert_true((*v)->sum_i128(x, NULL, n) == (__int128)all);
        assert_true((*v)->sum_i128(x, g.valid, n) == (__int128)some);
        guard_close(&g);
    }
}

static void test_roots(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        double roots[GUARD_ROWS + 1], wanted[GUARD_ROWS];
        for (uint32_t i = 0; i < n; i++)
            g.f64[i] = i % 17 == 5 ? -1 : i % 17 == 6 ? -0.0 : g.f64[i];
        roots[n] = 17;
        (*v)->sqrt_f64(roots, g.f64, n);
        mr_arith_scalar.sqrt_f64(wanted, g.f64, n);
        assert_true(roots[n] == 17);
        assert_memory_equal(roots, wanted, n * sizeof *wanted);
        guard_close(&g);
    }
}

static void test_abs(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        int32_t *x = guard_alloc(&g, n * 4), small[GUARD_ROWS];
        int64_t large[GUARD_ROWS];
        for (uint32_t i = 0; i < n; i++)
            x[i] = (int32_t)(g.i64[i] >> 29);
        assert_false((*v)->abs_i32(small, x, n));
        assert_false((*v)->abs_i64(large, g.i64, n));
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(small[i], x[i] < 0 ? -x[i] : x[i]);
            assert_true(large[i] == (g.i64[i] < 0 ? -g.i64[i] : g.i64[i]));
        }
        if (n > 0) {
            x[n / 2] = INT32_MIN;
            g.i64[n - 1] = INT64_MIN;
            assert_true((*v)->abs_i32(small, x, n));
            assert_true((*v)->abs_i64(large, g.i64, n));
            assert_true(small[n / 2] == INT32_MIN && large[n - 1] == INT64_MIN);
        }
        guard_close(&g);
    }
}

static void test_whole_numbers(void **state)
{
    static const double edges[] = {0.0,
                                   -0.0,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   0.49999999999999994,
                                   7,
                                   -7,
                                   1e15 + 0.5,
                                   -1e15 - 0.5,
                                   0x1p51 - 0.25,
                                   -0x1p51 + 0.25,
                                   1e-300};
    enum { EDGES = sizeof edges / sizeof edges[0] };

    (void)state;
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        int64_t low[GUARD_ROWS], high[GUARD_ROWS];
        for (uint32_t i = 0; i < n; i++)
            g.f64[i] = i < EDGES ? edges[i] : g.f64[i] - 125;
        assert_false((*v)->floor_f64(low, g.f64, n));
        assert_false((*v)->ceil_f64(high, g.f64, n));
        for (uint32_t i = 0; i < n; i++) {
            const int64_t near = (int64_t)g.f64[i];
            assert_int_equal(low[i], near - ((double)near > g.f64[i]));
            assert_int_equal(high[i], near + ((double)near < g.f64[i]));
        }
        if (n > 0) {
            g.f64[n / 2] = n % 2 ? 0x1p51 : (double)NAN;
            assert_true((*v)->floor_f64(low, g.f64, n));
        }
        guard_close(&g);
    }
}

static void test_divisions(void **state)
{
    static const int32_t edges[] = {0,
                                    1,
                                    -1,
                                    2,
                                    -2,
                                    3,
                                    7,
                                    -7,
                                    1000,
                                    46341,
                                    INT32_MAX,
                                    -INT32_MAX,
                                    INT32_MIN,
                                    INT32_MIN + 1,
                                    INT32_MAX - 1,
                                    1073741824,
                                    999999937};
    enum { EDGES = sizeof edges / sizeof edges[0], N = EDGES * EDGES };
    int32_t x[N + 16], y[N + 16], rest[N];

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        x[i] = edges[i / EDGES];
        y[i] = edges[i % EDGES];
    }
    GUARD_EACH(v, mr_arith_kernels, mr_arith_variants)
    {
        assert_true((*v)->rest_i32(rest, x, y, N));
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(rest[i], y[i] == 0 ? 0 : (int64_t)x[i] % y[i]);
        for (uint32_t k = 0; k < EDGES; k++) {
            assert_int_equal((*v)->rest_i32_by(rest, x, &edges[k], N), edges[k] == 0);
            for (uint32_t i = 0; i < N; i++)
                assert_int_equal(rest[i], edges[k] == 0 ? 0 : (int64_t)x[i] % edges[k]);
        }
        for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
            struct guard g = guard_open(n);
            double *z = guard_alloc(&g, n * 8), out[GUARD_ROWS];
            bool zeros = false;
            for (uint32_t i = 0; i < n; i++) {
                z[i] = (double)(int32_t)(g.ids[i] - 3) / 4;
                zeros = zeros || z[i] == 0;
            }
            assert_int_equal((*v)->quotient_f64(out, g.f64, z, n), zeros);
            for (uint32_t i = 0; i < n; i++)
                assert_true(out[i] == g.f64[i] / z[i] || out[i] != out[i]);
            if (n > 0)
                assert_int_equal((*v)->quotient_f64_by(out, g.f64, z, n), z[0] == 0);
            guard_close(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_overflow_is_told),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_sums_without_nulls),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_abs),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_divisions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
