/* Triggers, watermarks, no-data epochs and restarts, epoch by epoch. */
#include "tests/core/run/fakes.h"

static const enum mr_node_kind watermarked[] = {MR_NODE_SOURCE, MR_NODE_WATERMARK, MR_NODE_SINK};

enum { SECOND = 1000000, EPOCHS_MAX = 64 };

struct seen {
    uint32_t n;
    struct {
        uint64_t id, rows;
        bool has_data;
        int64_t watermark_us;
        int64_t monotonic_us;
    } epochs[EPOCHS_MAX];
    uint32_t told_n; /* on_progress, after the commit */
    struct mr_query *query;
    uint32_t stop_at; /* stops the query in its epoch number so */
};

static enum mr_status on_epoch(void *arg, const struct mr_progress *p, struct mr_error *err)
{
    struct seen *s = arg;

    (void)err;
    assert_true(s->n < EPOCHS_MAX);
    s->epochs[s->n].id = p->batch_id;
    s->epochs[s->n].rows = p->input_rows;
    s->epochs[s->n].has_data = p->has_data;
    s->epochs[s->n].watermark_us = p->has_watermark ? p->watermark_us : -1;
    s->epochs[s->n].monotonic_us = clock_us(CLOCK_MONOTONIC);
    s->n++;
    if (s->query && s->n == s->stop_at)
        mr_query_stop(s->query);
    return MR_OK;
}

static void on_progress(void *arg, const struct mr_progress *p)
{
    struct seen *s = arg;

    assert_false(p->is_idle);
    assert_true(p->trigger_execution_us >= p->add_batch_us);
    s->told_n++;
}

struct setup {
    struct fake_plan f;
    struct mr_session session;
    struct mr_query_config config;
};

static void make_setup(struct setup *s, struct seen *seen, enum mr_trigger_kind trigger)
{
    memset(s, 0, sizeof *s);
    make_chain(&s->f, watermarked, 3);
    s->f.nodes[1].delay_us = 10 * SECOND;
    s->f.plan.watermarks_n = 1;
    s->f.plan.needs_no_data_batches = true;
    s->session.conf.no_data_batches = true;
    s->session.conf.zone = mr_zone_utc();
    s->config = (struct mr_query_config){.name = "q",
                                         .session = &s->session,
                                         .plan = &s->f.plan,
                                         .sink_ops = &sum_ops,
                                         .checkpoint = "/nowhere",
                                         .trigger = trigger,
                                         .on_epoch = on_epoch,
                                         .on_rows_arg = seen,
                                         .on_progress = on_progress,
                                         .on_progress_arg = seen};
}

static enum mr_status run(struct setup *s, struct seen *seen, struct mr_error *err)
{
    struct mr_engine_config engine = {.workers = 2, .batch_rows = 8};
    struct mr_engine *e;

    memset(seen, 0, sizeof *seen);
    assert_int_equal(mr_engine_open(&engine, &e, err), MR_OK);
    struct mr_query *q;
    enum mr_status status = mr_query_open(e, &s->config, &q, err);
    if (status == MR_OK) {
        assert_int_equal(mr_query_start(q, err), MR_OK);
        status = mr_query_wait(q, err);
        mr_query_close(q);
    }
    mr_engine_close(e);
    return status;
}

static void is_epoch(const struct seen *s, uint32_t i, uint64_t id, uint64_t rows,
                     int64_t watermark_s)
{
    assert_true(i < s->n);
    assert_int_equal(s->epochs[i].id, id);
    assert_int_equal(s->epochs[i].rows, rows);
    assert_int_equal(s->epochs[i].has_data, rows > 0);
    assert_int_equal(s->epochs[i].watermark_us, watermark_s * SECOND);
}

/* Limits cut the input; the watermark of an epoch shows in the next one; one no-data epoch at the
 * end. */
static void available_now_cuts_and_ends_with_a_no_data_epoch(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    numbers.total = 30;
    numbers.per_epoch = 10;
    numbers.times[0] = 100 * SECOND + 999; /* milliseconds count */
    numbers.times[1] = 50 * SECOND;        /* never back */
    numbers.times[2] = 200 * SECOND;
    make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 4);
    is_epoch(&seen, 0, 0, 10, 0);
    is_epoch(&seen, 1, 1, 10, 90);
    is_epoch(&seen, 2, 2, 10, 90);
    is_epoch(&seen, 3, 3, 0, 190);
    assert_int_equal(seen.told_n, 4);
    assert_int_equal(stored.commit.late_us, 90 * SECOND);
    assert_int_equal(stored.commit.evict_us, 190 * SECOND);
    assert_int_equal(stored.commit.next_watermark_us, 190 * SECOND);

    /* Nothing new: no epoch, also no no-data epoch, and no id is used. */
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 0);
    numbers.total = 35;
    numbers.times[3] = 201 * SECOND;
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 2);
    is_epoch(&seen, 0, 4, 5, 190);
    is_epoch(&seen, 1, 5, 0, 191);
}

