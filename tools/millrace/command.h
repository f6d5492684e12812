/* command.h - the commands of the program and what they share.
 *
 * Exit     0: done; 1: the query failed; 2: the user's input is wrong.
 * Help     Each command has one table of options, from which parsing and --help come.
 */
#pragma once
#include "core/base/error.h"
#include "core/run/job.h"
#include <stdbool.h>

enum { MR_EXIT_OK = 0, MR_EXIT_FAILED = 1, MR_EXIT_USER = 2 };

struct mr_cli_option {
    const char *name;     /* "record": --record */
    const char *argument; /* "FILE", or NULL: a switch */
    const char *text;
    const char **value; /* filled; a switch gets "" */
};

struct mr_command {
    const char *name;
    const char *arguments; /* "JOB.yaml" */
    const char *summary;   /* one line */
    const char *text;      /* what --help teaches */
    int (*run)(const struct mr_command *command, int argc, char **argv);
};

extern const struct mr_command mr_command_run, mr_command_check, mr_command_explain, mr_command_sql,
    mr_command_gen, mr_command_checkpoint, mr_command_bench;
extern const struct mr_command *const mr_commands[]; /* NULL-ended */

/* Parses options (up to a NULL name) and leaves the rest in argv[0..*argc). *done: --help was
 * printed. Wrong use: says so, gives false. */
bool mr_cli_parse(const struct mr_command *command, const struct mr_cli_option *options, int *argc,
                  char **argv, bool *done);
int64_t mr_cli_monotonic_us(void);
/* One line on the error stream; gives the exit code. */
int mr_cli_fail(const struct mr_error *err);
/* Where rows are printed or recorded the query can't be told: ends the process with
 * MR_EXIT_FAILED. */
_Noreturn void mr_cli_no_memory(void);
int mr_cli_misuse(const struct mr_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What explain shows: each stage of planning, or the physical plan alone; secrets of job, if any,
 * hidden. */
void mr_cli_print_plans(const struct mr_plan_texts *texts, const struct mr_job *job, bool all,
                        struct mr_arena *a);
