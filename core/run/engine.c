#include "core/run/engine.h"

#include "core/base/check.h"
#include "core/run/futex.h"
#include "core/run/pipeline.h"
#include "kernels/kernels.h"
#include <errno.h>
#include <unistd.h>

enum {
    SPIN_US = 20,
    RETRY_US = 100, /* how soon a part that waits for the outside is asked again */
    RING_SLOTS_DEFAULT = 8,
    KEEP_SHARE = 16, /* of the memory limit, which the allocator may keep on top of it */
};

void mr_worker_wake(struct mr_worker *w)
{
    /* Sequentially consistent with the worker's store to sleeping and its second look at events:
     * either the worker sees the new number or we see that it sleeps. */
    atomic_fetch_add_explicit(&w->events, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&w->sleeping, memory_order_seq_cst))
        mr_futex_wake(&w->events);
}

/* Until events is no longer seen, or us have passed (negative: no limit). */
static void worker_sleep(struct mr_worker *w, uint32_t seen, int64_t us)
{
    atomic_store_explicit(&w->sleeping, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&w->events, memory_order_seq_cst) == seen)
        mr_futex_wait(&w->events, seen, us);
    atomic_store_explicit(&w->sleeping, 0, memory_order_relaxed);
}

static void worker_rest(struct mr_worker *w, uint32_t seen, bool waiting)
{
    if (waiting) {
        worker_sleep(w, seen, RETRY_US);
        return;
    }
    int64_t until = w->env->ops->monotonic_us(w->env) + SPIN_US;
    do {
        for (int i = 0; i < 64; i++) {
            if (atomic_load_explicit(&w->events, memory_order_relaxed) != seen)
                return;
            __builtin_ia32_pause();
        }
    } while (w->env->ops->monotonic_us(w->env) < until);
    worker_sleep(w, seen, -1);
}

/* A slice of each of its parts. */
static enum mr_slice worker_turn(struct mr_worker *w)
{
    bool worked = false, waiting = false;

    for (uint32_t i = 0; i < MR_QUERIES_MAX; i++) {
        /* Acquire: pairs with the release of the control thread that made the part. */
        struct mr_part *part = atomic_load_explicit(&w->slots[i], memory_order_acquire);
        if (part == NULL)
            continue;
        enum mr_slice slice = mr_part_slice(part);
        worked |= slice == MR_SLICE_WORKED;
        waiting |= slice == MR_SLICE_WAITING;
    }
    return worked ? MR_SLICE_WORKED : waiting ? MR_SLICE_WAITING : MR_SLICE_IDLE;
}

static void worker_loop(struct mr_worker *w)
{
    /* Acquire: pairs with the stop in mr_engine_close. */
    while (!atomic_load_explicit(&w->stop, memory_order_acquire)) {
        uint32_t seen = atomic_load_explicit(&w->events, memory_order_seq_cst);
        enum mr_slice slice = worker_turn(w);
        if (slice != MR_SLICE_WORKED)
            worker_rest(w, seen, slice == MR_SLICE_WAITING);
    }
}

static void wait_by_turns(struct mr_engine *e, _Atomic uint32_t *word, uint32_t value)
{
    const struct mr_turns *turns = e->config.turns;

    while (atomic_load_explicit(word, memory_order_acquire) == value) {
        uint32_t awake[MR_WORKERS_MAX], n = 0;
        for (uint32_t i = 0; i < e->workers_n; i++) {
            struct mr_worker *w = &e->workers[i];
            if (w->is_awake || atomic_load_explicit(&w->events, memory_order_relaxed) != w->seen)
                awake[n++] = i;
        }
        MR_ASSERT(n > 0); /* else a wake-up is missing: threads would sleep for ever */
        struct mr_worker *w = &e->workers[turns->choose(turns->arg, awake, n)];
        w->seen = atomic_load_explicit(&w->events, memory_order_relaxed);
        w->is_awake = worker_turn(w) != MR_SLICE_IDLE;
    }
}

void mr_engine_wait(struct mr_engine *e, _Atomic uint32_t *word, uint32_t value)
{
    if (e->config.turns)
        wait_by_turns(e, word, value);
    else
        mr_futex_wait(word, value, -1);
}

static void *worker_main(void *arg)
{
    struct mr_worker *w = arg;

    w->status = mr_mem_enter(&w->engine->placement, w->index, &w->err);
    if (w->status == MR_OK)
        w->status = mr_env_open(w->engine->config.io, &w->env, &w->err);
    /* Release: pairs with the acquire in wait_ready. */
    atomic_store_explicit(&w->ready, 1, memory_order_release);
    mr_futex_wake(&w->ready);
    if (w->status == MR_OK)
        worker_loop(w);
    if (w->env)
        w->env->ops->fini(w->env);
    return NULL;
}

static uint64_t default_limit(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 * 3 : 0;
}

