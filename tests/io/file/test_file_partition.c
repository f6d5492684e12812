/* Columns in folder names: which folders name them, their values and types, and the whole source.
 * The types are those that Spark 4.2 finds for the same folders. */
#include "io/console/console.h"
#include "io/file/file_partition.h"
#include "io/file/file_source.h"
#include "io/file/file_uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
/* cmocka needs those above */
#include <cmocka.h>

#define LONG_NAME                                                                                  \
    "a_name_of_so_many_letters_that_three_of_them_are_more_than_the_message_has_room_for_them_all"

static const struct mr_field declared[] = {{"k", &mr_type_bigint, true},
                                           {"id", &mr_type_bigint, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = declared};
static const struct mr_type only_id = {.kind = MR_STRUCT, .fields_n = 1, .fields = declared + 1};

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    char path[64];
    struct mr_option options[3];
    struct mr_table table;
    struct mr_conf conf;
};

static void set_up(struct world *w, const struct mr_type *type)
{
    *w = (struct world){.conf = {.zone = mr_zone_utc(), .infer_partition_types = true}};
    mr_arena_init(&w->arena, NULL, &w->escape);
    snprintf(w->path, sizeof w->path, "/dev/shm/mr-file-partition-XXXXXX");
    assert_non_null(mkdtemp(w->path));
    w->options[0] = (struct mr_option){"path", w->path};
    w->table = (struct mr_table){
        .name = "t", .format = "json", .schema = type, .options = w->options, .options_n = 1};
}

static void tear_down(struct world *w)
{
    char command[128];

    mr_arena_fini(&w->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", w->path);
    assert_int_equal(system(command), 0);
}

static void put(const struct world *w, const char *folder, const char *rows)
{
    char path[512];
    size_t n = strlen(w->path) + 1;

    snprintf(path, sizeof path, "%s/%s/part.json", w->path, folder);
    for (char *slash; (slash = strchr(path + n, '/')) != NULL; n = (size_t)(slash + 1 - path)) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(rows, f);
    fclose(f);
}

static void folders_next_to_each_other_name_columns(void **state)
{
    static const struct {
        const char *path, *base, *columns;
    } cases[] = {
        {"in/k=1/a.json", "in", "k=1;"},
        {"in/k=1/a.json", "in//", "k=1;"},
        {"in/k=1/a.json", "./in", "k=1;"},
        {"./in/k=1/a.json", "in", "k=1;"},
        {"./k=1/a.json", ".", "k=1;"},
        {"./k=1/a.json", "./", "k=1;"},
        {"/k=1/a.json", "/", "k=1;"},
        {"/k=1/a.json", ".", ""},
        {"in/k=1/j=x%2Fy%zz/a.json", "in", "k=1;j=x/y%zz;"},
        {"in/a%20b=%E9/a.json", "in", "a b=\xc3\xa9;"},
        {"in/k=1/a.json", "in/k=1", ""},
        {"in/k=1/j=2/a.json", "in/k=1", "j=2;"},
        {"in/k=1/a.json", NULL, ""},
        {"in/k=1/a.json", "i", ""},
        {"in/k=1/x/a.json", "in", "k=1;"},
        {"in/k=1/x/j=2/a.json", "in", "j=2;"},
        {"in/k=a=b/a=b.json", "in", "k=a=b;"},
        {"in/=5/a.json", "in", ""},
        {"in/k=/a.json", "in", "k=;"},
    };
    struct world w;

    (void)state;
    set_up(&w, &schema);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mr_file_partitions p;
        char text[128] = "";
        size_t n = 0;

        mr_file_partitions_read(cases[i].path, cases[i].base, &w.arena, &p);
        for (uint32_t k = 0; k < p.n; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%.*s=%.*s;", (int)p.names[k].n,
                                  p.names[k].data, (int)p.values[k].n, p.values[k].data);
        assert_string_equal(text, cases[i].columns);
    }
    tear_down(&w);
}

