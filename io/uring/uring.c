#include "io/uring/uring.h"

#include "core/base/check.h"
#include "io/posix/posix.h"
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES = 64, /* pre-reads under way at most, half of them to be safe with links */
    CHAIN_BYTES_MAX = 1 << 30,
};

struct uring_env {
    struct mr_posix_env posix; /* first: its functions are used with this env */
    struct io_uring ring;
    uint32_t ahead_n;
    int broken; /* the error that ended its use: it may hold what nobody waits for */
};

/* One operation of a chain; user_data of its completion. Pre-reads have their file there, and bit
 * 0. */
struct step {
    int result;
    bool is_done;
};

static struct uring_env *uring_of(struct mr_env *env)
{
    return (struct uring_env *)(void *)env;
}

/* How many operations the kernel took: fewer than there are when it lacks memory. */
static int submit(struct uring_env *u)
{
    int rc;

    do
        rc = io_uring_submit(&u->ring);
    while (rc == -EINTR || rc == -EAGAIN || rc == -EBUSY);
    if (rc < 0)
        u->broken = rc;
    return rc;
}

/* Waits for one completion and notes it where it belongs. */
static int reap(struct uring_env *u)
{
    struct io_uring_cqe *cqe;
    int rc = u->broken;

    if (rc < 0)
        return rc;
    do
        rc = io_uring_wait_cqe(&u->ring, &cqe);
    while (rc == -EINTR || rc == -EAGAIN);
    if (rc < 0) {
        u->broken = rc;
        return rc;
    }
    uintptr_t tag = (uintptr_t)cqe->user_data;
    if (tag & 1) {
        struct mr_file *file = (struct mr_file *)(tag & ~(uintptr_t)1);
        file->ahead.result = cqe->res;
        file->ahead.is_done = true;
        u->ahead_n--;
    } else {
        struct step *step = (struct step *)tag;
        step->result = cqe->res;
        step->is_done = true;
    }
    io_uring_cqe_seen(&u->ring, cqe);
    return 0;
}

static struct io_uring_sqe *next_sqe(struct uring_env *u)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

    MR_ASSERT(sqe != NULL); /* each call submits what it prepared */
    return sqe;
}

/* The write and its fdatasync, one chain. A short write cancels the sync: the whole is written
 * again then, by plain calls; so is it when only the write was taken, and the ring is given up: it
 * still holds the sync. An error of the sync is final. */
static int64_t uring_write_sync(struct mr_file *file, const void *data, uint64_t bytes,
                                uint64_t offset)
{
    struct uring_env *u = uring_of(file->env);
    struct step write = {0}, sync = {0};

    if (bytes > CHAIN_BYTES_MAX || u->broken)
        return mr_posix_write_sync(file, data, bytes, offset);
    struct io_uring_sqe *sqe = next_sqe(u);
    io_uring_prep_write(sqe, file->fd, data, (unsigned)bytes, offset);
    sqe->flags |= IOSQE_IO_LINK;
    io_uring_sqe_set_data(sqe, &write);
    sqe = next_sqe(u);
    io_uring_prep_fsync(sqe, file->fd, IORING_FSYNC_DATASYNC);
    io_uring_sqe_set_data(sqe, &sync);
    int taken = submit(u), rc = taken < 0 ? taken : 0;
    while (rc == 0 && !(write.is_done && (sync.is_done || taken < 2)))
        rc = reap(u);
    if (rc < 0)
        return rc;
    if (taken < 2) {
        u->broken = -EAGAIN;
        return mr_posix_write_sync(file, data, bytes, offset);
    }
    if (write.result >= 0 && (uint64_t)write.result == bytes)
        return sync.result < 0 ? sync.result : (int64_t)bytes;
    /* EINVAL: the plain call finds out what it means. */
    if (write.result >= 0 || write.result == -EINTR || write.result == -EAGAIN ||
        write.result == -EINVAL)
        return mr_posix_write_sync(file, data, bytes, offset);
    return write.result;
}

