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

static int bench(const struct mr_command *command, int argc, char **argv)
{
    char driver[PATH_MAX], self[PATH_MAX];
    char *args[64] = {"python3", driver, "--millrace", self};
    int n = 4;

    if (argc > 48)
        return mr_cli_misuse(command, "too many arguments");
    if (!find_driver(driver, sizeof driver, self, sizeof self))
        return mr_cli_misuse(command,
                             "bench/run.py is not found beside this program: set MILLRACE_HOME "
                             "to the source tree");
    for (int i = 1; i < argc; i++)
        args[n++] = argv[i];
    execvp(args[0], args);
    fprintf(stderr, "millrace: error: bench: python3: %s\n", strerror(errno));
    return MR_EXIT_FAILED;
}

const struct mr_command mr_command_bench = {
    .name = "bench",
    .arguments = "NAME",
    .summary = "measure against peers in the same run",
    .text = "See bench/README.md.",
    .run = bench,
};
