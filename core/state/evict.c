#include "core/state/part.h"

struct leaving {
    struct mr_state *state;
    void (*visit)(void *arg, struct mr_state_row *row);
    void *arg;
};

static void leave(void *arg, struct mr_state_row *row)
{
    struct leaving *l = arg;
    const struct mr_state_table *table = l->state->table;

    if (l->visit)
        l->visit(l->arg, row);
    if (!l->state->has_bytes)
        return;
    union mr_slot *slots = mr_state_slots(row);
    for (uint32_t i = 0; i < table->slots_n; i++) {
        if (table->slots[i] == MR_SLOT_BYTES)
            mr_heap_give(&l->state->memory, mr_wide_bytes(slots));
        slots += mr_slot_width(table->slots[i]);
    }
}

/* All rows of g end: they are only looked at when somebody wants to see them. */
static void show_leaving(struct mr_state *s, struct mr_segment *g, struct leaving *l)
{
    uint64_t at = 0;

    if (l->visit == NULL && !s->has_bytes)
        return;
    for (struct mr_state_row *r; (r = mr_segment_next(g, &at)) != NULL;)
        leave(l, r);
}

static uint64_t drop(struct mr_state *s, struct mr_segment *g)
{
    uint64_t rows = g->rows;

    if (g->changed)
        mr_changes_unlink(s, g);
    mr_segment_close(g, &s->memory);
    return rows;
}

uint64_t mr_state_evict(struct mr_state *s, int64_t watermark_us,
                        void (*visit)(void *arg, struct mr_state_row *row), void *arg)
{
    struct leaving l = {.state = s, .visit = visit, .arg = arg};
    uint64_t removed = 0, kept = 0, i = 0;

    if (s->segments_n == 0 || s->segments[0]->first_us > watermark_us)
        return 0;
    for (; i < s->segments_n && s->segments[i]->first_us <= watermark_us; i++) {
        struct mr_segment *g = s->segments[i];
        if (g->max_us <= watermark_us) {
            show_leaving(s, g, &l);
            s->segments[i] = NULL; /* visit may jump out, and then each is closed once */
            removed += drop(s, g);
            continue;
        }
        if (g->min_us <= watermark_us)
            removed += mr_segment_sweep(g, watermark_us, leave, &l);
        s->segments[i] = NULL;
        s->segments[kept++] = g;
    }
    if (kept < i) {
        memmove(&s->segments[kept], &s->segments[i], (s->segments_n - i) * sizeof(void *));
        s->segments_n -= i - kept;
        s->last = s->last_but_one = NULL;
    }
    if (removed) {
        s->evicted_us = watermark_us; /* it never moves back */
        s->is_evicted = true;
        s->rows -= removed;
    }
    return removed;
}
