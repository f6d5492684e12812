/* main.c - millrace: Spark's Structured Streaming on one machine. */
#include "tools/millrace/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct mr_command *const mr_commands[] = {
    &mr_command_run, &mr_command_check,      &mr_command_explain, &mr_command_sql,
    &mr_command_gen, &mr_command_checkpoint, &mr_command_bench,   NULL,
};

static int help(void)
{
    printf("millrace %s: Spark's Structured Streaming on one machine\n\n"
           "usage: millrace COMMAND [OPTIONS] ..\n\ncommands:\n",
           MR_VERSION);
    for (const struct mr_command *const *c = mr_commands; *c; c++)
        printf("  %-11s %-26s %s\n", (*c)->name, (*c)->arguments, (*c)->summary);
    printf("\nmillrace COMMAND --help tells more. To start: tools/quickstart, or\n"
           "  millrace run examples/events_5m.yaml\n\n"
           "exit codes: 0 done, 1 the query failed, 2 the input (job, query, option) is wrong\n");
    return MR_EXIT_OK;
}

/* Output that did not arrive is a failure. */
static int end(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code == MR_EXIT_OK)
        fprintf(stderr, "millrace: error: standard output: %s\n", strerror(errno));
    return code == MR_EXIT_OK ? MR_EXIT_FAILED : code;
}

/* A standard stream that the caller closed would be the next file opened, and what is meant for a
 * reader would go there. Writing to these fails, as to a closed one. */
static bool hold_standard_streams(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    return fd >= 0 && close(fd) == 0;
}

int main(int argc, char **argv)
{
    const char *names[16];
    uint32_t n = 0;
    char *help_of[] = {argv[0], argc > 2 ? argv[2] : NULL, (char[]){"--help"}, NULL};

    if (!hold_standard_streams())
        return MR_EXIT_FAILED;
    if (argc > 2 && strcmp(argv[1], "help") == 0) {
        argc = 3;
        argv = help_of;
    }
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help();
        return argc < 2 ? MR_EXIT_USER : MR_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        printf("millrace %s\n", MR_VERSION);
        return MR_EXIT_OK;
    }
    signal(SIGPIPE, SIG_IGN); /* what can't be written is an error with a name, as a full disk is */
    signal(SIGXFSZ, SIG_IGN);
    for (const struct mr_command *const *c = mr_commands; *c; c++) {
        if (strcmp(argv[1], (*c)->name) == 0)
            return end((*c)->run(*c, argc - 1, argv + 1));
        names[n++] = (*c)->name;
    }
    const char *nearest = mr_error_nearest(argv[1], names, n);
    fprintf(stderr, "millrace: error: unknown command \"%s\"", argv[1]);
    if (nearest)
        fprintf(stderr, "; did you mean %s?", nearest);
    fprintf(stderr, " (see millrace --help)\n");
    return MR_EXIT_USER;
}
