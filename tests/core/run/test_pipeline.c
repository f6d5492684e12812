/* Batches through workers, stages and exchanges: nothing lost, nothing twice, whatever blocks. */
#include "tests/core/run/fakes.h"

static const enum mr_node_kind exchanged[] = {MR_NODE_SOURCE,   MR_NODE_FILTER,    MR_NODE_PROJECT,
                                              MR_NODE_EXCHANGE, MR_NODE_AGGREGATE, MR_NODE_SINK};

static enum mr_status run(const struct mr_engine_config *engine,
                          const struct mr_query_config *config, struct mr_error *err)
{
    struct mr_engine *e = NULL;
    struct mr_query *q = NULL;
    enum mr_status status = mr_engine_open(engine, &e, err);

    assert_int_equal(status, MR_OK);
    status = mr_query_open(e, config, &q, err);
    if (status == MR_OK) {
        assert_int_equal(mr_query_start(q, err), MR_OK);
        status = mr_query_wait(q, err);
        mr_query_close(q);
    }
    mr_engine_close(e);
    return status;
}

/* Sum of the even numbers below n, twice. */
static int64_t expected(int64_t n)
{
    int64_t evens = (n + 1) / 2;
    return evens * (evens - 1) * 2;
}

static void sums_are_right(uint32_t workers, uint32_t batch_rows, uint32_t ring_slots,
                           uint64_t rows)
{
    struct fake_plan f;
    struct mr_error err;

    make_chain(&f, exchanged, 6);
    struct mr_engine_config engine = {
        .workers = workers, .batch_rows = batch_rows, .ring_slots = ring_slots};
    struct mr_query_config config = {
        .name = "q", .plan = &f.plan, .sink_ops = &sum_ops, .trigger = MR_TRIGGER_AVAILABLE_NOW};
    numbers.total = rows;
    numbers.splits = 7;
    numbers.per_epoch = rows / 3 + 1;
    assert_int_equal(run(&engine, &config, &err), MR_OK);
    int64_t total = 0;
    total = expected((int64_t)rows);
    assert_true(atomic_load(&summed.sum) == total);
    assert_int_equal(atomic_load(&summed.published), 3);
}

static void workers_batches_and_rings_of_any_size(void **unused)
{
    static const uint32_t workers[] = {1, 2, 3, 5};
    static const uint32_t batch_rows[] = {2, 100, 4096};
    static const uint32_t slots[] = {1, 2, 8};

    (void)unused;
    for (int w = 0; w < 4; w++)
        for (int b = 0; b < 3; b++)
            for (int s = 0; s < 3; s++) {
                reset_fakes();
                sums_are_right(workers[w], batch_rows[b], slots[s], b == 0 ? 1000 : 50000);
            }
}

static void blocked_parts_go_on_later(void **unused)
{
    (void)unused;
    for (uint32_t w = 1; w <= 2; w++) {
        reset_fakes();
        numbers.pulls_blocked = 2;
        operators.blocked = 3;
        atomic_store(&summed.blocked_writes, 2);
        sums_are_right(w, 100, 2, 5000);
    }
}

static void all_rows_to_one_worker(void **unused)
{
    const enum mr_node_kind kinds[] = {MR_NODE_SOURCE, MR_NODE_EXCHANGE, MR_NODE_AGGREGATE,
                                       MR_NODE_EXCHANGE, MR_NODE_SINK};
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_chain(&f, kinds, 5);
    struct mr_engine_config engine = {.workers = 3, .batch_rows = 16, .ring_slots = 2};
    struct mr_query_config config = {
        .name = "q", .plan = &f.plan, .sink_ops = &sum_ops, .trigger = MR_TRIGGER_ONCE};
    numbers.total = 10000;
    numbers.splits = 10;
    assert_int_equal(run(&engine, &config, &err), MR_OK);
    assert_true(atomic_load(&summed.sum) == 10000LL * 9999 / 2);
    assert_int_equal(atomic_load(&summed.rows), 10);
}

static void a_failing_operator_fails_the_query(void **unused)
{
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    make_chain(&f, exchanged, 6);
    for (uint32_t w = 1; w <= 3; w++) {
        reset_fakes();
        /* Slow enough that the others have gone to sleep when it fails. */
        numbers.pulls_blocked = 20;
        struct mr_engine_config engine = {.workers = w, .batch_rows = 16};
        struct mr_query_config config = {.name = "q",
                                         .plan = &f.plan,
                                         .sink_ops = &sum_ops,
                                         .trigger = MR_TRIGGER_AVAILABLE_NOW};
        numbers.total = 1000;
        numbers.splits = 1;
        operators.fails = FAIL_QUERY;
        assert_int_equal(run(&engine, &config, &err), MR_QUERY);
        assert_string_equal(err.condition, "CAST_INVALID_INPUT");
        assert_int_equal(atomic_load(&summed.published), 0);
    }
}

