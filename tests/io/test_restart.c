/* Whole queries on real files: restarts with other worker counts, from log and snapshots, crashes
 * between. */
#include "core/run/progress.h"
#include "core/run/query.h"
#include "core/sql/parser.h"
#include "io/memory/memory.h"
#include "kernels/kernels.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { KEYS = 7 };

struct results { /* of the newest epoch that gave a key */
    int64_t counts[KEYS], sums[KEYS];
    uint32_t epochs, rows;
    uint64_t last_epoch;
    uint64_t state_rows;
};

static void on_rows(void *arg, uint64_t epoch, const struct mr_batch *batch)
{
    struct results *r = arg;

    (void)epoch;
    for (uint32_t i = 0; i < batch->n; i++) {
        uint32_t row = mr_batch_row(batch, i);
        int64_t k = batch->columns[0].i64[row];
        assert_true(k >= 0 && k < KEYS);
        r->counts[k] = batch->columns[1].i64[row];
        r->sums[k] = batch->columns[2].i64[row];
        r->rows++;
    }
}

static enum mr_status on_epoch(void *arg, const struct mr_progress *p, struct mr_error *err)
{
    struct results *r = arg;

    (void)err;
    r->epochs++;
    r->last_epoch = p->batch_id;
    assert_int_equal(p->operators_n, 1);
    assert_string_equal(p->operators[0].name, "stateStoreSave");
    r->state_rows = p->operators[0].counts.rows_total;
    return MR_OK;
}

struct job {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    struct mr_session session;
    struct mr_table table;
    struct mr_physical_plan *plan;
    struct mr_engine *engine;
    struct mr_query *query;
};

static const struct mr_option rate_options[] = {{"rowsPerBatch", "1000"}, {"numPartitions", "5"}};

static enum mr_status plan_job(struct job *j, const char *sql, uint32_t workers)
{
    struct mr_relation *relation;
    struct mr_plan_texts texts;

    mr_arena_init(&j->arena, NULL, &j->escape);
    j->table = (struct mr_table){.name = "t",
                                 .streaming = true,
                                 .format = "rate-micro-batch",
                                 .options = rate_options,
                                 .options_n = 2};
    j->table.schema = mr_source_find("rate-micro-batch")->schema(rate_options, 2, &j->arena);
    mr_conf_init(&j->session.conf);
    j->session.arena = &j->arena;
    j->session.tables = &j->table;
    j->session.tables_n = 1;
    enum mr_status status = mr_sql_parse_query(mr_text_of(sql), &j->arena, &relation, &j->err);
    if (status != MR_OK)
        return status;
    struct mr_plan_request request = {
        .relation = relation, .streaming = true, .mode = MR_UPDATE, .workers = workers};
    return mr_plan_query(&j->session, &request, &j->plan, &texts, &j->err);
}

static enum mr_status open_job(struct job *j, const char *sql, const char *checkpoint,
                               uint32_t workers, struct results *results)
{
    struct mr_engine_config engine = {.workers = workers, .batch_rows = 64, .ring_slots = 2};
    enum mr_status status = mr_engine_open(&engine, &j->engine, &j->err);

    if (status == MR_OK)
        status = plan_job(j, sql, workers);
    if (status != MR_OK)
        return status;
    struct mr_query_config config = {.name = "q",
                                     .session = &j->session,
                                     .plan = j->plan,
                                     .sink_ops = mr_sink_find("noop"),
                                     .sink = {.format = "noop", .mode = MR_UPDATE},
                                     .checkpoint = checkpoint,
                                     .trigger = MR_TRIGGER_AVAILABLE_NOW,
                                     .on_rows = on_rows,
                                     .on_epoch = on_epoch,
                                     .on_rows_arg = results};
    return mr_query_open(j->engine, &config, &j->query, &j->err);
}

static void close_job(struct job *j)
{
    if (j->query)
        mr_query_close(j->query);
    if (j->engine)
        mr_engine_close(j->engine);
    mr_arena_fini(&j->arena);
}

static const char grouped[] =
    "SELECT value % 7 AS k, count(*) AS n, sum(value) AS s FROM t GROUP BY value % 7";

static enum mr_status run(const char *sql, const char *checkpoint, uint32_t workers,
                          struct results *results, struct mr_error *err)
{
    struct job j = {0};
    enum mr_status status = open_job(&j, sql, checkpoint, workers, results);

    if (status == MR_OK)
        status = mr_query_start(j.query, &j.err);
    if (status == MR_OK)
        status = mr_query_wait(j.query, &j.err);
    *err = j.err;
    close_job(&j);
    return status;
}

static void expect(const struct results *r, int64_t rows)
{
    int64_t counts[KEYS] = {0}, sums[KEYS] = {0};

    for (int64_t v = 0; v < rows; v++) {
        counts[v % KEYS]++;
        sums[v % KEYS] += v;
    }
    assert_memory_equal(counts, r->counts, sizeof counts);
    assert_memory_equal(sums, r->sums, sizeof sums);
}

