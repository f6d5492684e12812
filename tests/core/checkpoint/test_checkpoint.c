/* Epochs, restarts, crashes at every operation, errors of every operation. */
#include "core/checkpoint/crc32c.h"
#include "core/checkpoint/snapshot.h"
#include "io/fault/fault.h"
#include "tests/core/checkpoint/world.h"

static void test_crc(void **state)
{
    char text[300];

    (void)state;
    assert_int_equal(mr_crc32c(0, "123456789", 9), 0xe3069283);
    for (uint32_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    for (uint32_t n = 0; n < sizeof text; n++) {
        uint32_t whole = mr_crc32c(0, text, n);
        assert_int_equal(whole, mr_crc32c_by_table(0, text, n));
        assert_int_equal(whole, mr_crc32c(mr_crc32c(0, text, n / 3), text + n / 3, n - n / 3));
    }
}

/* Restarts after any number of epochs, some with a plan or more left behind, over many segments. */
static void test_restarts(void **state)
{
    struct world w;
    uint64_t random = 1;

    (void)state;
    world_init(&w, "restarts");
    for (uint32_t run = 0; run < 60; run++) {
        assert_int_equal(world_open(&w), MR_OK);
        assert_int_equal(w.next, w.acknowledged);
        for (uint64_t n = (random = mix(random + 1)) % 12; n > 0; n--)
            assert_int_equal(world_epoch(&w), MR_OK);
        uint64_t how = (random = mix(random + 1)) % 5;
        bool pending = how > 0 || w.recovered.has_plan;
        if (how > 0 && !w.recovered.has_plan)
            assert_int_equal(world_plan(&w), MR_OK);
        if (how > 1)
            assert_int_equal(world_log(&w), MR_OK);
        if (how > 2)
            assert_int_equal(mr_checkpoint_sync(w.checkpoint, &w.err), MR_OK);
        world_close(&w);
        if (run % 9 == 0) /* again, without doing anything */
            assert_int_equal(world_open(&w), MR_OK), world_close(&w);
        assert_int_equal(world_open(&w), MR_OK);
        assert_int_equal(w.recovered.has_plan, pending);
        world_close(&w);
    }
    world_fini(&w);
}

static void test_lock(void **state)
{
    struct world w, other;

    (void)state;
    world_init(&w, "lock");
    other = w;
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(world_open(&other), MR_BUSY);
    assert_non_null(strstr(other.err.message, "in use by process"));
    assert_int_equal(world_epoch(&w), MR_OK);
    world_close(&w);
    assert_int_equal(world_open(&other), MR_OK);
    assert_int_equal(other.next, 1);
    assert_string_equal(other.recovered.query_id, mr_checkpoint_query_id(other.checkpoint));
    world_close(&other);
    world_fini(&w);
}

/* A snapshot must not be newer than the log, so none is completed once that has failed. */
static bool no_round_ends(struct world *w)
{
    struct mr_snapshot_list before, after;
    const char *path = mr_arena_format(&w->arena, "%s/snapshot", w->path);
    struct mr_env *env;

    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    assert_int_equal(mr_snapshot_list(env, path, false, &w->arena, &before, NULL), MR_OK);
    for (uint32_t i = 0; i < 100 && world_snapshot(w) == MR_OK; i++)
        continue;
    assert_int_equal(mr_snapshot_list(env, path, false, &w->arena, &after, NULL), MR_OK);
    env->ops->fini(env);
    return after.newest == before.newest;
}

/* A run of epochs with a fault in it; whatever happens, no commit is told after an error. */
static void run_with_fault(struct world *w, const char *schedule, uint64_t epochs, uint64_t *count)
{
    struct mr_env *real = w->env;
    struct mr_env *inner;
    bool failed = false;

    assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
    w->env = mr_fault_open(inner, schedule);
    assert_non_null(w->env);
    w->err = (struct mr_error){0};
    if (world_open(w) == MR_OK) {
        for (uint64_t i = 0; i < epochs && !failed; i++)
            failed = world_epoch(w) != MR_OK;
        if (failed)
            assert_non_null(strstr(w->err.message, w->path));
        if (failed) { /* nothing goes on after a failure of the log */
            uint64_t before = w->acknowledged;
            bool log_failed =
                world_plan(w) != MR_OK || world_log(w) != MR_OK || world_commit(w) != MR_OK;
            if (log_failed) {
                assert_int_equal(w->acknowledged, before);
                assert_true(no_round_ends(w));
            }
        }
        world_close(w);
    } else {
        assert_non_null(strstr(w->err.message, w->path));
    }
    *count = mr_fault_count(w->env);
    w->env->ops->fini(w->env);
    w->env = real;
}

struct shape {
    uint32_t payload; /* of each record, and of each partition in a snapshot */
    uint64_t snapshot_bytes;
    enum mr_durability durability;
    uint64_t step; /* 1: every operation */
};

/* For each operation k of a run of some epochs, from nothing and again from what it left: the
 * fault, then a run without one. Nothing that was acknowledged may be lost. */
static void check_fault_of(const struct shape *shape, const char *kind, const char *action,
                           uint64_t epochs, uint64_t begin_with)
{
    struct world w;
    uint64_t count = UINT64_MAX;

    for (uint64_t k = 1; k <= count; k += shape->step) {
        char schedule[64];
        uint64_t unused;
        snprintf(schedule, sizeof schedule, "%s:%llu:%s", kind, (unsigned long long)k, action);
        world_init(&w, "fault");
        w.payload = shape->payload;
        w.config.durability = shape->durability;
        w.config.snapshot_bytes_per_epoch = shape->snapshot_bytes;
        if (begin_with)
            run_with_fault(&w, "", begin_with, &unused);
        run_with_fault(&w, schedule, epochs, &count);
        if (count < k) { /* it was never reached: the run was whole */
            assert_int_equal(w.acknowledged, epochs + begin_with);
            world_fini(&w);
            break;
        }
        assert_int_equal(world_open(&w), MR_OK);
        assert_true(w.next >= w.acknowledged);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(world_epoch(&w), MR_OK);
        world_close(&w);
        assert_int_equal(world_open(&w), MR_OK);
        assert_int_equal(w.next, w.acknowledged);
        world_close(&w);
        world_fini(&w);
        count = UINT64_MAX;
    }
}

static void check_fault(const char *kind, const char *action, uint64_t epochs, uint64_t begin_with)
{
    static const struct shape small = {.payload = 200, .snapshot_bytes = 2000, .step = 1};

    check_fault_of(&small, kind, action, epochs, begin_with);
}

static void test_crashes(void **state)
{
    (void)state;
    check_fault("any", "stop", 30, 0);
    check_fault("any", "halfstop", 30, 0);
    check_fault("any", "stop", 12, 25);
    check_fault("write", "halfstop", 12, 25);
}

static void test_errors(void **state)
{
    (void)state;
    check_fault("any", "EIO", 30, 0);
    check_fault("write", "ENOSPC", 30, 0);
    check_fault("write", "torn", 30, 7);
    check_fault("sync", "EIO", 30, 7);
    check_fault("rename", "EIO", 30, 7);
    check_fault("read", "EIO", 30, 0);
    check_fault("read", "EIO", 3, 25);
}

#ifdef MR_SANITIZED
enum { LARGE_STEP = 9 };
#else
enum { LARGE_STEP = 2 };
#endif

/* Epochs of nearly a segment: segments are recycled, and each second epoch completes a snapshot of
 * several writes. */
static void test_large_errors(void **state)
{
    static const struct shape large = {.payload = 15000,
                                       .snapshot_bytes = 64 << 20,
                                       .step = LARGE_STEP},
                              late = {.payload = 15000,
                                      .snapshot_bytes = 64 << 20,
                                      .durability = MR_DURABLE_INTERVAL,
                                      .step = 1};

    (void)state;
    check_fault_of(&large, "any", "EIO", 6, 3);
    check_fault_of(&large, "any", "stop", 5, 3);
    check_fault_of(&large, "read", "EIO", 2, 6);
    check_fault_of(&late, "sync", "EIO", 6, 0);
}

/* Also of a folder that can't be read, whatever of it: a problem that is listed, with the name. */
static void test_unreadable(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "unreadable");
    assert_int_equal(world_open(&w), MR_OK);
    for (uint32_t i = 0; i < 25; i++)
        assert_int_equal(world_epoch(&w), MR_OK);
    world_close(&w);
    for (uint64_t k = 1, is_reached = 1; is_reached; k++) {
        struct mr_env *inner;
        struct mr_buffer out;
        char schedule[32];
        snprintf(schedule, sizeof schedule, "read:%llu:EIO", (unsigned long long)k);
        assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
        struct mr_env *env = mr_fault_open(inner, schedule);
        mr_buffer_init(&out, &w.arena);
        enum mr_status status = k % 2 ? mr_checkpoint_show(env, w.path, &out, &w.err)
                                      : mr_checkpoint_verify(env, w.path, &out, &w.err);
        is_reached = mr_fault_count(env) >= k;
        mr_buffer_append(&out, "", 1);
        if (!is_reached)
            assert_int_equal(status, MR_OK);
        else if (status == MR_CORRUPT)
            assert_non_null(strstr((char *)out.data, "Input/output error"));
        else if (status != MR_OK) /* the look at the metadata may fail: its read tells */
            assert_int_equal(status, MR_USER);
        env->ops->fini(env);
    }
    world_fini(&w);
}

