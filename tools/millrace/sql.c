#include "tools/millrace/command.h"
#include "tools/millrace/infer.h"

#include "core/base/bounds.h"
#include "core/expr/function.h"
#include "core/format/pattern.h"
#include "core/format/value.h"
#include "core/format/json/json.h"
#include "core/sql/parser.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sql {
    struct mr_arena arena, row;
    jmp_buf escape, row_escape;
    const char *text, *format, *job_path, *workers;
    struct mr_session session;
    const struct mr_job *job; /* or NULL */
    const struct mr_type *schema;
    struct mr_json_writer writer;
};

static void print_json_rows(void *arg, uint64_t epoch, const struct mr_batch *batch)
{
    struct sql *s = arg;
    struct mr_buffer line;

    (void)epoch;
    if (setjmp(s->row_escape)) /* this is the query's thread */
        mr_cli_no_memory();
    for (uint32_t i = 0; i < batch->n; i++) {
        mr_arena_reset(&s->row);
        mr_buffer_init(&line, &s->row);
        mr_json_write_row(&s->writer, s->schema, batch, mr_batch_row(batch, i), &line);
        printf("%.*s\n", (int)line.n, (const char *)line.data);
    }
}

/* As Spark's: * stands for any characters, | between alternatives, case does not count. */
static bool matches(const char *name, const char *pattern)
{
    char one[128];

    for (const char *at = pattern;; at++) {
        const char *end = strchrnul(at, '|');
        snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
        if (fnmatch(one, name, FNM_CASEFOLD) == 0)
            return true;
        if (*end == '\0')
            return false;
        at = end;
    }
}

static int show_functions(const char *pattern)
{
    uint32_t n;
    const char *const *names = mr_function_names(&n);

    for (uint32_t i = 0; i < n; i++)
        if (pattern == NULL || matches(names[i], pattern))
            printf("%s\n", names[i]);
    return MR_EXIT_OK;
}

static int describe_function(const char *name)
{
    const struct mr_function *f = mr_function_find(name);
    struct mr_error err = {0};
    uint32_t n;

    if (f && (f->flags & MR_FN_INTERNAL) == 0) {
        printf("Function: %s\nUsage: %s\n", f->name, f->usage);
        return MR_EXIT_OK;
    }
    const char *const *names = mr_function_names(&n);
    const char *nearest = mr_error_nearest(name, names, n);
    (void)MR_FAIL_CONDITION(&err, MR_USER, "UNRESOLVED_ROUTINE", "there is no function `%s`%s%s%s",
                            name, nearest ? "; did you mean `" : "", nearest ? nearest : "",
                            nearest ? "`?" : "");
    return mr_cli_fail(&err);
}

/* --workers wins over the job's. */
static enum mr_status read_workers(const struct sql *s, struct mr_engine_config *engine,
                                   struct mr_error *err)
{
    int64_t n;

    if (s->workers == NULL)
        return MR_OK;
    if (!mr_value_parse_integer(mr_text_of(s->workers), 0, MR_WORKERS_MAX, &n))
        return MR_FAIL(err, MR_USER, 0, "--workers: \"%s\" is no whole number in [0, %d]",
                       s->workers, MR_WORKERS_MAX);
    engine->workers = (uint32_t)n;
    return MR_OK;
}

/* The sources and tables of a job, read as tables; or none. */
static enum mr_status make_session(struct sql *s, struct mr_engine_config *engine,
                                   struct mr_error *err)
{
    struct mr_job *job;

    s->session.arena = &s->arena;
    mr_conf_init(&s->session.conf);
    *engine = (struct mr_engine_config){
        .batch_rows = MR_BATCH_ROWS_DEFAULT, .ring_slots = 8, .pin = true};
    if (s->job_path == NULL)
        return read_workers(s, engine, err);
    enum mr_status status = mr_job_load(s->job_path, NULL, &s->arena, &job, err);
    if (status != MR_OK)
        return status;
    s->job = job;
    s->session = job->queries[0].session;
    *engine = job->engine;
    struct mr_table *tables = MR_NEW_ARRAY(&s->arena, struct mr_table, s->session.tables_n + 1);
    for (uint32_t i = 0; i < s->session.tables_n; i++) {
        tables[i] = s->session.tables[i];
        tables[i].streaming = false;
    }
    s->session.tables = tables;
    return read_workers(s, engine, err);
}

