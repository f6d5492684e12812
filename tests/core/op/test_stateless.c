/* filter, project, expand, union, watermark, limit, globalLimit, sort. */
#include "tests/core/op/harness.h"

struct fixture {
    struct op op;
    struct lines lines;
    const struct mr_type *input; /* v BIGINT, t STRING, b BOOLEAN */
};

static void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    op_init(&f->op, &f->lines);
    f->input = row_type(&f->op.arena, 3, &mr_type_bigint, &mr_type_string, &mr_type_boolean);
    f->op.node.output = f->input;
}

static void fixture_close(struct fixture *f)
{
    op_close(&f->op);
    clear_lines(&f->lines);
}

static struct mr_batch rows(struct fixture *f)
{
    return batch_of(&f->op.arena, f->input, "3|c|1", "1|a|0", "null|n|1", "2|null|null", NULL);
}

static const struct mr_expr **exprs_of(struct fixture *f, uint32_t a, uint32_t b)
{
    const struct mr_expr **exprs = MR_NEW_ARRAY(&f->op.arena, const struct mr_expr *, 2);

    exprs[0] = column_expr(&f->op.arena, a, f->input->fields[a].type);
    exprs[1] = column_expr(&f->op.arena, b, f->input->fields[b].type);
    return exprs;
}

static void test_filter_keeps_true(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.op.node.exprs = exprs_of(&f, 2, 2);
    f.op.node.exprs_n = 1;
    op_open(&f.op, MR_NODE_FILTER, 4);
    struct mr_batch b = rows(&f);
    op_push(&f.op, &b);
    expect_lines(&f.lines, "3|c|true", "null|n|true", NULL);
    static const uint32_t sel[] = {0, 1};
    b.sel = sel;
    b.n = 2;
    op_push(&f.op, &b);
    expect_lines(&f.lines, "3|c|true", NULL);
    fixture_close(&f);
}

static void test_project_shares_columns(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.op.node.exprs = exprs_of(&f, 1, 0);
    f.op.node.exprs_n = 2;
    op_open(&f.op, MR_NODE_PROJECT, 4);
    const struct mr_batch b = rows(&f);
    struct mr_batch out = {0};
    assert_int_equal(f.op.ops->step(&f.op.ctx, &b, &out), MR_NEED_INPUT);
    assert_ptr_equal(out.columns[1].data, b.columns[0].data);
    collect(&f.lines, &out);
    expect_lines(&f.lines, "c|3", "a|1", "n|null", "null|2", NULL);
    fixture_close(&f);
}

static void test_expand_gives_each_projection(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    const struct mr_expr **exprs = MR_NEW_ARRAY(&f.op.arena, const struct mr_expr *, 4);
    memcpy(exprs, exprs_of(&f, 0, 0), 2 * sizeof *exprs);
    memcpy(exprs + 2, exprs_of(&f, 0, 0), 2 * sizeof *exprs);
    exprs[1] = mr_expr_literal_i64(&f.op.arena, &mr_type_bigint, 7);
    exprs[3] = mr_expr_literal_i64(&f.op.arena, &mr_type_bigint, 8);
    f.op.node.exprs = exprs;
    f.op.node.exprs_n = 4;
    f.op.node.rows_n = 2;
    op_open(&f.op, MR_NODE_EXPAND, 4);
    struct mr_batch b = rows(&f);
    b.n = 2;
    static const uint32_t sel[] = {1, 2};
    b.sel = sel;
    op_push(&f.op, &b);
    op_push(&f.op, &b);
    expect_lines(&f.lines, "1|7", "1|8", "null|7", "null|8", "1|7", "1|8", "null|7", "null|8",
                 NULL);
    fixture_close(&f);
}

static void test_watermark_notes_selected_times(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.op.node.exprs = exprs_of(&f, 0, 0);
    f.op.node.exprs_n = 1;
    op_open(&f.op, MR_NODE_WATERMARK, 4);
    struct mr_batch b = rows(&f);
    static const uint32_t nulls[] = {2}, sel[] = {1, 2, 3};
    b.sel = nulls;
    b.n = 1;
    op_push(&f.op, &b);
    assert_int_equal(f.op.ctx.times_n, 0);
    b.sel = sel;
    b.n = 3;
    op_push(&f.op, &b);
    assert_int_equal(f.op.ctx.times_n, 2);
    assert_int_equal(f.op.ctx.max_time_us, 2);
    assert_int_equal(f.op.ctx.min_time_us, 1);
    assert_int_equal((int64_t)f.op.ctx.time_sum_us, 3);
    b = rows(&f);
    op_push(&f.op, &b);
    assert_int_equal(f.op.ctx.max_time_us, 3);
    assert_int_equal(f.op.ctx.times_n, 5);
    fixture_close(&f);
}

