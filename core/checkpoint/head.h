/* head.h - the small file that a process leaves behind for the next. Internal to core/checkpoint.
 *
 * Why      The plan of an epoch must outlive the process, not the machine: then the epoch runs
 *          again as it was cut. A plain write into the page cache does that for 4 us; the log's
 *          O_DIRECT would take 37. After a power cut the plan may be gone, and with it all that
 *          the epoch did.
 * Also     Which group of the log was durable: a broken last group is then no torn tail. After a
 *          clean end: that the last epoch's output is out, so that none is shown twice.
 * Form     struct mr_head, then the plan record. Written in place; one that is torn counts as
 *          absent.
 */
#pragma once
#include "core/checkpoint/blocks.h"
#include "core/checkpoint/record.h"

struct mr_head {
    uint32_t magic, crc; /* of what follows, the plan included */
    uint64_t durable;    /* a group of the log; 0: none */
    uint64_t published;  /* epoch + 1 up to which output is out; 0: not known */
    uint64_t plan_bytes; /* 0: no epoch is running */
};
enum { MR_HEAD_MAGIC = 0x3248524d /* MRH2 */ };

/* *head all zero when the file is not there, or not whole; plan lies in the arena. */
MR_NODISCARD enum mr_status mr_head_load(struct mr_env *env, const char *path, struct mr_arena *a,
                                         struct mr_head *head, struct mr_text *plan, bool *found,
                                         struct mr_error *err);
/* Not synced. */
MR_NODISCARD enum mr_status mr_head_save(struct mr_env *env, struct mr_file *file, const char *path,
                                         struct mr_blocks *blocks, uint64_t durable,
                                         uint64_t published, struct mr_text plan,
                                         struct mr_error *err);
