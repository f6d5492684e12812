/* state.h - what operators remember: typed tables, one part per worker.
 *
 * What     An operator declares tables (keys, slots, expiry); the runtime makes one struct mr_state per
 *          worker and table, logs what an epoch changed, snapshots, loads, shows and evicts. The
 *          operator only finds, inserts and visits rows.
 * Layout   Rows lie in segments by time bucket of their expiry: eviction drops segments; at most the
 *          bucket that the watermark cuts is swept. Inside a segment: a linear-probing index with tags
 *          and stored hashes, rows in slabs. Keys are encoded rows (row.h), equal iff bytes are equal.
 * Threads  One worker.
 * Hash     64 bits of the encoded key; the top byte is the virtual partition, so rows of a partition
 *          can be listed and moved to another worker at a restart.
 */
#pragma once
#include "core/batch/builder.h"
#include "core/expr/aggregate.h"
#include "core/mem/mem.h"

#define MR_STATE_NEVER INT64_MAX /* expiry of a row that time does not end */

struct mr_state_table { /* declaration */
    const char *name;                    /* "groups", "seen": unique within the operator */
    const struct mr_type *key;           /* STRUCT */
    const struct mr_type *value;         /* STRUCT, for compatibility checks and show: names and types */
    uint32_t slots_n;
    const enum mr_slot_kind *slots;
    int64_t bucket_us;                   /* width of a time bucket; 0: one bucket: the expiry need not
                                            follow from the key, and evict sweeps all of it */
};

struct mr_state_row { /* header; slots follow, then the key */
    uint64_t hash;
    int64_t expiry_us;
    uint64_t changed_epoch; /* + 1, of the last epoch that changed it; 0: only loaded */
    uint32_t key_bytes, slots_n;
};
static inline union mr_slot *mr_state_slots(struct mr_state_row *r)
{
    return (union mr_slot *)(void *)(r + 1);
}
static inline const uint8_t *mr_state_key(const struct mr_state_row *r)
{
    return (const uint8_t *)(r + 1) + (uint64_t)r->slots_n * sizeof(union mr_slot);
}

struct mr_state;

struct mr_state_config {
    const struct mr_state_table *table;
    struct mr_budget *budget;
    jmp_buf *escape; /* as for arenas: memory exhausted */
};
MR_NODISCARD enum mr_status mr_state_open(const struct mr_state_config *config,
                                          struct mr_state **out, struct mr_error *err);
void mr_state_close(struct mr_state *s);

/* Finds or inserts n rows. keys[i]: encoded key; rows[i]: filled; is_new: bit i set where inserted (slots
 * all zero). A row found or inserted counts as changed in epoch. A row found keeps its expiry; a key
 * twice in one call is inserted by its first. */
void mr_state_upsert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                     const struct mr_text *keys, const int64_t *expiry_us,
                     struct mr_state_row **rows, uint64_t *is_new);
/* Finds; NULL where absent. */
void mr_state_find(struct mr_state *s, uint32_t n, const uint64_t *hashes,
                   const struct mr_text *keys, const int64_t *expiry_us,
                   struct mr_state_row **rows);
/* Grows a BYTES slot of a row; memory is the segment's. */
void *mr_state_grow(void *state, struct mr_slot_bytes *b, uint32_t bytes);

/* Removes rows with expiry_us <= watermark_us; gives how many. visit (or NULL) sees each before it goes. */
uint64_t mr_state_evict(struct mr_state *s, int64_t watermark_us,
                        void (*visit)(void *arg, struct mr_state_row *row), void *arg);
/* Walks rows; a cursor of zeros starts; false at the end. Rows may be changed, not inserted, meanwhile. */
struct mr_state_cursor {
    uint64_t segment, row;
};
bool mr_state_next(struct mr_state *s, struct mr_state_cursor *at, struct mr_state_row **row);
/* Only rows changed in epoch, in no order. */
bool mr_state_next_changed(struct mr_state *s, uint64_t epoch, struct mr_state_cursor *at,
                           struct mr_state_row **row);

uint64_t mr_state_rows(const struct mr_state *s);
uint64_t mr_state_changed(const struct mr_state *s, uint64_t epoch); /* rows changed in epoch */
uint64_t mr_state_bytes(const struct mr_state *s);

/* For the checkpoint. log: appends what changed in epoch since the last call (upserts, then the eviction
 * watermark) to out. apply: does a log record to this part, only rows of partitions that owns says yes
 * to. snapshot: all rows of a partition. load: the reverse of it. */
void mr_state_log(struct mr_state *s, uint64_t epoch, struct mr_buffer *out);
MR_NODISCARD enum mr_status mr_state_apply(struct mr_state *s, struct mr_text record,
                                           bool (*owns)(void *arg, uint32_t partition), void *arg,
                                           struct mr_error *err);
void mr_state_snapshot(struct mr_state *s, uint32_t partition, struct mr_buffer *out);
MR_NODISCARD enum mr_status mr_state_load(struct mr_state *s, struct mr_text snapshot,
                                          struct mr_error *err);
