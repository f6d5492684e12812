/* teller.h - what run tells of one query on the error stream: its progress, a summary, and why it
 * failed.
 *
 * Threads  init, fini: the caller's, before the query is open and after it is closed. The two
 *          callbacks: the query's control thread, so that a failure is told when it comes, however
 *          long the others go on.
 */
#pragma once
#include "core/run/job.h"
#include "core/run/progress.h"
#include "tools/millrace/operator_table.h"
#include <setjmp.h>

enum mr_teller_style { MR_TELL_NONE, MR_TELL_LINE, MR_TELL_JSON };

struct mr_teller {
    enum mr_teller_style style;
    const struct mr_job *job;
    const char *job_path, *name; /* the job's file, the query */
    bool tells_failure;          /* one of several queries: the caller can't tell it in time */
    struct mr_operator_table *operators; /* filled; NULL: not wanted */
    bool is_still; /* on a terminal a line of one query replaces the one before */
    bool held;     /* text has a line that was too soon after the one before */
    int64_t last_us, began_us;
    uint64_t epochs, rows_in, rows_out, bad, late;
    struct mr_buffer text;
    struct mr_arena arena;
    jmp_buf escape;
};

/* text: auto, line, json, none, or NULL for auto. */
MR_NODISCARD enum mr_status mr_teller_read_style(const char *text, enum mr_teller_style *out,
                                                 struct mr_error *err);
void mr_teller_init(struct mr_teller *t, enum mr_teller_style style, const struct mr_job *job,
                    const char *job_path, const char *name);
void mr_teller_fini(struct mr_teller *t);
/* As struct mr_query_config wants them; arg is the teller. */
void mr_teller_progress(void *arg, const struct mr_progress *p);
void mr_teller_end(void *arg, enum mr_status status, const struct mr_error *err);
