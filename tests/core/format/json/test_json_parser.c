/* from_json and to_json, as the recorded cases json_* show them. */
#include "core/format/ddl.h"
#include "core/format/json/json.h"
#include "kernels/kernels.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct parse {
    const char *type;
    struct mr_option options[12];
    uint32_t options_n;
};

enum { TEXTS_MAX = 32 };

/* texts: NULL-ended; "\1" stands for NULL. Every second row is not selected. rows: one line a
 * text. */
static void expect_parsed(const struct parse *in, const char *const *texts, const char *rows)
{
    jmp_buf escape;
    struct mr_arena a;
    struct mr_error err = {0};
    const struct mr_type *type;
    struct mr_json_parser *p;
    struct mr_column column, result;
    struct mr_buffer out;
    uint32_t sel[TEXTS_MAX], n = 0;
    uint64_t used;
    const struct mr_json_writer writer = {
        .zone = mr_zone_utc(), .keep_nulls = true, .microseconds_always = true};

    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&out, &a);
    assert_int_equal(mr_kernels_init(NULL, &err), MR_OK);
    if (mr_ddl_parse_columns(mr_text_of(in->type), &a, &type, &err) != MR_OK)
        assert_int_equal(mr_ddl_parse_type(mr_text_of(in->type), &a, &type, &used, &err), MR_OK);
    const struct mr_decoder_config config = {.schema = type,
                                             .full_schema = type,
                                             .options = in->options,
                                             .options_n = in->options_n,
                                             .zone = mr_zone_utc()};
    assert_int_equal(mr_json_parser_open(&config, &a, &p, &err), MR_OK);
    mr_column_alloc(&column, &mr_type_string, 2 * TEXTS_MAX, true, &a);
    for (; texts[n]; n++) {
        bool null = texts[n][0] == '\1';
        sel[n] = 2 * n;
        mr_column_set_text(&column, 2 * n, null ? MR_TEXT("") : mr_text_of(texts[n]), &a);
        mr_column_set_text(&column, 2 * n + 1, MR_TEXT("{\"a\":1,\"other\":[]}"), &a);
        if (null)
            mr_bit_clear(column.valid, 2 * n);
    }
    assert_int_equal(mr_json_parse_column(p, &column, 2 * n, sel, n, &a, &result, &err), MR_OK);
    for (uint32_t i = 0; i < n; i++) {
        mr_json_write_value(&writer, &result, 2 * i, &out);
        mr_buffer_append(&out, "\n", 1);
        assert_true(mr_column_is_null(&result, 2 * i + 1));
    }
    mr_buffer_append(&out, "", 1);
    assert_string_equal((const char *)out.data, rows);
    mr_json_parser_close(p);
    mr_arena_fini(&a);
}

static void test_permissive(void **state)
{
    const struct parse in = {.type = "a INT, b STRING"};
    const char *const texts[] = {"{\"a\":1,\"b\":\"x\"}",
                                 "{\"a\":1}",
                                 "{\"b\":\"x\",\"a\":null}",
                                 "{\"a\":\"1\",\"b\":2}",
                                 "{\"a\":1.0}",
                                 "{\"a\":2147483648,\"b\":\"big\"}",
                                 "{\"A\":1,\"B\":\"up\"}",
                                 "{\"a\":1,\"b\":{\"n\":[1, 2]}}",
                                 "{\"a\":1} trailing",
                                 "{\"a\":1}{\"a\":2}",
                                 "{\"a\":1",
                                 "[{\"a\":7,\"b\":\"arr\"}]",
                                 "\"text\"",
                                 "12",
                                 "null",
                                 "",
                                 "   ",
                                 "junk",
                                 "\1",
                                 "{\"a\":1,\"b\":1.50}",
                                 NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"a\":1,\"b\":\"x\"}\n{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":\"x\"}\n"
        "{\"a\":null,\"b\":\"2\"}\n{\"a\":null,\"b\":null}\n{\"a\":null,\"b\":\"big\"}\n"
        "{\"a\":null,\"b\":null}\n{\"a\":1,\"b\":\"{\\\"n\\\":[1,2]}\"}\n{\"a\":1,\"b\":null}\n"
        "{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":null}\n{\"a\":null,\"b\":null}\n"
        "{\"a\":null,\"b\":null}\n{\"a\":null,\"b\":null}\n{\"a\":null,\"b\":null}\nnull\nnull\n"
        "{\"a\":null,\"b\":null}\nnull\n{\"a\":1,\"b\":\"1.5\"}\n");
}

