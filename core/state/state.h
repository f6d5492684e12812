/* state.h - what operators remember: typed tables, one part per worker.
 *
 * What     An operator declares tables (keys, slots, expiry); the runtime makes one struct
 *          mr_state per worker and table, logs what an epoch changed, snapshots, loads, shows and
 *          evicts. The operator only finds, inserts and visits rows.
 * Layout   Rows lie in segments by time bucket of their expiry: eviction drops segments; at most
 *          the bucket that the watermark cuts is swept. A segment has slabs of rows (addresses are
 *          stable until eviction) and a linear-probing index of 8-byte places, half of a hash and a
 *          row's reference: one index while it is small, one per partition above that, so that
 *          growing never moves more than a 256th and a partition can be snapshot without looking at
 *          the others. Keys are encoded rows (row.h), equal iff bytes are equal.
 * Threads  One worker.
 * Hash     64 bits of the encoded key; the top byte is the virtual partition, so rows of a
 *          partition can be listed and moved to another worker at a restart.
 */
#pragma once
#include "core/batch/builder.h"
#include "core/expr/aggregate.h"
#include "core/mem/mem.h"
#include "core/state/row.h"

#define MR_STATE_NEVER INT64_MAX /* expiry of a row that time does not end */

enum mr_expiry_rule {
    MR_EXPIRY_GIVEN,  /* with each row, which keeps it: 8 bytes a row */
    MR_EXPIRY_NEVER,  /* MR_STATE_NEVER is given with each */
    MR_EXPIRY_OF_KEY, /* the end of a window in the key, or a time in it; null: never. The same is
                         given with each row. */
};

struct mr_state_table {          /* declaration */
    const char *name;            /* "groups", "seen": unique within the operator */
    const struct mr_type *key;   /* STRUCT */
    const struct mr_type *value; /* STRUCT, for compatibility checks and show: names and types */
    uint32_t slots_n;
    const enum mr_slot_kind *slots; /* one behind the other in a row */
    enum mr_expiry_rule expiry;
    uint32_t expiry_field; /* OF_KEY: of key; a STRUCT {start, end} or of 8 bytes */
    int64_t bucket_us;     /* width of a time bucket; 0: one bucket, which evict sweeps
                          as a whole when a row of it ends */
    bool any_expiry;       /* a key may come back with another expiry (the row keeps its
                          first): every segment is probed. Else a key decides its
                          expiry, as a window does its end. */
    bool rows_are_final;   /* only mr_state_insert is used, and slots stay zero */
    bool keeps_changes;    /* the operator asks for rows changed: none is logged ahead */
};

struct mr_state_row {   /* 8 bytes; then the key, padded to 8, then the slots */
    uint32_t hash_high; /* the upper half of the key's hash; its top byte is the partition */
    uint32_t key_flags; /* length of the key, and bits that only core/state looks at */
};
_Static_assert(sizeof(struct mr_state_row) == 8, "slots stay aligned");

static inline struct mr_text mr_state_key(const struct mr_state_row *r)
{
    return (struct mr_text){(const char *)(r + 1), r->key_flags & MR_ROW_BYTES_MAX};
}
static inline union mr_slot *mr_state_slots(struct mr_state_row *r)
{
    uint64_t key_bytes = ((uint64_t)(r->key_flags & MR_ROW_BYTES_MAX) + 7) & ~(uint64_t)7;
    return (union mr_slot *)(void *)((uint8_t *)(r + 1) + key_bytes);
}

/* OF_KEY: whether it is always at the same place of an encoded key, and need not be known
 * otherwise. */
bool mr_state_key_has_expiry(const struct mr_state_table *table);

struct mr_state;
int64_t mr_state_expiry(const struct mr_state *s, const struct mr_state_row *r);
/* Of keys that have it. */
void mr_state_expiries(const struct mr_state *s, uint32_t n, const struct mr_text *keys,
                       int64_t *expiry_us);