static void exhausted_memory_fails_the_query_and_names_the_pool(void **unused)
{
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_chain(&f, exchanged, 6);
    struct mr_engine_config engine = {.workers = 2, .memory_limit_bytes = 64 << 20};
    struct mr_query_config config = {
        .name = "greedy", .plan = &f.plan, .sink_ops = &sum_ops, .trigger = MR_TRIGGER_ONCE};
    numbers.total = 1000;
    numbers.splits = 4;
    operators.fails = FAIL_MEMORY;
    assert_int_equal(run(&engine, &config, &err), MR_MEMORY);
    assert_non_null(strstr(err.message, "greedy"));
    assert_non_null(strstr(err.message, "raise engine: memory_limit"));
}

static void done_needs_no_more(void **unused)
{
    const enum mr_node_kind kinds[] = {MR_NODE_SOURCE, MR_NODE_LIMIT, MR_NODE_SINK};
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    for (int batch = 0; batch < 2; batch++) {
        reset_fakes();
        make_chain(&f, kinds, 3);
        struct mr_engine_config engine = {.workers = 1, .batch_rows = 3};
        struct mr_query_config config = {.name = "q",
                                         .plan = &f.plan,
                                         .sink_ops = &sum_ops,
                                         .batch = batch,
                                         .trigger = MR_TRIGGER_ONCE};
        numbers.total = 1000;
        assert_int_equal(run(&engine, &config, &err), MR_OK);
        assert_int_equal(atomic_load(&summed.rows), 5);
        assert_true(atomic_load(&summed.sum) == 10);
    }
}

struct rows_seen {
    uint64_t rows;
    int64_t sum;
};
static void see_rows(void *arg, uint64_t epoch, const struct mr_batch *batch)
{
    struct rows_seen *seen = arg;
    (void)epoch;
    seen->rows += batch->n;
    for (uint32_t i = 0; i < batch->n; i++)
        seen->sum += batch->columns[0].i64[mr_batch_row(batch, i)];
}

static void on_rows_stands_in_for_the_sink(void **unused)
{
    const enum mr_node_kind kinds[] = {MR_NODE_SOURCE, MR_NODE_FILTER, MR_NODE_SINK};
    struct rows_seen seen = {0};
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_chain(&f, kinds, 3);
    struct mr_engine_config engine = {.workers = 2, .batch_rows = 64};
    struct mr_query_config config = {.name = "q",
                                     .plan = &f.plan,
                                     .sink_ops = &sum_ops,
                                     .trigger = MR_TRIGGER_AVAILABLE_NOW,
                                     .on_rows = see_rows,
                                     .on_rows_arg = &seen};
    numbers.total = 1000;
    numbers.per_epoch = 300;
    numbers.splits = 5;
    assert_int_equal(run(&engine, &config, &err), MR_OK);
    assert_int_equal(seen.rows, 500);
    assert_int_equal(seen.sum, 500 * 499);
    assert_int_equal(atomic_load(&summed.rows), 0);
}

/* Queries on the same workers, each to its end. */
static void queries_share_the_workers(void **unused)
{
    struct fake_plan f;
    struct mr_error err;
    struct mr_engine *e;
    struct mr_query *q[4];

    (void)unused;
    reset_fakes();
    make_chain(&f, exchanged, 6);
    struct mr_engine_config engine = {.workers = 2, .batch_rows = 50, .ring_slots = 2};
    struct mr_query_config config = {
        .name = "q", .plan = &f.plan, .sink_ops = &sum_ops, .trigger = MR_TRIGGER_AVAILABLE_NOW};
    numbers.total = 20000;
    numbers.splits = 4;
    assert_int_equal(mr_engine_open(&engine, &e, &err), MR_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mr_query_open(e, &config, &q[i], &err), MR_OK);
        assert_int_equal(mr_query_start(q[i], &err), MR_OK);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mr_query_wait(q[i], &err), MR_OK);
        mr_query_close(q[i]);
    }
    mr_engine_close(e);
    assert_true(atomic_load(&summed.sum) == 4 * expected(20000));
}

static void an_unknown_format_names_the_nearest(void **unused)
{
    const enum mr_node_kind kinds[] = {MR_NODE_SOURCE, MR_NODE_SINK};
    struct mr_table table = number_table;
    struct fake_plan f;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_chain(&f, kinds, 2);
    table.format = "numbres";
    f.nodes[0].table = &table;
    struct mr_engine_config engine = {.workers = 1};
    struct mr_query_config config = {.name = "q", .plan = &f.plan, .sink_ops = &sum_ops};
    assert_int_equal(run(&engine, &config, &err), MR_USER);
    assert_non_null(strstr(err.message, "numbers"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_batches_and_rings_of_any_size),
        cmocka_unit_test(blocked_parts_go_on_later),
        cmocka_unit_test(all_rows_to_one_worker),
        cmocka_unit_test(a_failing_operator_fails_the_query),
        cmocka_unit_test(exhausted_memory_fails_the_query_and_names_the_pool),
        cmocka_unit_test(done_needs_no_more),
        cmocka_unit_test(on_rows_stands_in_for_the_sink),
        cmocka_unit_test(queries_share_the_workers),
        cmocka_unit_test(an_unknown_format_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
