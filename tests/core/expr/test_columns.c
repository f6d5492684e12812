/* Functions that work on whole columns: what they give must not depend on how rows are selected. */
#include "core/expr/generate.h"
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

/* Long texts of several columns, each with heaps of its own. */
static void test_branches(void **state)
{
    struct mr_expr *x = COLUMN(&b, "STRING", "the first long text", NULL, "a", NULL, "short one");
    struct mr_expr *y = COLUMN(&b, "STRING", "b", "the second long text", "c", NULL, NULL);
    struct mr_expr *z = COLUMN(&b, "STRING", "d", "e", "the third long text", "the fourth one too",
                               "not taken by any row");
    struct mr_expr *n = COLUMN(&b, "INT", "1", "2", "3", NULL, "5");
    struct mr_expr *three = CALL(&b, "=", n, bench_int(&b, 3));

    (void)state;
    bench_expect(&b, CALL(&b, "coalesce", x, y, z),
                 "the first long text|the second long text|a|the fourth one too|short one");
    bench_expect(&b, CALL(&b, "case", three, z, CALL(&b, ">", n, bench_int(&b, 3)), x, y),
                 "b|the second long text|the third long text|NULL|short one");
    bench_expect(&b, CALL(&b, "case", three, z), "NULL|NULL|the third long text|NULL|NULL");
    bench_expect(&b, CALL(&b, "nullif", n, bench_int(&b, 2)), "1|NULL|3|NULL|5");
    bench_expect(&b, CALL(&b, "nullif", x, bench_text(&b, "a")),
                 "the first long text|NULL|NULL|NULL|short one");
    bench_expect(&b, CALL(&b, "if", three, CALL(&b, "array", n, n), CALL(&b, "array", n)),
                 "[1]|[2]|[3, 3]|[null]|[5]");
    bench_expect(&b,
                 CALL(&b, "if", three, CALL(&b, "struct", CALL(&b, "+", n, n), x),
                      CALL(&b, "struct", CALL(&b, "*", n, n), x)),
                 "{1, the first long text}|{4, null}|{6, a}|{null, null}|{25, short one}");
    bench_expect(&b, CALL(&b, "greatest", x, y, z),
                 "the first long text|the second long text|the third long text|the fourth one too|"
                 "short one");
    bench_expect(&b, CALL(&b, "length", CALL(&b, "coalesce", x, y)), "19|20|1|NULL|9");
}

static void test_many_branches(void **state)
{
    enum { BRANCHES = 300 };
    struct mr_expr *n = COLUMN(&b, "INT", "7", "299", "300", NULL), *args[2 * BRANCHES];

    (void)state;
    for (int32_t i = 0; i < BRANCHES; i++) {
        args[2 * i] = CALL(&b, "=", n, bench_int(&b, i));
        args[2 * i + 1] = bench_int(&b, i * i);
    }
    bench_expect(&b, bench_call(&b, "case", 2 * BRANCHES, args), "49|89401|NULL|NULL");
}

static void test_equal_texts(void **state)
{
    struct mr_expr *x = COLUMN(&b, "STRING", "twelve bytes", "thirteen byte", "thirteen bytf", "",
                               NULL, "thirteen byte");
    struct mr_expr *y = COLUMN(&b, "STRING", "twelve bytez", "thirteen byte", "thirteen byte", "",
                               "thirteen byte", NULL);

    (void)state;
    bench_expect(&b, CALL(&b, "=", x, y), "false|true|false|true|NULL|NULL");
    bench_expect(&b, CALL(&b, "<>", x, y), "true|false|true|false|NULL|NULL");
    bench_expect(&b, CALL(&b, "=", x, bench_text(&b, "thirteen byte")),
                 "false|true|false|false|NULL|true");
    bench_expect(&b, CALL(&b, "=", x, bench_text(&b, "twelve bytes")),
                 "true|false|false|false|NULL|false");
    bench_expect(&b,
                 CALL(&b, "in", x, bench_text(&b, "thirteen bytf"), bench_text(&b, "twelve bytes")),
                 "true|false|true|false|NULL|false");
}

