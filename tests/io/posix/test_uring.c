/* What io_uring may answer: calls that are interrupted or to be done again, parts of reads and
 * writes, errors, and a ring that fails. The linker puts these functions in the places of
 * liburing's (--wrap). */
#include "core/base/env.h"
#include <errno.h>
#include <liburing.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

int __real_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring);
int __real___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                              unsigned wait_n, sigset_t *mask);
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                              unsigned wait_n, sigset_t *mask);
struct io_uring_probe *__real_io_uring_get_probe_ring(struct io_uring *ring);
struct io_uring_probe *__wrap_io_uring_get_probe_ring(struct io_uring *ring);

static int submit_errors[4], wait_errors[4]; /* given in turn, then none; 0: none */
static uint32_t submits_n, waits_n;
static uint32_t bytes_max; /* of an operation; 0: all */
static bool lacks_probe, lacks_operations;
static bool takes_one; /* a submission is cut behind its first operation */

static void reset(void)
{
    memset(submit_errors, 0, sizeof submit_errors);
    memset(wait_errors, 0, sizeof wait_errors);
    submits_n = waits_n = bytes_max = 0;
    lacks_probe = lacks_operations = takes_one = false;
}

int __wrap_io_uring_submit(struct io_uring *ring)
{
    int error = submits_n < 4 ? submit_errors[submits_n] : 0;

    submits_n++;
    if (error)
        return -error;
    for (unsigned i = ring->sq.sqe_head; bytes_max && i != ring->sq.sqe_tail; i++) {
        struct io_uring_sqe *sqe = &ring->sq.sqes[i & *ring->sq.kring_mask];
        if (sqe->opcode != IORING_OP_FSYNC && sqe->len > bytes_max)
            sqe->len = bytes_max;
    }
    unsigned tail = ring->sq.sqe_tail;
    if (takes_one)
        ring->sq.sqe_tail = ring->sq.sqe_head + 1;
    int rc = __real_io_uring_submit(ring);
    ring->sq.sqe_tail = tail;
    return rc;
}

int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                              unsigned wait_n, sigset_t *mask)
{
    int error = waits_n < 4 ? wait_errors[waits_n] : 0;

    waits_n++;
    return error ? -error : __real___io_uring_get_cqe(ring, cqe, submit, wait_n, mask);
}

struct io_uring_probe *__wrap_io_uring_get_probe_ring(struct io_uring *ring)
{
    struct io_uring_probe *probe = lacks_probe ? NULL : __real_io_uring_get_probe_ring(ring);

    if (probe && lacks_operations)
        probe->ops[IORING_OP_FSYNC].flags = 0;
    return probe;
}

static char path[] = "/tmp/mr-test-uring-XXXXXX";
static struct mr_env *env;
static struct mr_file *file;
static char data[300000], back[300000];

static int set_up(void **state)
{
    struct mr_error err;
    int fd;

    (void)state;
    reset();
    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7 + (i >> 8));
    env = NULL;
    if (mr_env_open("io_uring", &env, &err) != MR_OK)
        return 0; /* denied here */
    return env->ops->open(env, path, MR_OPEN_READ | MR_OPEN_WRITE, &file);
}

static int tear_down(void **state)
{
    (void)state;
    reset();
    if (env) {
        env->ops->close(file);
        env->ops->fini(env);
    }
    return unlink(path);
}

static void need_ring(void)
{
    if (env == NULL)
        skip();
}

static void check_content(uint64_t n)
{
    memset(back, 0, sizeof back);
    assert_int_equal(env->ops->read(file, back, sizeof back, 0), (int64_t)n);
    assert_memory_equal(back, data, n);
}

static void test_again(void **state)
{
    (void)state;
    need_ring();
    submit_errors[0] = EINTR, submit_errors[1] = EAGAIN, submit_errors[2] = EBUSY;
    wait_errors[0] = EINTR, wait_errors[1] = EAGAIN;
    assert_int_equal(env->ops->write_sync(file, data, sizeof data, 0), sizeof data);
    assert_true(submits_n == 4 && waits_n >= 3);
    check_content(sizeof data);
}

/* A part of a write cancels its sync: it is written again, then synced. Of a read the rest
 * follows. */
static void test_parts(void **state)
{
    (void)state;
    need_ring();
    bytes_max = 1000;
    assert_int_equal(env->ops->write_sync(file, data, sizeof data, 0), sizeof data);
    check_content(sizeof data);
    memset(back, 0, sizeof back);
    assert_int_equal(env->ops->read_start(file, back, sizeof back, 0), 0);
    assert_int_equal(env->ops->read_wait(file), sizeof back);
    assert_memory_equal(back, data, sizeof data);
}

