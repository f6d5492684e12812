#include "kernels/select/select.h"
#include "tests/kernels/guard.h"

#include <math.h>

static const size_t lane_bytes[] = {1, 2, 4, 8, 4, 8};

/* Few different values, so that all outcomes come up; NaN, -0.0 and infinities among reals. */
static void fill(void *data, enum mr_lane lane, uint32_t n, uint64_t seed)
{
    static const double reals[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1.5, -1.5, 2};

    for (uint32_t i = 0; i < n; i++) {
        uint64_t r = guard_random(&seed) >> 20 & 7;
        switch (lane) {
        case MR_LANE_I8:
            ((int8_t *)data)[i] = (int8_t)(r - 4);
            break;
        case MR_LANE_I16:
            ((int16_t *)data)[i] = (int16_t)(r * 1000 - 4000);
            break;
        case MR_LANE_I32:
            ((int32_t *)data)[i] = r == 7 ? INT32_MIN : (int32_t)r - 3;
            break;
        case MR_LANE_I64:
            ((int64_t *)data)[i] = r == 7 ? INT64_MAX : (int64_t)r - 3;
            break;
        case MR_LANE_F32:
            ((float *)data)[i] = (float)reals[r];
            break;
        default:
            ((double *)data)[i] = reals[r];
        }
    }
}

static uint64_t last_mask(uint32_t n)
{
    return n % 64 ? ((uint64_t)1 << n % 64) - 1 : ~(uint64_t)0;
}

static void compare_bits(const uint64_t *got, const uint64_t *wanted, uint32_t n)
{
    for (uint32_t w = 0; w * 64 < n; w++) {
        uint64_t mask = (w + 1) * 64 <= n ? ~(uint64_t)0 : last_mask(n);
        assert_int_equal(got[w] & mask, wanted[w] & mask);
    }
}

static void test_comparisons_agree(void **state)
{
    uint64_t got[GUARD_ROWS / 64 + 1], wanted[GUARD_ROWS / 64 + 1];

    (void)state;
    GUARD_EACH(v, mr_select_kernels, mr_select_variants)
    for (enum mr_lane lane = 0; lane < MR_LANES_N; lane++)
        for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
            struct guard g = {0};
            void *x = guard_alloc(&g, n * lane_bytes[lane]),
                 *y = guard_alloc(&g, n * lane_bytes[lane]);
            fill(x, lane, n, n);
            fill(y, lane, n, n + 1000);
            for (enum mr_comparison op = 0; op < MR_COMPARISONS_N; op++) {
                (*v)->compare[lane][op](got, x, y, n);
                mr_select_scalar.compare[lane][op](wanted, x, y, n);
                compare_bits(got, wanted, n);
                if (n == 0)
                    continue;
                (*v)->compare_by[lane][op](got, x, y, n);
                mr_select_scalar.compare_by[lane][op](wanted, x, y, n);
                compare_bits(got, wanted, n);
            }
            guard_close(&g);
        }
}

/* Spark's order of doubles, said once more. */
static void test_order_of_doubles(void **state)
{
    const double x[] = {NAN, NAN, INFINITY, -0.0, 1, NAN}, y[] = {NAN, INFINITY, NAN, 0.0, 2, 1};
    static const uint64_t wanted[] = {0x09, 0x14, 0x1d, 0x22, 0x2b}; /* eq lt le gt ge */
    uint64_t bits;

    (void)state;
    GUARD_EACH(v, mr_select_kernels, mr_select_variants)
    for (enum mr_comparison op = 0; op < MR_COMPARISONS_N; op++) {
        struct guard g = {0};
        double *a = guard_alloc(&g, sizeof x), *b = guard_alloc(&g, sizeof y);
        memcpy(a, x, sizeof x);
        memcpy(b, y, sizeof y);
        (*v)->compare[MR_LANE_F64][op](&bits, a, b, 6);
        assert_int_equal(bits & 0x3f, wanted[op]);
        guard_close(&g);
    }
}

static void test_from_bits_agree(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_select_kernels, mr_select_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        uint32_t *got = guard_alloc(&g, n * sizeof *got), wanted[GUARD_ROWS];
        uint64_t bits[GUARD_ROWS / 64 + 1];
        for (uint32_t w = 0; w <= GUARD_ROWS / 64; w++)
            bits[w] = w % 3 == 0 ? ~(uint64_t)0 : (uint64_t)0x123456789abcdef * (w + 1);
        for (uint32_t how = 0; how < 4; how++) {
            const uint32_t *sel = how & 1 ? g.sel : NULL;
            const uint64_t *valid = how & 2 ? g.valid : NULL;
            uint32_t rows = sel ? g.sel_n : n;
            uint32_t a = (*v)->from_bits(got, sel, rows, bits, valid);
            uint32_t b = mr_select_scalar.from_bits(wanted, sel, rows, bits, valid);
            assert_int_equal(a, b);
            assert_memory_equal(got, wanted, a * sizeof *got);
        }
        uint32_t in_place = (*v)->from_bits(g.sel, g.sel, g.sel_n, bits, NULL);
        assert_true(in_place <= g.sel_n);
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparisons_agree),
        cmocka_unit_test(test_order_of_doubles),
        cmocka_unit_test(test_from_bits_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
