#include "kernels/blend/blend.h"
#include "tests/kernels/guard.h"

static void test_bits_choose(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_blend_kernels, mr_blend_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++)
        for (uint32_t width = 0; width < MR_BLENDS_N; width++) {
            struct guard g = guard_open(n);
            const size_t bytes = (size_t)1 << width;
            uint8_t *x = guard_alloc(&g, n * bytes), out[GUARD_ROWS * 16 + 1], wanted[sizeof out];
            uint64_t seed = n;
            for (size_t i = 0; i < n * bytes; i++)
                x[i] = (uint8_t)(guard_random(&seed) >> 20);
            if (n >= 128)
                g.valid[1] = n % 2 ? 0 : UINT64_MAX;
            memset(out, 0x5a, sizeof out);
            memcpy(wanted, out, sizeof out);
            for (uint32_t i = 0; i < n; i++)
                if (g.valid[i / 64] >> (i % 64) & 1)
                    memcpy(wanted + i * bytes, x + i * bytes, bytes);
            (*v)->of[width](out, x, g.valid, n);
            assert_memory_equal(out, wanted, sizeof out);
            guard_close(&g);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits_choose)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
