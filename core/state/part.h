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
    struct mr_segment *last; /* found last, or NULL */

    uint64_t epoch;             /* + 1; 0: none yet */
    uint64_t changed_n;         /* in epoch */
    struct mr_segment *changed; /* those with rows changed in epoch since the last log */
    bool is_evicted;            /* since the last log */
    int64_t evicted_us;
};

/* The segment of an expiry; made if it is not there and make, else NULL. */
struct mr_segment *mr_state_segment(struct mr_state *s, int64_t expiry_us, bool make);
/* A row of any segment that has this key, or NULL. */
struct mr_state_row *mr_state_find_anywhere(struct mr_state *s, uint64_t hash, struct mr_text key);
/* Ends the list of changes: rows are no longer marked. */
void mr_state_forget_changes(struct mr_state *s);