static void make_folder(char *path)
{
    struct mr_error err;
    struct mr_env *env;

    assert_int_equal(mr_env_open(NULL, &env, &err), MR_OK);
    sprintf(path, "/tmp/mr-restart-%016llx", (unsigned long long)env->ops->random(env));
    assert_int_equal(env->ops->make_dir(env, path), 0);
    env->ops->fini(env);
}

static void remove_folder(const char *path)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static void state_goes_to_its_owners_under_any_worker_count(void **unused)
{
    static const uint32_t workers[] = {1, 3, 2, 5, 1, 4};
    struct results r = {0};
    struct mr_error err;
    char path[64], checkpoint[96];

    (void)unused;
    make_folder(path);
    snprintf(checkpoint, sizeof checkpoint, "%s/chk", path);
    for (uint32_t i = 0; i < 6; i++) {
        r = (struct results){0};
        assert_int_equal(run(grouped, checkpoint, workers[i], &r, &err), MR_OK);
        assert_int_equal(r.epochs, 1);
        assert_int_equal(r.last_epoch, i);
        assert_int_equal(r.rows, KEYS);
        assert_int_equal(r.state_rows, KEYS);
        expect(&r, (i + 1) * 1000);
    }
    remove_folder(path);
}

/* A child runs epoch after epoch and is killed at any moment; what it committed is there, once. */
static void a_killed_process_loses_and_doubles_nothing(void **unused)
{
    struct results r = {0};
    struct mr_error err;
    char path[64], checkpoint[96];

    (void)unused;
    make_folder(path);
    snprintf(checkpoint, sizeof checkpoint, "%s/chk", path);
    for (uint32_t i = 0; i < 8; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            while (run(grouped, checkpoint, 1 + i % 3, &r, &err) == MR_OK)
                if (write(ends[1], "", 1) != 1)
                    break;
            _exit(1);
        }
        /* After three epochs, somewhere in the next ones. */
        char told[3];
        for (size_t n = 0; n < sizeof told;) {
            ssize_t got = read(ends[0], told, sizeof told - n);
            assert_true(got > 0);
            n += (size_t)got;
        }
        usleep(i * 3700);
        assert_int_equal(kill(child, SIGKILL), 0);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        close(ends[0]);
        close(ends[1]);
        r = (struct results){0};
        assert_int_equal(run(grouped, checkpoint, 2, &r, &err), MR_OK);
        expect(&r, (int64_t)(r.last_epoch + 1) * 1000);
    }
    assert_true(r.last_epoch > 16); /* epochs were really committed between the kills */
    remove_folder(path);
}

/* One row of state without a key: found again, on the worker that all rows go to. */
static void an_aggregate_without_keys_goes_on(void **unused)
{
    static const char all[] = "SELECT 0L AS k, count(*) AS n, sum(value) AS s FROM t";
    static const uint32_t workers[] = {1, 3, 1, 2};
    struct results r = {0};
    struct mr_error err;
    char path[64], checkpoint[96];

    (void)unused;
    make_folder(path);
    snprintf(checkpoint, sizeof checkpoint, "%s/chk", path);
    for (int64_t i = 0; i < 4; i++) {
        r = (struct results){0};
        assert_int_equal(run(all, checkpoint, workers[i], &r, &err), MR_OK);
        assert_int_equal(r.rows, 1);
        assert_int_equal(r.state_rows, 1);
        assert_int_equal(r.counts[0], (i + 1) * 1000);
    }
    remove_folder(path);
}

static void another_query_is_refused_and_the_old_one_goes_on(void **unused)
{
    struct results r = {0};
    struct mr_error err;
    char path[64], checkpoint[96];

    (void)unused;
    make_folder(path);
    snprintf(checkpoint, sizeof checkpoint, "%s/chk", path);
    assert_int_equal(run(grouped, checkpoint, 2, &r, &err), MR_OK);
    assert_int_equal(run("SELECT value % 7 AS k, count(*) AS n FROM t GROUP BY value % 7",
                         checkpoint, 2, &r, &err),
                     MR_USER);
    assert_non_null(strstr(err.condition, "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"));
    assert_int_equal(run(grouped, checkpoint, 2, &r, &err), MR_OK);
    expect(&r, 2000);
    remove_folder(path);
}

static void two_processes_do_not_share_a_checkpoint(void **unused)
{
    struct results r = {0};
    struct job first = {0}, second = {0};
    char path[64], checkpoint[96];

    (void)unused;
    make_folder(path);
    snprintf(checkpoint, sizeof checkpoint, "%s/chk", path);
    assert_int_equal(open_job(&first, grouped, checkpoint, 1, &r), MR_OK);
    assert_int_equal(open_job(&second, grouped, checkpoint, 1, &r), MR_BUSY);
    close_job(&second);
    close_job(&first);
    remove_folder(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_goes_to_its_owners_under_any_worker_count),
        cmocka_unit_test(a_killed_process_loses_and_doubles_nothing),
        cmocka_unit_test(an_aggregate_without_keys_goes_on),
        cmocka_unit_test(another_query_is_refused_and_the_old_one_goes_on),
        cmocka_unit_test(two_processes_do_not_share_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
