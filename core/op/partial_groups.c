/* partial_groups.c - the group of each row.
 *
 * Cache    Rows whose key (without the window, when the whole batch lies in one) was seen lately
 *          are told by mr_group_cache; a text key is looked up in place, by its views. The others
 *          are misses.
 * Words    Misses whose keys fit are looked up in the table of words, made if new, and cached. A
 *          text that is too long is never cached, so that no row has to be tested for it.
 * Rest     Rows with long texts, and all rows of keys that are no words, go by encoded rows.
 */
#include "core/op/partial_aggregate.h"

#include "core/base/check.h"
#include "core/state/row.h"

enum {
    CACHE_MISS_SHARE = 4, /* a fourth of the rows missing is too much */
    CACHE_REST_BATCHES = 32,
    CACHE_RUN_FIRST = 64,
};

void mr_partial_forget_cache(struct mr_partial_state *s)
{
    if (++s->cache->generation == 0) { /* all generations were used */
        memset(s->cache, 0, sizeof *s->cache);
        s->cache->generation = 1;
    }
}

static void fill_starts(struct mr_partial_state *s, const struct mr_partial_rows *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        s->starts[i] = r->start;
}

static void note_groups(struct mr_partial_state *s, const struct mr_group_table *t,
                        const uint32_t *sel, const uint32_t *ids, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        s->groups[sel ? sel[i] : i] = mr_group_slots(t, ids[i]);
}

/* rows[0..n), with s->starts beside them, into the table of words. */
static void add_words(struct mr_ctx *ctx, const uint32_t *rows, uint32_t n, uint32_t *ids)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;

    mr_key_words_pack(&p->words, s->keys, s->starts, rows, n, s->words);
    mr_hash->words(s->hashes, s->words, p->words.words_n, n);
    mr_group_table_add_words(&s->tables[MR_WORDS_TABLE], n, s->hashes, s->words, ids, s->lookup);
}

static void add_encoded(struct mr_ctx *ctx, const uint32_t *rows, uint32_t n, uint32_t *ids)
{
    struct mr_partial_state *s = ctx->state;

    mr_row_encode(s->keys, ctx->node->keys_n, rows, n, &s->arena, s->texts, s->hashes);
    mr_group_table_add_keys(&s->tables[MR_ENCODED_TABLE], n, s->hashes, s->texts, ids, s->lookup);
}

/* Without the cache: the rows that fit by words, the rest encoded. */
static void find_all(struct mr_ctx *ctx, struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const uint32_t window_key = ctx->node->window_key;
    uint32_t fit_n = p->has_words ? r->n : 0;

    if (window_key != UINT32_MAX && r->is_one_window)
        fill_starts(s, r);
    if (p->has_words && mr_key_words_has_long(&p->words, s->keys, r->sel, r->n))
        fit_n = mr_key_words_split(&p->words, s->keys, r->sel, r->n, s->fit, s->rest);
    r->has_ids = fit_n == r->n;
    if (r->has_ids) {
        add_words(ctx, r->sel, r->n, s->ids);
        return;
    }
    const struct mr_column time = s->keys[window_key == UINT32_MAX ? 0 : window_key];
    mr_partial_make_window(ctx, r);
    add_encoded(ctx, fit_n ? s->rest : r->sel, r->n - fit_n, s->ids);
    note_groups(s, &s->tables[MR_ENCODED_TABLE], fit_n ? s->rest : r->sel, s->ids, r->n - fit_n);
    if (fit_n == 0)
        return;
    if (window_key != UINT32_MAX) { /* the windows of the rows that fit, beside them */
        for (uint32_t i = 0; i < fit_n; i++)
            s->starts[i] = s->keys[window_key].children[0].i64[s->fit[i]];
        s->keys[window_key] = time;
    }
    add_words(ctx, s->fit, fit_n, s->ids);
    note_groups(s, &s->tables[MR_WORDS_TABLE], s->fit, s->ids, fit_n);
}

/* Whether no selected row of a column can be null. */
static bool has_no_null(const struct mr_column *c, uint32_t rows)
{
    const uint32_t whole = rows >> 6;

    if (c->valid == NULL)
        return true;
    for (uint32_t w = 0; w < whole; w++)
        if (c->valid[w] != UINT64_MAX)
            return false;
    const uint64_t rest = (UINT64_C(1) << (rows & 63)) - 1;
    return (rows & 63) == 0 || (c->valid[whole] & rest) == rest;
}