static void test_limit_is_per_epoch(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.op.node.limit = 2;
    f.op.node.skip = 1;
    op_open(&f.op, MR_NODE_LIMIT, 4);
    const struct mr_batch b = rows(&f);
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
        op_epoch(&f.op, epoch, 0, 0);
        op_push(&f.op, &b);
        op_push(&f.op, &b);
        assert_int_equal(f.op.last, MR_NEED_INPUT);
        expect_lines(&f.lines, "1|a|false", "null|n|true", NULL);
    }
    f.op.epoch.is_batch = true;
    op_epoch(&f.op, 2, 0, 0);
    op_push(&f.op, &b);
    assert_int_equal(f.op.last, MR_DONE);
    expect_lines(&f.lines, "1|a|false", "null|n|true", NULL);
    fixture_close(&f);
}

static void test_global_limit_counts_over_epochs(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    f.op.node.limit = 5;
    op_open(&f.op, MR_NODE_GLOBAL_LIMIT, 4);
    const struct mr_batch b = rows(&f);
    op_epoch(&f.op, 0, 0, 0);
    op_mark(&f.op);
    assert_int_equal(f.op.ctx.counts.rows_total, 0);
    op_epoch(&f.op, 1, 0, 0);
    op_push(&f.op, &b);
    op_mark(&f.op);
    assert_int_equal(f.lines.n, 4);
    assert_int_equal(f.op.ctx.counts.rows_total, 1);
    assert_int_equal(f.op.ctx.counts.rows_updated, 1);
    clear_lines(&f.lines);
    op_epoch(&f.op, 2, 0, 0);
    op_push(&f.op, &b);
    op_push(&f.op, &b);
    op_mark(&f.op);
    expect_lines(&f.lines, "3|c|true", NULL);
    op_epoch(&f.op, 3, 0, 0);
    op_push(&f.op, &b);
    op_mark(&f.op);
    expect_lines(&f.lines, NULL);
    assert_int_equal(f.op.ctx.counts.rows_total, 1);
    assert_int_equal(f.op.ctx.counts.rows_updated, 0);
    fixture_close(&f);
}

static void sort_by(struct fixture *f, uint32_t column, bool descending, bool nulls_first)
{
    struct mr_sort_key *key = MR_NEW(&f->op.arena, struct mr_sort_key);

    key->expr = column_expr(&f->op.arena, column, f->input->fields[column].type);
    key->descending = descending;
    key->nulls_first = nulls_first;
    f->op.node.sort = key;
    f->op.node.sort_n = 1;
}

static void expect_order(struct fixture *f, const char *const *wanted, uint32_t n)
{
    assert_int_equal(f->lines.n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_string_equal(f->lines.text[i], wanted[i]);
    clear_lines(&f->lines);
}

static void test_sort_orders_an_epoch(void **state)
{
    (void)state;
    static const char *const up[] = {"null|n|true", "1|a|false", "2|null|null", "3|c|true"};
    static const char *const down[] = {"3|c|true", "2|null|null", "1|a|false", "null|n|true"};
    for (uint32_t k = 0; k < 2; k++) {
        struct fixture f;
        fixture_init(&f);
        sort_by(&f, 0, k == 1, k == 0);
        op_open(&f.op, MR_NODE_SORT, 4);
        for (uint32_t epoch = 0; epoch < 2; epoch++) {
            const struct mr_batch b = rows(&f);
            op_push(&f.op, &b);
            op_mark(&f.op);
            expect_order(&f, k == 0 ? up : down, 4);
        }
        op_mark(&f.op);
        expect_order(&f, NULL, 0);
        fixture_close(&f);
    }
}

static void test_sort_is_stable_and_keeps_the_first(void **state)
{
    (void)state;
    enum { ROWS = 20000, LIMIT = 7 };
    struct fixture f;
    fixture_init(&f);
    sort_by(&f, 0, false, true);
    f.op.node.limit = LIMIT;
    op_open(&f.op, MR_NODE_SORT, 64);
    for (uint32_t first = 0; first < ROWS; first += 50) {
        struct maker m = make(&f.op.arena, f.input);
        for (uint32_t i = first; i < first + 50; i++) {
            char line[64];
            snprintf(line, sizeof line, "%u|row %u|0", (i * 7919) % 2000 / 3, i);
            make_row(&m, line);
        }
        const struct mr_batch b = made(&m);
        op_push(&f.op, &b);
    }
    op_mark(&f.op);
    assert_int_equal(f.lines.n, LIMIT);
    uint32_t at = 0; /* rows with key 0, in the order they came */
    for (uint32_t i = 0; i < ROWS && at < LIMIT; i++)
        if ((i * 7919) % 2000 / 3 == 0) {
            char line[64];
            snprintf(line, sizeof line, "0|row %u|false", i);
            assert_string_equal(f.lines.text[at++], line);
        }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_keeps_true),
        cmocka_unit_test(test_project_shares_columns),
        cmocka_unit_test(test_expand_gives_each_projection),
        cmocka_unit_test(test_watermark_notes_selected_times),
        cmocka_unit_test(test_limit_is_per_epoch),
        cmocka_unit_test(test_global_limit_counts_over_epochs),
        cmocka_unit_test(test_sort_orders_an_epoch),
        cmocka_unit_test(test_sort_is_stable_and_keeps_the_first),
    };

    return mr_kernels_init(getenv("MR_KERNELS"), NULL) ? 1
                                                       : cmocka_run_group_tests(tests, NULL, NULL);
}
