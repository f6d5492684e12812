#include "core/state/part.h"
#include "core/state/probe.h"

enum {
    BLOCK = 32, /* keys in flight: about what the memory of one core can serve at a time */
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
        .expiry = mr_expiry_of(table),
        .memory = {.budget = config->budget, .escape = config->escape, .bytes = sizeof *s},
    };
    for (uint32_t i = 0; i < table->slots_n; i++) {
        s->has_bytes |= table->slots[i] == MR_SLOT_BYTES;
        s->slots_bytes += mr_slot_width(table->slots[i]) * (uint32_t)sizeof(union mr_slot);
    }
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

/* Times all over the place, as garbage has them, must not make a segment each: a neighbour of the
 * gap before segment `at` takes the bucket in. What it is swept for costs more, nothing else
 * changes. */
static struct mr_segment *widen(struct mr_state *s, uint64_t at, int64_t first_us, int64_t last_us)
{
    struct mr_segment *g = s->segments[at ? at - 1 : 0];

    if (at)
        g->last_us = last_us;
    else
        g->first_us = first_us;
    return g;
}

static struct mr_segment *found_lately(struct mr_state *s, struct mr_segment *g)
{
    s->last_but_one = s->last;
    return s->last = g;
}

/* As many rows as its neighbour, which time filled before it, has a new segment to expect. */
static uint64_t rows_expected(const struct mr_state *s, uint64_t at)
{
    uint64_t before = at > 0 ? s->segments[at - 1]->rows : 0;
    uint64_t after = at < s->segments_n ? s->segments[at]->rows : 0;

    return before > after ? before : after;
}

struct mr_segment *mr_state_segment(struct mr_state *s, int64_t expiry_us, bool make)
{
    struct mr_segment *g = s->last;
    uint64_t from = 0, to = s->segments_n;
    int64_t first, last;

    if (mr_segment_is_of(g, expiry_us))
        return g;
    if (mr_segment_is_of(s->last_but_one, expiry_us))
        return found_lately(s, s->last_but_one);
    while (from < to) { /* the first that ends at or after it */
        uint64_t middle = from + (to - from) / 2;
        if (s->segments[middle]->last_us < expiry_us)
            from = middle + 1;
        else
            to = middle;
    }
    if (from < s->segments_n && s->segments[from]->first_us <= expiry_us)
        return found_lately(s, s->segments[from]);
    if (!make)
        return NULL;
    bucket_of(s, expiry_us, &first, &last);
    if (s->segments_n >= (s->table->any_expiry ? SEGMENTS_PROBED_MAX : SEGMENTS_MAX))
        return found_lately(s, widen(s, from, first, last));
    need_segment_room(s); /* first: nothing else would free g */
    g = mr_segment_open(&s->memory, first, last, s->expiry, s->slots_bytes, rows_expected(s, from));
    memmove(&s->segments[from + 1], &s->segments[from], (s->segments_n - from) * sizeof g);
    s->segments[from] = g;
    s->segments_n++;
    return found_lately(s, g);
}

/* found->segment: where to look. */
static inline bool find_in(struct mr_found *found, uint64_t hash, struct mr_text key)
{
    found->ref = mr_segment_find(found->segment, hash, key, &found->place);
    found->row = found->ref ? mr_segment_row(found->segment, found->ref) : NULL;
    return found->ref != 0;
}

/* Keys that may lie elsewhere than their expiry says: among all segments, newest first, as there
 * most are found; or among the rows from before the query had a watermark. */
static bool find_elsewhere(struct mr_state *s, uint64_t hash, struct mr_text key,
                           struct mr_found *found)
{
    for (uint64_t i = s->segments_n; i-- > 0 && s->table->any_expiry;) {
        found->segment = s->segments[i];
        if (find_in(found, hash, key))
            return true;
    }
    found->segment = s->timeless ? mr_state_segment(s, MR_STATE_NEVER, false) : NULL;
    return found->segment && find_in(found, hash, key);
}

static inline bool find_row(struct mr_state *s, uint64_t hash, struct mr_text key,
                            struct mr_found *found)
{
    struct mr_found other;

    if (!s->table->any_expiry && found->segment && find_in(found, hash, key))
        return true;
    if ((!s->table->any_expiry && !s->timeless) || !find_elsewhere(s, hash, key, &other))
        return false;
    *found = other;
    return true;
}

static inline void insert_row(struct mr_state *s, uint64_t hash, struct mr_text key,
                              int64_t expiry_us, struct mr_found *found)
{
    found->ref = mr_segment_insert(found->segment, &s->memory, hash, key, expiry_us, found->place);
    found->row = mr_segment_row(found->segment, found->ref);
    s->rows++;
}

