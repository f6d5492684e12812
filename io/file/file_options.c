#include "io/file/file_options.h"

#include "core/base/path.h"
#include "core/base/time.h"
#include "core/mem/arena.h"
#include "io/options.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 64 };

const char *const mr_file_source_options[] = {
    "basePath: the folder below which folder names name=value are columns (path)",
    "cleanSource: what to do with files that are done: off, archive or delete (off); needs "
    "durability epoch",
    "discardCachedInputRatio: accepted; new files are found without a cache here",
    "fileNameOnly: files of the same name in different folders are the same file (false)",
    "ignoreMissingFiles: accepted; a file that is gone when its epoch runs is reported and left "
    "out",
    "latestFirst: take the newest files first (false)",
    "maxBytesPerTrigger: bytes of files per epoch, at least one file (no limit)",
    "maxCachedFiles: accepted; new files are found without a cache here",
    "maxFileAge: files older than the newest by more than this are ignored (7d)",
    "maxFilesPerTrigger: files per epoch (no limit)",
    "path: a folder, a file, or a pattern with * ? [] (of folders too: then all below them)",
    "pathGlobFilter: only files whose name matches this pattern",
    "recursiveFileLookup: folder names are no columns (false); folders below are read anyway",
    "sourceArchiveDir: where cleanSource=archive moves files to",
    NULL,
};

const char *const mr_file_sink_options[] = {
    "commitInterval: an output file is closed when it is this old (1s)",
    "compression: none, gzip or zstd (none)",
    "maxFileBytes: an output file is closed when it has this many bytes (128m)",
    "path: the output folder",
    "retention: accepted; there is no growing manifest here",
    NULL,
};

static bool is_own(const char *const *own, const char *name)
{
    size_t n = strlen(name);

    for (; *own; own++)
        if (strncasecmp(*own, name, n) == 0 && (*own)[n] == ':')
            return true;
    return false;
}

uint32_t mr_file_format_options(const struct mr_option *options, uint32_t n, const char *const *own,
                                struct mr_option *format_options)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!is_own(own, options[i].name))
            format_options[kept++] = options[i];
    return kept;
}

/* The name in own that is nearest to name, or NULL. */
static const char *nearest_own(const char *name, const char *const *own, char *room)
{
    for (; *own; own++) {
        const char *one = room;
        snprintf(room, NAME_MAX_BYTES, "%.*s", (int)strcspn(*own, ":"), *own);
        if (mr_error_nearest(name, &one, 1))
            return room;
    }
    return NULL;
}

enum mr_status mr_file_unknown_option(const char *format, const struct mr_option *options,
                                      uint32_t n, const char *const *own, bool reading,
                                      enum mr_status status, struct mr_error *err)
{
    const struct mr_format_ops *ops = mr_format_find(format);

    for (uint32_t i = 0; i < n; i++) {
        char room[NAME_MAX_BYTES];
        const char *nearest = nearest_own(options[i].name, own, room);
        if (nearest && ops->check_options(&options[i], 1, reading, NULL) != MR_OK)
            return MR_FAIL(err, MR_USER, 0, "%s has no option \"%s\"; did you mean \"%s\"?", format,
                           options[i].name, nearest);
    }
    return status;
}

bool mr_file_parse_bytes(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},           {"b", 1},          {"k", 1 << 10}, {"kb", 1 << 10},
                 {"m", 1 << 20},    {"mb", 1 << 20},   {"g", 1 << 30}, {"gb", 1 << 30},
                 {"t", 1ull << 40}, {"tb", 1ull << 40}};
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *bytes = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcasecmp(end, units[i].unit) == 0)
            return !__builtin_mul_overflow(*bytes, units[i].factor, bytes);
    return false;
}

static enum mr_status wrong(struct mr_error *err, const char *name, const char *value,
                            const char *allowed)
{
    return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                             "Invalid value '%s' for option '%s', must be %s", value, name,
                             allowed);
}

static enum mr_status read_count(struct mr_error *err, const char *name, const char *value,
                                 uint64_t *out)
{
    char *end;

    *out = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || *out == 0)
        return wrong(err, name, value, "a positive integer");
    return MR_OK;
}

static enum mr_status read_boolean(struct mr_error *err, const char *name, const char *value,
                                   bool *out)
{
    *out = strcasecmp(value, "true") == 0;
    if (!*out && strcasecmp(value, "false") != 0)
        return wrong(err, name, value, "'true' or 'false'");
    return MR_OK;
}

static enum mr_status read_clean(struct mr_error *err, const char *value, enum mr_file_clean *out)
{
    static const char *const names[] = {"off", "archive", "delete"};

    for (uint32_t i = 0; i < 3; i++)
        if (strcasecmp(value, names[i]) == 0) {
            *out = (enum mr_file_clean)i;
            return MR_OK;
        }
    return wrong(err, "cleanSource", value, "'off', 'archive' or 'delete'");
}

