/* Arenas and budgets: alignment, pads, limits, escapes. */
#include "core/mem/arena.h"
#include "core/base/bounds.h"
#include "core/mem/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void allocations_are_aligned_apart_and_padded(void **state)
{
    struct mr_arena a;
    uint8_t *before = NULL;
    size_t before_n = 0;

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    for (size_t n = 0; n < 5000; n = n * 3 / 2 + 1) {
        uint8_t *p = mr_arena_alloc(&a, n);
        assert_int_equal((uintptr_t)p % (n >= 64 ? 64 : 16), 0);
        memset(p, (int)(n & 0xff), n);
        uint8_t sum = 0;
        for (int i = 0; i < MR_PAD_BYTES; i++)
            sum = (uint8_t)(sum + p[n + (size_t)i]); /* readable: a checker would complain */
        (void)sum;
        for (size_t i = 0; i < before_n; i++)
            assert_int_equal(before[i], before_n & 0xff);
        before = p;
        before_n = n;
    }
    assert_string_equal(mr_arena_format(&a, "%d-%s", 7, "x"), "7-x");
    mr_arena_fini(&a);
}

static void a_reset_arena_takes_no_new_memory(void **state)
{
    struct mr_budget budget;
    struct mr_arena a;

    (void)state;
    mr_budget_init(&budget, "test", NULL, 0);
    mr_arena_init(&a, &budget, NULL);
    for (int i = 0; i < 100; i++)
        mr_arena_alloc(&a, 1000);
    uint64_t used = budget.used_bytes;
    assert_true(used >= 100000);
    for (int round = 0; round < 50; round++) {
        mr_arena_reset(&a);
        for (int i = 0; i < 100; i++)
            mr_arena_alloc(&a, 1000);
        assert_int_equal(budget.used_bytes, used);
    }
    mr_arena_fini(&a);
    assert_int_equal(budget.used_bytes, 0);
}

static void a_limit_ends_in_the_escape_and_charges_nothing(void **state)
{
    struct mr_budget whole, part;
    struct mr_arena a;
    jmp_buf escape;
    volatile int allocated = 0;

    (void)state;
    mr_budget_init(&whole, "whole", NULL, 300000);
    mr_budget_init(&part, "part", &whole, 0);
    mr_arena_init(&a, &part, &escape);
    if (setjmp(escape) == 0)
        for (;;) {
            mr_arena_alloc(&a, 10000);
            allocated++;
        }
    assert_in_range(allocated, 15, 30);
    assert_true(whole.used_bytes <= 300000);
    assert_int_equal(whole.used_bytes, part.used_bytes);
    mr_arena_fini(&a);
    assert_int_equal(whole.used_bytes, 0);
    assert_int_equal(part.used_bytes, 0);
}

static void a_value_too_large_takes_the_escape_too(void **state)
{
    struct mr_arena a;
    jmp_buf escape;

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    if (setjmp(escape) == 0) {
        mr_arena_exhaust(&a);
        fail_msg("it came back");
    }
    mr_arena_fini(&a);
}

static void buffers_keep_what_they_have_when_they_grow(void **state)
{
    struct mr_arena a;
    struct mr_buffer b;

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    mr_buffer_init(&b, &a);
    for (int i = 0; i < 10000; i++)
        mr_buffer_append_format(&b, "%04d", i);
    assert_int_equal(b.n, 40000);
    assert_memory_equal(b.data, "000000010002", 12);
    assert_memory_equal(b.data + 39992, "99989999", 8);
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_apart_and_padded),
        cmocka_unit_test(a_reset_arena_takes_no_new_memory),
        cmocka_unit_test(a_limit_ends_in_the_escape_and_charges_nothing),
        cmocka_unit_test(a_value_too_large_takes_the_escape_too),
        cmocka_unit_test(buffers_keep_what_they_have_when_they_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
