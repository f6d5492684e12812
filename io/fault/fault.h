/* fault.h - an env that wraps another and lets the k-th durable operation go wrong.
 *
 * What     Counted are, from 1, writes, syncs, truncates, allocates, renames, links, unlinks and
 *          syncs of folders; a write_sync counts as a write, then a sync. Of the kind that the
 *          schedule names, the k-th goes wrong by its action:
 *            EIO, ENOSPC  it is not done, and gives that error
 *            torn         half of the bytes of a write are written, then ENOSPC
 *            stop         it is not done, and nothing is from then on (all give EIO): a dead process
 *            halfstop     as stop, with half of the bytes written first
 *            kill         it is not done; SIGKILL
 *            killafter    it is done; SIGKILL
 * Schedule "KIND:K:ACTION", KIND one of write, sync, rename, any. With test switches mr_env_open
 *          reads it from the environment variable MILLRACE_FAULT.
 */
#pragma once
#include "core/base/env.h"

/* Takes inner; NULL when the schedule is malformed (inner is then still the caller's) or memory is
 * out. An empty schedule only counts. */
struct mr_env *mr_fault_open(struct mr_env *inner, const char *schedule);
/* Operations of the schedule's kind so far. */
uint64_t mr_fault_count(const struct mr_env *env);
