#include "tests/core/op/grouping.h"

static void test_append_emits_what_the_watermark_passed(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(&g, &(struct grouping_config){.shape = BY_WINDOW_AND_KEY,
                                                .mode = MR_APPEND,
                                                .has_watermark = true,
                                                .batch_rows = 16});
    op_epoch(&g.partial, 0, 0, 0);
    struct mr_batch b = batch_of(&g.partial.arena, g.input, "a|1|0.5|x|1", "a|59|0.25|y|1",
                                 "a|60|1|z|1", "b|119|null|null|1", "a|null|7|q|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    expect_lines(&g.lines, NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 3);
    assert_int_equal(grouping_counts(&g)->rows_updated, 3);

    /* evicted at its end, not before; a row between the two watermarks still counts */
    op_epoch(&g.partial, 1, 0, 59);
    op_mark(&g.partial);
    expect_lines(&g.lines, NULL);
    op_epoch(&g.partial, 2, 59, 60);
    struct mr_batch more = batch_of(&g.partial.arena, g.input, "a|2|1|w|1", NULL);
    op_push(&g.partial, &more);
    op_mark(&g.partial);
    expect_lines(&g.lines, "[0,60]|a|3|1.75|y", NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 2);
    assert_int_equal(grouping_counts(&g)->rows_updated, 1);
    assert_int_equal(grouping_counts(&g)->rows_removed, 1);

    /* late is at or before the watermark of the epoch before; counted by rows */
    op_epoch(&g.partial, 3, 60, 120);
    struct mr_batch late = batch_of(&g.partial.arena, g.input, "a|2|1|w|1", "a|3|1|w|1",
                                    "a|60|1|a|1", "c|400|1|a|1", NULL);
    op_push(&g.partial, &late);
    op_mark(&g.partial);
    expect_lines(&g.lines, "[60,120]|a|2|2|z", "[60,120]|b|1|null|null", NULL);
    assert_int_equal(g.partial.ctx.counts.rows_dropped, 2);
    assert_int_equal(grouping_counts(&g)->rows_total, 1);
    grouping_close(&g);
}

/* The distance to the watermark has no room in 64 bits. */
static void test_a_row_from_the_beginning_of_time_is_late_once(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(
        &g, &(struct grouping_config){
                .shape = BY_WINDOW, .mode = MR_APPEND, .has_watermark = true, .batch_rows = 16});
    op_epoch(&g.partial, 1, 5000, 5000);
    struct mr_batch b =
        batch_of(&g.partial.arena, g.input, "a|-9223372036854774000|1|x|1", "a|6000|1|x|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    assert_int_equal(g.partial.ctx.counts.rows_dropped, 1);
    assert_int_equal(grouping_counts(&g)->rows_total, 1);
    grouping_close(&g);
}

static void test_update_gives_changed_groups_and_evicts_silently(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(
        &g, &(struct grouping_config){
                .shape = BY_WINDOW, .mode = MR_UPDATE, .has_watermark = true, .batch_rows = 2});
    op_epoch(&g.partial, 0, 0, 0);
    struct mr_batch b = batch_of(&g.partial.arena, g.input, "a|1|1|x|1", "b|61|1|x|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    expect_lines(&g.lines, "[0,60]|1|1|x", "[60,120]|1|1|x", NULL);
    op_epoch(&g.partial, 1, 0, 60);
    struct mr_batch more = batch_of(&g.partial.arena, g.input, "a|1|2|x|1", NULL);
    op_push(&g.partial, &more);
    op_mark(&g.partial);
    expect_lines(&g.lines, "[0,60]|2|3|x", NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 1);
    assert_int_equal(grouping_counts(&g)->rows_updated, 1);
    op_epoch(&g.partial, 2, 60, 60);
    op_mark(&g.partial);
    expect_lines(&g.lines, NULL);
    assert_int_equal(grouping_counts(&g)->rows_updated, 0);
    grouping_close(&g);
}

static void test_complete_keeps_late_rows(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(
        &g, &(struct grouping_config){
                .shape = BY_WINDOW, .mode = MR_COMPLETE, .has_watermark = true, .batch_rows = 4});
    op_epoch(&g.partial, 0, 0, 0);
    struct mr_batch b = batch_of(&g.partial.arena, g.input, "a|1|1|x|1", "b|61|1|x|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    clear_lines(&g.lines);
    op_epoch(&g.partial, 1, 60, 120);
    struct mr_batch late = batch_of(&g.partial.arena, g.input, "a|2|2|x|1", NULL);
    op_push(&g.partial, &late);
    op_mark(&g.partial);
    expect_lines(&g.lines, "[0,60]|2|3|x", "[60,120]|1|1|x", NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 2);
    assert_int_equal(grouping_counts(&g)->rows_updated, 1);
    assert_int_equal(g.partial.ctx.counts.rows_dropped, 0);
    grouping_close(&g);
}

static void test_keyless_gives_a_row_in_every_epoch(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(
        &g, &(struct grouping_config){.shape = BY_NOTHING, .mode = MR_UPDATE, .batch_rows = 4});
    op_epoch(&g.partial, 0, INT64_MIN, INT64_MIN);
    op_mark(&g.partial);
    expect_lines(&g.lines, "0|null|null", NULL);
    op_epoch(&g.partial, 1, INT64_MIN, INT64_MIN);
    struct mr_batch b =
        batch_of(&g.partial.arena, g.input, "a|1|1.5|x|1", "b|61|1|y|1", "b|61|1|y|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    expect_lines(&g.lines, "3|3.5|y", NULL);
    op_epoch(&g.partial, 2, INT64_MIN, INT64_MIN);
    op_mark(&g.partial);
    expect_lines(&g.lines, "3|3.5|y", NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 1);
    assert_int_equal(grouping_counts(&g)->rows_updated, 1);
    grouping_close(&g);
}

static void test_null_time_as_key_never_ends(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(&g,
                  &(struct grouping_config){
                      .shape = BY_TIME, .mode = MR_APPEND, .has_watermark = true, .batch_rows = 4});
    op_epoch(&g.partial, 0, 0, 0);
    struct mr_batch b = batch_of(&g.partial.arena, g.input, "a|5|1|x|1", "a|null|1|x|1",
                                 "a|0|1|x|1", "a|6|1|x|1", NULL);
    op_push(&g.partial, &b);
    op_mark(&g.partial);
    expect_lines(&g.lines, NULL);
    assert_int_equal(g.partial.ctx.counts.rows_dropped, 1);
    op_epoch(&g.partial, 1, 0, 5);
    op_mark(&g.partial);
    expect_lines(&g.lines, "5|1|1|x", NULL);
    op_epoch(&g.partial, 2, 5, INT64_MAX - 1);
    op_mark(&g.partial);
    expect_lines(&g.lines, "6|1|1|x", NULL);
    assert_int_equal(grouping_counts(&g)->rows_total, 1);
    grouping_close(&g);
}

static void test_batch_gives_all_at_its_end(void **state)
{
    (void)state;
    struct grouping g;
    grouping_open(&g, &(struct grouping_config){
                          .shape = BY_KEY, .mode = MR_APPEND, .is_batch = true, .batch_rows = 2});
    struct mr_batch b = batch_of(&g.partial.arena, g.input, "a|5|1|x|1", "null|null|1|x|1", NULL);
    struct mr_batch c = batch_of(&g.partial.arena, g.input, "null|5|1|y|1",
                                 "a long key of more than twelve|1|1|x|1", NULL);
    op_push(&g.partial, &b);
    op_push(&g.partial, &c);
    op_mark(&g.partial);
    expect_lines(&g.lines, "a|1|1|x", "null|2|2|y", "a long key of more than twelve|1|1|x", NULL);
    grouping_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append_emits_what_the_watermark_passed),
        cmocka_unit_test(test_a_row_from_the_beginning_of_time_is_late_once),
        cmocka_unit_test(test_update_gives_changed_groups_and_evicts_silently),
        cmocka_unit_test(test_complete_keeps_late_rows),
        cmocka_unit_test(test_keyless_gives_a_row_in_every_epoch),
        cmocka_unit_test(test_null_time_as_key_never_ends),
        cmocka_unit_test(test_batch_gives_all_at_its_end),
    };

    return mr_kernels_init(getenv("MR_KERNELS"), NULL) ? 1
                                                       : cmocka_run_group_tests(tests, NULL, NULL);
}
