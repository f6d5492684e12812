#include "core/base/check.h"
#include "core/base/time.h"
#include "core/run/control.h"
#include "core/run/futex.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    POLL_US = 1000,      /* how often sources without a descriptor are asked at first */
    POLL_MAX_US = 10000, /* and later: Spark's pollingDelay */
    SINK_IDLE_US = 100000,
    IDLE_PROGRESS_US = 10000000,
    BYTES_PER_MB = 1000000,
};

static void make_uuid(struct mr_env *env, char *text)
{
    uint64_t a = env->ops->random(env), b = env->ops->random(env);

    a = (a & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
    b = (b & ~(UINT64_C(3) << 62)) | (UINT64_C(2) << 62);
    snprintf(text, 37, "%08x-%04x-%04x-%04x-%012llx", (uint32_t)(a >> 32),
             (uint32_t)(a >> 16) & 0xffff, (uint32_t)a & 0xffff, (uint32_t)(b >> 48),
             (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}

#ifdef MR_TEST_SWITCHES
static bool wants_crash(void)
{
    const char *when = getenv("MILLRACE_CRASH");

    return when && strcmp(when, "before_commit") == 0;
}
#else
static bool wants_crash(void)
{
    return false;
}
#endif

static enum mr_status check_sink(struct mr_query *q, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;

    q->config.sink.env = q->env;
    q->config.sink.arena = &q->arena;
    q->config.sink.query_id = q->query_id;
    q->config.sink.workers = q->workers;
    q->config.sink.stop = &q->stop;
    q->config.sink.batch = q->config.batch;
    if (q->config.sink.schema == NULL)
        q->config.sink.schema = q->shape.plan->root->children[0]->output;
    if (q->config.sink.zone == NULL)
        q->config.sink.zone = q->config.session ? q->config.session->conf.zone : mr_zone_utc();
    if (ops->needs_checkpoint && q->config.checkpoint == NULL && !q->config.batch)
        return MR_FAIL_CONDITION(err, MR_USER, "_LEGACY_ERROR_TEMP_1298",
                                 "query \"%s\": sink %s needs a checkpoint", q->config.name,
                                 ops->name);
    return ops->check ? ops->check(&q->config.sink, err) : MR_OK;
}

static enum mr_status open_checkpoint(struct mr_query *q, struct mr_error *err)
{
    struct mr_fingerprint fingerprint;

    if (q->config.checkpoint == NULL)
        return MR_OK;
    struct mr_checkpoint_config config = {
        .path = q->config.checkpoint,
        .env = q->env,
        .budget = &q->budget,
        .escape = &q->escape,
        .durability = q->engine->config.durability,
    };
    mr_fingerprint_make(q, &fingerprint);
    return mr_checkpoint_open(&config, &fingerprint, &q->checkpoint, err);
}

static enum mr_status open_committer(struct mr_query *q, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;

    if (q->config.on_rows)
        return MR_OK;
    q->committer = mr_arena_zero(&q->arena, ops->committer_size ? ops->committer_size : 1);
    q->committer_opened = true;
    return ops->committer_open ? ops->committer_open(q->committer, &q->config.sink, err) : MR_OK;
}

static enum mr_status init_exchanges(struct mr_query *q, struct mr_error *err)
{
    q->exchanges = MR_NEW_ARRAY(&q->arena, struct mr_exchange, q->shape.stages_n);
    for (uint32_t i = 1; i < q->shape.stages_n; i++) {
        enum mr_status status =
            mr_exchange_init(&q->exchanges[i - 1], &q->shape, q->shape.stages[i].root, q->workers,
                             q->engine->config.ring_slots, &q->arena, err);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

/* Parts are the workers' from here on. */
static enum mr_status open_parts(struct mr_query *q, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    q->parts = MR_NEW_ARRAY(&q->arena, struct mr_part, q->workers);
    for (uint32_t w = 0; w < q->workers && status == MR_OK; w++)
        status = mr_change_log_init(&q->parts[w].log, err);
    if (status == MR_OK)
        status = mr_engine_take_slot(q->engine, &q->slot, err);
    if (status != MR_OK)
        return status;
    q->has_slot = true;
    for (uint32_t w = 0; w < q->workers; w++) {
        struct mr_part *p = &q->parts[w];
        p->query = q;
        p->worker = &q->engine->workers[w];
        p->index = w;
        mr_part_at(p, MR_NO_NODE);
        /* Release: pairs with the acquire in the worker's loop. */
        atomic_store_explicit(&p->worker->slots[q->slot], p, memory_order_release);
    }
    return mr_query_command(q, MR_COMMAND_OPEN, err);
}

static enum mr_status open_all(struct mr_query *q, struct mr_error *err)
{
    enum mr_status status =
        mr_shape_build(q->config.plan, q->config.batch, &q->arena, &q->shape, err);

    if (status == MR_OK)
        status = mr_sources_check(q, err);
    if (status == MR_OK)
        status = check_sink(q, err);
    if (status != MR_OK)
        return status;
    mr_watermarks_init(q);
    mr_report_init(q);
    status = open_checkpoint(q, err);
    if (status != MR_OK)
        return status;
    if (q->checkpoint)
        snprintf(q->query_id, sizeof q->query_id, "%s", mr_checkpoint_query_id(q->checkpoint));
    status = mr_sources_open(q, err);
    if (status == MR_OK)
        status = open_committer(q, err);
    if (status == MR_OK)
        status = init_exchanges(q, err);
    if (status == MR_OK)
        status = open_parts(q, err);
    if (status == MR_OK)
        status = mr_query_recover(q, err);
    return status;
}

enum mr_status mr_query_no_memory(const struct mr_query *q, struct mr_error *err)
{
    const struct mr_budget *own = &q->budget, *all = own->parent;

    return MR_FAIL(
        err, MR_MEMORY, 0,
        "query \"%s\" needs more memory: %.1f MB of %.1f MB are taken, %.1f MB of them by it; "
        "raise engine: memory_limit, or let an epoch read less",
        q->config.name,
        (double)atomic_load_explicit(&all->used_bytes, memory_order_relaxed) / BYTES_PER_MB,
        (double)all->limit_bytes / BYTES_PER_MB,
        (double)atomic_load_explicit(&own->used_bytes, memory_order_relaxed) / BYTES_PER_MB);
}

static enum mr_status open_within_memory(struct mr_query *q, struct mr_error *err)
{
    if (setjmp(q->escape) != 0)
        return mr_query_no_memory(q, err);
    return open_all(q, err);
}

enum mr_status mr_query_open(struct mr_engine *e, const struct mr_query_config *config,
                             struct mr_query **out, struct mr_error *err)
{
    struct mr_query *q = mr_mem_alloc(sizeof *q);

    if (q == NULL)
        return MR_FAIL(err, MR_MEMORY, 0, "no memory for query \"%s\"", config->name);
    memset(q, 0, sizeof *q);
    q->config = *config;
    q->engine = e;
    q->workers = e->workers_n;
    q->limit = config->trigger == MR_TRIGGER_ONCE || config->batch ? MR_LIMIT_NONE
                                                                   : MR_LIMIT_AS_CONFIGURED;
    q->crash = wants_crash();
    mr_budget_init(&q->budget, config->name, &e->budget, 0);
    mr_arena_init(&q->arena, &q->budget, &q->escape);
    mr_arena_init(&q->scratch, &q->budget, &q->escape);
    mr_arena_init(&q->plans[0], &q->budget, &q->escape);
    mr_arena_init(&q->plans[1], &q->budget, &q->escape);
    q->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    enum mr_status status = q->stop_fd < 0 ? MR_FAIL(err, MR_IO, errno, "eventfd")
                                           : mr_env_open(e->config.io, &q->env, err);
    if (status == MR_OK) {
        make_uuid(q->env, q->query_id);
        make_uuid(q->env, q->run_id);
        *out = q;
        status = open_within_memory(q, err);
    }
    if (status != MR_OK) {
        *out = NULL;
        mr_query_close(q);
    }
    return status;
}

static bool is_stopped(struct mr_query *q)
{
    return atomic_load_explicit(&q->stop, memory_order_acquire) != 0;
}

/* Until us have passed, a source with a descriptor has news, or the query is stopped. */
static void rest(struct mr_query *q, int64_t us, bool for_news)
{
    int fds[MR_SOURCES_MAX + 1];
    uint32_t n = 0;

    fds[n++] = q->stop_fd;
    for (uint32_t i = 0; for_news && i < q->shape.sources_n; i++) {
        const struct mr_query_source *s = &q->sources[i];
        int fd = s->ops->wake_fd ? s->ops->wake_fd(s->planner) : -1;
        if (fd >= 0)
            fds[n++] = fd;
    }
    q->env->ops->wait(q->env, fds, n, us);
}

/* How long to rest when nothing is new: a source that can't say when is asked again after
 * poll_us. */
static int64_t rest_us(const struct mr_query *q, int64_t poll_us)
{
    int64_t us = SINK_IDLE_US;

    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        const struct mr_query_source *s = &q->sources[i];
        int64_t wake_us = poll_us;
        if (s->ops->wake_us)
            wake_us = s->ops->wake_us(s->planner);
        else if (s->ops->wake_fd && s->ops->wake_fd(s->planner) >= 0)
            continue;
        us = wake_us < us ? wake_us : us;
    }
    return us;
}

/* What is done from time to time while nothing is new. */
static enum mr_status be_idle(struct mr_query *q, int64_t *sink_us, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;
    int64_t now = q->env->ops->monotonic_us(q->env);

    if (now - q->last_told_us >= IDLE_PROGRESS_US && q->config.on_progress) {
        mr_report_idle(q);
        q->config.on_progress(q->config.on_progress_arg, q->progress);
        q->last_told_us = now;
    }
    if (now - *sink_us < SINK_IDLE_US || !q->committer_opened || ops->idle == NULL)
        return MR_OK;
    *sink_us = now;
    mr_query_at(q, MR_AT_SINK, 0);
    q->is_unsure = true;
    enum mr_status status = ops->idle(q->committer, err);
    q->is_unsure = status != MR_OK;
    return status;
}

/* As soon as there is data: polled quickly at first, then every 10 ms. */
static enum mr_status run_asap(struct mr_query *q, struct mr_error *err)
{
    int64_t sink_us = 0, poll_us = POLL_US;

    while (!is_stopped(q)) {
        bool ran;
        enum mr_status status = mr_epoch_next(q, &ran, err);
        if (status == MR_OK && !ran)
            status = be_idle(q, &sink_us, err);
        if (status != MR_OK)
            return status;
        if (ran) {
            poll_us = POLL_US;
            continue;
        }
        mr_query_at(q, MR_AT_REST, 0);
        rest(q, rest_us(q, poll_us), true);
        poll_us = poll_us * 2 < POLL_MAX_US ? poll_us * 2 : POLL_MAX_US;
    }
    return MR_OK;
}

/* At multiples of the interval since 1970; the first epoch at once. A tick that was missed is made
 * up for at once, but only the last one. A clock that was set back must not make it wait. */
static enum mr_status run_at_ticks(struct mr_query *q, struct mr_error *err)
{
    int64_t interval = q->config.trigger_us, sink_us = 0;

    while (!is_stopped(q)) {
        int64_t now = q->env->ops->now_us(q->env);
        int64_t next = mr_floor_div(now, interval) * interval + interval;
        bool ran;
        enum mr_status status = mr_epoch_next(q, &ran, err);
        while (status == MR_OK && !is_stopped(q)) {
            int64_t left = next - q->env->ops->now_us(q->env);
            if (left <= 0 || left > interval)
                break;
            status = be_idle(q, &sink_us, err);
            mr_query_at(q, MR_AT_REST, 0);
            rest(q, left < SINK_IDLE_US ? left : SINK_IDLE_US, false);
        }
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status freeze_sources(struct mr_query *q, struct mr_error *err)
{
    for (uint32_t i = 0; i < q->shape.sources_n; i++) {
        const struct mr_query_source *s = &q->sources[i];
        enum mr_status status = s->ops->freeze ? s->ops->freeze(s->planner, err) : MR_OK;
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

/* A planned epoch of an earlier run comes first: it has the sources' older position. */
static enum mr_status run_available(struct mr_query *q, struct mr_error *err)
{
    bool ran = true;
    enum mr_status status = MR_OK;

    if (q->pending)
        status = mr_epoch_next(q, &ran, err);
    if (status == MR_OK)
        status = freeze_sources(q, err);
    while (status == MR_OK && ran && !is_stopped(q))
        status = mr_epoch_next(q, &ran, err);
    return status;
}

static enum mr_status run_trigger(struct mr_query *q, struct mr_error *err)
{
    bool ran;

    q->last_told_us = q->env->ops->monotonic_us(q->env);
    if (q->config.batch)
        return mr_epoch_next(q, &ran, err);
    switch (q->config.trigger) {
    case MR_TRIGGER_ONCE:
        return mr_epoch_next(q, &ran, err);
    case MR_TRIGGER_AVAILABLE_NOW:
        return run_available(q, err);
    case MR_TRIGGER_PROCESSING_TIME:
        return q->config.trigger_us > 0 ? run_at_ticks(q, err) : run_asap(q, err);
    case MR_TRIGGER_ASAP:
        return run_asap(q, err);
    }
    MR_UNREACHABLE();
    return MR_QUERY;
}

/* What the sink still holds back is part of the result: an end without it is a failure. */
static enum mr_status run_to_end(struct mr_query *q, struct mr_error *err)
{
    const struct mr_sink_ops *ops = q->config.sink_ops;

    if (setjmp(q->escape) != 0)
        return mr_query_no_memory(q, err);
    struct mr_error second = {0};
    enum mr_status status = run_trigger(q, err);
    if (q->is_unsure || !q->committer_opened || ops->finish == NULL)
        return status;
    mr_query_at(q, MR_AT_SINK, 0);
    enum mr_status finished = ops->finish(q->committer, &second);
    if (status != MR_OK || finished == MR_OK)
        return status;
    *err = second;
    return finished;
}

static void *control_main(void *arg)
{
    struct mr_query *q = arg;

    q->status = run_to_end(q, &q->error);
    if (q->config.on_end)
        q->config.on_end(q->config.on_end_arg, q->status, &q->error);
    mr_query_at(q, MR_AT_REST, 0);
    atomic_store_explicit(&q->ended, 1, memory_order_release);
    mr_futex_wake(&q->ended);
    return NULL;
}

enum mr_status mr_query_start(struct mr_query *q, struct mr_error *err)
{
    MR_ASSERT(!q->started);
    if (q->engine->config.turns) {
        control_main(q);
        return MR_OK;
    }
    int failed = pthread_create(&q->thread, NULL, control_main, q);

    if (failed)
        return MR_FAIL(err, MR_IO, failed, "the thread of query \"%s\" can't be started",
                       q->config.name);
    q->started = true;
    return MR_OK;
}

void mr_query_stop(struct mr_query *q)
{
    const uint64_t one = 1;

    atomic_store_explicit(&q->stop, 1, memory_order_release);
    if (write(q->stop_fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

bool mr_query_ends_within(struct mr_query *q, int64_t us)
{
    /* Acquire: pairs with the release at the end of control_main. */
    if (q->started && !atomic_load_explicit(&q->ended, memory_order_acquire))
        mr_futex_wait(&q->ended, 0, us);
    return !q->started || atomic_load_explicit(&q->ended, memory_order_acquire);
}

enum mr_status mr_query_wait(struct mr_query *q, struct mr_error *err)
{
    if (q->started)
        pthread_join(q->thread, NULL);
    q->started = false;
    if (q->status != MR_OK && err)
        *err = q->error;
    return q->status;
}

void mr_query_close(struct mr_query *q)
{
    struct mr_error ignored = {0}; /* the query has ended: what failed was told by wait */

    if (q->started) {
        mr_query_stop(q);
        q->status = mr_query_wait(q, &ignored);
    }
    if (q->has_slot) {
        q->status = mr_query_command(q, MR_COMMAND_CLOSE, &ignored);
        mr_engine_give_slot(q->engine, q->slot);
    }
    for (uint32_t w = 0; q->parts && w < q->workers; w++)
        mr_change_log_fini(&q->parts[w].log);
    for (uint32_t i = 1; q->exchanges && i < q->shape.stages_n; i++)
        mr_exchange_fini(&q->exchanges[i - 1]);
    if (q->committer_opened && q->config.sink_ops->committer_close)
        q->config.sink_ops->committer_close(q->committer);
    mr_sources_close(q);
    if (q->checkpoint)
        mr_checkpoint_close(q->checkpoint);
    if (q->env)
        q->env->ops->fini(q->env);
    if (q->stop_fd >= 0)
        close(q->stop_fd);
    for (int i = 0; i < 2; i++)
        mr_arena_fini(&q->plans[i]);
    mr_arena_fini(&q->scratch);
    mr_arena_fini(&q->arena);
    mr_mem_free(q, sizeof *q);
}
