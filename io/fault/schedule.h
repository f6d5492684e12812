/* schedule.h - which operation goes wrong how, and the trace. Inside io/fault. */
#pragma once
#include "io/fault/fault.h"

enum mr_fault_kind {
    MR_FAULT_WRITE = 1,
    MR_FAULT_SYNC = 2,
    MR_FAULT_RENAME = 4,
    MR_FAULT_MAKE = 8,
    MR_FAULT_ANY = 15,
    MR_FAULT_READ = 16
};

struct mr_fault_pass { /* what becomes of one operation */
    int rc;            /* its error */
    bool half;         /* half of its bytes are written, before the error */
    bool is_skipped;   /* it is not done, and no error */
    bool kill_after;
};

/* Counts an operation, and kills the process if that is its fate. */
struct mr_fault_pass mr_fault_pass(struct mr_fault *f, enum mr_fault_kind kind, const char *path);
/* After it was done. */
void mr_fault_passed(const struct mr_fault_pass *pass);
bool mr_fault_is_stopped(const struct mr_fault *f);
uint64_t mr_fault_counted(const struct mr_fault *f);
uint64_t mr_fault_next_file(struct mr_fault *f);
/* A line of the trace, without its end, and bytes behind it. */
void mr_fault_trace(struct mr_fault *f, const void *data, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
