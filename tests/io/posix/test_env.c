/* The real envs, io_uring and plain calls: the same checks for both; and the fallback when denied.
 */
#include "core/base/env.h"
#include "io/fault/fault.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/mr-test-env-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static uint32_t turn;
    char *p = path[turn++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static struct mr_env *open_env(const char *name)
{
    struct mr_env *env;
    struct mr_error err;

    if (mr_env_open(name, &env, &err) != MR_OK) {
        print_message("%s\n", err.message);
        skip();
    }
    return env;
}

static void check_files(struct mr_env *env)
{
    const struct mr_env_ops *ops = env->ops;
    struct mr_file *f, *other;
    struct mr_file_stat st;
    static char big[3 << 20], back[sizeof big];

    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 31 + (i >> 9));
    assert_int_equal(ops->open(env, in_folder("none"), MR_OPEN_READ, &f), -ENOENT);
    assert_int_equal(ops->open(env, in_folder("a"),
                               MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_EXCLUSIVE,
                               &f),
                     0);
    assert_int_equal(
        ops->open(env, in_folder("a"), MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_EXCLUSIVE, &other),
        -EEXIST);
    assert_int_equal(ops->write(f, big, 1000, 0), 1000);
    assert_int_equal(ops->write_sync(f, big + 1000, sizeof big - 1000, 1000),
                     (int64_t)sizeof big - 1000);
    assert_int_equal(ops->read(f, back, sizeof back, 0), (int64_t)sizeof big);
    assert_memory_equal(back, big, sizeof big);
    assert_int_equal(ops->read(f, back, 100, sizeof big - 10), 10);
    assert_int_equal(ops->read(f, back, 100, sizeof big + 10), 0);
    memset(back, 0, sizeof back);
    assert_int_equal(ops->read_start(f, back, sizeof back, 5), 0);
    assert_int_equal(ops->read_start(f, back, sizeof back, 5), -EBUSY);
    assert_int_equal(ops->read_wait(f), (int64_t)sizeof big - 5);
    assert_memory_equal(back, big + 5, sizeof big - 5);
    assert_int_equal(ops->read_wait(f), -EINVAL);
    assert_int_equal(ops->read_start(f, back, 64, 0), 0); /* closed while it runs */
    assert_int_equal(ops->truncate(f, 100), 0);
    assert_int_equal(ops->sync(f), 0);
    assert_int_equal(ops->stat(env, in_folder("a"), &st), 0);
    assert_int_equal(st.size, 100);
    assert_false(st.is_dir);
    assert_true(llabs(st.mtime_us - ops->now_us(env)) < 60 * 1000000LL);
    assert_int_equal(ops->allocate(f, 8192), 0);
    assert_int_equal(ops->stat(env, in_folder("a"), &st), 0);
    assert_int_equal(st.size, 8192);
    ops->close(f);
}

static void check_direct(struct mr_env *env)
{
    const struct mr_env_ops *ops = env->ops;
    struct mr_file *f;
    char *block = aligned_alloc(4096, 8192), *back = aligned_alloc(4096, 8192);

    memset(block, 'x', 8192);
    assert_int_equal(ops->open(env, in_folder("direct"),
                               MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_DIRECT, &f),
                     0);
    assert_int_equal(ops->write_sync(f, block, 8192, 0), 8192);
    assert_int_equal(ops->write_sync(f, block, 4096, 8192), 4096);
    assert_int_equal(ops->read_start(f, back, 8192, 8192), 0);
    assert_int_equal(ops->read_wait(f), 4096);
    assert_memory_equal(back, block, 4096);
    ops->close(f);
    free(block);
    free(back);
}

static void check_many_ahead(struct mr_env *env)
{
    enum { N = 80 };
    static struct mr_file *files[N];
    static char data[N][256];

    for (int i = 0; i < N; i++) {
        assert_int_equal(env->ops->open(env, in_folder("a"), MR_OPEN_READ, &files[i]), 0);
        assert_int_equal(env->ops->read_start(files[i], data[i], 50 + (uint64_t)i, 0), 0);
    }
    for (int i = N; i-- > 0;) {
        assert_int_equal(env->ops->read_wait(files[i]), 50 + i);
        env->ops->close(files[i]);
    }
}