static void test_corrupt_field(void **state)
{
    const struct parse in = {.type = "a INT, bad STRING, b STRING",
                             .options = {{"columnNameOfCorruptRecord", "bad"}},
                             .options_n = 1};
    const char *const texts[] = {"{\"a\":1,\"b\":\"x\"}",
                                 "{\"a\":\"x\",\"b\":\"ok\"}",
                                 "{\"a\":1",
                                 "{\"a\":1} x",
                                 "",
                                 "[1]",
                                 "[]",
                                 "null",
                                 "\1",
                                 NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"a\":1,\"bad\":null,\"b\":\"x\"}\n"
        "{\"a\":null,\"bad\":\"{\\\"a\\\":\\\"x\\\",\\\"b\\\":\\\"ok\\\"}\",\"b\":\"ok\"}\n"
        "{\"a\":null,\"bad\":\"{\\\"a\\\":1\",\"b\":null}\n{\"a\":1,\"bad\":null,\"b\":null}\n"
        "null\n{\"a\":null,\"bad\":\"[1]\",\"b\":null}\n{\"a\":null,\"bad\":\"[]\",\"b\":null}\n"
        "{\"a\":null,\"bad\":\"null\",\"b\":null}\nnull\n");
}

static void test_rescued(void **state)
{
    const struct parse in = {.type = "a INT, r STRING, s STRUCT<x: INT>, l ARRAY<STRUCT<y: INT>>",
                             .options = {{"rescuedDataColumn", "r"}, {"mode", "FAILFAST"}},
                             .options_n = 2};
    const struct parse loose = {
        .type = "a INT, r STRING, bad STRING",
        .options = {{"rescuedDataColumn", "r"}, {"columnNameOfCorruptRecord", "bad"}},
        .options_n = 2};
    const char *const texts[] = {"{\"a\":1}",
                                 "{\"a\":\"x\",\"b\":2.50,\"c\":{\"d\": [1, \"\\u0041\"]}}",
                                 "{\"s\":{\"x\":1,\"z\":true},\"a\":2}",
                                 "{\"s\":{\"x\":[]},\"l\":[{\"y\":1},{\"y\":\"q\"}]}",
                                 "{\"l\":[{\"y\":1,\"k\":2}]}",
                                 "{\"l\":[5,6],\"a\":3}",
                                 "{\"r\":\"mine\",\"a\":4}",
                                 "{\"q\\\"\":null,\"s\":null}",
                                 "\1",
                                 NULL};
    const struct parse nested = {
        .type = "r STRING, s STRUCT<a: ARRAY<STRUCT<y: INT>>, b: INT>, t STRUCT<u: STRUCT<v: INT>>",
        .options = {{"rescuedDataColumn", "r"}},
        .options_n = 1};
    const char *const orders[] = {"{\"s\":{\"a\":[{\"y\":1,\"k\":2}],\"b\":5}}",
                                  "{\"s\":{\"b\":5,\"a\":[{\"y\":1,\"k\":2}]}}",
                                  "{\"t\":{\"u\":{\"w\":[1],\"v\":2},\"k\":3}}", NULL};
    const char *const broken[] = {"{\"a\":1,\"u\":{\"v\":}", "{\"a\":true,\"u\":1}", "[7]", NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"a\":1,\"r\":null,\"s\":null,\"l\":null}\n"
        "{\"a\":null,\"r\":\"{\\\"a\\\":\\\"x\\\",\\\"b\\\":2.50,\\\"c\\\":{\\\"d\\\": [1, "
        "\\\"\\\\u0041\\\"]}}\",\"s\":null,\"l\":null}\n"
        "{\"a\":2,\"r\":\"{\\\"s\\\":{\\\"z\\\":true}}\",\"s\":{\"x\":1},\"l\":null}\n"
        "{\"a\":null,\"r\":\"{\\\"s\\\":{\\\"x\\\":[]},\\\"l\\\":[{\\\"y\\\":1},{\\\"y\\\":"
        "\\\"q\\\"}]}\",\"s\":{\"x\":null},\"l\":[{\"y\":1},{\"y\":null}]}\n"
        "{\"a\":null,\"r\":\"{\\\"l\\\":[{\\\"y\\\":1,\\\"k\\\":2}]}\",\"s\":null,"
        "\"l\":[{\"y\":1}]}\n"
        "{\"a\":3,\"r\":\"{\\\"l\\\":[5,6]}\",\"s\":null,\"l\":null}\n"
        "{\"a\":4,\"r\":\"{\\\"r\\\":\\\"mine\\\"}\",\"s\":null,\"l\":null}\n"
        "{\"a\":null,\"r\":\"{\\\"q\\\\\\\"\\\":null}\",\"s\":null,\"l\":null}\n"
        "null\n");
    expect_parsed(&nested, orders,
                  "{\"r\":\"{\\\"s\\\":{\\\"a\\\":[{\\\"y\\\":1,\\\"k\\\":2}]}}\","
                  "\"s\":{\"a\":[{\"y\":1}],\"b\":5},\"t\":null}\n"
                  "{\"r\":\"{\\\"s\\\":{\\\"a\\\":[{\\\"y\\\":1,\\\"k\\\":2}]}}\","
                  "\"s\":{\"a\":[{\"y\":1}],\"b\":5},\"t\":null}\n"
                  "{\"r\":\"{\\\"t\\\":{\\\"u\\\":{\\\"w\\\":[1]},\\\"k\\\":3}}\",\"s\":null,"
                  "\"t\":{\"u\":{\"v\":2}}}\n");
    expect_parsed(&loose, broken,
                  "{\"a\":null,\"r\":null,\"bad\":\"{\\\"a\\\":1,\\\"u\\\":{\\\"v\\\":}\"}\n"
                  "{\"a\":null,\"r\":\"{\\\"a\\\":true,\\\"u\\\":1}\",\"bad\":null}\n"
                  "{\"a\":null,\"r\":null,\"bad\":\"[7]\"}\n");
}

