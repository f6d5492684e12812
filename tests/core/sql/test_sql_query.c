/* Queries as SQL text -> tree; what is refused, where and why. */
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
    const char *sql, *tree;
} queries[] = {
    {"SELECT id FROM WHERE v > 1", "project [id AS FROM]\n"
                                   "  filter (v > 1)\n"
                                   "    one row\n"},
    {"SELECT a from, b FROM t", "project [a AS from, b]\n"
                                "  read t\n"},
    {"SELECT a limit FROM t", "project [a AS limit]\n"
                              "  read t\n"},
    {"SELECT a window FROM t", "project [a AS window]\n"
                               "  read t\n"},
    {"SELECT * EXCEPT (b), b AS last FROM t", "project [* EXCEPT (b), b AS last]\n"
                                              "  read t\n"},
    {"SELECT * FROM t EXCEPT (SELECT * FROM u)", "except\n"
                                                 "  project [*]\n"
                                                 "    read t\n"
                                                 "  project [*]\n"
                                                 "    read u\n"},
    {"WITH a(x) AS (SELECT 1), b AS (SELECT * FROM a) SELECT x y, count(*) c FROM b t(z) GROUP BY "
     "x, ROLLUP (y, (z, w)) HAVING c > 1 ORDER BY 1 DESC NULLS LAST LIMIT 3 OFFSET 2",
     "with\n"
     "  cte a (x)\n"
     "    project [1]\n"
     "      one row\n"
     "  cte b\n"
     "    project [*]\n"
     "      read a\n"
     "  limit [3]\n"
     "    offset [2]\n"
     "      sort [1 DESC NULLS LAST]\n"
     "        aggregate sets [x, y, z, w] sets (0 1 2 3), (0 1), (0) select [x AS y, count(*) AS "
     "c] having (c > 1)\n"
     "          alias t (z)\n"
     "            read b\n"},
    {"SELECT a FROM t GROUP BY a, b WITH CUBE",
     "aggregate cube [a, b] sets (0 1), (0), (1), () select [a]\n"
     "  read t\n"},
    {"SELECT a FROM t GROUP BY a, b GROUPING SETS ((a, b), a, ())",
     "aggregate sets [a, b] sets (0 1), (0), () select [a]\n"
     "  read t\n"},
    {"SELECT a FROM t GROUP BY ALL", "aggregate all [] select [a]\n"
                                     "  read t\n"},
    {"SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4", "except\n"
                                                                       "  union all\n"
                                                                       "    project [1]\n"
                                                                       "      one row\n"
                                                                       "    intersect\n"
                                                                       "      project [2]\n"
                                                                       "        one row\n"
                                                                       "      project [3]\n"
                                                                       "        one row\n"
                                                                       "  project [4]\n"
                                                                       "    one row\n"},
    {"SELECT x FROM ((SELECT 1 AS x) UNION (SELECT 2)) t, LATERAL (SELECT t.x) u LEFT JOIN v USING "
     "(x) NATURAL FULL OUTER JOIN w CROSS JOIN y LEFT ANTI JOIN z ON z.a = y.a",
     "project [x]\n"
     "  anti join on (z.a = y.a)\n"
     "    cross join\n"
     "      natural full join\n"
     "        left join using (x)\n"
     "          lateral inner join\n"
     "            alias t\n"
     "              union\n"
     "                project [1 AS x]\n"
     "                  one row\n"
     "                project [2]\n"
     "                  one row\n"
     "            alias u\n"
     "              project [t.x]\n"
     "                one row\n"
     "          read v\n"
     "        read w\n"
     "      read y\n"
     "    read z\n"},
    {"SELECT * FROM ((SELECT 1) a JOIN b)", "project [*]\n"
                                            "  inner join\n"
                                            "    alias a\n"
                                            "      project [1]\n"
                                            "        one row\n"
                                            "    read b\n"},
    {"SELECT ((SELECT 1) + 2), ((SELECT 1)), (SELECT 1), (1, 2), a IN ((SELECT 1)), EXISTS (SELECT "
     "1), exists(a, x -> x)",
     "project [((subquery) + 2), (subquery), (subquery), struct(1, 2), (a IN (subquery)), EXISTS "
     "(subquery), exists(a, x -> x)]\n"
     "  subquery\n"
     "    project [1]\n"
     "      one row\n"
     "  subquery\n"
     "    project [1]\n"
     "      one row\n"
     "  subquery\n"
     "    project [1]\n"
     "      one row\n"
     "  subquery\n"
     "    project [1]\n"
     "      one row\n"
     "  subquery\n"
     "    project [1]\n"
     "      one row\n"
     "  one row\n"},
    {"SELECT sum(x) OVER w, sum(y) OVER (w), max(z) OVER (PARTITION BY a ORDER BY b ROWS BETWEEN 1 "
     "PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (ORDER BY q)",
     "project [sum(x) OVER (ORDER BY q ASC NULLS FIRST), sum(y) OVER (ORDER BY q ASC NULLS FIRST), "
     "max(z) OVER (PARTITION BY a ORDER BY b ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND CURRENT "
     "ROW)]\n"
     "  read t\n"},
    {"FROM t SELECT a WHERE b", "project [a]\n"
                                "  filter b\n"
                                "    read t\n"},
    {"TABLE a.b", "read a.b\n"},
    {"VALUES (1, 'a'), (2, 'b') AS t(x, y)", "alias t (x, y)\n"
                                             "  values (1, 'a'), (2, 'b')\n"},
    {"SELECT * FROM range(10) r(i) JOIN explode(array(1)) e",
     "project [*]\n"
     "  inner join\n"
     "    alias r (i)\n"
     "      table function range [10]\n"
     "    alias e\n"
     "      table function explode [array(1)]\n"},
    {"SELECT * FROM t TABLESAMPLE (10 PERCENT) s", "project [*]\n"
                                                   "  alias s\n"
                                                   "    sample [10] percent\n"
                                                   "      read t\n"},
    {"SELECT * FROM t PIVOT (sum(a) AS s FOR k IN ('x' AS x, 'y')) p",
     "project [*]\n"
     "  alias p\n"
     "    pivot [sum(a) AS s] for (k) in ['x' AS x, 'y']\n"
     "      read t\n"},
    {"SELECT * FROM json.`a/b c.json` WITH ('multiLine' = true, a.b = 3) t",
     "project [*]\n"
     "  alias t\n"
     "    read json.`a/b c.json` with multiLine=true, a.b=3\n"},
    {"SELECT * FROM STREAM t WATERMARK ts DELAY OF INTERVAL '1-2' YEAR TO MONTH AS x",
     "project [*]\n"
     "  alias x\n"
     "    watermark ts delay 14 months\n"
     "      stream t\n"},
    {"SELECT * FROM STREAM(t) WATERMARK x + 1 AS y DELAY OF INTERVAL 90 MINUTES",
     "project [*]\n"
     "  watermark (x + 1) AS y delay 90 minutes\n"
     "    stream t\n"},
    {"SELECT * FROM t WATERMARK", "project [*]\n"
                                  "  alias WATERMARK\n"
                                  "    read t\n"},
    {"SELECT 1;;", "project [1]\n"
                   "  one row\n"},
    {"SELECT * FROM t LATERAL VIEW OUTER explode(a) e AS x, y LATERAL VIEW posexplode(b) f",
     "project [*]\n"
     "  generate posexplode(b) as f\n"
     "    generate outer explode(a) as e (x, y)\n"
     "      read t\n"},
    {"SELECT FROM t", "project [`FROM` AS t]\n"
                      "  one row\n"},
    {"SELECT a FROM t WHERE", "project [a]\n"
                              "  alias WHERE\n"
                              "    read t\n"},
    {"SELECT a, FROM t", "project [a, `FROM` AS t]\n"
                         "  one row\n"},
    {"SELECT a FROM t JOIN", "project [a]\n"
                             "  alias JOIN\n"
                             "    read t\n"},
    {"SELECT sum(x) OVER v FROM t WINDOW w AS (ORDER BY a), v AS w",
     "project [sum(x) OVER (ORDER BY a ASC NULLS FIRST)]\n"
     "  read t\n"},
    {"SELECT a FROM t CLUSTER BY a LIMIT ALL", "sort [a ASC NULLS FIRST]\n"
                                               "  project [a]\n"
                                               "    read t\n"},
    {"SELECT DISTINCT a FROM t OFFSET 3", "offset [3]\n"
                                          "  distinct\n"
                                          "    project [a]\n"
                                          "      read t\n"},
    {"SELECT all FROM t", "project [`FROM` AS t]\n"
                          "  one row\n"},
    {"SELECT ALL a FROM t", "project [a]\n"
                            "  read t\n"},
    {"SELECT distinct FROM t", "distinct\n"
                               "  project [`FROM` AS t]\n"
                               "    one row\n"},
    {"SELECT t.a.b, `x y`.* FROM t AS `x y`", "project [t.a.b, `x y`.*]\n"
                                              "  alias `x y`\n"
                                              "    read t\n"},
    {"SELECT /*+ BROADCAST(t) */ a FROM t -- the end", "project [a]\n"
                                                       "  read t\n"},
    {"SELECT a AS (b, c) FROM t", "project [a AS (b, c)]\n"
                                  "  read t\n"},
    {"SELECT explode(a) (b, c) FROM t", "project [explode(a) AS (b, c)]\n"
                                        "  read t\n"},
    {"(SELECT 1) UNION ALL (SELECT 2 ORDER BY 1) LIMIT 1", "limit [1]\n"
                                                           "  union all\n"
                                                           "    project [1]\n"
                                                           "      one row\n"
                                                           "    sort [1 ASC NULLS FIRST]\n"
                                                           "      project [2]\n"
                                                           "        one row\n"},
    {"SELECT a FROM t LEFT SEMI JOIN u USING (a) RIGHT OUTER JOIN v ON a = b",
     "project [a]\n"
     "  right join on (a = b)\n"
     "    semi join using (a)\n"
     "      read t\n"
     "      read u\n"
     "    read v\n"},
    {"SELECT a FROM left JOIN right ON left.a = right.b", "project [a]\n"
                                                          "  inner join on (left.a = right.b)\n"
                                                          "    read left\n"
                                                          "    read right\n"},
    {"SELECT select FROM from WHERE where", "project [`select`]\n"
                                            "  filter where\n"
                                            "    read from\n"},
    {"SELECT a FROM t WHERE a > (SELECT max(b) FROM u WHERE u.x = t.x)",
     "project [a]\n"
     "  filter (a > (subquery))\n"
     "    subquery\n"
     "      project [max(b)]\n"
     "        filter (u.x = t.x)\n"
     "          read u\n"
     "    read t\n"},
    {"SELECT window.start, window.end FROM t GROUP BY window(ts, '5 minutes')",
     "aggregate [window(ts, '5 minutes')] select [window.start, window.end]\n"
     "  read t\n"},
    {"SELECT a FROM t MINUS SELECT b FROM u", "except\n"
                                              "  project [a]\n"
                                              "    read t\n"
                                              "  project [b]\n"
                                              "    read u\n"},
    {"SELECT a FROM t UNION DISTINCT SELECT b FROM u INTERSECT ALL SELECT 1", "union\n"
                                                                              "  project [a]\n"
                                                                              "    read t\n"
                                                                              "  intersect all\n"
                                                                              "    project [b]\n"
                                                                              "      read u\n"
                                                                              "    project [1]\n"
                                                                              "      one row\n"},
    {"SELECT a FROM t WATERMARK ts DELAY OF INTERVAL -90 SECONDS, u WATERMARK x DELAY OF INTERVAL "
     "'1 02:00:00' DAY TO SECOND AS y",
     "project [a]\n"
     "  inner join\n"
     "    watermark ts delay -90 seconds\n"
     "      read t\n"
     "    alias y\n"
     "      watermark x delay 26 hours\n"
     "        read u\n"},
    {"SELECT a FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), c, CUBE (a))",
     "aggregate sets [a, b, c] sets (0 1), (0), (), (2), (0), () select [a]\n"
     "  read t\n"},
    {"SELECT count(*) FROM t HAVING count(*) > 1",
     "aggregate [] select [count(*)] having (count(*) > 1)\n"
     "  read t\n"},
    {"SELECT a FROM t1, t2 JOIN t3 ON t1.x = t3.x", "project [a]\n"
                                                    "  inner join on (t1.x = t3.x)\n"
                                                    "    inner join\n"
                                                    "      read t1\n"
                                                    "      read t2\n"
                                                    "    read t3\n"},
};