static void check_lock(struct mr_env *env)
{
    struct mr_file *a, *b;
    int flags = MR_OPEN_READ | MR_OPEN_WRITE | MR_OPEN_CREATE;

    assert_int_equal(env->ops->open(env, in_folder("lock"), flags, &a), 0);
    assert_int_equal(env->ops->open(env, in_folder("lock"), flags, &b), 0);
    assert_int_equal(env->ops->lock(a), 0);
    assert_int_equal(env->ops->lock(b), -EWOULDBLOCK);
    env->ops->close(a);
    assert_int_equal(env->ops->lock(b), 0);
    env->ops->close(b);
}

static bool count_names(void *arg, const char *name, bool is_dir)
{
    int *n = arg;

    n[0] += is_dir;
    n[1] += !is_dir;
    return strcmp(name, "stop") != 0;
}

static void check_names(struct mr_env *env)
{
    const struct mr_env_ops *ops = env->ops;
    struct mr_file_stat st;
    char text[4] = {0};
    struct mr_file *f;
    int n[2] = {0};

    assert_int_equal(mr_env_make_dirs(env, in_folder("d/e/f")), 0);
    assert_int_equal(mr_env_make_dirs(env, in_folder("d/e/f")), 0);
    assert_int_equal(ops->make_dir(env, in_folder("d/e")), 0);
    assert_int_equal(mr_env_write_whole(env, in_folder("d/e/one"), "one", 3), 0);
    assert_int_equal(mr_env_write_whole(env, in_folder("d/e/one"), "two", 3), 0);
    assert_int_equal(ops->link(env, in_folder("d/e/one"), in_folder("d/e/two")), 0);
    assert_int_equal(ops->link(env, in_folder("d/e/one"), in_folder("d/e/two")), -EEXIST);
    assert_int_equal(ops->list(env, in_folder("d/e"), count_names, n), 0);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 2);
    assert_int_equal(ops->list(env, in_folder("none"), count_names, n), -ENOENT);
    assert_int_equal(ops->rename(env, in_folder("d/e/one"), in_folder("d/e/three")), 0);
    assert_int_equal(ops->open(env, in_folder("d/e/three"), MR_OPEN_READ, &f), 0);
    assert_int_equal(ops->read(f, text, 3, 0), 3);
    assert_string_equal(text, "two");
    ops->close(f);
    assert_int_equal(ops->unlink(env, in_folder("d/e/two")), 0);
    assert_int_equal(ops->unlink(env, in_folder("d/e/three")), 0);
    assert_int_equal(ops->unlink(env, in_folder("d/e/three")), -ENOENT);
    assert_int_equal(ops->stat(env, in_folder("d/e"), &st), 0);
    assert_true(st.is_dir);
    assert_int_equal(ops->sync_dir(env, in_folder("d")), 0);
    assert_int_equal(ops->sync_dir(env, in_folder("none")), -ENOENT);
}

