#include "io/fault/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum action { COUNT_ONLY, FAIL_EIO, FAIL_ENOSPC, TORN, STOP, HALFSTOP, KILL, KILLAFTER, SKIP };
enum { WHERE_BYTES = 128, LINE_BYTES = 8 * 1024 };

/* Atomics outside core/run: the operations of all threads are counted together, so that a number
 * means a point in the life of the process. */
struct mr_fault {
    uint32_t kinds;
    enum action action;
    uint64_t at; /* 0: each */
    char where[WHERE_BYTES];
    _Atomic uint64_t count, files;
    _Atomic bool is_stopped;
    int trace; /* -1: none */
};

struct name {
    const char *name;
    uint32_t value;
};

static const struct name kinds[] = {{"write", MR_FAULT_WRITE},
                                    {"sync", MR_FAULT_SYNC},
                                    {"rename", MR_FAULT_RENAME},
                                    {"make", MR_FAULT_MAKE},
                                    {"any", MR_FAULT_ANY},
                                    {"read", MR_FAULT_READ},
                                    {NULL, 0}};
static const struct name actions[] = {
    {"EIO", FAIL_EIO},        {"ENOSPC", FAIL_ENOSPC}, {"torn", TORN},
    {"stop", STOP},           {"halfstop", HALFSTOP},  {"kill", KILL},
    {"killafter", KILLAFTER}, {"skip", SKIP},          {NULL, 0}};

/* The value of the name that at begins with, up to end or, when that is 0, to the end of the text.
 */
static bool take_name(const struct name *names, const char **at, char end, uint32_t *value)
{
    for (const struct name *n = names; n->name; n++) {
        size_t length = strlen(n->name);
        if (strncmp(*at, n->name, length) == 0 && (*at)[length] == end) {
            *at += length + (end != '\0');
            *value = n->value;
            return true;
        }
    }
    return false;
}

static bool parse(struct mr_fault *f, const char *schedule)
{
    uint32_t action;
    char *end;

    f->kinds = MR_FAULT_ANY;
    if (schedule[0] == '\0')
        return true;
    if (!take_name(kinds, &schedule, ':', &f->kinds))
        return false;
    f->at = strtoull(schedule, &end, 10);
    bool has_where = *end == '@';
    if (end == schedule ? !has_where : f->at == 0)
        return false;
    schedule = end;
    if (has_where) {
        size_t n = strcspn(++schedule, ":");
        if (n >= sizeof f->where)
            return false;
        memcpy(f->where, schedule, n);
        schedule += n;
    }
    if (*schedule++ != ':' || !take_name(actions, &schedule, '\0', &action))
        return false;
    f->action = (enum action)action;
    return true;
}

struct mr_fault *mr_fault_new(const char *schedule, const char *trace)
{
    struct mr_fault *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->trace = trace ? open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (!parse(f, schedule) || (trace && f->trace < 0)) {
        mr_fault_free(f);
        return NULL;
    }
    return f;
}

void mr_fault_free(struct mr_fault *f)
{
    if (f->trace >= 0)
        close(f->trace);
    free(f);
}

static int fate(struct mr_fault *f, struct mr_fault_pass *pass)
{
    switch (f->action) {
    case COUNT_ONLY:
        return 0;
    case FAIL_EIO:
        return -EIO;
    case FAIL_ENOSPC:
        return -ENOSPC;
    case TORN:
        pass->half = true;
        return -ENOSPC;
    case STOP:
        atomic_store_explicit(&f->is_stopped, true, memory_order_relaxed);
        return -EIO;
    case HALFSTOP:
        atomic_store_explicit(&f->is_stopped, true, memory_order_relaxed);
        pass->half = true;
        return -EIO;
    case KILL:
        raise(SIGKILL);
        return -EIO;
    case KILLAFTER:
        pass->kill_after = true;
        return 0;
    case SKIP:
        pass->is_skipped = true;
        return 0;
    }
    return 0;
}

static const char *kind_name(enum mr_fault_kind kind)
{
    const struct name *n = kinds;

    while (n->value != kind)
        n++;
    return n->name;
}

struct mr_fault_pass mr_fault_pass(struct mr_fault *f, enum mr_fault_kind kind, const char *path)
{
    struct mr_fault_pass pass = {0};

    if (mr_fault_is_stopped(f)) {
        pass.rc = -EIO;
        return pass;
    }
    if ((f->kinds & (uint32_t)kind) == 0 || strstr(path, f->where) == NULL)
        return pass;
    uint64_t n = atomic_fetch_add_explicit(&f->count, 1, memory_order_relaxed) + 1;
    if (f->at == 0 || n == f->at)
        pass.rc = fate(f, &pass);
    if (pass.rc < 0)
        mr_fault_trace(f, NULL, 0, "@fail %d %s %s", -pass.rc, kind_name(kind), path);
    return pass;
}

void mr_fault_passed(const struct mr_fault_pass *pass)
{
    if (pass->kill_after)
        raise(SIGKILL);
}

bool mr_fault_is_stopped(const struct mr_fault *f)
{
    return atomic_load_explicit(&f->is_stopped, memory_order_relaxed);
}

uint64_t mr_fault_counted(const struct mr_fault *f)
{
    return atomic_load_explicit(&f->count, memory_order_relaxed);
}

uint64_t mr_fault_next_file(struct mr_fault *f)
{
    return atomic_fetch_add_explicit(&f->files, 1, memory_order_relaxed) + 1;
}

void mr_fault_trace(struct mr_fault *f, const void *data, uint64_t bytes, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    if (f->trace < 0)
        return;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof line - 1)
        abort(); /* a trace with a hole proves nothing */
    line[n] = '\n';
    /* One call: lines of several threads must not mix. */
    struct iovec parts[] = {{line, (size_t)n + 1}, {(void *)(uintptr_t)data, bytes}};
    if (writev(f->trace, parts, bytes ? 2 : 1) != (ssize_t)((uint64_t)n + 1 + bytes))
        abort();
}
