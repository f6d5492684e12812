#include "core/format/csv/csv_record.h"
#include "core/format/ddl.h"
#include "core/format/json/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The records in a column of texts, as JSON; a null struct as null. */
static void expect_parsed(const char *schema, const struct mr_option *given, uint32_t given_n,
                          const char *const *texts, uint32_t n, const char *want)
{
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_decoder_config config = {.zone = mr_zone_utc(), .batch_rows = n};
    struct mr_option *options;
    struct mr_csv_parser *p;
    struct mr_column in, out;
    struct mr_buffer json;
    const struct mr_json_writer writer = {.zone = mr_zone_utc(), .keep_nulls = true};

    mr_arena_init(&a, NULL, NULL);
    assert_int_equal(mr_ddl_parse_columns(mr_text_of(schema), &a, &config.schema, &err), MR_OK);
    assert_int_equal(
        mr_csv_record_options(given, given_n, true, &a, &options, &config.options_n, &err), MR_OK);
    config.full_schema = config.schema;
    config.options = options;
    assert_int_equal(mr_csv_parser_open(&config, &a, &p, &err), MR_OK);
    mr_column_alloc(&in, &mr_type_string, n, true, &a);
    for (uint32_t i = 0; i < n; i++) {
        mr_column_set_text(&in, i, mr_text_of(texts[i] ? texts[i] : ""), &a);
        mr_bit_put(in.valid, i, texts[i] != NULL);
    }
    assert_int_equal(mr_csv_parse_column(p, &in, n, NULL, n, &a, &out, &err), MR_OK);
    mr_buffer_init(&json, &a);
    for (uint32_t i = 0; i < n; i++) {
        if (mr_column_is_null(&out, i))
            mr_buffer_append(&json, "null", 4);
        else
            mr_json_write_value(&writer, &out, i, &json);
        mr_buffer_append(&json, "\n", 1);
    }
    mr_buffer_append(&json, "", 1);
    assert_string_equal((const char *)json.data, want);
    mr_csv_parser_close(p);
    mr_arena_fini(&a);
}

static void test_records(void **state)
{
    static const char *const texts[] = {"1,a", "x,a",    "1",   "1,a,b",     "",
                                        NULL,  "1,a\nb", "\n,", "2,\"q\nr\""};

    (void)state;
    expect_parsed("i INT, s STRING, _corrupt_record STRING", NULL, 0, texts, 9,
                  "{\"i\":1,\"s\":\"a\",\"_corrupt_record\":null}\n"
                  "{\"i\":null,\"s\":\"a\",\"_corrupt_record\":\"x,a\"}\n"
                  "{\"i\":1,\"s\":null,\"_corrupt_record\":\"1\"}\n"
                  "{\"i\":1,\"s\":\"a\",\"_corrupt_record\":\"1,a,b\"}\n"
                  "{\"i\":null,\"s\":null,\"_corrupt_record\":null}\n"
                  "null\n"
                  "{\"i\":1,\"s\":\"a\\nb\",\"_corrupt_record\":null}\n"
                  "{\"i\":null,\"s\":null,\"_corrupt_record\":\"\\n,\"}\n"
                  "{\"i\":2,\"s\":\"q\\nr\",\"_corrupt_record\":null}\n");
}

static void test_options(void **state)
{
    static const char *const texts[] = {"1;a", "# 1;a", "NA;NA"};
    const struct mr_option options[] = {{"SEP", ";"},
                                        {"comment", "#"},
                                        {"nullValue", "NA"},
                                        {"no such name", "x"},
                                        {"mode", "whatever"}};

    (void)state;
    expect_parsed("i INT, s STRING", options, 5, texts, 3,
                  "{\"i\":1,\"s\":\"a\"}\n{\"i\":null,\"s\":null}\n{\"i\":null,\"s\":null}\n");
}

static void test_rescued(void **state)
{
    static const char *const texts[] = {"1,a", "x,a", "1,a,\"b\",", "1", "", NULL};
    const struct mr_option options[] = {{"rescuedDataColumn", "r"}};

    (void)state;
    expect_parsed("i INT, r STRING, s STRING, _corrupt_record STRING", options, 1, texts, 6,
                  "{\"i\":1,\"r\":null,\"s\":\"a\",\"_corrupt_record\":null}\n"
                  "{\"i\":null,\"r\":\"{\\\"i\\\":\\\"x\\\"}\",\"s\":\"a\",\"_corrupt_record\":"
                  "null}\n"
                  "{\"i\":1,\"r\":\"{\\\"_c2\\\":\\\"b\\\",\\\"_c3\\\":\\\"\\\"}\",\"s\":\"a\","
                  "\"_corrupt_record\":null}\n"
                  "{\"i\":1,\"r\":null,\"s\":null,\"_corrupt_record\":\"1\"}\n"
                  "{\"i\":null,\"r\":null,\"s\":null,\"_corrupt_record\":null}\n"
                  "null\n");
}

static void test_refused(void **state)
{
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_option *out, sep = {"sep", ""}, mode = {"mode", "dropmalformed"};
    struct mr_decoder_config config = {.zone = mr_zone_utc(), .batch_rows = 1};
    struct mr_csv_parser *p;
    uint32_t n;

    (void)state;
    mr_arena_init(&a, NULL, NULL);
    assert_int_equal(mr_csv_record_options(&sep, 1, true, &a, &out, &n, &err), MR_USER);
    assert_int_equal(mr_ddl_parse_columns(MR_TEXT("a ARRAY<INT>"), &a, &config.schema, &err),
                     MR_OK);
    assert_int_equal(mr_csv_parser_open(&config, &a, &p, &err), MR_USER);
    assert_string_equal(err.condition, "UNSUPPORTED_DATATYPE");
    assert_int_equal(mr_ddl_parse_columns(MR_TEXT("a INT"), &a, &config.schema, &err), MR_OK);
    config.options = &mode;
    config.options_n = 1;
    assert_int_equal(mr_csv_parser_open(&config, &a, &p, &err), MR_QUERY);
    assert_string_equal(err.condition, "PARSE_MODE_UNSUPPORTED");
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_rescued),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
