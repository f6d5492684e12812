/* futex.h - sleeping on a word until another thread changes it.
 *
 * Why      Workers and control threads sleep without a lock; glibc has no wrapper.
 * Order    None of its own: the atomic accesses around it carry it.
 */
#pragma once
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Returns when *word is not value, when woken, after us (negative: no limit), or for no reason. */
static inline void mr_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t us)
{
    struct timespec limit = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, us < 0 ? NULL : &limit, NULL, 0);
}

static inline void mr_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
