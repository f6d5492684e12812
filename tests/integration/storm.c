/* storm.c - a library for LD_PRELOAD that makes a run's system calls and allocations go as badly as
 * they may.
 *
 * MILLRACE_STORM=WHAT:SEED, WHAT a list of
 *   short    reads and writes do only a part, in multiples of 512 (also those in a ring)
 *   eintr    calls are interrupted before they did anything, also the waiting for a ring
 *   eagain   calls say that they are to be done again
 *   memory   the SEED-th allocation that the program itself makes (not a library) gives NULL
 *   count    allocations are only counted
 *   slow     the first SEED writes take 0.5 s each
 *   hang     the SEED-th read of a file takes 5 s
 *   clock    after a second the wall clock is set by SEED seconds, which may be negative
 * MILLRACE_STORM_COUNT=FILE gets how often it struck (count: how many there were), at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <liburing.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool is_short, is_interrupted, is_again, fails_memory, counts_memory;
static bool is_slow, hangs, sets_clock;
static struct timespec began;
static uint64_t seed;
static _Atomic uint64_t calls, struck, allocations, reads, writes;
static uintptr_t program_from, program_to;

static int see_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        program_from = info->dlpi_addr + p->p_vaddr;
        program_to = program_from + p->p_memsz;
    }
    return 1; /* only the first: the program */
}

static __attribute__((constructor)) void begin(void)
{
    const char *storm = getenv("MILLRACE_STORM");
    const char *colon = storm ? strchr(storm, ':') : NULL;

    unsetenv("LD_PRELOAD");
    if (colon == NULL)
        return;
    dl_iterate_phdr(see_object, NULL);
    seed = strtoull(colon + 1, NULL, 10);
    is_short = strstr(storm, "short") != NULL;
    is_interrupted = strstr(storm, "eintr") != NULL;
    is_again = strstr(storm, "eagain") != NULL;
    counts_memory = strstr(storm, "count") != NULL;
    fails_memory = strstr(storm, "memory") != NULL;
    is_slow = strstr(storm, "slow") != NULL;
    hangs = strstr(storm, "hang") != NULL;
    sets_clock = strstr(storm, "clock") != NULL;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &began);
}

static __attribute__((destructor)) void end(void)
{
    const char *path = getenv("MILLRACE_STORM_COUNT");
    FILE *out = path ? fopen(path, "w") : NULL;

    if (out == NULL)
        return;
    fprintf(out, "%llu\n", (unsigned long long)(counts_memory ? allocations : struck));
    fclose(out);
}

static uint64_t chance(void)
{
    uint64_t x = (atomic_fetch_add(&calls, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed * 7919;

    x ^= x >> 31;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 29;
}

/* An error instead of the call, or 0. */
static int trouble(bool may_be_again)
{
    uint64_t c = chance();
    int rc = 0;

    if (is_interrupted && c % 3 == 0)
        rc = EINTR;
    else if (is_again && may_be_again && c % 3 == 1)
        rc = EAGAIN;
    struck += rc != 0;
    return rc;
}

static size_t part_of(size_t bytes)
{
    uint64_t c = chance();

    if (!is_short || bytes < 1024 || c % 4 == 0)
        return bytes;
    struck++;
    return ((c >> 8) % (bytes / 512) + 1) * 512 < bytes ? ((c >> 8) % (bytes / 512) + 1) * 512
                                                        : bytes;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void dawdle(bool is_write)
{
    if (is_slow && is_write && atomic_fetch_add(&writes, 1) < seed) {
        struck++;
        usleep(500000);
    }
    if (hangs && !is_write && atomic_fetch_add(&reads, 1) + 1 == seed) {
        struck++;
        sleep(5);
    }
}

#define TRANSFER(name, pointer, is_write)                                                          \
    ssize_t name(int fd, pointer data, size_t bytes, off_t offset)                                 \
    {                                                                                              \
        int rc = trouble(true);                                                                    \
                                                                                                   \
        dawdle(is_write);                                                                          \
                                                                                                   \
        if (rc) {                                                                                  \
            errno = rc;                                                                            \
            return -1;                                                                             \
        }                                                                                          \
        return NEXT(name)(fd, data, part_of(bytes), offset);                                       \
    }
TRANSFER(pwrite, const void *, true)
TRANSFER(pwrite64, const void *, true)
TRANSFER(pread, void *, false)
TRANSFER(pread64, void *, false)

int clock_gettime(clockid_t id, struct timespec *t)
{
    struct timespec now;
    long rc = syscall(SYS_clock_gettime, id, t);

    if (sets_clock && id == CLOCK_REALTIME && rc == 0) {
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
        int64_t passed_ns =
            (now.tv_sec - began.tv_sec) * INT64_C(1000000000) + now.tv_nsec - began.tv_nsec;
        if (passed_ns > 1000000000) {
            struck++;
            t->tv_sec += (time_t)(int64_t)seed;
        }
    }
    return (int)rc;
}

int fdatasync(int fd)
{
    int rc = trouble(false); /* to be done again is no answer that it may give */

    if (rc) {
        errno = rc;
        return -1;
    }
    return NEXT(fdatasync)(fd);
}

int io_uring_submit(struct io_uring *ring)
{
    int rc = trouble(true);

    if (rc)
        return -rc;
    for (unsigned i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++) {
        struct io_uring_sqe *sqe = &ring->sq.sqes[i & *ring->sq.kring_mask];
        if (sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_READ)
            sqe->len = (unsigned)part_of(sqe->len);
    }
    return NEXT(io_uring_submit)(ring);
}

int __io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
                       unsigned wait_n, sigset_t *mask)
{
    int rc = trouble(true);

    return rc ? -rc : NEXT(__io_uring_get_cqe)(ring, cqe, submit, wait_n, mask);
}

/* Whether this allocation is to fail. */
static bool is_denied(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    if ((!fails_memory && !counts_memory) || at < program_from || at >= program_to)
        return false;
    if (atomic_fetch_add(&allocations, 1) + 1 != seed || !fails_memory)
        return false;
    struck++;
    errno = ENOMEM;
    return true;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return is_denied(__builtin_return_address(0)) ? NULL : NEXT(aligned_alloc)(align, bytes);
}

void *calloc(size_t n, size_t bytes)
{
    static char early[64 * 1024]; /* dlsym itself allocates */
    static size_t used;
    static __thread bool is_inside;
    static void *(*next)(size_t, size_t);

    if (next == NULL && is_inside) {
        char *at = early + used;
        used += (n * bytes + 15) & ~(size_t)15;
        return used <= sizeof early ? at : NULL;
    }
    if (next == NULL) {
        is_inside = true;
        next = NEXT(calloc);
        is_inside = false;
    }
    return is_denied(__builtin_return_address(0)) ? NULL : next(n, bytes);
}

void *malloc(size_t bytes)
{
    static void *(*next)(size_t);

    if (next == NULL)
        next = NEXT(malloc);
    return is_denied(__builtin_return_address(0)) ? NULL : next(bytes);
}
