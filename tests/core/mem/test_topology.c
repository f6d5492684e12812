/* Placement on synthetic machines, and entering for real. */
#include "core/mem/mem.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka needs those above */
#include <cmocka.h>

static void cores_come_before_hyperthreads_and_nodes_in_turn(void **unused)
{
    /* 2 nodes x 2 cores x 2 threads: cpus 0 1 | 2 3 on node 0, 4 5 | 6 7 on node 1 */
    struct mr_mem_config config = {.workers = 8, .pin = true, .synthetic = "numa:2 core:2 pu:2"};
    struct mr_placement p;
    struct mr_error err;

    (void)unused;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(p.workers_n, 8);
    const int32_t cpus[] = {0, 4, 2, 6, 1, 5, 3, 7};
    for (int i = 0; i < 8; i++) {
        assert_int_equal(p.workers[i].cpu, cpus[i]);
        assert_int_equal(p.workers[i].node, cpus[i] / 4);
    }
}

static void one_worker_a_core_by_default(void **unused)
{
    struct mr_mem_config config = {.pin = true, .synthetic = "numa:2 core:3 pu:2"};
    struct mr_placement p;
    struct mr_error err;

    (void)unused;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(p.workers_n, 6);
    config.pin = false;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(p.workers[5].cpu, -1);
}

static void keeps_to_the_listed_cpus(void **unused)
{
    struct mr_mem_config config = {
        .workers = 3, .cpus = "2-3,6", .pin = true, .synthetic = "numa:2 core:2 pu:2"};
    struct mr_placement p;
    struct mr_error err;

    (void)unused;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(p.workers[0].cpu, 2);
    assert_int_equal(p.workers[1].cpu, 6);
    assert_int_equal(p.workers[2].cpu, 3);
    config.workers = 5; /* more than there are: shared again */
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(p.workers[3].cpu, 2);
}

static void refuses_what_makes_no_sense(void **unused)
{
    const char *bad[] = {"", "x", "1-", "3-1", "1,", "-1", "99999", "1 2"};
    struct mr_mem_config config = {.synthetic = "numa:1 core:2 pu:1"};
    struct mr_placement p;
    struct mr_error err;

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        config.cpus = bad[i];
        assert_int_equal(mr_mem_place(&config, &p, &err), MR_USER);
        assert_non_null(strstr(err.message, "cpus"));
    }
    config.cpus = "7";
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_USER);
    config.cpus = NULL;
    config.workers = MR_WORKERS_MAX + 1;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_USER);
}

static void enters(void **unused)
{
    struct mr_mem_config config = {.workers = 1, .pin = true};
    struct mr_placement p;
    struct mr_error err;

    (void)unused;
    assert_int_equal(mr_mem_place(&config, &p, &err), MR_OK);
    assert_int_equal(mr_mem_enter(&p, 0, &err), MR_OK);
    assert_int_equal(sched_getcpu(), p.workers[0].cpu);
    void *memory = mr_mem_alloc(100);
    assert_non_null(memory);
    mr_mem_free(memory, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_come_before_hyperthreads_and_nodes_in_turn),
        cmocka_unit_test(one_worker_a_core_by_default),
        cmocka_unit_test(keeps_to_the_listed_cpus),
        cmocka_unit_test(refuses_what_makes_no_sense),
        cmocka_unit_test(enters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