static enum mr_status infer_schemas(struct sql *s, struct mr_relation *relation,
                                    struct mr_error *err)
{
    struct mr_env *env;
    enum mr_status status = mr_env_open(NULL, &env, err);

    if (status != MR_OK)
        return status;
    status = mr_infer_schemas(relation, env, &s->arena, err);
    env->ops->fini(env);
    return status;
}

/* Of the job's sources, those that the plan reads are there: no rows would be no answer. */
static enum mr_status check_paths(const struct sql *s, const struct mr_physical_plan *plan,
                                  struct mr_error *err)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; s->job && i < plan->nodes_n && status == MR_OK; i++) {
        const struct mr_table *t = plan->nodes[i]->table;
        if (plan->nodes[i]->kind != MR_NODE_SOURCE || t->place.line == 0)
            continue;
        status = mr_job_check_path(s->job, t, err);
        if (status == MR_OK)
            continue;
        snprintf(err->file, sizeof err->file, "%s", s->job_path);
        err->line = t->place.line;
        err->column = t->place.column;
    }
    return status;
}

/* Which of several queries' names could be meant at all. */
static void say_query(const struct sql *s, struct mr_error *err)
{
    size_t n = strlen(err->message);

    if (s->job && s->job->queries_n > 1 && strcmp(err->condition, "TABLE_OR_VIEW_NOT_FOUND") == 0)
        snprintf(err->message + n, sizeof err->message - n,
                 " Names are those of query \"%s\", the first of the job's %u.",
                 s->job->queries[0].name, s->job->queries_n);
}

static enum mr_status explain(struct sql *s, const struct mr_statement *statement,
                              const struct mr_engine_config *config, struct mr_error *err)
{
    struct mr_plan_request request = {.relation = statement->query, .mode = MR_COMPLETE};
    const struct mr_mem_config where = {
        .workers = config->workers, .cpus = config->cpus, .pin = config->pin};
    struct mr_placement placement;
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts = {0};
    enum mr_status status = mr_mem_place(&where, &placement, err);

    if (status != MR_OK)
        return status;
    request.workers = placement.workers_n;
    status = mr_plan_query(&s->session, &request, &plan, &texts, err);
    mr_cli_print_plans(&texts, s->job, statement->is_extended, &s->arena);
    return status;
}

static enum mr_status run_query(struct sql *s, const struct mr_relation *relation,
                                const struct mr_engine_config *config, struct mr_error *err)
{
    static const struct mr_option all[] = {{"numRows", "100000"}, {"truncate", "false"}};
    struct mr_plan_request request = {.relation = relation, .mode = MR_COMPLETE};
    struct mr_physical_plan *plan;
    struct mr_plan_texts texts = {0};
    struct mr_engine *engine;
    struct mr_query *query = NULL;
    enum mr_status status = mr_engine_open(config, &engine, err);

    if (status != MR_OK)
        return status;
    request.workers = mr_engine_workers(engine);
    status = mr_plan_query(&s->session, &request, &plan, &texts, err);
    if (status == MR_OK)
        status = check_paths(s, plan, err);
    bool json = strcmp(s->format, "json") == 0;
    struct mr_query_config c = {.name = "sql",
                                .session = &s->session,
                                .plan = plan,
                                .batch = true,
                                .trigger = MR_TRIGGER_ONCE};
    c.sink_ops = mr_sink_find(json ? "noop" : "console");
    c.sink = (struct mr_sink_config){
        .format = json ? "noop" : "console", .mode = MR_COMPLETE, .batch = true};
    if (!json) {
        c.sink.options = all;
        c.sink.options_n = 2;
    }
    if (status == MR_OK) {
        s->schema = c.sink.schema = plan->root->output;
        s->writer = (struct mr_json_writer){
            .zone = s->session.conf.zone, .keep_nulls = true, .microseconds_always = true};
        status = mr_pattern_compile(MR_TEXT("yyyy-MM-dd'T'HH:mm:ss.SSSSSS"), false, &s->arena,
                                    &s->writer.timestamp_ntz_pattern, err);
        c.on_rows = json ? print_json_rows : NULL;
        c.on_rows_arg = s;
    }
    if (status == MR_OK)
        status = mr_query_open(engine, &c, &query, err);
    if (status == MR_OK)
        status = mr_query_start(query, err);
    if (status == MR_OK)
        status = mr_query_wait(query, err);
    if (query)
        mr_query_close(query);
    mr_engine_close(engine);
    return status;
}

