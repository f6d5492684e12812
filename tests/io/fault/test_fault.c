/* The env that fails and writes down: every kind of operation can go wrong, what it says it did not
 * do is not done, and the trace tells all in order. */
#include "io/fault/fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

static char folder[] = "/tmp/mr-fault-XXXXXX";
static char a[64], b[64], c[64], d[64], none[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(a, sizeof a, "%s/a", folder);
    snprintf(b, sizeof b, "%s/b", folder);
    snprintf(c, sizeof c, "%s/c", folder);
    snprintf(d, sizeof d, "%s/d", folder);
    snprintf(none, sizeof none, "%s/none", folder);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct mr_env *real_env(void)
{
    struct mr_env *env;

    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    return env;
}

static bool see(void *arg, const char *name, bool is_dir)
{
    (void)name, (void)is_dir;
    ++*(int *)arg;
    return true;
}

enum { OPERATIONS = 14 };

/* One operation of each kind, each on what is there. */
static void try_all(struct mr_env *env, struct mr_file *f, int64_t *got)
{
    const struct mr_env_ops *ops = env->ops;
    struct mr_file_stat stat;
    static char data[1024];
    int64_t at[OPERATIONS];
    int seen = 0, n = 0;

    at[n++] = ops->allocate(f, 8192);
    at[n++] = ops->truncate(f, 4096);
    at[n++] = ops->write(f, data, 1000, 0);
    at[n++] = ops->write_sync(f, data, 1000, 1000);
    at[n++] = ops->link(env, a, b);
    at[n++] = ops->unlink(env, b);
    at[n++] = ops->rename(env, a, c);
    at[n++] = ops->make_dir(env, d);
    at[n++] = ops->read(f, data, 1000, 0);
    at[n++] = ops->read_start(f, data, 1000, 0) < 0 ? -1 : ops->read_wait(f);
    at[n++] = ops->lock(f);
    at[n++] = ops->stat(env, folder, &stat);
    at[n++] = ops->list(env, folder, see, &seen);
    at[n++] = ops->sync_dir(env, folder);
    memcpy(got, at, sizeof at);
}

static void test_every_kind(void **state)
{
    static const struct {
        const char *schedule;
        int64_t results[OPERATIONS];
        const char *left; /* names in the folder afterwards */
    } rows[] = {
        {"", {0, 0, 1000, 1000, 0, 0, 0, 0, 1000, 1000, 0, 0, 0, 0}, "c d "},
        {"write:@:ENOSPC",
         {-ENOSPC, -ENOSPC, -ENOSPC, -ENOSPC, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
         "c d "},
        {"write:@:skip", {0, 0, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "c d "},
        {"rename:@:EIO", {0, 0, 1000, 1000, -EIO, -EIO, -EIO, 0, 1000, 1000, 0, 0, 0, 0}, "a d "},
        {"rename:@:skip", {0, 0, 1000, 1000, 0, 0, 0, 0, 1000, 1000, 0, 0, 0, 0}, "a d "},
        {"make:2:EIO", {0, 0, 1000, 1000, 0, 0, 0, -EIO, 1000, 1000, 0, 0, 0, 0}, "c "},
        {"sync:@:EIO", {0, 0, 1000, -EIO, 0, 0, 0, 0, 1000, 1000, 0, 0, 0, -EIO}, "c d "},
        {"read:@:EIO", {0, 0, 1000, 1000, 0, 0, 0, 0, -EIO, -EIO, -EIO, -EIO, -EIO, 0}, "c d "},
        /* A dead process does nothing more, but may look. */
        {"any:5:stop", {0, 0, 1000, -EIO, -EIO, -EIO, -EIO, -EIO, 1000, 1000, 0, 0, 0, -EIO}, "a "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_env *env = mr_fault_open(real_env(), rows[i].schedule);
        int64_t got[OPERATIONS];
        struct mr_file *f;
        char command[200], left[64] = "";
        assert_non_null(env);
        assert_int_equal(env->ops->open(env, a, MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE, &f),
                         0);
        try_all(env, f, got);
        for (int k = 0; k < OPERATIONS; k++)
            if (got[k] != rows[i].results[k])
                fail_msg("%s: operation %d gives %d", rows[i].schedule, k, (int)got[k]);
        env->ops->close(f);
        env->ops->fini(env);
        snprintf(command, sizeof command, "ls '%s' | tr '\\n' ' '; rm -rf '%s'/*", folder, folder);
        FILE *names = popen(command, "r");
        assert_non_null(names);
        if (fgets(left, sizeof left, names) == NULL)
            left[0] = '\0';
        pclose(names);
        assert_string_equal(left, rows[i].left);
    }
}

static void test_opens(void **state)
{
    struct mr_env *env = mr_fault_open(real_env(), "any:2:stop");
    struct mr_file *f, *other;
    char text[4] = "";

    (void)state;
    assert_int_equal(env->ops->open(env, none, MR_OPEN_READ, &f), -ENOENT);
    assert_int_equal(env->ops->open(env, a, MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE, &f), 0);
    assert_int_equal(env->ops->open(env, a, MR_OPEN_READ | MR_OPEN_WRITE, &other), 0);
    env->ops->close(f); /* in another order than opened */
    env->ops->close(other);
    assert_int_equal(env->ops->rename(env, none, b), -EIO); /* the end */
    assert_int_equal(env->ops->open(env, a, MR_OPEN_WRITE, &f), -EIO);
    assert_int_equal(env->ops->open(env, b, MR_OPEN_WRITE | MR_OPEN_CREATE, &f), -EIO);
    assert_int_equal(env->ops->open(env, a, MR_OPEN_READ, &f), 0);
    assert_int_equal(env->ops->read(f, text, 4, 0), 0);
    assert_int_equal(env->ops->write(f, text, 4, 0), -EIO);
    env->ops->close(f);
    env->ops->fini(env);
}

/* The half of a torn write is whole sectors, and so is that of a last one. */
static void test_halves(void **state)
{
    static const char *const schedules[] = {"write:2:torn", "write:2:halfstop"};
    static const int errors[] = {-ENOSPC, -EIO};
    static char data[4096];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct mr_env *env = mr_fault_open(real_env(), schedules[i]);
        struct mr_file_stat stat;
        struct mr_file *f;
        assert_int_equal(
            env->ops->open(env, a, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE, &f), 0);
        assert_int_equal(env->ops->write(f, data, 4096, 0), 4096);
        assert_int_equal(env->ops->write(f, data, 3000, 4096), errors[i]);
        assert_int_equal(env->ops->stat(env, a, &stat), 0);
        assert_int_equal(stat.size, 4096 + 1024);
        env->ops->close(f);
        env->ops->fini(env);
    }
}

static void test_wrong_schedules(void **state)
{
    char longer[256];
    struct mr_env *env = real_env();

    (void)state;
    snprintf(longer, sizeof longer, "write:1@%0200d:EIO", 1);
    assert_null(mr_fault_open(env, longer));
    assert_null(mr_fault_new("", "/nowhere/trace"));
    assert_null(mr_fault_new("write:1:boom", c));
    env->ops->fini(env);
}

static void test_trace(void **state)
{
    static char text[4096];
    char want[1024];
    struct mr_fault *fault = mr_fault_new("sync:2:EIO", d);
    struct mr_env *env = mr_fault_wrap(real_env(), fault);
    const struct mr_env_ops *ops = env->ops;
    struct mr_file *f;

    (void)state;
    assert_int_equal(ops->open(env, a, MR_OPEN_WRITE | MR_OPEN_CREATE, &f), 0);
    assert_int_equal(ops->allocate(f, 100), 0);
    assert_int_equal(ops->write(f, "abc", 3, 7), 3);
    assert_int_equal(ops->truncate(f, 50), 0);
    assert_int_equal(ops->sync(f), 0);
    assert_int_equal(ops->rename(env, a, b), 0);
    assert_int_equal(ops->sync(f), -EIO); /* by the name that it has now */
    assert_int_equal(ops->rename(env, none, c), -ENOENT);
    assert_int_equal(ops->link(env, b, c), 0);
    assert_int_equal(ops->unlink(env, b), 0);
    assert_int_equal(ops->sync_dir(env, folder), 0);
    assert_int_equal(ops->sync_dir(env, none), -ENOENT);
    ops->close(f);
    assert_int_equal(ops->open(env, c, MR_OPEN_READ, &f), 0); /* changes nothing: not told */
    ops->close(f);
    ops->fini(env);
    mr_fault_free(fault);
    int n = snprintf(want, sizeof want,
                     "@open 1 6 %s\n@allocate 1 100\n@write 1 7 3\nabc@truncate 1 50\n@sync 1\n"
                     "@rename %s\t%s\n@fail 5 sync %s\n@rename %s\t%s\n@link %s\t%s\n@unlink %s\n"
                     "@syncdir %s\n@close 1\n@close 2\n",
                     a, a, b, b, none, c, b, c, b, folder);
    FILE *file = fopen(d, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), n);
    fclose(file);
    assert_string_equal(text, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_opens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_halves, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_schedules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trace, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
