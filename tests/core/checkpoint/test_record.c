/* Plans and commits as bytes: each comes back as it was; cut anywhere, lengthened, or with too many
 * of anything it is malformed, never read beyond its end. */
#include "core/checkpoint/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { SOURCES_AT = 36, WATERMARKS_AT = 40 }; /* where their numbers stand: README.md */

/* In memory of just that size, so that ASan sees a read behind it. */
static struct mr_text exactly(const struct mr_buffer *b, uint64_t n)
{
    char *copy = malloc(n + (n == 0));

    assert_non_null(copy);
    memcpy(copy, b->data, n < b->n ? n : b->n);
    if (n > b->n)
        memset(copy + b->n, 0, n - b->n);
    return (struct mr_text){copy, n};
}

static bool takes_plan(struct mr_text bytes)
{
    struct mr_plan_record plan;
    bool taken = mr_record_take_plan(bytes, &plan);

    free((void *)(uintptr_t)bytes.data);
    return taken;
}

static bool takes_commit(struct mr_text bytes)
{
    struct mr_commit commit;
    bool taken = mr_record_take_commit(bytes, &commit);

    free((void *)(uintptr_t)bytes.data);
    return taken;
}

static void test_plan(void **state)
{
    const struct mr_plan_record plan = {
        .epoch = 7,
        .time_us = -1,
        .late_us = 2,
        .evict_us = INT64_MIN,
        .has_data = true,
        .sources_n = 2,
        .offsets = {MR_TEXT("bytes"), {NULL, 0}},
        .offsets_json = {MR_TEXT("{\"a\":1}"), MR_TEXT("")},
    };
    struct mr_plan_record back;
    struct mr_buffer b;
    struct mr_arena a;
    jmp_buf escape;
    const uint32_t many = MR_SOURCES_MAX + 1;

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&b, &a);
    mr_record_put_plan(&b, &plan);
    assert_true(mr_record_take_plan(mr_buffer_text(&b), &back));
    assert_true(back.epoch == 7 && back.time_us == -1 && back.late_us == 2 && back.has_data);
    assert_true(back.evict_us == INT64_MIN && back.sources_n == 2);
    assert_true(mr_text_equal(back.offsets[0], MR_TEXT("bytes")) && !back.offsets[1].data);
    assert_true(back.offsets_json[1].data && back.offsets_json[1].n == 0);
    for (uint64_t n = 0; n < b.n; n++)
        assert_false(takes_plan(exactly(&b, n)));
    assert_true(takes_plan(exactly(&b, b.n)));
    assert_false(takes_plan(exactly(&b, b.n + 1)));
    memcpy(b.data + SOURCES_AT, &many, sizeof many);
    assert_false(takes_plan(exactly(&b, b.n)));
    mr_arena_fini(&a);
}

static void test_commit(void **state)
{
    const struct mr_commit commit = {.epoch = 9,
                                     .time_us = 1,
                                     .late_us = 2,
                                     .evict_us = 3,
                                     .next_watermark_us = 4,
                                     .watermarks_us = {5, -6},
                                     .watermarks_n = 2,
                                     .watermark_policy_max = true,
                                     .prepared = MR_TEXT("names")};
    struct mr_commit back;
    struct mr_buffer b;
    struct mr_arena a;
    jmp_buf escape;
    const uint32_t many = MR_WATERMARKS_MAX + 1;

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&b, &a);
    mr_record_put_commit(&b, &commit);
    assert_true(mr_record_take_commit(mr_buffer_text(&b), &back));
    assert_true(back.epoch == 9 && back.time_us == 1 && back.late_us == 2 && back.evict_us == 3);
    assert_true(back.next_watermark_us == 4 && back.watermarks_n == 2);
    assert_true(back.watermarks_us[0] == 5 && back.watermarks_us[1] == -6);
    assert_true(back.watermark_policy_max && !back.had_data);
    assert_true(mr_text_equal(back.prepared, MR_TEXT("names")));
    for (uint64_t n = 0; n < b.n; n++)
        assert_false(takes_commit(exactly(&b, n)));
    assert_true(takes_commit(exactly(&b, b.n)));
    assert_false(takes_commit(exactly(&b, b.n + 1)));
    memcpy(b.data + WATERMARKS_AT, &many, sizeof many);
    assert_false(takes_commit(exactly(&b, b.n)));
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
