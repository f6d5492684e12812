/* watch.h - tells when an epoch stands still, and where.
 *
 * Why      A source whose disk hangs, a reader that no longer reads, an operator that takes very
 *          long: the query can't say so, it waits. The thread that started it can.
 * Use      Looked at once a second, while the queries run.
 */
#pragma once
#include "core/run/query.h"

struct mr_watch {
    uint64_t moves;
    int64_t since_us, looked_us; /* when it moved last; when it was looked at last */
    bool is_told;
};

/* On the error stream: that it has not moved for stall_s seconds, and that it goes on. */
void mr_watch_look(struct mr_watch *w, const struct mr_query *q, const char *name, int64_t stall_s);
