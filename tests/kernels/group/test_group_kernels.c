#include "kernels/group/group.h"
#include "tests/kernels/guard.h"

enum { MASK = 15, TAGS = (MASK + 1) * MR_GROUP_TAGS, ENTRIES = 100 };

struct table {
    _Alignas(16) uint8_t tags[TAGS];
    uint32_t ids[TAGS];
    struct mr_group_index index;
};

static void put(struct table *t, uint64_t hash, uint32_t id)
{
    uint32_t at = ((uint32_t)(hash >> 32) & MASK) * MR_GROUP_TAGS;

    while (t->tags[at] != 0)
        at = (at + 1) % TAGS;
    t->tags[at] = mr_group_tag(hash);
    t->ids[at] = id;
}

static uint64_t hash_of(uint64_t i, bool collides)
{
    return collides ? 0 : i * UINT64_C(0x9e3779b97f4a7c15);
}

/* Keys 0..ENTRIES are there, those from ENTRIES on are not; rows take them in turn. */
static void find_words(const struct mr_group_kernels *v, uint32_t words, uint32_t n, bool collides)
{
    struct table t = {.index = {NULL, NULL, MASK}};
    struct guard g = guard_open(n * words);
    uint64_t entries[ENTRIES * 6], hashes[GUARD_ROWS];
    uint32_t ids[GUARD_ROWS], misses[GUARD_ROWS], missed = 0;

    t.index.tags = t.tags;
    t.index.ids = t.ids;
    for (uint32_t e = 0; e < ENTRIES; e++) {
        for (uint32_t w = 0; w < words; w++)
            entries[e * words + w] = w + 1 == words ? e : 7;
        put(&t, hash_of(e, collides), e);
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t e = i * 3 % (ENTRIES + 20);
        for (uint32_t w = 0; w < words; w++)
            g.i64[i * words + w] = w + 1 == words ? (int64_t)e : 7;
        hashes[i] = hash_of(e, collides);
    }
    const uint32_t misses_n =
        v->find_words(&t.index, entries, words, hashes, (const uint64_t *)g.i64, n, ids, misses);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t e = i * 3 % (ENTRIES + 20);
        assert_int_equal(ids[i], e < ENTRIES ? e : UINT32_MAX);
        if (e >= ENTRIES)
            assert_int_equal(misses[missed++], i);
    }
    assert_int_equal(misses_n, missed);
    guard_close(&g);
}

static void test_find_words(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_group_kernels, mr_group_variants)
    for (uint32_t words = 1; words <= 6; words++)
        for (uint32_t n = 0; n * words <= GUARD_ROWS; n++) {
            find_words(*v, words, n, false);
            find_words(*v, words, n, true);
        }
}

static void test_find_bytes(void **state)
{
    (void)state;
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    GUARD_EACH(v, mr_group_kernels, mr_group_variants)
    for (uint32_t n = 0; n <= 40; n++) {
        struct table t = {.index = {NULL, NULL, MASK}};
        struct mr_text entries[26], keys[40];
        uint64_t hashes[40];
        uint32_t ids[40], misses[40];
        t.index.tags = t.tags;
        t.index.ids = t.ids;
        for (uint32_t e = 0; e < 26; e++) {
            entries[e] = (struct mr_text){text, e};
            put(&t, hash_of(e, n % 2), e);
        }
        for (uint32_t i = 0; i < n; i++) {
            keys[i] = i % 27 == 26 ? MR_TEXT("none") : (struct mr_text){text, i % 27};
            hashes[i] = hash_of(i % 27, n % 2);
        }
        const uint32_t misses_n = (*v)->find_bytes(&t.index, entries, hashes, keys, n, ids, misses);
        assert_int_equal(misses_n, n > 26);
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(ids[i], i % 27 == 26 ? UINT32_MAX : i % 27);
    }
}

static void test_cache_tells_only_its_generation(void **state)
{
    (void)state;
    static struct mr_group_cache cache;
    GUARD_EACH(v, mr_group_kernels, mr_group_variants)
    for (uint32_t words = 1; words <= MR_GROUP_CACHE_WORDS; words++) {
        struct guard g = guard_open(60 * words);
        const uint64_t *keys = (const uint64_t *)g.i64;
        uint32_t ids[60], misses[60], cached = 0;
        bool is_cached[60] = {false};
        memset(&cache, 0, sizeof cache);
        cache.generation = 5;
        for (uint32_t i = 0; i < 60; i += 2) {
            struct mr_group_place *place = &cache.places[mr_group_place(keys + i * words, words)];
            if (place->generation != 0)
                continue;
            memcpy(place->words, keys + i * words, words * sizeof *keys);
            place->id = i;
            place->generation = i % 4 ? 4 : 5;
            is_cached[i] = i % 4 == 0;
            cached += is_cached[i];
        }
        assert_true(cached > 5);
        assert_int_equal((*v)->find_cached(&cache, words, keys, NULL, 60, ids, misses),
                         60 - cached);
        for (uint32_t i = 0; i < 60; i++)
            if (is_cached[i])
                assert_int_equal(ids[i], i);
        static const uint32_t sel[] = {0, 1};
        assert_int_equal((*v)->find_cached(&cache, words, keys, sel, 2, ids, misses), 1);
        assert_int_equal(misses[0], 1);
        guard_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find_words),
        cmocka_unit_test(test_find_bytes),
        cmocka_unit_test(test_cache_tells_only_its_generation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
