/* env.h - the outside world as one table of functions: files, clock, randomness.
 *
 * Why      All of time, disk and chance goes through here, so that a test can replace it: io/uring
 *          and io/posix implement it for real, the simulator and fault modules for tests.
 * Errors   Functions give 0 or more, or -errno. Short reads and writes are handled by the
 *          implementation: a read gives less only at the end of the file.
 * fsync    An error of sync is final: the caller must give the file up, never try again.
 * Threads  Each thread opens an env of its own (a ring per thread); files may not be shared.
 */
#pragma once
#include "core/base/error.h"
#include <stdbool.h>
#include <stdint.h>

struct mr_env;
struct mr_file; /* opaque, of the implementation */

enum mr_open_flags {
    MR_OPEN_READ = 1,
    MR_OPEN_WRITE = 2,
    MR_OPEN_CREATE = 4,    /* make it if it is not there */
    MR_OPEN_EXCLUSIVE = 8, /* it must not be there */
    MR_OPEN_TRUNCATE = 16,
    MR_OPEN_DIRECT = 32, /* O_DIRECT where the file system has it; buffers, offsets, sizes multiples
                            of 4096 */
};

struct mr_file_stat {
    uint64_t size;
    int64_t mtime_us;
    bool is_dir;
    bool is_special; /* a pipe, socket or device: reading it might never end */
};

/* One durable append: write, then fdatasync, as one linked chain where the back end can. */
struct mr_env_ops {
    const char *name; /* "io_uring", "syscalls", "simulator" */
    int (*open)(struct mr_env *env, const char *path, int flags, struct mr_file **file);
    void (*close)(struct mr_file *file);
    int64_t (*read)(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset);
    int64_t (*write)(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset);
    int (*sync)(struct mr_file *file); /* fdatasync */
    int64_t (*write_sync)(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset);
    int (*truncate)(struct mr_file *file, uint64_t bytes);
    int (*allocate)(struct mr_file *file, uint64_t bytes); /* blocks reserved up to bytes */
    /* A read that is waited for later; at most one a file. Back ends without it read at once. */
    int (*read_start)(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset);
    int64_t (*read_wait)(struct mr_file *file);
    int (*lock)(struct mr_file *file); /* exclusive, not waiting: -EWOULDBLOCK if held elsewhere */

    int (*stat)(struct mr_env *env, const char *path, struct mr_file_stat *out);
    int (*rename)(struct mr_env *env, const char *from, const char *to);
    int (*link)(struct mr_env *env, const char *from, const char *to); /* -EEXIST if to is there */
    int (*unlink)(struct mr_env *env, const char *path);
    int (*make_dir)(struct mr_env *env, const char *path); /* -EEXIST is 0 */
    int (*sync_dir)(struct mr_env *env, const char *path);
    /* Calls seen for each entry but . and ..; seen gives false to stop, must not list, and may
     * escape by longjmp. Order is unspecified. */
    int (*list)(struct mr_env *env, const char *path,
                bool (*seen)(void *arg, const char *name, bool is_dir), void *arg);

    int64_t (*now_us)(struct mr_env *env);       /* wall clock, since 1970 */
    int64_t (*monotonic_us)(struct mr_env *env); /* for durations */
    void (*sleep_us)(struct mr_env *env, int64_t us);
    /* Sleeps until one of fds[0..n) has something to read (1) or us have passed (0). */
    int (*wait)(struct mr_env *env, const int *fds, uint32_t n, int64_t us);
    uint64_t (*random)(struct mr_env *env);
    void (*fini)(struct mr_env *env);
};

struct mr_env {
    const struct mr_env_ops *ops;
    /* Of the real one, where it is not io_uring: the reason, for the log. */
    const char *why_not_uring;
};

/* The real one, in io/. back_end: "io_uring", "syscalls", or NULL: io_uring if it works. MR_USER
 * for another name, MR_IO when io_uring is asked for and denied. One a thread; closed by
 * ops->fini. */
MR_NODISCARD enum mr_status mr_env_open(const char *back_end, struct mr_env **out,
                                        struct mr_error *err);

/* Makes dir and each missing parent, and syncs the parent of each that it made, and of the last one
 * that it found: who made that may have ended before its sync. */
int mr_env_make_dirs(struct mr_env *env, const char *path);
/* Writes a small file so that it is there in full or not at all: path.tmp, sync, rename, sync_dir.
 */
int mr_env_write_whole(struct mr_env *env, const char *path, const void *data, uint64_t bytes);
