/* The env of the world: files, clock and chance, and what goes wrong with them. */
#include "tests/sim/sim.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mr_file {
    struct disk_file *file;
    char path[256];
    struct {
        void *data;
        uint64_t bytes, offset;
    } ahead; /* of read_start */
};

struct world *the_world;

static void vnote(const char *format, va_list args)
{
    struct world *w = the_world;
    if (!w->is_alive && format[0] != '=')
        return; /* the judge looks */
    char *line = w->notes[w->notes_n++ % NOTES];

    vsnprintf(line, NOTE_BYTES, format, args);
    for (const char *c = line; *c; c++)
        w->hash = (w->hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    if (w->shows_all)
        fprintf(stderr, "  %6llu %s\n", (unsigned long long)w->steps, line);
}

/* Without the folder of this run, which has another name each time. */
static const char *brief(const char *path)
{
    const struct world *w = the_world;

    return strlen(path) < w->root_bytes ? "" : path + w->root_bytes;
}

void world_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vnote(format, args);
    va_end(args);
}

void world_show_notes(void)
{
    const struct world *w = the_world;
    uint64_t first = w->notes_n > NOTES ? w->notes_n - NOTES : 0;

    for (uint64_t i = first; i < w->notes_n; i++)
        fprintf(stderr, "  %s\n", w->notes[i % NOTES]);
}

void world_step(enum step_kind kind, const char *format, ...)
{
    struct world *w = the_world;
    va_list args;

    va_start(args, format);
    vnote(format, args);
    va_end(args);
    w->steps++;
    w->counts[kind]++;
    w->clock_us += (int64_t)chance_below(&w->chance, 2000);
    bool is_death = w->fault.kind == FAULT_KILL || w->fault.kind == FAULT_CUT;
    if (is_death && w->is_alive && w->steps == w->fault.at) {
        w->is_fault_done = true;
        longjmp(w->death, 1);
    }
}

bool world_fails(enum fault_kind kind)
{
    static const enum step_kind of[] = {
        [FAULT_WRITE] = STEP_WRITE, [FAULT_TORN] = STEP_WRITE, [FAULT_SYNC] = STEP_SYNC,
        [FAULT_NAME] = STEP_NAME,   [FAULT_READ] = STEP_READ,  [FAULT_TOPIC] = STEP_TOPIC,
        [FAULT_ANSWER] = STEP_TOPIC};
    struct world *w = the_world;

    if (!w->is_alive || w->fault.kind != kind || w->counts[of[kind]] != w->fault.at)
        return false;
    w->is_fault_done = true;
    world_note("! this one fails");
    return true;
}

static int sim_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    struct world *w = the_world;
    struct mr_file *f = calloc(1, sizeof *f);

    (void)env;
    world_step(flags & MR_OPEN_CREATE ? STEP_NAME : STEP_OTHER, "open %s %d", brief(path), flags);
    if (f == NULL || strlen(path) >= sizeof f->path)
        abort();
    int rc = (flags & MR_OPEN_CREATE) && world_fails(FAULT_NAME)
                 ? -EMFILE
                 : disk_open(&w->disk, path, flags, w->clock_us, &f->file);
    strcpy(f->path, path);
    if (rc == 0)
        *file = f;
    else
        free(f);
    return rc;
}

static void sim_close(struct mr_file *file)
{
    world_step(STEP_OTHER, "close %s", brief(file->path));
    file->file->is_locked = false;
    free(file);
}

static int64_t sim_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    world_step(STEP_READ, "read %s %llu at %llu", brief(file->path), (unsigned long long)bytes,
               (unsigned long long)offset);
    return world_fails(FAULT_READ) ? -EIO : disk_read(file->file, data, bytes, offset);
}

