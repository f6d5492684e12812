/* log.h - the write-ahead log: groups of records in segments. Internal to core/checkpoint.
 *
 * Group    What one append writes: a header of 64 bytes, records, zeros up to a block of 4 KiB. A
 *          group begins on a block and never touches one that was written before: what is durable
 *          is never written again, at the price of at most a block per epoch.
 * Chain    A group is valid with its magic, segment number, own number (one more than the one
 *          before), the header CRC of the one before, and its CRCs. It tells which group was
 *          durable when it was written.
 * End      The first place without a valid group. It is a torn tail if nobody claims that a group
 *          from there on was durable, neither a later group nor the head; else it is corruption.
 * Segment  log/N, zero-filled before use, so that a durable append changes no metadata; recycled
 *          under a new number when no longer needed. The next one is prepared in small steps; when
 *          it is needed sooner, appends make it longer: writing much twice would cost more than the
 *          metadata of one sync.
 */
#pragma once
#include "core/checkpoint/blocks.h"
#include "core/checkpoint/record.h"

struct mr_group_header {
    uint32_t magic, header_crc; /* of what follows in the header */
    uint64_t number;            /* from 1 */
    uint64_t durable;           /* the last group known to be durable when this was written */
    uint64_t segment, epoch, bytes;
    uint32_t payload_crc, previous_crc; /* previous: header_crc of the group before; 0: none */
    uint32_t flags, records_n;
};
_Static_assert(sizeof(struct mr_group_header) == 64, "as README.md describes it");
enum { MR_GROUP_MAGIC = 0x3147524d /* MRG1 */, MR_GROUP_COMMIT = 1, MR_GROUP_OPEN = 2 };

struct mr_log_segment {
    uint64_t number, bytes;
    uint64_t first_group, last_group; /* 0: none */
};
struct mr_log_group {
    struct mr_group_header header;
    uint64_t offset;
    bool is_committed; /* its state counts: the commit of its epoch follows, in the same run */
};

struct mr_log_scan {
    struct mr_env *env;
    const char *path; /* the folder log/ */
    struct mr_arena *arena;
    struct mr_blocks blocks;
    struct mr_log_segment *segments; /* ascending, without gaps */
    uint64_t segments_n;
    struct mr_log_group *groups;
    uint64_t groups_n;
    uint64_t end_segment, end_offset; /* index; where the log ends */
    uint64_t next_group;
    uint64_t durable; /* the last group known to be durable, by the head or another group */
    uint32_t previous_crc;
    uint64_t last_commit; /* index + 1 of the last group with a commit; 0: none */
};

/* Finds segments and groups; durable: a group that is known to be durable, or 0. An absent folder
 * is an empty log. */
MR_NODISCARD enum mr_status mr_log_scan(struct mr_log_scan *s, uint64_t durable,
                                        struct mr_error *err);
/* The payload of group i, valid until the next call; its blocks as stored are in s->blocks. */
MR_NODISCARD enum mr_status mr_log_read(struct mr_log_scan *s, uint64_t i, struct mr_text *payload,
                                        struct mr_error *err);
/* The next record of a payload, which moves on; false at its end, *ok false when it is malformed.
 */
bool mr_log_next(struct mr_text *payload, struct mr_record *record, struct mr_text *data, bool *ok);
/* Whether the log and the snapshot meet: it reaches back to the first group that is to be done, or
 * to the first of all when there is no snapshot (0). */
MR_NODISCARD enum mr_status mr_log_check_begin(const struct mr_log_scan *s, uint64_t first_group,
                                               struct mr_error *err);
/* And no state of the snapshot is newer than the last commit; both epoch + 1, 0: none. */
MR_NODISCARD enum mr_status mr_log_check_end(const struct mr_log_scan *s, uint64_t newest,
                                             uint64_t committed, struct mr_error *err);
void mr_log_scan_fini(struct mr_log_scan *s);

struct mr_log {
    struct mr_env *env;
    const char *path;
    struct mr_arena *arena;   /* of segments */
    struct mr_arena *scratch; /* of paths: reset by the owner between calls */
    uint64_t segment_bytes;
    struct mr_log_segment *segments; /* the last is written to */
    uint64_t segments_n, segments_capacity;
    struct mr_file *file;
    uint64_t offset, next_group, durable;
    uint64_t filled;         /* of the segment written to: bytes that were there before */
    uint64_t commit_segment; /* number of the one with the last commit; 0: none */
    uint32_t previous_crc;
    bool is_unsynced, is_failed;
    uint64_t appended_bytes;

    struct mr_blocks group; /* in the making: room for the header, then records */
    uint32_t records_n, flags;
    uint64_t epoch;

    struct mr_file *spare;  /* the next segment, or NULL */
    uint64_t spare_filled;  /* bytes */
    bool is_spare_numbered; /* it has its name */
    struct mr_blocks zeros;
};

/* Opens for appending where the scan ended; what it found is durable then. The log keeps nothing of
 * the scan. */
MR_NODISCARD enum mr_status mr_log_open(struct mr_log *l, struct mr_log_scan *s,
                                        struct mr_error *err);
void mr_log_close(struct mr_log *l);
/* Adds a record to the group in the making. */
MR_NODISCARD enum mr_status mr_log_put(struct mr_log *l, uint64_t epoch, struct mr_record record,
                                       struct mr_text data, struct mr_error *err);
/* Writes the group, if it has records; durable: and syncs. Any failure is final. */
MR_NODISCARD enum mr_status mr_log_append(struct mr_log *l, bool durable, struct mr_error *err);
/* Syncs what was written without. */
MR_NODISCARD enum mr_status mr_log_sync(struct mr_log *l, struct mr_error *err);
/* That the file being written still has its name: else no restart finds what it holds. */
MR_NODISCARD enum mr_status mr_log_check_name(struct mr_log *l, struct mr_error *err);
/* A small step towards the next segment; nothing while the current one is less than half full. */
MR_NODISCARD enum mr_status mr_log_prepare(struct mr_log *l, struct mr_error *err);
/* Segments that end before first_group are free, but that with the last commit. */
MR_NODISCARD enum mr_status mr_log_recycle(struct mr_log *l, uint64_t first_group,
                                           struct mr_error *err);

uint32_t mr_group_header_crc(const struct mr_group_header *h);
const char *mr_log_segment_path(struct mr_arena *a, const char *path, uint64_t number);
