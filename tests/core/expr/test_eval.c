#include "tests/core/expr/bench.h"

#include <sys/mman.h>
#include <unistd.h>

static struct bench b;

static int setup(void **state)
{
    (void)state;
    bench_init(&b);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    bench_fini(&b);
    return 0;
}

static void test_table_is_sorted(void **state)
{
    uint32_t n;
    const char *const *names = mr_function_names(&n);

    (void)state;
    assert_true(n > 250);
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_function *f = mr_function_find(names[i]);
        assert_true(i == 0 || strcmp(names[i - 1], names[i]) < 0);
        assert_non_null(f);
        assert_string_equal(f->name, names[i]);
        assert_non_null(f->resolve);
        assert_true(f->usage[0] != 0 && f->args_min <= f->args_max);
        assert_int_equal(f->aggregate != NULL, (f->flags & MR_FN_AGGREGATE) != 0);
        assert_int_equal(f->generate != NULL, (f->flags & MR_FN_GENERATOR) != 0);
    }
    assert_ptr_equal(mr_function_find("UPPER"), mr_function_find("upper"));
    assert_null(mr_function_find("no_such_function"));
}

static void test_argument_count(void **state)
{
    (void)state;
    assert_null(bench_call(&b, "upper", 0, NULL));
    assert_string_equal(b.err.condition, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION");
}

/* scalar_three_valued_logic */
static void test_three_valued_logic(void **state)
{
    struct mr_expr *p =
        COLUMN(&b, "BOOLEAN", "true", "true", "true", "false", "false", "false", NULL, NULL, NULL);
    struct mr_expr *q =
        COLUMN(&b, "BOOLEAN", "true", "false", NULL, "true", "false", NULL, "true", "false", NULL);

    (void)state;
    bench_expect(&b, CALL(&b, "and", p, q), "true|false|NULL|false|false|false|NULL|false|NULL");
    bench_expect(&b, CALL(&b, "or", p, q), "true|true|true|true|false|NULL|true|NULL|NULL");
    bench_expect(&b, CALL(&b, "not", p), "false|false|false|true|true|true|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "=", p, q), "true|false|NULL|false|true|NULL|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "<=>", p, q), "true|false|false|false|true|false|false|false|true");
    bench_expect(&b, CALL(&b, "isnull", q), "false|false|true|false|false|true|false|false|true");
}

/* Rows that a branch does not take must not raise. */
static void test_branches_are_lazy(void **state)
{
    struct mr_expr *x = COLUMN(&b, "INT", "0", "2", NULL, "-4", "0");
    struct mr_expr *zero = CALL(&b, "=", x, bench_int(&b, 0));
    struct mr_expr *inverse = CALL(&b, "/", bench_int(&b, 8), x);

    (void)state;
    bench_expect(&b, inverse, "DIVIDE_BY_ZERO");
    bench_expect(&b, CALL(&b, "if", zero, mr_expr_literal_null(&b.arena, &mr_type_double), inverse),
                 "NULL|4.0|NULL|-2.0|NULL");
    bench_expect(&b,
                 CALL(&b, "case", zero, CALL(&b, "negative", x), CALL(&b, "isnull", x),
                      bench_int(&b, 9), inverse),
                 "0.0|4.0|9.0|-2.0|0.0");
    bench_expect(&b,
                 CALL(&b, "and", CALL(&b, "not", zero), CALL(&b, ">", inverse, bench_int(&b, 0))),
                 "false|true|NULL|false|false");
    bench_expect(&b, CALL(&b, "or", zero, CALL(&b, ">", inverse, bench_int(&b, 0))),
                 "true|true|NULL|false|true");
    bench_expect(&b, CALL(&b, "coalesce", CALL(&b, "nullif", x, bench_int(&b, 2)), inverse),
                 "0.0|4.0|NULL|-4.0|0.0");
}

/* A result made under a narrowed selection is not taken for all rows. */
static void test_common_subexpressions(void **state)
{
    struct mr_expr *x = COLUMN(&b, "INT", "1", "2", "3", "4");
    struct mr_expr *twice = CALL(&b, "+", x, x);
    struct mr_expr *small = CALL(&b, "<", x, bench_int(&b, 3));
    struct mr_expr *partly = CALL(&b, "if", small, twice, bench_int(&b, 0));

    (void)state;
    bench_expect(&b, CALL(&b, "+", partly, CALL(&b, "+", x, x)), "4|8|6|8");
    bench_expect(&b, CALL(&b, "+", CALL(&b, "+", x, x), partly), "4|8|6|8");
}

static void test_filter_narrows(void **state)
{
    struct mr_expr *x = COLUMN(&b, "INT", "0", "2", NULL, "-4", "0", "8");
    struct mr_expr *not_zero = CALL(&b, "<>", x, bench_int(&b, 0));
    struct mr_expr *inverse = CALL(&b, ">", CALL(&b, "/", bench_int(&b, 8), x), bench_int(&b, 0));
    const struct mr_expr *all = CALL(&b, "and", not_zero, inverse);
    uint32_t sel[8], n;
    struct mr_eval *e;

    (void)state;
    assert_int_equal(mr_eval_open(&all, 1, 8, &b.arena, &e, &b.err), MR_OK);
    mr_eval_reset(e, &b.context);
    assert_int_equal(mr_eval_filter(e, 0, &b.batch, sel, &n, &b.err), MR_OK);
    assert_int_equal(n, 2);
    assert_int_equal(sel[0], 1);
    assert_int_equal(sel[1], 5);
    mr_eval_close(e);
}

