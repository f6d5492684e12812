#include "io/file/file_list.h"

#include "core/base/bounds.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

enum { FOLDERS_DEEP_MAX = 32 };

struct walk {
    struct mr_env *env;
    struct mr_file_list *out;
    const char *name_glob, *pattern; /* pattern: what a whole path must match, or NULL */
    bool (*is_known)(void *arg, const char *path);
    void *arg;
    const char *folder;
    struct mr_file_list *folders; /* still to visit */
    struct mr_buffer path;        /* of the entry at hand: most are known and leave nothing */
    int failed;                   /* errno */
    const char *failed_at;
};

bool mr_file_is_pattern(const char *path)
{
    return strpbrk(path, "*?[") != NULL;
}

/* Copies the path. */
static void add(struct mr_file_list *list, struct mr_file_entry entry)
{
    entry.path = mr_arena_copy(list->arena, entry.path, strlen(entry.path));
    if (list->n == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
        struct mr_file_entry *entries = MR_NEW_ARRAY(list->arena, struct mr_file_entry, capacity);
        if (list->n)
            memcpy(entries, list->entries, list->n * sizeof *entries);
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->n++] = entry;
}

static void see_file(struct walk *w, const char *path)
{
    const char *name = strrchr(path, '/');
    struct mr_file_stat stat;

    name = name ? name + 1 : path;
    if (w->name_glob && fnmatch(w->name_glob, name, 0) != 0)
        return;
    /* A folder that matches is read with all that is below it. */
    if (w->pattern && fnmatch(w->pattern, path, FNM_PATHNAME | FNM_LEADING_DIR) != 0)
        return;
    if (w->is_known(w->arg, path))
        return;
    int rc = w->env->ops->stat(w->env, path, &stat);
    if (rc == -ENOENT || rc == -ELOOP)
        return; /* gone meanwhile, or a link that leads nowhere */
    if (rc < 0) {
        w->failed = -rc;
        w->failed_at = mr_arena_copy(w->out->arena, path, strlen(path));
        return;
    }
    if (stat.is_special)
        return;
    add(w->out, (struct mr_file_entry){.path = path, .mtime_us = stat.mtime_us, .size = stat.size});
}

static bool seen(void *arg, const char *name, bool is_dir)
{
    struct walk *w = arg;

    if (name[0] == '.' || (name[0] == '_' && strchr(name, '=') == NULL))
        return true;
    size_t n = strlen(w->folder);
    const char *slash = n && w->folder[n - 1] == '/' ? "" : "/";
    w->path.n = 0;
    mr_buffer_append_format(&w->path, "%s%s%s", w->folder, slash, name);
    const char *path = (const char *)w->path.data; /* with the NUL of format */
    if (is_dir)
        add(w->folders, (struct mr_file_entry){.path = path});
    else
        see_file(w, path);
    return w->failed == 0;
}

static uint32_t depth_of(const char *path)
{
    uint32_t n = 0;

    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* Breadth first over the folders found. */
static enum mr_status walk_folders(struct walk *w, uint32_t base_depth, struct mr_error *err)
{
    for (uint32_t i = 0; i < w->folders->n; i++) {
        w->folder = w->folders->entries[i].path;
        if (depth_of(w->folder) > base_depth + FOLDERS_DEEP_MAX)
            return MR_FAIL(err, MR_QUERY, 0, "%s: folders lie deeper than %d", w->folder,
                           FOLDERS_DEEP_MAX);
        int rc = w->env->ops->list(w->env, w->folder, seen, w);
        if (rc < 0 && rc != -ENOENT)
            return MR_FAIL(err, MR_IO, -rc, "list %s", w->folder);
        if (w->failed)
            return MR_FAIL(err, MR_IO, w->failed, "stat %s", w->failed_at);
    }
    return MR_OK;
}

/* The part of a pattern before the first wildcard, up to its last slash. */
static const char *fixed_part(struct mr_arena *a, const char *pattern)
{
    size_t n = strcspn(pattern, "*?[");

    while (n > 0 && pattern[n - 1] != '/')
        n--;
    return n == 0 ? "." : mr_arena_copy(a, pattern, n > 1 ? n - 1 : n);
}

enum mr_status mr_file_list(struct mr_env *env, const char *path, const char *name_glob,
                            bool (*is_known)(void *arg, const char *path), void *arg,
                            struct mr_file_list *out, struct mr_error *err)
{
    struct mr_file_list folders = {.arena = out->arena};
    struct walk w = {.env = env,
                     .out = out,
                     .name_glob = name_glob,
                     .is_known = is_known,
                     .arg = arg,
                     .folders = &folders};
    struct mr_file_stat stat;
    const char *root = path;

    mr_buffer_init(&w.path, out->arena);
    if (mr_file_is_pattern(path)) {
        root = fixed_part(out->arena, path);
        size_t n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
            n--;
        w.pattern =
            mr_arena_format(out->arena, "%s%.*s",
                            strcmp(root, ".") == 0 && path[0] != '.' ? "./" : "", (int)n, path);
    } else {
        int rc = env->ops->stat(env, path, &stat);
        if (rc == -ENOENT)
            return MR_OK;
        if (rc < 0)
            return MR_FAIL(err, MR_IO, -rc, "stat %s", path);
        if (!stat.is_dir) {
            see_file(&w, path);
            return w.failed ? MR_FAIL(err, MR_IO, w.failed, "stat %s", path) : MR_OK;
        }
    }
    add(&folders, (struct mr_file_entry){.path = root});
    return walk_folders(&w, depth_of(root), err);
}
