/* The k-th allocation, or charge of a budget, fails, for every k of the life of a checkpoint: a
 * clear error, nothing that was committed is lost, nothing stays charged. The linker puts these
 * functions in the places of the real ones (--wrap). */
#include "tests/core/checkpoint/world.h"

void *__real_mr_mem_alloc(size_t bytes);
void *__wrap_mr_mem_alloc(size_t bytes);
bool __real_mr_budget_take(struct mr_budget *b, uint64_t bytes);
bool __wrap_mr_budget_take(struct mr_budget *b, uint64_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);

static uint64_t counted, fails_at; /* 0: none */
static bool is_counting;

static bool is_denied(void)
{
    return is_counting && ++counted == fails_at;
}

void *__wrap_mr_mem_alloc(size_t bytes)
{
    return is_denied() ? NULL : __real_mr_mem_alloc(bytes);
}

bool __wrap_mr_budget_take(struct mr_budget *b, uint64_t bytes)
{
    return !is_denied() && __real_mr_budget_take(b, bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return is_denied() ? NULL : __real_calloc(n, bytes);
}

static jmp_buf escape;

/* Epochs until the failure; what it ended with, MR_MEMORY also when it escaped. */
static enum mr_status run(struct world *w, uint64_t epochs)
{
    volatile enum mr_status status = MR_OK;

    if (setjmp(escape) == 0) {
        status = world_open(w);
        for (uint64_t i = 0; i < epochs && status == MR_OK; i++)
            status = world_epoch(w);
    } else {
        status = MR_MEMORY;
    }
    is_counting = false;
    if (w->checkpoint)
        world_close(w);
    return status;
}

static void check_each(uint64_t begin_with, uint64_t epochs, uint32_t payload)
{
    struct mr_budget budget;
    uint64_t failed = 0;

    for (uint64_t k = 1, is_reached = 1; is_reached; k++) {
        struct world w;
        world_init(&w, "no-memory");
        w.payload = payload;
        mr_budget_init(&budget, "test", NULL, 0);
        w.config.budget = &budget;
        w.config.escape = &escape;
        if (begin_with)
            assert_int_equal(run(&w, begin_with), MR_OK);
        counted = 0;
        fails_at = k;
        is_counting = true;
        enum mr_status status = run(&w, epochs);
        is_reached = counted >= k;
        failed += is_reached;
        assert_int_equal(status != MR_OK, is_reached);
        if (is_reached && status != MR_MEMORY)
            assert_int_equal(w.err.os_error, ENOMEM);
        assert_int_equal(budget.used_bytes, 0);
        assert_int_equal(world_open(&w), MR_OK);
        assert_true(w.next >= w.acknowledged);
        assert_int_equal(world_epoch(&w), MR_OK);
        world_close(&w);
        assert_int_equal(budget.used_bytes, 0);
        world_fini(&w);
    }
    print_message("%llu allocations and charges failed\n", (unsigned long long)failed);
    assert_true(failed > 20);
}

static void test_new(void **state)
{
    (void)state;
    check_each(0, 30, 300);
}

static void test_large_records(void **state)
{
    (void)state;
    check_each(9, 4, 100 * 1000);
}

static void test_looked_at(void **state)
{
    (void)state;
    for (uint64_t k = 1, is_reached = 1; is_reached; k++) {
        struct world w;
        struct mr_buffer out;
        enum mr_status status;
        world_init(&w, "looked-at");
        w.config.escape = &escape;
        assert_int_equal(run(&w, 20), MR_OK);
        mr_arena_alloc(&w.arena, 1 << 20); /* kept: it is not the arena that lacks memory */
        mr_arena_reset(&w.arena);
        mr_buffer_init(&out, &w.arena);
        counted = 0;
        fails_at = k;
        is_counting = true;
        status = k % 2 ? mr_checkpoint_show(w.env, w.path, &out, &w.err)
                       : mr_checkpoint_verify(w.env, w.path, &out, &w.err);
        is_counting = false;
        is_reached = counted >= k;
        assert_int_equal(status != MR_OK, is_reached);
        world_fini(&w);
    }
}

static void test_env(void **state)
{
    const char *const names[] = {"syscalls", "io_uring", NULL};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct mr_env *env;
        struct mr_error err;
        counted = 0;
        fails_at = 1;
        is_counting = true;
        enum mr_status status = mr_env_open(names[i], &env, &err);
        is_counting = false;
        if (names[i]) /* else it does without a ring */
            assert_int_equal(status, i == 0 ? MR_MEMORY : MR_IO);
        else
            assert_string_equal(env->ops->name, "syscalls");
        if (status == MR_OK)
            env->ops->fini(env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_large_records),
        cmocka_unit_test(test_looked_at),
        cmocka_unit_test(test_env),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
