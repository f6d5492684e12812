#include "tests/sim/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512 };

/* Memory is given back when the process ends: it runs one seed. */
static void *grow(void *old, uint64_t bytes)
{
    void *p = realloc(old, bytes);

    if (p == NULL)
        abort();
    return p;
}

static char *copy(const char *text)
{
    return strcpy(grow(NULL, strlen(text) + 1), text);
}

static void bytes_resize(struct disk_bytes *b, uint64_t n)
{
    if (n > b->capacity) {
        b->capacity = n * 2;
        b->data = grow(b->data, b->capacity);
    }
    if (n > b->n)
        memset(b->data + b->n, 0, n - b->n);
    b->n = n;
}

static void bytes_write(struct disk_bytes *b, const void *data, uint64_t bytes, uint64_t offset)
{
    if (bytes == 0)
        return;
    if (offset + bytes > b->n)
        bytes_resize(b, offset + bytes);
    memcpy(b->data + offset, data, bytes);
}

static void bytes_apply(struct disk_bytes *b, const struct disk_change *c)
{
    if (c->is_size)
        bytes_resize(b, c->offset);
    else
        bytes_write(b, c->data, c->bytes, c->offset);
}

static struct disk_file *new_file(bool is_dir, int64_t mtime_us)
{
    struct disk_file *f = grow(NULL, sizeof *f);

    *f = (struct disk_file){.is_dir = is_dir, .mtime_us = mtime_us};
    f->end = &f->first;
    return f;
}

static uint32_t find(const struct disk_names *names, const char *path)
{
    uint32_t i = 0;

    while (i < names->n && strcmp(names->all[i].path, path) != 0)
        i++;
    return i;
}

static struct disk_file *file_at(const struct disk_names *names, const char *path)
{
    uint32_t i = find(names, path);

    return i < names->n ? names->all[i].file : NULL;
}

static void remove_name(struct disk_names *names, const char *path)
{
    uint32_t i = find(names, path);

    if (i < names->n)
        names->all[i] = names->all[--names->n];
}

static void set_name(struct disk_names *names, const char *path, struct disk_file *file)
{
    uint32_t i = find(names, path);

    if (i == names->n) {
        if (names->n == names->capacity) {
            names->capacity = names->capacity * 2 + 16;
            names->all = grow(names->all, names->capacity * sizeof *names->all);
        }
        names->all[names->n++].path = copy(path);
    }
    names->all[i].file = file;
}

static bool is_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return (size_t)(strrchr(path, '/') - path) == n && memcmp(path, folder, n) == 0;
}

static bool parent_is_there(const struct disk_names *names, const char *path)
{
    char *folder = copy(path);
    char *slash = strrchr(folder, '/');

    if (slash == NULL)
        abort(); /* only full paths */
    *slash = '\0';
    const struct disk_file *f = file_at(names, folder);
    free(folder);
    return f && f->is_dir;
}

static void apply_names(struct disk_names *names, const struct disk_renaming *r)
{
    if (r->from)
        remove_name(names, r->from);
    if (r->to)
        set_name(names, r->to, r->file);
}

static void change_names(struct disk *d, const char *from, const char *to, struct disk_file *file)
{
    struct disk_renaming r = {from ? copy(from) : NULL, to ? copy(to) : NULL, file};

    if (d->waiting_n == d->waiting_capacity) {
        d->waiting_capacity = d->waiting_capacity * 2 + 16;
        d->waiting = grow(d->waiting, d->waiting_capacity * sizeof *d->waiting);
    }
    d->waiting[d->waiting_n++] = r;
    apply_names(&d->now, &r);
}

void disk_init(struct disk *d, const char *root)
{
    char *path = copy(root);

    *d = (struct disk){0};
    for (size_t n = 0; n <= strlen(root); n++) {
        if (root[n] != '/' && root[n] != '\0')
            continue;
        path[n] = '\0';
        disk_put(d, path, NULL, 0, 0);
        path[n] = root[n];
    }
    free(path);
}

