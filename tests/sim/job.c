#include "tests/sim/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BASE_S = 1767225600, FAR_S = 86400, WINDOW_S = 10, DELAY_S = 10, KEYS = 4, LINE = 160 };

static bool is_unique(const struct job *j)
{
    return j->kind == UNIQUE_WINDOWS_TO_FILES || j->kind == UNIQUE_TO_FILES ||
           j->kind == UNIQUE_WINDOWS_TO_TOPIC || j->kind == UNIQUE_TO_TOPIC;
}

static bool has_windows(const struct job *j)
{
    return j->kind != UNIQUE_TO_FILES && j->kind != UNIQUE_TO_TOPIC;
}

bool job_has_topic(const struct job *j)
{
    return j->kind >= UNIQUE_WINDOWS_TO_TOPIC;
}

static void write_job_file(const struct job *j)
{
    static const char windows[] =
        "SELECT CAST(window.start AS BIGINT) AS s, k, count(*) AS n, sum(v) AS a FROM %s "
        "GROUP BY window(t, '10 seconds'), k";
    const char *mode = j->kind == UPDATE_TO_TOPIC     ? "update"
                       : j->kind == COMPLETE_TO_TOPIC ? "complete"
                                                      : "append";
    FILE *f = fopen(j->path, "w");

    if (f == NULL)
        abort();
    fprintf(f,
            "name: q\nsources:\n  raw: {format: json, path: %s/in, schema: \"id STRING, k STRING, "
            "v BIGINT, "
            "t TIMESTAMP\", options: {maxFilesPerTrigger: %u}}\nsteps:\n"
            "  - {as: timed, watermark: {input: raw, column: t, delay: %d seconds}}\n",
            j->root, j->per_trigger, DELAY_S);
    if (is_unique(j))
        fprintf(f, "  - {as: unique, dedup: {input: timed, keys: [id, t]}}\n");
    fprintf(f, "  - as: result\n    sql: ");
    if (has_windows(j))
        fprintf(f, windows, is_unique(j) ? "unique" : "timed");
    else
        fprintf(f, "SELECT id, k, v FROM unique");
    if (job_has_topic(j))
        fprintf(f, "\nsink: {format: noop, output_mode: %s}\n", mode);
    else
        fprintf(f, "\nsink: {format: json, path: %s/out, options: {commitInterval: %s}}\n", j->root,
                j->keeps_open ? "1 hour" : "0 seconds");
    fprintf(f, "checkpoint: %s/chk\ntrigger: {available_now: true}\n", j->root);
    if (fclose(f) != 0)
        abort();
}

static void make_events(struct job *j, struct chance *c)
{
    uint32_t closing = 2 * j->per_trigger, n = 0;

    j->events = calloc(j->files * j->per_file + closing, sizeof *j->events);
    if (j->events == NULL)
        abort();
    for (uint32_t file = 0; file < j->files; file++) {
        for (uint32_t i = 0; i < j->per_file; i++) {
            struct event *e = &j->events[n];
            *e = (struct event){.id = n,
                                .key = chance_between(c, 0, KEYS - 1),
                                .value = chance_between(c, 0, 1000),
                                .time_s = BASE_S + 4 * (int64_t)file + chance_between(c, 0, 7)};
            if (j->has_late && chance_one_in(c, 20))
                e->time_s -= chance_between(c, 0, 60);
            if (n > 0 && chance_one_in(c, 10))
                *e = j->events[n - 1 - chance_below(c, n < 200 ? n : 200)];
            e->file = file;
            n++;
        }
    }
    for (uint32_t i = 0; i < closing; i++, n++)
        j->events[n] = (struct event){.id = n, .time_s = BASE_S + FAR_S, .file = j->files + i};
    j->files += closing;
    j->events_n = n;
}

void job_init(struct job *j, const char *root, uint64_t seed)
{
    struct chance c = {seed ^ 0x6a6f62};

    *j = (struct job){.kind = (enum query_kind)(seed % QUERY_KINDS),
                      .per_trigger = chance_between(&c, 1, 3),
                      .per_file = chance_one_in(&c, 8) ? chance_between(&c, 500, 2000)
                                                       : chance_between(&c, 1, 60),
                      .has_late = chance_one_in(&c, 2),
                      .keeps_open = chance_one_in(&c, 2)};
    j->files = 18 * j->per_trigger + chance_between(&c, 0, 6);
    snprintf(j->root, sizeof j->root, "%s", root);
    snprintf(j->path, sizeof j->path, "%s/job.yaml", root);
    make_events(j, &c);
    write_job_file(j);
}

