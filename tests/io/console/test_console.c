/* The console sink: its options, cells of every type as Dataset.show has them, one table of what
 * several writers kept, and what is no table of this sink. */
#include "core/batch/builder.h"
#include "io/console/console.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { WRITERS = 2 };

static jmp_buf escape;
static struct mr_arena arena;
static struct mr_error err;

static int set_up(void **state)
{
    (void)state;
    mr_arena_init(&arena, NULL, &escape);
    err = (struct mr_error){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mr_arena_fini(&arena);
    return 0;
}

static const struct mr_field two_fields[] = {{"k", &mr_type_string, true},
                                             {"n", &mr_type_bigint, true}};
static const struct mr_type two = {.kind = MR_STRUCT, .fields_n = 2, .fields = two_fields};

struct sink {
    struct mr_sink_config config;
    void *committer, *writers[WRITERS];
};

static void open_sink(struct sink *s, const struct mr_option *options, uint32_t n)
{
    const struct mr_sink_ops *ops = &mr_sink_console;

    *s = (struct sink){.config = {.format = "console",
                                  .options = options,
                                  .options_n = n,
                                  .schema = &two,
                                  .arena = &arena,
                                  .zone = mr_zone_utc(),
                                  .workers = WRITERS}};
    s->committer = mr_arena_zero(&arena, ops->committer_size);
    assert_int_equal(ops->committer_open(s->committer, &s->config, &err), MR_OK);
    for (uint32_t i = 0; i < WRITERS; i++) {
        s->writers[i] = mr_arena_zero(&arena, ops->writer_size);
        assert_int_equal(ops->writer_open(s->writers[i], &s->config, s->committer, i, &err), MR_OK);
    }
}

static void close_sink(struct sink *s)
{
    for (uint32_t i = 0; i < WRITERS; i++)
        mr_sink_console.writer_close(s->writers[i]);
    mr_sink_console.committer_close(s->committer);
}

/* Rows from .. from + n - 1: k is "k<i>", n is i. */
static void write_rows(struct sink *s, uint32_t writer, int64_t from, uint32_t n)
{
    struct mr_column columns[2];
    struct mr_batch batch = {.columns = columns, .columns_n = 2, .rows = n, .n = n};
    struct mr_builder names, numbers;

    mr_builder_init(&names, &mr_type_string, n, &arena);
    mr_builder_init(&numbers, &mr_type_bigint, n, &arena);
    for (uint32_t i = 0; i < n; i++) {
        mr_builder_append_text(&names,
                               mr_text_of(mr_arena_format(&arena, "k%d", (int)from + (int)i)));
        mr_builder_append_i64(&numbers, from + i);
    }
    mr_builder_finish(&names, &columns[0]);
    mr_builder_finish(&numbers, &columns[1]);
    assert_int_equal(mr_sink_console.write(s->writers[writer], 0, &batch, &err), MR_NEED_INPUT);
}

static struct mr_text prepare(struct sink *s, uint32_t writer)
{
    struct mr_buffer out;

    mr_buffer_init(&out, &arena);
    assert_int_equal(mr_sink_console.prepare(s->writers[writer], 0, &out, &err), MR_NEED_INPUT);
    return mr_buffer_text(&out);
}

/* What publish writes to standard output while that, and standard error too when wanted, is out. */
static enum mr_status publish_to(struct sink *s, int out, int error_out, uint64_t epoch,
                                 const struct mr_text *prepared, uint32_t n)
{
    fflush(stdout);
    int saved = dup(STDOUT_FILENO), saved_error = dup(STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
    if (error_out >= 0)
        dup2(error_out, STDERR_FILENO);
    enum mr_status status = mr_sink_console.publish(s->committer, epoch, prepared, n, &err);
    dup2(saved, STDOUT_FILENO);
    dup2(saved_error, STDERR_FILENO);
    close(saved);
    close(saved_error);
    return status;
}

static const char *published(struct sink *s, uint64_t epoch, const struct mr_text *prepared,
                             uint32_t n)
{
    FILE *file = tmpfile();
    char *text = mr_arena_zero(&arena, 8192);

    assert_non_null(file);
    assert_int_equal(publish_to(s, fileno(file), -1, epoch, prepared, n), MR_OK);
    assert_true(pread(fileno(file), text, 8191, 0) >= 0);
    fclose(file);
    return text;
}

#define RULE "-------------------------------------------\n"

static void several_writers_make_one_table(void **state)
{
    const struct mr_option options[] = {{"numRows", "3"}, {"truncate", "false"}};
    struct sink s;

    (void)state;
    open_sink(&s, options, 2);
    write_rows(&s, 0, 1, 2);
    write_rows(&s, 1, 10, 5); /* three are kept, and one of them finds room */
    struct mr_text prepared[] = {prepare(&s, 0), prepare(&s, 1)};
    assert_string_equal(published(&s, 7, prepared, 2), RULE "Batch: 7\n" RULE "+---+---+\n"
                                                            "|k  |n  |\n"
                                                            "+---+---+\n"
                                                            "|k1 |1  |\n"
                                                            "|k2 |2  |\n"
                                                            "|k10|10 |\n"
                                                            "+---+---+\n"
                                                            "only showing top 3 rows\n\n");
    /* The next epoch begins with nothing; a writer without rows, and one that never wrote. */
    write_rows(&s, 0, 5, 1);
    struct mr_text next[] = {prepare(&s, 0), prepare(&s, 1), {NULL, 0}};
    assert_string_equal(published(&s, 8, next, 3), RULE "Batch: 8\n" RULE "+---+---+\n"
                                                        "|k  |n  |\n"
                                                        "+---+---+\n"
                                                        "|k5 |5  |\n"
                                                        "+---+---+\n\n");
    /* A batch query has no number. */
    s.config.batch = true;
    assert_string_equal(published(&s, 0, NULL, 0), "+---+---+\n"
                                                   "|k  |n  |\n"
                                                   "+---+---+\n"
                                                   "+---+---+\n\n");
    close_sink(&s);
}

static void options_set_rows_and_width(void **state)
{
    static const struct {
        struct mr_option options[2];
        const char *table;
    } cases[] = {
        {{{"numRows", "1"}, {"truncate", "true"}},
         "+----+---+\n|   k|  n|\n+----+---+\n|k998|998|\n+----+---+\nonly showing top 1 row\n\n"},
        {{{"numRows", "20"}, {"truncate", "4"}},
         "+----+----+\n|   k|   n|\n+----+----+\n|k998| 998|\n|k999| "
         "999|\n|k...|1000|\n+----+----+\n\n"},
        {{{"numRows", "20"}, {"truncate", "2"}},
         "+---+---+\n|  k|  n|\n+---+---+\n| k9| 99|\n| k9| 99|\n| k1| 10|\n+---+---+\n\n"},
        {{{"numRows", "20"}, {"truncate", "0"}},
         "+-----+----+\n|k    |n   |\n+-----+----+\n|k998 |998 |\n|k999 |999 |\n|k1000|1000|\n"
         "+-----+----+\n\n"},
        {{{"numRows", "0"}, {"truncate", "FALSE"}},
         "+---+---+\n|k  |n  |\n+---+---+\n+---+---+\nonly showing top 0 rows\n\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sink s;
        open_sink(&s, cases[i].options, 2);
        assert_int_equal(mr_sink_console.check(&s.config, &err), MR_OK);
        s.config.batch = true;
        write_rows(&s, 1, 998, 3);
        struct mr_text prepared[] = {prepare(&s, 0), prepare(&s, 1)};
        assert_string_equal(published(&s, 0, prepared, 2), cases[i].table);
        close_sink(&s);
    }
}

static void wrong_options_are_named(void **state)
{
    static const struct {
        struct mr_option option;
        const char *says;
    } cases[] = {
        {{"numRow", "1"}, "did you mean \"numRows\"?"},
        {{"numRows", "-1"}, "numRows"},
        {{"numRows", "100001"}, "numRows"},
        {{"numRows", "few"}, "numRows"},
        {{"truncate", "maybe"}, "option truncate: \"maybe\" is none of true, false"},
        {{"truncate", "2x"}, "truncate"},
        {{"truncate", "99999999999"}, "truncate"},
        {{"truncate", "-1"}, "truncate"},
        {{"truncate", ""}, "truncate"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mr_sink_config config = {
            .options = &cases[i].option, .options_n = 1, .schema = &two, .arena = &arena};
        assert_int_equal(mr_sink_console.check(&config, &err), MR_USER);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("%zu: %s", i, err.message);
    }
}

/* A checkpoint whose query had another sink, or other columns. */
static void what_is_no_table_is_refused(void **state)
{
    struct sink s;

    (void)state;
    open_sink(&s, NULL, 0);
    write_rows(&s, 0, 1, 2);
    struct mr_text whole = prepare(&s, 0);
    for (uint64_t n = 1; n < whole.n; n++) {
        struct mr_text cut = {whole.data, n};
        err = (struct mr_error){0};
        assert_int_equal(mr_sink_console.publish(s.committer, 4, &cut, 1, &err), MR_CORRUPT);
        assert_non_null(strstr(err.message, "epoch 4 is of another sink or has other columns"));
    }
    assert_string_not_equal(published(&s, 4, &whole, 1), "");
    close_sink(&s);
}

/* Standard output that takes nothing ends the query: rows would be lost silently. */
static void a_full_output_is_an_error(void **state)
{
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    struct sink s;

    (void)state;
    if (full < 0)
        skip();
    open_sink(&s, NULL, 0);
    assert_int_equal(publish_to(&s, full, -1, 0, NULL, 0), MR_IO);
    assert_int_equal(err.os_error, ENOSPC);
    assert_non_null(strstr(err.message, "standard output"));
    __fpurge(stdout);
    clearerr(stdout);
    close(full);
    close_sink(&s);
}

/* On a terminal a line of progress may stand there: the table begins by clearing it. */
static void a_terminal_is_cleared(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
    struct sink s;

    (void)state;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 ||
        (slave = open(ptsname(master), O_RDWR | O_NOCTTY)) < 0)
        skip();
    open_sink(&s, NULL, 0);
    for (int both = 0; both < 2; both++) {
        char text[512] = "";
        assert_int_equal(publish_to(&s, slave, both ? slave : -1, 0, NULL, 0), MR_OK);
        assert_true(read(master, text, sizeof text - 1) > 0);
        if (both || !isatty(STDERR_FILENO))
            assert_int_equal(strncmp(text, "\r\033[K", 4) == 0, both);
    }
    close(slave);
    close(master);
    close_sink(&s);
}

static const char *cell(const struct mr_column *c, uint32_t row)
{
    struct mr_buffer out;

    mr_buffer_init(&out, &arena);
    mr_console_cell(c, row, mr_zone_utc(), &out);
    mr_buffer_append(&out, "", 1);
    return (const char *)out.data;
}

static void simple_cells(void **state)
{
    uint64_t bits = 2;
    int32_t days[72] = {20000};
    const struct mr_column flags = {.type = &mr_type_boolean, .bits = &bits};
    const struct mr_column dates = {.type = &mr_type_date, .i32 = days};
    const struct mr_column nothing = {.type = &mr_type_void};
    struct mr_column bytes, texts, variants;

    (void)state;
    assert_string_equal(cell(&flags, 0), "false");
    assert_string_equal(cell(&flags, 1), "true");
    assert_string_equal(cell(&dates, 0), "2024-10-04");
    assert_string_equal(cell(&nothing, 0), "NULL");
    mr_column_alloc(&bytes, &mr_type_binary, 2, false, &arena);
    mr_column_set_text(&bytes, 0, MR_TEXT("\0k\xff"), &arena);
    mr_column_set_text(&bytes, 1, MR_TEXT(""), &arena);
    assert_string_equal(cell(&bytes, 0), "[00 6B FF]");
    assert_string_equal(cell(&bytes, 1), "[]");
    mr_column_alloc(&texts, &mr_type_string, 2, true, &arena);
    mr_column_set_text(&texts, 0, MR_TEXT("a \"b\""), &arena);
    mr_bit_clear(texts.valid, 1);
    assert_string_equal(cell(&texts, 0), "a \"b\"");
    assert_string_equal(cell(&texts, 1), "NULL");
    /* No names, then the integer 5 of one byte. */
    mr_column_alloc(&variants, &mr_type_variant, 1, false, &arena);
    mr_column_set_text(&variants, 0, MR_TEXT("\x01\x00\x00\x0c\x05"), &arena);
    assert_string_equal(cell(&variants, 0), "5");
}

static void nested_cells(void **state)
{
    const struct mr_type *list = mr_type_array(&arena, &mr_type_int, true);
    const struct mr_type *map = mr_type_map(&arena, &mr_type_string, list, true);
    const struct mr_field fields[] = {{"a", &mr_type_int, true}, {"m", map, true}};
    const struct mr_type *type = mr_type_struct(&arena, fields, 2);
    struct mr_builder b;
    struct mr_column c;

    (void)state;
    mr_builder_init(&b, type, 2, &arena);
    struct mr_builder *a = &b.children[0], *m = &b.children[1];
    struct mr_builder *keys = &m->children[0], *lists = &m->children[1];
    mr_builder_append_i64(a, 1);
    mr_builder_append_text(keys, MR_TEXT("x"));
    mr_builder_append_i64(&lists->children[0], 2);
    mr_builder_append_null(&lists->children[0]);
    mr_builder_close_row(lists);
    mr_builder_append_text(keys, MR_TEXT("y"));
    mr_builder_append_null(lists);
    mr_builder_append_text(keys, MR_TEXT("z"));
    mr_builder_close_row(lists);
    mr_builder_close_row(m);
    mr_builder_close_row(&b);
    mr_builder_append_null(a);
    mr_builder_close_row(m);
    mr_builder_close_row(&b);
    mr_builder_finish(&b, &c);
    assert_string_equal(cell(&c, 0), "{1, {x -> [2, NULL], y -> NULL, z -> []}}");
    assert_string_equal(cell(&c, 1), "{NULL, {}}");
}

/* Wide characters of East Asia take two places, and what would break a line is written out. */
static void texts_keep_their_columns(void **state)
{
    static const struct mr_field field[] = {{"v", &mr_type_string, true}};
    static const struct mr_type one = {.kind = MR_STRUCT, .fields_n = 1, .fields = field};
    const struct mr_text cells[] = {
        MR_TEXT("\xe1\x84\x80" /* Hangul Jamo */ "\xea\xb0\x80" /* Hangul */),
        MR_TEXT("\xef\xa4\x80" /* CJK compatibility */ "\xef\xbc\xa1" /* full width A */),
        MR_TEXT("\xe2\x82\xac" /* euro: narrow */ "\xee\x80\x80" /* private: narrow */),
        MR_TEXT("\xef\xbf\xbd" /* narrow */ "\xed\x9f\xbf" /* narrow */ "\xe4" /* cut */),
        MR_TEXT("\xf0\x9f\x98\x80.\t\r\f\b\v\a"),
        MR_TEXT("\0nul"),
    };
    const struct mr_console_table t = {.schema = &one, .cells = cells, .rows_n = 6};
    struct mr_buffer out;

    (void)state;
    mr_buffer_init(&out, &arena);
    mr_console_print(&t, &arena, &out);
    const char want[] = "+--------------+\n"
                        "|v             |\n"
                        "+--------------+\n"
                        "|\xe1\x84\x80\xea\xb0\x80          |\n"
                        "|\xef\xa4\x80\xef\xbc\xa1          |\n"
                        "|\xe2\x82\xac\xee\x80\x80            |\n"
                        "|\xef\xbf\xbd\xed\x9f\xbf\xe4           |\n"
                        "|\xf0\x9f\x98\x80.\\t\\r\\f\\b\\v\\a|\n"
                        "|\0nul          |\n"
                        "+--------------+\n";
    assert_int_equal(out.n, sizeof want - 1);
    assert_memory_equal(out.data, want, out.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(several_writers_make_one_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_set_rows_and_width, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_options_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_table_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_output_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_terminal_is_cleared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simple_cells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_cells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_keep_their_columns, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