static void test_like(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "abcabc", "aab", "a", "", NULL, "a%c");
    static const char *const cases[][2] = {
        {"%", "true|true|true|true|NULL|true"},
        {"%%", "true|true|true|true|NULL|true"},
        {"", "false|false|false|true|NULL|false"},
        {"a", "false|false|true|false|NULL|false"},
        {"a%", "true|true|true|false|NULL|true"},
        {"%c", "true|false|false|false|NULL|true"},
        {"a%a", "false|false|false|false|NULL|false"},
        {"a%b%c", "true|false|false|false|NULL|false"},
        {"%a%b%", "true|true|false|false|NULL|false"},
        {"%c%c", "true|false|false|false|NULL|false"},
        {"%c%c%", "true|false|false|false|NULL|false"},
        {"%bc%bc%", "true|false|false|false|NULL|false"},
        {"%c%b%c%", "true|false|false|false|NULL|false"},
        {"abc%bcabc", "false|false|false|false|NULL|false"},
        {"a\\%%", "false|false|false|false|NULL|true"},
        {"a_b%", "false|true|false|false|NULL|false"},
        {"_", "false|false|true|false|NULL|false"},
        {"%_c", "true|false|false|false|NULL|true"},
        {"%_b%_", "true|false|false|false|NULL|false"},
        {"_%_%_", "true|true|false|false|NULL|true"},
        {"abcabcabcabcabcabcabc", "false|false|false|false|NULL|false"},
        {"%abcabcabcabcabcabcabc%", "false|false|false|false|NULL|false"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bench_expect(&b, CALL(&b, "like", s, bench_text(&b, cases[i][0])), cases[i][1]);
    bench_expect(&b, CALL(&b, "like", s, bench_text(&b, "a%%c"), bench_text(&b, "%")),
                 "false|false|false|false|NULL|true");
}

/* _ is a character, not a byte; letters of other alphabets have a case too. */
static void test_like_characters(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "user_12, the Item 4", "user\xc3\xa9 of Item", NULL,
                               "USER_\xc3\x89 \xe2\x84\xaa", "", "the item of a user_");
    struct mr_expr *ascii = COLUMN(&b, "STRING", "user_12, the Item 4", "user of 12", NULL, "USER_",
                                   "", "the item of a user_");
    struct mr_expr *p =
        COLUMN(&b, "STRING", "%_Item__", "user_ of%", "%", "%\xc3\xa9 k", "_", "t%");
    struct mr_expr *item = bench_text(&b, "%ITEM%"), *user = bench_text(&b, "user_%");

    (void)state;
    bench_expect(&b, CALL(&b, "like", s, user), "true|true|NULL|false|false|false");
    bench_expect(&b, CALL(&b, "like", s, bench_text(&b, "user_ of %")),
                 "false|true|NULL|false|false|false");
    bench_expect(&b, CALL(&b, "like", ascii, bench_text(&b, "%item__")),
                 "false|false|NULL|false|false|false");
    bench_expect(&b, CALL(&b, "like", ascii, bench_text(&b, "%_tem__")),
                 "true|false|NULL|false|false|false");
    bench_expect(&b, CALL(&b, "like", ascii, bench_text(&b, "%user\\_%")),
                 "true|false|NULL|false|false|true");
    bench_expect(&b, CALL(&b, "ilike", ascii, user), "true|true|NULL|true|false|false");
    bench_expect(&b, CALL(&b, "ilike", ascii, item), "true|false|NULL|false|false|true");
    bench_expect(&b, CALL(&b, "ilike", ascii, bench_text(&b, "%\xc3\xa9%")),
                 "false|false|NULL|false|false|false");
    bench_expect(&b, CALL(&b, "ilike", s, item), "true|true|NULL|false|false|true");
    bench_expect(&b, CALL(&b, "ilike", s, bench_text(&b, "%_\xc3\xa9 K")),
                 "false|false|NULL|true|false|false");
    bench_expect(&b, CALL(&b, "like", s, p), "true|true|NULL|false|false|true");
    bench_expect(&b, CALL(&b, "ilike", s, p), "true|true|NULL|true|false|true");
    bench_expect(&b, CALL(&b, "like", s, bench_text(&b, "a\\")), "INVALID_FORMAT.ESC_AT_THE_END");
}

static void test_split(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "a--b--the last long piece", NULL, "--", "", "----c");
    struct mr_expr *by = bench_text(&b, "--");

    (void)state;
    bench_expect(&b, CALL(&b, "split", s, by), "[a, b, the last long piece]|NULL|[, ]|[]|[, , c]");
    bench_expect(&b, CALL(&b, "split", s, by, bench_int(&b, 2)),
                 "[a, b--the last long piece]|NULL|[, ]|[]|[, --c]");
    bench_expect(&b, CALL(&b, "split", s, by, bench_int(&b, 1)),
                 "[a--b--the last long piece]|NULL|[--]|[]|[----c]");
    bench_expect(&b, CALL(&b, "size", CALL(&b, "split", s, bench_text(&b, "-"))), "5|NULL|3|1|5");
}

