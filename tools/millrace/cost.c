#include "tools/millrace/cost.h"

#include "tools/millrace/operator_table.h"
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

static bool moves_files(const struct mr_option *o)
{
    return strcasecmp(o->name, "cleanSource") == 0 || strcasecmp(o->name, "sourceArchiveDir") == 0;
}

/* The tables without what their sources would do to files: clean them, set bad records aside. */
static const struct mr_table *harmless(const struct mr_session *session, struct mr_arena *a)
{
    struct mr_table *tables = MR_NEW_ARRAY(a, struct mr_table, session->tables_n);

    for (uint32_t i = 0; i < session->tables_n; i++) {
        const struct mr_table *t = &session->tables[i];
        struct mr_option *kept = MR_NEW_ARRAY(a, struct mr_option, t->options_n);
        tables[i] = *t;
        tables[i].options = kept;
        tables[i].options_n = 0;
        tables[i].bad_records = NULL;
        for (uint32_t o = 0; o < t->options_n; o++)
            if (!moves_files(&t->options[o]))
                kept[tables[i].options_n++] = t->options[o];
    }
    return tables;
}

/* What has nothing yet when it starts would be measured over nothing. */
static enum mr_status check_seconds(const struct mr_job_query *q, uint32_t seconds,
                                    struct mr_error *err)
{
    static const char *const waiting[] = {"rate", "socket"};

    for (uint32_t i = 0; i < q->session.tables_n; i++)
        for (size_t k = 0; k < sizeof waiting / sizeof *waiting && seconds == 0; k++)
            if (q->session.tables[i].streaming &&
                strcasecmp(q->session.tables[i].format, waiting[k]) == 0)
                return MR_FAIL(
                    err, MR_USER, 0,
                    "query \"%s\": source \"%s\" (%s) has no rows at the start; say with "
                    "--seconds N how long to run",
                    q->name, q->session.tables[i].name, waiting[k]);
    return MR_OK;
}

static void on_progress(void *arg, const struct mr_progress *p)
{
    mr_operator_table_take(arg, p);
}

static enum mr_status run_query(const struct mr_job_query *q, const struct mr_physical_plan *plan,
                                uint32_t seconds, struct mr_engine *engine,
                                struct mr_operator_table *table, struct mr_error *err)
{
    const struct mr_query_config config = {
        .name = q->name,
        .session = &q->session,
        .plan = plan,
        .sink_ops = mr_sink_find("noop"),
        .sink = {.format = "noop", .mode = q->sink.mode, .schema = plan->root->output},
        .trigger = seconds ? MR_TRIGGER_ASAP : MR_TRIGGER_AVAILABLE_NOW,
        .on_progress = on_progress,
        .on_progress_arg = table,
    };
    struct mr_query *query = NULL;
    enum mr_status status = mr_query_open(engine, &config, &query, err);

    mr_operator_table_begin(table);
    if (status == MR_OK)
        status = mr_query_start(query, err);
    if (status == MR_OK) {
        if (seconds) {
            sleep(seconds);
            mr_query_stop(query);
        }
        status = mr_query_wait(query, err);
    }
    if (query)
        mr_query_close(query);
    return status;
}

static enum mr_status show_query(const struct mr_job *job, const struct mr_job_query *query,
                                 uint32_t seconds, struct mr_engine *engine, struct mr_arena *a,
                                 struct mr_error *err)
{
    struct mr_operator_table *table = MR_NEW(a, struct mr_operator_table);
    const uint32_t workers = mr_engine_workers(engine);
    struct mr_job_query q = *query;
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts;

    q.session.tables = harmless(&query->session, a);
    enum mr_status status = check_seconds(&q, seconds, err);
    if (status == MR_OK)
        status = mr_job_plan(job, &q, workers, &plan, &texts, err);
    if (status == MR_OK)
        status = run_query(&q, plan, seconds, engine, table, err);
    if (status != MR_OK)
        return status;
    struct mr_text shown = mr_operator_table_text(table, job, q.name, plan->root, workers, a);
    fwrite(shown.data, 1, shown.n, stdout);
    return MR_OK;
}

enum mr_status mr_cost_show(const struct mr_job *job, uint32_t seconds, struct mr_arena *a,
                            struct mr_error *err)
{
    struct mr_engine *engine;
    enum mr_status status = mr_engine_open(&job->engine, &engine, err);

    if (status != MR_OK)
        return status;
    for (uint32_t i = 0; i < job->queries_n && status == MR_OK; i++)
        status = show_query(job, &job->queries[i], seconds, engine, a, err);
    mr_engine_close(engine);
    if (status != MR_OK)
        mr_job_hide_secrets(job, err);
    return status;
}