void job_put_input(const struct job *j, struct disk *d)
{
    char *text = malloc((size_t)j->events_n * LINE), path[128], when[32];
    uint32_t at = 0;

    if (text == NULL)
        abort();
    snprintf(path, sizeof path, "%s/in", j->root);
    disk_put(d, path, NULL, 0, 0);
    for (uint32_t file = 0; file < j->files; file++) {
        size_t n = 0;
        for (; at < j->events_n && j->events[at].file == file; at++) {
            const struct event *e = &j->events[at];
            time_t time = (time_t)e->time_s;
            struct tm parts;
            strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&time, &parts));
            n += (size_t)snprintf(text + n, LINE,
                                  "{\"id\":\"e%u\",\"k\":\"%c\",\"v\":%u,\"t\":\"%s\"}\n", e->id,
                                  'a' + (int)e->key, e->value, when);
        }
        snprintf(path, sizeof path, "%s/in/%06u.json", j->root, file);
        disk_put(d, path, text, n, 1700000000000000 + 1000000 * (int64_t)file);
    }
    free(text);
}

static void add_row(struct rows *r, uint64_t epoch, const char *line, uint64_t n)
{
    char text[LINE + 24];

    if (r->n == r->capacity) {
        r->capacity = r->capacity * 2 + 64;
        r->lines = realloc(r->lines, r->capacity * sizeof *r->lines);
        if (r->lines == NULL)
            abort();
    }
    snprintf(text, sizeof text, "%06llu %.*s", (unsigned long long)epoch, (int)n, line);
    r->lines[r->n++] = strdup(text);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_rows(struct rows *r)
{
    if (r->n)
        qsort(r->lines, r->n, sizeof *r->lines, compare_lines);
}

void rows_shown(const struct job *j, const struct world *w, struct rows *out)
{
    char folder[96];
    size_t length = (size_t)snprintf(folder, sizeof folder, "%s/out/", j->root);

    *out = (struct rows){0};
    for (uint32_t i = 0; i < w->topic.rows_n; i++)
        add_row(out, w->topic.rows[i].epoch, w->topic.rows[i].line, strlen(w->topic.rows[i].line));
    for (uint32_t i = 0; i < w->disk.now.n; i++) {
        const struct disk_name *name = &w->disk.now.all[i];
        if (name->file->is_dir || strncmp(name->path, folder, length) != 0 ||
            strchr("._", name->path[length]))
            continue;
        const char *at = (const char *)name->file->now.data, *end = at + name->file->now.n;
        for (const char *next; at < end; at = next + 1) {
            next = memchr(at, '\n', (size_t)(end - at));
            next = next ? next : end;
            add_row(out, 0, at, (uint64_t)(next - at));
        }
    }
    sort_rows(out);
}

const char *rows_extra(const struct rows *a, const struct rows *b)
{
    uint32_t i = 0, k = 0;

    while (i < a->n) {
        int order = k < b->n ? strcmp(a->lines[i], b->lines[k]) : -1;
        if (order < 0)
            return a->lines[i];
        i += order == 0;
        k++;
    }
    return NULL;
}

const char *rows_unknown(const struct rows *a, const struct rows *b)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        while (k < b->n && strcmp(b->lines[k], a->lines[i]) < 0)
            k++;
        if (k == b->n || strcmp(b->lines[k], a->lines[i]) != 0)
            return a->lines[i];
    }
    return NULL;
}

struct group {
    int64_t start_s;
    uint32_t key;
    uint64_t n, sum;
};

/* The late bound of the epoch that has a file: the highest time of two epochs before, less the
 * delay. */
static int64_t late_s(const struct job *j, uint32_t file)
{
    uint32_t epoch = file / j->per_trigger;
    int64_t highest = 0;

    if (epoch < 2)
        return 0;
    for (uint32_t i = 0; i < j->events_n; i++)
        if (j->events[i].file / j->per_trigger + 2 <= epoch && j->events[i].time_s > highest)
            highest = j->events[i].time_s;
    return highest - DELAY_S;
}