static void test_durabilities(void **state)
{
    (void)state;
    for (uint32_t d = MR_DURABLE_EPOCH; d <= MR_DURABLE_NONE; d++) {
        struct world w;
        world_init(&w, "durability");
        w.config.durability = (enum mr_durability)d;
        for (uint32_t run = 0; run < 4; run++) {
            assert_int_equal(world_open(&w), MR_OK);
            assert_int_equal(w.next, w.acknowledged);
            for (uint32_t i = 0; i < 25; i++)
                assert_int_equal(world_epoch(&w), MR_OK);
            assert_int_equal(mr_checkpoint_sync(w.checkpoint, &w.err), MR_OK); /* of nothing */
            world_close(&w);
        }
        world_fini(&w);
    }
}

/* A log that was moved away, or is below what is no folder any more, fails the commit: who looks
 * for it later would not find it. */
static void test_moved(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct world w;
        world_init(&w, "moved");
        assert_int_equal(world_open(&w), MR_OK);
        assert_int_equal(world_epoch(&w), MR_OK);
        const char *log = mr_arena_format(&w.arena, "%s/log", w.path);
        assert_int_equal(rename(log, mr_arena_format(&w.arena, "%s/away", w.path)), 0);
        if (i == 1)
            fclose(fopen(log, "wb"));
        assert_int_not_equal(world_epoch(&w), MR_OK);
        assert_non_null(strstr(w.err.message, "was moved or removed"));
        assert_int_equal(w.acknowledged, 1);
        world_close(&w);
        world_fini(&w);
    }
}

