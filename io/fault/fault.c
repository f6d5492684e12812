#include "io/fault/fault.h"

#include "io/fault/schedule.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fault_env {
    struct mr_env env;
    struct mr_env *inner;
    struct mr_fault *fault;
    bool owns_fault;
    struct mr_file *files; /* open ones: a rename changes their paths */
};

struct mr_file { /* ours; the inner one is behind it */
    struct fault_env *env;
    struct mr_file *inner, *next;
    uint64_t number; /* in the trace */
    char *path;
};

static struct fault_env *fault_of(struct mr_env *env)
{
    return (struct fault_env *)(void *)env;
}

/* An operation on names: counted, written down, then done. */
static bool is_done(struct fault_env *f, enum mr_fault_kind kind, const char *path,
                    struct mr_fault_pass *pass)
{
    *pass = mr_fault_pass(f->fault, kind, path);
    return pass->rc < 0 || pass->is_skipped;
}

/* After a stop a dead process may read what it likes. */
static int read_error(struct fault_env *f, const char *path)
{
    return mr_fault_is_stopped(f->fault) ? 0 : mr_fault_pass(f->fault, MR_FAULT_READ, path).rc;
}

static int fault_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass = {0};

    if (flags & MR_OPEN_CREATE)
        pass = mr_fault_pass(f->fault, MR_FAULT_MAKE, path);
    else if (mr_fault_is_stopped(f->fault) && (flags & MR_OPEN_WRITE))
        pass.rc = -EIO;
    else
        pass.rc = read_error(f, path);
    if (pass.rc < 0)
        return pass.rc;
    struct mr_file *made = calloc(1, sizeof *made);
    if (made == NULL || (made->path = strdup(path)) == NULL) {
        free(made);
        return -ENOMEM;
    }
    made->env = f;
    made->number = mr_fault_next_file(f->fault);
    if (flags & MR_OPEN_WRITE)
        mr_fault_trace(f->fault, NULL, 0, "@open %llu %d %s", (unsigned long long)made->number,
                       flags, path);
    int rc = f->inner->ops->open(f->inner, path, flags, &made->inner);
    mr_fault_passed(&pass);
    if (rc < 0) {
        free(made->path);
        free(made);
        return rc;
    }
    made->next = f->files;
    *file = f->files = made;
    return rc;
}

static void fault_close(struct mr_file *file)
{
    mr_fault_trace(file->env->fault, NULL, 0, "@close %llu", (unsigned long long)file->number);
    struct mr_file **at = &file->env->files;
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    file->env->inner->ops->close(file->inner);
    free(file->path);
    free(file);
}

static int64_t fault_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    int rc = read_error(file->env, file->path);

    return rc < 0 ? rc : file->env->inner->ops->read(file->inner, data, bytes, offset);
}

static int64_t fault_write(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset)
{
    struct fault_env *f = file->env;
    struct mr_fault_pass pass = mr_fault_pass(f->fault, MR_FAULT_WRITE, file->path);

    if (pass.is_skipped)
        return (int64_t)bytes;
    if (pass.rc < 0) {
        uint64_t half = bytes / 2 & ~(uint64_t)511;
        if (pass.half)
            (void)f->inner->ops->write(file->inner, data, half, offset);
        return pass.rc;
    }
    mr_fault_trace(f->fault, data, bytes, "@write %llu %llu %llu", (unsigned long long)file->number,
                   (unsigned long long)offset, (unsigned long long)bytes);
    int64_t n = f->inner->ops->write(file->inner, data, bytes, offset);
    mr_fault_passed(&pass);
    return n;
}

static int fault_sync(struct mr_file *file)
{
    struct fault_env *f = file->env;
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_SYNC, file->path, &pass))
        return pass.rc;
    int rc = f->inner->ops->sync(file->inner);
    if (rc == 0)
        mr_fault_trace(f->fault, NULL, 0, "@sync %llu", (unsigned long long)file->number);
    mr_fault_passed(&pass);
    return rc;
}

static int64_t fault_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                                uint64_t offset)
{
    int64_t n = fault_write(file, data, bytes, offset);

    if (n < 0)
        return n;
    int rc = fault_sync(file);
    return rc < 0 ? rc : n;
}

static int fault_truncate(struct mr_file *file, uint64_t bytes)
{
    struct fault_env *f = file->env;
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_WRITE, file->path, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@truncate %llu %llu", (unsigned long long)file->number,
                   (unsigned long long)bytes);
    int rc = f->inner->ops->truncate(file->inner, bytes);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_allocate(struct mr_file *file, uint64_t bytes)
{
    struct fault_env *f = file->env;
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_WRITE, file->path, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@allocate %llu %llu", (unsigned long long)file->number,
                   (unsigned long long)bytes);
    int rc = f->inner->ops->allocate(file->inner, bytes);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_read_start(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    return file->env->inner->ops->read_start(file->inner, data, bytes, offset);
}