static void no_data_epochs_can_be_off(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    numbers.total = 10;
    numbers.times[0] = 100 * SECOND;
    make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
    s.session.conf.no_data_batches = false;
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 1);
    /* Switched on later: the pending one waits for data of that run. */
    s.session.conf.no_data_batches = true;
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 0);
}

static void once_is_one_epoch_without_limits(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    numbers.total = 30;
    numbers.per_epoch = 10;
    numbers.times[0] = 100 * SECOND;
    make_setup(&s, &seen, MR_TRIGGER_ONCE);
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 1);
    is_epoch(&seen, 0, 0, 30, 0);
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 0);
}

/* A planned epoch without a commit runs again with its id, rows, time and watermarks. */
static void an_uncommitted_epoch_runs_again(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    numbers.total = 10;
    numbers.per_epoch = 10;
    numbers.times[0] = 100 * SECOND;
    numbers.times[1] = 300 * SECOND;
    make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 2);
    numbers.total = 15;
    stored.fails_commit = true;
    assert_int_equal(run(&s, &seen, &err), MR_IO);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.told_n, 0);
    int64_t time_us = stored.plans[1].record.time_us;

    stored.fails_commit = false;
    numbers.total = 40;
    numbers.per_epoch = 20;
    memset(numbers.times, 0, sizeof numbers.times);
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    is_epoch(&seen, 0, 2, 5, 90);
    is_epoch(&seen, 1, 3, 20, 90);
    assert_int_equal(stored.commits, 2 + 3);
    assert_true(time_us % 1000 == 0);
}

/* The plan of an epoch that failed is made to last. */
static void a_failed_epoch_leaves_its_plan(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
    s.f.nodes[1].kind = MR_NODE_FILTER;
    s.f.plan.watermarks_n = 0;
    numbers.total = 10;
    operators.fails = FAIL_QUERY;
    assert_int_equal(run(&s, &seen, &err), MR_QUERY);
    assert_true(stored.has_plan && stored.syncs == 1);
    assert_int_equal(run(&s, &seen, &err), MR_QUERY);
    operators.fails = FAIL_NOT;
    numbers.total = 20;
    assert_int_equal(run(&s, &seen, &err), MR_OK);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.epochs[0].id, 0);
    assert_int_equal(seen.epochs[0].rows, 10);
    assert_int_equal(seen.epochs[0].watermark_us, -1);
    assert_int_equal(seen.epochs[1].id, 1);
}

/* Where a query begins is in its first plan alone, so that is durable before anything is read, also
 * when there is no data yet. */
static void where_a_query_begins_is_durable(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    for (uint64_t rows = 0; rows <= 10; rows += 10) {
        for (uint32_t begins = 0; begins < 2; begins++) {
            reset_fakes();
            make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
            s.f.plan.needs_no_data_batches = false;
            numbers.total = rows;
            numbers.begins = begins;
            assert_int_equal(run(&s, &seen, &err), MR_OK);
            assert_int_equal(stored.syncs, begins);
            assert_int_equal(stored.has_plan, begins && rows == 0);
            assert_int_equal(seen.n, rows > 0);
            if (!stored.has_plan)
                continue;
            /* The log prefers its own plans to the head's: now it must have that of the epoch. */
            numbers.total = 10;
            numbers.begins = false;
            assert_int_equal(run(&s, &seen, &err), MR_OK);
            assert_int_equal(stored.syncs, 2);
        }
    }
}

/* min over two inputs: one without data counts as 0 and holds the other back. */
static void two_inputs(struct setup *s, bool max)
{
    static const enum mr_node_kind kinds[] = {MR_NODE_SOURCE,    MR_NODE_WATERMARK, MR_NODE_SOURCE,
                                              MR_NODE_WATERMARK, MR_NODE_UNION,     MR_NODE_SINK};
    static struct mr_table second;
    static const struct mr_node *children[2];

    make_chain(&s->f, kinds, 6);
    second = number_table;
    second.index = 1;
    second.name = "u";
    s->f.nodes[2].children_n = 0;
    s->f.nodes[2].table = &second;
    children[0] = &s->f.nodes[1];
    children[1] = &s->f.nodes[3];
    s->f.nodes[4].children = children;
    s->f.nodes[4].children_n = 2;
    s->f.nodes[1].delay_us = 10 * SECOND;
    s->f.nodes[3].delay_us = 30 * SECOND;
    s->f.nodes[3].watermark_index = 1;
    s->f.plan.watermarks_n = 2;
    s->f.plan.needs_no_data_batches = true;
    s->session.conf.watermark_policy_max = max;
    s->config.checkpoint = NULL;
}