static void test_rescued_is_refused(void **state)
{
    static const char *const types[] = {"a INT", "a INT, r INT", "a INT, r STRING NOT NULL"};
    struct mr_option options[] = {{"rescuedDataColumn", "r"}, {"columnNameOfCorruptRecord", "r"}};
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_json_parser *p;
    struct mr_decoder_config config = {.options = options, .options_n = 1, .zone = mr_zone_utc()};

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(mr_ddl_parse_columns(mr_text_of(types[i]), &a, &config.schema, &err),
                         MR_OK);
        config.full_schema = config.schema;
        assert_int_equal(mr_json_parser_open(&config, &a, &p, &err), MR_USER);
        assert_non_null(strstr(err.message, "rescuedDataColumn"));
    }
    assert_int_equal(mr_ddl_parse_columns(MR_TEXT("r STRING"), &a, &config.schema, &err), MR_OK);
    config.full_schema = config.schema;
    config.options_n = 2;
    assert_int_equal(mr_json_parser_open(&config, &a, &p, &err), MR_USER);
    mr_arena_fini(&a);
}

static void test_nested(void **state)
{
    const struct parse in = {.type =
                                 "s STRUCT<x: INT, y: STRING>, a ARRAY<INT>, m MAP<STRING, INT>, "
                                 "ss ARRAY<STRUCT<x: INT, y: STRING>>"};
    const char *const texts[] = {
        "{\"s\":{\"x\":1,\"y\":\"q\"},\"a\":[1,2],\"m\":{\"k\":1,\"l\":null}}",
        "{\"s\":{\"x\":\"bad\",\"y\":\"q\"},\"a\":[1,\"bad\",3],\"m\":{\"k\":\"bad\",\"l\":2}}",
        "{\"s\":null,\"a\":[null],\"m\":{}}",
        "{\"s\":{},\"a\":[],\"m\":null}",
        "{\"ss\":[{\"x\":1},{\"x\":\"bad\",\"y\":\"k\"},null,7]}",
        NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"s\":{\"x\":1,\"y\":\"q\"},\"a\":[1,2],\"m\":{\"k\":1,\"l\":null},\"ss\":null}\n"
        "{\"s\":{\"x\":null,\"y\":\"q\"},\"a\":null,\"m\":null,\"ss\":null}\n"
        "{\"s\":null,\"a\":[null],\"m\":{},\"ss\":null}\n"
        "{\"s\":{\"x\":null,\"y\":null},\"a\":[],\"m\":null,\"ss\":null}\n"
        "{\"s\":null,\"a\":null,\"m\":null,\"ss\":null}\n");
}

