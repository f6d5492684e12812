#include "tools/millrace/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* bench/run.py of the tree that this program was built in, or of $MILLRACE_HOME. */
static bool find_driver(char *path, size_t path_bytes, char *self, size_t self_bytes)
{
    static const char *const above[] = {"..", "../..", "."};
    const char *home = getenv("MILLRACE_HOME");
    ssize_t n = readlink("/proc/self/exe", self, self_bytes - 1);

    if (n < 0)
        return false;
    self[n] = '\0';
    if (home) {
        snprintf(path, path_bytes, "%s/bench/run.py", home);
        return access(path, R_OK) == 0;
    }
    const char *slash = strrchr(self, '/');
    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        snprintf(path, path_bytes, "%.*s/%s/bench/run.py", (int)(slash - self), self, above[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

enum { ARGUMENTS_MAX = 64 };

static int bench(const struct mr_command *command, int argc, char **argv)
{
    const char *all = NULL, *smoke = NULL, *events = NULL, *rounds = NULL, *workers = NULL,
               *no_peers = NULL;
    const struct mr_cli_option options[] = {
        {"all", NULL, "every bench but scaling", &all},
        {"smoke", NULL, "small and once, as a test: its figures mean nothing", &smoke},
        {"events", "N",
         "size of the input (20000000; kafka 4000000; scaling 2000000; expr 1000000 rows)",
         &events},
        {"rounds", "N", "how often each engine runs (3)", &rounds},
        {"workers", "N", "threads of every engine (one per core)", &workers},
        {"no-peers", NULL, "without DuckDB and Spark", &no_peers},
        {0},
    };
    char driver[PATH_MAX], self[PATH_MAX];
    char *args[ARGUMENTS_MAX + 20] = {"python3", driver, "--millrace", self};
    int n = 4;
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc > ARGUMENTS_MAX)
        return mr_cli_misuse(command, "too many arguments");
    if (!find_driver(driver, sizeof driver, self, sizeof self))
        return mr_cli_misuse(command,
                             "bench/run.py is not found beside this program: set MILLRACE_HOME "
                             "to the source tree");
    for (const struct mr_cli_option *o = options; o->name; o++) {
        if (*o->value == NULL)
            continue;
        args[n] = malloc(64);
        if (args[n] == NULL)
            return mr_cli_misuse(command, "no memory");
        snprintf(args[n++], 64, "--%s%s%s", o->name, o->argument ? "=" : "", *o->value);
    }
    for (int i = 0; i < argc; i++)
        args[n++] = argv[i];
    execvp(args[0], args);
    fprintf(stderr, "millrace: error: bench: python3: %s\n", strerror(errno));
    return MR_EXIT_FAILED;
}

const struct mr_command mr_command_bench = {
    .name = "bench",
    .arguments = "NAME..",
    .summary = "measure against peers in the same run",
    .text =
        "Runs millrace, its yardstick and its peers in turn on the same input and cores, and "
        "prints seconds, rates,\n"
        "how many times as fast millrace is, the goal, and a checksum that must agree between the "
        "engines.\n"
        "\n"
        "  events    NDJSON files -> 5-minute windows by event type; a simdjson loop, DuckDB, "
        "Spark\n"
        "  dedup     the same without duplicates, in epochs of 2 M events; DuckDB\n"
        "  keys      windows by a million users, and the bytes of state per group; DuckDB\n"
        "  ysb       the Yahoo benchmark's query on records in memory, per core\n"
        "  kafka     Kafka -> from_json -> windows; librdkafka's own consumer loop\n"
        "  latency   100 k events/s, a durable commit each epoch: from the event to the commit\n"
        "  start     a whole run of a small job, cold\n"
        "  kernels   clocks per row of every kernel, scalar, AVX2, AVX-512; written to "
        "bench/kernels.md\n"
        "  expr      rows per second of the most used functions and the aggregates, one "
        "thread; DuckDB's equivalent;\n"
        "            written to bench/expr.md\n"
        "  all       each of those, in less than 15 minutes\n"
        "  scaling   cost by workers, rows, keys, record width, overlap of windows; written to "
        "bench/scaling.md and .svg\n"
        "\n"
        "Only ratios of one run mean something: machines differ from hour to hour. The real sizes "
        "need a quiet one; the\n"
        "first line says its load. Once before: tools/setup-peers (DuckDB, Spark) and tools/build "
        "release benches (the\n"
        "yardsticks). Exit code 1: checksums differ. bench/README.md has results.\n"
        "\n"
        "  millrace bench events dedup --events 4000000",
    .run = bench,
};
