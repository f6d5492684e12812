/* Expressions as SQL text -> the same with all its parentheses. */
#include "core/sql/parser.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

static jmp_buf escape;

static struct mr_text text_of(struct mr_buffer *out)
{
    mr_buffer_append(out, "", 1);
    return (struct mr_text){(const char *)out->data, out->n - 1};
}

static const struct {
    const char *sql, *printed;
} expressions[] = {
    {"a BETWEEN 1 AND 2 AND b NOT IN (1,2) OR NOT c LIKE 'x%' ESCAPE '/' ",
     "((between(a, 1, 2) AND (NOT (b IN (1, 2)))) OR (NOT like(c, 'x%', '/')))"},
    {"a = b IS NULL", "((a = b) IS NULL)"},
    {"1 + 2 * 3 - -4 / - x", "((1 + (2 * 3)) - (-4 / (- x)))"},
    {"1 | 2 & 3 ^ 4 << 5 || 6", "(1 | ((2 & 3) ^ shiftleft(4, concat(5, 6))))"},
    {"a LIKE ANY ('a', 'b', 'c')", "(((a LIKE 'a') OR (a LIKE 'b')) OR (a LIKE 'c'))"},
    {"a NOT ILIKE ALL ('a', 'b')", "((NOT (a ILIKE 'a')) AND (NOT (a ILIKE 'b')))"},
    {"a IS NOT DISTINCT FROM b", "(a <=> b)"},
    {"NOT a IS TRUE AND b IS NOT UNKNOWN", "((NOT (a <=> true)) AND (b IS NOT NULL))"},
    {"a::int::string[0].b.c", "(((CAST(CAST(a AS INT) AS STRING))[0]).b).c"},
    {"CAST(x AS ARRAY<ARRAY<INT>>)", "CAST(x AS ARRAY<ARRAY<INT>>)"},
    {"x::ARRAY<ARRAY<INT>>>3", "(CAST(x AS ARRAY<ARRAY<INT>>) > 3)"},
    {"CASE WHEN a THEN 'x' END", "CASE WHEN a THEN 'x' END"},
    {"CASE a WHEN 1 THEN 2 ELSE 3 END", "CASE WHEN (a = 1) THEN 2 ELSE 3 END"},
    {"INTERVAL 1 HOUR 30 MINUTES", "INTERVAL 1 HOURS 30 MINUTES"},
    {"INTERVAL '1' DAY", "INTERVAL 1 DAYS"},
    {"INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL '1 02:03:04.5' DAY TO SECOND"},
    {"INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '-1-2' YEAR TO MONTH"},
    {"INTERVAL -1 MINUTE", "INTERVAL -1 MINUTES"},
    {"INTERVAL '10 minutes'", "INTERVAL '10 minutes'"},
    {"interval - 1", "(`interval` - 1)"},
    {"DATE'2026-01-01'", "CAST('2026-01-01' AS DATE)"},
    {"X'1F2'", "X'1F2'"},
    {"1L + 1S + 1Y + 1.5D + 1.5F + 1.5BD + 1e3 + 1.50 + .5 + 3. + 12345678901 + "
     "1234567890123456789012",
     "(((((((((((1L + 1S) + 1Y) + 1.5D) + 1.5F) + 1.5BD) + 1e3) + 1.50) + .5) + 3.) + 12345678901) "
     "+ 1234567890123456789012)"},
    {"'a' \"b\" r'\\d' 'it''s' 'x\\'y\\n'", "'ab\\\\dit\\'sx\\'y\n'"},
    {"(x, y) -> x + y", "((x, y) -> (x + y))"},
    {"x -> x", "(x -> x)"},
    {"(x -> x) + 1", "((x -> x) + 1)"},
    {"f(x -> x IS NULL, (y -> y)[1], (x -> x) IS NULL)",
     "f(x -> (x IS NULL), ((y -> y))[1], ((x -> x) IS NULL))"},
    {"f(`case` -> 1, (`end`, b) -> b)", "f(`case` -> 1, (`end`, b) -> b)"},
    {"EXTRACT(YEAR FROM ts)", "EXTRACT('YEAR', ts)"},
    {"SUBSTRING(a FROM 2 FOR 3)", "SUBSTRING(a, 2, 3)"},
    {"TRIM(BOTH 'x' FROM s)", "trim('x', s)"},
    {"TRIM(LEADING FROM s)", "ltrim(s)"},
    {"trim(s)", "trim(s)"},
    {"POSITION('a' IN b)", "POSITION('a', b)"},
    {"OVERLAY(a PLACING b FROM 3 FOR 4)", "OVERLAY(a, b, 3, 4)"},
    {"TIMESTAMPDIFF(MONTH, a, b)", "timestampdiff(MONTH, a, b)"},
    {"dateadd(QUARTER, n, t)", "timestampadd(QUARTER, n, t)"},
    {"dateadd(a, 1)", "dateadd(a, 1)"},
    {"f(a => 1, b => x)", "f(a => 1, b => x)"},
    {"count(DISTINCT a, b) FILTER (WHERE c > 1)", "count(DISTINCT a, b) FILTER (WHERE (c > 1))"},
    {"listagg(k, '-') WITHIN GROUP (ORDER BY k DESC)",
     "listagg(k, '-') WITHIN GROUP (ORDER BY k DESC NULLS LAST)"},
    {"first(x IGNORE NULLS)", "first(x) IGNORE NULLS"},
    {"last_value(v) IGNORE NULLS", "last_value(v) IGNORE NULLS"},
    {"struct(a AS b, 1 c)", "struct(a AS b, 1 AS c)"},
    {"t.*", "t.*"},
    {"a.b.c.d[1]", "(a.b.c.d)[1]"},
    {"`a b`.c", "`a b`.c"},
    {"-2147483648", "-2147483648"},
    {"- 5 + -a", "(-5 + (- a))"},
    {"1 <=> 2 <> 3", "(NOT ((1 <=> 2) = 3))"},
    {"!a", "(NOT a)"},
    {"date", "date"},
    {"a div 2", "(a DIV 2)"},
    {"case", "`case`"},
    {"current_date", "current_date"},
    {"system.builtin.upper(a)", "system.builtin.upper(a)"},
    {"1a + a1", "(`1a` + a1)"},
    {" 1.5 ", "1.5"},
    {"NULL AND TRUE OR false", "((NULL AND true) OR false)"},
    {"a NOT BETWEEN 1 AND 2", "(NOT between(a, 1, 2))"},
    {"a !IN (1)", "(NOT (a IN (1)))"},
    {"a NOT RLIKE 'x'", "(NOT (a RLIKE 'x'))"},
    {"a REGEXP 'x'", "(a RLIKE 'x')"},
    {"~a & b >>> 2", "((~a) & shiftrightunsigned(b, 2))"},
    {"-a * +b", "((- a) * (+ b))"},
    {"1 || 2 + 3", "(concat(1, 2) + 3)"},
    {"a == b", "(a = b)"},
    {"NOT a = b AND c", "((NOT (a = b)) AND c)"},
    {"NOT NOT a", "(NOT (NOT a))"},
    {"a.b(c)", "a.b(c)"},
    {"map(1, 2)[1]", "(map(1, 2))[1]"},
    {"arr[1 + 2]", "(arr)[(1 + 2)]"},
    {"(SELECT 1).a", "((subquery)).a"},
    {"'\\u00e9\\101\\Z'", "'éA'"},
    {"'a\\%b'", "'a\\\\%b'"},
    {"INTERVAL '1 2' DAY TO HOUR", "INTERVAL '1 2' DAY TO HOUR"},
    {"INTERVAL '1:02' HOUR TO MINUTE", "INTERVAL '1:02' HOUR TO MINUTE"},
    {"INTERVAL '1.5 seconds'", "INTERVAL '1.5 seconds'"},
    {"INTERVAL 1.5 SECONDS", "INTERVAL 1.5 SECONDS"},
    {"INTERVAL - '5' MINUTES", "INTERVAL -5 MINUTES"},
    {"INTERVAL 2 WEEKS", "INTERVAL 2 WEEKS"},
    {"TIMESTAMP '2026-01-01 12:00:00'", "CAST('2026-01-01 12:00:00' AS TIMESTAMP)"},
    {"TIMESTAMP_NTZ '2026-01-01T12:00:00'", "CAST('2026-01-01T12:00:00' AS TIMESTAMP_NTZ)"},
    {"1.5F", "1.5F"},
    {"1e3BD", "1e3BD"},
    {"0.10", "0.10"},
    {"00.5", "00.5"},
    {"f(distinct)", "f(`distinct`)"},
    {"f(all)", "f(`all`)"},
    {"f(ALL a)", "f(a)"},
    {"over", "`over`"},
    {"rank() OVER (PARTITION BY a)", "rank() OVER (PARTITION BY a)"},
    {"nth_value(a, 2) RESPECT NULLS OVER (ORDER BY b DESC)",
     "nth_value(a, 2) OVER (ORDER BY b DESC NULLS LAST)"},
    {"x.*", "x.*"},
    {"`from`.`a``b`", "`from`.`a``b`"},
    {"é + 名", "(`é` + `名`)"},
    {"exists(a, x -> x > 1)", "exists(a, x -> (x > 1))"},
    {"timestamp", "timestamp"},
    {"null_or_not", "null_or_not"},
    {"(a, b) = (1, 2)", "(struct(a, b) = struct(1, 2))"},
    {"extract(a, b)", "extract(a, b)"},
    {"a[0]::string", "CAST((a)[0] AS STRING)"},
    {"date '2026-01-01' + interval '1' day", "(CAST('2026-01-01' AS DATE) + INTERVAL 1 DAYS)"},
    {"LIKE", "`LIKE`"},
};