static void test_lists(void **state)
{
    struct mr_expr *a = COLUMN(&b, "INT", "1", "2", "3", "4"), *list;
    struct mr_expr *s = COLUMN(&b, "STRING", "x,yy", NULL, "a long text is here,b", "");

    (void)state;
    list = CALL(&b, "array", a, CALL(&b, "*", a, bench_int(&b, 10)), bench_int(&b, 3));
    bench_expect(&b, list, "[1, 10, 3]|[2, 20, 3]|[3, 30, 3]|[4, 40, 3]");
    bench_expect(&b, CALL(&b, "array_contains", list, bench_int(&b, 20)), "false|true|false|false");
    bench_expect(&b, CALL(&b, "array_contains", list, a), "true|true|true|true");
    bench_expect(&b, CALL(&b, "element_at", list, bench_int(&b, 2)), "10|20|30|40");
    bench_expect(&b, CALL(&b, "element_at", list, bench_int(&b, -1)), "3|3|3|3");
    bench_expect(&b, CALL(&b, "element_at", list, bench_int(&b, 0)), "INVALID_INDEX_OF_ZERO");
    bench_expect(&b, CALL(&b, "element_at", list, bench_int(&b, 4)),
                 "INVALID_ARRAY_INDEX_IN_ELEMENT_AT");
    bench_expect(&b, CALL(&b, "try_element_at", list, bench_int(&b, -4)), "NULL|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "get", list, bench_int(&b, 0)), "1|2|3|4");
    list = CALL(&b, "split", s, bench_text(&b, ","));
    bench_expect(&b, CALL(&b, "try_element_at", list, bench_int(&b, 2)), "yy|NULL|b|NULL");
    bench_expect(&b, CALL(&b, "array_join", list, bench_text(&b, " - ")),
                 "x - yy|NULL|a long text is here - b|");
}

/* Elements of a row may lie in two words of bits. */
static void test_contains_across_words(void **state)
{
    enum { ROWS = BENCH_ROWS, ELEMENTS = 7, WANTED = 63 };
    const char *texts[ROWS], *told;
    struct mr_expr *x, *args[ELEMENTS];

    (void)state;
    for (int32_t i = 0; i < ROWS; i++)
        texts[i] = mr_arena_format(&b.arena, "%d", i);
    x = bench_column(&b, "INT", ROWS, texts);
    for (int32_t k = 0; k < ELEMENTS; k++) /* in row i: i + 8 * k */
        args[k] = CALL(&b, "+", x, bench_int(&b, k * 8));
    told = bench_run_by(
        &b,
        CALL(&b, "array_contains", bench_call(&b, "array", ELEMENTS, args), bench_int(&b, WANTED)),
        ROWS);
    for (int32_t i = 0, at = 0; i < ROWS; i++) {
        bool in = (WANTED - i) % 8 == 0 && (WANTED - i) / 8 < ELEMENTS;
        assert_int_equal(told[at], in ? 't' : 'f');
        at += in ? 5 : 6;
    }
}

static void test_parts_of_times(void **state)
{
    struct mr_expr *d = COLUMN(&b, "DATE", "2024-02-29", "1969-12-31", NULL, "0001-01-01");
    struct mr_expr *far = CALL(&b, "date_add", d, bench_int(&b, 1 << 30));
    struct mr_expr *t = COLUMN(&b, "TIMESTAMP", "2024-02-29T23:59:59.999999Z",
                               "1969-12-31T23:59:59.999999Z", NULL, "0001-01-01T00:00:00Z");

    (void)state;
    bench_expect(&b, CALL(&b, "year", d), "2024|1969|NULL|1");
    bench_expect(&b, CALL(&b, "month", d), "2|12|NULL|1");
    bench_expect(&b, CALL(&b, "day", d), "29|31|NULL|1");
    bench_expect(&b, CALL(&b, "year", far), "2941829|2941775|NULL|2939806");
    bench_expect(&b, CALL(&b, "extract", bench_text(&b, "hour"), d), "0|0|NULL|0");
    bench_expect(&b, CALL(&b, "year", t), "2024|1969|NULL|1");
    bench_expect(&b, CALL(&b, "hour", t), "23|23|NULL|0");
    bench_expect(&b, CALL(&b, "minute", t), "59|59|NULL|0");
    bench_expect(&b, CALL(&b, "second", t), "59|59|NULL|0");
    bench_expect(&b, CALL(&b, "date", t), "2024-02-29|1969-12-31|NULL|0001-01-01");
    b.context.zone = mr_zone_find(MR_TEXT("+02:00"));
    bench_expect(&b, CALL(&b, "hour", t), "1|1|NULL|2");
    bench_expect(&b, CALL(&b, "dayofweek", t), "6|5|NULL|2");
    b.context.zone = mr_zone_find(MR_TEXT("America/New_York"));
    bench_expect(&b, CALL(&b, "day", t), "29|31|NULL|31");
    bench_expect(&b, CALL(&b, "date", t), "2024-02-29|1969-12-31|NULL|0000-12-31");
}

static void test_numbers(void **state)
{
    struct mr_expr *l = COLUMN(&b, "BIGINT", "5", "-9223372036854775808", NULL, "-7");
    struct mr_expr *d = COLUMN(&b, "DOUBLE", "1.5", "-1.5", NULL, "1e300");
    struct mr_expr *c = COLUMN(&b, "DECIMAL(12,2)", "9999999999.99", "-0.01", NULL, "2.50");
    struct mr_expr *wide =
        COLUMN(&b, "DECIMAL(38,0)", "99999999999999999999999999999999999999", "1", NULL, "2");
    struct mr_expr *zero = COLUMN(&b, "INT", "1", "2", NULL, "0");
    struct mr_expr *cubes = COLUMN(&b, "DOUBLE", "27", "-343", NULL, "4.9E-324");

    (void)state;
    bench_expect(&b, CALL(&b, "cbrt", cubes), "3.0|-7.0|NULL|1.7031839360032603E-108");
    bench_expect(&b, CALL(&b, "abs", l), "ARITHMETIC_OVERFLOW");
    bench_expect(&b, CALL(&b, "abs", CALL(&b, "/", l, bench_int(&b, 2))),
                 "2.5|4.6116860184273879E18|NULL|3.5");
    bench_expect(&b, CALL(&b, "ceil", d), "2|-1|NULL|9223372036854775807");
    bench_expect(&b, CALL(&b, "floor", d), "1|-2|NULL|9223372036854775807");
    bench_expect(&b, CALL(&b, "+", c, c), "19999999999.98|-0.02|NULL|5.00");
    bench_expect(&b, CALL(&b, "-", c, c), "0.00|0.00|NULL|0.00");
    bench_expect(&b, CALL(&b, "*", c, c), "99999999999800000000.0001|0.0001|NULL|6.2500");
    bench_expect(&b, CALL(&b, "+", wide, wide), "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION");
    bench_expect(&b, CALL(&b, "%", bench_int(&b, 7), zero), "REMAINDER_BY_ZERO");
    bench_expect(&b, CALL(&b, "try_mod", bench_int(&b, 7), zero), "0|1|NULL|NULL");
    bench_expect(&b, CALL(&b, "try_divide", d, zero), "1.5|-0.75|NULL|NULL");
    bench_expect(&b, CALL(&b, "string", l), "5|-9223372036854775808|NULL|-7");
    bench_expect(&b, CALL(&b, "string", c), "9999999999.99|-0.01|NULL|2.50");
}

static void test_trims_and_lengths(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "  a b  ", "", NULL, "   ", "\xc3\xa9xx\xc3\xa9",
                               "a text of more bytes");

    (void)state;
    bench_expect(&b, CALL(&b, "trim", s), "a b||NULL||\xc3\xa9xx\xc3\xa9|a text of more bytes");
    bench_expect(&b, CALL(&b, "rtrim", s), "  a b||NULL||\xc3\xa9xx\xc3\xa9|a text of more bytes");
    bench_expect(&b, CALL(&b, "trim", bench_text(&b, "\xc3\xa9"), s),
                 "  a b  ||NULL|   |xx|a text of more bytes");
    bench_expect(&b, CALL(&b, "length", s), "7|0|NULL|3|4|20");
    bench_expect(&b, CALL(&b, "bit_length", s), "56|0|NULL|24|48|160");
    bench_expect(&b, CALL(&b, "reverse", s),
                 "  b a  ||NULL|   |\xc3\xa9xx\xc3\xa9|setyb erom fo txet a");
    bench_expect(&b, CALL(&b, "left", s, bench_int(&b, 1)), " ||NULL| |\xc3\xa9|a");
    bench_expect(
        &b,
        CALL(&b, "unbase64", CALL(&b, "base64", CALL(&b, "encode", s, bench_text(&b, "utf-8")))),
        "  a b  ||NULL|   |\xc3\xa9xx\xc3\xa9|a text of more bytes");
}

