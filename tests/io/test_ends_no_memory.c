/* Sources and sinks when memory is out: a clear error, and nothing is left behind. The linker puts
 * these functions in the places of the real ones (--wrap). */
#include "io/fault/fault.h"
#include "io/file/file_sink.h"
#include "io/file/file_stream.h"
#include "io/memory/memory.h"

#include "core/mem/mem.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

void *__real_mr_mem_alloc(size_t bytes);
void *__wrap_mr_mem_alloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

static uint64_t fails_at; /* the so many-th from now on; 0: none */

static bool is_denied(void)
{
    return fails_at > 0 && --fails_at == 0;
}

void *__wrap_mr_mem_alloc(size_t bytes)
{
    return is_denied() ? NULL : __real_mr_mem_alloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return is_denied() ? NULL : __real_calloc(n, bytes);
}

char *__wrap_strdup(const char *text)
{
    return is_denied() ? NULL : __real_strdup(text);
}

static const struct mr_field fields[] = {{"a", &mr_type_string, true},
                                         {"b", &mr_type_string, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
static struct mr_error err;

static void test_checks(void **state)
{
    const struct mr_option path = {"path", "out"};
    const struct mr_option options[] = {{"kafka.bootstrap.servers", "localhost:1"},
                                        {"assign", "{\"t\":[0]}"}};
    const struct mr_sink_config sink = {
        .format = "csv", .options = &path, .options_n = 1, .schema = &schema};
    const struct mr_table table = {.name = "t", .options = options, .options_n = 2};

    (void)state;
    fails_at = 1;
    assert_int_equal(mr_sink_find("csv")->check(&sink, &err), MR_MEMORY);
    assert_string_equal(err.message, "file sink: no memory");
    assert_int_equal(mr_sink_find("csv")->check(&sink, &err), MR_OK);
    if (mr_source_find("kafka") == NULL)
        skip();
    fails_at = 1;
    assert_int_equal(mr_source_find("kafka")->check(&table, &err), MR_MEMORY);
    assert_string_equal(err.message, "source kafka: no memory for its options");
    assert_int_equal(mr_source_find("kafka")->check(&table, &err), MR_OK);
}

static void test_memory(void **state)
{
    struct mr_column columns[2] = {{.type = &mr_type_void}, {.type = &mr_type_void}};
    const struct mr_batch batch = {.columns = columns, .columns_n = 2, .rows = 1, .n = 1};
    struct mr_memory *m;

    (void)state;
    fails_at = 1;
    assert_int_equal(mr_memory_open(NULL, &m, &err), MR_MEMORY);
    assert_int_equal(mr_memory_open(NULL, &m, &err), MR_OK);
    for (uint64_t k = 1; k <= 2; k++) { /* the batch, what it holds */
        fails_at = k;
        assert_int_equal(mr_memory_append(m, 0, &batch, &err), MR_MEMORY);
        assert_string_equal(err.message, "memory: no memory for 1 rows");
    }
    assert_null(mr_memory_take(m));
    assert_int_equal(mr_memory_append(m, 0, &batch, &err), MR_OK);
    mr_memory_close(m);
}

static void test_inflater(void **state)
{
    char path[] = "/tmp/mr-no-memory-XXXXXX";
    int fd = mkstemp(path);
    const struct mr_file_split split = {.path = path, .codec = MR_FILE_GZIP, .end = UINT64_MAX};
    struct mr_file_stream s;
    struct mr_env *env;
    jmp_buf escape;
    bool gone;

    (void)state;
    assert_true(fd >= 0 && close(fd) == 0);
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    mr_file_stream_init(&s, env, NULL, &escape);
    assert_int_equal(mr_file_stream_open(&s, &split, &gone, &err), MR_OK); /* its buffers stay */
    fails_at = 2; /* the file's is the first */
    assert_int_equal(mr_file_stream_open(&s, &split, &gone, &err), MR_OK);
    assert_int_equal(fails_at, 0);
    assert_int_equal(mr_file_stream_fill(&s, &err), MR_MEMORY);
    assert_non_null(strstr(err.message, "no memory to decompress it"));
    mr_file_stream_fini(&s);
    env->ops->fini(env);
    unlink(path);
}

static void test_faults(void **state)
{
    struct mr_env *inner, *env = NULL;
    struct mr_file *f;

    (void)state;
    assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
    for (uint64_t k = 1; k <= 2; k++) { /* the schedule, the env */
        fails_at = k;
        assert_null(mr_fault_open(inner, ""));
    }
    env = mr_fault_open(inner, "");
    assert_non_null(env);
    for (uint64_t k = 1; k <= 3; k++) { /* the file, its name, the inner file */
        fails_at = k;
        assert_int_equal(env->ops->open(env, "/dev/null", MR_OPEN_READ, &f), -ENOMEM);
    }
    assert_int_equal(env->ops->open(env, "/dev/null", MR_OPEN_READ, &f), 0);
    env->ops->close(f);
    env->ops->fini(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_inflater),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
