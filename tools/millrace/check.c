#include "tools/millrace/command.h"

#include <stdio.h>

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

static int plan_job(const struct mr_command *command, int argc, char **argv, bool print)
{
    const char *config = NULL;
    const struct mr_cli_option options[] = {
        {"config", "FILE", "the content of the job's engine: section, in a file of its own",
         &config},
        {0},
    };
    struct mr_error err = {0};
    struct mr_arena arena;
    struct mr_job *job;
    jmp_buf escape;
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1)
        return mr_cli_misuse(command, "expected one job file, got %d", argc);
    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape)) {
        fprintf(stderr, "millrace: error: no memory\n");
        return MR_EXIT_FAILED;
    }
    enum mr_status status = mr_job_load(argv[0], config, &arena, &job, &err);
    if (status == MR_OK)
        status = plan_all(job, print, &arena, &err);
    int code = status == MR_OK ? MR_EXIT_OK : mr_cli_fail(&err);
    if (code == MR_EXIT_OK && !print)
        printf("%s: ok (%u quer%s)\n", argv[0], job->queries_n, job->queries_n == 1 ? "y" : "ies");
    mr_arena_fini(&arena);
    return code;
}

static int check(const struct mr_command *command, int argc, char **argv)
{
    return plan_job(command, argc, argv, false);
}

static int explain(const struct mr_command *command, int argc, char **argv)
{
    return plan_job(command, argc, argv, true);
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
    .text = "Prints each stage of planning: the plan as parsed, analyzed (names and types known), "
            "optimized\n"
            "and physical (operators, exchanges, state).",
    .run = explain,
};