static enum mr_status fill_config(struct mr_engine *e, const struct mr_engine_config *config,
                                  struct mr_error *err)
{
    e->config = *config;
    if (e->config.batch_rows == 0)
        e->config.batch_rows = MR_BATCH_ROWS_DEFAULT;
    if (e->config.batch_rows > MR_BATCH_ROWS_MAX)
        return MR_FAIL(err, MR_USER, 0, "batch_rows: %u is above %d", config->batch_rows,
                       MR_BATCH_ROWS_MAX);
    if (e->config.ring_slots == 0)
        e->config.ring_slots = RING_SLOTS_DEFAULT;
    if (e->config.ring_slots > MR_RING_MAX / 2)
        return MR_FAIL(err, MR_USER, 0, "ring_slots: %u is above %d", config->ring_slots,
                       MR_RING_MAX / 2);
    if (e->config.memory_limit_bytes == 0)
        e->config.memory_limit_bytes = default_limit();
    mr_budget_init(&e->budget, "engine", NULL, e->config.memory_limit_bytes);
    return mr_kernels_init(e->config.kernels, err);
}

static enum mr_status start_workers(struct mr_engine *e, struct mr_error *err)
{
    for (uint32_t i = 0; i < e->workers_n; i++) {
        struct mr_worker *w = &e->workers[i];
        w->engine = e;
        w->index = i;
        if (e->config.turns) {
            w->status = mr_env_open(e->config.io, &w->env, err);
            if (w->status != MR_OK)
                return w->status;
            continue;
        }
        int failed = pthread_create(&w->thread, NULL, worker_main, w);
        if (failed)
            return MR_FAIL(err, MR_IO, failed, "worker %u can't be started", i);
        w->started = true;
    }
    for (uint32_t i = 0; i < e->workers_n && e->config.turns == NULL; i++) {
        struct mr_worker *w = &e->workers[i];
        while (!atomic_load_explicit(&w->ready, memory_order_acquire))
            mr_futex_wait(&w->ready, 0, -1);
        if (w->status != MR_OK) {
            if (err)
                *err = w->err;
            return w->status;
        }
    }
    return MR_OK;
}

enum mr_status mr_engine_open(const struct mr_engine_config *config, struct mr_engine **out,
                              struct mr_error *err)
{
    struct mr_engine *e = mr_mem_alloc(sizeof *e);

    if (e == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "no memory for the engine");
    memset(e, 0, sizeof *e);
    struct mr_mem_config where = {
        .workers = config->workers, .cpus = config->cpus, .pin = config->pin};
    enum mr_status status = fill_config(e, config, err);
    if (status == MR_OK) {
        mr_mem_keep(e->config.memory_limit_bytes / KEEP_SHARE);
        status = mr_mem_place(&where, &e->placement, err);
    }
    if (status == MR_OK) {
        e->workers = mr_mem_alloc(e->placement.workers_n * sizeof *e->workers);
        if (e->workers == NULL)
            status = MR_FAIL(err, MR_MEMORY, 0, "no memory for %u workers", e->placement.workers_n);
    }
    if (status == MR_OK) {
        e->workers_n = e->placement.workers_n;
        memset(e->workers, 0, e->workers_n * sizeof *e->workers);
        status = start_workers(e, err);
    }
    if (status != MR_OK) {
        mr_engine_close(e);
        return status;
    }
    *out = e;
    return MR_OK;
}

void mr_engine_close(struct mr_engine *e)
{
    for (uint32_t i = 0; i < e->workers_n; i++) {
        struct mr_worker *w = &e->workers[i];
        if (e->config.turns && w->env)
            w->env->ops->fini(w->env);
        if (!w->started)
            continue;
        for (uint32_t s = 0; s < MR_QUERIES_MAX; s++)
            MR_ASSERT(atomic_load_explicit(&w->slots[s], memory_order_acquire) == NULL);
        atomic_store_explicit(&w->stop, 1, memory_order_release);
        mr_worker_wake(w);
        pthread_join(w->thread, NULL);
    }
    if (e->workers)
        mr_mem_free(e->workers, e->workers_n * sizeof *e->workers);
    mr_mem_free(e, sizeof *e);
}

uint32_t mr_engine_workers(const struct mr_engine *e)
{
    return e->workers_n;
}

const char *mr_engine_why_not_uring(const struct mr_engine *e)
{
    return e->workers[0].env->why_not_uring;
}

enum mr_status mr_engine_take_slot(struct mr_engine *e, uint32_t *slot, struct mr_error *err)
{
    for (uint32_t i = 0; i < MR_QUERIES_MAX; i++) {
        uint32_t is_free = 0;
        /* Acquire: pairs with the release in give_slot, the last query there is gone. */
        if (atomic_compare_exchange_strong_explicit(&e->slots_used[i], &is_free, 1,
                                                    memory_order_acquire, memory_order_relaxed)) {
            *slot = i;
            return MR_OK;
        }
    }
    return MR_FAIL(err, MR_USER, 0, "an engine runs at most %d queries", MR_QUERIES_MAX);
}

void mr_engine_give_slot(struct mr_engine *e, uint32_t slot)
{
    atomic_store_explicit(&e->slots_used[slot], 0, memory_order_release);
}
