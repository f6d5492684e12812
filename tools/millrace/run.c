#include "core/base/time.h"
#include "tools/millrace/command.h"
#include "tools/millrace/record.h"
#include "tools/millrace/teller.h"
#include "tools/millrace/watch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct mr_arena arena;
    jmp_buf escape;
    struct mr_job *job;
    struct mr_engine *engine;
    struct mr_query *queries[MR_QUERIES_MAX];
    struct mr_teller tellers[MR_QUERIES_MAX];
    struct mr_watch watches[MR_QUERIES_MAX];
    const struct mr_node *roots[MR_QUERIES_MAX];
    struct mr_record record;
    bool has_record, is_record_refused;
    bool is_told;   /* why it failed was said at that time */
    const char *at; /* how far it came, for the record */
    const char *job_path, *record_path, *config_path, *progress, *operators; /* as given */
};

/* The queries that a signal stops: set before the handlers are installed. */
static struct mr_query *const *stoppable;
static uint32_t stoppable_n;

static volatile sig_atomic_t was_signalled;

static void on_signal(int number)
{
    static const char text[] =
        "\nmillrace: stopping after this epoch; a second signal ends it at once\n";
    ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);

    (void)number;
    (void)told; /* a closed terminal must not keep the query from stopping */
    was_signalled = 1;
    for (uint32_t i = 0; i < stoppable_n; i++)
        if (stoppable[i])
            mr_query_stop(stoppable[i]);
}

/* Before the first query is open: one that comes later is not started. */
static void stop_on_signals(struct run *r)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    stoppable = r->queries;
    stoppable_n = r->job->queries_n;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Not among what the query reads and writes, where it would be taken for a file of theirs. */
static enum mr_status open_record(struct run *r, const struct mr_job_query *q,
                                  const struct mr_physical_plan *plan, struct mr_error *err)
{
    static const char what[] = "--record";
    const char *sink = mr_format_find(q->sink.format)
                           ? mr_option_get(q->sink.options, q->sink.options_n, "path")
                           : NULL;

    enum mr_status status = mr_job_check_apart(what, r->record_path, plan, err);
    if (status == MR_OK && sink)
        status = mr_job_check_among(what, r->record_path, sink, err);
    if (status == MR_OK && q->checkpoint)
        status = mr_job_check_among(what, r->record_path, q->checkpoint, err);
    if (status == MR_OK)
        status = mr_record_open(&r->record, r->record_path, err);
    r->has_record = status == MR_OK;
    r->is_record_refused = status != MR_OK;
    return status;
}

/* Also of a job that is refused: then the record is this error alone. */
static void record_error(struct run *r, const struct mr_error *error)
{
    struct mr_error own = {0};

    if (!r->has_record && (r->record_path == NULL || r->is_record_refused))
        return;
    if (!r->has_record && mr_record_open(&r->record, r->record_path, &own) != MR_OK) {
        mr_cli_fail(&own);
        return;
    }
    mr_record_error(&r->record, error, r->at);
}

static enum mr_status open_query(struct run *r, uint32_t i, enum mr_teller_style style,
                                 struct mr_error *err)
{
    const struct mr_job_query *q = &r->job->queries[i];
    struct mr_query_config *c = MR_NEW(&r->arena, struct mr_query_config);
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts;
    struct mr_teller *t = &r->tellers[i];