static void check_time(struct mr_env *env)
{
    const struct mr_env_ops *ops = env->ops;
    int fds[2];
    int64_t before = ops->monotonic_us(env);

    ops->sleep_us(env, 2000);
    assert_true(ops->monotonic_us(env) - before >= 2000);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(ops->wait(env, fds, 1, 1000), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(ops->wait(env, fds, 1, 1000000), 1);
    close(fds[0]);
    close(fds[1]);
    assert_true(ops->random(env) != ops->random(env));
}

/* What files refuse, with the error that the system gives. */
static void check_refusals(struct mr_env *env)
{
    const struct mr_env_ops *ops = env->ops;
    struct mr_file *f;
    char text[8] = "";

    assert_int_equal(ops->open(env, in_folder("w"), MR_OPEN_WRITE | MR_OPEN_CREATE, &f), 0);
    assert_int_equal(ops->read(f, text, 4, 0), -EBADF);
    assert_int_equal(ops->read_start(f, text, 4, 0), 0);
    assert_int_equal(ops->read_wait(f), -EBADF);
    ops->close(f);
    assert_int_equal(ops->open(env, in_folder("w"), MR_OPEN_READ, &f), 0);
    assert_int_equal(ops->write(f, text, 4, 0), -EBADF);
    assert_int_equal(ops->write_sync(f, text, 4, 0), -EBADF);
    assert_int_equal(ops->truncate(f, 4), -EINVAL);
    assert_int_equal(ops->allocate(f, 4), -EBADF);
    assert_int_equal(ops->lock(f), -EBADF);
    ops->close(f);
    assert_int_equal(ops->open(env, "/dev/null", MR_OPEN_WRITE, &f), 0); /* can't be synced */
    assert_int_equal(ops->write(f, text, 4, 0), 4);
    assert_int_equal(ops->sync(f), -EINVAL);
    assert_int_equal(ops->write_sync(f, text, 4, 0), -EINVAL);
    ops->close(f);
    assert_int_equal(ops->rename(env, in_folder("none"), in_folder("w")), -ENOENT);
    assert_int_equal(ops->make_dir(env, in_folder("none/deep")), -ENOENT);
    assert_int_equal(ops->sync_dir(env, "/proc/self"), -EINVAL);
}

/* A file system without O_DIRECT is read without it. */
static void check_no_direct(struct mr_env *env)
{
    char text[64] = "";
    struct mr_file *f;

    assert_int_equal(env->ops->open(env, in_folder("none"), MR_OPEN_READ | MR_OPEN_DIRECT, &f),
                     -ENOENT);
    assert_int_equal(env->ops->open(env, "/proc/self/comm", MR_OPEN_READ | MR_OPEN_DIRECT, &f), 0);
    assert_true(env->ops->read(f, text, sizeof text - 1, 0) > 0);
    assert_string_equal(text, "test_env\n");
    env->ops->close(f);
}

static bool stop_at_once(void *arg, const char *name, bool is_dir)
{
    (void)name, (void)is_dir;
    ++*(int *)arg;
    return false;
}

/* A link is what it leads to; one that leads nowhere is no folder. */
static void check_links(struct mr_env *env)
{
    int n[2] = {0}, first = 0;

    assert_int_equal(env->ops->make_dir(env, in_folder("links")), 0);
    assert_int_equal(symlink("..", in_folder("links/folder")), 0);
    assert_int_equal(symlink("/dev/null", in_folder("links/file")), 0);
    assert_int_equal(symlink("nowhere", in_folder("links/none")), 0);
    assert_int_equal(env->ops->list(env, in_folder("links"), count_names, n), 0);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 2);
    assert_int_equal(env->ops->list(env, in_folder("links"), stop_at_once, &first), 0);
    assert_int_equal(first, 1);
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* A signal ends a wait, which is looked at again, but no sleep. */
static void check_signals(struct mr_env *env)
{
    const struct itimerval often = {.it_value = {.tv_usec = 5000},
                                    .it_interval = {.tv_usec = 5000}};
    const struct itimerval never = {.it_value = {0}};
    const struct mr_env_ops *ops = env->ops;
    struct sigaction action = {.sa_handler = on_alarm}, old;
    struct rlimit limit, none;
    int fds[2], many[200];

    assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
    assert_int_equal(pipe(fds), 0);
    for (int i = 0; i < 200; i++) /* more than are looked at */
        many[i] = fds[0];
    int64_t begin_us = ops->monotonic_us(env);
    ops->sleep_us(env, 0);
    ops->sleep_us(env, -1);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    ops->sleep_us(env, 50000);
    assert_true(ops->monotonic_us(env) - begin_us >= 50000);
    assert_int_equal(ops->wait(env, many, 200, -1), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(ops->wait(env, many, 200, -1), 1);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = ops->wait(env, fds, 1, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(rc, -EINVAL);
    assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
    close(fds[0]);
    close(fds[1]);
}

static void clean(void)
{
    char command[300];

    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    assert_int_equal(system(command), 0);
}

static void check_env(const char *name)
{
    struct mr_env *env = open_env(name);

    assert_string_equal(env->ops->name, name);
    check_files(env);
    check_direct(env);
    check_many_ahead(env);
    check_lock(env);
    check_names(env);
    check_time(env);
    check_refusals(env);
    check_no_direct(env);
    check_links(env);
    check_signals(env);
    env->ops->fini(env);
    clean();
}

static void test_io_uring(void **state)
{
    (void)state;
    check_env("io_uring");
}

static void test_syscalls(void **state)
{
    (void)state;
    check_env("syscalls");
}

static void test_unknown(void **state)
{
    struct mr_env *env;
    struct mr_error err;

    (void)state;
    assert_int_equal(mr_env_open("aio", &env, &err), MR_USER);
}

/* In a child whose io_uring_setup gives errno. Exit code 0: it fell back, said why, and works. */
static int fall_back(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct mr_env *env;
    struct mr_error err;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        return 77;
    if (mr_env_open("io_uring", &env, &err) != MR_IO)
        return 1;
    if (mr_env_open(NULL, &env, &err) != MR_OK || strcmp(env->ops->name, "syscalls") != 0)
        return 2;
    if (env->why_not_uring == NULL || strstr(env->why_not_uring, strerror(error)) == NULL)
        return 3;
    check_files(env);
    env->ops->fini(env);
    return 0;
}

static void test_denied(void **state)
{
    const int errors[] = {EPERM, ENOSYS, ENOMEM};

    (void)state;
    for (int i = 0; i < 3; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(fall_back(errors[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            skip();
        assert_int_equal(WEXITSTATUS(status), 0);
        clean();
    }
}

/* A file that may not grow: the write stops halfway, and is never told as done; nor is one that
 * O_DIRECT could only begin. */
static int write_too_much(const char *name)
{
    struct rlimit limit = {6000, 6000};
    struct mr_env *env;
    struct mr_file *f, *direct;
    static char data[20480] __attribute__((aligned(4096)));
    int flags = MR_OPEN_WRITE | MR_OPEN_CREATE;

    signal(SIGXFSZ, SIG_IGN);
    if (mr_env_open(name, &env, NULL) != MR_OK)
        return 77;
    if (env->ops->open(env, in_folder("short"), flags, &f) != 0 ||
        env->ops->open(env, in_folder("direct"), flags | MR_OPEN_DIRECT, &direct) != 0 ||
        setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    if (env->ops->write(f, data, sizeof data, 0) >= 0)
        return 2;
    if (env->ops->write_sync(f, data, sizeof data, 0) >= 0)
        return 3;
    if (env->ops->write(direct, data, sizeof data, 0) != -EFBIG)
        return 4;
    return env->ops->write_sync(direct, data, sizeof data, 0) == -EFBIG ? 0 : 5;
}

static void test_short_writes(void **state)
{
    const char *const names[] = {"syscalls", "io_uring"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(write_too_much(names[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77);
    }
    clean();
}

/* The k-th operation of a kind fails as the schedule says, and only that one. */
static void test_faults(void **state)
{
    const struct {
        const char *schedule;
        int64_t results[6]; /* write, write_sync, sync, rename, write, sync_dir */
    } rows[] = {
        {"", {600, 600, 0, 0, 600, 0}},
        {"write:1:EIO", {-EIO, 600, 0, 0, 600, 0}},
        {"write:2:ENOSPC", {600, -ENOSPC, 0, 0, 600, 0}},
        {"write:3:torn", {600, 600, 0, 0, -ENOSPC, 0}},
        {"sync:1:EIO", {600, -EIO, 0, 0, 600, 0}},
        {"sync:2:EIO", {600, 600, -EIO, 0, 600, 0}},
        {"sync:3:EIO", {600, 600, 0, 0, 600, -EIO}},
        {"rename:1:EIO", {600, 600, 0, -EIO, 600, 0}},
        {"any:3:stop", {600, -EIO, -EIO, -EIO, -EIO, -EIO}}, /* the open is the first */
        {"any:7:halfstop", {600, 600, 0, 0, -EIO, -EIO}},
        {"sync:@/f:EIO", {600, -EIO, -EIO, 0, 600, 0}}, /* the folder has another name */
        {"sync:2@/f:EIO", {600, 600, -EIO, 0, 600, 0}},
        {"write:@:skip", {600, 600, 0, 0, 600, 0}},
        {"read:1:EIO", {600, 600, 0, 0, 600, 0}}, /* none of them reads */
    };
    static const char *const wrong[] = {
        "write",        "write:0:EIO", "write:1:",      "flush:1:EIO",
        "write:1:EIOX", "sync:x:EIO",  "write:0@f:EIO", "write:1@f"};
    static char data[600];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_env *env = mr_fault_open(open_env("syscalls"), rows[i].schedule);
        struct mr_file *f;
        assert_non_null(env);
        assert_int_equal(env->ops->open(env, in_folder("f"), MR_OPEN_WRITE | MR_OPEN_CREATE, &f),
                         0);
        const int64_t got[] = {
            env->ops->write(f, data, 600, 0),
            env->ops->write_sync(f, data, 600, 600),
            env->ops->sync(f),
            env->ops->rename(env, in_folder("f"), in_folder("g")),
            env->ops->write(f, data, 600, 1200),
            env->ops->sync_dir(env, folder),
        };
        for (int k = 0; k < 6; k++)
            assert_int_equal(got[k], rows[i].results[k]);
        env->ops->close(f);
        env->ops->fini(env);
        clean();
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mr_env *env = open_env("syscalls");
        assert_null(mr_fault_open(env, wrong[i]));
        env->ops->fini(env);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_io_uring),     cmocka_unit_test(test_syscalls),
        cmocka_unit_test(test_unknown),      cmocka_unit_test(test_denied),
        cmocka_unit_test(test_short_writes), cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
