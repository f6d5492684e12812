/* docs/job-file.md ends with what the table of keys says. MR_UPDATE_DOCS=1 writes it. */
#include "core/run/job_keys.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static const char marker[] = "<!-- keys -->\n";
static jmp_buf escape;

static void docs_path(char *path, size_t n)
{
    const char *end = strstr(__FILE__, "tests/core/run");

    assert_non_null(end);
    snprintf(path, n, "%.*sdocs/job-file.md", (int)(end - __FILE__), __FILE__);
}

static void test_docs_are_in_sync(void **state)
{
    struct mr_arena a;
    struct mr_buffer keys;
    struct mr_text text;
    char path[1024];

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    docs_path(path, sizeof path);
    assert_int_equal(mr_yaml_read_file(path, 1 << 20, &a, &text, NULL), MR_OK);
    const char *at = strstr(text.data, marker);
    assert_non_null(at);
    at += sizeof marker - 1;
    mr_buffer_init(&keys, &a);
    mr_job_keys_print(&keys);
    if (getenv("MR_UPDATE_DOCS")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(text.data, 1, (size_t)(at - text.data), f);
        fwrite(keys.data, 1, keys.n, f);
        fclose(f);
    } else {
        mr_buffer_append(&keys, "", 1);
        assert_string_equal(at, (const char *)keys.data);
    }
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_docs_are_in_sync)};

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