static enum mr_status read_one(const struct mr_option *o, struct mr_file_options *out,
                               struct mr_error *err)
{
    if (strcasecmp(o->name, "path") == 0)
        out->path = o->value;
    else if (strcasecmp(o->name, "basePath") == 0)
        out->base = o->value;
    else if (strcasecmp(o->name, "recursiveFileLookup") == 0)
        return read_boolean(err, o->name, o->value, &out->flat);
    else if (strcasecmp(o->name, "maxFilesPerTrigger") == 0)
        return read_count(err, o->name, o->value, &out->files_max);
    else if (strcasecmp(o->name, "maxBytesPerTrigger") == 0)
        return mr_file_parse_bytes(o->value, &out->bytes_max) && out->bytes_max
                   ? MR_OK
                   : wrong(err, o->name, o->value, "a positive number of bytes, as 10000 or 128m");
    else if (strcasecmp(o->name, "latestFirst") == 0)
        return read_boolean(err, o->name, o->value, &out->latest_first);
    else if (strcasecmp(o->name, "fileNameOnly") == 0)
        return read_boolean(err, o->name, o->value, &out->name_only);
    else if (strcasecmp(o->name, "maxFileAge") == 0)
        return mr_io_parse_duration(mr_text_of(o->value), 1000, &out->age_max_us)
                   ? MR_OK
                   : wrong(err, o->name, o->value, "a duration, as 7d, 12h or '10 minutes'");
    else if (strcasecmp(o->name, "cleanSource") == 0)
        return read_clean(err, o->value, &out->clean);
    else if (strcasecmp(o->name, "sourceArchiveDir") == 0)
        out->archive_dir = o->value;
    else if (strcasecmp(o->name, "modifiedAfter") == 0 ||
             strcasecmp(o->name, "modifiedBefore") == 0)
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "option '%s' is not allowed in file stream sources", o->name);
    else if (strcasecmp(o->name, "pathGlobFilter") == 0)
        out->name_glob = o->value;
    return MR_OK;
}

const char *mr_file_without_dots(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2 + strspn(path + 2, "/");
    return path;
}

/* Folders are read with those below them: what is archived there would come again as new. */
static bool is_inside(const char *path, const char *folder)
{
    path = mr_file_without_dots(path);
    folder = mr_file_without_dots(folder);
    size_t n = strlen(folder);

    while (n > 1 && folder[n - 1] == '/')
        n--;
    if (n == 0 || (n == 1 && folder[0] == '.'))
        return path[0] != '/';
    return strncmp(path, folder, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || folder[n - 1] == '/');
}

/* Behind a wildcard the folders found are each a base of their own, as in Spark. */
static enum mr_status settle_base(const struct mr_table *table, struct mr_file_options *out,
                                  struct mr_error *err)
{
    if (out->base && !is_inside(out->path, out->base))
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": Wrong basePath %s for the root path: %s: it must "
                                 "be a folder above it, or the same",
                                 table->name, out->base, out->path);
    if (out->base == NULL && strpbrk(out->path, "*?[") == NULL)
        out->base = out->path;
    if (out->flat)
        out->base = NULL;
    return MR_OK;
}

const char *mr_file_absolute(const char *path, struct mr_arena *a)
{
    char room[PATH_MAX];

    mr_path_absolute(path, room);
    return mr_arena_copy(a, room, strlen(room));
}

void mr_file_options_resolve(struct mr_file_options *o, struct mr_arena *a)
{
    o->path = mr_file_absolute(o->path, a);
    o->base = o->base ? mr_file_absolute(o->base, a) : NULL;
}

enum mr_status mr_file_options_read(const struct mr_table *table, struct mr_file_options *out,
                                    struct mr_error *err)
{
    enum mr_status status = MR_OK;

    *out = (struct mr_file_options){.age_max_us = 7 * MR_US_PER_DAY};
    for (uint32_t i = 0; i < table->options_n && status == MR_OK; i++)
        status = read_one(&table->options[i], out, err);
    if (status != MR_OK)
        return status;
    if (out->path == NULL || out->path[0] == '\0')
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": 'path' is not specified", table->name);
    if (out->files_max && out->bytes_max)
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": options 'maxFilesPerTrigger' and "
                                 "'maxBytesPerTrigger' can't be both set",
                                 table->name);
    if (out->clean == MR_FILE_CLEAN_ARCHIVE && out->archive_dir == NULL)
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": cleanSource=archive needs 'sourceArchiveDir'",
                                 table->name);
    if (out->clean == MR_FILE_CLEAN_ARCHIVE && is_inside(out->archive_dir, out->path))
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "source \"%s\": sourceArchiveDir %s lies in the source's folder: "
                                 "archived files would be read again",
                                 table->name, out->archive_dir);
    return settle_base(table, out, err);
}
