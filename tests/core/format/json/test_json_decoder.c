#include "tests/core/format/decoding.h"

#define JSON(declared) .format = "json", .schema = (declared)

/* What the recorded cases file_json_* show. */

#define FIRST                                                                                      \
    "{\"a\":1,\"b\":\"x\"}\n{\"a\":\"1\",\"b\":2}\n{\"a\":1.5,\"b\":\"frac\"}\n"                   \
    "{\"b\":\"only b\"}\n{\"a\":2,\"b\":\"x\",\"c\":3}\n{\"a\":3\njunk\n\n"
#define SECOND                                                                                     \
    "   \nnull\n[]\n12\n{\"a\":4,\"b\":\"y\"} trailing\n{\"a\":5}{\"a\":6}\n"                      \
    "{\"a\":2147483648,\"b\":\"big\"}\n"

static void test_permissive_with_corrupt_column(void **state)
{
    (void)state;
    expect_rows(
        (struct decoding){JSON("a INT, b STRING, _corrupt_record STRING")}, FIRST SECOND,
        "{\"a\":1,\"b\":\"x\",\"_corrupt_record\":null}\n"
        "{\"a\":null,\"b\":\"2\",\"_corrupt_record\":\"{\\\"a\\\":\\\"1\\\",\\\"b\\\":2}\"}\n"
        "{\"a\":null,\"b\":\"frac\",\"_corrupt_record\":"
        "\"{\\\"a\\\":1.5,\\\"b\\\":\\\"frac\\\"}\"}\n"
        "{\"a\":null,\"b\":\"only b\",\"_corrupt_record\":null}\n"
        "{\"a\":2,\"b\":\"x\",\"_corrupt_record\":null}\n"
        "{\"a\":null,\"b\":null,\"_corrupt_record\":\"{\\\"a\\\":3\"}\n"
        "{\"a\":null,\"b\":null,\"_corrupt_record\":\"junk\"}\n"
        "{\"a\":null,\"b\":null,\"_corrupt_record\":\"null\"}\n"
        "{\"a\":null,\"b\":null,\"_corrupt_record\":\"12\"}\n"
        "{\"a\":4,\"b\":\"y\",\"_corrupt_record\":null}\n"
        "{\"a\":5,\"b\":null,\"_corrupt_record\":null}\n"
        "{\"a\":null,\"b\":\"big\",\"_corrupt_record\":"
        "\"{\\\"a\\\":2147483648,\\\"b\\\":\\\"big\\\"}\"}\n");
}

static void test_permissive_without_corrupt_column(void **state)
{
    (void)state;
    expect_rows((struct decoding){JSON("a INT, b STRING")}, FIRST,
                "{\"a\":1,\"b\":\"x\"}\n{\"a\":null,\"b\":\"2\"}\n{\"a\":null,\"b\":\"frac\"}\n"
                "{\"a\":null,\"b\":\"only b\"}\n{\"a\":2,\"b\":\"x\"}\n{\"a\":null,\"b\":null}\n"
                "{\"a\":null,\"b\":null}\n");
}

static void test_dropmalformed(void **state)
{
    (void)state;
    expect_rows((struct decoding){.format = "json",
                                  .schema = "a INT, b STRING",
                                  .options = {{"mode", "dropmalformed"}},
                                  .options_n = 1},
                FIRST SECOND,
                "{\"a\":1,\"b\":\"x\"}\n{\"a\":null,\"b\":\"only b\"}\n{\"a\":2,\"b\":\"x\"}\n"
                "{\"a\":4,\"b\":\"y\"}\n{\"a\":5,\"b\":null}\n");
}

