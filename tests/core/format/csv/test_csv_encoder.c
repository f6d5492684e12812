#include "core/format/ddl.h"
#include "core/format/format.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct writing {
    struct mr_option options[8];
    uint32_t options_n;
};

/* texts: one row of STRING columns; NULL is null. */
static void expect_written(const struct writing *in, const char *const *texts, uint32_t n,
                           const char *want)
{
    jmp_buf escape;
    struct mr_arena a;
    struct mr_error err = {0};
    struct mr_encoder *e;
    struct mr_buffer out;
    struct mr_field fields[8];
    struct mr_column columns[8];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};

    mr_arena_init(&a, NULL, &escape);
    for (uint32_t i = 0; i < n; i++) {
        fields[i] = (struct mr_field){names[i], &mr_type_string, true};
        mr_column_alloc(&columns[i], &mr_type_string, 1, true, &a);
        mr_column_set_text(&columns[i], 0, texts[i] ? mr_text_of(texts[i]) : MR_TEXT(""), &a);
        if (texts[i] == NULL)
            mr_bit_clear(columns[i].valid, 0);
    }
    const struct mr_encoder_config config = {.schema = mr_type_struct(&a, fields, n),
                                             .options = in->options,
                                             .options_n = in->options_n,
                                             .zone = mr_zone_utc()};
    const struct mr_batch batch = {.columns = columns, .columns_n = n, .rows = 1, .n = 1};
    assert_int_equal(mr_format_csv.check_options(in->options, in->options_n, false, &err), MR_OK);
    assert_int_equal(mr_format_csv.encoder_open(&config, &a, &e, &err), MR_OK);
    mr_buffer_init(&out, &a);
    mr_format_csv.encode_begin(e, &out);
    assert_int_equal(mr_format_csv.encode(e, &batch, &out, &err), MR_OK);
    mr_buffer_append(&out, "", 1);
    assert_string_equal((const char *)out.data, want);
    mr_arena_fini(&a);
}

static void test_defaults(void **state)
{
    const struct writing in = {.options_n = 0};
    const char *const texts[] = {"x", NULL, "", "a,b", "a\"b", " y ", "\"q\"", "back\\slash"};
    const char *const odd[] = {"#x", "#x", "  ", "a\nb"};

    (void)state;
    expect_written(&in, texts, 8, "x,,\"\",\"a,b\",\"a\\\"b\",y,\"\\\"q\\\"\",back\\slash\n");
    expect_written(&in, odd, 4, "\"#x\",#x,\"\",\"a\nb\"\n");
}

static void test_options(void **state)
{
    const struct writing in = {.options = {{"header", "true"},
                                           {"sep", "|"},
                                           {"nullValue", "NA"},
                                           {"emptyValue", "EMPTY"},
                                           {"ignoreLeadingWhiteSpace", "false"},
                                           {"escape", "\""}},
                               .options_n = 6};
    const struct writing all = {.options = {{"quoteAll", "true"}}, .options_n = 1};
    const char *const texts[] = {"x", NULL, "", " a|b", "a\"b"};

    (void)state;
    expect_written(&in, texts, 5, "a|b|c|d|e\nx|NA|EMPTY|\" a|b\"|\"a\"\"b\"\n");
    expect_written(&all, texts, 3, "\"x\",\"\",\"\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_options)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