static void test_other_roots(void **state)
{
    const char *const texts[] = {
        "[1,2,null]", "[1,\"x\"]",   "{\"a\":1}", "5", "", "{\"a\":\"x\",\"b\":2}",
        "[]",         "[{\"x\":1}]", "\1",        NULL};
    const struct parse array = {.type = "ARRAY<INT>"}, map = {.type = "MAP<STRING, INT>"},
                       structs = {.type = "ARRAY<STRUCT<x: INT>>"};

    (void)state;
    expect_parsed(&array, texts, "[1,2,null]\nnull\nnull\nnull\nnull\nnull\n[]\nnull\nnull\n");
    expect_parsed(&map, texts, "null\nnull\n{\"a\":1}\nnull\nnull\nnull\nnull\nnull\nnull\n");
    expect_parsed(
        &structs, texts,
        "null\nnull\n[{\"x\":null}]\nnull\nnull\n[{\"x\":null}]\n[]\n[{\"x\":1}]\nnull\n");
}

static void test_strings(void **state)
{
    const struct parse in = {.type = "a STRING"};
    const char *const texts[] = {"{\"a\":\"1\",\"a\":\"2\"}",
                                 "{\"a\":\"1\",\"a\":null}",
                                 "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\t\\\"\\\\\\/\"}",
                                 "{\"\\u0061\":\"key escaped\"}",
                                 "{\"a\":\"tab\there\"}",
                                 "{\"a\":\"\\x41\"}",
                                 "{\"a\":\"\\ud83d\"}",
                                 "{\"a\" : \"spaces\" }",
                                 "{a:\"unquoted\"}",
                                 "{'a':'single'}",
                                 "{\"a\":\"1\",}",
                                 "{\"a\":\"c\"/* comment */}",
                                 "{\"a\":\"\xff\"}",
                                 NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"a\":\"2\"}\n{\"a\":null}\n{\"a\":\"\xc3\xa9\xf0\x9f\x98\x80\\n\\t\\\"\\\\/\"}\n"
        "{\"a\":\"key escaped\"}\n{\"a\":null}\n{\"a\":null}\n{\"a\":\"?\"}\n"
        "{\"a\":\"spaces\"}\n{\"a\":null}\n{\"a\":\"single\"}\n{\"a\":null}\n{\"a\":null}\n"
        "{\"a\":\"\xef\xbf\xbd\"}\n");
}

