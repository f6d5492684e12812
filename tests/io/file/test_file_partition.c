/* Columns in folder names: which folders name them, their values and types, and the whole source.
 * The types are those that Spark 4.2 finds for the same folders. */
#include "io/file/file_partition.h"
#include "io/file/file_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
/* cmocka needs those above */
#include <cmocka.h>

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
    char path[256];
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_next_to_each_other_name_columns),
        cmocka_unit_test(undeclared_columns_have_the_narrowest_type),
        cmocka_unit_test(what_can_not_be_one_table_is_refused),
        cmocka_unit_test(options_say_where_columns_begin),
        cmocka_unit_test(the_folder_counts_not_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
