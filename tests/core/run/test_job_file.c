/* Where a job comes from: a file, a pipe, or what is neither. */
#include "core/run/job.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

static jmp_buf escape;

static void test_no_file(void **state)
{
    struct mr_arena a;
    struct mr_job *job;
    struct mr_error err = {0};

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(mr_job_load("/nowhere/job.yaml", NULL, &a, &job, &err), MR_USER);
    assert_string_equal(err.message, "/nowhere/job.yaml can't be opened");
    assert_int_equal(err.os_error, 2);
    assert_int_equal(mr_job_load("/dev/zero", NULL, &a, &job, &err), MR_USER);
    assert_string_equal(err.message, "/dev/zero has more than the 16777216 bytes that are allowed");
    mr_arena_fini(&a);
}

/* As a shell gives it for <(..). */
static void test_pipe(void **state)
{
    static const char text[] = "name: piped\nsources: {s: {format: text, path: in}}\n"
                               "sink: {format: noop}\ncheckpoint: c\n";
    struct mr_arena a;
    struct mr_job *job;
    struct mr_error err = {0};
    char path[40];
    int ends[2];

    (void)state;
    mr_arena_init(&a, NULL, &escape);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(mr_job_load(path, NULL, &a, &job, &err), MR_OK);
    assert_int_equal(job->queries_n, 1);
    assert_string_equal(job->queries[0].name, "piped");
    close(ends[0]);
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_file), cmocka_unit_test(test_pipe)};

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
