#include "kernels/sparkhash/one.h"
#include "kernels/sparkhash/sparkhash.h"
#include "tests/kernels/guard.h"

enum { LENGTH_MAX = 300, HEAPS = 2, INLINE_BYTES = 12 };

struct texts {
    uint64_t *views;
    uint8_t *heaps[HEAPS];
    uint32_t used[HEAPS];
};

/* Random bytes, of all lengths; short texts in their views, the others in one of two heaps. A null
 * has length 0. Most texts of a block are short: lanes run to the end of the longest. */
static struct texts make_texts(struct guard *g, uint32_t n, uint64_t *seed)
{
    struct texts t = {.views = guard_alloc(g, (size_t)n * 16)};
    char bytes[LENGTH_MAX + 1];

    for (uint32_t h = 0; h < HEAPS; h++)
        t.heaps[h] = guard_alloc(g, (size_t)n * LENGTH_MAX / 8);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t heap = (uint32_t)(guard_random(seed) >> 30) % HEAPS;
        const uint32_t most = (uint32_t)(guard_random(seed) >> 30) % 16 ? 32 : LENGTH_MAX;
        uint32_t length = (uint32_t)(guard_random(seed) >> 30) % (most + 1);
        if (!(g->valid[i / 64] >> (i % 64) & 1))
            length = 0;
        if (length > INLINE_BYTES && t.used[heap] + length > n * LENGTH_MAX / 8)
            length = INLINE_BYTES;
        for (uint32_t k = 0; k < length; k++)
            bytes[k] = (char)(guard_random(seed) >> 30);
        memset(t.views + 2 * i, 0, 16);
        memcpy((char *)&t.views[2 * i] + 4, bytes, length < INLINE_BYTES ? length : INLINE_BYTES);
        t.views[2 * i] = (t.views[2 * i] >> 32 << 32) | length;
        if (length <= INLINE_BYTES)
            continue;
        t.views[2 * i + 1] = heap | (uint64_t)t.used[heap] << 32;
        memcpy(t.heaps[heap] + t.used[heap], bytes, length);
        t.used[heap] += length;
    }
    return t;
}

/* Each kernel against scalar, from the same seeds; what is not chosen stays. */
#define AGREE(type, kernel, ...)                                                                   \
    do {                                                                                           \
        type got[GUARD_ROWS + 1], wanted[GUARD_ROWS + 1];                                          \
        for (uint32_t i = 0; i <= n; i++)                                                          \
            got[i] = wanted[i] = (type)(guard_random(&seed) * 7);                                  \
        (*v)->kernel(got, __VA_ARGS__);                                                            \
        mr_sparkhash_scalar.kernel(wanted, __VA_ARGS__);                                           \
        assert_memory_equal(got, wanted, (n + 1) * sizeof *got);                                   \
    } while (0)

static void test_variants_agree(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_sparkhash_kernels, mr_sparkhash_variants)
    for (uint32_t n = 0; n <= GUARD_ROWS; n++) {
        struct guard g = guard_open(n);
        uint64_t seed = n;
        const struct texts t = make_texts(&g, n, &seed);
        const uint32_t *u32 = guard_alloc(&g, n * sizeof *u32);
        const uint64_t *u64 = (const uint64_t *)g.i64;
        memcpy((void *)(uintptr_t)u32, u64, n * sizeof *u32);
        for (uint32_t k = 0; k < 2; k++) {
            const uint64_t *valid = k ? g.valid : NULL;
            AGREE(uint32_t, murmur_u32, u32, valid, n);
            AGREE(uint32_t, murmur_u64, u64, valid, n);
            AGREE(uint64_t, xxh64_u32, u32, valid, n);
            AGREE(uint64_t, xxh64_u64, u64, valid, n);
            AGREE(uint32_t, murmur_texts, t.views, t.heaps, valid, NULL, n);
            AGREE(uint32_t, murmur_texts, t.views, t.heaps, valid, g.sel, g.sel_n);
            AGREE(uint64_t, xxh64_texts, t.views, t.heaps, valid, NULL, n);
            AGREE(uint64_t, xxh64_texts, t.views, t.heaps, valid, g.sel, g.sel_n);
        }
        guard_close(&g);
    }
}

/* One length after the other, alone and in all lanes; a page that must not be touched behind it. */
static void test_every_length(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_sparkhash_kernels, mr_sparkhash_variants)
    for (uint32_t length = 0; length <= LENGTH_MAX; length++) {
        enum { ROWS = 17 };
        struct guard g = guard_open(0);
        uint64_t *views = guard_alloc(&g, ROWS * 16), seed = length, hashes[ROWS];
        uint8_t *text = guard_alloc(&g, length), *const heaps[] = {text};
        uint32_t words[ROWS];
        for (uint32_t k = 0; k < length; k++)
            text[k] = (uint8_t)(guard_random(&seed) >> 30);
        for (uint32_t i = 0; i < ROWS; i++) {
            memset(views + 2 * i, 0, 16);
            if (length <= INLINE_BYTES)
                memcpy((char *)&views[2 * i] + 4, text, length);
            views[2 * i] |= length;
            words[i] = i * 77;
            hashes[i] = i * UINT64_C(0x123456789);
        }
        (*v)->murmur_texts(words, views, heaps, NULL, NULL, ROWS);
        (*v)->xxh64_texts(hashes, views, heaps, NULL, NULL, ROWS);
        for (uint32_t i = 0; i < ROWS; i++) {
            assert_int_equal(words[i], mr_murmur_bytes(text, length, i * 77));
            assert_true(hashes[i] == XXH64(text, length, i * UINT64_C(0x123456789)));
        }
        guard_close(&g);
    }
}

/* A word hashes as its bytes do. */
static void test_words_are_bytes(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t v = guard_random(&seed) * 11, start = guard_random(&seed) * 7;
        const uint32_t low = (uint32_t)v;
        assert_int_equal(mr_murmur_u32(low, low * 3), mr_murmur_bytes(&low, 4, low * 3));
        assert_int_equal(mr_murmur_u64(v, low), mr_murmur_bytes(&v, 8, low));
        assert_true(mr_xxh64_u32(low, start) == XXH64(&low, 4, start));
        assert_true(mr_xxh64_u64(v, start) == XXH64(&v, 8, start));
    }
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal((int32_t)mr_murmur_bytes("a", 1, 42), 1485273170);
    assert_true((int64_t)mr_xxh64_bytes("a", 1, 42) == INT64_C(-8582455328737087284));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree), cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_words_are_bytes), cmocka_unit_test(test_values)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
