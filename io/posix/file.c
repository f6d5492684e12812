#include "io/posix/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 30, /* of one call; the kernel's own limit is a little below 2 GiB */
    TRIES_MAX = 1000,      /* without progress */
};

int mr_posix_open(struct mr_env *env, const char *path, int flags, struct mr_file **file)
{
    int os = O_CLOEXEC;

    if ((flags & MR_OPEN_READ) && (flags & MR_OPEN_WRITE))
        os |= O_RDWR;
    else
        os |= flags & MR_OPEN_WRITE ? O_WRONLY : O_RDONLY;
    os |= flags & MR_OPEN_CREATE ? O_CREAT : 0;
    os |= flags & MR_OPEN_EXCLUSIVE ? O_EXCL : 0;
    os |= flags & MR_OPEN_TRUNCATE ? O_TRUNC : 0;
    bool is_direct = flags & MR_OPEN_DIRECT;
    int fd = open(path, os | (is_direct ? O_DIRECT : 0), 0666);
    if (fd < 0 && is_direct && errno == EINVAL) { /* a file system without it */
        is_direct = false;
        fd = open(path, os & ~O_EXCL, 0666);
    }
    if (fd < 0)
        return -errno;
    struct mr_file *f = calloc(1, sizeof *f);
    if (f == NULL) {
        close(fd);
        return -ENOMEM;
    }
    f->env = env;
    f->fd = fd;
    f->is_direct = is_direct;
    *file = f;
    return 0;
}

void mr_posix_close(struct mr_file *file)
{
    close(file->fd);
    free(file);
}

/* Whether a call that failed so is to be made again; at most for a while. */
static bool comes_again(uint32_t *tries)
{
    if ((errno != EINTR && errno != EAGAIN) || *tries >= TRIES_MAX)
        return false;
    if (errno == EAGAIN)
        sched_yield();
    ++*tries;
    return true;
}

int64_t mr_posix_read(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    uint64_t done = 0;
    uint32_t tries = 0;

    while (done < bytes) {
        uint64_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        ssize_t n = pread(file->fd, (uint8_t *)data + done, piece, (off_t)(offset + done));
        if (n < 0 && comes_again(&tries))
            continue;
        if (n < 0)
            return -errno;
        tries = 0;
        if (n == 0)
            break;
        done += (uint64_t)n;
        if (file->is_direct && (done & (MR_DIRECT_BYTES - 1)))
            break; /* the end of the file */
    }
    return (int64_t)done;
}

/* What a write up to end failed with. Where a limit of the file's size cuts it at no multiple of a
 * block, O_DIRECT gives EINVAL, or gets no further. */
static int write_error(const struct mr_file *file, uint64_t end, int error)
{
    struct rlimit limit;

    if ((error == EINVAL || error == ENOSPC) && file->is_direct &&
        getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
        return -EFBIG;
    return -error;
}

/* A write that stays short goes on where it stopped, in O_DIRECT at the last whole block. */
int64_t mr_posix_write(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset)
{
    uint64_t done = 0;
    uint32_t tries = 0;

    while (done < bytes) {
        uint64_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        ssize_t n = pwrite(file->fd, (const uint8_t *)data + done, piece, (off_t)(offset + done));
        if (n < 0 && comes_again(&tries))
            continue;
        if (n < 0)
            return write_error(file, offset + done + piece, errno);
        uint64_t more = (uint64_t)n;
        if (file->is_direct && done + more < bytes)
            more &= ~(uint64_t)(MR_DIRECT_BYTES - 1);
        if (more == 0 && ++tries == TRIES_MAX)
            return write_error(file, offset + done + piece, ENOSPC);
        tries = more ? 0 : tries;
        done += more;
    }
    return (int64_t)bytes;
}

/* An interrupted one has done nothing: it is no failure, which would be final. */
int mr_posix_sync(struct mr_file *file)
{
    uint32_t tries = 0;
    int rc;

    do
        rc = fdatasync(file->fd);
    while (rc != 0 && errno == EINTR && comes_again(&tries));
    return rc == 0 ? 0 : -errno;
}

int64_t mr_posix_write_sync(struct mr_file *file, const void *data, uint64_t bytes, uint64_t offset)
{
    int64_t n = mr_posix_write(file, data, bytes, offset);

    if (n < 0)
        return n;
    int rc = mr_posix_sync(file);
    return rc < 0 ? rc : n;
}

int mr_posix_truncate(struct mr_file *file, uint64_t bytes)
{
    return ftruncate(file->fd, (off_t)bytes) == 0 ? 0 : -errno;
}

int mr_posix_allocate(struct mr_file *file, uint64_t bytes)
{
    return -posix_fallocate(file->fd, 0, (off_t)bytes);
}

static int posix_read_start(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    if (file->ahead.is_started)
        return -EBUSY;
    /* Only advice: when it fails the read is merely slower. */
    (void)posix_fadvise(file->fd, (off_t)offset, (off_t)bytes, POSIX_FADV_WILLNEED);
    file->ahead.is_started = true;
    file->ahead.data = data;
    file->ahead.bytes = bytes;
    file->ahead.offset = offset;
    return 0;
}

static int64_t posix_read_wait(struct mr_file *file)
{
    if (!file->ahead.is_started)
        return -EINVAL;
    file->ahead.is_started = false;
    return mr_posix_read(file, file->ahead.data, file->ahead.bytes, file->ahead.offset);
}

/* A lock of the open file, not of the process: a second open in the same process is refused as
 * well. */
int mr_posix_lock(struct mr_file *file)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(file->fd, F_OFD_SETLK, &whole) == 0 ? 0 : -errno;
}

const struct mr_env_ops mr_posix_ops = {
    .name = "syscalls",
    .open = mr_posix_open,
    .close = mr_posix_close,
    .read = mr_posix_read,
    .write = mr_posix_write,
    .sync = mr_posix_sync,
    .write_sync = mr_posix_write_sync,
    .truncate = mr_posix_truncate,
    .allocate = mr_posix_allocate,
    .read_start = posix_read_start,
    .read_wait = posix_read_wait,
    .lock = mr_posix_lock,
    .stat = mr_posix_stat,
    .rename = mr_posix_rename,
    .link = mr_posix_link,
    .unlink = mr_posix_unlink,
    .make_dir = mr_posix_make_dir,
    .sync_dir = mr_posix_sync_dir,
    .list = mr_posix_list,
    .now_us = mr_posix_now_us,
    .monotonic_us = mr_posix_monotonic_us,
    .sleep_us = mr_posix_sleep_us,
    .wait = mr_posix_wait,
    .random = mr_posix_random,
    .fini = mr_posix_fini,
};

struct mr_posix_env *mr_posix_env_new(const char *why_not_uring)
{
    struct mr_posix_env *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    snprintf(p->why_not_uring, sizeof p->why_not_uring, "%s", why_not_uring);
    p->env = (struct mr_env){.ops = &mr_posix_ops, .why_not_uring = p->why_not_uring};
    return p;
}