/* A snapshot begins when the log has grown by 8 MiB, however large its segments are, but not amid
 * an epoch. */
static void test_round_begins(void **state)
{
    struct world w;
    struct mr_snapshot_list list;

    (void)state;
    world_init(&w, "round-begins");
    const char *path = mr_arena_format(&w.arena, "%s/snapshot", w.path);
    w.payload = 100 * 1000;
    w.config.segment_bytes = 24 << 20;
    w.config.snapshot_bytes_per_epoch = UINT32_MAX;
    assert_int_equal(world_open(&w), MR_OK);
    for (uint32_t i = 0; i < 27; i++) /* of 300 KB each */
        assert_int_equal(world_epoch(&w), MR_OK);
    assert_int_equal(mr_snapshot_list(w.env, path, false, &w.arena, &list, &w.err), MR_OK);
    assert_int_equal(list.seen_max, 0);
    assert_int_equal(world_plan(&w), MR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(world_log(&w), MR_OK);
        assert_int_equal(world_snapshot(&w), MR_OK);
    }
    assert_int_equal(mr_snapshot_list(w.env, path, false, &w.arena, &list, &w.err), MR_OK);
    assert_int_equal(list.seen_max, 0);
    assert_int_equal(world_commit(&w), MR_OK);
    assert_int_equal(world_snapshot(&w), MR_OK);
    assert_int_equal(mr_snapshot_list(w.env, path, false, &w.arena, &list, &w.err), MR_OK);
    assert_int_not_equal(list.newest, 0);
    world_close(&w);
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(w.next, w.acknowledged);
    world_close(&w);
    world_fini(&w);
}

