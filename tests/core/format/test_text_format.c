#include "tests/core/format/decoding.h"

static void test_lines(void **state)
{
    struct decoding in = {.format = "text", .schema = "value STRING"};

    (void)state;
    expect_rows(in, "a\n\n  b  \nc\r\n\xc3\xa9\xf0\x9f\x98\x80\tz\n",
                "{\"value\":\"a\"}\n{\"value\":\"\"}\n{\"value\":\"  b  \"}\n{\"value\":\"c\"}\n"
                "{\"value\":\"\xc3\xa9\xf0\x9f\x98\x80\\tz\"}\n");
    expect_rows(in, "\n", "{\"value\":\"\"}\n");
    expect_rows(in, "", "");
    expect_rows(in, "no newline kept", "{\"value\":\"no newline kept\"}\n");
    expect_rows(in, "a\rb\r\rc\r\n\nd",
                "{\"value\":\"a\"}\n{\"value\":\"b\"}\n{\"value\":\"\"}\n{\"value\":\"c\"}\n"
                "{\"value\":\"\"}\n{\"value\":\"d\"}\n");
}

static void test_whole(void **state)
{
    struct decoding in = {.format = "text",
                          .schema = "value STRING",
                          .options = {{"wholetext", "true"}},
                          .options_n = 1};

    (void)state;
    expect_rows(in, "a\nlonger than a view\n", "{\"value\":\"a\\nlonger than a view\\n\"}\n");
}

static void test_separator(void **state)
{
    struct decoding in = {
        .format = "text", .schema = "value STRING", .options = {{"lineSep", "--"}}, .options_n = 1};

    (void)state;
    expect_rows(in, "a-b---c\n--", "{\"value\":\"a-b\"}\n{\"value\":\"-c\\n\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_separator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
