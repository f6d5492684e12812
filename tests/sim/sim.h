/* sim.h - the engine on one thread, in a world that follows from a seed.
 *
 * World    Disk, clock, a topic that rows go to; what one process leaves to the next.
 * Life     One process: it opens an engine and runs the query, until the end, a failure, or its
 *          death at some step. Its memory is left behind, as a real one's.
 * Step     A call of the env, a turn of a worker, a call of the topic. Each is noted; two runs of a
 *          seed give the same notes. The last ones are shown when a seed fails.
 * Global   The world: ends and env are found by name, so they have no other way to it.
 */
#pragma once
#include "core/op/sink.h"
#include "core/run/query.h"
#include "tests/sim/disk.h"
#include <setjmp.h>

enum fault_kind { /* of a life: at its at-th step, or its at-th call of a kind */
                  FAULT_NONE,
                  FAULT_KILL, /* what was written stays */
                  FAULT_CUT,  /* what was not synced may be lost */
                  FAULT_WRITE,
                  FAULT_TORN,
                  FAULT_SYNC,
                  FAULT_NAME, /* renames, links, unlinks, new files and folders */
                  FAULT_READ,
                  FAULT_TOPIC, /* its commit fails */
                  FAULT_ANSWER /* its commit is done, and said to have failed */
};

enum step_kind { STEP_OTHER, STEP_WRITE, STEP_SYNC, STEP_NAME, STEP_READ, STEP_TOPIC, STEP_KINDS };

struct fault {
    enum fault_kind kind;
    uint64_t at;
    bool jumps;    /* of the clock */
    uint32_t slow; /* one in so many calls of source and sink has to wait; 0, 1: none */
};

enum breakage { BREAK_NOTHING, BREAK_LOG, BREAK_SINK, BREAK_NAMES, BREAK_MARKER };

enum { NOTES = 64, NOTE_BYTES = 200 };

struct topic { /* what a broker holds: transactions, and a marker of the last one */
    struct {
        uint64_t epoch;
        char *line;
    } * rows;
    uint32_t rows_n, staged_n, capacity; /* staged ones are behind the others */
    uint64_t marker;                     /* UINT64_MAX: none */
};

struct world {
    struct mr_env env;
    struct chance chance;
    struct disk disk;
    struct topic topic;
    enum breakage broken;
    int64_t clock_us, jumped_us;
    uint32_t root_bytes; /* of paths, that are not noted */
    /* The life: */
    bool is_alive; /* mr_env_open gives this env */
    struct fault fault;
    bool is_fault_done;
    uint64_t steps, counts[STEP_KINDS];
    jmp_buf death;
    /* Notes of all lives: */
    uint64_t hash, notes_n;
    bool shows_all;
    char notes[NOTES][NOTE_BYTES];
};

extern struct world *the_world;

void world_init(struct world *w, uint64_t seed, const char *root);
/* Notes a step, and may not come back. */
void world_step(enum step_kind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* After world_step: is this the one that goes wrong? */
bool world_fails(enum fault_kind kind);
void world_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void world_show_notes(void);

/* ends.c */
extern const struct mr_sink_ops topic_ops;
void topic_init(struct topic *t);
