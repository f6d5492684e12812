#include "io/posix/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_FDS_MAX = 128 };

int mr_posix_stat(struct mr_env *env, const char *path, struct mr_file_stat *out)
{
    struct stat st;

    (void)env;
    if (stat(path, &st) != 0)
        return -errno;
    out->size = (uint64_t)st.st_size;
    out->mtime_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
    out->is_dir = S_ISDIR(st.st_mode);
    out->is_special = !out->is_dir && !S_ISREG(st.st_mode);
    return 0;
}

int mr_posix_rename(struct mr_env *env, const char *from, const char *to)
{
    (void)env;
    return rename(from, to) == 0 ? 0 : -errno;
}

int mr_posix_link(struct mr_env *env, const char *from, const char *to)
{
    (void)env;
    return link(from, to) == 0 ? 0 : -errno;
}

int mr_posix_unlink(struct mr_env *env, const char *path)
{
    (void)env;
    return unlink(path) == 0 ? 0 : -errno;
}

int mr_posix_make_dir(struct mr_env *env, const char *path)
{
    (void)env;
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

int mr_posix_sync_dir(struct mr_env *env, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)env;
    if (fd < 0)
        return -errno;
    int rc = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

static bool is_dir_at(DIR *dir, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static void end_listing(struct mr_posix_env *p)
{
    if (p->listing)
        closedir(p->listing);
    p->listing = NULL;
}

int mr_posix_list(struct mr_env *env, const char *path,
                  bool (*seen)(void *arg, const char *name, bool is_dir), void *arg)
{
    struct mr_posix_env *p = (struct mr_posix_env *)(void *)env;
    struct dirent *entry;

    end_listing(p);
    DIR *dir = p->listing = opendir(path);
    if (dir == NULL)
        return -errno;
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!seen(arg, entry->d_name, is_dir_at(dir, entry)))
            break;
    }
    int rc = entry == NULL ? -errno : 0;
    end_listing(p);
    return rc;
}

void mr_posix_fini(struct mr_env *env)
{
    end_listing((struct mr_posix_env *)(void *)env);
    free(env);
}

static int64_t clock_us(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t mr_posix_now_us(struct mr_env *env)
{
    (void)env;
    return clock_us(CLOCK_REALTIME);
}

int64_t mr_posix_monotonic_us(struct mr_env *env)
{
    (void)env;
    return clock_us(CLOCK_MONOTONIC);
}

void mr_posix_sleep_us(struct mr_env *env, int64_t us)
{
    struct timespec t = {us / 1000000, (us % 1000000) * 1000};

    (void)env;
    while (us > 0 && clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

/* An interrupted wait is one that is over: the caller looks again anyway. */
int mr_posix_wait(struct mr_env *env, const int *fds, uint32_t n, int64_t us)
{
    struct pollfd polls[WAIT_FDS_MAX];
    struct timespec t = {us / 1000000, (us % 1000000) * 1000};

    (void)env;
    if (n > WAIT_FDS_MAX)
        n = WAIT_FDS_MAX;
    for (uint32_t i = 0; i < n; i++)
        polls[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    int rc = ppoll(polls, n, us < 0 ? NULL : &t, NULL);
    if (rc < 0)
        return errno == EINTR ? 0 : -errno;
    return rc > 0;
}

uint64_t mr_posix_random(struct mr_env *env)
{
    uint64_t bits;

    (void)env;
    while (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        ;
    return bits;
}