    enum mr_status status =
        mr_job_plan(r->job, q, mr_engine_workers(r->engine), &plan, &texts, err);
    if (status != MR_OK)
        return status;
    if (r->record_path && (status = open_record(r, q, plan, err)) != MR_OK)
        return status;
    r->at = "start";
    mr_teller_init(t, style, r->job, r->job_path, q->name);
    if (r->operators)
        t->operators = MR_NEW(&r->arena, struct mr_operator_table);
    *c = (struct mr_query_config){
        .name = q->name,
        .session = &q->session,
        .plan = plan,
        .sink_ops = mr_sink_find(q->sink.format),
        .sink = q->sink,
        .checkpoint = q->checkpoint,
        .trigger = q->trigger,
        .trigger_us = q->trigger_us,
        .on_progress = mr_teller_progress,
        .on_progress_arg = t,
        .on_end = mr_teller_end,
        .on_end_arg = t,
    };
    r->roots[i] = plan->root;
    c->sink.schema = plan->root->output;
    if (r->has_record) {
        mr_record_schema(&r->record, plan->root->output, q->session.conf.zone);
        c->on_rows = mr_record_rows;
        c->on_epoch = mr_record_epoch;
        c->on_rows_arg = &r->record;
    }
    return mr_query_open(r->engine, c, &r->queries[i], err);
}

static void say_io(const struct mr_engine *e, const char *wanted)
{
    const char *why = mr_engine_why_not_uring(e);

    if (wanted == NULL && why)
        fprintf(stderr, "millrace: note: files by plain system calls instead of io_uring: %s\n",
                why);
}

/* What a checkpoint can't give with these ends. */
static void say_limits(const struct mr_job_query *q)
{
    if (q->checkpoint == NULL)
        return;
    if (mr_sink_find(q->sink.format)->repeats)
        fprintf(stderr,
                "millrace: note: query \"%s\": after a crash sink %s may have the rows of the last "
                "epoch twice\n",
                q->name, q->sink.format);
    for (uint32_t i = 0; i < q->session.tables_n; i++) {
        const struct mr_table *t = &q->session.tables[i];
        if (t->streaming && !mr_source_find(t->format)->replayable)
            fprintf(stderr,
                    "millrace: note: query \"%s\": source \"%s\" (%s) can't be read again: a crash "
                    "loses the rows of the epoch that ran\n",
                    q->name, t->name, t->format);
    }
}

static void show_operators(struct run *r, uint32_t i)
{
    struct mr_text shown =
        mr_operator_table_text(r->tellers[i].operators, r->job, r->job->queries[i].name,
                               r->roots[i], mr_engine_workers(r->engine), &r->arena);

    fwrite(shown.data, 1, shown.n, stderr);
}

/* Meanwhile all of them are watched. */
static enum mr_status wait_for(struct run *r, uint32_t i, struct mr_error *err)
{
    while (!mr_query_ends_within(r->queries[i], MR_US_PER_SECOND))
        for (uint32_t k = i; k < r->job->queries_n; k++)
            if (!mr_query_ends_within(r->queries[k], 0))
                mr_watch_look(&r->watches[k], r->queries[k], r->job->queries[k].name,
                              r->job->engine.stall_s);
    mr_watch_look(&r->watches[i], r->queries[i], r->job->queries[i].name, r->job->engine.stall_s);
    return mr_query_wait(r->queries[i], err);
}

static enum mr_status run_queries(struct run *r, enum mr_teller_style style, struct mr_error *err)
{
    stop_on_signals(r);
    enum mr_status status = mr_engine_open(&r->job->engine, &r->engine, err), first = MR_OK;

    r->at = "analysis";
    for (uint32_t i = 0; i < r->job->queries_n && status == MR_OK; i++)
        status = open_query(r, i, style, err);
    if (status != MR_OK)
        return status;
    say_io(r->engine, r->job->engine.io);
    for (uint32_t i = 0; i < r->job->queries_n && !r->has_record; i++)
        say_limits(&r->job->queries[i]);
    r->at = "run";
    if (was_signalled)
        return MR_OK;
    for (uint32_t i = 0; i < r->job->queries_n && status == MR_OK; i++) {
        if (r->tellers[i].operators)
            mr_operator_table_begin(r->tellers[i].operators);
        status = mr_query_start(r->queries[i], err);
    }
    for (uint32_t i = 0; i < r->job->queries_n; i++) {
        struct mr_error own = {0};
        if (status != MR_OK)
            mr_query_stop(r->queries[i]);
        enum mr_status ended = wait_for(r, i, &own);
        if (r->tellers[i].operators)
            show_operators(r, i);
        if (ended != MR_OK && first == MR_OK) {
            first = ended;
            *err = own;
        }
    }
    r->is_told = status == MR_OK && r->job->queries_n > 1;
    return status != MR_OK ? status : first;
}

