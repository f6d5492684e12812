/* The C API: rows in by Arrow, a query over them, rows out by Arrow. */
#include "millrace.h"

#include "core/batch/arrow.h"
#include "core/batch/builder.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static void write_job(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static enum millrace_status open_job(const char *text, struct millrace **m,
                                     struct millrace_error *e)
{
    char path[128];
    write_job("job.yaml", text);
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    return millrace_open(path, m, e);
}

static void append_rows(struct millrace *m, const char *k, int64_t v, enum millrace_status want)
{
    const struct mr_field fields[] = {{"k", &mr_type_string, true}, {"v", &mr_type_bigint, true}};
    const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
    struct mr_arena arena;
    struct mr_builder keys, values;
    struct mr_column columns[2];
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct millrace_error e;

    mr_arena_init(&arena, NULL, NULL);
    mr_builder_init(&keys, &mr_type_string, 2, &arena);
    mr_builder_init(&values, &mr_type_bigint, 2, &arena);
    for (int i = 0; i < 2; i++) {
        mr_builder_append_text(&keys, mr_text_of(k));
        mr_builder_append_i64(&values, v);
    }
    mr_builder_finish(&keys, &columns[0]);
    mr_builder_finish(&values, &columns[1]);
    struct mr_batch batch = {.columns = columns, .columns_n = 2, .rows = 2, .n = 2};
    assert_int_equal(mr_arrow_export(&batch, &type, &schema, &array, NULL), MR_OK);
    assert_int_equal(millrace_append(m, "t", &schema, &array, &e), want);
    array.release(&array);
    schema.release(&schema);
    mr_arena_fini(&arena);
}

static const char sums[] =
    "{name: sums, sources: {t: {format: memory, schema: \"k STRING, v BIGINT\"}},"
    " steps: [{as: q, sql: \"SELECT k, sum(v) AS s FROM t GROUP BY k\"}],"
    " sink: {format: memory, output_mode: complete}, trigger: {available_now: true},"
    " engine: {workers: 2, pin: false}}";

static void rows_go_in_and_come_out(void **state)
{
    struct millrace *m;
    struct millrace_error e;
    struct ArrowSchema schema;
    struct ArrowArray array;
    uint64_t epoch, rows = 0;
    int64_t sum = 0;
    int has;

    (void)state;
    assert_int_equal(open_job(sums, &m, &e), MILLRACE_OK);
    append_rows(m, "a key that does not fit into a view", 5, MILLRACE_OK);
    append_rows(m, "b", 7, MILLRACE_OK);
    append_rows(m, "b", 1, MILLRACE_OK);
    assert_int_equal(millrace_start(m, &e), MILLRACE_OK);
    assert_int_equal(millrace_wait(m, &e), MILLRACE_OK);
    for (;;) {
        assert_int_equal(millrace_next(m, "sums", &schema, &array, &epoch, &has, &e), MILLRACE_OK);
        if (!has)
            break;
        assert_int_equal(epoch, 0);
        assert_int_equal(schema.n_children, 2);
        assert_string_equal(schema.children[1]->name, "s");
        const int64_t *s = array.children[1]->buffers[1];
        for (int64_t i = 0; i < array.length; i++)
            sum += s[i];
        rows += (uint64_t)array.length;
        array.release(&array);
        schema.release(&schema);
    }
    assert_int_equal(rows, 2);
    assert_int_equal(sum, 26);
    millrace_close(m);
}

static void mistakes_are_named(void **state)
{
    struct millrace *m;
    struct millrace_error e;
    struct ArrowSchema schema;
    struct ArrowArray array;
    uint64_t epoch;
    int has;

    (void)state;
    assert_int_equal(open_job("{name: x, sourcs: {}}", &m, &e), MILLRACE_USER);
    assert_non_null(strstr(e.text, "sources"));
    assert_int_equal(e.line, 1);
    millrace_stop(m);
    assert_int_equal(millrace_start(m, &e), MILLRACE_USER);
    assert_int_equal(millrace_wait(m, &e), MILLRACE_OK);
    millrace_close(m);
    assert_int_equal(open_job(sums, &m, &e), MILLRACE_OK);
    assert_int_equal(millrace_next(m, "sum", &schema, &array, &epoch, &has, &e), MILLRACE_USER);
    assert_non_null(strstr(e.text, "did you mean \"sums\"?"));
    assert_int_equal(millrace_start(m, &e), MILLRACE_OK);
    assert_int_equal(millrace_start(m, &e), MILLRACE_USER);
    assert_non_null(strstr(e.text, "started before"));
    millrace_close(m);
}

/* The rows that the sink has given out. */
static void rows_out(char *text, size_t room)
{
    char command[160];

    snprintf(command, sizeof command, "cat %s/out/*.json 2>/dev/null | sort", folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, room - 1, f);
    text[n] = '\0';
    pclose(f);
}

/* What was committed is there once, whatever comes after; what did not run is not. */
static void a_checkpoint_keeps_what_was_committed(void **state)
{
    static const char job[] =
        "{name: kept, sources: {t: {format: memory, schema: \"k STRING, v BIGINT\"}},"
        " sink: {format: json, path: %s/out}, checkpoint: %s/chk, trigger: {available_now: true},"
        " engine: {workers: 1, pin: false}}";
    struct millrace *m;
    struct millrace_error e;
    char text[512], seen[512];

    (void)state;
    snprintf(text, sizeof text, job, folder, folder);
    assert_int_equal(open_job(text, &m, &e), MILLRACE_OK);
    append_rows(m, "a", 1, MILLRACE_OK);
    assert_int_equal(millrace_start(m, &e), MILLRACE_OK);
    assert_int_equal(millrace_wait(m, &e), MILLRACE_OK);
    millrace_close(m);
    rows_out(seen, sizeof seen);
    assert_string_equal(seen, "{\"k\":\"a\",\"v\":1}\n{\"k\":\"a\",\"v\":1}\n");
    assert_int_equal(open_job(text, &m, &e), MILLRACE_OK);
    append_rows(m, "lost", 2, MILLRACE_OK);
    millrace_close(m);
    assert_int_equal(open_job(text, &m, &e), MILLRACE_OK);
    append_rows(m, "b", 3, MILLRACE_OK);
    assert_int_equal(millrace_start(m, &e), MILLRACE_OK);
    assert_int_equal(millrace_wait(m, &e), MILLRACE_OK);
    millrace_close(m);
    rows_out(seen, sizeof seen);
    assert_string_equal(seen, "{\"k\":\"a\",\"v\":1}\n{\"k\":\"a\",\"v\":1}\n"
                              "{\"k\":\"b\",\"v\":3}\n{\"k\":\"b\",\"v\":3}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_in_and_come_out),
        cmocka_unit_test(a_checkpoint_keeps_what_was_committed),
        cmocka_unit_test(mistakes_are_named),
    };
    snprintf(folder, sizeof folder, "/tmp/mr-library-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed || system(command);
}
