/* segment.h - rows of one time bucket: slabs and index. Internal to core/state.
 *
 * Row      A reference is slab << 10 | offset / 16; slabs are at most 16 KiB, except those of one
 *          huge row. A slab begins with 16 bytes that hold its size, so reference 0 is no row.
 * Index    Groups of 16 tags are probed in turn from the one that the hash names; a group with an
 *          empty tag ends the search. Nothing is deleted singly: a sweep builds the index again.
 */
#pragma once
#include "core/state/memory.h"
#include "core/state/state.h"

struct mr_index {
    uint8_t *tags;     /* capacity of them; 0: empty, else 0x80 | 7 bits of the hash */
    uint32_t *refs;    /* behind the tags, in the same memory */
    uint32_t capacity; /* a multiple of MR_INDEX_GROUP, or 0 */
    uint32_t used;
};

enum { MR_CHANGED_ROWS = 509 };
struct mr_changed { /* a page of rows that changed */
    struct mr_changed *next;
    uint64_t n;
    struct mr_state_row *rows[MR_CHANGED_ROWS];
};

struct mr_segment {
    int64_t first_us, last_us; /* expiries that belong here, both included */
    int64_t min_us, max_us;    /* of the rows */
    uint64_t rows;
    struct mr_index small;  /* of all partitions, until parts is there */
    struct mr_index *parts; /* MR_PARTITIONS, or NULL */
    uint8_t **slabs;
    uint32_t slabs_n, slabs_capacity, slab_used, slab_bytes; /* the last two: of the last slab */
    struct mr_changed *changed;                              /* newest page first */
    struct mr_segment *before, *after; /* in the list of segments with changes */
};

static inline struct mr_state_row *mr_segment_row(const struct mr_segment *g, uint32_t ref)
{
    return (struct mr_state_row *)(void *)(g->slabs[ref >> 10] + ((uint64_t)(ref & 1023) << 4));
}
static inline struct mr_index *mr_segment_index(struct mr_segment *g, uint64_t hash)
{
    return g->parts ? &g->parts[hash >> 56] : &g->small;
}
/* Where an index begins to look for a hash whose upper half is high: bits below the partition's. */
static inline uint32_t mr_index_start(const struct mr_index *x, uint32_t high)
{
    uint32_t mixed = high << 8 | high >> 24;
    return (uint32_t)(((uint64_t)mixed * x->capacity) >> 32) & ~(uint32_t)15;
}
static inline uint8_t mr_index_tag(uint64_t hash)
{
    return (uint8_t)(0x80 | (hash & 0x7f));
}

struct mr_segment *mr_segment_open(struct mr_state_memory *m, int64_t first_us, int64_t last_us);
/* Gives all memory back but that of BYTES slots. */
void mr_segment_close(struct mr_segment *g, struct mr_state_memory *m);
struct mr_state_row *mr_segment_find(struct mr_segment *g, uint64_t hash, struct mr_text key);
/* The key must not be there. Slots are zero; a row is slots_bytes longer than its key. */
struct mr_state_row *mr_segment_insert(struct mr_segment *g, struct mr_state_memory *m,
                                       uint64_t hash, struct mr_text key, uint32_t slots_bytes,
                                       int64_t expiry_us);
/* Takes rows with expiry_us <= watermark_us out of the index and the list of changes; visit sees
 * each before. Their space is free when the segment goes. */
uint64_t mr_segment_sweep(struct mr_segment *g, struct mr_state_memory *m, int64_t watermark_us,
                          void (*visit)(void *arg, struct mr_state_row *row), void *arg);
/* The row at or after position *at (part << 32 | place in its index), which moves behind it; NULL:
 * none. */
struct mr_state_row *mr_segment_next(struct mr_segment *g, uint64_t *at);
