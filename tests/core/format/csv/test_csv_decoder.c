#include "tests/core/format/decoding.h"

/* What the recorded cases file_csv_* show. */

#define CSV(declared) .format = "csv", .schema = (declared)

static void test_nulls_and_types(void **state)
{
    struct decoding in = {
        CSV("i INT, d DOUBLE, b BOOLEAN, dt DATE, ts TIMESTAMP, s STRING, c DECIMAL(5,2), "
            "_corrupt_record STRING"),
        .options = {{"nullValue", "NA"}}, .options_n = 1};

    (void)state;
    expect_rows(
        in,
        "1,1.5,true,2026-01-02,2026-01-02T03:04:05Z,x,1.239\n,,,,,,\nNA,NA,NA,NA,NA,NA,NA\n"
        " 2 ,1e3,TRUE,2026-1-2,2026-01-02 03:04:05, y ,2\n3,NaN,1,x,2026-01-02,z,12345\n"
        "4,Inf,f,20260102,x,'q',1\n"
        "5,-INF,False,2026-01-02,2026-01-02T03:04:05.123456Z,\"\",0.005\n",
        "{\"i\":1,\"d\":1.5,\"b\":true,\"dt\":\"2026-01-02\",\"ts\":\"2026-01-02T03:04:05."
        "000000Z\","
        "\"s\":\"x\",\"c\":1.24,\"_corrupt_record\":null}\n"
        "{\"i\":null,\"d\":null,\"b\":null,\"dt\":null,\"ts\":null,\"s\":null,\"c\":null,"
        "\"_corrupt_record\":null}\n"
        "{\"i\":null,\"d\":null,\"b\":null,\"dt\":null,\"ts\":null,\"s\":null,\"c\":null,"
        "\"_corrupt_record\":null}\n"
        "{\"i\":null,\"d\":1000.0,\"b\":true,\"dt\":\"2026-01-02\",\"ts\":\"2026-01-02T03:04:05."
        "000000Z\",\"s\":\" y \",\"c\":2.00,\"_corrupt_record\":\" 2 ,1e3,TRUE,2026-1-2,2026-01-02 "
        "03:04:05, y ,2\"}\n"
        "{\"i\":3,\"d\":\"NaN\",\"b\":null,\"dt\":null,\"ts\":\"2026-01-02T00:00:00.000000Z\","
        "\"s\":\"z\",\"c\":null,\"_corrupt_record\":\"3,NaN,1,x,2026-01-02,z,12345\"}\n"
        "{\"i\":4,\"d\":\"Infinity\",\"b\":null,\"dt\":null,\"ts\":null,\"s\":\"'q'\",\"c\":1.00,"
        "\"_corrupt_record\":\"4,Inf,f,20260102,x,'q',1\"}\n"
        "{\"i\":5,\"d\":null,\"b\":false,\"dt\":\"2026-01-02\",\"ts\":\"2026-01-02T03:04:05."
        "123456Z\",\"s\":\"\",\"c\":0.01,\"_corrupt_record\":\"5,-INF,False,2026-01-02,2026-01-"
        "02T03:"
        "04:05.123456Z,\\\"\\\",0.005\"}\n");
}

static void test_options(void **state)
{
    struct decoding in = {CSV("a INT, b STRING, d DATE, e STRING"),
                          .options = {{"sep", "|"},
                                      {"quote", "'"},
                                      {"escape", "^"},
                                      {"comment", "#"},
                                      {"ignoreLeadingWhiteSpace", "true"},
                                      {"ignoreTrailingWhiteSpace", "true"},
                                      {"emptyValue", "EMPTY"},
                                      {"dateFormat", "dd.MM.yyyy"}},
                          .options_n = 8};

    (void)state;
    expect_rows(in, "# a comment\n1|  x |02.01.2026|''\n2|'p|q'|03.01.2026|'it^'s'\n 3 |''|| z\n",
                "{\"a\":1,\"b\":\"x\",\"d\":\"2026-01-02\",\"e\":\"EMPTY\"}\n"
                "{\"a\":2,\"b\":\"p|q\",\"d\":\"2026-01-03\",\"e\":\"it's\"}\n"
                "{\"a\":3,\"b\":\"EMPTY\",\"d\":null,\"e\":\"z\"}\n");
}

