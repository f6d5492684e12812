#include "core/op/group_table.h"

#include "core/base/check.h"

enum { CAPACITY_FIRST = 256 };

void mr_group_table_open(struct mr_group_table *t, uint32_t words_n, uint32_t width,
                         struct mr_arena *like)
{
    *t = (struct mr_group_table){.words_n = words_n, .width = width};
    mr_arena_init(&t->arena, like->budget, like->escape);
    mr_arena_init(&t->grown, like->budget, like->escape);
}

void mr_group_table_close(struct mr_group_table *t)
{
    mr_arena_fini(&t->arena);
    mr_arena_fini(&t->grown);
}

void mr_group_table_clear(struct mr_group_table *t)
{
    if (t->n == 0)
        return;
    memset(t->index.tags, 0, ((uint64_t)t->index.mask + 1) * MR_GROUP_TAGS);
    memset(t->slots, 0, sizeof *t->slots * t->n * t->width);
    t->n = 0;
    mr_arena_reset(&t->arena);
}

static void index_put(struct mr_group_index *x, uint64_t hash, uint32_t id)
{
    for (uint32_t g = (uint32_t)(hash >> 32) & x->mask;; g = (g + 1) & x->mask)
        for (uint32_t at = g * MR_GROUP_TAGS; at < (g + 1) * MR_GROUP_TAGS; at++)
            if (x->tags[at] == 0) {
                x->tags[at] = mr_group_tag(hash);
                x->ids[at] = id;
                return;
            }
}

static void *grow_array(struct mr_arena *a, const void *old, uint64_t used, uint64_t bytes)
{
    uint8_t *grown = mr_arena_alloc(a, bytes);

    if (used > 0)
        memcpy(grown, old, used);
    memset(grown + used, 0, bytes - used);
    return grown;
}

/* Twice as many groups; the arena keeps the smaller arrays, in all as much again. */
static void grow(struct mr_group_table *t)
{
    const uint32_t capacity = t->capacity ? t->capacity * 2 : CAPACITY_FIRST;
    const uint32_t tags_n = capacity * 2;
    const uint64_t n = t->n;

    MR_ASSERT(capacity < UINT32_MAX / 4);
    t->hashes = grow_array(&t->grown, t->hashes, n * 8, (uint64_t)capacity * 8);
    if (t->words_n > 0)
        t->words = grow_array(&t->grown, t->words, n * 8 * t->words_n,
                              (uint64_t)capacity * 8 * t->words_n);
    else
        t->keys = grow_array(&t->grown, t->keys, n * sizeof *t->keys, capacity * sizeof *t->keys);
    t->slots = grow_array(&t->grown, t->slots, n * sizeof *t->slots * t->width,
                          (uint64_t)capacity * sizeof *t->slots * t->width);
    t->index.tags = mr_arena_zero(&t->grown, tags_n);
    t->index.ids = mr_arena_alloc(&t->grown, (uint64_t)tags_n * sizeof *t->index.ids);
    t->index.mask = tags_n / MR_GROUP_TAGS - 1;
    t->capacity = capacity;
    for (uint32_t id = 0; id < t->n; id++)
        index_put(&t->index, t->hashes[id], id);
}

static uint32_t add_group(struct mr_group_table *t, uint64_t hash)
{
    const uint32_t id = t->n++;

    t->hashes[id] = hash;
    index_put(&t->index, hash, id);
    return id;
}

/* A key may be missing twice: each miss is looked up again before it is made. */
void mr_group_table_add_words(struct mr_group_table *t, uint32_t n, const uint64_t *hashes,
                              const uint64_t *words, uint32_t *ids, uint32_t *misses)
{
    const uint32_t width = t->words_n;

    if (t->capacity == 0)
        grow(t);
    const uint32_t misses_n =
        mr_group->find_words(&t->index, t->words, width, hashes, words, n, ids, misses);
    for (uint32_t m = 0; m < misses_n; m++) {
        const uint32_t i = misses[m];
        const uint64_t *key = words + (uint64_t)i * width;
        uint32_t unused;
        if (mr_group->find_words(&t->index, t->words, width, &hashes[i], key, 1, &ids[i],
                                 &unused) == 0)
            continue;
        if (t->n == t->capacity)
            grow(t);
        ids[i] = add_group(t, hashes[i]);
        memcpy(t->words + (uint64_t)ids[i] * width, key, sizeof *key * width);
    }
}

void mr_group_table_add_keys(struct mr_group_table *t, uint32_t n, const uint64_t *hashes,
                             const struct mr_text *keys, uint32_t *ids, uint32_t *misses)
{
    if (t->capacity == 0)
        grow(t);
    const uint32_t misses_n =
        mr_group->find_bytes(&t->index, t->keys, hashes, keys, n, ids, misses);
    for (uint32_t m = 0; m < misses_n; m++) {
        const uint32_t i = misses[m];
        uint32_t unused;
        if (mr_group->find_bytes(&t->index, t->keys, &hashes[i], &keys[i], 1, &ids[i], &unused) ==
            0)
            continue;
        if (t->n == t->capacity)
            grow(t);
        ids[i] = add_group(t, hashes[i]);
        t->keys[ids[i]] =
            (struct mr_text){mr_arena_copy(&t->arena, keys[i].data, keys[i].n), keys[i].n};
    }
}