static void test_queries(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct mr_arena a;
        struct mr_buffer out;
        struct mr_relation *r;
        struct mr_error err = {0};
        mr_arena_init(&a, NULL, &escape);
        mr_buffer_init(&out, &a);
        if (mr_sql_parse_query(mr_text_of(queries[i].sql), &a, &r, &err))
            fail_msg("%s: %s", queries[i].sql, err.message);
        mr_relation_print(r, &out);
        assert_string_equal(text_of(&out).data, queries[i].tree);
        mr_arena_fini(&a);
    }
}

/* A leading @: an expression. */
static const struct {
    const char *sql;
    uint32_t column;
    const char *condition, *message;
} errors[] = {
    {"SELECT id FROM t WHERE v >", 27, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"SELECT 'abc FROM t", 8, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near ''': expected an expression."},
    {"SELECT sum(x) OVER w FROM t", 28, "MISSING_WINDOW_SPECIFICATION",
     "Window specification is not defined in the WINDOW clause for `w`."},
    {"SELECT * FROM t WATERMARK x + 1 DELAY OF INTERVAL 1 MINUTE", 27,
     "REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE",
     "The watermark clause requires an explicit name if an expression is given: WATERMARK "
     "expression AS name DELAY OF .."},
    {"SELECT * FROM test-table", 15, "INVALID_IDENTIFIER",
     "The unquoted identifier test-table is invalid and must be back quoted as: `test-table`."},
    {"SELECT a AS b-c", 13, "INVALID_IDENTIFIER",
     "The unquoted identifier b-c is invalid and must be back quoted as: `b-c`."},
    {";", 1, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement."},
    {"@INTERVAL 1 MONTH 2 DAYS", 1, "_LEGACY_ERROR_TEMP_0029",
     "Cannot mix year-month and day-time fields: INTERVAL 1 MONTHS 2 DAYS."},
    {"@DATE 'x'", 1, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"DATE\" is invalid: 'x'."},
    {"@foo 'x'", 1, "UNSUPPORTED_TYPED_LITERAL",
     "Literals of the type \"foo\" are not supported. Supported types are \"DATE\", "
     "\"TIMESTAMP_NTZ\", \"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\"."},
    {"@300Y", 1, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 300 is outside the valid range for tinyint with minimum value of -128 and "
     "maximum value of 127. Please adjust the value accordingly."},
    {"@1 /* x /* y */ z */ + -- c", 27, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"@1 /* x", 3, "UNCLOSED_BRACKETED_COMMENT",
     "Found an unclosed bracketed comment. Please append */ at the end of the comment."},
    {"@a.1", 2, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near '.1': expected the end of the statement."},
    {"@a LIKE 'x' ESCAPE 'ab'", 19, "INVALID_ESC",
     "Found an invalid escape string: 'ab'. The escape string must contain only one character."},
    {"@a LIKE ANY ()", 13, "_LEGACY_ERROR_TEMP_0064", "Expected something between '(' and ')'."},
    {"@a IS 3", 6, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near '3': expected NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM."},
    {"@a NOT 3", 3, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'NOT': expected the end of the statement."},
    {"@1 = ", 5, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"@f(", 3, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"@f(a,)", 5, "PARSE_SYNTAX_ERROR", "Syntax error at or near ')': expected an expression."},
    {"@a +", 4, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"@(a", 3, "PARSE_SYNTAX_ERROR", "Syntax error at or near end of input: expected ')'."},
    {"@CAST(a AS)", 10, "PARSE_SYNTAX_ERROR", "Syntax error at or near ')': expected a type."},
    {"@CAST(a AS NOTYPE)", 11, "UNSUPPORTED_DATATYPE", "Unsupported data type \"NOTYPE\"."},
    {"@CAST(a AS DECIMAL(50,2))", 11, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
     "Decimal precision 50 exceeds max precision 38."},
    {"@CASE WHEN a END", 13, "PARSE_SYNTAX_ERROR", "Syntax error at or near 'END': expected THEN."},
    {"@INTERVAL '1 25' DAY TO HOUR", 1, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING",
     "Error parsing '1 25' to interval. The value does not match the format of an interval DAY TO "
     "HOUR."},
    {"@INTERVAL '1' YEAR TO DAY", 1, "_LEGACY_ERROR_TEMP_0028",
     "Intervals FROM YEAR TO DAY are not supported."},
    {"@INTERVAL 'abc' DAY", 1, "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
     "Error parsing 'abc DAYS' to interval. Please ensure that the value provided is in a valid "
     "format for defining an interval: a number and a unit, as in '10 minutes'."},
    {"@INTERVAL 'nonsense'", 1, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"INTERVAL\" is invalid: 'nonsense'."},
    {"@TIMESTAMP '2026-13-01'", 1, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"TIMESTAMP\" is invalid: '2026-13-01'."},
    {"@X'1G'", 1, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"X\" is invalid: '1G'."},
    {"@1e400", 1, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 1e400 is outside the valid range for double with minimum value of "
     "-1.7976931348623157E+308 and maximum value of 1.7976931348623157E+308. Please adjust the "
     "value accordingly."},
    {"@99999999999999999999L", 1, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 99999999999999999999 is outside the valid range for bigint with minimum "
     "value of -9223372036854775808 and maximum value of 9223372036854775807. Please adjust the "
     "value accordingly."},
    {"@123456789012345678901234567890123456789", 1, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
     "Decimal precision 39 exceeds max precision 38."},
    {"@dateadd('day', 1, t)", 1, "INVALID_PARAMETER_VALUE.DATETIME_UNIT",
     "The value of parameter(s) `unit` in `dateadd` is invalid: expects one of the units without "
     "quotes YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, SECOND, MILLISECOND, "
     "MICROSECOND, but got the string literal 'day'."},
    {"@a b", 3, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'b': expected the end of the statement."},
    {"@a IN (1, 2", 11, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected ')'."},
    {"SELECT", 7, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"SELECT a FROM t GROUP BY", 25, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected an expression."},
    {"SELECT a FROM (SELECT b", 24, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near end of input: expected ')'."},
    {"SELECT a FROM t ORDER BY a SORT BY b", 17,
     "UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES",
     "The feature is not supported: Combination of ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY."},
    {"SELECT a FROM t WHERE b = 1 c", 29, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'c': expected the end of the statement."},
    {"WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 1", 23, "DUPLICATED_CTE_NAMES",
     "CTE definition can't have duplicate names: `A`."},
    {"SELECT * FROM VALUES (1, 2), (3) AS t", 30, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
     "Invalid inline table. Inline table expected 2 columns but found 1 columns in row 1."},
    {"SELECT * FROM t, LATERAL u", 18,
     "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC",
     "Invalid SQL syntax: LATERAL can only be used with subquery and table-valued functions."},
    {"SELECT * FROM t RIGHT JOIN LATERAL (SELECT 1) u", 28, "INVALID_LATERAL_JOIN_TYPE",
     "The join with LATERAL correlation is not allowed because an outer subquery cannot correlate "
     "to its join partner. Remove the LATERAL correlation or use an INNER JOIN, or LEFT OUTER JOIN "
     "instead."},
    {"SELECT * FROM t NATURAL CROSS JOIN u", 36, "INCOMPATIBLE_JOIN_TYPES",
     "The join types \"NATURAL\" and \"CROSS\" are incompatible."},
    {"SELECT sum(x) OVER w FROM t WINDOW w AS (ORDER BY a), w AS (ORDER BY b)", 55,
     "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION",
     "Invalid SQL syntax: The definition of window `w` is repetitive."},
    {"SELECT a, b FROM t1 WHERE a = 1 GROUP BY CUBE (a, b) SORT BY a DISTRIBUTE BY b", 64,
     "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'DISTRIBUTE': expected the end of the statement."},
    {"MERGE INTO t USING u", 1, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near 'MERGE': expected a query: SELECT, WITH, VALUES, TABLE, FROM or "
     "'('."},
};

static void test_errors(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        struct mr_text sql = mr_text_of(errors[i].sql);
        struct mr_arena a;
        struct mr_relation *r;
        struct mr_ast *x;
        struct mr_error err = {0};
        enum mr_status status;
        mr_arena_init(&a, NULL, &escape);
        if (sql.data[0] == '@')
            status =
                mr_sql_parse_expression((struct mr_text){sql.data + 1, sql.n - 1}, &a, &x, &err);
        else
            status = mr_sql_parse_query(sql, &a, &r, &err);
        assert_int_equal(status, MR_USER);
        assert_string_equal(err.message, errors[i].message);
        assert_string_equal(err.condition, errors[i].condition);
        assert_int_equal(err.line, 1);
        assert_int_equal(err.column, errors[i].column);
        mr_arena_fini(&a);
    }
}

static void test_place_over_lines(void **state)
{
    struct mr_arena a;
    struct mr_relation *r;
    struct mr_error err = {0};

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(
        mr_sql_parse_query(MR_TEXT("SELECT 'é', a -- x\n  FROM t\n WHERE ) b"), &a, &r, &err),
        MR_USER);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 8);
    assert_int_equal(mr_sql_parse_query(MR_TEXT("SELECT 'é', a"), &a, &r, &err), MR_OK);
    assert_int_equal(r->exprs[1]->place.column, 13);
    mr_arena_fini(&a);
}

static enum mr_status parse_repeated(const char *before, const char *middle, const char *after,
                                     uint32_t n, struct mr_error *err)
{
    struct mr_arena a;
    struct mr_buffer sql;
    struct mr_relation *r;

    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&sql, &a);
    mr_buffer_append_text(&sql, MR_TEXT("SELECT "));
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_text(&sql, mr_text_of(before));
    mr_buffer_append_text(&sql, mr_text_of(middle));
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_text(&sql, mr_text_of(after));
    enum mr_status status = mr_sql_parse_query(mr_buffer_text(&sql), &a, &r, err);
    mr_arena_fini(&a);
    return status;
}

/* Whatever nests is refused at the limit; AND and OR may be long. */
static void test_depth(void **state)
{
    static const char *const nests[][3] = {
        {"(", "a", ")"},
        {"- ", "a", ""},
        {"NOT ", "a", ""},
        {"f(", "a", ")"},
        {"a[", "1", "]"},
        {"", "a", "[1]"},
        {"", "a", " + 1"},
        {"", "(a)", ".b"},
        {"(SELECT ", "a", ")"},
        {"", "a", "::int"},
        {"x -> ", "a", ""},
        {"trim(", "a", " FROM b)"},
        {"", "1", " UNION SELECT 1"},
        {"CASE WHEN a THEN ", "a", " END"},
        {"", "a FROM t", " JOIN t"},
        {"", "a FROM t", ", t"},
    };
    struct mr_error err;

    (void)state;
    for (uint32_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        err = (struct mr_error){0};
        assert_int_equal(parse_repeated(nests[i][0], nests[i][1], nests[i][2], 40, &err), MR_OK);
        assert_int_equal(parse_repeated(nests[i][0], nests[i][1], nests[i][2], 100000, &err),
                         MR_USER);
        assert_string_equal(err.condition, "FAILED_TO_PARSE_TOO_COMPLEX");
    }
    assert_int_equal(parse_repeated("", "a", " AND b", 100000, &err), MR_OK);
    assert_int_equal(parse_repeated("", "a", " OR b AND c", 100000, &err), MR_OK);
}

static void test_statements(void **state)
{
    const struct {
        const char *sql;
        enum mr_statement_kind kind;
        bool has_query, is_extended;
        const char *name;
    } cases[] = {
        {"show functions;", MR_STATEMENT_SHOW_FUNCTIONS, false, false, NULL},
        {"SHOW FUNCTIONS LIKE 'date*|x'", MR_STATEMENT_SHOW_FUNCTIONS, false, false, "date*|x"},
        {"desc function extended `Upper`", MR_STATEMENT_DESCRIBE_FUNCTION, false, true, "Upper"},
        {"EXPLAIN SELECT 1", MR_STATEMENT_EXPLAIN, true, false, NULL},
        {"EXPLAIN EXTENDED SELECT 1", MR_STATEMENT_EXPLAIN, true, true, NULL},
        {"SELECT 1", MR_STATEMENT_QUERY, true, false, NULL},
    };
    struct mr_arena a;
    struct mr_statement s;

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(mr_sql_parse_statement(mr_text_of(cases[i].sql), &a, &s, NULL), MR_OK);
        assert_int_equal(s.kind, cases[i].kind);
        assert_int_equal(s.query != NULL, cases[i].has_query);
        assert_int_equal(s.is_extended, cases[i].is_extended);
        assert_int_equal(s.name != NULL, cases[i].name != NULL);
        if (s.name)
            assert_string_equal(s.name, cases[i].name);
    }
    assert_int_equal(mr_sql_parse_statement(MR_TEXT("DESCRIBE FUNCTION"), &a, &s, NULL), MR_USER);
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),          cmocka_unit_test(test_errors),
        cmocka_unit_test(test_place_over_lines), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_statements),
    };

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