static void close_all(struct run *r)
{
    stoppable_n = 0; /* a signal from now on finds nothing to stop */
    for (uint32_t i = 0; r->job && i < r->job->queries_n; i++) {
        if (r->queries[i])
            mr_query_close(r->queries[i]);
        mr_teller_fini(&r->tellers[i]);
    }
    if (r->engine)
        mr_engine_close(r->engine);
    mr_record_close(&r->record);
    mr_arena_fini(&r->arena);
}

static enum mr_status load_and_run(struct run *r, struct mr_error *err)
{
    enum mr_teller_style style = MR_TELL_NONE;
    enum mr_status status = mr_teller_read_style(r->progress, &style, err);

    r->at = "parse";
    if (status == MR_OK)
        status = mr_job_load(r->job_path, r->config_path, &r->arena, &r->job, err);
    if (status == MR_OK && r->record_path && r->job->queries_n != 1)
        status = MR_FAIL(err, MR_USER, 0, "--record takes a job of one query, %s has %u",
                         r->job_path, r->job->queries_n);
    return status == MR_OK ? run_queries(r, style, err) : status;
}

/* Not inlined: its variables must not live in the frame of setjmp. */
static __attribute__((noinline)) int execute(struct run *r)
{
    struct mr_error err = {0};
    int code = MR_EXIT_OK;

    if (load_and_run(r, &err) != MR_OK) {
        if (r->job)
            mr_job_hide_secrets(r->job, &err);
        if (err.line && err.file[0] == '\0')
            snprintf(err.file, sizeof err.file, "%s", r->job_path);
        record_error(r, &err);
        code = r->is_told ? MR_EXIT_FAILED : mr_cli_fail(&err);
    }
    close_all(r);
    return code;
}

static int guard_memory(struct run *r)
{
    mr_arena_init(&r->arena, NULL, &r->escape);
    if (setjmp(r->escape)) {
        fprintf(stderr, "millrace: error: no memory\n");
        return MR_EXIT_FAILED;
    }
    return execute(r);
}

static int run(const struct mr_command *command, int argc, char **argv)
{
    struct run *r = calloc(1, sizeof *r);
    bool done;

    if (r == NULL)
        return mr_cli_misuse(command, "no memory");
    const struct mr_cli_option options[] = {
        {"record", "FILE",
         "rows go to FILE (JSON) and not to the sink; the checkpoint moves on as always",
         &r->record_path},
        {"config", "FILE", "the content of the job's engine: section, in a file of its own",
         &r->config_path},
        {"operators", NULL, "at the end, a table of calls, rows and cycles of every operator",
         &r->operators},
        {"progress", "HOW", "auto (a line on a terminal, else JSON), line, json, none",
         &r->progress},
        {0},
    };
    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1)
        return mr_cli_misuse(command, "expected one job file, got %d", argc);
    r->job_path = argv[0];
    int code = guard_memory(r);
    free(r);
    return code;
}

const struct mr_command mr_command_run = {
    .name = "run",
    .arguments = "JOB.yaml",
    .summary = "run the queries of a job file",
    .text =
        "Runs until its trigger says that it is done (available_now, once), or until SIGINT or "
        "SIGTERM:\n"
        "then the epoch is finished and committed. Started again, it goes on from its checkpoint.\n"
        "When one of several queries fails, that is said at once and the others go on; the exit "
        "code is 1\n"
        "when all have ended.\n"
        "Progress goes to the error stream: one line a second and a summary on a terminal, JSON "
        "lines otherwise,\n"
        "with the fields of Spark's StreamingQueryProgress.",
    .run = run,
};