/* A batch in which the cache may be asked: one text key without nulls, at most one window. */
static bool may_use_cache(struct mr_ctx *ctx, const struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const bool has_window = ctx->node->window_key != UINT32_MAX;

    if (p->view_key == MR_NO_EXPR || (has_window && !r->is_one_window))
        return false;
    if (s->cache_rest > 0) {
        s->cache_rest--;
        return false;
    }
    if (!has_no_null(&s->keys[p->view_key], r->batch.rows))
        return false;
    if (has_window && (!s->cache_has_window || s->cache_start != r->start)) {
        mr_partial_forget_cache(s);
        s->cache_has_window = true;
        s->cache_start = r->start;
    }
    return true;
}

/* Gives the misses ids and caches them, but for those with long texts: they are added to
 * s->filtered, from long_n on; gives how many are there then. */
static uint32_t add_misses(struct mr_ctx *ctx, const struct mr_partial_rows *r, uint32_t first,
                           uint32_t misses_n, uint32_t long_n)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_view *views = s->keys[p->view_key].views;
    uint32_t fit_n = 0;

    for (uint32_t m = 0; m < misses_n; m++) {
        const uint32_t i = first + s->misses[m];
        const uint32_t row = r->sel ? r->sel[i] : i;
        const bool fits = views[row].length <= MR_VIEW_INLINE;
        s->fit[fit_n] = row;
        s->rest[fit_n] = i;
        s->starts[fit_n] = r->start;
        s->filtered[long_n] = i;
        fit_n += fits;
        long_n += !fits;
    }
    if (fit_n == 0)
        return long_n;
    uint32_t *ids = mr_arena_alloc(&s->arena, sizeof *ids * fit_n);
    add_words(ctx, s->fit, fit_n, ids);
    for (uint32_t m = 0; m < fit_n; m++) {
        const uint64_t *key = (const uint64_t *)(const void *)&views[s->fit[m]];
        struct mr_group_place *place = &s->cache->places[mr_group_place(key, 2)];
        memcpy(place->words, key, 2 * sizeof *key);
        place->id = ids[m];
        place->generation = s->cache->generation;
        s->ids[s->rest[m]] = ids[m];
    }
    return long_n;
}

/* The rows s->filtered[0..n) of r have long texts. */
static void add_long(struct mr_ctx *ctx, const struct mr_partial_rows *r, uint32_t n)
{
    struct mr_partial_state *s = ctx->state;
    uint32_t *ids = mr_arena_alloc(&s->arena, sizeof *ids * n);

    for (uint32_t m = 0; m < n; m++) {
        s->rest[m] = r->sel ? r->sel[s->filtered[m]] : s->filtered[m];
        s->ids[s->filtered[m]] = 0; /* of no table of words; overwritten below */
    }
    mr_partial_make_window(ctx, r);
    add_encoded(ctx, s->rest, n, ids);
    note_groups(s, &s->tables[MR_WORDS_TABLE], r->sel, s->ids, r->n);
    note_groups(s, &s->tables[MR_ENCODED_TABLE], s->rest, ids, n);
}

/* In runs that get longer: what the first rows miss, the others find. */
static void find_cached(struct mr_ctx *ctx, struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;
    const struct mr_partial_plan *p = ctx->plan;
    const struct mr_view *views = s->keys[p->view_key].views;
    uint32_t long_n = 0, misses_n = 0, run = CACHE_RUN_FIRST;

    for (uint32_t first = 0; first < r->n; first += run, run *= 8) {
        run = run < r->n - first ? run : r->n - first;
        misses_n = mr_group->find_cached(
            s->cache, 2, (const uint64_t *)(const void *)(r->sel ? views : views + first),
            r->sel ? r->sel + first : NULL, run, s->ids + first, s->misses);
        long_n = add_misses(ctx, r, first, misses_n, long_n);
        if (first + run == r->n)
            break;
    }
    if (misses_n > run / CACHE_MISS_SHARE && r->n > CACHE_RUN_FIRST)
        s->cache_rest = CACHE_REST_BATCHES;
    r->has_ids = long_n == 0;
    if (!r->has_ids)
        add_long(ctx, r, long_n);
}

/* Without keys there is one group, number 0 of the table of words, as s->ids say from the start. */
static void find_only(struct mr_partial_state *s, struct mr_partial_rows *r)
{
    static const uint64_t key = 0, hash = 0;
    uint32_t id;

    mr_group_table_add_words(&s->tables[MR_WORDS_TABLE], 1, &hash, &key, &id, s->lookup);
    r->has_ids = true;
}

void mr_partial_find_groups(struct mr_ctx *ctx, struct mr_partial_rows *r)
{
    struct mr_partial_state *s = ctx->state;

    if (ctx->node->keys_n == 0)
        find_only(s, r);
    else if (may_use_cache(ctx, r))
        find_cached(ctx, r);
    else
        find_all(ctx, r);
    MR_ASSERT(!r->has_ids || s->tables[MR_WORDS_TABLE].n > 0);
}
