#include "kernels/hash/hash.h"
#include "tests/kernels/guard.h"

static void test_variants_agree(void **state)
{
    (void)state;
    GUARD_EACH(v, mr_hash_kernels, mr_hash_variants)
    for (uint32_t words = 1; words <= MR_HASH_WORDS_MAX; words++)
        for (uint32_t n = 0; n * words <= GUARD_ROWS; n++) {
            struct guard g = guard_open(n * words);
            uint64_t got[GUARD_ROWS], wanted[GUARD_ROWS];
            (*v)->words(got, (const uint64_t *)g.i64, words, n);
            mr_hash_scalar.words(wanted, (const uint64_t *)g.i64, words, n);
            assert_memory_equal(got, wanted, n * sizeof *got);
            guard_close(&g);
        }
}

/* Keys that differ in one word only, by little, spread over tags and groups. */
static void test_small_numbers_spread(void **state)
{
    (void)state;
    enum { KEYS = 4096 };
    for (uint32_t words = 1; words <= MR_HASH_WORDS_MAX; words++)
        for (uint32_t word = 0; word < words; word++) {
            uint32_t tags[128] = {0}, groups[256] = {0};
            for (uint64_t i = 0; i < KEYS; i++) {
                uint64_t key[MR_HASH_WORDS_MAX] = {0}, hash;
                key[word] = i * 1000000;
                mr_hash->words(&hash, key, words, 1);
                tags[hash & 127]++;
                groups[(hash >> 32) & 255]++;
            }
            for (uint32_t t = 0; t < 128; t++)
                assert_in_range(tags[t], 1, 4 * KEYS / 128);
            for (uint32_t t = 0; t < 256; t++)
                assert_in_range(groups[t], 1, 4 * KEYS / 256);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_small_numbers_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
