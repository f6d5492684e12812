/* job_paths.c - the paths of a job's file sources are there before it starts, as in Spark; and where it writes,
 * a folder is or can be made. */
#include "core/format/format.h"
#include "core/run/job.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A query may read what another one of the job writes, from its first run on. */
static bool is_written(const struct mr_job *job, const char *path)
{
    for (uint32_t i = 0; i < job->queries_n; i++) {
        const struct mr_sink_config *sink = &job->queries[i].sink;
        const char *to = mr_option_get(sink->options, sink->options_n, "path");
        size_t n = to ? strlen(to) : 0;
        if (n && strncmp(path, to, n) == 0 && (path[n] == '\0' || path[n] == '/'))
            return true;
    }
    return false;
}

enum mr_status mr_job_check_path(const struct mr_job *job, const struct mr_table *table,
                                 struct mr_error *err)
{
    const char *path = mr_option_get(table->options, table->options_n, "path");
    struct stat st;

    if (path == NULL || mr_format_find(table->format) == NULL || strpbrk(path, "*?["))
        return MR_OK; /* a pattern may match nothing yet */
    if (stat(path, &st) == 0) {
        if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
            return MR_OK;
        return MR_FAIL(err, MR_USER, 0, "%s: %s is neither a file nor a folder", table->name, path);
    }
    if (errno != ENOENT && errno != ENOTDIR)
        return MR_FAIL(err, MR_USER, errno, "%s: %s", table->name, path);
    if (is_written(job, path))
        return MR_OK;
    return MR_FAIL_CONDITION(err, MR_USER, "PATH_NOT_FOUND", "Path does not exist: %s.", path);
}

/* The folder itself, or the nearest one above it that is there. */
enum mr_status mr_job_check_target(const char *what, const char *path, struct mr_error *err)
{
    char at[4096];
    struct stat st;
    int n = snprintf(at, sizeof at, "%s", path);

    if (n < 0 || n >= (int)sizeof at)
        return MR_FAIL(err, MR_USER, ENAMETOOLONG, "%s", what);
    while (stat(at, &st) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return MR_FAIL(err, MR_USER, errno, "%s %s", what, at);
        char *slash = strrchr(at, '/');
        if (slash == at && at[1] == '\0')
            return MR_OK;
        if (slash)
            slash[slash == at] = '\0';
        else
            snprintf(at, sizeof at, ".");
    }
    if (!S_ISDIR(st.st_mode))
        return MR_FAIL(err, MR_USER, 0, "%s %s: %s is no folder", what, path, at);
    if (access(at, W_OK) != 0)
        return MR_FAIL(err, MR_USER, errno, "%s %s: nothing can be written in %s", what, path, at);
    return MR_OK;
}