void disk_put(struct disk *d, const char *path, const void *data, uint64_t bytes, int64_t mtime_us)
{
    struct disk_file *f = new_file(data == NULL, mtime_us);

    bytes_write(&f->now, data, bytes, 0);
    bytes_write(&f->durable, data, bytes, 0);
    set_name(&d->now, path, f);
    set_name(&d->durable, path, f);
}

int disk_open(struct disk *d, const char *path, int flags, int64_t now_us, struct disk_file **file)
{
    struct disk_file *f = file_at(&d->now, path);

    if (f == NULL) {
        if (!(flags & MR_OPEN_CREATE) || !parent_is_there(&d->now, path))
            return -ENOENT;
        f = new_file(false, now_us);
        change_names(d, NULL, path, f);
    } else if (flags & MR_OPEN_EXCLUSIVE) {
        return -EEXIST;
    }
    if (f->is_dir)
        return -EISDIR;
    if (flags & MR_OPEN_TRUNCATE)
        disk_resize(f, 0);
    *file = f;
    return 0;
}

int64_t disk_read(const struct disk_file *f, void *data, uint64_t bytes, uint64_t offset)
{
    if (offset >= f->now.n)
        return 0;
    if (bytes > f->now.n - offset)
        bytes = f->now.n - offset;
    memcpy(data, f->now.data + offset, bytes);
    return (int64_t)bytes;
}

static void change_bytes(struct disk_file *f, const void *data, uint64_t bytes, uint64_t offset,
                         bool is_size)
{
    struct disk_change *c = grow(NULL, sizeof *c + bytes);

    *c = (struct disk_change){.offset = offset, .bytes = bytes, .is_size = is_size};
    if (bytes)
        memcpy(c->data, data, bytes);
    *f->end = c;
    f->end = &c->next;
    bytes_apply(&f->now, c);
}

void disk_write(struct disk_file *f, const void *data, uint64_t bytes, uint64_t offset)
{
    change_bytes(f, data, bytes, offset, false);
}

void disk_resize(struct disk_file *f, uint64_t bytes)
{
    if (bytes != f->now.n)
        change_bytes(f, NULL, 0, bytes, true);
}

static void forget_changes(struct disk_file *f)
{
    while (f->first) {
        struct disk_change *next = f->first->next;
        free(f->first);
        f->first = next;
    }
    f->end = &f->first;
}

void disk_sync(struct disk_file *f)
{
    for (const struct disk_change *c = f->first; c; c = c->next)
        bytes_apply(&f->durable, c);
    forget_changes(f);
}

void disk_sync_failed(struct disk_file *f)
{
    forget_changes(f);
}

int disk_stat(const struct disk *d, const char *path, struct mr_file_stat *out)
{
    const struct disk_file *f = file_at(&d->now, path);

    if (f == NULL)
        return -ENOENT;
    *out = (struct mr_file_stat){.size = f->now.n, .mtime_us = f->mtime_us, .is_dir = f->is_dir};
    return 0;
}

/* Of files, within a folder: what the engine does. */
int disk_rename(struct disk *d, const char *from, const char *to)
{
    struct disk_file *f = file_at(&d->now, from);

    if (f == NULL || !parent_is_there(&d->now, to))
        return -ENOENT;
    if (f->is_dir || strncmp(from, to, (size_t)(strrchr(from, '/') - from) + 1) != 0)
        return -EXDEV;
    change_names(d, from, to, f);
    return 0;
}

int disk_link(struct disk *d, const char *from, const char *to)
{
    struct disk_file *f = file_at(&d->now, from);

    if (f == NULL || !parent_is_there(&d->now, to))
        return -ENOENT;
    if (file_at(&d->now, to))
        return -EEXIST;
    change_names(d, NULL, to, f);
    return 0;
}

int disk_unlink(struct disk *d, const char *path)
{
    const struct disk_file *f = file_at(&d->now, path);

    if (f == NULL)
        return -ENOENT;
    if (f->is_dir)
        return -EISDIR;
    change_names(d, path, NULL, NULL);
    return 0;
}