/* The kernel had memory for the write only: its sync is no longer behind it, and all is done again
 * by plain calls. */
static void test_cut_chain(void **state)
{
    (void)state;
    need_ring();
    takes_one = true;
    alarm(20); /* who waits for the sync waits for ever */
    assert_int_equal(env->ops->write_sync(file, data, sizeof data, 0), sizeof data);
    alarm(0);
    check_content(sizeof data);
    assert_int_equal(env->ops->write_sync(file, data, 5000, 0), 5000);
    assert_int_equal(submits_n, 1);
}

static void test_errors_of_operations(void **state)
{
    struct mr_file *other;

    (void)state;
    need_ring();
    assert_int_equal(env->ops->open(env, path, MR_OPEN_READ, &other), 0);
    assert_int_equal(env->ops->write_sync(other, data, 100, 0), -EBADF);
    env->ops->close(other);
    assert_int_equal(env->ops->open(env, path, MR_OPEN_WRITE, &other), 0);
    assert_int_equal(env->ops->read_start(other, back, 100, 0), 0);
    assert_int_equal(env->ops->read_wait(other), -EBADF);
    env->ops->close(other);
    assert_int_equal(env->ops->open(env, "/dev/full", MR_OPEN_WRITE, &other), 0);
    assert_int_equal(env->ops->write_sync(other, data, 100, 0), -ENOSPC);
    env->ops->close(other);
}

/* What was submitted to a ring that failed, or was not, must not meet who comes later. */
static void check_broken(int submit_error, int wait_error)
{
    submits_n = waits_n = 0;
    submit_errors[0] = submit_error;
    wait_errors[0] = wait_error;
    assert_int_equal(env->ops->write_sync(file, data, 5000, 0), -(submit_error + wait_error));
    uint32_t submits = submits_n, waits = waits_n;
    assert_int_equal(env->ops->write_sync(file, data, sizeof data, 0), sizeof data);
    check_content(sizeof data);
    memset(back, 0, sizeof back);
    assert_int_equal(env->ops->read_start(file, back, sizeof back, 0), 0);
    assert_int_equal(env->ops->read_wait(file), sizeof back);
    assert_memory_equal(back, data, sizeof data);
    assert_true(submits_n == submits && waits_n == waits);
}

static void test_submit_fails(void **state)
{
    (void)state;
    need_ring();
    check_broken(ENOMEM, 0);
}

static void test_wait_fails(void **state)
{
    (void)state;
    need_ring();
    check_broken(0, EBADF);
}

static void test_read_fails(void **state)
{
    (void)state;
    need_ring();
    assert_int_equal(env->ops->write(file, data, sizeof data, 0), sizeof data);
    submit_errors[0] = ENOMEM;
    assert_int_equal(env->ops->read_start(file, back, 100, 0), -ENOMEM);
    assert_int_equal(env->ops->read_wait(file), -ENOMEM);
}

static void test_read_wait_fails(void **state)
{
    struct mr_file *other;
    char pipe[sizeof path + 8];

    (void)state;
    need_ring();
    snprintf(pipe, sizeof pipe, "%s-pipe", path);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(env->ops->open(env, pipe, MR_OPEN_READ | MR_OPEN_WRITE, &other), 0);
    assert_int_equal(env->ops->read_start(other, back, 100, 0), 0);
    wait_errors[0] = EBADF;
    assert_int_equal(env->ops->read_wait(other), -EBADF);
    assert_int_equal(env->ops->read_wait(other), -EBADF);
    env->ops->close(other);
    assert_int_equal(unlink(pipe), 0);
}

static void test_old_kernels(void **state)
{
    struct mr_env *other;
    struct mr_error err;

    (void)state;
    need_ring();
    for (int i = 0; i < 2; i++) {
        lacks_probe = i == 0;
        lacks_operations = i == 1;
        assert_int_equal(mr_env_open("io_uring", &other, &err), MR_IO);
        assert_non_null(strstr(err.message, "io_uring lacks read, write or fsync"));
        assert_int_equal(mr_env_open(NULL, &other, &err), MR_OK);
        assert_string_equal(other->ops->name, "syscalls");
        assert_non_null(strstr(other->why_not_uring, "lacks"));
        other->ops->fini(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_chain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors_of_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_submit_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wait_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_wait_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old_kernels, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
