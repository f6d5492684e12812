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
struct mr_found { /* row NULL: none */
    struct mr_segment *segment;
    struct mr_state_row *row;
    uint32_t ref;
};
/* g: the segment of the key's expiry, or NULL; looked at when the key decides its expiry. */
struct mr_found mr_state_find_row(struct mr_state *s, struct mr_segment *g, uint64_t hash,
                                  struct mr_text key);
/* The key must not be there. */
struct mr_found mr_state_insert_row(struct mr_state *s, uint64_t hash, struct mr_text key,
                                    int64_t expiry_us);
/* Ends the list of changes: rows are no longer marked. */
void mr_state_forget_changes(struct mr_state *s);