int disk_make_dir(struct disk *d, const char *path)
{
    const struct disk_file *f = file_at(&d->now, path);

    if (f)
        return f->is_dir ? 0 : -EEXIST;
    if (!parent_is_there(&d->now, path))
        return -ENOENT;
    change_names(d, NULL, path, new_file(true, 0));
    return 0;
}

static bool is_of_folder(const struct disk_renaming *r, const char *folder)
{
    return is_in(r->from ? r->from : r->to, folder);
}

int disk_sync_dir(struct disk *d, const char *path)
{
    const struct disk_file *f = file_at(&d->now, path);
    uint32_t kept = 0;

    if (f == NULL || !f->is_dir)
        return -ENOENT;
    for (uint32_t i = 0; i < d->waiting_n; i++) {
        if (is_of_folder(&d->waiting[i], path))
            apply_names(&d->durable, &d->waiting[i]);
        else
            d->waiting[kept++] = d->waiting[i];
    }
    d->waiting_n = kept;
    return 0;
}

void disk_unlock_all(struct disk *d)
{
    for (uint32_t i = 0; i < d->now.n; i++)
        d->now.all[i].file->is_locked = false;
}

static void cut_sectors(struct disk_bytes *b, const struct disk_change *c, struct chance *chance)
{
    for (uint64_t at = 0; at < c->bytes; at += SECTOR)
        if (chance_one_in(chance, 2))
            bytes_write(b, c->data + at, c->bytes - at < SECTOR ? c->bytes - at : SECTOR,
                        c->offset + at);
}

static void cut_file(struct disk_file *f, struct chance *chance)
{
    enum { NONE, ALL, SOME, SECTORS, WAYS } how = (int)chance_below(chance, WAYS);

    for (const struct disk_change *c = f->first; c; c = c->next) {
        if (how == NONE || (how == SOME && chance_one_in(chance, 2)))
            continue;
        if (how == SECTORS && !c->is_size)
            cut_sectors(&f->durable, c, chance);
        else
            bytes_apply(&f->durable, c);
    }
    forget_changes(f);
    f->now.n = 0;
    bytes_write(&f->now, f->durable.data, f->durable.n, 0);
}

/* Of the changes of each folder the first few. */
static void cut_names(struct disk *d, struct chance *chance)
{
    for (uint32_t i = 0; i < d->waiting_n; i++) {
        const struct disk_renaming *first = &d->waiting[i];
        if (first->from == NULL && first->to == NULL)
            continue;
        const char *path = first->from ? first->from : first->to;
        char *folder = copy(path);
        *strrchr(folder, '/') = '\0';
        bool is_kept = true;
        for (uint32_t j = i; j < d->waiting_n; j++) {
            struct disk_renaming *r = &d->waiting[j];
            if ((r->from == NULL && r->to == NULL) || !is_of_folder(r, folder))
                continue;
            is_kept = is_kept && !chance_one_in(chance, 3);
            if (is_kept)
                apply_names(&d->durable, r);
            *r = (struct disk_renaming){0};
        }
        free(folder);
    }
    d->waiting_n = 0;
}

void disk_power_cut(struct disk *d, struct chance *chance)
{
    bool is_gone = true;

    cut_names(d, chance);
    while (is_gone) {
        is_gone = false;
        for (uint32_t i = 0; i < d->durable.n; i++) {
            const char *path = d->durable.all[i].path;
            if (*path && !parent_is_there(&d->durable, path)) {
                remove_name(&d->durable, path);
                is_gone = true;
                break;
            }
        }
    }
    d->now.n = 0;
    for (uint32_t i = 0; i < d->durable.n; i++) {
        struct disk_file *f = d->durable.all[i].file;
        if (!f->is_dir)
            cut_file(f, chance);
        f->is_locked = false;
        set_name(&d->now, d->durable.all[i].path, f);
    }
}
