/* part.h - one worker's part of a state table. Internal to core/state. */
#pragma once
#include "core/state/segment.h"

struct mr_state {
    const struct mr_state_table *table;
    struct mr_state_memory memory;
    struct mr_expiry expiry;
    uint32_t slots_bytes;
    bool has_bytes; /* some slot is BYTES: it must be freed with its row */
    /* Rows were loaded that never end, though the table has buckets: the query got its watermark
     * later, or their time is null. */
    bool timeless;
    uint64_t rows;
    struct mr_segment **segments; /* by first_us, ascending */
    uint64_t segments_n, segments_capacity;
    struct mr_segment *last, *last_but_one; /* found lately, or NULL */

    uint64_t epoch;              /* + 1; 0: none yet */
    uint64_t changed_n;          /* in epoch */
    struct mr_segment *changed;  /* those with rows changed in epoch and not logged */
    uint64_t listed_n, logged_n; /* rows that became such, and were logged, in epoch */
    uint64_t period_at;          /* listed_n when the period began (changes.c) */
    bool has_logged;             /* some segment has logged pages */
    bool is_evicted;             /* since the last log */
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
/* The row of a key, made if it is not there: then true. */
bool mr_state_find_or_insert(struct mr_state *s, uint64_t hash, struct mr_text key,
                             int64_t expiry_us, struct mr_found *found);

/* record.c: rows into a log record or a snapshot, each told by its difference to the one before. */
struct mr_row_log {
    const struct mr_state_table *table;
    struct mr_expiry expiry;
    struct mr_buffer *out;
    int64_t expiry_us; /* of the row before */
};
void mr_row_log_put(struct mr_row_log *log, struct mr_state_row *row);

/* changes.c */
void mr_changes_add_page(struct mr_state *s, struct mr_segment *g);
static inline void mr_changes_mark(struct mr_state *s, const struct mr_found *found)
{
    struct mr_segment *g = found->segment;

    if (found->row->key_flags & MR_ROW_CHANGED)
        return;
    if (g->changed == NULL || g->changed->n == MR_CHANGED_ROWS)
        mr_changes_add_page(s, g);
    g->changed->refs[g->changed->n++] = found->ref;
    s->changed_n += !(found->row->key_flags & MR_ROW_LOGGED);
    found->row->key_flags |= MR_ROW_CHANGED;
    g->listed_n++;
    s->listed_n++;
}
/* A new epoch: what the one before changed is no longer marked. */
void mr_changes_enter(struct mr_state *s, uint64_t epoch);
void mr_changes_forget(struct mr_state *s);
/* g, which has changes, leaves the list of those that do. */
void mr_changes_unlink(struct mr_state *s, struct mr_segment *g);
/* Until out has bytes. ahead: only rows that are not likely to change again in this epoch. */
void mr_changes_log(struct mr_state *s, uint64_t bytes, struct mr_row_log *log);
void mr_changes_log_ahead(struct mr_state *s, uint64_t bytes, struct mr_row_log *log);
