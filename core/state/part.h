/* part.h - one worker's part of a state table. Internal to core/state. */
#pragma once
#include "core/state/segment.h"

struct mr_state {
    const struct mr_state_table *table;
    struct mr_state_memory memory;
    uint32_t slots_bytes;
    bool has_bytes; /* some slot is BYTES: it must be freed with its row */
    bool
        timeless; /* rows were loaded that never end, though the table has buckets: the query got its
                       watermark later, or their time is null */
    uint64_t rows;
    struct mr_segment **segments; /* by first_us, ascending */
    uint64_t segments_n, segments_capacity;
    struct mr_segment *last, *last_but_one; /* found lately, or NULL */

    uint64_t epoch;             /* + 1; 0: none yet */
    uint64_t changed_n;         /* in epoch */
    struct mr_segment *changed; /* those with rows changed in epoch and not logged */
    uint64_t unlogged;          /* such rows, at most: evicted ones may still count */
    uint64_t listed;            /* rows that became such in this period (changes.c) */
    bool has_logged;            /* some segment has logged pages */
    bool is_evicted;            /* since the last log */
    int64_t evicted_us;
};

/* The segment of an expiry; made if it is not there and make, else NULL. */
struct mr_segment *mr_state_segment(struct mr_state *s, int64_t expiry_us, bool make);
struct mr_found { /* row NULL: none */
    struct mr_segment *segment;
    struct mr_state_row *row;
    uint32_t ref;
    uint32_t place; /* of none: in the index of segment, or MR_NO_PLACE */
};
/* g: the segment of the key's expiry, or NULL; looked at when the key decides its expiry. */
struct mr_found mr_state_find_row(struct mr_state *s, struct mr_segment *g, uint64_t hash,
                                  struct mr_text key);
/* none: what find_row found of the key, just before. */
struct mr_found mr_state_insert_row(struct mr_state *s, struct mr_found none, uint64_t hash,
                                    struct mr_text key, int64_t expiry_us);

/* record.c: rows into a log record or a snapshot, each told by its difference to the one before. */
struct mr_row_log {
    const struct mr_state_table *table;
    struct mr_buffer *out;
    int64_t expiry_us;
};
void mr_row_log_put(struct mr_row_log *log, struct mr_state_row *row);

/* changes.c */
void mr_changes_mark(struct mr_state *s, const struct mr_found *found);
/* A new epoch: what the one before changed is no longer marked. */
void mr_changes_enter(struct mr_state *s, uint64_t epoch);
void mr_changes_forget(struct mr_state *s);
/* g, which has changes, leaves the list of those that do. */
void mr_changes_unlink(struct mr_state *s, struct mr_segment *g);
/* Until out has bytes. ahead: only rows that are not likely to change again in this epoch. */
void mr_changes_log(struct mr_state *s, uint64_t bytes, struct mr_row_log *log);
void mr_changes_log_ahead(struct mr_state *s, uint64_t bytes, struct mr_row_log *log);
