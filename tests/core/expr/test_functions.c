#include "core/expr/coerce.h"
#include "core/expr/generate.h"
#include "core/expr/window.h"
#include "core/mem/mem.h"
#include "tests/core/expr/bench.h"

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

static const char *common(const char *x, const char *y)
{
    const struct mr_type *type =
        mr_type_common(bench_type(&b, x), bench_type(&b, y), true, &b.arena);

    return type ? mr_type_sql(&b.arena, type) : "none";
}

static void test_common_types(void **state)
{
    (void)state;
    assert_string_equal(common("STRING", "INT"), "BIGINT");
    assert_string_equal(common("STRING", "DECIMAL(5,2)"), "DOUBLE");
    assert_string_equal(common("STRING", "DATE"), "DATE");
    assert_string_equal(common("INT", "FLOAT"), "DOUBLE");
    assert_string_equal(common("INT", "DECIMAL(2,1)"), "DECIMAL(11,1)");
    assert_string_equal(common("BIGINT", "DECIMAL(2,1)"), "DECIMAL(21,1)");
    assert_string_equal(common("DECIMAL(10,2)", "DECIMAL(5,3)"), "DECIMAL(11,3)");
    assert_string_equal(common("DATE", "TIMESTAMP"), "TIMESTAMP");
    assert_string_equal(common("ARRAY<INT>", "ARRAY<STRING>"), "ARRAY<BIGINT>");
    assert_string_equal(common("BOOLEAN", "INT"), "none");
    assert_string_equal(common("STRING", "ARRAY<INT>"), "none");
}

static const char *common_legacy(const char *x, const char *y)
{
    const struct mr_type *type =
        mr_type_common(bench_type(&b, x), bench_type(&b, y), false, &b.arena);

    return type ? mr_type_sql(&b.arena, type) : "none";
}

static const char *compared(const char *x, const char *y)
{
    const struct mr_type *type =
        mr_type_common_compared(bench_type(&b, x), bench_type(&b, y), false, &b.arena);

    return type ? mr_type_sql(&b.arena, type) : "none";
}

/* Without ANSI mode a text beside another value makes a text of it, but in comparisons. */
static void test_common_types_without_ansi(void **state)
{
    (void)state;
    assert_string_equal(common_legacy("STRING", "INT"), "STRING");
    assert_string_equal(common_legacy("DATE", "STRING"), "STRING");
    assert_string_equal(common_legacy("STRING", "BOOLEAN"), "none");
    assert_string_equal(common_legacy("STRING", "BINARY"), "none");
    assert_string_equal(common_legacy("INT", "FLOAT"), "FLOAT");
    assert_string_equal(compared("STRING", "INT"), "INT");
    assert_string_equal(compared("DECIMAL(5,2)", "STRING"), "DOUBLE");
    assert_string_equal(compared("STRING", "BOOLEAN"), "BOOLEAN");
    assert_string_equal(compared("STRING", "INTERVAL DAY"), "none");
    assert_string_equal(compared("ARRAY<INT>", "ARRAY<STRING>"), "none");
}

