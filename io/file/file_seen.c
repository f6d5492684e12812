#include "io/file/file_seen.h"

#include "core/base/check.h"
#include <stdlib.h>
#include <xxhash.h>

void mr_file_seen_init(struct mr_file_seen *s, bool name_only, struct mr_budget *budget,
                       jmp_buf *escape)
{
    *s = (struct mr_file_seen){
        .newest_us = INT64_MIN, .dropped_us = INT64_MIN, .name_only = name_only};
    mr_arena_init(&s->arena, budget, escape);
    mr_arena_init(&s->old, budget, escape);
}

void mr_file_seen_fini(struct mr_file_seen *s)
{
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->old);
}

static const char *key_of(const struct mr_file_seen *s, const char *path)
{
    const char *name = s->name_only ? strrchr(path, '/') : NULL;

    return name ? name + 1 : path;
}

static struct mr_file_seen_slot *find(const struct mr_file_seen *s, const char *key, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & (s->capacity - 1);

    while (s->slots[i].path &&
           !(s->slots[i].hash == hash && strcmp(key_of(s, s->slots[i].path), key) == 0))
        i = (i + 1) & (s->capacity - 1);
    return &s->slots[i];
}

bool mr_file_seen_has(const struct mr_file_seen *s, const char *path)
{
    const char *key = key_of(s, path);

    return s->capacity && find(s, key, XXH3_64bits(key, strlen(key)))->path != NULL;
}

/* Copies the entries not older than oldest_us into a fresh arena and table. */
static void rebuild(struct mr_file_seen *s, uint32_t capacity, int64_t oldest_us)
{
    struct mr_file_seen old = *s;

    s->old = s->arena;
    mr_arena_init(&s->arena, s->old.budget, s->old.escape);
    s->slots = MR_NEW_ARRAY(&s->arena, struct mr_file_seen_slot, capacity);
    s->capacity = capacity;
    s->n = 0;
    for (uint32_t i = 0; i < old.capacity; i++) {
        const struct mr_file_seen_slot *o = &old.slots[i];
        if (o->path == NULL || o->mtime_us < oldest_us)
            continue;
        struct mr_file_seen_slot *at = find(s, key_of(s, o->path), o->hash);
        *at = *o;
        at->path = mr_arena_copy(&s->arena, o->path, strlen(o->path));
        s->n++;
    }
    mr_arena_fini(&s->old);
}

void mr_file_seen_add(struct mr_file_seen *s, const char *path, int64_t mtime_us)
{
    const char *key = key_of(s, path);
    uint64_t hash = XXH3_64bits(key, strlen(key));

    if (s->n * 2 >= s->capacity)
        rebuild(s, s->capacity ? s->capacity * 2 : 64, INT64_MIN);
    struct mr_file_seen_slot *at = find(s, key, hash);
    if (at->path == NULL) {
        at->path = mr_arena_copy(&s->arena, path, strlen(path));
        at->hash = hash;
        s->n++;
    }
    at->mtime_us = mtime_us;
    if (mtime_us > s->newest_us)
        s->newest_us = mtime_us;
}

void mr_file_seen_purge(struct mr_file_seen *s, int64_t age_max_us, int64_t now_us)
{
    int64_t newest_us = s->newest_us < now_us ? s->newest_us : now_us, oldest_us;
    uint32_t old = 0;

    if (s->n == 0 || s->n < s->purge_at ||
        __builtin_sub_overflow(newest_us, age_max_us, &oldest_us))
        return;
    for (uint32_t i = 0; i < s->capacity; i++)
        old += s->slots[i].path && s->slots[i].mtime_us < oldest_us;
    /* Worth a copy only when it frees a good part. */
    if (old * 2 > s->n) {
        rebuild(s, s->capacity, oldest_us);
        s->dropped_us = oldest_us > s->dropped_us ? oldest_us : s->dropped_us;
    }
    s->purge_at = s->n + s->n / 2;
}