/* The first bytes of a write are there before a process dies in it. */
static int64_t sim_write(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset)
{
    struct world *w = the_world;
    uint64_t first = chance_below(&w->chance, bytes + 1);

    disk_write(file->file, data, first, offset);
    world_step(STEP_WRITE, "write %s %llu at %llu", brief(file->path), (unsigned long long)bytes,
               (unsigned long long)offset);
    if (world_fails(FAULT_WRITE) || world_fails(FAULT_TORN))
        return w->fault.kind == FAULT_WRITE ? -EIO : -ENOSPC;
    disk_write(file->file, (const uint8_t *)data + first, bytes - first, offset + first);
    return (int64_t)bytes;
}

static bool is_forgotten(const char *path)
{
    static const char *const of[] = {
        [BREAK_LOG] = "/chk/log/", [BREAK_SINK] = "/out/", [BREAK_MARKER] = NULL};
    enum breakage broken = the_world->broken;

    return (broken == BREAK_LOG || broken == BREAK_SINK) && strstr(path, of[broken]) != NULL;
}

static int sim_sync(struct mr_file *file)
{
    world_step(STEP_SYNC, "sync %s", brief(file->path));
    if (world_fails(FAULT_SYNC)) {
        disk_sync_failed(file->file);
        return -EIO;
    }
    if (!is_forgotten(file->path))
        disk_sync(file->file);
    return 0;
}

static int64_t sim_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                              uint64_t offset)
{
    int64_t n = sim_write(file, data, bytes, offset);
    int rc = n < 0 ? 0 : sim_sync(file);

    return rc < 0 ? rc : n;
}

static int sim_truncate(struct mr_file *file, uint64_t bytes)
{
    world_step(STEP_WRITE, "truncate %s to %llu", brief(file->path), (unsigned long long)bytes);
    if (world_fails(FAULT_WRITE) || world_fails(FAULT_TORN))
        return -EIO;
    disk_resize(file->file, bytes);
    return 0;
}

static int sim_allocate(struct mr_file *file, uint64_t bytes)
{
    world_step(STEP_WRITE, "allocate %s to %llu", brief(file->path), (unsigned long long)bytes);
    if (world_fails(FAULT_WRITE) || world_fails(FAULT_TORN))
        return -ENOSPC;
    if (bytes > file->file->now.n)
        disk_resize(file->file, bytes);
    return 0;
}

static int sim_read_start(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    file->ahead.data = data;
    file->ahead.bytes = bytes;
    file->ahead.offset = offset;
    return 0;
}

static int64_t sim_read_wait(struct mr_file *file)
{
    return sim_read(file, file->ahead.data, file->ahead.bytes, file->ahead.offset);
}

static int sim_lock(struct mr_file *file)
{
    world_step(STEP_OTHER, "lock %s", brief(file->path));
    if (file->file->is_locked)
        return -EWOULDBLOCK;
    file->file->is_locked = true;
    return 0;
}

static int sim_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    (void)env;
    world_step(STEP_OTHER, "stat %s", brief(path));
    return disk_stat(&the_world->disk, path, out);
}

static int sim_rename(struct mr_env *env, const char *from, const char *to)
{
    (void)env;
    world_step(STEP_NAME, "rename %s %s", brief(from), brief(to));
    return world_fails(FAULT_NAME) ? -EIO : disk_rename(&the_world->disk, from, to);
}

static int sim_link(struct mr_env *env, const char *from, const char *to)
{
    (void)env;
    world_step(STEP_NAME, "link %s %s", brief(from), brief(to));
    return world_fails(FAULT_NAME) ? -EIO : disk_link(&the_world->disk, from, to);
}

static int sim_unlink(struct mr_env *env, const char *path)
{
    (void)env;
    world_step(STEP_NAME, "unlink %s", brief(path));
    return world_fails(FAULT_NAME) ? -EIO : disk_unlink(&the_world->disk, path);
}

static int sim_make_dir(struct mr_env *env, const char *path)
{
    (void)env;
    world_step(STEP_NAME, "mkdir %s", brief(path));
    return world_fails(FAULT_NAME) ? -EIO : disk_make_dir(&the_world->disk, path);
}

