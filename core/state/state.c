#include "core/state/part.h"

#include "core/base/check.h"

enum {
    BLOCK = 32, /* keys in flight: about what the memory of one core can serve at a time */
    AHEAD = 8,  /* rows fetched before their turn in a walk */
    SEGMENTS_MAX = 4096,
    SEGMENTS_PROBED_MAX = 64, /* where each look-up probes them all */
};

enum mr_status mr_state_open(const struct mr_state_config *config, struct mr_state **out,
                             struct mr_error *err)
{
    const struct mr_state_table *table = config->table;

    MR_ASSERT(table->bucket_us >= 0);
    if (config->budget && !mr_budget_take(config->budget, sizeof **out))
        return MR_FAIL(err, MR_MEMORY, 0, "state %s: the limit of %s is reached", table->name,
                       config->budget->name);
    struct mr_state *s = mr_mem_alloc(sizeof *s);
    if (s == NULL) {
        if (config->budget)
            mr_budget_give(config->budget, sizeof **out);
        return MR_FAIL(err, MR_MEMORY, 0, "state %s: no memory", table->name);
    }
    *s = (struct mr_state){
        .table = table,
        .memory = {.budget = config->budget, .escape = config->escape, .bytes = sizeof *s},
        .slots_bytes = table->slots_n * (uint32_t)sizeof(union mr_slot),
    };
    for (uint32_t i = 0; i < table->slots_n; i++)
        s->has_bytes |= table->slots[i] == MR_SLOT_BYTES;
    *out = s;
    return MR_OK;
}

void mr_state_close(struct mr_state *s)
{
    if (s == NULL)
        return;
    for (uint64_t i = 0; i < s->segments_n; i++)
        if (s->segments[i])
            mr_segment_close(s->segments[i], &s->memory);
    mr_state_free(&s->memory, s->segments, s->segments_capacity * sizeof(struct mr_segment *));
    mr_state_memory_fini(&s->memory);
    MR_ASSERT(s->memory.bytes == sizeof *s);
    mr_state_free(&s->memory, s, sizeof *s);
}

/* What an expiry shares its segment with. */
static void bucket_of(const struct mr_state *s, int64_t expiry_us, int64_t *first, int64_t *last)
{
    int64_t width = s->table->bucket_us;

    *first = INT64_MIN;
    *last = INT64_MAX;
    if (width == 0)
        return;
    if (expiry_us == MR_STATE_NEVER) {
        *first = INT64_MAX;
        return;
    }
    int64_t index = expiry_us / width - (expiry_us % width < 0);
    if (__builtin_mul_overflow(index, width, first))
        *first = INT64_MIN;
    if (__builtin_mul_overflow(index + 1, width, last))
        *last = INT64_MAX;
    *last -= 1; /* so that the one that never ends stands alone */
}

static void need_segment_room(struct mr_state *s)
{
    if (s->segments_n < s->segments_capacity)
        return;
    uint64_t capacity = s->segments_capacity ? s->segments_capacity * 2 : 16;
    struct mr_segment **grown = mr_state_alloc(&s->memory, capacity * sizeof *grown);
    if (s->segments_n)
        memcpy(grown, s->segments, s->segments_n * sizeof *grown);
    mr_state_free(&s->memory, s->segments, s->segments_capacity * sizeof *grown);
    s->segments = grown;
    s->segments_capacity = capacity;
}

/* Times all over the place, as garbage has them, must not make a segment each: a neighbour of the gap
 * before segment `at` takes the bucket in. What it is swept for costs more, nothing else changes. */
static struct mr_segment *widen(struct mr_state *s, uint64_t at, int64_t first_us, int64_t last_us)
{
    struct mr_segment *g = s->segments[at ? at - 1 : 0];

    if (at)
        g->last_us = last_us;
    else
        g->first_us = first_us;
    return g;
}

struct mr_segment *mr_state_segment(struct mr_state *s, int64_t expiry_us, bool make)
{
    struct mr_segment *g = s->last;
    uint64_t from = 0, to = s->segments_n;
    int64_t first, last;