static void the_smaller_or_the_larger_watermark_rules(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    for (int max = 0; max < 2; max++) {
        reset_fakes();
        numbers.total = 10;
        numbers.times[0] = 100 * SECOND;
        make_setup(&s, &seen, MR_TRIGGER_AVAILABLE_NOW);
        two_inputs(&s, max);
        assert_int_equal(run(&s, &seen, &err), MR_OK);
        assert_int_equal(seen.n, 2);
        is_epoch(&seen, 0, 0, 20, 0);
        is_epoch(&seen, 1, 1, 0, max ? 90 : 70);
    }
}

static void processing_time_ticks_on_multiples(void **unused)
{
    enum { INTERVAL = 50000 };
    struct mr_engine_config engine = {.workers = 1};
    struct mr_engine *e;
    struct setup s;
    struct seen seen = {.stop_at = 4};
    struct mr_error err;

    (void)unused;
    reset_fakes();
    numbers.total = 1000;
    numbers.per_epoch = 10;
    make_setup(&s, &seen, MR_TRIGGER_PROCESSING_TIME);
    s.config.trigger_us = INTERVAL;
    assert_int_equal(mr_engine_open(&engine, &e, &err), MR_OK);
    assert_int_equal(mr_query_open(e, &s.config, &seen.query, &err), MR_OK);
    assert_int_equal(mr_query_start(seen.query, &err), MR_OK);
    assert_int_equal(mr_query_wait(seen.query, &err), MR_OK);
    mr_query_close(seen.query);
    mr_engine_close(e);
    assert_int_equal(seen.n, 4);
    int64_t offset = clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC);
    for (uint32_t i = 1; i < seen.n; i++)
        assert_true((seen.epochs[i].monotonic_us + offset) % INTERVAL < INTERVAL / 2);
}

/* Data that comes later is taken within milliseconds, and stop ends an idle query at once. */
static void asap_takes_what_comes_and_stops(void **unused)
{
    struct mr_engine_config engine = {.workers = 2};
    struct mr_engine *e;
    struct setup s;
    struct seen seen = {0};
    struct mr_query *q;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_setup(&s, &seen, MR_TRIGGER_ASAP);
    s.f.plan.needs_no_data_batches = false;
    s.config.checkpoint = NULL;
    assert_int_equal(mr_engine_open(&engine, &e, &err), MR_OK);
    assert_int_equal(mr_query_open(e, &s.config, &q, &err), MR_OK);
    assert_int_equal(mr_query_start(q, &err), MR_OK);
    for (int i = 1; i <= 5; i++) {
        atomic_fetch_add(&numbers.grown, 100);
        for (int ms = 0; ms < 5000 && atomic_load(&summed.rows) < i * 100; ms++)
            fake_wait(NULL, NULL, 0, 1000);
        assert_int_equal(atomic_load(&summed.rows), i * 100);
    }
    int64_t before = clock_us(CLOCK_MONOTONIC);
    mr_query_stop(q);
    assert_int_equal(mr_query_wait(q, &err), MR_OK);
    assert_true(clock_us(CLOCK_MONOTONIC) - before < SECOND);
    mr_query_close(q);
    mr_engine_close(e);
    assert_int_equal(seen.n, 5);
}

static void a_locked_checkpoint_refuses(void **unused)
{
    struct setup s;
    struct seen seen;
    struct mr_error err;

    (void)unused;
    reset_fakes();
    make_setup(&s, &seen, MR_TRIGGER_ONCE);
    stored.is_open = true;
    assert_int_equal(run(&s, &seen, &err), MR_BUSY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(available_now_cuts_and_ends_with_a_no_data_epoch),
        cmocka_unit_test(no_data_epochs_can_be_off),
        cmocka_unit_test(once_is_one_epoch_without_limits),
        cmocka_unit_test(an_uncommitted_epoch_runs_again),
        cmocka_unit_test(a_failed_epoch_leaves_its_plan),
        cmocka_unit_test(where_a_query_begins_is_durable),
        cmocka_unit_test(the_smaller_or_the_larger_watermark_rules),
        cmocka_unit_test(processing_time_ticks_on_multiples),
        cmocka_unit_test(asap_takes_what_comes_and_stops),
        cmocka_unit_test(a_locked_checkpoint_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