/* Any number for any other: the cast checks whether it fits. Some take only what they name. */
static void test_implicit_casts(void **state)
{
    (void)state;
    assert_true(mr_cast_is_implicit(&mr_type_bigint, &mr_type_int));
    assert_true(mr_cast_is_implicit(&mr_type_double, &mr_type_bigint));
    assert_true(mr_cast_is_implicit(bench_type(&b, "DECIMAL(5,2)"), &mr_type_int));
    assert_false(mr_cast_is_implicit(&mr_type_boolean, &mr_type_int));
    assert_null(CALL(&b, "unix_date", bench_text(&b, "2024-01-01")));
    assert_string_equal(b.err.condition, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
    assert_string_equal(mr_error_sqlstate("INVALID_VARIANT_CAST"), "22023");
    assert_string_equal(mr_error_sqlstate("INVALID_DATETIME_PATTERN.LENGTH"), "22007");
    assert_string_equal(mr_error_sqlstate("HLL_UNION_DIFFERENT_LG_K"), "22000");
}

static void cast_gives(struct mr_expr *x, const char *type, const char *wanted)
{
    struct mr_resolve r = {.arena = &b.arena, .ansi = true, .zone = mr_zone_utc(), .err = &b.err};
    struct mr_expr *cast;

    assert_int_equal(mr_cast_make(&r, x, bench_type(&b, type), false, (struct mr_place){0}, &cast),
                     MR_OK);
    bench_expect(&b, cast, wanted);
}

/* Values of Spark 4.2. */
static void test_casts_of_intervals(void **state)
{
    (void)state;
    b.batch.rows = b.batch.n = 1;
    cast_gives(bench_text(&b, " -1-2 "), "INTERVAL YEAR TO MONTH", "INTERVAL '-1-2' YEAR TO MONTH");
    cast_gives(bench_text(&b, "interval -'-1-2' year to month"), "INTERVAL YEAR TO MONTH",
               "INTERVAL '1-2' YEAR TO MONTH");
    cast_gives(bench_text(&b, "1 2:3:4.1234567"), "INTERVAL DAY TO SECOND",
               "INTERVAL '1 02:03:04.123456' DAY TO SECOND");
    cast_gives(bench_text(&b, "-26:03"), "INTERVAL HOUR TO MINUTE",
               "INTERVAL '-26:03' HOUR TO MINUTE");
    cast_gives(bench_text(&b, "1-12"), "INTERVAL YEAR TO MONTH",
               "INVALID_INTERVAL_FORMAT.INTERVAL_PARSING");
    cast_gives(bench_text(&b, "1-2"), "INTERVAL YEAR",
               "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING");
    cast_gives(bench_text(&b, "10."), "INTERVAL SECOND",
               "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE");
    cast_gives(bench_int(&b, 5), "INTERVAL DAY TO SECOND", "INTERVAL '0 00:00:05' DAY TO SECOND");
    cast_gives(bench_int(&b, 2147483647), "INTERVAL YEAR", "CAST_OVERFLOW");
}

static const char *result_type(const char *op, const char *x, const char *y)
{
    struct mr_expr *call = CALL(&b, op, mr_expr_column(&b.arena, 0, bench_type(&b, x), true, "x"),
                                mr_expr_column(&b.arena, 1, bench_type(&b, y), true, "y"));

    return call ? mr_type_sql(&b.arena, call->type) : b.err.condition;
}

/* scalar_arith_result_types, scalar_decimal_result_types, scalar_decimal_precision_loss */
static void test_result_types(void **state)
{
    (void)state;
    assert_string_equal(result_type("/", "INT", "INT"), "DOUBLE");
    assert_string_equal(result_type("div", "INT", "INT"), "BIGINT");
    assert_string_equal(result_type("+", "SMALLINT", "TINYINT"), "SMALLINT");
    assert_string_equal(result_type("+", "FLOAT", "INT"), "DOUBLE");
    assert_string_equal(result_type("+", "STRING", "INT"), "BIGINT");
    assert_string_equal(result_type("+", "DECIMAL(10,2)", "DECIMAL(5,3)"), "DECIMAL(12,3)");
    assert_string_equal(result_type("*", "DECIMAL(10,2)", "DECIMAL(5,3)"), "DECIMAL(16,5)");
    assert_string_equal(result_type("/", "DECIMAL(10,2)", "DECIMAL(5,3)"), "DECIMAL(19,8)");
    assert_string_equal(result_type("%", "DECIMAL(10,2)", "DECIMAL(5,3)"), "DECIMAL(5,3)");
    assert_string_equal(result_type("+", "DECIMAL(38,10)", "DECIMAL(38,18)"), "DECIMAL(38,9)");
    assert_string_equal(result_type("*", "DECIMAL(38,10)", "DECIMAL(38,18)"), "DECIMAL(38,6)");
    assert_string_equal(result_type("/", "DECIMAL(38,10)", "DECIMAL(38,18)"), "DECIMAL(38,6)");
    assert_string_equal(result_type("+", "BOOLEAN", "INT"),
                        "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES");
    assert_string_equal(result_type("array_contains", "INT", "INT"),
                        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
}

static void test_arithmetic(void **state)
{
    struct mr_expr *x = COLUMN(&b, "INT", "2147483647", "-7", NULL, "7");
    struct mr_expr *y = COLUMN(&b, "INT", "1", "3", "1", "-3");
    struct mr_expr *t = COLUMN(&b, "TINYINT", "127", "1", NULL, "2");

    (void)state;
    bench_expect(&b, CALL(&b, "+", x, y), "ARITHMETIC_OVERFLOW");
    bench_expect(&b, CALL(&b, "try_add", x, y), "NULL|-4|NULL|4");
    bench_expect(&b, CALL(&b, "+", t, t), "BINARY_ARITHMETIC_OVERFLOW");
    assert_string_equal(b.err.message,
                        "127S + 127S caused overflow. Use `try_add` to ignore overflow "
                        "problem and return NULL.");
    bench_expect(&b, CALL(&b, "%", x, y), "0|-1|NULL|1");
    bench_expect(&b, CALL(&b, "pmod", x, y), "0|2|NULL|1");
    bench_expect(&b, CALL(&b, "div", x, y), "2147483647|-2|NULL|-2");
    bench_expect(&b, CALL(&b, "/", x, CALL(&b, "-", y, y)), "DIVIDE_BY_ZERO");
    bench_expect(&b, CALL(&b, "negative", CALL(&b, "-", CALL(&b, "negative", x), bench_int(&b, 1))),
                 "ARITHMETIC_OVERFLOW");
}

/* The rows of scalar_try_cast_string_to_numbers and scalar_cast_date_strings. */
static void test_casts_of_texts(void **state)
{
    struct mr_expr *s =
        COLUMN(&b, "STRING", "12", " 12 ", "+5", "-0", "1.5", "1e3", "", "2147483648", "1d", NULL);
    static const struct {
        const char *type, *wanted;
    } casts[] = {
        {"INT", "12|12|5|0|NULL|NULL|NULL|NULL|NULL|NULL"},
        {"BIGINT", "12|12|5|0|NULL|NULL|NULL|2147483648|NULL|NULL"},
        {"DOUBLE", "12.0|12.0|5.0|-0.0|1.5|1000.0|NULL|2.147483648E9|1.0|NULL"},
        {"DECIMAL(10,2)", "12.00|12.00|5.00|0.00|1.50|1000.00|NULL|NULL|NULL|NULL"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof casts / sizeof casts[0]; i++) {
        struct mr_expr *x;
        assert_int_equal(mr_cast_make(&b.resolve, s, bench_type(&b, casts[i].type), true,
                                      (struct mr_place){0}, &x),
                         MR_OK);
        bench_expect(&b, x, casts[i].wanted);
        assert_int_equal(mr_cast_make(&b.resolve, s, bench_type(&b, casts[i].type), false,
                                      (struct mr_place){0}, &x),
                         MR_OK);
        bench_expect(&b, x, "CAST_INVALID_INPUT");
    }
    struct mr_expr *day = COLUMN(&b, "STRING", "2026-01-02", NULL);
    bench_expect(&b, CALL(&b, "date", day), "2026-01-02|NULL");
    bench_expect(&b, CALL(&b, "int", day), "CAST_INVALID_INPUT");
    struct mr_expr *x, *v = mr_expr_column(&b.arena, 0, &mr_type_int, true, "v");
    assert_int_equal(mr_cast_make(&b.resolve, v, &mr_type_date, false, (struct mr_place){0}, &x),
                     MR_USER);
    assert_string_equal(b.err.condition, "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION");
}

static void test_numeric_casts(void **state)
{
    struct mr_expr *d = COLUMN(&b, "DOUBLE", "1.9", "-1.9", "3e9", NULL), *x;

    (void)state;
    assert_int_equal(mr_cast_make(&b.resolve, d, &mr_type_int, true, (struct mr_place){0}, &x),
                     MR_OK);
    bench_expect(&b, x, "1|-1|NULL|NULL");
    assert_int_equal(mr_cast_make(&b.resolve, d, &mr_type_int, false, (struct mr_place){0}, &x),
                     MR_OK);
    bench_expect(&b, x, "CAST_OVERFLOW");
    assert_string_equal(
        b.err.message,
        "The value 3.0E9D of the type \"DOUBLE\" cannot be cast to \"INT\" due to an "
        "overflow. Use `try_cast` to tolerate overflow and return NULL instead.");
}

static void test_texts(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "a,b,,c,,", "", NULL,
                               "\xc3\xa9\xe2\x82\xacx\xf0\x9f\x98\x80 more than twelve");

    (void)state;
    bench_expect(&b, CALL(&b, "length", s), "8|0|NULL|21");
    bench_expect(&b, CALL(&b, "substring", s, bench_int(&b, 2), bench_int(&b, 3)),
                 ",b,||NULL|\xe2\x82\xacx\xf0\x9f\x98\x80");
    bench_expect(&b, CALL(&b, "substring", s, bench_int(&b, -6), bench_int(&b, 9)),
                 "b,,c,,||NULL|twelve");
    bench_expect(
        &b, CALL(&b, "split", s, bench_text(&b, ",")),
        "[a, b, , c, , ]|[]|NULL|[\xc3\xa9\xe2\x82\xacx\xf0\x9f\x98\x80 more than twelve]");
    bench_expect(&b, CALL(&b, "regexp_replace", s, bench_text(&b, "(.),"), bench_text(&b, "<$1>")),
                 "<a><b>,<c>,||NULL|\xc3\xa9\xe2\x82\xacx\xf0\x9f\x98\x80 more than twelve");
    bench_expect(&b, CALL(&b, "like", s, bench_text(&b, "%,_,%")), "true|false|NULL|false");
    bench_expect(&b, CALL(&b, "rlike", s, bench_text(&b, "^[a-c,]+$")), "true|false|NULL|false");
    bench_expect(&b, CALL(&b, "rlike", s, bench_text(&b, "(")), "INVALID_PARAMETER_VALUE.PATTERN");
    bench_expect(&b, CALL(&b, "concat_ws", bench_text(&b, "-"), s, bench_text(&b, "z")),
                 "a,b,,c,,-z|-z|z|\xc3\xa9\xe2\x82\xacx\xf0\x9f\x98\x80 more than twelve-z");
}

static void test_distances(void **state)
{
    static const char *const wanted[] = {"-1|-1|-1|-1|-1", "-1|0|-1|-1|-1", "1|0|-1|-1|-1",
                                         "1|0|2|-1|-1",    "1|0|2|3|-1",    "1|0|2|3|5"};
    struct mr_expr *x = COLUMN(&b, "STRING", "a", "\xc3\xa9", "flaw", "kitten", "abcde");
    struct mr_expr *y = COLUMN(&b, "STRING", "", "\xc3\xa9", "lawn", "sitting", "vwxyz");

    (void)state;
    for (int limit = -1; limit < 4; limit++)
        bench_expect(&b, CALL(&b, "levenshtein", x, y, bench_int(&b, limit)), wanted[limit + 1]);
    bench_expect(&b, CALL(&b, "levenshtein", x, y, bench_int(&b, INT32_MAX)), wanted[5]);
    bench_expect(&b, CALL(&b, "levenshtein", x, y), wanted[5]);
}

/* A call that runs out of memory leaves nothing behind. */
static void test_distance_without_memory(void **state)
{
    static char text[1 << 16];
    static struct mr_budget budget;
    static struct mr_arena a;
    static struct mr_eval *e;
    static jmp_buf escape;
    const struct mr_expr *x;
    struct mr_column out;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    struct mr_expr *t = COLUMN(&b, "STRING", text);
    x = CALL(&b, "levenshtein", t, t);
    mr_budget_init(&budget, "test", NULL, 500000);
    mr_arena_init(&a, &budget, &escape);
    assert_int_equal(mr_eval_open(&x, 1, 1, &a, &e, &b.err), MR_OK);
    if (setjmp(escape) == 0) {
        mr_eval_reset(e, &b.context);
        (void)!mr_eval(e, 0, &b.batch, &out, &b.err);
        fail();
    }
    mr_eval_close(e);
    mr_arena_fini(&a);
    assert_int_equal(budget.used_bytes, 0);
}

/* A resolve function folds the cast that it put over a constant, no other call. */
static void test_only_casts_fold(void **state)
{
    struct mr_expr *d = COLUMN(&b, "DOUBLE", "1.25");

    (void)state;
    bench_expect(&b, CALL(&b, "round", d, bench_text(&b, "1")), "1.3");
    assert_null(CALL(&b, "round", d, CALL(&b, "length", bench_text(&b, "x"))));
    assert_string_equal(b.err.condition, "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT");
}

static void test_hashes(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "a");

    (void)state;
    bench_expect(&b, CALL(&b, "hash", s), "1485273170");
    bench_expect(&b, CALL(&b, "xxhash64", s), "-8582455328737087284");
    /* Column after column; a null leaves the hash as it is. */
    bench_expect(&b, CALL(&b, "hash", COLUMN(&b, "STRING", NULL)), "42");
    bench_expect(&b, CALL(&b, "hash", COLUMN(&b, "INT", NULL), s), "1485273170");
    bench_expect(&b, CALL(&b, "xxhash64", s, COLUMN(&b, "DOUBLE", NULL)), "-8582455328737087284");
}

static void test_decode(void **state)
{
    static const struct {
        const char *hex, *charset, *wanted; /* as Spark 4.2 */
    } cases[] = {
        {"C3A4", "utf-8", "\xc3\xa4"},
        {"FF61", "utf-8", "MALFORMED_CHARACTER_CODING"},
        {"EDA080", "UTF-8", "MALFORMED_CHARACTER_CODING"},
        {"D83DDE00", "utf-16be", "\xf0\x9f\x98\x80"},
        {"D8000061", "utf-16be", "MALFORMED_CHARACTER_CODING"},
        {"D800", "utf-16be", "MALFORMED_CHARACTER_CODING"},
        {"DC00", "utf-16be", "MALFORMED_CHARACTER_CODING"},
        {"61", "utf-16be", "MALFORMED_CHARACTER_CODING"},
        {"80", "us-ascii", "MALFORMED_CHARACTER_CODING"},
    };

    (void)state;
    COLUMN(&b, "INT", "1"); /* one row */
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_expr *bytes = CALL(&b, "unhex", bench_text(&b, cases[i].hex));
        bench_expect(&b, CALL(&b, "decode", bytes, bench_text(&b, cases[i].charset)),
                     cases[i].wanted);
    }
}