static int sim_sync_dir(struct mr_env *env, const char *path)
{
    (void)env;
    world_step(STEP_SYNC, "syncdir %s", brief(path));
    if (world_fails(FAULT_SYNC))
        return -EIO;
    return the_world->broken == BREAK_NAMES ? 0 : disk_sync_dir(&the_world->disk, path);
}

/* In another order each time. */
static int sim_list(struct mr_env *env, const char *path,
                    bool (*seen)(void *arg, const char *name, bool is_dir), void *arg)
{
    struct world *w = the_world;
    const struct disk_names *names = &w->disk.now;
    size_t length = strlen(path);
    struct mr_file_stat stat;

    (void)env;
    world_step(STEP_OTHER, "list %s", brief(path));
    int rc = disk_stat(&w->disk, path, &stat);
    if (rc < 0 || !stat.is_dir)
        return rc < 0 ? rc : -ENOTDIR;
    uint32_t n = names->n, from = (uint32_t)chance_below(&w->chance, n);
    struct disk_name *all = malloc(n * sizeof *all);
    if (all == NULL)
        abort();
    memcpy(all, names->all, n * sizeof *all); /* seen may change names */
    for (uint32_t i = 0; i < n; i++) {
        const struct disk_name *name = &all[(from + i) % n];
        if (strncmp(name->path, path, length) != 0 || name->path[length] != '/' ||
            strchr(name->path + length + 1, '/'))
            continue;
        if (!seen(arg, name->path + length + 1, name->file->is_dir))
            break;
    }
    free(all);
    return 0;
}

static int64_t sim_monotonic_us(struct mr_env *env)
{
    (void)env;
    return the_world->clock_us += 1;
}

/* The wall clock may be set forth and back, an hour at most. */
static int64_t sim_now_us(struct mr_env *env)
{
    struct world *w = the_world;

    if (w->fault.jumps && chance_one_in(&w->chance, 4))
        w->jumped_us = (int64_t)chance_below(&w->chance, 7200000000) - 3600000000;
    return sim_monotonic_us(env) + w->jumped_us;
}

static void sim_sleep_us(struct mr_env *env, int64_t us)
{
    (void)env;
    world_step(STEP_OTHER, "sleep %lld", (long long)us);
    the_world->clock_us += us;
}

static int sim_wait(struct mr_env *env, const int *fds, uint32_t n, int64_t us)
{
    (void)fds, (void)n;
    sim_sleep_us(env, us);
    return 0;
}

static uint64_t sim_random(struct mr_env *env)
{
    (void)env;
    return chance_next(&the_world->chance);
}

static void sim_fini(struct mr_env *env)
{
    (void)env; /* all share the world's */
}

static const struct mr_env_ops sim_ops = {
    .name = "simulator",
    .open = sim_open,
    .close = sim_close,
    .read = sim_read,
    .write = sim_write,
    .sync = sim_sync,
    .write_sync = sim_write_sync,
    .truncate = sim_truncate,
    .allocate = sim_allocate,
    .read_start = sim_read_start,
    .read_wait = sim_read_wait,
    .lock = sim_lock,
    .stat = sim_stat,
    .rename = sim_rename,
    .link = sim_link,
    .unlink = sim_unlink,
    .make_dir = sim_make_dir,
    .sync_dir = sim_sync_dir,
    .list = sim_list,
    .now_us = sim_now_us,
    .monotonic_us = sim_monotonic_us,
    .sleep_us = sim_sleep_us,
    .wait = sim_wait,
    .random = sim_random,
    .fini = sim_fini,
};

void world_init(struct world *w, uint64_t seed, const char *root)
{
    *w = (struct world){.env.ops = &sim_ops,
                        .chance.state = seed,
                        .clock_us = 1767225600000000,
                        .hash = UINT64_C(0xcbf29ce484222325),
                        .root_bytes = (uint32_t)strlen(root) + 1};
    disk_init(&w->disk, root);
    topic_init(&w->topic);
}
