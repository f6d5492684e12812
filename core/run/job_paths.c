/* job_paths.c - the paths of a job's file sources are there before it starts, as in Spark; and where it writes,
 * a folder is or can be made. */
#include "core/format/format.h"
#include "core/run/job.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The path without links, dots and doubled slashes. What is not there yet: its last name below its folder. */
static void resolve(const char *path, char out[PATH_MAX])
{
    char folder[PATH_MAX], name[PATH_MAX], real[PATH_MAX];

    if (realpath(path, out))
        return;
    int n = snprintf(folder, sizeof folder, "%s", path);
    memcpy(name, folder, sizeof name);
    if (n < PATH_MAX && realpath(dirname(folder), real))
        n = snprintf(out, PATH_MAX, "%s/%s", real, basename(name));
    else
        n = PATH_MAX;
    if (n >= PATH_MAX)
        snprintf(out, PATH_MAX, "%s", path);
}

/* Sources leave out files and folders whose names begin with . or _. */
static bool is_read_with(const char *folder, const char *path)
{
    size_t n = strlen(folder);

    if (strncmp(folder, path, n) != 0 || (path[n] != '\0' && path[n] != '/'))
        return false;
    return strstr(path + n, "/_") == NULL && strstr(path + n, "/.") == NULL;
}

enum mr_status mr_job_check_apart(const char *what, const char *path,
                                  const struct mr_physical_plan *plan, struct mr_error *err)
{
    char target[PATH_MAX], source[PATH_MAX];

    resolve(path, target);
    for (uint32_t i = 0; i < plan->nodes_n; i++) {
        const struct mr_table *t =
            plan->nodes[i]->kind == MR_NODE_SOURCE ? plan->nodes[i]->table : NULL;
        const char *from = t ? mr_option_get(t->options, t->options_n, "path") : NULL;
        if (from == NULL || mr_format_find(t->format) == NULL || strpbrk(from, "*?["))
            continue;
        resolve(from, source);
        if (is_read_with(source, target))
            return MR_FAIL(err, MR_USER, 0,
                           "%s %s lies in what source %s reads (%s): the query would read what it "
                           "writes; take another folder",
                           what, path, t->name, from);
    }
    return MR_OK;
}