static void test_expressions(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
        struct mr_arena a;
        struct mr_buffer out;
        struct mr_ast *x;
        struct mr_error err = {0};
        mr_arena_init(&a, NULL, &escape);
        mr_buffer_init(&out, &a);
        if (mr_sql_parse_expression(mr_text_of(expressions[i].sql), &a, &x, &err))
            fail_msg("%s: %s", expressions[i].sql, err.message);
        mr_ast_print(x, &out);
        assert_string_equal(text_of(&out).data, expressions[i].printed);
        mr_arena_fini(&a);
    }
}

/* What is printed parses to what prints the same. */
static void test_printed_again(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
        struct mr_arena a;
        struct mr_buffer out;
        struct mr_ast *x;
        struct mr_error err = {0};
        if (strstr(expressions[i].printed, "subquery"))
            continue;
        mr_arena_init(&a, NULL, &escape);
        mr_buffer_init(&out, &a);
        if (mr_sql_parse_expression(mr_text_of(expressions[i].printed), &a, &x, &err))
            fail_msg("%s: %s", expressions[i].printed, err.message);
        mr_ast_print(x, &out);
        assert_string_equal(text_of(&out).data, expressions[i].printed);
        mr_arena_fini(&a);
    }
}

static const struct mr_column *literal(const char *sql, struct mr_arena *a)
{
    struct mr_ast *x;

    assert_int_equal(mr_sql_parse_expression(mr_text_of(sql), a, &x, NULL), MR_OK);
    assert_int_equal(x->kind, MR_AST_LITERAL);
    return x->literal;
}

