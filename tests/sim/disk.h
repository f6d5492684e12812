/* disk.h - a disk in memory that forgets at a power cut what was not synced.
 *
 * Files    What a file holds now, what of it is durable, and the writes between the two. At a cut
 *          each file keeps none of them, all, some, or some sectors of 512 bytes.
 * Names    Changes of names wait, by folder, for a sync of that folder. At a cut the first few of
 *          each folder are kept; what lies in a folder that is gone is gone.
 * Errors   As in env.h: -errno.
 */
#pragma once
#include "core/base/env.h"
#include "tests/sim/chance.h"

struct disk_change { /* of a file's bytes */
    struct disk_change *next;
    uint64_t offset, bytes;
    bool is_size; /* it only became offset bytes long */
    uint8_t data[];
};

struct disk_bytes {
    uint8_t *data;
    uint64_t n, capacity;
};

struct disk_file {
    bool is_dir, is_locked;
    int64_t mtime_us;
    struct disk_bytes now, durable;
    struct disk_change *first, **end;
};

struct disk_name {
    char *path;
    struct disk_file *file;
};

struct disk_names {
    struct disk_name *all;
    uint32_t n, capacity;
};

struct disk_renaming { /* a change of names; from NULL: to is new; to NULL: from is gone */
    char *from, *to;
    struct disk_file *file;
};

struct disk {
    struct disk_names now, durable;
    struct disk_renaming *waiting;
    uint32_t waiting_n, waiting_capacity;
};

/* With a folder that was always there. */
void disk_init(struct disk *d, const char *root);
/* A file that was always there; data NULL: a folder. */
void disk_put(struct disk *d, const char *path, const void *data, uint64_t bytes, int64_t mtime_us);

int disk_open(struct disk *d, const char *path, int flags, int64_t now_us, struct disk_file **file);
int64_t disk_read(const struct disk_file *f, void *data, uint64_t bytes, uint64_t offset);
void disk_write(struct disk_file *f, const void *data, uint64_t bytes, uint64_t offset);
void disk_resize(struct disk_file *f, uint64_t bytes);
void disk_sync(struct disk_file *f);
/* As Linux does after a failed write-back: the pages are clean now, a later sync passes over
 * them. */
void disk_sync_failed(struct disk_file *f);
int disk_stat(const struct disk *d, const char *path, struct mr_file_stat *out);
int disk_rename(struct disk *d, const char *from, const char *to);
int disk_link(struct disk *d, const char *from, const char *to);
int disk_unlink(struct disk *d, const char *path);
int disk_make_dir(struct disk *d, const char *path);
int disk_sync_dir(struct disk *d, const char *path);

/* A process died: its locks are gone. */
void disk_unlock_all(struct disk *d);
void disk_power_cut(struct disk *d, struct chance *chance);
