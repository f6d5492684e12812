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

static int make_one(struct mr_env *env, const char *path)
{
    char parent[PATH_MAX];
    struct mr_file_stat st;
    int rc = env->ops->stat(env, path, &st);

    if (rc == 0)
        return st.is_dir ? 0 : -ENOTDIR;
    if (rc != -ENOENT)
        return rc;
    rc = env->ops->make_dir(env, path);
    if (rc < 0)
        return rc;
    parent_of(path, parent);
    return env->ops->sync_dir(env, parent);
}

int mr_env_make_dirs(struct mr_env *env, const char *path)
{
    char prefix[PATH_MAX];
    size_t n = strlen(path);

    if (n == 0)
        return -ENOENT;
    if (n >= sizeof prefix)
        return -ENAMETOOLONG;
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (size_t i = 1; i <= n; i++) {
        if (i < n && (path[i] != '/' || path[i - 1] == '/'))
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        int rc = make_one(env, prefix);
        if (rc < 0)
            return rc;
    }
    return 0;
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