static void test_options(void **state)
{
    const struct parse in = {.type = "a STRING, n INT, t TIMESTAMP, d DATE, f DOUBLE",
                             .options = {{"allowUnquotedFieldNames", "true"},
                                         {"allowSingleQuotes", "true"},
                                         {"allowComments", "true"},
                                         {"allowNumericLeadingZeros", "true"},
                                         {"timestampFormat", "dd/MM/yyyy HH:mm"},
                                         {"dateFormat", "dd.MM.yyyy"},
                                         {"allowNonNumericNumbers", "false"},
                                         {"allowBackslashEscapingAnyCharacter", "true"}},
                             .options_n = 8};
    const char *const texts[] = {"{a:'x'}",
                                 "{\"a\":\"c\"/* comment */}",
                                 "{\"n\":007}",
                                 "{\"t\":\"02/01/2026 03:04\"}",
                                 "{\"d\":\"02.01.2026\"}",
                                 "{\"a\":NaN}",
                                 "{\"f\":NaN}",
                                 "{\"a\":\"\\q\"}",
                                 NULL};

    (void)state;
    expect_parsed(
        &in, texts,
        "{\"a\":\"x\",\"n\":null,\"t\":null,\"d\":null,\"f\":null}\n"
        "{\"a\":\"c\",\"n\":null,\"t\":null,\"d\":null,\"f\":null}\n"
        "{\"a\":null,\"n\":7,\"t\":null,\"d\":null,\"f\":null}\n"
        "{\"a\":null,\"n\":null,\"t\":\"2026-01-02T03:04:00.000000Z\",\"d\":null,\"f\":null}\n"
        "{\"a\":null,\"n\":null,\"t\":null,\"d\":\"2026-01-02\",\"f\":null}\n"
        "{\"a\":null,\"n\":null,\"t\":null,\"d\":null,\"f\":null}\n"
        "{\"a\":null,\"n\":null,\"t\":null,\"d\":null,\"f\":null}\n"
        "{\"a\":\"q\",\"n\":null,\"t\":null,\"d\":null,\"f\":null}\n");
}

static void test_refused_mode(void **state)
{
    jmp_buf escape;
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_json_parser *p;
    const struct mr_option mode = {"mode", "DROPMALFORMED"};
    const struct mr_field field = {"a", &mr_type_int, true};
    const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 1, .fields = &field};
    const struct mr_decoder_config config = {
        .schema = &type, .options = &mode, .options_n = 1, .zone = mr_zone_utc()};

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(mr_json_parser_open(&config, &a, &p, &err), MR_QUERY);
    assert_string_equal(err.condition, "PARSE_MODE_UNSUPPORTED");
    mr_arena_fini(&a);
}

/* What is parsed and written again, without nulls. */
static void test_writing(void **state)
{
    jmp_buf escape;
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_json_parser *p;
    struct mr_json_writer writer;
    const struct mr_type *type;
    struct mr_column text, result;
    struct mr_buffer out;
    const struct mr_option option = {"timeZone", "Asia/Kolkata"};

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(
        mr_ddl_parse_columns(MR_TEXT("i INT, n STRING, d DOUBLE, t TIMESTAMP, b BINARY, "
                                     "m MAP<STRING, INT>, c DECIMAL(5,2), s STRUCT<z: INT>"),
                             &a, &type, &err),
        MR_OK);
    const struct mr_decoder_config config = {.schema = type, .zone = mr_zone_utc()};
    assert_int_equal(mr_json_parser_open(&config, &a, &p, &err), MR_OK);
    assert_int_equal(mr_json_writer_init(&writer, &option, 1, mr_zone_utc(), &a, &err), MR_OK);
    mr_column_alloc(&text, &mr_type_string, 1, false, &a);
    mr_column_set_text(
        &text, 0,
        MR_TEXT("{\"i\":1,\"d\":\"NaN\",\"t\":\"2026-01-02T03:04:05.5Z\",\"b\":\"AQID\","
                "\"m\":{\"k\":null},\"c\":1,\"s\":{}}"),
        &a);
    assert_int_equal(mr_json_parse_column(p, &text, 1, NULL, 1, &a, &result, &err), MR_OK);
    mr_buffer_init(&out, &a);
    mr_json_write_value(&writer, &result, 0, &out);
    mr_buffer_append(&out, "", 1);
    assert_string_equal(
        (const char *)out.data,
        "{\"i\":1,\"d\":\"NaN\",\"t\":\"2026-01-02T08:34:05.500+05:30\",\"b\":\"AQID\","
        "\"m\":{\"k\":null},\"c\":1.00,\"s\":{}}");
    mr_json_parser_close(p);
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permissive),   cmocka_unit_test(test_corrupt_field),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_other_roots),
        cmocka_unit_test(test_strings),      cmocka_unit_test(test_options),
        cmocka_unit_test(test_refused_mode), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_rescued),      cmocka_unit_test(test_rescued_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
