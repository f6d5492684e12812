#include "kernels/view/view.h"
#include "tests/kernels/guard.h"

enum { LONG = 13 };

/* Few different words, so that many rows agree in one or both. */
static void fill(uint64_t *views, uint32_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length = (uint32_t)(guard_random(&seed) >> 30) % 2 ? LONG : 9;
        views[2 * i] = length | (guard_random(&seed) >> 30 & 1) << 40;
        views[2 * i + 1] = guard_random(&seed) >> 30 & 1;
    }
}

static bool may_be_equal(const uint64_t *x, const uint64_t *y)
{
    return x[0] == y[0] && (x[1] == y[1] || (uint32_t)x[0] == LONG);
}

static void test_views(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        uint64_t *x = guard_alloc(&g, n * 16), *y = guard_alloc(&g, n * 16);
        uint64_t bits[GUARD_ROWS / 64 + 1], by[GUARD_ROWS / 64 + 1];
        int32_t lengths[GUARD_ROWS + 1] = {0};
        fill(x, n, n);
        fill(y, n, n + 1);
        (*v)->lengths(lengths, x, n);
        (*v)->equal(bits, x, y, n);
        (*v)->equal_by(by, x, y, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(lengths[i], (uint32_t)x[2 * i]);
            assert_int_equal(bits[i / 64] >> (i % 64) & 1, may_be_equal(x + 2 * i, y + 2 * i));
            assert_int_equal(by[i / 64] >> (i % 64) & 1, may_be_equal(x + 2 * i, y));
        }
        assert_int_equal(lengths[n], 0);
        if (n % 64) {
            assert_int_equal(bits[n / 64] >> (n % 64), 0);
            assert_int_equal(by[n / 64] >> (n % 64), 0);
        }
        guard_close(&g);
    }
}

static void test_ascii(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= 2 * GUARD_ROWS; n++) {
        struct guard g = guard_open(0);
        char *text = guard_alloc(&g, n);
        memset(text, 0x7f, n);
        assert_true((*v)->is_ascii(text, n));
        for (uint32_t i = 0; i < n; i += i % 7 + 1) {
            text[i] = (char)0x80;
            assert_false((*v)->is_ascii(text, n));
            text[i] = 0;
        }
        guard_close(&g);
    }
}

static void test_find(void **state)
{
    static const char *const whats[] = {"a", "ab", "aab", "aaaab", "abababababababab", "b"};

    (void)state;
    GUARD_EACH(v, mr_view_kernels, mr_view_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(0);
        char *text = guard_alloc(&g, n);
        uint64_t seed = n;
        for (uint32_t i = 0; i < n; i++)
            text[i] = guard_random(&seed) >> 30 & 3 ? 'a' : 'b';
        for (size_t k = 0; k < sizeof whats / sizeof *whats; k++) {
            const char *found = memmem(text, n, whats[k], strlen(whats[k]));
            assert_true((*v)->find(text, n, whats[k], strlen(whats[k])) ==
                        (found ? (uint64_t)(found - text) : UINT64_MAX));
        }
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_views), cmocka_unit_test(test_ascii),
                                       cmocka_unit_test(test_find)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