static void test_failfast(void **state)
{
    struct decoding in = {.format = "json",
                          .schema = "a INT, b STRING",
                          .options = {{"mode", "FAILFAST"}},
                          .options_n = 1};
    struct decoded out;

    (void)state;
    decode_text(&in, mr_text_of("{\"a\":1,\"b\":\"x\"}\n{\"a\":3\n"), &out);
    assert_int_equal(out.status, MR_QUERY);
    assert_string_equal(out.err.condition, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
    assert_non_null(strstr(out.err.message, "parsing: [null,null]."));
    assert_int_equal(out.bad_n, 1);
    assert_int_equal(out.bad_offset, 16);
    decoded_free(&out);
    decode_text(&in, mr_text_of("{\"a\":\"x\",\"b\":\"k\"}\n"), &out);
    assert_int_equal(out.status, MR_QUERY);
    assert_non_null(strstr(out.err.message, "parsing: [null,k]."));
    decoded_free(&out);
}

static void test_field_names(void **state)
{
    (void)state;
    expect_rows((struct decoding){JSON("a INT, B INT, `x.y` INT, `q r` STRING")},
                "{\"a\":1,\"A\":2,\"B\":3,\"b\":4,\"x.y\":5,\"q r\":\"s\",\"z\":{\"a\":9}}\n"
                "{\"a\":1,\"a\":7}\n{\"A\":1}\n{}\n{\"x\":{\"y\":6}}\n",
                "{\"a\":1,\"B\":3,\"x.y\":5,\"q r\":\"s\"}\n"
                "{\"a\":7,\"B\":null,\"x.y\":null,\"q r\":null}\n"
                "{\"a\":null,\"B\":null,\"x.y\":null,\"q r\":null}\n"
                "{\"a\":null,\"B\":null,\"x.y\":null,\"q r\":null}\n"
                "{\"a\":null,\"B\":null,\"x.y\":null,\"q r\":null}\n");
}

static void test_nested_types(void **state)
{
    (void)state;
    expect_rows(
        (struct decoding){JSON("s STRUCT<x: INT, y: STRING>, a ARRAY<INT>, m MAP<STRING, INT>, "
                               "z INT, _corrupt_record STRING"),
                          .needed =
                              "s STRUCT<x: INT, y: STRING>, a ARRAY<INT>, m MAP<STRING, INT>, "
                              "z INT"},
        "{\"s\":{\"x\":1,\"y\":\"q\"},\"a\":[1,null],\"m\":{\"k\":1},\"z\":1}\n"
        "{\"s\":{\"x\":\"bad\",\"y\":\"q\"},\"a\":[1,2],\"z\":2}\n"
        "{\"s\":5,\"a\":[1,\"bad\"],\"m\":{\"k\":\"bad\"},\"z\":3}\n"
        "{\"s\":null,\"a\":{},\"m\":[],\"z\":4}\n{\"a\":[[1]],\"s\":[{\"x\":1}],\"z\":5}\n",
        "{\"s\":{\"x\":1,\"y\":\"q\"},\"a\":[1,null],\"m\":{\"k\":1},\"z\":1}\n"
        "{\"s\":{\"x\":null,\"y\":\"q\"},\"a\":[1,2],\"m\":null,\"z\":2}\n"
        "{\"s\":null,\"a\":null,\"m\":null,\"z\":3}\n"
        "{\"s\":null,\"a\":null,\"m\":null,\"z\":4}\n"
        "{\"s\":null,\"a\":null,\"m\":null,\"z\":5}\n");
}

static void test_top_level_array(void **state)
{
#define MIXED "[{\"a\":1,\"b\":\"x\"},{\"a\":2},{\"a\":\"bad\",\"b\":\"z\"}]"
#define MIXED_RAW                                                                                  \
    "\"[{\\\"a\\\":1,\\\"b\\\":\\\"x\\\"},{\\\"a\\\":2},{\\\"a\\\":\\\"bad\\\",\\\"b\\\":"         \
    "\\\"z\\\"}]\""
    (void)state;
    expect_rows((struct decoding){JSON("a INT, b STRING, _corrupt_record STRING")},
                MIXED "\n[]\n[1,2]\n[{\"a\":3},[{\"a\":4}]]\n{\"a\":5}\n",
                "{\"a\":1,\"b\":\"x\",\"_corrupt_record\":" MIXED_RAW "}\n"
                "{\"a\":2,\"b\":null,\"_corrupt_record\":" MIXED_RAW "}\n"
                "{\"a\":null,\"b\":\"z\",\"_corrupt_record\":" MIXED_RAW "}\n"
                "{\"a\":null,\"b\":null,\"_corrupt_record\":\"[1,2]\"}\n"
                "{\"a\":null,\"b\":null,\"_corrupt_record\":\"[{\\\"a\\\":3},[{\\\"a\\\":4}]]\"}\n"
                "{\"a\":5,\"b\":null,\"_corrupt_record\":null}\n");
}

static void test_timestamps(void **state)
{
    (void)state;
    expect_rows((struct decoding){JSON("t TIMESTAMP, d DATE, n TIMESTAMP_NTZ")},
                "{\"t\": \"2026-01-02T03:04:05Z\", \"d\": \"2026-01-02T03:04:05Z\", \"n\": "
                "\"2026-01-02T03:04:05Z\"}\n"
                "{\"t\": \"2026-01-02T03:04:05.123456Z\", \"d\": \"2026-01-02\", \"n\": "
                "\"2026-01-02T03:04:05\"}\n"
                "{\"t\": \"2026-01-02T03:04:05+02:00\", \"d\": \"x\", \"n\": \"2026-01-02 "
                "03:04:05\"}\n"
                "{\"t\": \"2026-01-02T03:04\", \"d\": \"\", \"n\": \"2026-01-02T03:04\"}\n"
                "{\"t\": \"2026-01-02T03:04:05.1234567Z\", \"d\": null, \"n\": null}\n"
                "{\"t\": \"2026-1-2T3:4:5Z\", \"d\": null, \"n\": null}\n"
                "{\"t\": \"02/01/2026\", \"d\": \"02/01/2026\", \"n\": \"02/01/2026\"}\n"
                "{\"t\":1767323045,\"d\":1,\"n\":1767323045}\n"
                "{\"t\":1767323045.5,\"d\":1.5,\"n\":1.5}\n"
                "{\"t\":1767323045000,\"d\":null,\"n\":null}\n",
                "{\"t\":\"2026-01-02T03:04:05.000000Z\",\"d\":\"2026-01-02\",\"n\":null}\n"
                "{\"t\":\"2026-01-02T03:04:05.123456Z\",\"d\":\"2026-01-02\",\"n\":\"2026-01-"
                "02T03:04:05.000\"}\n"
                "{\"t\":\"2026-01-02T01:04:05.000000Z\",\"d\":null,\"n\":\"2026-01-02T03:04:05."
                "000\"}\n"
                "{\"t\":\"2026-01-02T03:04:00.000000Z\",\"d\":null,\"n\":\"2026-01-02T03:04:00."
                "000\"}\n"
                "{\"t\":\"2026-01-02T03:04:05.123456Z\",\"d\":null,\"n\":null}\n"
                "{\"t\":\"2026-01-02T03:04:05.000000Z\",\"d\":null,\"n\":null}\n"
                "{\"t\":null,\"d\":null,\"n\":null}\n"
                "{\"t\":\"2026-01-02T03:04:05.000000Z\",\"d\":null,\"n\":null}\n"
                "{\"t\":null,\"d\":null,\"n\":null}\n"
                "{\"t\":\"+57974-03-28T20:03:20.000000Z\",\"d\":null,\"n\":null}\n");
}

static void test_formats(void **state)
{
    (void)state;
    expect_rows((struct decoding){.format = "json",
                                  .schema = "t TIMESTAMP, d DATE",
                                  .options = {{"timestampFormat", "dd/MM/yyyy HH:mm"},
                                              {"dateFormat", "dd/MM/yyyy"}},
                                  .options_n = 2},
                "{\"t\": \"02/01/2026 03:04\", \"d\": \"02/01/2026\"}\n"
                "{\"t\": \"2026-01-02T03:04:05Z\", \"d\": \"2026-01-02\"}\n"
                "{\"t\": \"2/1/2026 3:04\", \"d\": \"2/1/2026 3\"}\n",
                "{\"t\":\"2026-01-02T03:04:00.000000Z\",\"d\":\"2026-01-02\"}\n"
                "{\"t\":null,\"d\":null}\n{\"t\":null,\"d\":null}\n");
}

static void test_multi_line(void **state)
{
    struct decoding in = {
        .format = "json", .schema = "a INT", .options = {{"multiLine", "true"}}, .options_n = 1};

    (void)state;
    expect_rows(in, "{\n \"a\":\r\n 1\n}\n{\"a\":2}\n", "{\"a\":1}\n");
    expect_rows(in, "[{\"a\":1},\n{\"a\":2},{\"a\":3},{\"a\":4}\n]",
                "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n");
}

static void test_line_ends(void **state)
{
    (void)state;
    expect_rows((struct decoding){JSON("a INT")}, "\xef\xbb\xbf{\"a\":1}\r\n{\"a\":2}\r{\"a\":3}",
                "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    expect_rows(
        (struct decoding){
            .format = "json", .schema = "a INT", .options = {{"lineSep", "||"}}, .options_n = 1},
        "{\"a\":1}||{\"a\":2}|||{\"a\":3}||", "{\"a\":1}\n{\"a\":2}\n{\"a\":null}\n");
}

static void test_pruned_columns(void **state)
{
    (void)state;
    expect_rows((struct decoding){JSON("a INT, b STRING, c DOUBLE"), .needed = "c DOUBLE"},
                "{\"a\":\"no int\",\"b\":\"x\",\"c\":-1.5}\n{\"a\":{\"q\":[1,{}]},\"c\":1e3}\n"
                "{\"a\":tru,\"c\":2}\n{\"b\":\"\\q\",\"c\":3}\n{\"b\":\"\\u00e9\",\"c\":4}\n"
                "{\"b\":007,\"c\":5}\n",
                "{\"c\":-1.5}\n{\"c\":1000.0}\n{\"c\":null}\n{\"c\":null}\n{\"c\":4.0}\n"
                "{\"c\":null}\n");
}

static void test_only_corrupt_column(void **state)
{
    struct decoding in = {JSON("a INT, _corrupt_record STRING"),
                          .needed = "_corrupt_record STRING"};
    struct decoded out;

    (void)state;
    decode_text(&in, mr_text_of("{}\n"), &out);
    assert_int_equal(out.status, MR_QUERY);
    assert_string_equal(out.err.condition, "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN");
    decoded_free(&out);
}

static void test_unknown_option(void **state)
{
    struct decoding in = {
        .format = "json", .schema = "a INT", .options = {{"multiline ", "true"}}, .options_n = 1};
    struct decoded out;

    (void)state;
    decode_text(&in, mr_text_of("{}\n"), &out);
    assert_int_equal(out.status, MR_USER);
    assert_non_null(strstr(out.err.message, "did you mean \"multiLine\"?"));
    decoded_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permissive_with_corrupt_column),
        cmocka_unit_test(test_permissive_without_corrupt_column),
        cmocka_unit_test(test_dropmalformed),
        cmocka_unit_test(test_failfast),
        cmocka_unit_test(test_field_names),
        cmocka_unit_test(test_nested_types),
        cmocka_unit_test(test_top_level_array),
        cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_multi_line),
        cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_pruned_columns),
        cmocka_unit_test(test_only_corrupt_column),
        cmocka_unit_test(test_unknown_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
