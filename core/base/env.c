#include "core/base/env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The parent of path ("." for a bare name) in dir[PATH_MAX]. */
static void parent_of(const char *path, char *dir)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 1;

    if (slash == NULL) {
        memcpy(dir, ".", 2);
        return;
    }
    if (n == 0)
        n = 1; /* the root itself */
    memcpy(dir, path, n);
    dir[n] = '\0';
}

static int sync_parent(struct mr_env *env, const char *path)
{
    char parent[PATH_MAX];

    parent_of(path, parent);
    return env->ops->sync_dir(env, parent);
}

/* Perhaps a process made it and ended before it synced its name. It has put nothing into it then,
 * so those above are durable. What can't be synced for its permissions or its file system was not
 * made so. */
static int sync_found(struct mr_env *env, const char *path)
{
    int rc = sync_parent(env, path);

    return rc == -EACCES || rc == -EPERM || rc == -EROFS || rc == -EINVAL ? 0 : rc;
}

static int make_missing(struct mr_env *env, const char *path, const char *found)
{
    int rc = found[0] ? sync_found(env, found) : 0;

    if (rc == 0 && strcmp(path, found) != 0) {
        rc = env->ops->make_dir(env, path);
        rc = rc < 0 ? rc : sync_parent(env, path);
    }
    return rc;
}

int mr_env_make_dirs(struct mr_env *env, const char *path)
{
    char prefix[PATH_MAX], found[PATH_MAX] = "";
    struct mr_file_stat st;
    size_t n = strlen(path);
    int rc = 0;

    if (n == 0)
        return -ENOENT;
    if (n >= sizeof prefix)
        return -ENAMETOOLONG;
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (size_t i = 1; i <= n && rc >= 0; i++) {
        if (i < n && (path[i] != '/' || path[i - 1] == '/'))
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        rc = env->ops->stat(env, prefix, &st);
        if (rc == 0 && !st.is_dir)
            return -ENOTDIR;
        if (rc == 0)
            memcpy(found, prefix, i + 1);
        if (rc == -ENOENT || (rc == 0 && i == n)) {
            rc = make_missing(env, prefix, found);
            found[0] = '\0';
        }
    }
    return rc;
}

int mr_env_write_whole(struct mr_env *env, const char *path, const void *data, uint64_t bytes)
{
    char temporary[PATH_MAX], parent[PATH_MAX];
    struct mr_file *file;

    if (snprintf(temporary, sizeof temporary, "%s.tmp", path) >= (int)sizeof temporary)
        return -ENAMETOOLONG;
    int rc =
        env->ops->open(env, temporary, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE, &file);
    if (rc < 0)
        return rc;
    int64_t written = env->ops->write_sync(file, data, bytes, 0);
    env->ops->close(file);
    rc = written < 0 ? (int)written : 0;
    if (rc == 0)
        rc = env->ops->rename(env, temporary, path);
    if (rc < 0) {
        /* The first error is the one to tell; a temporary file left behind is harmless. */
        (void)env->ops->unlink(env, temporary);
        return rc;
    }
    parent_of(path, parent);
    return env->ops->sync_dir(env, parent);
}
