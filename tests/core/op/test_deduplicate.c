#include "tests/core/op/harness.h"

enum { ID, TIME };

struct dedup {
    struct op op;
    struct lines lines;
    const struct mr_type *input;
};

static void dedup_open(struct dedup *d, enum mr_node_kind kind, uint32_t keys_n, int64_t delay_us,
                       uint32_t batch_rows)
{
    struct mr_node *node = &d->op.node;

    memset(d, 0, sizeof *d);
    op_init(&d->op, &d->lines);
    d->input = row_type(&d->op.arena, 2, &mr_type_string, &mr_type_timestamp);
    node->keys = column_exprs(&d->op.arena, d->input);
    node->keys_n = keys_n;
    node->output = d->input;
    node->time_rule = delay_us >= 0 ? MR_TIME_COLUMN : MR_TIME_NONE;
    node->time_key = TIME;
    node->delay_us = delay_us >= 0 ? delay_us : 0;
    op_open(&d->op, kind, batch_rows);
}

static void dedup_close(struct dedup *d)
{
    op_close(&d->op);
    clear_lines(&d->lines);
}

static void epoch(struct dedup *d, uint64_t id, int64_t late, int64_t evict,
                  const struct mr_batch *in)
{
    op_epoch(&d->op, id, late, evict);
    if (in)
        op_push(&d->op, in);
    op_mark(&d->op);
}

static void expect_counts(const struct dedup *d, uint64_t total, uint64_t updated, uint64_t dropped)
{
    assert_int_equal(d->op.ctx.counts.rows_total, total);
    assert_int_equal(d->op.ctx.counts.rows_updated, updated);
    assert_int_equal(d->op.ctx.counts.rows_dropped, dropped);
}

static void test_first_row_of_a_key_passes(void **state)
{
    (void)state;
    struct dedup d;
    dedup_open(&d, MR_NODE_DEDUPLICATE, 1, -1, 4);
    struct mr_batch b = batch_of(&d.op.arena, d.input, "a|3", "a|1", "null|2", "null|3", NULL);
    epoch(&d, 0, INT64_MIN, INT64_MIN, &b);
    expect_lines(&d.lines, "a|3", "null|2", NULL);
    expect_counts(&d, 2, 2, 0);
    static const uint32_t sel[] = {1, 3};
    struct mr_batch c = batch_of(&d.op.arena, d.input, "x|3", "a|9", "y|2", "b|3", NULL);
    c.sel = sel;
    c.n = 2;
    epoch(&d, 1, INT64_MIN, INT64_MIN, &c);
    expect_lines(&d.lines, "b|3", NULL);
    expect_counts(&d, 3, 1, 0);
    dedup_close(&d);
}

static void test_time_among_the_keys_ends_them(void **state)
{
    (void)state;
    struct dedup d;
    dedup_open(&d, MR_NODE_DEDUPLICATE, 2, 100, 4);
    struct mr_batch b = batch_of(&d.op.arena, d.input, "a|10", "a|10", "a|20", "a|null", NULL);
    epoch(&d, 0, 0, 0, &b);
    expect_lines(&d.lines, "a|10", "a|20", "a|null", NULL);
    expect_counts(&d, 3, 3, 0);
    struct mr_batch c = batch_of(&d.op.arena, d.input, "a|10", "b|9", "a|null", NULL);
    epoch(&d, 1, 9, 10, &c); /* late is <=: b goes; a|10 is a duplicate, then evicted */
    expect_lines(&d.lines, NULL);
    expect_counts(&d, 2, 0, 1);
    epoch(&d, 2, 10, 20, NULL);
    expect_counts(&d, 1, 0, 0);
    dedup_close(&d);
}

static void test_time_beside_the_keys_drops_late_rows_and_keeps_state(void **state)
{
    (void)state;
    struct dedup d;
    dedup_open(&d, MR_NODE_DEDUPLICATE, 1, 100, 4);
    struct mr_batch b = batch_of(&d.op.arena, d.input, "a|10", "b|20", NULL);
    epoch(&d, 0, 0, 0, &b);
    struct mr_batch c = batch_of(&d.op.arena, d.input, "c|20", "d|21", "d|22", NULL);
    clear_lines(&d.lines);
    epoch(&d, 1, 20, 1000, &c);
    expect_lines(&d.lines, "d|21", NULL);
    expect_counts(&d, 3, 1, 1);
    dedup_close(&d);
}

static void test_within_watermark_ends_a_delay_after_the_first(void **state)
{
    (void)state;
    struct dedup d;
    dedup_open(&d, MR_NODE_DEDUPLICATE_WITHIN, 1, 100, 4);
    struct mr_batch b = batch_of(&d.op.arena, d.input, "a|10", "a|50", "n|null", NULL);
    epoch(&d, 0, 0, 0, &b);
    expect_lines(&d.lines, "a|10", "n|null", NULL);
    expect_counts(&d, 2, 2, 0);
    /* the second a did not prolong it; in the epoch that ends it, it still suppresses */
    struct mr_batch c = batch_of(&d.op.arena, d.input, "a|200", NULL);
    epoch(&d, 1, 0, 110, &c);
    expect_lines(&d.lines, NULL);
    expect_counts(&d, 0, 0, 0);
    epoch(&d, 2, 110, 110, &c);
    expect_lines(&d.lines, "a|200", NULL);
    expect_counts(&d, 1, 1, 0);
    epoch(&d, 3, 110, 299, NULL);
    expect_counts(&d, 1, 0, 0);
    epoch(&d, 4, 299, 300, NULL);
    expect_counts(&d, 0, 0, 0);
    dedup_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_row_of_a_key_passes),
        cmocka_unit_test(test_time_among_the_keys_ends_them),
        cmocka_unit_test(test_time_beside_the_keys_drops_late_rows_and_keeps_state),
        cmocka_unit_test(test_within_watermark_ends_a_delay_after_the_first),
    };

    return mr_kernels_init(getenv("MR_KERNELS"), NULL) ? 1
                                                       : cmocka_run_group_tests(tests, NULL, NULL);
}
