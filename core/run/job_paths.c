/* job_paths.c - the paths of a job's file sources are there before it starts, as in Spark; and
 * where it writes, a folder is or can be made. */
#include "core/format/format.h"
#include "core/run/job.h"

#include <errno.h>
#include <fnmatch.h>
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

static enum mr_status no_path(const char *path, struct mr_error *err)
{
    char folder[PATH_MAX];

    if (strncmp(path, "file:", 5) == 0)
        return MR_FAIL_CONDITION(err, MR_USER, "PATH_NOT_FOUND",
                                 "Path does not exist: %s. Paths are plain: leave the scheme file: "
                                 "away.",
                                 path);
    if (path[0] == '/' || getcwd(folder, sizeof folder) == NULL)
        return MR_FAIL_CONDITION(err, MR_USER, "PATH_NOT_FOUND", "Path does not exist: %s.", path);
    return MR_FAIL_CONDITION(err, MR_USER, "PATH_NOT_FOUND",
                             "Path does not exist: %s. The current directory is %s.", path, folder);
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
    return no_path(path, err);
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

/* The path without links, dots and doubled slashes. What is not there yet: below the nearest folder
 * that is. */
static void resolve(const char *path, char out[PATH_MAX])
{
    char at[PATH_MAX], real[PATH_MAX];
    int n = snprintf(at, sizeof at, "%s", path);

    snprintf(out, PATH_MAX, "%s", path);
    if (n >= PATH_MAX)
        return;
    while (realpath(n ? at : ".", real) == NULL) {
        while (n > 0 && at[n - 1] == '/')
            n--;
        while (n > 0 && at[n - 1] != '/')
            n--;
        at[n] = '\0';
    }
    const char *rest = path + n + strspn(path + n, "/");
    if (snprintf(out, PATH_MAX, "%s%s%s", real, *rest ? "/" : "", rest) >= PATH_MAX)
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

static const char *next_part(const char **at)
{
    *at += strspn(*at, "/");
    const char *part = *at;
    *at += strcspn(*at, "/");
    return part;
}

static bool part_matches(const char *pattern, size_t pattern_n, const char *name, size_t name_n)
{
    char p[NAME_MAX + 1], n[NAME_MAX + 1];

    if (pattern_n > NAME_MAX || name_n > NAME_MAX)
        return false;
    memcpy(p, pattern, pattern_n);
    memcpy(n, name, name_n);
    p[pattern_n] = n[name_n] = '\0';
    if (strpbrk(p, "*?[") && (n[0] == '.' || (n[0] == '_' && strchr(n, '=') == NULL)))
        return false;
    return fnmatch(p, n, 0) == 0;
}

/* Whether a pattern names files that are written into the folder path: part by part; what the
 * pattern has behind the folder's parts must fit the names that sinks give. */
static bool pattern_reads(const char *pattern, const char *path)
{
    static const char *const written[] = {"part-0.json", "part-0.csv", "part-0.txt"};

    for (;;) {
        const char *p = next_part(&pattern), *n = next_part(&path);
        if (p == pattern)
            return true; /* the folder, or one above it, matches */
        if (n != path) {
            if (!part_matches(p, (size_t)(pattern - p), n, (size_t)(path - n)))
                return false;
            continue;
        }
        if (*pattern)
            return true; /* folders by partition may lie below */
        for (uint32_t i = 0; i < sizeof written / sizeof *written; i++)
            if (part_matches(p, (size_t)(pattern - p), written[i], strlen(written[i])))
                return true;
        return false;
    }
}

/* A pattern with what stands before its first wildcard resolved. */
static void resolve_pattern(const char *pattern, char out[PATH_MAX])
{
    char fixed[PATH_MAX], real[PATH_MAX];
    size_t n = strcspn(pattern, "*?[");

    while (n > 0 && pattern[n - 1] != '/')
        n--;
    if (snprintf(fixed, sizeof fixed, "%.*s", (int)n, n ? pattern : ".") >= PATH_MAX)
        fixed[0] = '\0';
    resolve(n ? fixed : ".", real);
    if (snprintf(out, PATH_MAX, "%s/%s", real, pattern + n) >= PATH_MAX)
        out[0] = '\0';
}

static bool reads_from(const struct mr_table *t, const char *target)
{
    const char *from = mr_option_get(t->options, t->options_n, "path");
    char source[PATH_MAX];

    if (from == NULL || mr_format_find(t->format) == NULL)
        return false;
    if (strpbrk(from, "*?[")) {
        resolve_pattern(from, source);
        return pattern_reads(source, target);
    }
    resolve(from, source);
    return is_read_with(source, target);
}

enum mr_status mr_job_check_apart(const char *what, const char *path,
                                  const struct mr_physical_plan *plan, struct mr_error *err)
{
    char target[PATH_MAX];

    resolve(path, target);
    for (uint32_t i = 0; i < plan->nodes_n; i++) {
        const struct mr_table *t =
            plan->nodes[i]->kind == MR_NODE_SOURCE ? plan->nodes[i]->table : NULL;
        if (t && reads_from(t, target))
            return MR_FAIL(err, MR_USER, 0,
                           "%s %s lies in what source %s reads (%s): the query would read what it "
                           "writes; take another folder",
                           what, path, t->name, mr_option_get(t->options, t->options_n, "path"));
    }
    return MR_OK;
}

enum mr_status mr_job_check_among(const char *what, const char *path, const char *sink,
                                  struct mr_error *err)
{
    char target[PATH_MAX], folder[PATH_MAX];

    resolve(path, target);
    resolve(sink, folder);
    if (!is_read_with(folder, target))
        return MR_OK;
    return MR_FAIL(
        err, MR_USER, 0,
        "%s %s lies in the folder of other files (%s): who reads those would take it for "
        "theirs; take another folder, or one whose name begins with _",
        what, path, sink);
}