static void test_constants_fold(void **state)
{
    struct mr_expr *x = CALL(
        &b, "upper",
        CALL(&b, "concat", bench_text(&b, "stra\xc3\x9f"), bench_text(&b, "e and more of it")));
    struct mr_expr *out;

    (void)state;
    assert_int_equal(mr_eval_constant(x, &b.context, &b.arena, &out, &b.err), MR_OK);
    assert_int_equal(out->kind, MR_EXPR_LITERAL);
    assert_true(mr_text_equal(mr_column_text(out->value, 0), MR_TEXT("STRASSE AND MORE OF IT")));
}

/* What resolve has read of the arguments takes part in equality. */
static void test_equality(void **state)
{
    struct mr_expr *x = COLUMN(&b, "DOUBLE", "1.25");
    struct mr_expr *one = CALL(&b, "round", x, bench_int(&b, 1));
    struct mr_expr *also = CALL(&b, "round", x, bench_int(&b, 1));
    struct mr_expr *two = CALL(&b, "round", x, bench_int(&b, 2));

    (void)state;
    assert_true(mr_expr_equal(one, also));
    assert_false(mr_expr_equal(one, two));
    bench_expect(&b, CALL(&b, "-", two, one), "-0.050000000000000044");
    assert_false(mr_expr_is_deterministic(CALL(&b, "+", one, bench_call(&b, "rand", 0, NULL))));
}

static void test_lambdas_capture(void **state)
{
    struct mr_expr *text = COLUMN(&b, "STRING", "1,2,30", "", NULL, "5");
    struct mr_expr *n = COLUMN(&b, "INT", "10", "20", "30", NULL);
    struct mr_expr *array = CALL(&b, "split", text, bench_text(&b, ","));
    struct mr_expr *v = MR_NEW(&b.arena, struct mr_expr),
                   *lambda = MR_NEW(&b.arena, struct mr_expr);

    (void)state;
    *v = (struct mr_expr){
        .kind = MR_EXPR_VARIABLE, .type = &mr_type_string, .nullable = true, .text = "x"};
    *lambda = (struct mr_expr){.kind = MR_EXPR_LAMBDA,
                               .variables_n = 1,
                               .args_n = 1,
                               .nullable = true,
                               .args = MR_NEW_ARRAY(&b.arena, struct mr_expr *, 1),
                               .text = "lambda"};
    lambda->args[0] = CALL(&b, "concat", v, CALL(&b, "coalesce", n, bench_int(&b, 0)));
    lambda->type = lambda->args[0]->type;
    bench_expect(&b, CALL(&b, "transform", array, lambda), "[110, 210, 3010]|[20]|NULL|[50]");
}

/* Where an AND leaves rows out, their views are those of an earlier batch, whose bytes are gone. */
static void test_in_reads_only_rows_that_are_asked_for(void **state)
{
    static const char text[] = "a text that lies elsewhere";
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *gone = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct mr_expr *asked = COLUMN(&b, "BOOLEAN", "true", "true");
    struct mr_expr *s = COLUMN(&b, "STRING", NULL, NULL);
    struct mr_expr *t = COLUMN(&b, "STRING", "x", "y");
    const struct mr_expr *x =
        CALL(&b, "and", asked, CALL(&b, "in", CALL(&b, "coalesce", s, t), bench_text(&b, text)));
    struct mr_column far = b.columns[2], short_ones = b.columns[2], out;
    struct mr_view views[2] = {0};
    uint8_t *heaps[] = {(uint8_t *)gone};
    struct mr_eval *e;

    (void)state;
    assert_ptr_not_equal(gone, MAP_FAILED);
    memcpy(gone, text, sizeof text);
    for (int i = 0; i < 2; i++)
        mr_view_set(&views[i], gone, sizeof text - 1, 0, 0);
    far.views = views;
    far.heaps = heaps;
    far.heaps_n = 1;
    assert_int_equal(mr_eval_open(&x, 1, 2, &b.arena, &e, &b.err), MR_OK);
    b.columns[2] = far;
    mr_eval_reset(e, &b.context);
    assert_int_equal(mr_eval(e, 0, &b.batch, &out, &b.err), MR_OK);
    assert_true(mr_bit_get(out.bits, 1));
    munmap(gone, page);
    b.columns[2] = short_ones;
    mr_bit_clear(b.columns[0].bits, 1);
    mr_eval_reset(e, &b.context);
    assert_int_equal(mr_eval(e, 0, &b.batch, &out, &b.err), MR_OK);
    assert_false(mr_bit_get(out.bits, 0) || mr_bit_get(out.bits, 1));
    mr_eval_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_in_reads_only_rows_that_are_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_table_is_sorted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_argument_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_three_valued_logic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_branches_are_lazy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_common_subexpressions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_filter_narrows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_constants_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equality, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lambdas_capture, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