static int uring_read_start(struct mr_file *file, void *data, uint64_t bytes, uint64_t offset)
{
    struct uring_env *u = uring_of(file->env);

    if (file->ahead.is_started)
        return -EBUSY;
    file->ahead.is_started = true;
    file->ahead.data = data;
    file->ahead.bytes = bytes;
    file->ahead.offset = offset;
    file->ahead.result = 0;
    /* Too many, or no ring: read_wait does it all. */
    file->ahead.is_done = u->ahead_n >= ENTRIES / 2 || u->broken;
    if (file->ahead.is_done)
        return 0;
    struct io_uring_sqe *sqe = next_sqe(u);
    unsigned piece = bytes < CHAIN_BYTES_MAX ? (unsigned)bytes : CHAIN_BYTES_MAX;
    io_uring_prep_read(sqe, file->fd, data, piece, offset);
    io_uring_sqe_set_data(sqe, (void *)((uintptr_t)file | 1));
    u->ahead_n++;
    int rc = submit(u);
    return rc < 0 ? rc : 0;
}

static int64_t uring_read_wait(struct mr_file *file)
{
    if (!file->ahead.is_started)
        return -EINVAL;
    while (!file->ahead.is_done) {
        int rc = reap(uring_of(file->env));
        if (rc < 0)
            return rc;
    }
    file->ahead.is_started = false;
    int64_t n = file->ahead.result;
    if (n == -EINTR || n == -EAGAIN)
        n = 0;
    if (n < 0 || (uint64_t)n == file->ahead.bytes)
        return n;
    /* Short: the end of the file, or only a pause. In O_DIRECT go on at a whole block. */
    uint64_t done = (uint64_t)n;
    if (file->is_direct)
        done &= ~(uint64_t)(MR_DIRECT_BYTES - 1);
    int64_t more = mr_posix_read(file, file->ahead.data + done, file->ahead.bytes - done,
                                 file->ahead.offset + done);
    return more < 0 ? more : (int64_t)done + more;
}

static void uring_close(struct mr_file *file)
{
    if (file->ahead.is_started) /* the kernel may still write into the reader's buffer */
        (void)uring_read_wait(file);
    mr_posix_close(file);
}

static void uring_fini(struct mr_env *env)
{
    struct uring_env *u = uring_of(env);

    io_uring_queue_exit(&u->ring);
    mr_posix_fini(env);
}

static const struct mr_env_ops uring_ops = {
    .name = "io_uring",
    .open = mr_posix_open,
    .close = uring_close,
    .read = mr_posix_read,
    .write = mr_posix_write,
    .sync = mr_posix_sync,
    .write_sync = uring_write_sync,
    .truncate = mr_posix_truncate,
    .allocate = mr_posix_allocate,
    .read_start = uring_read_start,
    .read_wait = uring_read_wait,
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
    .fini = uring_fini,
};

/* A ring can be made and yet refuse what we need: an old kernel, or restrictions of a container. */
static bool has_operations(struct io_uring *ring)
{
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);

    if (probe == NULL)
        return false;
    bool ok = io_uring_opcode_supported(probe, IORING_OP_READ) &&
              io_uring_opcode_supported(probe, IORING_OP_WRITE) &&
              io_uring_opcode_supported(probe, IORING_OP_FSYNC);
    io_uring_free_probe(probe);
    return ok;
}

struct mr_env *mr_uring_open(char *why, uint64_t why_bytes)
{
    struct uring_env *u = calloc(1, sizeof *u);

    if (u == NULL) {
        snprintf(why, why_bytes, "no memory");
        return NULL;
    }
    int rc = io_uring_queue_init(ENTRIES, &u->ring, 0);
    if (rc < 0) {
        snprintf(why, why_bytes, "io_uring_setup: %s", strerror(-rc));
        free(u);
        return NULL;
    }
    if (!has_operations(&u->ring)) {
        snprintf(why, why_bytes, "io_uring lacks read, write or fsync");
        io_uring_queue_exit(&u->ring);
        free(u);
        return NULL;
    }
    u->posix.env.ops = &uring_ops;
    return &u->posix.env;
}
