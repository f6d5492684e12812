#include "tools/millrace/command.h"

#include "core/base/time.h"
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OPTIONS_MAX = 40 };

int64_t mr_cli_monotonic_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * MR_US_PER_SECOND + t.tv_nsec / 1000;
}

int mr_cli_fail(const struct mr_error *err)
{
    char text[MR_ERROR_MESSAGE + MR_ERROR_FILE + 256];

    mr_error_format(err, text, sizeof text);
    fprintf(stderr, "millrace: error: %s\n", text);
    return err->status == MR_USER || err->status == MR_UNSUPPORTED ? MR_EXIT_USER : MR_EXIT_FAILED;
}

int mr_cli_misuse(const struct mr_command *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "millrace: error: %s: ", command->name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (see millrace %s --help)\n", command->name);
    return MR_EXIT_USER;
}

static void print_help(const struct mr_command *command, const struct mr_cli_option *options)
{
    printf("usage: millrace %s [OPTIONS] %s\n\n%s\n\noptions:\n", command->name, command->arguments,
           command->text);
    for (; options->name; options++) {
        char head[64];
        snprintf(head, sizeof head, "--%s%s%s", options->name, options->argument ? " " : "",
                 options->argument ? options->argument : "");
        printf("  %-26s %s\n", head, options->text);
    }
    printf("  %-26s %s\n", "--help", "this text");
}

static bool unknown_option(const struct mr_command *command, const struct mr_cli_option *options,
                           const char *given)
{
    const char *names[OPTIONS_MAX];
    uint32_t n = 0;
    char name[64];

    for (; options[n].name; n++)
        names[n] = options[n].name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(given, "="), given);
    const char *nearest = mr_error_nearest(name, names, n);
    mr_cli_misuse(command, "unknown option --%s%s%s%s", name, nearest ? "; did you mean --" : "",
                  nearest ? nearest : "", nearest ? "?" : "");
    return false;
}

bool mr_cli_parse(const struct mr_command *command, const struct mr_cli_option *options, int *argc,
                  char **argv, bool *done)
{
    struct option table[OPTIONS_MAX + 2] = {0};
    int n = 0, c, at;

    *done = false;
    for (; options[n].name; n++)
        table[n] = (struct option){
            options[n].name, options[n].argument ? required_argument : no_argument, NULL, 'o'};
    table[n] = (struct option){"help", no_argument, NULL, 'h'};
    opterr = 0;
    optind = 1;
    while ((c = getopt_long(*argc, argv, ":", table, &at)) != -1) {
        if (c == 'h') {
            print_help(command, options);
            *done = true;
            return true;
        }
        if (c == ':') {
            mr_cli_misuse(command, "%s needs a value", argv[optind - 1]);
            return false;
        }
        if (c == '?')
            return optopt && strncmp(argv[optind - 1], "--", 2) != 0
                       ? (mr_cli_misuse(command, "unknown option -%c", optopt), false)
                       : unknown_option(command, options, argv[optind - 1] + 2);
        *options[at].value = optarg ? optarg : "";
    }
    *argc -= optind;
    memmove(argv, argv + optind, (size_t)*argc * sizeof *argv);
    return true;
}

void mr_cli_print_plans(const struct mr_plan_texts *texts, const struct mr_job *job, bool all,
                        struct mr_arena *a)
{
    const struct {
        const char *title;
        struct mr_text text;
    } parts[] = {{"Parsed Logical Plan", texts->unresolved},
                 {"Analyzed Logical Plan", texts->analyzed},
                 {"Optimized Logical Plan", texts->optimized},
                 {"Physical Plan", texts->physical}};

    for (uint32_t p = all ? 0 : 3; p < 4; p++) {
        struct mr_text shown = job ? mr_job_hide_in_text(job, parts[p].text, a) : parts[p].text;
        if (shown.n)
            printf("== %s ==\n%.*s\n", parts[p].title, (int)shown.n, shown.data);
    }
}

_Noreturn void mr_cli_no_memory(void)
{
    fprintf(stderr, "millrace: error: no memory\n");
    fflush(NULL);
    _exit(MR_EXIT_FAILED);
}
