/* Each variant against scalar: any length, a guard page behind the data and its pad. */
#include "core/base/bounds.h"
#include "kernels/lines/lines.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

enum { PAGE = 4096, SIZES = 258 };

static uint8_t *guarded(void)
{
    uint8_t *pages =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
    return pages;
}

static void compare(const struct mr_lines_kernels *k, const uint8_t *data, uint32_t n, uint32_t max)
{
    uint32_t want[SIZES + MR_LINES_SLACK], got[SIZES + MR_LINES_SLACK], scanned_want, scanned_got;
    uint32_t n_want = mr_lines_scalar.find_ends(want, max, data, n, &scanned_want);
    uint32_t n_got = k->find_ends(got, max, data, n, &scanned_got);

    assert_int_equal(n_want, n_got);
    assert_memory_equal(want, got, n_want * sizeof *want);
    assert_int_equal(scanned_want, scanned_got);
    n_want = mr_lines_scalar.find_byte(want, max, data, n, ';', &scanned_want);
    n_got = k->find_byte(got, max, data, n, ';', &scanned_got);
    assert_int_equal(n_want, n_got);
    assert_memory_equal(want, got, n_want * sizeof *want);
    assert_int_equal(scanned_want, scanned_got);
}

static void test_variants(void **state)
{
    static const char bytes[] = "ab;\n\r\x0b\x0c\x8a\x8d";
    uint8_t *pages = guarded();

    (void)state;
    for (uint32_t i = 0; mr_lines_variants[i]; i++) {
        if (mr_lines_variants[i] != &mr_lines_scalar && mr_kernels_best() < MR_ISA_AVX2)
            continue;
        for (uint32_t n = 0; n < SIZES; n++) {
            uint8_t *data = pages + PAGE - MR_PAD_BYTES - n;
            for (uint32_t density = 1; density < 200; density *= 5) {
                srand(n * 7 + density);
                memset(data, '\n', n + MR_PAD_BYTES);
                for (uint32_t b = 0; b < n; b++)
                    data[b] = rand() % (int)density
                                  ? 'x'
                                  : (uint8_t)bytes[(size_t)rand() % (sizeof bytes - 1)];
                compare(mr_lines_variants[i], data, n, SIZES);
                compare(mr_lines_variants[i], data, n, 1);
                compare(mr_lines_variants[i], data, n, 3);
            }
        }
    }
    munmap(pages, 2 * PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variants)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