static void undeclared_columns_have_the_narrowest_type(void **state)
{
    static const struct {
        const char *first, *second, *type;
    } cases[] = {
        {"1", "-2", "int"},
        {"+5", "01", "int"},
        {"01", "3000000000", "bigint"},
        {"1", "1.5", "double"},
        {"3000000000", "1.5", "string"},
        {"1.5d", "NaN", "double"},
        {"12345678901234567890123", "1", "decimal(23,0)"},
        {"12345678901234567890123", "1.5", "string"},
        {"2026-01-01", "2026-01-02", "date"},
        {"2026-01-01", "2026-01-01 10%3A00%3A00", "timestamp"},
        {"2026-01-01 10%3A00%3A00.25", "__HIVE_DEFAULT_PARTITION__", "timestamp"},
        {"2026-01-01", "5", "string"},
        {"2026-1-1", "2026-1-1", "string"},
        {"2026-01-01T10", "2026-01-01 10%3A00", "string"},
        {"true", "1", "string"},
        {"__HIVE_DEFAULT_PARTITION__", "3", "int"},
        {"12345678901234567890123", "1234567890123456789012", "decimal(23,0)"},
        {"1234567890123456789012", "12345678901234567890123", "decimal(23,0)"},
        {"3000000000", "9999999999999999999", "decimal(20,0)"},
        {"9999999999999999999", "5", "decimal(19,0)"},
        {"1.5", "12345678901234567890123", "string"},
        {"123456789012345678901234567890123456789", "1", "double"},
        {"1.5", "1", "double"},
        {"-Infinity", "+.5", "double"},
        {"1.5", "inf", "string"},
        {"-", "1", "string"},
        {"2026-01-01 10%3A00%3A00", "2026-01-01", "timestamp"},
        {"2026-13-01", "2026-01-01", "string"},
        {"2026-13-01 10%3A00%3A00", "2026-13-01 10%3A00%3A00", "string"},
        {"2026-01-01 10%3A00%3A00.", "2026-01-01 10%3A00%3A00x", "string"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char folder[64];
        struct mr_buffer text;
        struct world w;

        set_up(&w, &only_id);
        snprintf(folder, sizeof folder, "p=%s", cases[i].first);
        put(&w, folder, "");
        snprintf(folder, sizeof folder, "p=%s", cases[i].second);
        put(&w, folder, "");
        assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
        assert_int_equal(w.table.schema->fields_n, 2);
        assert_string_equal(w.table.schema->fields[1].name, "p");
        mr_buffer_init(&text, &w.arena);
        mr_type_print(w.table.schema->fields[1].type, &text);
        mr_buffer_append(&text, "", 1);
        assert_string_equal((const char *)text.data, cases[i].type);
        tear_down(&w);
    }
}

static void what_can_not_be_one_table_is_refused(void **state)
{
    static const struct {
        const char *first, *second, *condition;
    } cases[] = {
        {"k=1", "j=1", "CONFLICTING_PARTITION_COLUMN_NAMES"},
        {"k=1", "k=1/j=2", "CONFLICTING_PARTITION_COLUMN_NAMES"},
        {"k=1", "k=x", "INVALID_PARTITION_VALUE"},
        {"k=1", "k=", "EMPTY_PARTITION_COLUMN_VALUE"},
        {"p=1/P=2", "p=1/P=3", "COLUMN_ALREADY_EXISTS"},
        {"p=1", "p=", "EMPTY_PARTITION_COLUMN_VALUE"},
        {"p=1", ".", "CONFLICTING_PARTITION_COLUMN_NAMES"},
        {LONG_NAME "=1/b" LONG_NAME "=2/c" LONG_NAME "=3", "p=1",
         "CONFLICTING_PARTITION_COLUMN_NAMES"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world w;

        set_up(&w, &schema);
        put(&w, cases[i].first, "");
        put(&w, cases[i].second, "");
        assert_int_not_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
        assert_string_equal(w.err.condition, cases[i].condition);
        tear_down(&w);
    }
}

static void options_say_where_columns_begin(void **state)
{
    struct world w;
    char sub[80];

    (void)state;
    set_up(&w, &only_id);
    put(&w, "p=1/q=2", "");
    snprintf(sub, sizeof sub, "%s/p=1", w.path);
    w.options[0].value = sub;
    assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    assert_int_equal(w.table.schema->fields_n, 2);

    w.table.schema = &only_id;
    w.options[1] = (struct mr_option){"basePath", w.path};
    w.table.options_n = 2;
    w.conf.infer_partition_types = false;
    assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    assert_int_equal(w.table.schema->fields_n, 3);
    assert_string_equal(w.table.schema->fields[1].name, "p");
    assert_int_equal(w.table.schema->fields[2].type->kind, MR_STRING);

    w.table.schema = &only_id;
    w.options[2] = (struct mr_option){"recursiveFileLookup", "true"};
    w.table.options_n = 3;
    assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    assert_int_equal(w.table.schema->fields_n, 1);

    w.options[1].value = "/elsewhere";
    assert_int_not_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    tear_down(&w);
}

struct sums {
    int64_t k, id;
    uint32_t rows, nulls;
};

static void add_up(const struct mr_batch *b, struct sums *sums)
{
    for (uint32_t i = 0; i < b->rows; i++) {
        const struct mr_column *k = &b->columns[0], *id = &b->columns[1];
        sums->rows++;
        sums->nulls += mr_column_is_null(k, i);
        sums->k += mr_column_is_null(k, i) ? 0 : k->i64[i];
        sums->id += id->i64[i];
    }
}

/* Also when the schema was settled before there was a folder: record columns and folder columns
 * take turns. */
static void the_folder_counts_not_the_record(void **state)
{
    static const char *const folders[] = {"k=5", ".", "k=7", "k=__HIVE_DEFAULT_PARTITION__", "k=x"};
    const struct mr_source_ops *ops = mr_source_find("json");
    struct sums sums = {0};
    struct world w;

    (void)state;
    set_up(&w, &schema);
    struct mr_source_config config = {.table = &w.table,
                                      .schema = &schema,
                                      .arena = &w.arena,
                                      .zone = mr_zone_utc(),
                                      .batch_rows = 2,
                                      .workers = 1};
    assert_int_equal(mr_env_open("syscalls", &config.env, &w.err), MR_OK);
    void *reader = mr_arena_zero(&w.arena, ops->reader_size);
    assert_int_equal(ops->reader_open(reader, &config, &w.err), MR_OK);
    for (int i = 0; i < 5; i++) {
        struct mr_file_split split = {.end = UINT64_MAX};
        struct mr_source_counts counts = {0};
        struct mr_buffer bytes;
        struct mr_batch batch;
        enum mr_step step;

        put(&w, folders[i], "{\"id\":1,\"k\":100}\n{\"k\":100,\"id\":2}\n{\"id\":4,\"k\":100}\n");
        split.path = mr_arena_format(&w.arena, "%s/%s/part.json", w.path, folders[i]);
        mr_buffer_init(&bytes, &w.arena);
        mr_file_split_write(&split, &bytes);
        enum mr_status status = ops->open_split(reader, mr_buffer_text(&bytes), &w.err);
        assert_int_equal(status, i < 4 ? MR_OK : MR_QUERY);
        if (status != MR_OK)
            break;
        do {
            step = ops->pull(reader, &batch, &counts, &w.err);
            assert_true(mr_batch_is_valid(&batch));
            add_up(&batch, &sums);
        } while (step == MR_MORE_OUTPUT);
        assert_int_equal(step, MR_DONE);
    }
    assert_string_equal(w.err.condition, "INVALID_PARTITION_VALUE");
    assert_non_null(strstr(w.err.message, "k=x/part.json"));
    assert_int_equal(sums.rows, 12);
    assert_int_equal(sums.nulls, 3);
    assert_int_equal(sums.k, 3 * 5 + 3 * 100 + 3 * 7);
    assert_int_equal(sums.id, 4 * 7);
    ops->reader_close(reader);
    config.env->ops->fini(config.env);
    tear_down(&w);
}

/* A folder's value in every row, as a cast from text would give it; what is none is refused. */
static void values_have_the_declared_type(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, &schema);
    const struct {
        const struct mr_type *type;
        const char *value, *shown; /* NULL: refused */
    } cases[] = {
        {&mr_type_boolean, "true", "true"},
        {&mr_type_boolean, "n", "false"},
        {&mr_type_boolean, "maybe", NULL},
        {&mr_type_tinyint, "127", "127"},
        {&mr_type_tinyint, "128", NULL},
        {&mr_type_smallint, "-32768", "-32768"},
        {&mr_type_smallint, "40000", NULL},
        {&mr_type_int, "+5", "5"},
        {&mr_type_int, "2147483648", NULL},
        {&mr_type_bigint, "2147483648", "2147483648"},
        {&mr_type_float, "1.5", "1.5"},
        {&mr_type_double, "1e3", "1000.0"},
        {&mr_type_double, "x", NULL},
        {mr_type_decimal(&w.arena, 5, 2), "1.25", "1.25"},
        {mr_type_decimal(&w.arena, 5, 2), "12345.5", NULL},
        {&mr_type_string, "a text that has no room in a view", "a text that has no room in a view"},
        {&mr_type_binary, "hi", "[68 69]"},
        {&mr_type_date, "2026-02-28", "2026-02-28"},
        {&mr_type_date, "2026-02-30", NULL},
        {&mr_type_timestamp, "2026-01-01 10:00:00.5", "2026-01-01 10:00:00.5"},
        {&mr_type_timestamp, "10:00:00", NULL}, /* of which day? */
        {&mr_type_timestamp, "2026-13-01", NULL},
        {&mr_type_timestamp_ntz, "2026-01-01T10:00:00", "2026-01-01 10:00:00"},
        {&mr_type_timestamp_ntz, "soon", NULL},
        {&mr_type_interval_calendar, "1 day", NULL},
        {&mr_type_variant, "1", NULL},
        {&mr_type_void, "1", "NULL"},
        {&mr_type_int, "__HIVE_DEFAULT_PARTITION__", "NULL"},
        {&mr_type_string, "__HIVE_DEFAULT_PARTITION__", "NULL"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mr_file_partitions p = {
            .names = {MR_TEXT("k")}, .values = {mr_text_of(cases[i].value)}, .n = 1};
        struct mr_column one, all;
        enum mr_status status = mr_file_partition_cast(&p, 0, cases[i].type, mr_zone_utc(),
                                                       &w.arena, &one, "in/k=/a", &w.err);
        if (cases[i].shown == NULL) {
            assert_int_equal(status, MR_QUERY);
            assert_string_equal(w.err.condition, "INVALID_PARTITION_VALUE");
            assert_non_null(strstr(w.err.message, "File: in/k=/a"));
            continue;
        }
        assert_int_equal(status, MR_OK);
        mr_file_partition_fill(&all, &one, 70, &w.arena);
        const struct mr_batch batch = {.columns = &all, .columns_n = 1, .rows = 70, .n = 70};
        assert_true(mr_batch_is_valid(&batch));
        for (uint32_t row = 0; row < 70; row++) {
            struct mr_buffer text;
            mr_buffer_init(&text, &w.arena);
            mr_console_cell(&all, row, mr_zone_utc(), &text);
            if (!mr_text_equal(mr_buffer_text(&text), mr_text_of(cases[i].shown)))
                fail_msg("%zu: %.*s", i, (int)text.n, (const char *)text.data);
        }
    }
    tear_down(&w);
}

/* Where the schema was inferred, a column that records have, too, keeps its place. */
static void an_inferred_column_keeps_its_place(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, &schema);
    w.table.is_inferred = true;
    put(&w, "p=1/k=x", "");
    put(&w, "p=2/k=1.5", "");
    assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    assert_int_equal(w.table.schema->fields_n, 3);
    const struct mr_field *f = w.table.schema->fields;
    assert_true(strcmp(f[0].name, "k") == 0 && f[0].type->kind == MR_STRING);
    assert_true(strcmp(f[1].name, "id") == 0 && f[1].type->kind == MR_BIGINT);
    assert_true(strcmp(f[2].name, "p") == 0 && f[2].type->kind == MR_INT);
    assert_true(w.table.in_folder[0] && !w.table.in_folder[1] && w.table.in_folder[2]);

    w.table.schema = &schema; /* declared, it has the folder's place and the declared type */
    w.table.is_inferred = false;
    put(&w, "p=1/k=7", "");
    w.options[0].value = mr_arena_format(&w.arena, "%s/p=1/k=7", w.path);
    w.options[1] = (struct mr_option){"basePath", w.path};
    w.table.options_n = 2;
    assert_int_equal(mr_file_complete_schema(&w.table, &w.conf, &w.arena, &w.err), MR_OK);
    f = w.table.schema->fields;
    assert_true(strcmp(f[0].name, "id") == 0 && strcmp(f[1].name, "p") == 0);
    assert_true(strcmp(f[2].name, "k") == 0 && f[2].type->kind == MR_BIGINT);
    tear_down(&w);
}

/* As Java's URI has it. */
static void a_path_becomes_a_uri(void **state)
{
    struct world w;

    (void)state;
    set_up(&w, &schema);
    assert_string_equal(mr_file_uri(&w.arena, "/a b/k=\"1\"/\xc3\xa9%\x7f.json"),
                        "file:///a%20b/k=%221%22/\xc3\xa9%25%7F.json");
    assert_string_equal(mr_file_uri(&w.arena, "/"), "file:///");
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_next_to_each_other_name_columns),
        cmocka_unit_test(undeclared_columns_have_the_narrowest_type),
        cmocka_unit_test(what_can_not_be_one_table_is_refused),
        cmocka_unit_test(options_say_where_columns_begin),
        cmocka_unit_test(the_folder_counts_not_the_record),
        cmocka_unit_test(values_have_the_declared_type),
        cmocka_unit_test(an_inferred_column_keeps_its_place),
        cmocka_unit_test(a_path_becomes_a_uri),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
