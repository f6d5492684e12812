/* job_paths.c - the paths of a job's file sources are there before it starts, as in Spark; and
 * where it writes, a folder is or can be made. */
#include "core/format/format.h"
#include "core/run/job.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
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
    char *rest = at;
    snprintf(at, sizeof at, "%s", path + n);
    for (char *part; (part = strtok_r(rest, "/", &rest)) != NULL;) {
        char *end = real + strlen(real), *slash = strrchr(real, '/');
        if (strcmp(part, "..") == 0)
            slash[slash == real] = '\0';
        else if (strcmp(part, ".") != 0 &&
                 snprintf(end, (size_t)(real + PATH_MAX - end), "%s%s", end[-1] == '/' ? "" : "/",
                          part) >= real + PATH_MAX - end)
            return; /* too long for any file */
    }
    snprintf(out, PATH_MAX, "%s", real);
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

static bool is_file_source(const struct mr_table *t)
{
    return t->format && mr_format_find(t->format) &&
           mr_option_get(t->options, t->options_n, "path");
}

/* Of a file source. False: it is no pattern. */
static bool resolve_source(const struct mr_table *t, char out[PATH_MAX])
{
    const char *path = mr_option_get(t->options, t->options_n, "path");

    if (strpbrk(path, "*?[") == NULL) {
        resolve(path, out);
        return false;
    }
    resolve_pattern(path, out);
    return true;
}

static bool reads_from(const struct mr_table *t, const char *target)
{
    char source[PATH_MAX];

    if (!is_file_source(t))
        return false;
    return resolve_source(t, source) ? pattern_reads(source, target) : is_read_with(source, target);
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

bool mr_job_same_folder(const char *a, const char *b)
{
    char x[PATH_MAX], y[PATH_MAX];

    resolve(a, x);
    resolve(b, y);
    return strcmp(x, y) == 0;
}

static const char *clean_of(const struct mr_table *t)
{
    const char *clean =
        is_file_source(t) ? mr_option_get(t->options, t->options_n, "cleanSource") : NULL;

    return clean && strcasecmp(clean, "off") != 0 ? clean : NULL;
}

const char *mr_job_archive(const struct mr_table *t)
{
    const char *clean = clean_of(t);

    return clean && strcasecmp(clean, "archive") == 0
               ? mr_option_get(t->options, t->options_n, "sourceArchiveDir")
               : NULL;
}

/* Part by part to the lesser depth; two parts with wildcards are taken to have a name in common. */
static bool reads_same(const struct mr_table *a, const struct mr_table *b)
{
    char x[PATH_MAX], y[PATH_MAX];
    const char *p = x, *q = y;

    (void)resolve_source(a, x);
    (void)resolve_source(b, y);
    for (;;) {
        const char *i = next_part(&p), *k = next_part(&q);
        size_t n = (size_t)(p - i), m = (size_t)(q - k);
        if (n == 0 || m == 0)
            return true;
        bool i_wild = strcspn(i, "*?[") < n, k_wild = strcspn(k, "*?[") < m;
        if (i_wild && k_wild)
            continue;
        if (k_wild ? !part_matches(k, m, i, n) : !part_matches(i, n, k, m))
            return false;
    }
}

static enum mr_status check_cleaned(const struct mr_job *job, const struct mr_job_query *q,
                                    const struct mr_table *t, struct mr_error *err)
{
    for (uint32_t i = 0; i < job->queries_n; i++)
        for (uint32_t k = 0; k < job->queries[i].session.tables_n; k++) {
            const struct mr_table *other = &job->queries[i].session.tables[k];
            if (other != t && is_file_source(other) && reads_same(t, other))
                return MR_FAIL(err, MR_USER, 0,
                               "source \"%s\" of query \"%s\" takes files away (cleanSource: %s) "
                               "that source \"%s\" of query \"%s\" reads too and may not have "
                               "read by then; leave cleanSource away, or give each its own folder",
                               t->name, q->name, clean_of(t), other->name, job->queries[i].name);
        }
    return MR_OK;
}

enum mr_status mr_job_check_durability(const struct mr_job *job, struct mr_error *err)
{
    if (job->engine.durability == MR_DURABLE_EPOCH)
        return MR_OK;
    for (uint32_t i = 0; i < job->queries_n; i++)
        for (uint32_t k = 0; k < job->queries[i].session.tables_n; k++) {
            const struct mr_table *t = &job->queries[i].session.tables[k];
            if (clean_of(t))
                return MR_FAIL(err, MR_USER, 0,
                               "source \"%s\" of query \"%s\" takes files away (cleanSource: %s) "
                               "whose epoch a power cut may take, for not every commit is durable: "
                               "set engine: {durability: epoch}, or leave cleanSource away",
                               t->name, job->queries[i].name, clean_of(t));
        }
    return MR_OK;
}

static bool feeds(const struct mr_job_query *from, const struct mr_job_query *to)
{
    const char *path = mr_format_find(from->sink.format)
                           ? mr_option_get(from->sink.options, from->sink.options_n, "path")
                           : NULL;
    char folder[PATH_MAX];

    if (path == NULL)
        return false;
    resolve(path, folder);
    for (uint32_t i = 0; i < to->session.tables_n; i++)
        if (reads_from(&to->session.tables[i], folder))
            return true;
    return false;
}

/* Whether what query number start writes comes back to it, and from which one. */
static bool comes_back(const struct mr_job *job, uint32_t start, uint32_t *last)
{
    uint32_t fed[MR_QUERIES_MAX] = {start}, n = 1;
    bool seen[MR_QUERIES_MAX] = {false};

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < job->queries_n; k++) {
            if (k == fed[i] || seen[k] || !feeds(&job->queries[fed[i]], &job->queries[k]))
                continue;
            if (k == start) {
                *last = fed[i];
                return true;
            }
            seen[k] = true;
            fed[n++] = k;
        }
    return false;
}

enum mr_status mr_job_check_queries(const struct mr_job *job, uint32_t *query, struct mr_error *err)
{
    enum mr_status status = MR_OK;
    uint32_t last = 0;

    for (uint32_t i = 0; i < job->queries_n && status == MR_OK; i++) {
        const struct mr_job_query *q = &job->queries[i];
        *query = i;
        for (uint32_t k = 0; k < q->session.tables_n && status == MR_OK; k++)
            if (clean_of(&q->session.tables[k]))
                status = check_cleaned(job, q, &q->session.tables[k], err);
        if (status == MR_OK && comes_back(job, i, &last))
            status = MR_FAIL(err, MR_USER, 0,
                             "the queries \"%s\" and \"%s\" go in a circle: what one writes comes "
                             "to the other and back, for ever; let one of them write into a folder "
                             "that none of the others reads",
                             q->name, job->queries[last].name);
    }
    return status;
}