/* Groups and partitions much larger than a segment, and than what an epoch may write. */
static void test_large(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, "large");
    w.payload = 100 * 1000;
    for (uint32_t run = 0; run < 3; run++) {
        if (world_open(&w) != MR_OK)
            fail_msg("%s", w.err.message);
        assert_int_equal(w.next, w.acknowledged);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(world_epoch(&w), MR_OK);
        world_close(&w);
    }
    world_fini(&w);
}

/* The log does not grow without bounds: old segments go when rounds are complete. */
static void test_recycling(void **state)
{
    struct world w;
    struct mr_buffer out;

    (void)state;
    world_init(&w, "recycling");
    assert_int_equal(world_open(&w), MR_OK);
    for (uint32_t i = 0; i < 400; i++)
        assert_int_equal(world_epoch(&w), MR_OK);
    world_close(&w);
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err), MR_OK);
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_show(w.env, w.path, &out, &w.err), MR_OK);
    mr_buffer_append(&out, "", 1);
    const char *text = (const char *)out.data;
    uint32_t segments = 0;
    for (const char *at = text; (at = strstr(at, "log segment ")) != NULL; at++)
        segments++;
    assert_in_range(segments, 1, 6);
    assert_non_null(strstr(text, "committed epoch 399"));
    assert_non_null(strstr(text, "\nup to offset of source 1: "));
    assert_non_null(strstr(text, "operator stateStoreSave"));
    assert_non_null(strstr(text, "snapshot "));
    world_fini(&w);
    mr_buffer_init(&out, &w.arena);
}

/* A round ends soon although a partition an epoch would take 768: what an epoch adds grows with its
 * log. */
static void test_large_epochs(void **state)
{
    struct world w;
    struct mr_buffer out;

    (void)state;
    world_init(&w, "large-epochs");
    w.payload = 2000;
    assert_int_equal(world_open(&w), MR_OK);
    for (uint32_t i = 0; i < 60; i++) {
        assert_int_equal(world_plan(&w), MR_OK);
        for (uint32_t again = 0; again < 40; again++)
            assert_int_equal(world_log(&w), MR_OK);
        assert_int_equal(world_commit(&w), MR_OK);
        assert_int_equal(world_snapshot(&w), MR_OK);
    }
    world_close(&w);
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_show(w.env, w.path, &out, &w.err), MR_OK);
    mr_buffer_append(&out, "", 1);
    assert_non_null(strstr((const char *)out.data, "snapshot "));
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(w.next, w.acknowledged);
    world_close(&w);
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),          cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_lock),         cmocka_unit_test(test_durabilities),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_recycling),
        cmocka_unit_test(test_crashes),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_unreadable),   cmocka_unit_test(test_large_epochs),
        cmocka_unit_test(test_large_errors), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_round_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
