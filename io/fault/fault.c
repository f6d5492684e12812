#include "io/fault/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum kind { WRITE = 1, SYNC = 2, RENAME = 4, ANY = 7 };
enum action { COUNT_ONLY, FAIL_EIO, FAIL_ENOSPC, TORN, STOP, HALFSTOP, KILL, KILLAFTER };

struct fault_env {
    struct mr_env env;
    struct mr_env *inner;
    uint32_t kinds;
    uint64_t at, count;
    enum action action;
    bool is_stopped;
};

struct mr_file { /* ours; the inner one is behind it */
    struct fault_env *env;
    struct mr_file *inner;
};

static struct fault_env *fault_of(struct mr_env *env)
{
    return (struct fault_env *)(void *)env;
}

/* Counts an operation. 0: it is to be done; else its error. *half: bytes are to be written halfway.
 */
static int pass(struct fault_env *f, enum kind kind, bool *half)
{
    *half = false;
    if (f->is_stopped)
        return -EIO;
    if ((f->kinds & kind) == 0 || ++f->count != f->at)
        return 0;
    switch (f->action) {
    case FAIL_EIO:
        return -EIO;
    case FAIL_ENOSPC:
        return -ENOSPC;
    case TORN:
        *half = true;
        return -ENOSPC;
    case STOP:
        f->is_stopped = true;
        return -EIO;
    case HALFSTOP:
        f->is_stopped = *half = true;
        return -EIO;
    case KILL:
        raise(SIGKILL);
        return -EIO;
    default:
        return 0;
    }
}

/* After an operation was done. */
static void passed(struct fault_env *f, enum kind kind)
{
    if (f->action == KILLAFTER && (f->kinds & kind) && f->count == f->at)
        raise(SIGKILL);
}

static int fault_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    struct fault_env *f = fault_of(env);
    struct mr_file *made;

    if (f->is_stopped && (flags & MR_OPEN_WRITE))
        return -EIO;
    made = calloc(1, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    made->env = f;
    int rc = f->inner->ops->open(f->inner, path, flags, &made->inner);
    if (rc < 0) {
        free(made);
        return rc;
    }
    *file = made;
    return rc;
}

static void fault_close(struct mr_file *file)
{
    file->env->inner->ops->close(file->inner);
    free(file);
}

static int64_t fault_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    return file->env->inner->ops->read(file->inner, data, bytes, offset);
}

static int64_t fault_write(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset)
{
    bool half;
    int rc = pass(file->env, WRITE, &half);

    if (half)
        (void)file->env->inner->ops->write(file->inner, data, bytes / 2 & ~(uint64_t)511, offset);
    if (rc < 0)
        return rc;
    int64_t n = file->env->inner->ops->write(file->inner, data, bytes, offset);
    passed(file->env, WRITE);
    return n;
}

static int fault_sync(struct mr_file *file)
{
    bool half;
    int rc = pass(file->env, SYNC, &half);

    if (rc < 0)
        return rc;
    rc = file->env->inner->ops->sync(file->inner);
    passed(file->env, SYNC);
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
    bool half;
    int rc = pass(file->env, WRITE, &half);

    return rc < 0 ? rc : file->env->inner->ops->truncate(file->inner, bytes);
}

static int fault_allocate(struct mr_file *file, uint64_t bytes)
{
    bool half;
    int rc = pass(file->env, WRITE, &half);

    return rc < 0 ? rc : file->env->inner->ops->allocate(file->inner, bytes);
}

static int fault_read_start(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    return file->env->inner->ops->read_start(file->inner, data, bytes, offset);
}

static int64_t fault_read_wait(struct mr_file *file)
{
    return file->env->inner->ops->read_wait(file->inner);
}

static int fault_lock(struct mr_file *file)
{
    return file->env->inner->ops->lock(file->inner);
}

static int fault_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->stat(inner, path, out);
}

static int fault_rename(struct mr_env *env, const char *from, const char *to)
{
    struct fault_env *f = fault_of(env);
    bool half;
    int rc = pass(f, RENAME, &half);

    if (rc < 0)
        return rc;
    rc = f->inner->ops->rename(f->inner, from, to);
    passed(f, RENAME);
    return rc;
}

static int fault_link(struct mr_env *env, const char *from, const char *to)
{
    struct fault_env *f = fault_of(env);
    bool half;
    int rc = pass(f, RENAME, &half);

    if (rc < 0)
        return rc;
    rc = f->inner->ops->link(f->inner, from, to);
    passed(f, RENAME);
    return rc;
}

static int fault_unlink(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);
    bool half;
    int rc = pass(f, RENAME, &half);

    if (rc < 0)
        return rc;
    rc = f->inner->ops->unlink(f->inner, path);
    passed(f, RENAME);
    return rc;
}

static int fault_make_dir(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);

    return f->is_stopped ? -EIO : f->inner->ops->make_dir(f->inner, path);
}

static int fault_sync_dir(struct mr_env *env, const char *path)
{
    struct fault_env *f = fault_of(env);
    bool half;
    int rc = pass(f, SYNC, &half);

    if (rc < 0)
        return rc;
    rc = f->inner->ops->sync_dir(f->inner, path);
    passed(f, SYNC);
    return rc;
}

static int fault_list(struct mr_env *env, const char *path,
                      bool (*seen)(void *arg, const char *name, bool is_dir), void *arg)
{
    struct mr_env *inner = fault_of(env)->inner;
    return inner->ops->list(inner, path, seen, arg);
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
    struct mr_env *inner = fault_of(env)->inner;

    inner->ops->fini(inner);
    free(env);
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

struct name {
    const char *name;
    uint32_t value;
};

/* The value of the name that at begins with, up to end or, when that is 0, to the end of the text.
 */
static bool take_name(const struct name *names, const char **at, char end, uint32_t *value)
{
    for (const struct name *n = names; n->name; n++) {
        size_t length = strlen(n->name);
        if (strncmp(*at, n->name, length) == 0 && (*at)[length] == end) {
            *at += length + (end != '\0');
            *value = n->value;
            return true;
        }
    }
    return false;
}

static bool parse(struct fault_env *f, const char *schedule)
{
    static const struct name kinds[] = {
        {"write", WRITE}, {"sync", SYNC}, {"rename", RENAME}, {"any", ANY}, {NULL, 0}};
    static const struct name actions[] = {
        {"EIO", FAIL_EIO},      {"ENOSPC", FAIL_ENOSPC}, {"torn", TORN},           {"stop", STOP},
        {"halfstop", HALFSTOP}, {"kill", KILL},          {"killafter", KILLAFTER}, {NULL, 0}};
    uint32_t action;
    char *end;

    f->kinds = ANY;
    if (schedule[0] == '\0')
        return true;
    if (!take_name(kinds, &schedule, ':', &f->kinds))
        return false;
    f->at = strtoull(schedule, &end, 10);
    if (end == schedule || *end != ':' || f->at == 0)
        return false;
    schedule = end + 1;
    if (!take_name(actions, &schedule, '\0', &action))
        return false;
    f->action = (enum action)action;
    return true;
}

struct mr_env *mr_fault_open(struct mr_env *inner, const char *schedule)
{
    struct fault_env *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->env = (struct mr_env){.ops = &fault_ops, .why_not_uring = inner->why_not_uring};
    f->inner = inner;
    if (!parse(f, schedule)) {
        free(f);
        return NULL;
    }
    return &f->env;
}

uint64_t mr_fault_count(const struct mr_env *env)
{
    return ((const struct fault_env *)(const void *)env)->count;
}
