#include "tools/millrace/command.h"
#include "tools/millrace/cost.h"

#include <stdio.h>
#include <stdlib.h>

static enum mr_status plan_all(const struct mr_job *job, bool print, struct mr_arena *a,
                               struct mr_error *err)
{
    struct mr_placement placement;
    struct mr_mem_config where = {
        .workers = job->engine.workers, .cpus = job->engine.cpus, .pin = job->engine.pin};
    enum mr_status status = mr_mem_place(&where, &placement, err);

    for (uint32_t i = 0; i < job->queries_n && status == MR_OK; i++) {
        const struct mr_job_query *q = &job->queries[i];
        struct mr_physical_plan *plan;
        struct mr_plan_texts t = {0};
        status = mr_job_plan(job, q, placement.workers_n, &plan, &t, err);
        if (!print)
            continue;
        if (job->queries_n > 1)
            printf("==== query %s ====\n", q->name);
        mr_cli_print_plans(&t, job, true, a);
    }
    return status;
}

/* cost_seconds < 0: the plans; else what they cost. */
static int load_and_plan(const char *path, const char *config, bool print, long cost_seconds)
{
    struct mr_error err = {0};
    struct mr_arena arena;
    struct mr_job *job;
    jmp_buf escape;

    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape)) {
        fprintf(stderr, "millrace: error: no memory\n");
        return MR_EXIT_FAILED;
    }
    enum mr_status status = mr_job_load(path, config, &arena, &job, &err);
    if (status == MR_OK)
        status = cost_seconds < 0 ? plan_all(job, print, &arena, &err)
                                  : mr_cost_show(job, (uint32_t)cost_seconds, &arena, &err);
    int code = status == MR_OK ? MR_EXIT_OK : mr_cli_fail(&err);
    if (code == MR_EXIT_OK && !print)
        printf("%s: ok (%u quer%s)\n", path, job->queries_n, job->queries_n == 1 ? "y" : "ies");
    mr_arena_fini(&arena);
    return code;
}

static const char config_text[] = "the content of the job's engine: section, in a file of its own";

static int check(const struct mr_command *command, int argc, char **argv)
{
    const char *config = NULL;
    const struct mr_cli_option options[] = {{"config", "FILE", config_text, &config}, {0}};
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1)
        return mr_cli_misuse(command, "expected one job file, got %d", argc);
    return load_and_plan(argv[0], config, false, -1);
}

static int explain(const struct mr_command *command, int argc, char **argv)
{
    const char *config = NULL, *cost = NULL, *seconds = NULL;
    const struct mr_cli_option options[] = {
        {"config", "FILE", config_text, &config},
        {"cost", NULL, "run it, and show the time of every operator on the physical plan", &cost},
        {"seconds", "N", "with --cost: run so long (until all that is there now is done)",
         &seconds},
        {0},
    };
    long run_seconds = 0;
    char *end;
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1)
        return mr_cli_misuse(command, "expected one job file, got %d", argc);
    if (seconds) {
        if (cost == NULL)
            return mr_cli_misuse(command, "--seconds goes with --cost");
        run_seconds = strtol(seconds, &end, 10);
        if (*end || run_seconds < 1 || run_seconds > 86400)
            return mr_cli_misuse(command, "--seconds: \"%s\" is no number from 1 to 86400",
                                 seconds);
    }
    return load_and_plan(argv[0], config, true, cost ? run_seconds : -1);
}

const struct mr_command mr_command_check = {
    .name = "check",
    .arguments = "JOB.yaml",
    .summary = "validate a job file; runs and makes nothing",
    .text = "Reads the job, checks every key, option, name and type, and what Spark allows in a "
            "stream.\n"
            "An error says file, line, column, what was wrong, what is allowed and the nearest "
            "known name.",
    .run = check,
};

const struct mr_command mr_command_explain = {
    .name = "explain",
    .arguments = "JOB.yaml",
    .summary = "print the plans of a job's queries",
    .text =
        "Prints each stage of planning: the plan as parsed, analyzed (names and types known), "
        "optimized\n"
        "and physical (operators, exchanges, state).\n\n"
        "With --cost the job runs over what its sources have now, and its physical plan is printed "
        "with calls,\n"
        "rows, cycles and cycles per row of every operator, summed over the workers, and the "
        "share of the\n"
        "workers' time that they had: when it is small, the job waits. It leaves no trace: rows "
        "go nowhere, no\n"
        "checkpoint is read or written, bad records and files that are done stay where they "
        "are. So sources\n"
        "start where a first run does, and the cost of sink and log is not in it: millrace run "
        "--operators has\n"
        "both. Sources without an end (rate, socket) need --seconds.\n\n"
        "  millrace explain --cost examples/events_5m.yaml",
    .run = explain,
};