static int64_t fault_read_wait(struct mr_file *file)
{
    int64_t n = file->env->inner->ops->read_wait(file->inner); /* it is over in any case */
    int rc = read_error(file->env, file->path);

    return rc < 0 ? rc : n;
}

static int fault_lock(struct mr_file *file)
{
    int rc = read_error(file->env, file->path);

    return rc < 0 ? rc : file->env->inner->ops->lock(file->inner);
}

static int fault_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    struct mr_env *inner = fault_of(env)->inner;
    int rc = read_error(fault_of(env), path);

    return rc < 0 ? rc : inner->ops->stat(inner, path, out);
}

static int fault_rename(struct mr_env *env, const char *from, const char *to)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_RENAME, from, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@rename %s\t%s", from, to);
    int rc = f->inner->ops->rename(f->inner, from, to);
    for (struct mr_file *file = f->files; rc == 0 && file; file = file->next) {
        char *renamed = strcmp(file->path, from) == 0 ? strdup(to) : NULL;
        if (renamed) {
            free(file->path);
            file->path = renamed;
        }
    }
    mr_fault_passed(&pass);
    return rc;
}

static int fault_link(struct mr_env *env, const char *from, const char *to)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_RENAME, from, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@link %s\t%s", from, to);
    int rc = f->inner->ops->link(f->inner, from, to);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_unlink(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_RENAME, path, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@unlink %s", path);
    int rc = f->inner->ops->unlink(f->inner, path);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_make_dir(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_MAKE, path, &pass))
        return pass.rc;
    mr_fault_trace(f->fault, NULL, 0, "@mkdir %s", path);
    int rc = f->inner->ops->make_dir(f->inner, path);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_sync_dir(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);
    struct mr_fault_pass pass;

    if (is_done(f, MR_FAULT_SYNC, path, &pass))
        return pass.rc;
    int rc = f->inner->ops->sync_dir(f->inner, path);
    if (rc == 0)
        mr_fault_trace(f->fault, NULL, 0, "@syncdir %s", path);
    mr_fault_passed(&pass);
    return rc;
}

static int fault_list(struct mr_env *env, const char *path,
                      bool (*seen)(void *arg, const char *name, bool is_dir), void *arg)
{
    struct mr_env *inner = fault_of(env)->inner;
    int rc = read_error(fault_of(env), path);

    return rc < 0 ? rc : inner->ops->list(inner, path, seen, arg);
}

static int64_t fault_now_us(struct mr_env *env)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->now_us(inner);
}

static int64_t fault_monotonic_us(struct mr_env *env)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->monotonic_us(inner);
}

static void fault_sleep_us(struct mr_env *env, int64_t us)
{
    struct mr_env *inner = fault_of(env)->inner;
    inner->ops->sleep_us(inner, us);
}

static int fault_wait(struct mr_env *env, const int *fds, uint32_t n, int64_t us)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->wait(inner, fds, n, us);
}

static uint64_t fault_random(struct mr_env *env)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->random(inner);
}

static void fault_fini(struct mr_env *env)
{
    struct fault_env *f = fault_of(env);

    f->inner->ops->fini(f->inner);
    if (f->owns_fault)
        mr_fault_free(f->fault);
    free(f);
}

static const struct mr_env_ops fault_ops = {
    .name = "fault",
    .open = fault_open,
    .close = fault_close,
    .read = fault_read,
    .write = fault_write,
    .sync = fault_sync,
    .write_sync = fault_write_sync,
    .truncate = fault_truncate,
    .allocate = fault_allocate,
    .read_start = fault_read_start,
    .read_wait = fault_read_wait,
    .lock = fault_lock,
    .stat = fault_stat,
    .rename = fault_rename,
    .link = fault_link,
    .unlink = fault_unlink,
    .make_dir = fault_make_dir,
    .sync_dir = fault_sync_dir,
    .list = fault_list,
    .now_us = fault_now_us,
    .monotonic_us = fault_monotonic_us,
    .sleep_us = fault_sleep_us,
    .wait = fault_wait,
    .random = fault_random,
    .fini = fault_fini,
};

struct mr_env *mr_fault_wrap(struct mr_env *inner, struct mr_fault *fault)
{
    struct fault_env *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->env = (struct mr_env){.ops = &fault_ops, .why_not_uring = inner->why_not_uring};
    f->inner = inner;
    f->fault = fault;
    return &f->env;
}

struct mr_env *mr_fault_open(struct mr_env *inner, const char *schedule)
{
    struct mr_fault *fault = mr_fault_new(schedule, NULL);
    struct mr_env *env = fault ? mr_fault_wrap(inner, fault) : NULL;

    if (env)
        fault_of(env)->owns_fault = true;
    else if (fault)
        mr_fault_free(fault);
    return env;
}

uint64_t mr_fault_count(const struct mr_env *env)
{
    return mr_fault_counted(((const struct fault_env *)(const void *)env)->fault);
}
