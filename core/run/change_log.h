/* change_log.h - what tables of state changed, on its way from the workers into the checkpoint.
 *
 * How      A worker puts down about a MiB at a time in a packet; a ring takes it to the control
 *          thread, which writes it while the workers go on; a ring brings the packet home. A part
 *          has a few: when all are away, what can wait waits, and at the end of the epoch the part
 *          does. So the log costs a few MiB of memory however much changed.
 * Order    Packets of a part arrive in order; parts own different rows. All come before the commit.
 * Threads  ahead, rest, open, close: the part's worker. take, init, fini: the control thread.
 */
#pragma once
#include "core/base/error.h"
#include "core/mem/arena.h"
#include "core/ring/ring.h"

struct mr_part;
struct mr_query;

enum { MR_LOG_PACKETS = 4 };

struct mr_log_packet {
    struct mr_arena arena;
    struct mr_buffer data;
    uint32_t op, table;
};

struct mr_change_log {
    struct mr_ring there, back;
    struct mr_log_packet packets[MR_LOG_PACKETS];
    struct mr_log_packet *home[MR_LOG_PACKETS]; /* a stack */
    uint32_t home_n;
    bool is_open;
    uint32_t op, table; /* of the rest: whose turn it is */
};

MR_NODISCARD enum mr_status mr_change_log_init(struct mr_change_log *l, struct mr_error *err);
void mr_change_log_fini(struct mr_change_log *l);
void mr_change_log_open(struct mr_part *p);
void mr_change_log_close(struct mr_part *p);
void mr_change_log_begin(struct mr_part *p); /* an epoch */

/* While the epoch runs: what is not likely to change again, if there is enough of it. */
void mr_change_log_ahead(struct mr_part *p);
/* At its end: all that changed. False: packets are away, the part is woken when one is home. */
bool mr_change_log_rest(struct mr_part *p);
/* Writes what has arrived. A failure is the query's, and later packets are only sent home. */
void mr_change_log_take(struct mr_query *q);
