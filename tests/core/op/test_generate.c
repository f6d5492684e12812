#include "tests/core/op/harness.h"

/* explode(array): n rows of n, in batches of at most batch_rows, kept columns repeated. */
static struct mr_expr *explode_of(struct mr_arena *a, const struct mr_type *list)
{
    struct mr_resolve resolve = {.arena = a, .ansi = true};
    struct mr_expr *args[1] = {column_expr(a, 1, list)}, *call = NULL;

    assert_int_equal(mr_call_make(&resolve, mr_function_find("explode"), args, 1,
                                  (struct mr_place){0}, "explode(c)", &call),
                     MR_OK);
    return call;
}

/* Rows i = 0..n: i, [0, 1, .. i - 1]; row 2: i, null. */
static struct mr_batch lists(struct mr_arena *a, const struct mr_type *input, uint32_t n)
{
    struct maker m = make(a, input);

    for (uint32_t i = 0; i < n; i++) {
        mr_builder_append_i64(&m.builders[0], i);
        if (i == 2) {
            mr_builder_append_null(&m.builders[1]);
        } else {
            for (uint32_t k = 0; k < i; k++)
                mr_builder_append_i64(&m.builders[1].children[0], k);
            mr_builder_close_row(&m.builders[1]);
        }
        m.rows++;
    }
    return made(&m);
}

static void explode(bool outer, uint32_t batch_rows)
{
    enum { ROWS = 7 };
    struct op op;
    struct lines lines = {0}, wanted = {0};

    op_init(&op, &lines);
    const struct mr_type *list = mr_type_array(&op.arena, &mr_type_bigint, true);
    const struct mr_type *input = row_type(&op.arena, 2, &mr_type_bigint, list);
    const struct mr_expr *exprs[] = {explode_of(&op.arena, list),
                                     column_expr(&op.arena, 0, &mr_type_bigint)};
    op.node.exprs = exprs;
    op.node.exprs_n = 2;
    op.node.outer = outer;
    op.node.output = row_type(&op.arena, 2, &mr_type_bigint, &mr_type_bigint);
    op_open(&op, MR_NODE_GENERATE, batch_rows);
    struct mr_batch b = lists(&op.arena, input, ROWS);
    static const uint32_t sel[] = {0, 1, 2, 3, 6};
    b.sel = sel;
    b.n = 5;
    op_push(&op, &b);
    op_push(&op, &b);
    for (uint32_t time = 0; time < 2; time++)
        for (uint32_t i = 0; i < 5; i++) {
            const uint32_t n = sel[i] == 2 ? 0 : sel[i];
            char line[LINE_BYTES];
            for (uint32_t k = 0; k < n; k++) {
                snprintf(line, sizeof line, "%u|%u", sel[i], k);
                add_line(&wanted, line);
            }
            snprintf(line, sizeof line, "%u|null", sel[i]);
            if (n == 0 && outer)
                add_line(&wanted, line);
        }
    sort_lines(&wanted);
    sort_lines(&lines);
    assert_int_equal(lines.n, wanted.n);
    for (uint32_t i = 0; i < wanted.n; i++)
        assert_string_equal(lines.text[i], wanted.text[i]);
    clear_lines(&wanted);
    clear_lines(&lines);
    op_close(&op);
}

static void test_explode(void **state)
{
    (void)state;
    for (uint32_t batch_rows = 7; batch_rows < 64; batch_rows += 9) {
        explode(false, batch_rows);
        explode(true, batch_rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explode)};

    return mr_kernels_init(getenv("MR_KERNELS"), NULL) ? 1
                                                       : cmocka_run_group_tests(tests, NULL, NULL);
}
