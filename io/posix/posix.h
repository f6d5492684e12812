/* posix.h - files, clock and randomness by plain system calls.
 *
 * What     A full env of its own, and the part of the io_uring one that is no reading or writing.
 *          Its functions are named so that io/uring can put them into its table.
 * Reads    read_start tells the kernel to fetch the range, so that the disk works meanwhile.
 */
#pragma once
#include "core/base/env.h"

enum { MR_POSIX_WHY_BYTES = 128 };

struct mr_posix_env {
    struct mr_env env;
    char why_not_uring[MR_POSIX_WHY_BYTES];
    void *listing; /* DIR * of the list under way, or of one that was left by an escape */
};

struct mr_file {
    struct mr_env *env;
    int fd;
    bool is_direct;
    struct { /* of read_start */
        uint8_t *data;
        uint64_t bytes, offset;
        int64_t result;
        bool is_started, is_done;
    } ahead;
};

enum { MR_DIRECT_BYTES = 4096 }; /* alignment that every device takes */

extern const struct mr_env_ops mr_posix_ops;

int mr_posix_open(struct mr_env *env, const char *path, int flags, struct mr_file **file);
void mr_posix_close(struct mr_file *file);
int64_t mr_posix_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset);
int64_t mr_posix_write(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset);
int mr_posix_sync(struct mr_file *file);
int64_t mr_posix_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                            uint64_t offset);
int mr_posix_truncate(struct mr_file *file, uint64_t bytes);
int mr_posix_allocate(struct mr_file *file, uint64_t bytes);
int mr_posix_lock(struct mr_file *file);
int mr_posix_stat(struct mr_env *env, const char *path, struct mr_file_stat *out);
int mr_posix_rename(struct mr_env *env, const char *from, const char *to);
int mr_posix_link(struct mr_env *env, const char *from, const char *to);
int mr_posix_unlink(struct mr_env *env, const char *path);
int mr_posix_make_dir(struct mr_env *env, const char *path);
int mr_posix_sync_dir(struct mr_env *env, const char *path);
int mr_posix_list(struct mr_env *env, const char *path,
                  bool (*seen)(void *arg, const char *name, bool is_dir), void *arg);
int64_t mr_posix_now_us(struct mr_env *env);
int64_t mr_posix_monotonic_us(struct mr_env *env);
void mr_posix_sleep_us(struct mr_env *env, int64_t us);
int mr_posix_wait(struct mr_env *env, const int *fds, uint32_t n, int64_t us);
uint64_t mr_posix_random(struct mr_env *env);

/* Also of an env that begins with this one: frees it. */
void mr_posix_fini(struct mr_env *env);
/* NULL: no memory. */
struct mr_posix_env *mr_posix_env_new(const char *why_not_uring);