/* Not inlined: its variables must not live in the frame of setjmp. */
static __attribute__((noinline)) int execute(struct sql *s)
{
    struct mr_engine_config engine;
    struct mr_statement statement;
    struct mr_error err = {0};
    enum mr_status status = make_session(s, &engine, &err);

    if (status == MR_OK)
        status = mr_sql_parse_statement(mr_text_of(s->text), &s->arena, &statement, &err);
    if (status == MR_OK && statement.kind == MR_STATEMENT_SHOW_FUNCTIONS)
        return show_functions(statement.name);
    if (status == MR_OK && statement.kind == MR_STATEMENT_DESCRIBE_FUNCTION)
        return describe_function(statement.name);
    if (status == MR_OK)
        status = infer_schemas(s, statement.query, &err);
    if (status == MR_OK)
        status = mr_session_complete(&s->session, &err);
    if (status == MR_OK)
        status = statement.kind == MR_STATEMENT_EXPLAIN
                     ? explain(s, &statement, &engine, &err)
                     : run_query(s, statement.query, &engine, &err);
    if (status == MR_OK)
        return MR_EXIT_OK;
    say_query(s, &err);
    if (s->job)
        mr_job_hide_secrets(s->job, &err);
    return mr_cli_fail(&err);
}

static int guard_memory(struct sql *s)
{
    mr_arena_init(&s->arena, NULL, &s->escape);
    mr_arena_init(&s->row, NULL, &s->row_escape);
    if (setjmp(s->escape)) {
        fprintf(stderr, "millrace: error: no memory\n");
        return MR_EXIT_FAILED;
    }
    return execute(s);
}

static int sql(const struct mr_command *command, int argc, char **argv)
{
    struct sql *s = calloc(1, sizeof *s);
    bool done;

    if (s == NULL)
        return mr_cli_misuse(command, "no memory");
    s->format = "table";
    const struct mr_cli_option options[] = {
        {"format", "FORMAT", "table or json, one object a line (table)", &s->format},
        {"job", "JOB.yaml", "the sources, tables and steps of this job can be read by name",
         &s->job_path},
        {"workers", "N", "worker threads (one per core)", &s->workers},
        {0},
    };
    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1)
        return mr_cli_misuse(command, "expected one statement, in quotes, got %d arguments", argc);
    if (strcmp(s->format, "table") != 0 && strcmp(s->format, "json") != 0)
        return mr_cli_misuse(command, "--format is table or json, not \"%s\"", s->format);
    s->text = argv[0];
    int code = guard_memory(s);
    mr_arena_fini(&s->arena);
    mr_arena_fini(&s->row);
    free(s);
    return code;
}

const struct mr_command mr_command_sql = {
    .name = "sql",
    .arguments = "'SELECT ..'",
    .summary = "run one query over what is there, and end",
    .text =
        "Runs a statement over files as they are now, by the code that streams use:\n"
        "  millrace sql 'SELECT event_type, count(*) FROM json.`in/events` GROUP BY event_type'\n"
        "  millrace sql --job examples/events_5m.yaml \"SELECT count(*) FROM raw\"\n"
        "  millrace sql \"SHOW FUNCTIONS LIKE 'date*'\"\n"
        "  millrace sql \"DESCRIBE FUNCTION split_part\"\n"
        "  millrace sql \"EXPLAIN EXTENDED SELECT ..\"",
    .run = sql,
};
