/* gen.c - test data: events as NDJSON, by a seed, with what real streams do wrong.
 *
 * Source   splitmix64 (Steele, Lea, Flood 2014) for randomness; the Zipf-like skew takes a key as
 *          floor(keys * u^(1 + skew)).
 */
#include "core/base/env.h"
#include "core/base/time.h"
#include "core/format/value.h"
#include "tools/millrace/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 16384, WIDTH_MIN = 160, WIDTH_MAX = 16000 };

struct plan {
    uint64_t events, files, first, rate, seed, users, types, width;
    double disorder_s, late, duplicates, malformed, skew, span_s;
    int64_t start_us;
    const char *out;
};

struct state {
    uint64_t random;
    uint64_t id;
    char last[LINE_BYTES]; /* the line before, for duplicates */
    size_t last_n;
};

static uint64_t next_random(struct state *s)
{
    uint64_t z = (s->random += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double next_unit(struct state *s)
{
    return (double)(next_random(s) >> 11) * 0x1p-53;
}

static uint64_t pick(struct state *s, uint64_t n, double skew)
{
    double u = next_unit(s);

    for (double k = skew; k >= 1; k -= 1)
        u *= u;
    uint64_t i = (uint64_t)(u * (double)n);
    return i < n ? i : n - 1;
}

/* A line of width bytes: a field at the end fills it up. */
static size_t widen(char *line, size_t n, size_t width)
{
    static const char head[] = ",\"note\":\"", tail[] = "\"}\n";
    const size_t frame = sizeof head - 1 + sizeof tail - 1;

    n -= 2; /* the end of the line as it is */
    if (n + frame > width)
        return n + 2;
    memcpy(line + n, head, sizeof head - 1);
    memset(line + n + sizeof head - 1, '.', width - n - frame);
    memcpy(line + width - (sizeof tail - 1), tail, sizeof tail - 1);
    return width;
}

static size_t print_event(const struct plan *p, struct state *s, char *line, size_t room)
{
    static const char *const types[] = {"view",  "click",  "purchase", "search",
                                        "login", "logout", "scroll",   "refund",
                                        "share", "like",   "rate",     "follow"};
    enum { TYPES = sizeof types / sizeof types[0] };
    double position = (double)s->id / (double)(p->events ? p->events : 1) * p->span_s;
    double back = next_unit(s) * p->disorder_s;
    struct mr_civil c;

    if (next_unit(s) < p->late)
        back += 3600 + next_unit(s) * 3600;
    int64_t us = p->start_us + (int64_t)((position - back) * 1e6);
    us -= mr_floor_mod(us, 1000);
    mr_civil_from_us(us, &c);
    uint64_t type = pick(s, p->types, 0), quarters = next_random(s) % 40000;
    char name[32];
    snprintf(name, sizeof name, type < TYPES ? "%s" : "%s_%llu", types[type % TYPES],
             (unsigned long long)(type / TYPES));
    int n =
        snprintf(line, room,
                 "{\"event_id\":\"e%010llu\",\"user_id\":\"u%07llu\",\"event_type\":\"%s\","
                 "\"amount\":%llu.%02llu,\"event_ts\":\"%04d-%02u-%02uT%02u:%02u:%02u.%03uZ\"}\n",
                 (unsigned long long)s->id, (unsigned long long)pick(s, p->users, p->skew), name,
                 (unsigned long long)quarters / 4, (unsigned long long)quarters % 4 * 25, c.year,
                 c.month, c.day, c.hour, c.minute, c.second, c.us / 1000);
    s->id++;
    return n > 0 ? widen(line, (size_t)n, p->width) : 0;
}

/* The ways in which a record can be bad, in turn. */
static size_t spoil(struct state *s, char *line, size_t n)
{
    switch (next_random(s) % 4) {
    case 0: /* cut off */
        n = n / 2;
        break;
    case 1: /* a type that can't be */
        return (size_t)snprintf(line, LINE_BYTES,
                                "{\"event_id\":\"e%010llu\",\"amount\":\"a lot\","
                                "\"event_ts\":\"yesterday\"}\n",
                                (unsigned long long)s->id);
    case 2: /* an open quote */
        line[n - 3] = ' ';
        return n;
    default: /* no JSON at all */
        n = (size_t)snprintf(line, LINE_BYTES, "-- log rotated --");
    }
    line[n++] = '\n';
    return n;
}

static size_t next_line(const struct plan *p, struct state *s, char *line, size_t room)
{
    if (s->last_n && next_unit(s) < p->duplicates) {
        memcpy(line, s->last, s->last_n);
        s->id++;
        return s->last_n;
    }
    size_t n = print_event(p, s, line, room);
    if (next_unit(s) < p->malformed)
        return spoil(s, line, n);
    memcpy(s->last, line, n);
    s->last_n = n;
    return n;
}

/* Events go out at rate per second: sleeps until their time has come. */
static void pace(const struct plan *p, uint64_t done, const struct timespec *start)
{
    struct timespec until = *start;

    if (p->rate == 0 || done % (p->rate / 100 + 1) != 0)
        return;
    double s = (double)done / (double)p->rate;
    until.tv_sec += (time_t)s;
    until.tv_nsec += (long)((s - (double)(time_t)s) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int write_file(const struct plan *p, struct state *s, FILE *out, uint64_t events,
                      const struct timespec *start)
{
    char line[LINE_BYTES];

    for (uint64_t i = 0; i < events; i++) {
        size_t n = next_line(p, s, line, sizeof line);
        if (fwrite(line, 1, n, out) != n)
            return -errno;
        pace(p, s->id, start);
    }
    return fflush(out) ? -errno : 0;
}

static int make_folder(const char *path)
{
    struct mr_env *env;

    if (mr_env_open("syscalls", &env, NULL) != MR_OK)
        return -errno;
    int rc = mr_env_make_dirs(env, path);
    env->ops->fini(env);
    return rc;
}

static void name_file(const struct plan *p, uint64_t f, char path[4096])
{
    snprintf(path, 4096, "%s/events-%05llu.json", p->out, (unsigned long long)(p->first + f));
}

/* A stream that has read a file would not see another one of the same name. */
static bool would_overwrite(const struct plan *p, char path[4096])
{
    for (uint64_t f = 0; f < p->files && strcmp(p->out, "-") != 0; f++) {
        name_file(p, f, path);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Files appear whole: written under a hidden name, then renamed. */
static int write_files(const struct plan *p)
{
    struct state s = {.random = p->seed};
    struct timespec start;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    if (strcmp(p->out, "-") == 0)
        return write_file(p, &s, stdout, p->events, &start);
    rc = make_folder(p->out);
    for (uint64_t f = 0; f < p->files && rc == 0; f++) {
        uint64_t events = p->events / p->files + (f < p->events % p->files);
        char hidden[4096], path[4096];
        snprintf(hidden, sizeof hidden, "%s/.events-%05llu.json.tmp", p->out,
                 (unsigned long long)(p->first + f));
        name_file(p, f, path);
        FILE *out = fopen(hidden, "w");
        if (out == NULL)
            return -errno;
        rc = write_file(p, &s, out, events, &start);
        if (fclose(out) != 0 && rc == 0)
            rc = -errno;
        if (rc == 0 && rename(hidden, path) < 0)
            rc = -errno;
    }
    return rc;
}

static int generate(const struct mr_command *command, const struct plan *p)
{
    char path[4096];

    if (would_overwrite(p, path))
        return mr_cli_misuse(command,
                             "%s is there already; number the files on with --first N, or take "
                             "another --out",
                             path);
    int rc = write_files(p);
    if (rc < 0) {
        fprintf(stderr, "millrace: error: gen: %s: %s\n", p->out, strerror(-rc));
        return MR_EXIT_FAILED;
    }
    return MR_EXIT_OK;
}

static bool read_count(const char *text, uint64_t *out)
{
    char *end;

    if (text == NULL)
        return true;
    double v = strtod(text, &end);
    if (strcmp(end, "k") == 0)
        v *= 1e3;
    else if (strcmp(end, "M") == 0)
        v *= 1e6;
    else if (*end)
        return false;
    *out = v < 0 ? 0 : (uint64_t)v;
    return v >= 0 && v < 1e15;
}

static bool read_number(const char *text, double *out)
{
    char *end;

    if (text == NULL)
        return true;
    *out = strtod(text, &end);
    return *end == '\0' && *out >= 0;
}

static int gen(const struct mr_command *command, int argc, char **argv)
{
    const char *out = NULL, *files = NULL, *first = NULL, *rate = NULL, *seed = NULL, *users = NULL,
               *types = NULL, *disorder = NULL, *late = NULL, *duplicates = NULL, *malformed = NULL,
               *skew = NULL, *span = NULL, *start = NULL, *width = NULL;
    const struct mr_cli_option options[] = {
        {"out", "DIR", "folder for events-N.json files, or - for standard output (-)", &out},
        {"files", "N", "how many files (1)", &files},
        {"first", "N", "the first file's number (0); a file that is there is not overwritten",
         &first},
        {"rate", "N", "events a second (as fast as possible)", &rate},
        {"seed", "N", "same seed, same bytes (1)", &seed},
        {"users", "N", "distinct user_id values (100k)", &users},
        {"types", "N", "distinct event_type values (12)", &types},
        {"width", "BYTES", "lines of so many bytes, filled up by a field \"note\" (no such field)",
         &width},
        {"skew", "N", "0: users are equally likely; 1 and up: some are much more so (0)", &skew},
        {"start", "TIME", "event time of the first event, in UTC (2026-01-01 12:00:00)", &start},
        {"span", "SECONDS", "event time from the first to the last event (3600)", &span},
        {"disorder", "SECONDS", "events lie up to this far back (30)", &disorder},
        {"late", "SHARE", "of events, 0 to 1: one to two hours late (0)", &late},
        {"duplicates", "SHARE", "of events: the one before once more (0)", &duplicates},
        {"malformed", "SHARE", "of events: cut off, wrong type, open quote, no JSON (0)",
         &malformed},
        {0},
    };
    struct plan p = {.files = 1,
                     .seed = 1,
                     .users = 100000,
                     .types = 12,
                     .disorder_s = 30,
                     .span_s = 3600,
                     .out = "-",
                     .start_us =
                         mr_days_from_civil(2026, 1, 1) * MR_US_PER_DAY + 12 * MR_US_PER_HOUR};
    bool done;

    if (!mr_cli_parse(command, options, &argc, argv, &done))
        return MR_EXIT_USER;
    if (done)
        return MR_EXIT_OK;
    if (argc != 1 || !read_count(argv[0], &p.events))
        return mr_cli_misuse(command, "expected the number of events, as 1000, 100k or 2.5M");
    if (!read_count(files, &p.files) || !read_count(first, &p.first) ||
        !read_count(rate, &p.rate) || !read_count(seed, &p.seed) || !read_count(users, &p.users) ||
        !read_count(types, &p.types) || !read_count(width, &p.width) || p.files == 0 ||
        p.users == 0 || p.types == 0)
        return mr_cli_misuse(
            command,
            "--files, --first, --rate, --seed, --users, --types, --width take positive numbers");
    if (p.width > WIDTH_MAX || (p.width > 0 && p.width < WIDTH_MIN))
        return mr_cli_misuse(command, "--width is from %d, the longest line without it, to %d",
                             WIDTH_MIN, WIDTH_MAX);
    if (!read_number(disorder, &p.disorder_s) || !read_number(late, &p.late) ||
        !read_number(duplicates, &p.duplicates) || !read_number(malformed, &p.malformed) ||
        !read_number(skew, &p.skew) || !read_number(span, &p.span_s))
        return mr_cli_misuse(command,
                             "--disorder, --late, --duplicates, --malformed, --skew, --span "
                             "take numbers of 0 or more");
    if (p.late > 1 || p.duplicates > 1 || p.malformed > 1)
        return mr_cli_misuse(command, "--late, --duplicates, --malformed are shares from 0 to 1");
    if (start && !mr_value_parse_timestamp_ntz(mr_text_of(start), &p.start_us))
        return mr_cli_misuse(
            command, "--start: \"%s\" is no time; write it as \"2026-01-01 12:00:00\"", start);
    if (out)
        p.out = out;
    return generate(command, &p);
}

const struct mr_command mr_command_gen = {
    .name = "gen",
    .arguments = "EVENTS",
    .summary = "make test events",
    .text = "Writes EVENTS (1000, 100k, 2.5M) events as JSON lines of about 134 bytes:\n"
            "  {\"event_id\":..,\"user_id\":..,\"event_type\":..,\"amount\":..,\"event_ts\":..}\n"
            "Amounts are multiples of 0.25, so that sums agree in any order.\n\n"
            "  millrace gen 1M --out in/events --files 10 --late 0.01 --duplicates 0.02 "
            "--malformed 0.001",
    .run = gen,
};