    if (g && expiry_us >= g->first_us && expiry_us <= g->last_us)
        return g;
    while (from < to) { /* the first that ends at or after it */
        uint64_t middle = from + (to - from) / 2;
        if (s->segments[middle]->last_us < expiry_us)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < s->segments_n && s->segments[from]->first_us <= expiry_us)
        return s->last = s->segments[from];
    if (!make)
        return NULL;
    bucket_of(s, expiry_us, &first, &last);
    if (s->segments_n >= (s->table->any_expiry ? SEGMENTS_PROBED_MAX : SEGMENTS_MAX))
        return s->last = widen(s, from, first, last);
    need_segment_room(s); /* first: nothing else would free g */
    g = mr_segment_open(&s->memory, first, last, s->slots_bytes);
    memmove(&s->segments[from + 1], &s->segments[from], (s->segments_n - from) * sizeof g);
    s->segments[from] = g;
    s->segments_n++;
    return s->last = g;
}

static void mark_changed(struct mr_state *s, struct mr_segment *g, struct mr_state_row *r,
                         uint32_t ref)
{
    struct mr_changed *page = g->changed;

    if (r->key_flags & MR_ROW_CHANGED)
        return;
    if (page == NULL || page->n == MR_CHANGED_ROWS) {
        page = mr_state_alloc(&s->memory, sizeof *page);
        page->next = g->changed;
        page->n = 0;
        if (g->changed == NULL) {
            g->before = NULL;
            g->after = s->changed;
            if (s->changed)
                s->changed->before = g;
            s->changed = g;
        }
        g->changed = page;
    }
    page->refs[page->n++] = ref;
    r->key_flags |= MR_ROW_CHANGED;
    s->changed_n++;
}

void mr_state_forget_changes(struct mr_state *s)
{
    for (struct mr_segment *g = s->changed; g; g = g->after) {
        for (struct mr_changed *c = g->changed, *next; c; c = next) {
            next = c->next;
            for (uint32_t i = 0; i < c->n; i++)
                mr_segment_row(g, c->refs[i])->key_flags &= ~MR_ROW_CHANGED;
            mr_state_free(&s->memory, c, sizeof *c);
        }
        g->changed = NULL;
    }
    s->changed = NULL;
}

static void enter_epoch(struct mr_state *s, uint64_t epoch)
{
    if (s->epoch == epoch + 1)
        return;
    mr_state_forget_changes(s);
    s->changed_n = 0;
    s->epoch = epoch + 1;
}

static struct mr_found find_in(struct mr_segment *g, uint64_t hash, struct mr_text key)
{
    uint32_t ref = g ? mr_segment_find(g, hash, key) : 0;

    return ref ? (struct mr_found){g, mr_segment_row(g, ref), ref} : (struct mr_found){g, NULL, 0};
}

struct mr_found mr_state_find_row(struct mr_state *s, struct mr_segment *g, uint64_t hash,
                                  struct mr_text key)
{
    struct mr_found found = {g, NULL, 0};

    if (!s->table->any_expiry)
        found = find_in(g, hash, key);
    else /* newest first: there most are found */
        for (uint64_t i = s->segments_n; i-- > 0 && found.row == NULL;)
            found = find_in(s->segments[i], hash, key);
    /* One from before the query had a watermark? */
    if (found.row == NULL && s->timeless)
        found = find_in(mr_state_segment(s, MR_STATE_NEVER, false), hash, key);
    return found;
}

struct mr_found mr_state_insert_row(struct mr_state *s, uint64_t hash, struct mr_text key,
                                    int64_t expiry_us)
{
    struct mr_segment *g = mr_state_segment(s, expiry_us, true);
    uint32_t ref = mr_segment_insert(g, &s->memory, hash, key, expiry_us);

    s->rows++;
    return (struct mr_found){g, mr_segment_row(g, ref), ref};
}

/* Brings the index, then the most likely row of each key into the cache. Inlined always: gcc 12 takes
 * a function of prefetches only for one without effect, and drops the call. */
