/* Rows kept for a program: the memory sink's epochs, the handle, and memory that is not there. */
#include "io/memory/memory.h"

#include "core/mem/mem.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { ROWS = 3 };

static const struct mr_field fields[] = {{"a", &mr_type_bigint, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 1, .fields = fields};

static jmp_buf escape;
static struct mr_arena arena;
static struct mr_error err;
static struct mr_memory *memory;

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    err = (struct mr_error){0};
    return mr_memory_open(NULL, &memory, &err) != MR_OK;
}

static int tear_down(void **state)
{
    (void)state;
    mr_memory_close(memory);
    mr_arena_fini(&arena);
    return 0;
}

/* Rows from .. from + 2. */
static struct mr_batch rows_from(int64_t from)
{
    struct mr_column *column = MR_NEW(&arena, struct mr_column);

    mr_column_alloc(column, &mr_type_bigint, ROWS, false, &arena);
    for (int i = 0; i < ROWS; i++)
        column->i64[i] = from + i;
    return (struct mr_batch){.columns = column, .columns_n = 1, .rows = ROWS, .n = ROWS};
}

/* The first row of each batch that waits, with its epoch; all are taken. */
static const char *taken(void)
{
    struct mr_buffer b;
    struct mr_memory_batch *one;

    mr_buffer_init(&b, &arena);
    while ((one = mr_memory_take(memory)) != NULL) {
        assert_int_equal(one->batch.n, ROWS);
        assert_null(one->next);
        mr_buffer_append_format(&b, "%d@%d ", (int)one->batch.columns[0].i64[0], (int)one->epoch);
        mr_memory_free(one);
    }
    mr_buffer_append(&b, "", 1);
    return (const char *)b.data;
}

struct sink {
    struct mr_option option;
    struct mr_sink_config config;
    void *committer, *writers[2];
};

static void open_sink(struct sink *s, struct mr_memory *m, enum mr_output_mode mode)
{
    *s = (struct sink){.option = {"memory", mr_memory_option(m)}};
    s->config = (struct mr_sink_config){.format = "memory",
                                        .options = &s->option,
                                        .options_n = 1,
                                        .schema = &schema,
                                        .mode = mode,
                                        .arena = &arena,
                                        .workers = 2};
    assert_int_equal(mr_sink_memory.check(&s->config, &err), MR_OK);
    s->committer = mr_arena_zero(&arena, mr_sink_memory.committer_size);
    assert_int_equal(mr_sink_memory.committer_open(s->committer, &s->config, &err), MR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        s->writers[i] = mr_arena_zero(&arena, mr_sink_memory.writer_size);
        assert_int_equal(
            mr_sink_memory.writer_open(s->writers[i], &s->config, s->committer, i, &err), MR_OK);
    }
}

static void close_sink(struct sink *s)
{
    for (int i = 0; i < 2; i++)
        mr_sink_memory.writer_close(s->writers[i]);
    mr_sink_memory.committer_close(s->committer);
}

static void write_rows(struct sink *s, uint32_t writer, uint64_t epoch, int64_t from)
{
    const struct mr_batch batch = rows_from(from);

    assert_int_equal(mr_sink_memory.write(s->writers[writer], epoch, &batch, &err), MR_NEED_INPUT);
}

static void publish(struct sink *s, uint64_t epoch)
{
    struct mr_text prepared[2];
    struct mr_buffer out;

    mr_buffer_init(&out, &arena);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mr_sink_memory.prepare(s->writers[i], epoch, &out, &err), MR_NEED_INPUT);
        prepared[i] = mr_buffer_text(&out);
    }
    assert_int_equal(mr_sink_memory.publish(s->committer, epoch, prepared, 2, &err), MR_OK);
}

/* Nothing is there before its epoch is published; then in the order of the writers. */
static void append_adds_epochs(void **state)
{
    struct sink s;

    (void)state;
    open_sink(&s, memory, MR_APPEND);
    write_rows(&s, 1, 0, 30);
    write_rows(&s, 0, 0, 10);
    write_rows(&s, 0, 0, 20);
    assert_string_equal(taken(), "");
    publish(&s, 0);
    publish(&s, 1);
    write_rows(&s, 0, 2, 40);
    publish(&s, 2);
    assert_string_equal(taken(), "10@0 20@0 30@0 40@2 ");
    write_rows(&s, 1, 3, 50); /* of an epoch that never is */
    write_rows(&s, 1, 3, 60);
    close_sink(&s);
    assert_string_equal(taken(), "");
}