static void test_searches(void **state)
{
    struct mr_expr *s = COLUMN(&b, "STRING", "the second of two long texts", "xx", "", NULL,
                               "\xc3\xa9 is two bytes, x");
    struct mr_expr *what = COLUMN(&b, "STRING", "texts", "x", "", "x", "\xc3\xa9 is");

    (void)state;
    bench_expect(&b, CALL(&b, "contains", s, what), "true|true|true|NULL|true");
    bench_expect(&b, CALL(&b, "contains", s, bench_text(&b, "two")), "true|false|false|NULL|true");
    bench_expect(&b, CALL(&b, "startswith", s, what), "false|true|true|NULL|true");
    bench_expect(&b, CALL(&b, "startswith", s, bench_text(&b, "the sec")),
                 "true|false|false|NULL|false");
    bench_expect(&b, CALL(&b, "endswith", s, what), "true|true|true|NULL|false");
    bench_expect(&b, CALL(&b, "endswith", s, bench_text(&b, "x")), "false|true|false|NULL|true");
    bench_expect(&b, CALL(&b, "endswith", s, bench_text(&b, "two long texts")),
                 "true|false|false|NULL|false");
    static const char *const longest = "the second of two long texts, and more";
    for (uint32_t n = 0; n <= 28; n++) { /* pieces of none, one and two blocks */
        const char *here = mr_arena_copy(&b.arena, longest + 28 - n, n);
        struct mr_expr *part = bench_text(&b, here), *none = bench_text(&b, longest + 28 - n);
        const char *wanted = n == 0   ? "true|true|true|NULL|true"
                             : n == 1 ? "true|false|false|NULL|true"
                                      : "true|false|false|NULL|false";
        bench_expect(&b, CALL(&b, "contains", s, part), wanted);
        bench_expect(&b, CALL(&b, "contains", s, none), "false|false|false|NULL|false");
        bench_expect(&b, CALL(&b, "endswith", s, none), "false|false|false|NULL|false");
        wanted = n == 0 ? "true|true|true|NULL|true" : "true|false|false|NULL|false";
        bench_expect(&b, CALL(&b, "endswith", s, part), wanted);
        part = bench_text(&b, mr_arena_copy(&b.arena, longest, n));
        bench_expect(&b, CALL(&b, "startswith", s, part), wanted);
    }
    bench_expect(&b, CALL(&b, "startswith", s, bench_text(&b, longest)),
                 "false|false|false|NULL|false");
    bench_expect(&b, CALL(&b, "instr", s, what), "24|1|1|NULL|1");
    bench_expect(&b, CALL(&b, "instr", s, bench_text(&b, "x")), "26|1|0|NULL|17");
    bench_expect(&b, CALL(&b, "locate", bench_text(&b, "x"), s), "26|1|0|NULL|17");
    bench_expect(&b, CALL(&b, "locate", bench_text(&b, "x"), s, bench_int(&b, 2)),
                 "26|2|0|NULL|17");
    bench_expect(&b, CALL(&b, "locate", mr_expr_literal_null(&b.arena, &mr_type_string), s),
                 "NULL|NULL|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "replace", s, bench_text(&b, "two"), bench_text(&b, "2")),
                 "the second of 2 long texts|xx||NULL|\xc3\xa9 is 2 bytes, x");
}