static void test_literal_values(void **state)
{
    struct mr_arena a;

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(literal("12", &a)->type->kind, MR_INT);
    assert_int_equal(literal("-2147483648", &a)->i32[0], INT32_MIN);
    assert_int_equal(literal("2147483648", &a)->i64[0], 2147483648);
    assert_int_equal(literal("2147483648", &a)->type->kind, MR_BIGINT);
    assert_int_equal(literal("7Y", &a)->i8[0], 7);
    assert_int_equal(literal("7s", &a)->i16[0], 7);
    assert_int_equal(literal("-7L", &a)->i64[0], -7);
    assert_true(literal("1e3", &a)->f64[0] == 1000.0);
    assert_true(literal("1.5f", &a)->f32[0] == 1.5f);
    assert_true(literal("2d", &a)->f64[0] == 2.0);
    assert_int_equal(literal("NULL", &a)->type->kind, MR_VOID);
    assert_true(mr_bit_get(literal("true", &a)->bits, 0));
    assert_false(mr_bit_get(literal("FALSE", &a)->bits, 0));
    assert_true(mr_text_equal(mr_column_text(literal("'a' 'b\\tc'", &a), 0), MR_TEXT("ab\tc")));
    assert_true(mr_text_equal(mr_column_text(literal("r'a\\tc and much more'", &a), 0),
                              MR_TEXT("a\\tc and much more")));
    assert_true(mr_text_equal(mr_column_text(literal("'\\uD83D\\uDE00\\U0001F600'", &a), 0),
                              MR_TEXT("\xF0\x9F\x98\x80\xF0\x9F\x98\x80")));
    assert_true(mr_text_equal(mr_column_text(literal("X'1FA'", &a), 0), MR_TEXT("\x01\xFA")));
    mr_arena_fini(&a);
}

static void check_decimal(const char *sql, uint32_t precision, uint32_t scale, int64_t unscaled)
{
    struct mr_arena a;

    mr_arena_init(&a, NULL, &escape);
    const struct mr_column *c = literal(sql, &a);
    assert_int_equal(c->type->kind, MR_DECIMAL);
    assert_int_equal(c->type->precision, precision);
    assert_int_equal(c->type->scale, scale);
    assert_true(c->i128[0] == unscaled);
    mr_arena_fini(&a);
}

