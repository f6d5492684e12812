/* file_list.h - finding files: a folder (and those below it), one file, or a pattern.
 *
 * Rule     Names that begin with "." or "_" are hidden, as in Spark, but "_name=value" is not.
 */
#pragma once
#include "core/base/env.h"
#include "core/base/error.h"
#include "core/mem/arena.h"

struct mr_file_entry {
    const char *path;
    int64_t mtime_us;
    uint64_t size;
};

struct mr_file_list {
    struct mr_arena *arena; /* of the entries and paths */
    struct mr_file_entry *entries;
    uint32_t n, capacity;
};

/* is_known: paths that need no entry (and no stat). A path that is not there gives no entries. */
MR_NODISCARD enum mr_status mr_file_list(struct mr_env *env, const char *path,
                                         const char *name_glob,
                                         bool (*is_known)(void *arg, const char *path), void *arg,
                                         struct mr_file_list *out, struct mr_error *err);
bool mr_file_is_pattern(const char *path);