/* Around the ends of blocks. */
static void test_md5(void **state)
{
    static const struct {
        uint32_t n;
        const char *digest;
    } cases[] = {
        {0, "d41d8cd98f00b204e9800998ecf8427e"},   {1, "0cc175b9c0f1b6a831c399e269772661"},
        {54, "eced9e0b81ef2bba605cbc5e2e76a1d0"},  {55, "ef1772b6dff9a122358552954ad0df65"},
        {56, "3b0c8ac703f828b04c6c197006d17218"},  {64, "014842d480b571495a4a0363793f7367"},
        {119, "8a7bd0732ed6a28ce75f6dabc90e1613"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128] = "";
        const char *const texts[] = {text, NULL};
        bench_init(&b);
        memset(text, 'a', cases[i].n);
        bench_expect(&b, CALL(&b, "md5", bench_column(&b, "STRING", 2, texts)),
                     mr_arena_format(&b.arena, "%s|NULL", cases[i].digest));
        bench_fini(&b);
    }
}

/* What stands for two members, of texts that are plain and of those that only tokens tell. */
static void test_json_tuple(void **state)
{
    static const char *const cases[][3] = {
        {"{\"a\":1,\"b\":\"x\"}", "1", "x"},
        {" { \"b\" : \"\" , \"a\" : true } ", "true", ""},
        {"{\"a\":\"\\u00e9\\n\",\"b\":{\"a\":[1, 2.50]}}", "\xc3\xa9\n", "{\"a\":[1,2.5]}"},
        {"{\"a\":1,\"a\":2,\"a\":null,\"b\":null}", "2", NULL},
        {"{\"b\":[1,2],\"b\":-3,\"ab\":4}", NULL, "-3"},
        {"{\"a\":1,\"b\":2", NULL, NULL},
        {"{\"a\":1,}", NULL, NULL},
        {"[{\"a\":1}]", NULL, NULL},
        {"{}", NULL, NULL},
        {"", NULL, NULL},
        {"{'a':'y','b':1e2}", "y", "100.0"},
        {"{\"a\":\"a text of more than twelve bytes\",\"\\u0062\":false}",
         "a text of more than twelve bytes", "false"},
        {NULL, NULL, NULL},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    const char *texts[CASES];
    struct mr_generated g;
    struct mr_eval *e;

    (void)state;
    for (uint32_t i = 0; i < CASES; i++)
        texts[i] = cases[i][0];
    struct mr_expr *s = bench_column(&b, "STRING", CASES, texts);
    const struct mr_expr *x = CALL(&b, "json_tuple", s, bench_text(&b, "a"), bench_text(&b, "b"),
                                   mr_expr_literal_null(&b.arena, &mr_type_string));
    assert_int_equal(mr_eval_open(&x, 1, CASES, &b.arena, &e, &b.err), MR_OK);
    mr_eval_reset(e, &b.context);
    assert_int_equal(mr_generate(e, 0, &b.batch, false, &g, &b.err), MR_OK);
    assert_int_equal(g.rows, CASES);
    for (uint32_t i = 0; i < CASES; i++) {
        for (uint32_t c = 0; c < 2; c++) {
            const char *wanted = cases[i][c + 1];
            assert_int_equal(mr_column_is_null(&g.columns[c], i), wanted == NULL);
            if (wanted)
                assert_true(mr_text_equal(mr_column_text(&g.columns[c], i), mr_text_of(wanted)));
        }
        assert_true(mr_column_is_null(&g.columns[2], i));
    }
    mr_eval_close(e);
}

static void test_json_paths(void **state)
{
    struct mr_expr *j = COLUMN(&b, "STRING", "{\"a\":{\"b\":[1,2,{\"c\":\"x\\ny\"}]},\"d\":1.50}",
                               "{\"a\":{\"b\":[[],[],{\"c\":null}]},\"d\":\"t", NULL, "[1]");

    (void)state;
    bench_expect(&b, CALL(&b, "get_json_object", j, bench_text(&b, "$.a.b[2].c")),
                 "x\ny|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "get_json_object", j, bench_text(&b, "$.d")), "1.5|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "get_json_object", j, bench_text(&b, "$.a")),
                 "{\"b\":[1,2,{\"c\":\"x\\ny\"}]}|NULL|NULL|NULL");
    bench_expect(&b, CALL(&b, "get_json_object", j, bench_text(&b, "$[0]")), "NULL|NULL|NULL|1");
    bench_expect(&b, CALL(&b, "get_json_object", j, bench_text(&b, "d")), "NULL|NULL|NULL|NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_branches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_branches, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal_texts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_like, setup, teardown),
        cmocka_unit_test_setup_teardown(test_like_characters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_split, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(test_contains_across_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts_of_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trims_and_lengths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_searches, setup, teardown),
        cmocka_unit_test(test_md5),
        cmocka_unit_test_setup_teardown(test_json_tuple, setup, teardown),
        cmocka_unit_test_setup_teardown(test_json_paths, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
