/* memory.h - rows given by a program, or kept for it: source and sink "memory", for the C API and
 * tests.
 *
 * Use      mr_memory_open; the option "memory" of a source or sink has the text that
 *          mr_memory_option gives. The program appends batches, the source takes them; the sink
 *          keeps the rows of committed epochs (complete mode: of the last one) until the program
 *          takes them.
 * Option   The text stands for the object by its own address, so that no text of a job file can.
 * Owner    Who takes a batch frees it, so that a stream may run for ever. close frees what nobody
 *          took.
 * Threads  append, take: any one thread of the program. The lock is held for a few instructions, by
 *          the program and control threads, never by workers.
 * Limits   Not replayable: rows live no longer than the process. Memory is the budget's.
 */
#pragma once
#include "core/op/sink.h"

extern const struct mr_source_ops mr_source_memory;
extern const struct mr_sink_ops mr_sink_memory;

struct mr_memory;

struct mr_memory_batch {
    struct mr_memory_batch *next;
    uint64_t epoch; /* of a sink */
    struct mr_batch batch;
    struct mr_arena arena;
};

MR_NODISCARD enum mr_status mr_memory_open(struct mr_budget *budget, struct mr_memory **out,
                                           struct mr_error *err);
void mr_memory_close(struct mr_memory *m);
const char *mr_memory_option(const struct mr_memory *m);
/* The object of an option's text, or NULL. */
struct mr_memory *mr_memory_of(const struct mr_option *options, uint32_t n);

/* Copies the selected rows. */
MR_NODISCARD enum mr_status mr_memory_append(struct mr_memory *m, uint64_t epoch,
                                             const struct mr_batch *batch, struct mr_error *err);
/* The oldest batch, or NULL. The caller's from now on: mr_memory_free. */
struct mr_memory_batch *mr_memory_take(struct mr_memory *m);

/* For source and sink. A copy that is in no list yet; NULL: no memory. */
struct mr_memory_batch *mr_memory_copy(struct mr_memory *m, uint64_t epoch,
                                       const struct mr_batch *batch);
void mr_memory_free(struct mr_memory_batch *b);
void mr_memory_free_list(struct mr_memory_batch *first);
/* Takes a list; replace: what was there before and not taken goes. */
void mr_memory_publish(struct mr_memory *m, struct mr_memory_batch *list, bool replace);
int mr_memory_fd(const struct mr_memory *m); /* readable when something was appended */
void mr_memory_quiet(struct mr_memory *m);   /* until the next append */
