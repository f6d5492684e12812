/* engine.h - the workers: what core/run shares about them.
 *
 * Worker   Runs slices of the parts of all queries in turn. When none has work it spins at most 20
 *          us, then sleeps on `events`, which everyone who gives it work raises.
 * Part     The share of one query on one worker (pipeline.h). The control thread gives a part one
 *          command at a time and sleeps until all parts have done it.
 * Threads  slots[]: set by a control thread to a new part, cleared by the worker when the part is
 *          closed.
 */
#pragma once
#include "core/mem/mem.h"
#include "core/run/query.h"
#include <pthread.h>
#include <stdatomic.h>

struct mr_part;

struct mr_worker {
    _Alignas(64) _Atomic uint32_t events; /* the word it sleeps on */
    _Atomic uint32_t sleeping;
    _Alignas(64) struct mr_engine *engine;
    struct mr_env *env;
    pthread_t thread;
    uint32_t index;
    bool started;
    enum mr_status status; /* of its start */
    struct mr_error err;
    _Atomic uint32_t ready, stop;
    _Atomic(struct mr_part *) slots[MR_QUERIES_MAX];
    uint32_t seen; /* with turns: events, before its last one */
    bool is_awake; /* and it had something to do, or waits for the outside */
};

struct mr_engine {
    struct mr_engine_config config; /* defaults filled in */
    struct mr_placement placement;
    struct mr_budget budget;
    struct mr_worker *workers;
    uint32_t workers_n;
    _Atomic uint32_t slots_used[MR_QUERIES_MAX]; /* 1: taken by a query */
};

/* Sleeps until *word is not value; with turns lets workers go on until then. Control thread. */
void mr_engine_wait(struct mr_engine *e, _Atomic uint32_t *word, uint32_t value);

/* From any thread, after what the worker shall see was stored with release. */
void mr_worker_wake(struct mr_worker *w);

/* A place for a query on every worker; MR_USER when all are taken. */
MR_NODISCARD enum mr_status mr_engine_take_slot(struct mr_engine *e, uint32_t *slot,
                                                struct mr_error *err);
void mr_engine_give_slot(struct mr_engine *e, uint32_t slot);
