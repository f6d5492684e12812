/* Order, back-pressure and wrap-around of a ring; two threads with a sequence and a checksum. */
#include "core/ring/ring.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
/* cmocka needs those above */
#include <cmocka.h>

#ifdef MR_SANITIZED
enum { ITEMS_DEFAULT = 200000 };
#else
enum { ITEMS_DEFAULT = 5000000 };
#endif

enum { SPINS_MAX = 100, STALLS = 1000 };

static void keeps_order_and_refuses_when_full(void **unused)
{
    struct mr_ring r;
    struct mr_error err;
    int values[5];

    (void)unused;
    assert_int_equal(mr_ring_init(&r, 4, &err), MR_OK);
    assert_true(mr_ring_is_empty(&r));
    assert_null(mr_ring_pop(&r));
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++) {
            void *item = &values[i];
            assert_true(mr_ring_push(&r, &item));
            assert_null(item);
        }
        void *fifth = &values[4];
        assert_false(mr_ring_push(&r, &fifth));
        assert_ptr_equal(fifth, &values[4]);
        assert_false(mr_ring_is_empty(&r));
        for (int i = 0; i < 4; i++)
            assert_ptr_equal(mr_ring_pop(&r), &values[i]);
        assert_null(mr_ring_pop(&r));
    }
    mr_ring_fini(&r);
}

/* The indices are 32 bits and run over. */
static void survives_the_end_of_its_indices(void **unused)
{
    struct mr_ring r;
    struct mr_error err;
    int value;

    (void)unused;
    assert_int_equal(mr_ring_init(&r, 2, &err), MR_OK);
    r.head = r.tail = r.cached_head = r.cached_tail = UINT32_MAX - 2;
    for (int i = 0; i < 10; i++) {
        void *a = &value, *b = &r, *c = &err;
        assert_true(mr_ring_push(&r, &a));
        assert_true(mr_ring_push(&r, &b));
        assert_false(mr_ring_push(&r, &c));
        assert_ptr_equal(mr_ring_pop(&r), &value);
        assert_ptr_equal(mr_ring_pop(&r), &r);
        assert_null(mr_ring_pop(&r));
    }
    mr_ring_fini(&r);
}

struct stress {
    struct mr_ring there, back;
    uint64_t *items;
    uint32_t items_n;
    uint32_t seed;
    uint32_t stall_below; /* of 2^32: how often a side lets the other wait */
    uint64_t total;
};

/* MR_RING_ITEMS: for campaigns. */
static uint64_t items_wanted(void)
{
    const char *wanted = getenv("MR_RING_ITEMS");

    return wanted ? strtoull(wanted, NULL, 10) : ITEMS_DEFAULT;
}

/* Waits for the other side, which is about to come unless its processor was taken from it. Long
 * enough for it to do several items: each look takes a cache line from it. */
static void wait_a_little(const struct stress *s, uint32_t *waits)
{
    if (++*waits % SPINS_MAX == 0)
        sched_yield();
    for (uint32_t i = 0; i <= s->items_n / 4; i++)
        __builtin_ia32_pause();
}

/* Often with few items; some thousand times with many, since each may cost the
 * processor's time slice where others want it. */
static bool stalls(const struct stress *s, uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed < s->stall_below;
}

static void *produce(void *arg)
{
    struct stress *s = arg;
    uint32_t seed = s->seed;
    uint32_t made = 0, waits = 0;
    uint64_t next = 1;

    while (next <= s->total) {
        uint64_t *item = made < s->items_n ? &s->items[made++] : mr_ring_pop(&s->back);
        if (item == NULL) {
            wait_a_little(s, &waits);
            continue;
        }
        if (stalls(s, &seed))
            sched_yield();
        *item = next++ * UINT64_C(0x9e3779b97f4a7c15);
        void *push = item;
        while (!mr_ring_push(&s->there, &push))
            wait_a_little(s, &waits);
    }
    return NULL;
}

/* Items go there and home again: each is written by one thread and read by the other. */
static void stress(uint32_t capacity, uint32_t seed)
{
    uint64_t total = items_wanted();
    struct stress s = {
        .items_n = capacity,
        .seed = seed,
        .stall_below = (uint32_t)(UINT32_MAX / (total / STALLS + 1)),
        .total = total,
    };
    struct mr_error err;
    pthread_t thread;

    s.items = calloc(capacity, sizeof *s.items);
    assert_non_null(s.items);
    assert_int_equal(mr_ring_init(&s.there, capacity, &err), MR_OK);
    assert_int_equal(mr_ring_init(&s.back, capacity, &err), MR_OK);
    assert_int_equal(pthread_create(&thread, NULL, produce, &s), 0);
    uint64_t seen = 0, sum = 0, expected = 0;
    uint32_t waits = 0;
    while (seen < s.total) {
        uint64_t *item = mr_ring_pop(&s.there);
        if (item == NULL) {
            wait_a_little(&s, &waits);
            continue;
        }
        seen++;
        if (*item != seen * UINT64_C(0x9e3779b97f4a7c15))
            fail_msg("item %" PRIu64 " is another one", seen);
        sum = sum * 31 + *item;
        expected = expected * 31 + seen * UINT64_C(0x9e3779b97f4a7c15);
        void *home = item;
        if (!mr_ring_push(&s.back, &home))
            fail_msg("no room for item %" PRIu64 " on its way home", seen);
        if (stalls(&s, &seed))
            sched_yield();
    }
    assert_true(sum == expected);
    assert_null(mr_ring_pop(&s.there));
    pthread_join(thread, NULL);
    mr_ring_fini(&s.there);
    mr_ring_fini(&s.back);
    free(s.items);
}

static void two_threads_capacity_2(void **unused)
{
    (void)unused;
    stress(2, 1);
}

static void two_threads_capacity_64(void **unused)
{
    (void)unused;
    stress(64, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_refuses_when_full),
        cmocka_unit_test(survives_the_end_of_its_indices),
        cmocka_unit_test(two_threads_capacity_64),
        cmocka_unit_test(two_threads_capacity_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