static void count_events(const struct job *j, bool *counts)
{
    bool *seen = calloc(j->events_n, sizeof *seen); /* by id: doubles have the same time */
    int64_t late = 0;

    if (seen == NULL)
        abort();
    for (uint32_t i = 0; i < j->events_n; i++) {
        const struct event *e = &j->events[i];
        if (i == 0 || e->file / j->per_trigger != j->events[i - 1].file / j->per_trigger)
            late = late_s(j, e->file);
        int64_t until = is_unique(j) ? e->time_s : e->time_s / WINDOW_S * WINDOW_S + WINDOW_S;
        bool is_late = until <= late && j->kind != COMPLETE_TO_TOPIC; /* all groups stay open */
        counts[i] = !is_late && !(is_unique(j) && seen[e->id]);
        seen[e->id] |= counts[i];
    }
    free(seen);
}

static void model_rows(const struct job *j, const bool *counts, struct rows *out)
{
    char line[LINE];

    for (uint32_t i = 0; i < j->events_n; i++) {
        const struct event *e = &j->events[i];
        if (counts[i] && !has_windows(j)) {
            int n = snprintf(line, sizeof line, "{\"id\":\"e%u\",\"k\":\"%c\",\"v\":%u}", e->id,
                             'a' + (int)e->key, e->value);
            add_row(out, 0, line, (uint64_t)n);
        }
    }
}

static void model_groups(const struct job *j, const bool *counts, struct rows *out)
{
    struct group *groups = calloc(j->events_n, sizeof *groups);
    bool shows_open = j->kind == UPDATE_TO_TOPIC || j->kind == COMPLETE_TO_TOPIC;
    uint32_t n = 0;
    char line[LINE];

    if (groups == NULL)
        abort();
    for (uint32_t i = 0; i < j->events_n; i++) {
        const struct event *e = &j->events[i];
        int64_t start = e->time_s / WINDOW_S * WINDOW_S;
        uint32_t g = 0;
        if (!counts[i] || (!shows_open && e->time_s >= BASE_S + FAR_S))
            continue;
        while (g < n && (groups[g].start_s != start || groups[g].key != e->key))
            g++;
        n += g == n;
        groups[g] = (struct group){start, e->key, groups[g].n + 1, groups[g].sum + e->value};
    }
    for (uint32_t g = 0; g < n; g++) {
        int bytes = snprintf(line, sizeof line, "{\"s\":%lld,\"k\":\"%c\",\"n\":%llu,\"a\":%llu}",
                             (long long)groups[g].start_s, 'a' + (int)groups[g].key,
                             (unsigned long long)groups[g].n, (unsigned long long)groups[g].sum);
        add_row(out, 0, line, (uint64_t)bytes);
    }
    free(groups);
}

/* The last row of each group (update), the rows of the last epoch (complete), all others: without
 * epochs. */
static void last_rows(const struct job *j, const struct rows *got, struct rows *out)
{
    const char *last = got->n ? got->lines[got->n - 1] : "";

    for (uint32_t i = 0; i < got->n; i++) {
        const char *line = got->lines[i] + 7;
        size_t group = (size_t)(strstr(line, ",\"n\"") - line);
        bool is_old = j->kind == COMPLETE_TO_TOPIC && strncmp(got->lines[i], last, 6) != 0;
        for (uint32_t k = i + 1; j->kind == UPDATE_TO_TOPIC && k < got->n && !is_old; k++)
            is_old = strncmp(got->lines[k] + 7, line, group) == 0;
        if (!is_old)
            add_row(out, 0, line, strlen(line));
    }
    sort_rows(out);
}

const char *job_model_differs(const struct job *j, const struct rows *got)
{
    bool *counts = calloc(j->events_n, sizeof *counts);
    struct rows want = {0}, last = {0};

    if (counts == NULL)
        abort();
    count_events(j, counts);
    if (has_windows(j))
        model_groups(j, counts, &want);
    else
        model_rows(j, counts, &want);
    sort_rows(&want);
    last_rows(j, got, &last);
    free(counts);
    const char *extra = rows_extra(&last, &want);
    return extra ? extra : rows_extra(&want, &last);
}
