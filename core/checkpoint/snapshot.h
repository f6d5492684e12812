/* snapshot.h - rounds: the whole state, partition by partition, over many epochs. Internal to
 * core/checkpoint.
 *
 * File     snapshot/N.tmp while it is written, snapshot/N when it is whole and durable; so a
 *          broken file with the final name is corruption, and a temporary one is rubbish.
 * Chunk    A header of 64 bytes, data, zeros up to 16 bytes; chunks are chained by header CRC.
 *          First BEGIN, then SOURCE and STATE in any order, then END.
 * Tags     A chunk holds what was true after its epoch. The log from first_group on has all later
 *          changes.
 */
#pragma once
#include "core/checkpoint/blocks.h"
#include "core/checkpoint/checkpoint.h"

enum mr_chunk_kind { MR_CHUNK_BEGIN = 1, MR_CHUNK_SOURCE, MR_CHUNK_STATE, MR_CHUNK_END };
enum { MR_CHUNK_MAGIC = 0x3153524d /* MRS1 */ };

struct mr_chunk {
    uint32_t magic, header_crc; /* of what follows in the header */
    uint64_t round, epoch, bytes;
    uint64_t first_group; /* BEGIN: of the log that must follow; else 0 */
    uint32_t data_crc, previous_crc;
    uint16_t kind, op; /* op: or the number of the source */
    uint16_t table, partition;
    uint32_t partitions_n; /* STATE: empty ones are told together, without data */
    uint32_t unused;
};
_Static_assert(sizeof(struct mr_chunk) == 64, "as README.md describes it");

struct mr_round { /* being written */
    struct mr_env *env;
    const char *path; /* the folder snapshot/ */
    struct mr_arena *arena;
    struct mr_budget *budget;
    uint64_t number, first_group;
    struct mr_file *file; /* NULL: no round is under way */
    struct mr_blocks blocks;
    uint64_t offset, bytes; /* written; in all */
    uint32_t previous_crc;
    uint32_t op, table, partition; /* next to be taken */
};

MR_NODISCARD enum mr_status mr_round_begin(struct mr_round *r, uint64_t epoch, uint64_t first_group,
                                           struct mr_error *err);
MR_NODISCARD enum mr_status mr_round_put(struct mr_round *r, struct mr_chunk chunk,
                                         struct mr_text data, struct mr_error *err);
/* Ends the round: the file is durable under its name, older ones are gone. */
MR_NODISCARD enum mr_status mr_round_finish(struct mr_round *r, uint64_t epoch,
                                            struct mr_error *err);
/* Closes the file; what is not finished stays as rubbish. */
void mr_round_fini(struct mr_round *r);

struct mr_snapshot_list {
    uint64_t newest; /* of whole rounds; 0: none */
    uint64_t seen_max;
};
/* Lists rounds; remove: deletes temporary files and all but the newest. */
MR_NODISCARD enum mr_status mr_snapshot_list(struct mr_env *env, const char *path, bool remove,
                                             struct mr_arena *a, struct mr_snapshot_list *out,
                                             struct mr_error *err);

/* For one read. The caller's, so that an escape out of it leaves file and blocks to give back. */
struct mr_snapshot_reader {
    struct mr_env *env; /* set by the caller, as is the budget of blocks; else zero */
    struct mr_blocks blocks;
    struct mr_file *file;
    const char *path;
    uint64_t number, offset, size, chunks;
    uint32_t previous_crc;
};
void mr_snapshot_reader_fini(struct mr_snapshot_reader *r);
/* Calls seen for each chunk of a round, in order; data is valid during the call. seen may
 * escape. */
MR_NODISCARD enum mr_status
mr_snapshot_read(struct mr_snapshot_reader *r, const char *path, uint64_t number,
                 struct mr_arena *a,
                 enum mr_status (*seen)(void *arg, const struct mr_chunk *chunk,
                                        struct mr_text data, struct mr_error *err),
                 void *arg, struct mr_error *err);
