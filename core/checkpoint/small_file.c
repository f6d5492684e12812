#include "core/checkpoint/small_file.h"

#include <errno.h>

enum mr_status mr_small_file_read(struct mr_env *env, const char *path, struct mr_arena *a,
                                  struct mr_text *out, bool *found, struct mr_error *err)
{
    struct mr_file_stat st;
    struct mr_file *file;
    int rc = env->ops->stat(env, path, &st);

    *out = (struct mr_text){NULL, 0};
    *found = rc != -ENOENT;
    if (rc == -ENOENT)
        return MR_OK;
    char *data = mr_arena_alloc(a, rc == 0 ? st.size + 1 : 1);
    if (rc == 0)
        rc = env->ops->open(env, path, MR_OPEN_READ, &file);
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "checkpoint: open %s", path);
    int64_t n = env->ops->read(file, data, st.size, 0);
    env->ops->close(file);
    if (n < 0)
        return MR_FAIL(err, MR_IO, (int)-n, "checkpoint: read %s", path);
    *out = (struct mr_text){data, (uint64_t)n};
    return MR_OK;
}
