/* handle.h - an open checkpoint. Internal to core/checkpoint. */
#pragma once
#include "core/checkpoint/head.h"
#include "core/checkpoint/log.h"
#include "core/checkpoint/metadata.h"
#include "core/checkpoint/snapshot.h"

struct mr_checkpoint {
    struct mr_checkpoint_config config;
    struct mr_env *env;
    struct mr_arena arena, scratch; /* scratch: of one call */
    const char *metadata_path, *head_path, *lock_path, *log_path, *snapshot_path;
    struct mr_file *lock, *head;
    struct mr_metadata metadata;
    uint32_t operators_n;
    uint32_t tables_n[MR_STATE_TABLES_MAX];

    struct mr_log_scan scan;  /* until replay is done */
    struct mr_text head_plan; /* found at open */
    uint64_t published;       /* epoch + 1 whose output is out, and all before; 0: not known */
    uint64_t snapshot;        /* the newest whole round found at open, or 0 */
    bool is_replayed;
    struct { /* of replay; here, so that an escape out of it leaves them to close */
        struct mr_blocks plan, commit; /* the last ones, encoded; n 0: none */
        struct mr_snapshot_reader snapshot;
    } replay;

    struct mr_log log;
    bool is_opened;             /* this run has its OPEN record in the log */
    struct mr_blocks plan;      /* of the epoch that runs, encoded; n 0: none */
    struct mr_blocks head_data; /* what is written to the head */
    bool is_plan_logged;        /* the plan is in the log, or in the group in the making */
    int64_t synced_us;

    struct mr_round round;
    uint64_t round_mark;  /* appended_bytes of the log when the last round began */
    uint64_t epoch_mark;  /* the same after the last epoch */
    uint64_t round_bytes; /* of the last whole round */
};

/* Gives back what only replay needs. */
void mr_checkpoint_end_replay(struct mr_checkpoint *c);