struct mr_state_config {
    const struct mr_state_table *table;
    struct mr_budget *budget;
    jmp_buf *escape; /* as for arenas: memory exhausted */
};
MR_NODISCARD enum mr_status mr_state_open(const struct mr_state_config *config,
                                          struct mr_state **out, struct mr_error *err);
void mr_state_close(struct mr_state *s);

/* Finds or inserts n rows. keys[i]: encoded key, with MR_PAD_BYTES readable behind it; rows[i]:
 * filled; is_new: bit i set where inserted (slots all zero). upsert: every row counts as changed in
 * epoch; insert: only those inserted. A row found keeps its expiry; a key twice in one call is
 * inserted by its first. */
void mr_state_upsert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                     const struct mr_text *keys, const int64_t *expiry_us,
                     struct mr_state_row **rows, uint64_t *is_new);
void mr_state_insert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                     const struct mr_text *keys, const int64_t *expiry_us,
                     struct mr_state_row **rows, uint64_t *is_new);
/* Finds; NULL where absent. */
void mr_state_find(struct mr_state *s, uint32_t n, const uint64_t *hashes,
                   const struct mr_text *keys, const int64_t *expiry_us,
                   struct mr_state_row **rows);
/* Grows a BYTES slot of a row to at least bytes; gives its data. Memory is the row's, until
 * eviction. What b held is copied. Owner of struct mr_aggregate_call: the state. */
void *mr_state_grow(void *state, struct mr_slot_bytes *b, uint32_t bytes);

/* Removes rows with expiry_us <= watermark_us; gives how many. visit (or NULL) sees each before it
 * goes. */
uint64_t mr_state_evict(struct mr_state *s, int64_t watermark_us,
                        void (*visit)(void *arg, struct mr_state_row *row), void *arg);
/* Walks rows; a cursor of zeros starts; false at the end. Rows may be changed, not inserted,
 * meanwhile. */
struct mr_state_cursor {
    uint64_t segment, row;
    const void *chunk;
};
bool mr_state_next(struct mr_state *s, struct mr_state_cursor *at, struct mr_state_row **row);
/* Only rows changed in epoch and not yet logged nor evicted, in no order. No row is looked at that
 * did not change. */
bool mr_state_next_changed(struct mr_state *s, uint64_t epoch, struct mr_state_cursor *at,
                           struct mr_state_row **row);

uint64_t mr_state_rows(const struct mr_state *s);
uint64_t mr_state_changed(const struct mr_state *s,
                          uint64_t epoch); /* rows changed in epoch, also those evicted */
uint64_t mr_state_bytes(const struct mr_state *s);

/* For the checkpoint. log: appends what changed in epoch and is not logged (the eviction watermark,
 * then rows) to out, nothing when nothing did; when out has bytes it stops and gives true: there is
 * more. log_ahead: the same while the epoch runs, of rows that are likely to stay as they are;
 * those that change again are logged again. apply: does a log record to this part, only rows of
 * partitions that owns says yes to. snapshot: all rows of a partition; nothing when it has none.
 * load: the reverse of it. apply and load do not count as changes; what they read has MR_PAD_BYTES
 * readable behind it. Formats: README.md. */
bool mr_state_log(struct mr_state *s, uint64_t epoch, uint64_t bytes, struct mr_buffer *out);
void mr_state_log_ahead(struct mr_state *s, uint64_t epoch, uint64_t bytes, struct mr_buffer *out);
MR_NODISCARD enum mr_status mr_state_apply(struct mr_state *s, struct mr_text record,
                                           bool (*owns)(void *arg, uint32_t partition), void *arg,
                                           struct mr_error *err);
void mr_state_snapshot(struct mr_state *s, uint32_t partition, struct mr_buffer *out);
MR_NODISCARD enum mr_status mr_state_load(struct mr_state *s, struct mr_text snapshot,
                                          struct mr_error *err);
