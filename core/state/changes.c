/* The rows that an epoch changed: listed per segment, so that who wants them looks at no other. */
#include "core/state/part.h"

enum {
    AHEAD = 8,          /* rows fetched before their turn in a walk */
    AHEAD_ROWS = 16384, /* listed, before some are logged ahead */
    PERIOD_ROWS = 65536,
    COLD_SHARE = 64, /* a segment with less of a period's rows is cold */
};

void mr_changes_add_page(struct mr_state *s, struct mr_segment *g)
{
    struct mr_changed *page = mr_state_alloc(&s->memory, sizeof *page);

    page->next = g->changed;
    page->n = page->logged_n = 0;
    if (g->changed == NULL) {
        g->before = NULL;
        g->after = s->changed;
        if (s->changed)
            s->changed->before = g;
        s->changed = g;
    }
    g->changed = page;
}

static void free_pages(struct mr_state *s, struct mr_segment *g, struct mr_changed *page)
{
    for (struct mr_changed *next; page; page = next) {
        next = page->next;
        for (uint32_t i = 0; i < page->n; i++)
            mr_segment_row(g, page->refs[i])->key_flags &= ~(MR_ROW_CHANGED | MR_ROW_LOGGED);
        mr_state_free(&s->memory, page, sizeof *page);
    }
}

void mr_changes_forget(struct mr_state *s)
{
    for (struct mr_segment *g = s->changed; g; g = g->after) {
        free_pages(s, g, g->changed);
        g->changed = NULL;
    }
    for (uint64_t i = 0; s->has_logged && i < s->segments_n; i++) {
        free_pages(s, s->segments[i], s->segments[i]->logged);
        s->segments[i]->logged = NULL;
    }
    s->changed = NULL;
    s->has_logged = false;
    s->listed_n = s->logged_n = s->period_at = 0;
}

void mr_changes_enter(struct mr_state *s, uint64_t epoch)
{
    if (s->epoch == epoch + 1)
        return;
    mr_changes_forget(s);
    s->changed_n = 0;
    s->epoch = epoch + 1;
}

void mr_changes_unlink(struct mr_state *s, struct mr_segment *g)
{
    if (g->after)
        g->after->before = g->before;
    if (g->before)
        g->before->after = g->after;
    else
        s->changed = g->after;
}

uint64_t mr_state_changed(const struct mr_state *s, uint64_t epoch)
{
    return s->epoch == epoch + 1 ? s->changed_n : 0;
}

/* segment: address of the segment that chunk, a page, belongs to; row: the next place in it. */
bool mr_state_next_changed(struct mr_state *s, uint64_t epoch, struct mr_state_cursor *at,
                           struct mr_state_row **row)
{
    if (s->epoch != epoch + 1)
        return false;
    const struct mr_segment *g = (const struct mr_segment *)(uintptr_t)at->segment;
    const struct mr_changed *c = at->chunk;
    if (g == NULL) {
        g = s->changed;
        c = g ? g->changed : NULL;
    }
    while (g) {
        for (; c; c = c->next, at->row = 0) {
            if (at->row < c->n) {
                const uint64_t ahead = at->row + AHEAD < c->n ? at->row + AHEAD : at->row;
                __builtin_prefetch(mr_segment_row(g, c->refs[ahead]));
                at->segment = (uintptr_t)g;
                at->chunk = c;
                *row = mr_segment_row(g, c->refs[at->row++]);
                return true;
            }
        }
        g = g->after;
        c = g ? g->changed : NULL;
        at->row = 0;
    }
    return false;
}

/* Rows of the newest page of g, until log has bytes. ahead: they may change again in this epoch. */
static void log_page(struct mr_state *s, struct mr_segment *g, bool ahead, uint64_t bytes,
                     struct mr_row_log *log)
{
    struct mr_changed *page = g->changed;
    uint32_t before = page->logged_n;

    for (; page->logged_n < page->n && log->out->n < bytes; page->logged_n++) {
        uint32_t next = page->logged_n + AHEAD < page->n ? page->logged_n + AHEAD : page->logged_n;
        __builtin_prefetch(mr_segment_row(g, page->refs[next]));
        struct mr_state_row *row = mr_segment_row(g, page->refs[page->logged_n]);
        mr_row_log_put(log, row);
        row->key_flags &= ~MR_ROW_CHANGED;
        row->key_flags |= ahead ? MR_ROW_LOGGED : 0;
    }
    s->logged_n += page->logged_n - before;
    if (page->logged_n < page->n)
        return;
    g->changed = page->next;
    if (ahead) {
        page->next = g->logged;
        g->logged = page;
        s->has_logged = true;
    } else {
        mr_state_free(&s->memory, page, sizeof *page);
    }
    if (g->changed == NULL)
        mr_changes_unlink(s, g);
}

void mr_changes_log(struct mr_state *s, uint64_t bytes, struct mr_row_log *log)
{
    while (s->changed && log->out->n < bytes)
        log_page(s, s->changed, false, bytes, log);
}

/* After each period: who got few of its rows is cold. A late row now and then keeps nothing hot. */
static void find_cold(struct mr_state *s)
{
    if (s->listed_n - s->period_at < PERIOD_ROWS)
        return;
    for (struct mr_segment *g = s->changed; g; g = g->after) {
        g->is_cold = g->listed_n - g->period_at < (s->listed_n - s->period_at) / COLD_SHARE;
        g->period_at = g->listed_n;
    }
    s->period_at = s->listed_n;
}

void mr_changes_log_ahead(struct mr_state *s, uint64_t bytes, struct mr_row_log *log)
{
    const struct mr_state_table *t = s->table;

    if (t->keeps_changes || s->listed_n - s->logged_n < AHEAD_ROWS)
        return;
    find_cold(s);
    for (struct mr_segment *g = s->changed, *next; g && log->out->n < bytes; g = next) {
        next = g->after;
        while ((t->rows_are_final || g->is_cold) && g->changed && log->out->n < bytes)
            log_page(s, g, !t->rows_are_final, bytes, log);
    }
}