static void test_base64(void **state)
{
    static const char *const cases[][2] = {
        /* as Spark 4.2 */
        {"", ""},
        {"YWJj", "616263"},
        {"YW\nJ j", "616263"},
        {"YWI=", "6162"},
        {"YQ==", "61"},
        {"YQ", "61"},
        {"YWJjYQ", "61626361"},
        {" ", ""},
        {"Y", "CONVERSION_INVALID_INPUT"},
        {"Y!Q=", "CONVERSION_INVALID_INPUT"},
        {"YW-_", "CONVERSION_INVALID_INPUT"},
        {"YQ=", "CONVERSION_INVALID_INPUT"},
        {"YQ= =", "CONVERSION_INVALID_INPUT"},
        {"YQ==\n", "CONVERSION_INVALID_INPUT"},
        {"YQ==YQ==", "CONVERSION_INVALID_INPUT"},
        {"YWJj=", "CONVERSION_INVALID_INPUT"},
        {"====", "CONVERSION_INVALID_INPUT"},
    };

    (void)state;
    COLUMN(&b, "INT", "1"); /* one row */
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_expect(
            &b,
            CALL(&b, "hex",
                 CALL(&b, "to_binary", bench_text(&b, cases[i][0]), bench_text(&b, "base64"))),
            cases[i][1]);
}