static void test_short_and_long_lines(void **state)
{
    struct decoding in = {CSV("a INT, b INT, c STRING, _corrupt_record STRING")};
    struct decoding drop = {CSV("a INT, b INT, c STRING"), .options = {{"mode", "DROPMALFORMED"}},
                            .options_n = 1};

    (void)state;
    expect_rows(in, "1,2,x\n1,2\n1\n1,2,x,4\nk,2,x\n\n,\n",
                "{\"a\":1,\"b\":2,\"c\":\"x\",\"_corrupt_record\":null}\n"
                "{\"a\":1,\"b\":2,\"c\":null,\"_corrupt_record\":\"1,2\"}\n"
                "{\"a\":1,\"b\":null,\"c\":null,\"_corrupt_record\":\"1\"}\n"
                "{\"a\":1,\"b\":2,\"c\":\"x\",\"_corrupt_record\":\"1,2,x,4\"}\n"
                "{\"a\":null,\"b\":2,\"c\":\"x\",\"_corrupt_record\":\"k,2,x\"}\n"
                "{\"a\":null,\"b\":null,\"c\":null,\"_corrupt_record\":\",\"}\n");
    expect_rows(drop, "1,2,x\n1,2\n1,2,x,4\nk,2,x\n3,4,y\n",
                "{\"a\":1,\"b\":2,\"c\":\"x\"}\n{\"a\":3,\"b\":4,\"c\":\"y\"}\n");
}

static void test_failfast(void **state)
{
    struct decoding in = {CSV("a INT, b INT"), .options = {{"mode", "FAILFAST"}}, .options_n = 1};
    struct decoded out;

    (void)state;
    decode_text(&in, mr_text_of("1,2\nk,2\n"), &out);
    assert_int_equal(out.status, MR_QUERY);
    assert_string_equal(out.err.condition, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
    assert_non_null(strstr(out.err.message, "parsing: [null,2]."));
    assert_int_equal(out.bad_offset, 4);
    decoded_free(&out);
}

static void test_header(void **state)
{
    struct decoding in = {CSV("id INT, name STRING"), .options = {{"header", "true"}},
                          .options_n = 1};
    struct decoding strict = {CSV("id INT, name STRING"),
                              .options = {{"header", "true"}, {"enforceSchema", "false"}},
                              .options_n = 2};
    struct decoded out;

    (void)state;
    expect_rows(in, "\nname,id\r\n1,x\r\n", "{\"id\":1,\"name\":\"x\"}\n");
    expect_rows(strict, "ID,name\n1,x\n", "{\"id\":1,\"name\":\"x\"}\n");
    decode_text(&strict, mr_text_of("name,id\n1,x\n"), &out);
    assert_int_equal(out.status, MR_QUERY);
    decoded_free(&out);
}

static void test_pruned_columns(void **state)
{
    struct decoding in = {CSV("a INT, b INT, c STRING"), .needed = "c STRING"};

    (void)state;
    expect_rows(in, "x,y,z\n1\n1,2,3,4\n", "{\"c\":\"z\"}\n{\"c\":null}\n{\"c\":\"3\"}\n");
}

static void test_quotes(void **state)
{
    struct decoding in = {CSV("a STRING, b STRING, c STRING")};

    (void)state;
    expect_rows(in,
                "\"a,b\",\"x\\\"y\",z\n\"a\"\"b\",c,d\n\"a\"x,b,c\n\"a\" ,b,c\na\"b,c,d\n"
                "\"open,b,c\n\"a\\\\b\",\"\\n\",\"\"\n\"a\"b\"c\",d,e\n",
                "{\"a\":\"a,b\",\"b\":\"x\\\"y\",\"c\":\"z\"}\n"
                "{\"a\":\"\\\"a\\\"\\\"b\\\"\",\"b\":\"c\",\"c\":\"d\"}\n"
                "{\"a\":\"\\\"a\\\"x\",\"b\":\"b\",\"c\":\"c\"}\n"
                "{\"a\":\"a\",\"b\":\"b\",\"c\":\"c\"}\n"
                "{\"a\":\"a\\\"b\",\"b\":\"c\",\"c\":\"d\"}\n"
                "{\"a\":\"open,b,c\",\"b\":null,\"c\":null}\n"
                "{\"a\":\"a\\\\b\",\"b\":\"\\\\n\",\"c\":null}\n"
                "{\"a\":\"\\\"a\\\"b\\\"c\\\"\",\"b\":\"d\",\"c\":\"e\"}\n");
}

static void test_multi_line(void **state)
{
    struct decoding in = {CSV("a STRING, b STRING"), .options = {{"multiLine", "true"}},
                          .options_n = 1};

    (void)state;
    expect_rows(in, "1,\"x\ny\"\n\n2,\"z\"\n",
                "{\"a\":\"1\",\"b\":\"x\\ny\"}\n{\"a\":\"2\",\"b\":\"z\"}\n");
    expect_rows(in, "1,\"x\r\ny\"\r\n2,z",
                "{\"a\":\"1\",\"b\":\"x\\ny\"}\n{\"a\":\"2\",\"b\":\"z\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nulls_and_types),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_short_and_long_lines),
        cmocka_unit_test(test_failfast),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_pruned_columns),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_multi_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