bool mr_state_find_or_insert(struct mr_state *s, uint64_t hash, struct mr_text key,
                             int64_t expiry_us, struct mr_found *found)
{
    *found =
        (struct mr_found){.segment = mr_state_segment(s, expiry_us, false), .place = MR_NO_PLACE};
    if (find_row(s, hash, key, found))
        return false;
    if (found->segment == NULL)
        found->segment = mr_state_segment(s, expiry_us, true);
    insert_row(s, hash, key, expiry_us, found);
    return true;
}

/* Brings the index, then the most likely row of each key into the cache. Inlined always: gcc 12
 * takes a function of prefetches only for one without effect, and drops the call. */
static inline __attribute__((always_inline)) void prefetch(uint32_t n,
                                                           struct mr_segment *const *segments,
                                                           const uint64_t *hashes,
                                                           const struct mr_text *keys)
{
    const uint64_t *groups[BLOCK];

    for (uint32_t i = 0; i < n; i++) {
        struct mr_segment *g = segments[i];
        const struct mr_index *x = g ? mr_segment_index(g, hashes[i]) : NULL;
        groups[i] = NULL;
        if (x == NULL || x->capacity == 0)
            continue;
        groups[i] = x->places + mr_index_start(x, (uint32_t)(hashes[i] >> 32));
        __builtin_prefetch(groups[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t mask = groups[i] ? mr_group_equal(groups[i], (uint32_t)(hashes[i] >> 32)) : 0;
        uint32_t ref = mask ? (uint32_t)groups[i][mr_group_first(mask)] : 0;
        if (ref) {
            const char *row = (const char *)mr_segment_row(segments[i], ref);
            const char *slots = row + sizeof(struct mr_state_row) + keys[i].n;
            __builtin_prefetch(row);
            __builtin_prefetch(slots + segments[i]->slots_bytes); /* which the caller writes next */
        }
    }
}

/* The segments of a block of rows. With any_expiry only a row that is inserted needs one. */
static void find_segments(struct mr_state *s, uint32_t n, const int64_t *expiry_us, bool make,
                          struct mr_segment **segments)
{
    for (uint32_t i = 0; i < n; i++) {
        segments[i] = s->last;
        if (!mr_segment_is_of(s->last, expiry_us[i]))
            segments[i] = mr_state_segment(s, expiry_us[i], make);
    }
}

/* is_new: where to set bits, from bit first on; insert_only: rows found are not changed. */
static void upsert_block(struct mr_state *s, uint32_t first, uint32_t n, const uint64_t *hashes,
                         const struct mr_text *keys, const int64_t *expiry_us,
                         struct mr_state_row **rows, uint64_t *is_new, bool insert_only)
{
    struct mr_segment *segments[BLOCK];
    struct mr_found found;

    find_segments(s, n, expiry_us, !s->table->any_expiry, segments);
    prefetch(n, segments, hashes, keys);
    for (uint32_t i = 0; i < n; i++) {
        found.segment = segments[i];
        found.place = MR_NO_PLACE;
        bool is_there = find_row(s, hashes[i], keys[i], &found);
        if (!is_there) {
            if (found.segment == NULL)
                found.segment = mr_state_segment(s, expiry_us[i], true);
            insert_row(s, hashes[i], keys[i], expiry_us[i], &found);
            mr_bit_set(is_new, first + i);
        }
        if (!is_there || !insert_only)
            mr_changes_mark(s, &found);
        rows[i] = found.row;
    }
}

static void upsert(struct mr_state *s, uint64_t epoch, uint32_t n, const uint64_t *hashes,
                   const struct mr_text *keys, const int64_t *expiry_us, struct mr_state_row **rows,
                   uint64_t *is_new, bool insert_only)
{
    mr_changes_enter(s, epoch);
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
        find_segments(s, block, expiry_us + from, false, segments);
        prefetch(block, segments, hashes + from, keys + from);
        for (uint32_t i = 0; i < block; i++) {
            uint32_t at = from + i;
            struct mr_found found = {.segment = segments[i]};
            rows[at] = find_row(s, hashes[at], keys[at], &found) ? found.row : NULL;
        }
    }
}

void *mr_state_grow(void *state, struct mr_slot_bytes *b, uint32_t bytes)
{
    struct mr_state *s = state;

    mr_heap_grow(&s->memory, b, bytes);
    return b->data;
}

int64_t mr_state_expiry(const struct mr_state *s, const struct mr_state_row *r)
{
    return mr_expiry(&s->expiry, r);
}

void mr_state_expiries(const struct mr_state *s, uint32_t n, const struct mr_text *keys,
                       int64_t *expiry_us)
{
    for (uint32_t i = 0; i < n; i++)
        expiry_us[i] = mr_expiry_in(&s->expiry, keys[i]);
}

uint64_t mr_state_rows(const struct mr_state *s)
{
    return s->rows;
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