/* What nobody took goes when the next result comes, be it empty. */
static void complete_replaces(void **state)
{
    struct sink s;

    (void)state;
    open_sink(&s, memory, MR_COMPLETE);
    write_rows(&s, 0, 0, 10);
    write_rows(&s, 1, 0, 20);
    publish(&s, 0);
    write_rows(&s, 1, 1, 30);
    write_rows(&s, 0, 1, 40);
    publish(&s, 1);
    assert_string_equal(taken(), "40@1 30@1 ");
    write_rows(&s, 1, 2, 50);
    publish(&s, 2);
    publish(&s, 3);
    assert_string_equal(taken(), "");
    close_sink(&s);
}

static void only_the_handle_is_the_object(void **state)
{
    struct mr_option options[] = {{"memory", NULL}, {"memorys", "x"}};
    struct mr_sink_config config = {.format = "memory", .options = options, .options_n = 1};
    const char *const others[] = {"in this process", "in that process", ""};

    (void)state;
    for (int i = 0; i < 3; i++) {
        options[0].value = mr_arena_copy(&arena, others[i], strlen(others[i]));
        assert_null(mr_memory_of(options, 1));
        assert_int_equal(mr_sink_memory.check(&config, &err), MR_USER);
        assert_string_equal(err.message, "sink memory is for programs that embed millrace");
    }
    options[0].value = mr_memory_option(memory);
    assert_ptr_equal(mr_memory_of(options, 1), memory);
    assert_null(mr_memory_of(options + 1, 1));
    config.options_n = 2;
    assert_int_equal(mr_sink_memory.check(&config, &err), MR_USER);
    assert_non_null(strstr(err.message, "did you mean \"memory\"?"));
    const struct mr_table t = {.name = "t", .options = options, .options_n = 2};
    assert_int_equal(mr_source_memory.check(&t, &err), MR_USER);
    assert_non_null(strstr(err.message, "did you mean \"memory\"?"));
}

/* However often something was appended that nobody looked at. */
static void who_waits_is_woken(void **state)
{
    const struct mr_batch batch = rows_from(1);
    const uint64_t most = UINT64_MAX - 1;
    struct pollfd woken = {.fd = mr_memory_fd(memory), .events = POLLIN};

    (void)state;
    assert_int_equal(poll(&woken, 1, 0), 0);
    mr_memory_quiet(memory);
    assert_int_equal(mr_memory_append(memory, 5, &batch, &err), MR_OK);
    assert_int_equal(poll(&woken, 1, 0), 1);
    mr_memory_quiet(memory);
    assert_int_equal(poll(&woken, 1, 0), 0);
    assert_int_equal(write(mr_memory_fd(memory), &most, sizeof most), sizeof most);
    assert_int_equal(mr_memory_append(memory, 6, &batch, &err), MR_OK);
    assert_int_equal(poll(&woken, 1, 0), 1);
    assert_string_equal(taken(), "1@5 1@6 ");
    assert_int_equal(mr_memory_append(memory, 7, &batch, &err), MR_OK); /* closed with it */
}

static void a_limit_is_an_error(void **state)
{
    const struct mr_batch batch = rows_from(1);
    struct mr_budget budget;
    struct mr_memory *small;
    struct sink s;

    (void)state;
    mr_budget_init(&budget, "small", NULL, 64);
    assert_int_equal(mr_memory_open(&budget, &small, &err), MR_OK);
    assert_int_equal(mr_memory_append(small, 0, &batch, &err), MR_MEMORY);
    assert_string_equal(err.message, "memory: no memory for 3 rows");
    open_sink(&s, small, MR_APPEND);
    assert_int_equal(mr_sink_memory.write(s.writers[0], 0, &batch, &err), MR_FAILED);
    assert_int_equal(err.status, MR_MEMORY);
    assert_string_equal(err.message, "sink memory: no memory for 3 rows");
    assert_null(mr_memory_take(small));
    close_sink(&s);
    mr_memory_close(small);
    assert_int_equal(budget.used_bytes, 0);
}

static void no_more_descriptors_is_an_error(void **state)
{
    struct rlimit limit, none;
    struct mr_memory *other;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum mr_status status = mr_memory_open(NULL, &other, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(status, MR_IO);
    assert_int_equal(err.os_error, EMFILE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(append_adds_epochs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(complete_replaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_handle_is_the_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_waits_is_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_more_descriptors_is_an_error, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
