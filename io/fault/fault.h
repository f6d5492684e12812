/* fault.h - an env that wraps another and lets durable operations go wrong, or writes them down.
 *
 * What     Counted are, from 1, writes (truncates and allocates too), syncs of files and folders,
 *          renames (links and unlinks too) and makes (opens that may create, and folders); a
 *          write_sync counts as a write, then a sync. Those that the schedule names go wrong:
 *            EIO, ENOSPC  it is not done, and gives that error
 *            torn         half of the bytes of a write are written, then ENOSPC
 *            stop         a dead process: it is not done, and nothing is from then on (EIO)
 *            halfstop     as stop, with half of the bytes written first
 *            kill         it is not done; SIGKILL
 *            killafter    it is done; SIGKILL
 *            skip         it is not done, and is said to be: a program that forgot it
 *          A kind of its own, only when it is named, are reads: also opens that make nothing, looks
 *          at files and folders, and locks. They fail, or kill.
 * Schedule "KIND:WHICH:ACTION", KIND one of write, sync, rename, make, any (of these), read.
 *          WHICH: a number K, the K-th; @TEXT, each on a path with TEXT in it; K@TEXT, the K-th of
 *          those.
 * Trace    Every durable operation, in an order in which it may have reached the disk: a write
 *          before it is begun, a sync after it is done. Lines, fields parted by one blank:
 *            @open FILE FLAGS PATH     @close FILE      @write FILE OFFSET BYTES, then the bytes
 *            @truncate FILE BYTES      @sync FILE       @allocate FILE BYTES
 *            @rename FROM<tab>TO       @link FROM<tab>TO
 *            @unlink PATH    @mkdir PATH    @syncdir PATH    @fail ERRNO KIND PATH
 *          FILE is a number that is not used again. tests/integration/crash_states.py reads it.
 * Switches With MR_TEST_SWITCHES mr_env_open reads the schedule from MILLRACE_FAULT and the name of
 *          the trace, which is appended to, from MILLRACE_FAULT_TRACE; both then hold for all envs
 *          of the process together.
 */
#pragma once
#include "core/base/env.h"

struct mr_fault; /* a schedule, its counter and its trace: may be shared by envs of all threads */

/* NULL when the schedule is malformed, the trace can't be opened or memory is out. An empty
 * schedule only counts; trace may be NULL. */
struct mr_fault *mr_fault_new(const char *schedule, const char *trace);
void mr_fault_free(struct mr_fault *f);
/* Takes inner, borrows f. NULL: no memory. */
struct mr_env *mr_fault_wrap(struct mr_env *inner, struct mr_fault *f);

/* An env with a schedule of its own. Takes inner; NULL as above (inner is then still the
 * caller's). */
struct mr_env *mr_fault_open(struct mr_env *inner, const char *schedule);
/* Operations of the schedule so far. */
uint64_t mr_fault_count(const struct mr_env *env);