static void test_decimals(void **state)
{
    (void)state;
    check_decimal("1.5", 2, 1, 15);
    check_decimal("-1.10", 3, 2, -110);
    check_decimal("0.10", 2, 2, 10);
    check_decimal("0.01", 2, 2, 1);
    check_decimal("00.5", 1, 1, 5);
    check_decimal("0.0", 1, 1, 0);
    check_decimal("3.", 1, 0, 3);
    check_decimal("1.5BD", 2, 1, 15);
    check_decimal("1e3BD", 4, 0, 1000);
    check_decimal("1.5e-2BD", 3, 3, 15);
    check_decimal("12bd", 2, 0, 12);
}

static void check_interval(const char *sql, enum mr_kind kind, uint32_t first, uint32_t last,
                           int64_t value)
{
    struct mr_arena a;

    mr_arena_init(&a, NULL, &escape);
    const struct mr_column *c = literal(sql, &a);
    assert_int_equal(c->type->kind, kind);
    assert_int_equal(c->type->precision, first);
    assert_int_equal(c->type->scale, last);
    assert_int_equal(kind == MR_INTERVAL_YEAR_MONTH ? c->i32[0] : c->i64[0], value);
    mr_arena_fini(&a);
}

static void test_intervals(void **state)
{
    (void)state;
    check_interval("INTERVAL 1 HOUR 30 MINUTES", MR_INTERVAL_DAY_TIME, 1, 2, 5400000000);
    check_interval("INTERVAL '1' DAY", MR_INTERVAL_DAY_TIME, 0, 0, 86400000000);
    check_interval("INTERVAL 1 DAY 25 HOURS", MR_INTERVAL_DAY_TIME, 0, 1, 176400000000);
    check_interval("INTERVAL '1 02:03:04.5' DAY TO SECOND", MR_INTERVAL_DAY_TIME, 0, 3,
                   93784500000);
    check_interval("INTERVAL '-1 02' DAY TO HOUR", MR_INTERVAL_DAY_TIME, 0, 1, -93600000000);
    check_interval("INTERVAL '1:02' MINUTE TO SECOND", MR_INTERVAL_DAY_TIME, 2, 3, 62000000);
    check_interval("INTERVAL -1 MINUTE", MR_INTERVAL_DAY_TIME, 2, 2, -60000000);
    check_interval("INTERVAL '10 minutes'", MR_INTERVAL_DAY_TIME, 2, 2, 600000000);
    check_interval("INTERVAL '1 week 2 milliseconds'", MR_INTERVAL_DAY_TIME, 0, 3, 604800002000);
    check_interval("INTERVAL - '5' SECONDS", MR_INTERVAL_DAY_TIME, 3, 3, -5000000);
    check_interval("INTERVAL - '-5' SECONDS", MR_INTERVAL_DAY_TIME, 3, 3, 5000000);
    check_interval("INTERVAL 1.5 SECONDS", MR_INTERVAL_DAY_TIME, 3, 3, 1500000);
    check_interval("INTERVAL 1 MONTH", MR_INTERVAL_YEAR_MONTH, 1, 1, 1);
    check_interval("INTERVAL '1-2' YEAR TO MONTH", MR_INTERVAL_YEAR_MONTH, 0, 1, 14);
    check_interval("INTERVAL 2 YEARS 1 MONTH", MR_INTERVAL_YEAR_MONTH, 0, 1, 25);
}

/* Names between brackets: as Spark 4.2, which refuses r'x'. */
static void test_variant_paths(void **state)
{
    static const char *const paths[][2] = {
        {"v:['x']", "variant_get(v, '$[\\'x\\']') AS x"},
        {"v:[r'x']", "variant_get(v, '$[\\'x\\']') AS x"},
        {"v:a[R\"x\"].b[0]", "variant_get(v, '$.a[\\'x\\'].b[0]') AS b"},
        {"v:[\"it's\"]", "variant_get(v, '$[\"it\\'s\"]') AS `it's`"},
        {"v:['a\\td']", "variant_get(v, '$[\\'a\\\\td\\']') AS `a\\td`"},
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct mr_arena a;
        struct mr_error err = {0};
        struct mr_ast *x;
        struct mr_buffer out;
        mr_arena_init(&a, NULL, &escape);
        mr_buffer_init(&out, &a);
        if (mr_sql_parse_expression(mr_text_of(paths[i][0]), &a, &x, &err))
            fail_msg("%s: %s", paths[i][0], err.message);
        mr_ast_print(x, &out);
        assert_string_equal(text_of(&out).data, paths[i][1]);
        mr_arena_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),    cmocka_unit_test(test_printed_again),
        cmocka_unit_test(test_literal_values), cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_intervals),      cmocka_unit_test(test_variant_paths),
    };

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
