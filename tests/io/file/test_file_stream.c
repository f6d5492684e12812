/* The bytes of a split: a file that lost its end since it was planned is told. */
#include "io/file/file_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf escape;

static void a_short_file_is_told(void **state)
{
    static const struct {
        uint64_t start, end, bytes; /* of the split, as planned */
        bool is_short;
        const char *text;
    } cases[] = {
        {0, UINT64_MAX, 8, false, "one\ntwo\n"},
        {0, UINT64_MAX, 9, true, "one\ntwo\n"},
        {0, UINT64_MAX, 5, false, "one\ntwo\n"} /* it grew */,
        {4, UINT64_MAX, 4, false, "two\n"},
        {4, UINT64_MAX, 40, true, "two\n"},
        {8, 16, 8, true, ""},
        {0, 4, 4, false, "one\n"},
    };
    char path[] = "/tmp/mr-stream-XXXXXX";
    int fd = mkstemp(path);
    struct mr_file_stream s;
    struct mr_env *env;

    (void)state;
    assert_true(fd >= 0 && write(fd, "one\ntwo\n", 8) == 8);
    close(fd);
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    mr_file_stream_init(&s, env, NULL, &escape);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mr_file_split split = {
            .start = cases[i].start, .end = cases[i].end, .bytes = cases[i].bytes, .path = path};
        bool gone;
        assert_int_equal(mr_file_stream_open(&s, &split, &gone, NULL), MR_OK);
        assert_false(gone);
        assert_int_equal(mr_file_stream_fill(&s, NULL), MR_OK);
        assert_true(s.at_end);
        assert_int_equal(s.is_short, cases[i].is_short);
        assert_int_equal(s.n, strlen(cases[i].text));
        assert_memory_equal(s.data, cases[i].text, s.n);
    }
    mr_file_stream_fini(&s);
    env->ops->fini(env);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_short_file_is_told)};

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
