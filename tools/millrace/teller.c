#include "tools/millrace/teller.h"

#include "core/base/time.h"
#include "tools/millrace/command.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum mr_status mr_teller_read_style(const char *text, enum mr_teller_style *out,
                                    struct mr_error *err)
{
    if (text == NULL || strcmp(text, "auto") == 0)
        *out = isatty(STDERR_FILENO) ? MR_TELL_LINE : MR_TELL_JSON;
    else if (strcmp(text, "line") == 0)
        *out = MR_TELL_LINE;
    else if (strcmp(text, "json") == 0)
        *out = MR_TELL_JSON;
    else if (strcmp(text, "none") == 0)
        *out = MR_TELL_NONE;
    else
        return MR_FAIL(err, MR_USER, 0, "--progress: \"%s\" is none of auto, line, json, none",
                       text);
    return MR_OK;
}

void mr_teller_init(struct mr_teller *t, enum mr_teller_style style, const struct mr_job *job,
                    const char *job_path, const char *name)
{
    t->style = style;
    t->job = job;
    t->job_path = job_path;
    t->name = name;
    t->tells_failure = job->queries_n > 1;
    t->is_still = job->queries_n == 1 && isatty(STDERR_FILENO);
    t->began_us = mr_cli_monotonic_us();
    mr_arena_init(&t->arena, NULL, &t->escape);
}

void mr_teller_fini(struct mr_teller *t)
{
    mr_arena_fini(&t->arena);
}

static void show_line(struct mr_teller *t, bool is_last)
{
    fprintf(stderr, "%s%.*s%s", t->is_still ? "\r\033[K" : "", (int)t->text.n,
            (const char *)t->text.data, t->is_still && !is_last ? "" : "\n");
    t->held = false;
}

static void count(struct mr_teller *t, const struct mr_progress *p)
{
    if (p->is_idle)
        return;
    t->epochs++;
    t->rows_in += p->input_rows;
    t->rows_out += p->sink_rows > 0 ? (uint64_t)p->sink_rows : 0;
    t->bad += p->bad_records;
    for (uint32_t i = 0; i < p->operators_n; i++)
        t->late += p->operators[i].counts.rows_dropped;
}

void mr_teller_progress(void *arg, const struct mr_progress *p)
{
    struct mr_teller *t = arg;

    if (t->operators)
        mr_operator_table_take(t->operators, p);
    count(t, p);
    if (t->style == MR_TELL_NONE || setjmp(t->escape))
        return;
    mr_arena_reset(&t->arena);
    mr_buffer_init(&t->text, &t->arena);
    if (t->style == MR_TELL_JSON) {
        mr_progress_print_json(p, &t->text);
        fprintf(stderr, "%.*s\n", (int)t->text.n, (const char *)t->text.data);
        return;
    }
    mr_progress_print_line(p, &t->text);
    t->held = true;
    if (p->timestamp_us - t->last_us >= MR_US_PER_SECOND) {
        t->last_us = p->timestamp_us;
        show_line(t, false);
    }
}

static void show_summary(struct mr_teller *t, bool failed)
{
    if (t->held)
        show_line(t, true);
    else if (t->is_still && t->epochs)
        fputc('\n', stderr); /* the line before stays */
    fprintf(stderr, "%s  %s: %llu epoch%s, %llu rows in, %llu out, %llu bad, %llu late, %.1f s\n",
            t->name, failed ? "failed" : "ended", (unsigned long long)t->epochs,
            t->epochs == 1 ? "" : "s", (unsigned long long)t->rows_in,
            (unsigned long long)t->rows_out, (unsigned long long)t->bad,
            (unsigned long long)t->late,
            (double)(mr_cli_monotonic_us() - t->began_us) / MR_US_PER_SECOND);
}

void mr_teller_end(void *arg, enum mr_status status, const struct mr_error *err)
{
    struct mr_teller *t = arg;
    char text[MR_ERROR_MESSAGE + MR_ERROR_FILE + 256];

    if (t->style == MR_TELL_LINE)
        show_summary(t, status != MR_OK);
    if (status == MR_OK || !t->tells_failure)
        return;
    struct mr_error shown = *err;
    mr_job_hide_secrets(t->job, &shown);
    if (shown.line && shown.file[0] == '\0')
        snprintf(shown.file, sizeof shown.file, "%s", t->job_path);
    mr_error_format(&shown, text, sizeof text);
    fprintf(stderr, "millrace: error: query \"%s\" failed (the others are not stopped): %s\n",
            t->name, text);
}