/* window_before_epoch_*, window_sliding_not_dividing */
static void test_windows(void **state)
{
    struct mr_expr *t =
        COLUMN(&b, "TIMESTAMP", "1969-12-31T23:59:59.999999Z", "2026-01-01T00:05:00Z", NULL);
    struct mr_expr *w = CALL(&b, "window", t, bench_text(&b, "5 minutes"));
    const struct mr_window *data;

    (void)state;
    bench_expect(&b, w,
                 "{1969-12-31 23:55:00, 1970-01-01 00:00:00}|{2026-01-01 00:05:00, "
                 "2026-01-01 00:10:00}|NULL");
    bench_expect(&b, CALL(&b, "window_time", w),
                 "1969-12-31 23:59:59.999999|2026-01-01 00:09:59.999999|NULL");
    w = CALL(&b, "window", t, bench_text(&b, "10 minutes"), bench_text(&b, "4 minutes"));
    data = w->data;
    assert_int_equal(data->windows_n, 3);
    struct mr_expr *size = mr_expr_literal_i64(&b.arena, &mr_type_bigint, data->size_us);
    struct mr_expr *slide = mr_expr_literal_i64(&b.arena, &mr_type_bigint, data->slide_us);
    bench_expect(&b, CALL(&b, "window_slice", t, size, slide, bench_int(&b, 0), bench_int(&b, 2)),
                 "NULL|{2025-12-31 23:56:00, 2026-01-01 00:06:00}|NULL");
    assert_null(CALL(&b, "window", t, bench_text(&b, "-5 minutes")));
    assert_string_equal(b.err.condition, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE");
    assert_null(CALL(&b, "window", t, bench_text(&b, "5 minutes"), bench_text(&b, "6 minutes")));
    assert_string_equal(b.err.condition, "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION");
    assert_null(CALL(&b, "window", t, bench_text(&b, "1 month")));
    assert_string_equal(b.err.condition, "_LEGACY_ERROR_TEMP_3231");
    w = CALL(&b, "window", t, bench_text(&b, "106751991 days"));
    assert_int_equal(((const struct mr_window *)w->data)->windows_n, 1);
    assert_null(CALL(&b, "window", t, bench_text(&b, "200000000 days")));
    assert_string_equal(b.err.condition, "ARITHMETIC_OVERFLOW");
}

static void test_times_out_of_range(void **state)
{
    struct mr_expr *one = bench_int(&b, 1), *first = COLUMN(&b, "BIGINT", "-9223372036854775808");
    struct mr_expr *last = COLUMN(&b, "BIGINT", "9223372036854775807");

    (void)state;
    first = CALL(&b, "timestamp_micros", first);
    last = CALL(&b, "timestamp_micros", last);
    bench_expect(&b, CALL(&b, "-", last, first), "ARITHMETIC_OVERFLOW");
    bench_expect(&b, CALL(&b, "make_date", bench_int(&b, 5881580), bench_int(&b, 7), one),
                 "+5881580-07-01");
    bench_expect(&b, CALL(&b, "make_date", bench_int(&b, 5881581), one, one),
                 "ARITHMETIC_OVERFLOW");
    bench_expect(&b, CALL(&b, "make_date", bench_int(&b, INT32_MAX), one, one),
                 "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION");
    bench_expect(&b, CALL(&b, "make_timestamp", bench_int(&b, 294248), one, one, one, one, one),
                 "ARITHMETIC_OVERFLOW");
}

static void test_generators(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "a,b", NULL, "c");
    struct mr_expr *list = CALL(&b, "split", s, bench_text(&b, ","));
    const struct mr_expr *x = CALL(&b, "posexplode", list);
    struct mr_generated g;
    struct mr_eval *e;

    (void)state;
    assert_int_equal(mr_eval_open(&x, 1, 4, &b.arena, &e, &b.err), MR_OK);
    mr_eval_reset(e, &b.context);
    assert_int_equal(mr_generate(e, 0, &b.batch, false, &g, &b.err), MR_OK);
    assert_int_equal(g.rows, 3);
    assert_int_equal(g.parents[1], 0);
    assert_int_equal(g.parents[2], 2);
    assert_int_equal(g.columns[0].i32[1], 1);
    assert_int_equal(mr_generate(e, 0, &b.batch, true, &g, &b.err), MR_OK);
    assert_int_equal(g.rows, 4);
    assert_int_equal(g.offsets[2] - g.offsets[1], 1);
    assert_true(mr_column_is_null(&g.columns[1], 2));
    assert_true(mr_text_equal(mr_column_text(&g.columns[1], 3), MR_TEXT("c")));
    mr_eval_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_common_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_common_types_without_ansi, setup, teardown),
        cmocka_unit_test_setup_teardown(test_implicit_casts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_casts_of_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(test_casts_of_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numeric_casts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_distances, setup, teardown),
        cmocka_unit_test_setup_teardown(test_distance_without_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_casts_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hashes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_base64, setup, teardown),
        cmocka_unit_test_setup_teardown(test_decode, setup, teardown),
        cmocka_unit_test_setup_teardown(test_windows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times_out_of_range, setup, teardown),
        cmocka_unit_test_setup_teardown(test_generators, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
