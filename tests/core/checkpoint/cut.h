/* cut.h - an env whose disk forgets at a power cut what was not synced: each sector of 512 bytes
 * that was written since its file's last sync keeps its new content or gets its old one back, at
 * random. For tests; names (renames, unlinks) are durable at once.
 */
#pragma once
#include "core/base/env.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CUT_SECTOR = 512 };

struct cut_write { /* one sector before it was written */
    struct cut_write *next;
    char path[300];
    uint64_t offset;
    bool is_forgotten; /* its sync failed: the system takes it for durable, and it is not */
    char old[CUT_SECTOR];
};

struct cut_env {
    struct mr_env env;
    struct mr_env *inner;
    struct cut_write *writes; /* newest first */
    struct mr_file *files;    /* open ones: a rename changes their paths */
    uint64_t syncs, fail_at;  /* the sync that fails; 0: none */
};

struct mr_file {
    struct mr_file *next;
    struct cut_env *env;
    struct mr_file *inner;
    char path[300];
};

static struct mr_env *cut_inner(struct mr_env *env)
{
    return ((struct cut_env *)(void *)env)->inner;
}

static int cut_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    struct mr_env *inner = cut_inner(env);
    struct mr_file *f = calloc(1, sizeof *f);

    f->env = (struct cut_env *)(void *)env;
    snprintf(f->path, sizeof f->path, "%s", path);
    int rc = inner->ops->open(inner, path, flags & ~MR_OPEN_DIRECT, &f->inner);
    if (rc < 0) {
        free(f);
        return rc;
    }
    f->next = f->env->files;
    *file = f->env->files = f;
    return rc;
}

static void cut_close(struct mr_file *file)
{
    struct mr_file **at = &file->env->files;

    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    file->env->inner->ops->close(file->inner);
    free(file);
}

static int64_t cut_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    return file->env->inner->ops->read(file->inner, data, bytes, offset);
}

static void cut_note(struct cut_env *c, const char *path, uint64_t offset)
{
    struct cut_write *w;
    struct mr_file *f;

    for (w = c->writes; w; w = w->next) {
        if (w->is_forgotten && w->offset == offset && strcmp(w->path, path) == 0) {
            w->is_forgotten = false;
            return;
        }
    }
    w = calloc(1, sizeof *w);
    snprintf(w->path, sizeof w->path, "%s", path);
    w->offset = offset;
    if (c->inner->ops->open(c->inner, path, MR_OPEN_READ, &f) == 0) {
        (void)c->inner->ops->read(f, w->old, CUT_SECTOR, offset); /* behind the end: zeros */
        c->inner->ops->close(f);
    }
    w->next = c->writes;
    c->writes = w;
}

static int64_t cut_write_file(struct mr_file *file, const void *data, uint64_t bytes,
                              uint64_t offset)
{
    for (uint64_t at = offset & ~(uint64_t)(CUT_SECTOR - 1); at < offset + bytes; at += CUT_SECTOR)
        cut_note(file->env, file->path, at);
    return file->env->inner->ops->write(file->inner, data, bytes, offset);
}

static int cut_sync(struct mr_file *file)
{
    if (++file->env->syncs == file->env->fail_at) {
        for (struct cut_write *w = file->env->writes; w; w = w->next)
            w->is_forgotten |= strcmp(w->path, file->path) == 0;
        return -EIO;
    }
    for (struct cut_write **at = &file->env->writes; *at;) {
        struct cut_write *w = *at;
        if (strcmp(w->path, file->path) == 0 && !w->is_forgotten) {
            *at = w->next;
            free(w);
        } else {
            at = &w->next;
        }
    }
    return file->env->inner->ops->sync(file->inner);
}

static int64_t cut_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                              uint64_t offset)
{
    int64_t n = cut_write_file(file, data, bytes, offset);
    int rc = n < 0 ? 0 : cut_sync(file);

    return rc < 0 ? rc : n;
}

static int cut_lock(struct mr_file *file)
{
    return file->env->inner->ops->lock(file->inner);
}

static int cut_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    return cut_inner(env)->ops->stat(cut_inner(env), path, out);
}

static int cut_rename(struct mr_env *env, const char *from, const char *to)
{
    struct cut_env *c = (struct cut_env *)(void *)env;

    for (struct cut_write *w = c->writes; w; w = w->next) {
        if (strcmp(w->path, to) == 0)
            w->path[0] = '\0'; /* that file is gone */
        else if (strcmp(w->path, from) == 0)
            snprintf(w->path, sizeof w->path, "%s", to);
    }
    for (struct mr_file *f = c->files; f; f = f->next) {
        if (strcmp(f->path, from) == 0)
            snprintf(f->path, sizeof f->path, "%s", to);
    }
    return c->inner->ops->rename(c->inner, from, to);
}

static int cut_unlink(struct mr_env *env, const char *path)
{
    return cut_inner(env)->ops->unlink(cut_inner(env), path);
}

static int cut_make_dir(struct mr_env *env, const char *path)
{
    return cut_inner(env)->ops->make_dir(cut_inner(env), path);
}

static int cut_sync_dir(struct mr_env *env, const char *path)
{
    return cut_inner(env)->ops->sync_dir(cut_inner(env), path);
}

static int cut_list(struct mr_env *env, const char *path,
                    bool (*seen)(void *arg, const char *name, bool is_dir), void *arg)
{
    return cut_inner(env)->ops->list(cut_inner(env), path, seen, arg);
}

static int64_t cut_monotonic_us(struct mr_env *env)
{
    return cut_inner(env)->ops->monotonic_us(cut_inner(env));
}

static uint64_t cut_random(struct mr_env *env)
{
    return cut_inner(env)->ops->random(cut_inner(env));
}

static void cut_fini(struct mr_env *env)
{
    cut_inner(env)->ops->fini(cut_inner(env));
    free(env);
}

static const struct mr_env_ops cut_ops = {
    .name = "cut",
    .open = cut_open,
    .close = cut_close,
    .read = cut_read,
    .write = cut_write_file,
    .sync = cut_sync,
    .write_sync = cut_write_sync,
    .lock = cut_lock,
    .stat = cut_stat,
    .rename = cut_rename,
    .unlink = cut_unlink,
    .make_dir = cut_make_dir,
    .sync_dir = cut_sync_dir,
    .list = cut_list,
    .monotonic_us = cut_monotonic_us,
    .random = cut_random,
    .fini = cut_fini,
};

/* Takes inner. */
static struct mr_env *cut_env_open(struct mr_env *inner)
{
    struct cut_env *c = calloc(1, sizeof *c);

    c->env.ops = &cut_ops;
    c->inner = inner;
    return &c->env;
}

/* The power cut: files must be closed. */
static void cut_power(struct mr_env *env, uint64_t seed)
{
    struct cut_env *c = (struct cut_env *)(void *)env;

    for (struct cut_write *w = c->writes, *next; w; w = next) {
        struct mr_file *f;
        next = w->next;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if ((seed >> 40) % 3 && c->inner->ops->open(c->inner, w->path, MR_OPEN_WRITE, &f) == 0) {
            (void)c->inner->ops->write(f, w->old, CUT_SECTOR, w->offset);
            c->inner->ops->close(f);
        }
        free(w);
    }
    c->writes = NULL;
}