static inline __attribute__((always_inline)) void
prefetch(uint32_t n, struct mr_segment *const *segments, const uint64_t *hashes)
{
    const uint64_t *groups[BLOCK];

    for (uint32_t i = 0; i < n; i++) {
        struct mr_segment *g = segments[i];
        const struct mr_index *x = g ? mr_segment_index(g, hashes[i]) : NULL;
        groups[i] = NULL;
        if (x == NULL || x->used == 0)
            continue;
        groups[i] = x->places + mr_index_start(x, (uint32_t)(hashes[i] >> 32));
        __builtin_prefetch(groups[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t mask = groups[i] ? mr_group_equal(groups[i], (uint32_t)(hashes[i] >> 32)) : 0;
        uint32_t ref = mask ? (uint32_t)groups[i][mr_group_first(mask)] : 0;
        if (ref) {
            const char *row = (const char *)mr_segment_row(segments[i], ref);
            __builtin_prefetch(row);
            __builtin_prefetch(row + 64); /* the slots, which the caller writes next */
        }
    }
}

/* is_new: where to set bits, from bit first on; insert_only: rows found are not changed. */
static void upsert_block(struct mr_state *s, uint32_t first, uint32_t n, const uint64_t *hashes,
                         const struct mr_text *keys, const int64_t *expiry_us,
                         struct mr_state_row **rows, uint64_t *is_new, bool insert_only)
{
    struct mr_segment *segments[BLOCK];

    for (uint32_t i = 0; i < n; i++)
        segments[i] = mr_state_segment(s, expiry_us[i], !s->table->any_expiry);
    prefetch(n, segments, hashes);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_found found = mr_state_find_row(s, segments[i], hashes[i], keys[i]);
        if (found.row == NULL) {
            found = mr_state_insert_row(s, hashes[i], keys[i], expiry_us[i]);
            mr_bit_set(is_new, first + i);
            mark_changed(s, found.segment, found.row, found.ref);
        } else if (!insert_only) {
            mark_changed(s, found.segment, found.row, found.ref);
        }
        rows[i] = found.row;
    }
}

static void upsert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                   const struct mr_text *keys, const int64_t *expiry_us, struct mr_state_row **rows,
                   uint64_t *is_new, bool insert_only)
{
    enter_epoch(s, epoch);
    memset(is_new, 0, mr_bit_words(n) * sizeof *is_new);
    for (uint32_t i = 0; i < n; i += BLOCK) {
        uint32_t block = n - i < BLOCK ? n - i : BLOCK;
        upsert_block(s, i, block, hashes + i, keys + i, expiry_us + i, rows + i, is_new,
                     insert_only);
    }
}

void mr_state_upsert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                     const struct mr_text *keys, const int64_t *expiry_us,
                     struct mr_state_row **rows, uint64_t *is_new)
{
    upsert(s, epoch, n, hashes, keys, expiry_us, rows, is_new, false);
}

void mr_state_insert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                     const struct mr_text *keys, const int64_t *expiry_us,
                     struct mr_state_row **rows, uint64_t *is_new)
{
    upsert(s, epoch, n, hashes, keys, expiry_us, rows, is_new, true);
}

void mr_state_find(struct mr_state *s, uint32_t n, const uint64_t *hashes,
                   const struct mr_text *keys, const int64_t *expiry_us, struct mr_state_row **rows)
{
    struct mr_segment *segments[BLOCK];

    for (uint32_t from = 0; from < n; from += BLOCK) {
        uint32_t block = n - from < BLOCK ? n - from : BLOCK;
        for (uint32_t i = 0; i < block; i++)
            segments[i] = mr_state_segment(s, expiry_us[from + i], false);
        prefetch(block, segments, hashes + from);
        for (uint32_t i = 0; i < block; i++) {
            uint32_t at = from + i;
            rows[at] = mr_state_find_row(s, segments[i], hashes[at], keys[at]).row;
        }
    }
}

void *mr_state_grow(void *state, struct mr_slot_bytes *b, uint32_t bytes)
{
    struct mr_state *s = state;

    mr_heap_grow(&s->memory, b, bytes);
    return b->data;
}

uint64_t mr_state_rows(const struct mr_state *s)
{
    return s->rows;
}

uint64_t mr_state_changed(const struct mr_state *s, uint64_t epoch)
{
    return s->epoch == epoch + 1 ? s->changed_n : 0;
}

uint64_t mr_state_bytes(const struct mr_state *s)
{
    return s->memory.bytes;
}

bool mr_state_next(struct mr_state *s, struct mr_state_cursor *at, struct mr_state_row **row)
{
    for (; at->segment < s->segments_n; at->segment++, at->row = 0) {
        *row = mr_segment_next(s->segments[at->segment], &at->row);
        if (*row)
            return true;
    }
    return false;
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
