#include "core/base/path.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void one_folder_has_one_name(void **unused)
{
    static const char *const cases[][2] = {
        {"in", "/tmp/in"},
        {"./in/", "/tmp/in"},
        {"a//../in/.", "/tmp/in"},
        {"/x/./y//z", "/x/y/z"},
        {"/x/../../y", "/y"},
        {".", "/tmp"},
        {"/", "/"},
        {"..", "/"},
        {"i*/d=?/", "/tmp/i*/d=?"},
        {"..a/b..", "/tmp/..a/b.."},
    };
    char out[PATH_MAX];

    (void)unused;
    assert_int_equal(chdir("/tmp"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mr_path_absolute(cases[i][0], out);
        assert_string_equal(out, cases[i][1]);
    }
}

static void what_is_too_long_stays(void **unused)
{
    char path[PATH_MAX], out[PATH_MAX];

    (void)unused;
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    mr_path_absolute(path, out);
    assert_string_equal(out, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_folder_has_one_name),
        cmocka_unit_test(what_is_too_long_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
