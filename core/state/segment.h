/* segment.h - rows of one time bucket: slabs and index. Internal to core/state.
 *
 * Row      A reference is slab << 10 | offset / 16; slabs are at most 16 KiB, except those of one
 *          huge row. A slab begins with a cache line that tells its size, so reference 0 is no row,
 *          and rows of 32 or 64 bytes lie in one line each.
 * Index    Groups of 8 places, a cache line each, are probed in turn from the one that the hash
 *          names; a group with an empty place ends the search. A place has half of the hash, so
 *          other rows are hardly ever looked at, and none when an index grows. Nothing is deleted
 *          singly: a sweep fills the index again.
 */
#pragma once
#include "core/state/expiry.h"
#include "core/state/group.h"
#include "core/state/memory.h"
#include "core/state/state.h"

struct mr_index {
    uint64_t *places;
    uint32_t capacity;   /* a multiple of MR_INDEX_GROUP, or 0 */
    uint32_t used, room; /* places: at most room are used */
};

/* In key_flags: listed as changed and not logged since; swept, so in no index; logged in this
 * epoch, which is not over. */
#define MR_ROW_CHANGED ((uint32_t)1 << 31)
#define MR_ROW_DEAD ((uint32_t)1 << 30)
#define MR_ROW_LOGGED ((uint32_t)1 << 29)

enum { MR_CHANGED_ROWS = 1020 };
struct mr_changed { /* a page of rows that changed */
    struct mr_changed *next;
    uint32_t n, logged_n; /* the first logged_n are logged */
    uint32_t refs[MR_CHANGED_ROWS];
};

struct mr_slab { /* the rows follow */
    uint64_t bytes;
    uint64_t used; /* header included; of the segment's last slab, slab_used counts */
    uint64_t unused[6];
};

struct mr_segment {
    int64_t first_us, last_us; /* expiries that belong here, both included */
    int64_t min_us, max_us;    /* of the rows */
    uint64_t rows;
    uint64_t rows_expected;  /* about as many as its neighbour had when it was opened */
    struct mr_expiry expiry; /* where a row has it */
    uint32_t slots_bytes;    /* of a row */
    struct mr_index small;   /* of all partitions, until parts is there */
    struct mr_index *parts;  /* MR_PARTITIONS, or NULL */
    uint32_t parts_n;        /* that had rows when it was split */
    struct mr_slab **slabs;
    uint32_t slabs_n, slabs_capacity, slab_used, slab_bytes; /* the last two: of the last slab */
    struct mr_changed *changed;                              /* newest page first */
    struct mr_changed *logged;    /* pages of rows logged ahead in this epoch */
    uint64_t listed_n, period_at; /* rows that changed so far; when the period began (changes.c) */
    bool is_cold;                 /* got few in the last one */
    struct mr_segment *before, *after; /* in the list of segments with changes */
};

static inline struct mr_state_row *mr_segment_row(const struct mr_segment *g, uint32_t ref)
{
    return (struct mr_state_row *)(void *)((uint8_t *)g->slabs[ref >> 10] +
                                           ((uint64_t)(ref & 1023) << 4) + g->expiry.front);
}
static inline struct mr_index *mr_segment_index(struct mr_segment *g, uint64_t hash)
{
    return g->parts ? &g->parts[hash >> 56] : &g->small;
}
static inline bool mr_segment_is_of(const struct mr_segment *g, int64_t expiry_us)
{
    return g && expiry_us >= g->first_us && expiry_us <= g->last_us;
}
/* Where an index begins to look for a hash whose upper half is high: bits below the partition's,
 * of which a worker has a range only. */
static inline uint32_t mr_index_start(const struct mr_index *x, uint32_t high)
{
    uint32_t bits = high << 8;
    return (uint32_t)(((uint64_t)bits * x->capacity) >> 32) & ~(uint32_t)(MR_INDEX_GROUP - 1);
}

struct mr_segment *mr_segment_open(struct mr_state_memory *m, int64_t first_us, int64_t last_us,
                                   struct mr_expiry expiry, uint32_t slots_bytes,
                                   uint64_t rows_expected);
/* Gives all memory back but that of BYTES slots. */
void mr_segment_close(struct mr_segment *g, struct mr_state_memory *m);
static inline uint64_t mr_segment_row_bytes(const struct mr_segment *g, uint64_t key_bytes)
{
    uint64_t bytes = g->expiry.front + sizeof(struct mr_state_row) +
                     ((key_bytes + 7) & ~(uint64_t)7) + g->slots_bytes;

    return (bytes + 15) & ~(uint64_t)15;
}
static inline uint64_t mr_index_place(uint32_t hash_high, uint32_t ref)
{
    return (uint64_t)hash_high << 32 | ref;
}
/* A place that is not there yet, into an index that has room. */
void mr_index_put(struct mr_index *x, uint64_t place);
/* The index of a hash with room for one more, and a slab with room for a row. */
struct mr_index *mr_segment_make_room(struct mr_segment *g, struct mr_state_memory *m,
                                      uint64_t hash, uint64_t row_bytes);
/* Takes rows with expiry_us <= watermark_us out of the index and the list of changes; visit sees
 * each before. Their space is free when the segment goes. */
uint64_t mr_segment_sweep(struct mr_segment *g, int64_t watermark_us,
                          void (*visit)(void *arg, struct mr_state_row *row), void *arg);
/* The row at or after position *at (slab << 32 | offset), which moves behind it; NULL: none. Rows
 * come as they lie in memory. */
struct mr_state_row *mr_segment_next(const struct mr_segment *g, uint64_t *at);
/* Sees the rows of one partition, in no order, without looking at others. */
void mr_segment_visit_partition(struct mr_segment *g, uint32_t partition,
                                void (*visit)(void *arg, struct mr_state_row *row), void *arg);
