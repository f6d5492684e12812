#include "core/base/check.h"
#include "core/run/control.h"

void mr_query_fail(struct mr_query *q, const struct mr_error *err)
{
    uint32_t before = 0;

    /* The winner's error is read when no part is at work, which it lowers later. */
    if (atomic_compare_exchange_strong_explicit(&q->failed, &before, 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        q->error = *err;
        /* Those that sleep until this part sends them something would sleep for ever. */
        for (uint32_t i = 0; i < q->workers; i++)
            mr_worker_wake(q->parts[i].worker);
    }
}

enum mr_status mr_query_command(struct mr_query *q, enum mr_command command, struct mr_error *err)
{
    uint32_t left;

    atomic_store_explicit(&q->at_work, q->workers, memory_order_relaxed);
    for (uint32_t i = 0; i < q->workers; i++) {
        struct mr_part *p = &q->parts[i];
        MR_ASSERT(atomic_load_explicit(&p->command, memory_order_relaxed) == MR_COMMAND_NONE);
        /* Release: pairs with the acquire in mr_part_slice. */
        atomic_store_explicit(&p->command, command, memory_order_release);
        mr_worker_wake(p->worker);
    }
    while ((left = atomic_load_explicit(&q->at_work, memory_order_acquire)) & MR_PARTS_AT_WORK) {
        mr_change_log_take(q);
        mr_engine_wait(q->engine, &q->at_work, left);
    }
    mr_change_log_take(q);
    if (!atomic_load_explicit(&q->failed, memory_order_relaxed))
        return MR_OK;
    if (err)
        *err = q->error;
    return q->error.status;
}
