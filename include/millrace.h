/* millrace.h - the C API: run the queries of a job file inside a program, and exchange rows with
 * them.
 *
 * What     A source with `format: memory` reads the rows that the program appends; a sink with
 *          `format: memory` keeps its rows for the program. Rows are exchanged by the Arrow C Data
 *          Interface (arrow.apache.org/docs/format/CDataInterface.html). Other sources and sinks
 *          work as they do in a job that the command line runs.
 * Threads  A handle is used by one thread at a time; millrace_stop may be called from any thread
 *          and from a signal handler. Queries run on threads of their own.
 * Errors   Functions give MILLRACE_OK or what went wrong, and fill *error if it is not NULL.
 */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowSchema;
struct ArrowArray;
struct millrace; /* an engine with the queries of one job */

enum millrace_status {
    MILLRACE_OK = 0,
    MILLRACE_FAILED = 1, /* the query failed */
    MILLRACE_USER = 2,   /* the job, a name or the rows' types are wrong */
};

struct millrace_error {
    char text[2304];       /* one line: place, condition, what was wrong */
    char condition[96];    /* Spark's error condition, or "" */
    uint32_t line, column; /* in the job file, from 1; 0: unknown */
};

const char *millrace_version(void);

/* Reads and plans the job; nothing runs yet. Close what it gave also after an error of a later
 * call. */
enum millrace_status millrace_open(const char *job_file, struct millrace **out,
                                   struct millrace_error *error);
/* Starts the queries, or goes on from their checkpoints. */
enum millrace_status millrace_start(struct millrace *m, struct millrace_error *error);
/* Waits until all queries have ended: of themselves, by stop, or one failed. */
enum millrace_status millrace_wait(struct millrace *m, struct millrace_error *error);
/* Queries finish their epoch, commit and end. */
void millrace_stop(struct millrace *m);
void millrace_close(struct millrace *m);

/* Appends rows to the memory source of that name. The columns must have the names and types of its
 * schema, in order. Copies; schema and array stay the caller's. */
enum millrace_status millrace_append(struct millrace *m, const char *source,
                                     const struct ArrowSchema *schema,
                                     const struct ArrowArray *array, struct millrace_error *error);

/* The next rows that the memory sink of that query has, in order of epochs: fills *schema, *array
 * (the caller releases both) and *epoch. *has 0: none yet; nothing is filled. */
enum millrace_status millrace_next(struct millrace *m, const char *query,
                                   struct ArrowSchema *schema, struct ArrowArray *array,
                                   uint64_t *epoch, int *has, struct millrace_error *error);

#ifdef __cplusplus
}
#endif
