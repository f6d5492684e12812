/* error.h - how the control plane says what went wrong.
 *
 * What     A status code, and the details once, in a struct that the caller owns.
 * Use      return MR_FAIL(err, MR_IO, errno, "checkpoint: open %s", path);
 *          return MR_FAIL_CONDITION(err, MR_USER, "UNRESOLVED_COLUMN.WITH_SUGGESTION", "..", ..);
 * Kinds    A bad record is no error (it is counted and quarantined); flow is enum mr_step; bugs
 *          assert.
 * Exit     MR_USER ends the program with 2, everything else with 1.
 */
#pragma once
#include <stdint.h>

#define MR_NODISCARD __attribute__((warn_unused_result))
#define MR_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))

#define MR_STATUSES(X)                                                                             \
    X(MR_OK, "ok")                                                                                 \
    X(MR_USER, "the input is wrong")                                                               \
    X(MR_QUERY, "the query failed")                                                                \
    X(MR_IO, "input or output failed")                                                             \
    X(MR_MEMORY, "the memory limit is reached")                                                    \
    X(MR_CORRUPT, "stored data is corrupt")                                                        \
    X(MR_BUSY, "in use by another process")                                                        \
    X(MR_UNSUPPORTED, "not supported")

enum mr_status {
#define X(code, text) code,
    MR_STATUSES(X)
#undef X
};

enum { MR_ERROR_CONDITION = 96, MR_ERROR_MESSAGE = 1536, MR_ERROR_FILE = 512 };

struct mr_error {
    enum mr_status status;
    int os_error;                       /* errno, or 0 */
    char condition[MR_ERROR_CONDITION]; /* Spark's error condition, or "" */
    char message[MR_ERROR_MESSAGE];     /* without condition and place */
    char file[MR_ERROR_FILE];           /* the user's file, or "" */
    uint32_t line, column;              /* in the user's text, from 1; 0: unknown */
    const char *source_file;            /* ours */
    int source_line;
};

const char *mr_status_text(enum mr_status status);

/* The SQLSTATE of a condition ("42703"), by the longest known prefix before a dot; "" if
 * unknown. */
const char *mr_error_sqlstate(const char *condition);

#define MR_FAIL(err, status, os, ...)                                                              \
    mr_error_set((err), (status), (os), "", __FILE__, __LINE__, __VA_ARGS__)
#define MR_FAIL_CONDITION(err, status, condition, ...)                                             \
    mr_error_set((err), (status), 0, (condition), __FILE__, __LINE__, __VA_ARGS__)

/* Fills *err (which may be NULL) and gives status back. Place and file are left as they are. */
enum mr_status mr_error_set(struct mr_error *err, enum mr_status status, int os_error,
                            const char *condition, const char *source_file, int source_line,
                            const char *format, ...) MR_PRINTF(7, 8);

/* One line for people: FILE:LINE:COLUMN: [CONDITION] message: strerror. SQLSTATE: x. Fills text. */
void mr_error_format(const struct mr_error *err, char *text, uint64_t text_bytes);

/* The name in names[0..n) that is nearest to name (edit distance at most 2, case ignored), or
 * NULL. */
const char *mr_error_nearest(const char *name, const char *const *names, uint32_t n);
