/* The file source and sink at their edges: options that are wrong, stored bytes that are cut,
 * folders that are too deep. */
#include "tests/io/file/planner.h"

#include "io/fault/fault.h"
#include "io/file/file_sink.h"

static void test_source_options(void **state)
{
    static const struct {
        struct mr_option options[3];
        const char *says;
    } rows[] = {
        {{{"maxFilesPerTrigger", "2"}}, "'path' is not specified"},
        {{{"path", ""}}, "'path' is not specified"},
        {{{"path", "in"}, {"maxBytesPerTrigger", "-5"}}, "a positive number of bytes"},
        {{{"path", "in//"}, {"cleanSource", "archive"}, {"sourceArchiveDir", "in/old"}},
         "lies in the source's folder"},
        {{{"path", "in"}, {"cleanSource", "archive"}, {"sourceArchiveDir", "./in"}},
         "lies in the source's folder"},
        {{{"path", ".//"}, {"cleanSource", "archive"}, {"sourceArchiveDir", "old"}},
         "lies in the source's folder"},
        {{{"path", "in"}, {"pat", "x"}}, "did you mean \"path\"?"},
        {{{"path", "in"}, {"maxFilesPerTrigger", "0"}}, "must be a positive integer"},
        {{{"path", "in"}, {"maxFilesPerTrigger", "2x"}}, "must be a positive integer"},
        {{{"path", "in"}, {"maxFilesPerTrigger", "-1"}}, "must be a positive integer"},
        {{{"path", "in"}, {"maxBytesPerTrigger", "0"}}, "a positive number of bytes"},
        {{{"path", "in"}, {"maxBytesPerTrigger", "5q"}}, "a positive number of bytes"},
        {{{"path", "in"}, {"maxBytesPerTrigger", "x"}}, "a positive number of bytes"},
        {{{"path", "in"}, {"maxBytesPerTrigger", "99999999999t"}}, "a positive number of bytes"},
        {{{"path", "in"}, {"latestFirst", "yes"}}, "'true' or 'false'"},
        {{{"path", "in"}, {"fileNameOnly", "1"}}, "'true' or 'false'"},
        {{{"path", "in"}, {"recursiveFileLookup", ""}}, "'true' or 'false'"},
        {{{"path", "in"}, {"maxFileAge", "long"}}, "a duration"},
        {{{"path", "in"}, {"cleanSource", "burn"}}, "'off', 'archive' or 'delete'"},
        {{{"path", "in"}, {"cleanSource", "archive"}}, "needs 'sourceArchiveDir'"},
        {{{"path", "in"}, {"cleanSource", "archive"}, {"sourceArchiveDir", "in/old"}},
         "lies in the source's folder"},
        {{{"path", "."}, {"cleanSource", "archive"}, {"sourceArchiveDir", "old"}},
         "lies in the source's folder"},
        {{{"path", "/"}, {"cleanSource", "archive"}, {"sourceArchiveDir", "/old"}},
         "lies in the source's folder"},
        {{{"path", "in"}, {"maxFilesPerTrigger", "1"}, {"maxBytesPerTrigger", "1"}},
         "can't be both set"},
        {{{"path", "in"}, {"modifiedAfter", "x"}}, "not allowed in file stream sources"},
        {{{"path", "in"}, {"modifiedBefore", "x"}}, "not allowed in file stream sources"},
        {{{"path", "in"}, {"basePath", "other"}}, "Wrong basePath"},
        {{{"path", "in{a}"}}, "the pattern in{a} can't be read"},
        {{{"path", "in[a"}}, "the pattern in[a can't be read"},
        {{{"path", "in"}, {"maxFilePerTrigger", "1"}}, "did you mean \"maxFilesPerTrigger\"?"},
        {{{"path", "in"}, {"xyzzy", "1"}}, "xyzzy"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = 0;
        while (n < 3 && rows[i].options[n].name)
            n++;
        struct mr_table t = table_of(rows[i].options, n);
        assert_int_equal(mr_source_json.check(&t, &err), MR_USER);
        if (strstr(err.message, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, err.message);
        struct mr_file_planner planner;
        struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
        memset(&planner, 0, sizeof planner);
        (void)!mr_file_planner_open(&planner, &config, &err);
        mr_file_planner_close(&planner);
    }
    struct mr_option many[260];
    for (int i = 0; i < 260; i++)
        many[i] = (struct mr_option){"path", "in"};
    struct mr_table t = table_of(many, 260);
    assert_int_equal(mr_source_json.check(&t, &err), MR_USER);
    assert_non_null(strstr(err.message, "more than 256 options"));
}

static void test_sink_options(void **state)
{
    static const struct {
        struct mr_option option;
        const char *partition_by[2];
        const char *says;
    } rows[] = {
        {{"path", ""}, {NULL}, "'path' is not specified"},
        {{"maxFileBytes", "0"}, {NULL}, "a positive number of bytes"},
        {{"maxFileBytes", "many"}, {NULL}, "a positive number of bytes"},
        {{"commitInterval", "soon"}, {NULL}, "a duration"},
        {{"compression", "rar"}, {NULL}, "'none', 'gzip' or 'zstd'"},
        {{"compresion", "gzip"}, {NULL}, "did you mean \"compression\"?"},
        {{"compression", "uncompressed"}, {"c"}, "\"c\", which is no column of the result"},
        {{"compression", "none"}, {"a", "B"}, "no data would be left"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mr_option options[] = {{"path", "out"}, rows[i].option};
        struct mr_sink_config c = {.format = "json",
                                   .options = options,
                                   .options_n = 2,
                                   .schema = &schema,
                                   .partition_by = rows[i].partition_by,
                                   .arena = &arena};
        while (c.partition_by_n < 2 && rows[i].partition_by[c.partition_by_n])
            c.partition_by_n++;
        assert_int_equal(mr_sink_find("json")->check(&c, &err), MR_USER);
        if (strstr(err.message, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, err.message);
    }
    const struct mr_field nested[] = {{"a", &mr_type_bigint, true}, {"b", &schema, true}};
    const struct mr_type with_nested = {.kind = MR_STRUCT, .fields_n = 2, .fields = nested};
    const struct mr_option options[] = {{"path", "out"}};
    const char *const by[] = {"b"};
    struct mr_sink_config c = {.format = "json",
                               .options = options,
                               .options_n = 1,
                               .schema = &with_nested,
                               .partition_by = by,
                               .partition_by_n = 1,
                               .arena = &arena};
    assert_int_equal(mr_sink_find("json")->check(&c, &err), MR_USER);
    assert_non_null(strstr(err.message, "a type that can't name a folder"));
}

/* What a checkpoint gives back, cut anywhere, is refused; whole, it is taken. */
static void test_stored(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")}};
    struct mr_table t = table_of(options, 1);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p = {0}, other = {0};
    struct mr_offsets to;
    struct mr_buffer saved;
    bool has_new;

    (void)state;
    mkdir(options[0].value, 0777);
    for (int i = 0; i < 70; i++)
        put(mr_arena_format(&arena, "in/%d.json", i), "{}", 1000 + i);
    assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
    assert_int_equal(mr_file_plan(&p, 0, MR_LIMIT_NONE, &to, &has_new, &err), MR_OK);
    assert_true(has_new && p.files_n == 70);
    mr_buffer_init(&saved, &arena);
    mr_file_save(&p, &saved);
    const struct mr_text whole[] = {to.bytes, mr_buffer_text(&saved)};
    for (int kind = 0; kind < 2; kind++) {
        for (uint64_t n = 0; n <= whole[kind].n; n++) {
            struct mr_text cut = {whole[kind].data, n};
            memset(&other, 0, sizeof other);
            assert_int_equal(mr_file_planner_open(&other, &config, &err), MR_OK);
            enum mr_status status =
                kind ? mr_file_load(&other, cut, &err) : mr_file_adopt(&other, 0, cut, &err);
            assert_int_equal(status, n == whole[kind].n ? MR_OK : MR_CORRUPT);
            assert_true(status == MR_OK || strstr(err.message, "source \"t\"") != NULL);
            if (status == MR_OK) {
                assert_int_equal(mr_file_plan(&other, 1, MR_LIMIT_NONE, &to, &has_new, &err),
                                 MR_OK);
                assert_false(has_new);
            }
            mr_file_planner_close(&other);
        }
    }
    mr_file_planner_close(&p);
}

static bool is_known(void *arg, const char *path)
{
    (void)arg;
    return strstr(path, "known") != NULL;
}

static void test_lists(void **state)
{
    static const struct {
        const char *path, *glob;
        uint32_t n;
    } rows[] = {
        {"/in", NULL, 4},       {"/in/", NULL, 4},         {"/in/*", NULL, 4},
        {"/in/*/", NULL, 4},    {"/i[nm]/?.txt", NULL, 2}, {"/in/a.txt", NULL, 1},
        {"/none", NULL, 0},     {"/none/*", NULL, 0},      {"/in", "*.txt", 3},
        {"/in/known", NULL, 0}, {"/in/loop", NULL, 0},
    };
    char path[400] = "";

    (void)state;
    mkdir(in_folder("in"), 0777);
    mkdir(in_folder("in/deep"), 0777);
    put("in/a.txt", "", 1);
    put("in/b.txt", "", 1);
    put("in/known", "", 1);
    put("in/deep/c.txt", "", 1);
    put("in/deep/d", "", 1);
    assert_int_equal(symlink("loop", in_folder("in/loop")), 0);
    assert_int_equal(mkfifo(in_folder("in/pipe"), 0666), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_file_list list = {.arena = &arena};
        snprintf(path, sizeof path, "%s%s", folder, rows[i].path);
        enum mr_status status = mr_file_list(env, path, rows[i].glob, is_known, NULL, &list, &err);
        if (strcmp(rows[i].path, "/in/loop") == 0) {
            assert_int_equal(status, MR_IO); /* it is asked for by name */
            continue;
        }
        assert_int_equal(status, MR_OK);
        if (list.n != rows[i].n)
            fail_msg("%s: %u files", rows[i].path, list.n);
    }
    struct mr_file_list list = {.arena = &arena};
    struct mr_env *broken;
    assert_int_equal(mr_env_open("syscalls", &broken, &err), MR_OK);
    broken = mr_fault_open(broken, "read:2:EIO"); /* it was there a moment ago */
    assert_int_equal(mr_file_list(broken, in_folder("in/a.txt"), NULL, is_known, NULL, &list, &err),
                     MR_IO);
    assert_non_null(strstr(err.message, "in/a.txt"));
    broken->ops->fini(broken);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mr_file_list(env, "*/a.txt", NULL, is_known, NULL, &list, &err), MR_OK);
    assert_int_equal(list.n, 1);
    assert_int_equal(mr_file_list(env, "./in/a*", NULL, is_known, NULL, &list, &err), MR_OK);
    assert_int_equal(list.n, 2);
    assert_int_equal(chdir("/"), 0);
    snprintf(path, sizeof path, "%s/in", folder);
    for (int i = 0; i < 40; i++) {
        strcat(path, "/d");
        mkdir(path, 0777);
    }
    assert_int_equal(mr_file_list(env, in_folder("in"), NULL, is_known, NULL, &list, &err),
                     MR_QUERY);
    assert_non_null(strstr(err.message, "folders lie deeper than 32"));
}

static void test_codecs(void **state)
{
    static const struct {
        const char *path;
        enum mr_status status;
        enum mr_file_codec codec;
    } rows[] = {
        {"a.gz", MR_OK, MR_FILE_GZIP},
        {"a.zst", MR_OK, MR_FILE_ZSTD},
        {"a.json", MR_OK, MR_FILE_PLAIN},
        {".gz", MR_OK, MR_FILE_PLAIN},
        {"a.xz", MR_QUERY, 0},
        {"a.snappy", MR_QUERY, 0},
        {"a.lz4", MR_QUERY, 0},
        {"a.deflate", MR_QUERY, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum mr_file_codec codec;
        assert_int_equal(mr_file_codec_of(rows[i].path, &codec, &err), rows[i].status);
        if (rows[i].status == MR_OK)
            assert_int_equal(codec, rows[i].codec);
    }
}

/* What another sink prepared, or a part of it, is not published. */
static void test_foreign_records(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("out")}};
    struct mr_sink_config c = {.format = "json",
                               .options = options,
                               .options_n = 1,
                               .schema = &schema,
                               .env = env,
                               .query_id = "id",
                               .workers = 1,
                               .arena = &arena};
    const struct mr_sink_ops *ops = mr_sink_find("json");
    struct mr_buffer record;

    (void)state;
    void *committer = mr_arena_zero(&arena, ops->committer_size);
    assert_int_equal(ops->committer_open(committer, &c, &err), MR_OK);
    mr_buffer_init(&record, &arena);
    mr_file_record_write(&record, true, 3, in_folder("out/.part-x.json.tmp"));
    for (uint64_t n = 1; n < record.n; n++) {
        struct mr_text cut = {(const char *)record.data, n};
        assert_int_equal(ops->publish(committer, 0, &cut, 1, &err), MR_CORRUPT);
    }
    record.data[0] = 2;
    struct mr_text other = mr_buffer_text(&record);
    assert_int_equal(ops->publish(committer, 0, &other, 1, &err), MR_CORRUPT);
    assert_non_null(strstr(err.message, "not of a file sink"));
    char *longer = mr_arena_zero(&arena, 5001);
    memset(longer, 'x', 5000);
    assert_int_equal(mr_file_finalize(env, mr_arena_format(&arena, "/%s/.a.tmp", longer), 1, &err),
                     MR_IO);
    ops->committer_close(committer);
}

/* Only what the committed epoch read is taken away, and never over another file. */
static void test_clean(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("in")},
                                        {"cleanSource", "archive"},
                                        {"sourceArchiveDir", in_folder("old")}};
    const char *archived = mr_arena_format(&arena, "%s%s", options[2].value, in_folder("in/a"));
    struct mr_table t = table_of(options, 3);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};

    (void)state;
    mkdir(options[0].value, 0777);
    for (int turn = 0; turn < 2; turn++) {
        struct mr_file_planner p = {0};
        put("in/a", turn == 0 ? "first" : "second", 1000 + turn);
        assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
        assert_string_equal(taken(&p, 5), "a ");
        assert_int_equal(mr_file_committed(&p, 4, &err), MR_OK);
        assert_int_equal(access(in_folder("in/a"), F_OK), 0);
        assert_int_equal(mr_file_committed(&p, 5, &err), MR_OK);
        assert_int_equal(access(in_folder("in/a"), F_OK), turn == 1 ? 0 : -1);
        mr_file_planner_close(&p);
        char text[16] = "";
        FILE *f = fopen(archived, "rb");
        assert_non_null(f);
        assert_string_equal(fgets(text, sizeof text, f), "first");
        fclose(f);
    }
}

/* Plain files are cut into parts that follow each other, neither small nor many. */
static void test_splits(void **state)
{
    static const struct {
        const char *name;
        uint64_t mebibytes;
        uint32_t n;
    } rows[] = {
        {"in/a.json", 0, 1},    {"in/a.json", 4, 1},     {"in/a.json", 5, 2},
        {"in/a.json", 640, 64}, {"in/a.json", 3072, 96}, {"in/a.json.gz", 640, 1},
    };
    const struct mr_option options[] = {{"path", in_folder("in")}};
    struct mr_table t = table_of(options, 1);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};

    (void)state;
    mkdir(options[0].value, 0777);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_file_planner p = {0};
        struct mr_file_split split;
        uint64_t bytes = 0;
        uint32_t n;
        put(rows[i].name, "", 1000);
        assert_int_equal(truncate(in_folder(rows[i].name), (off_t)(rows[i].mebibytes << 20)), 0);
        assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
        taken(&p, 0);
        assert_int_equal(mr_file_splits(&p, &n, &err), MR_OK);
        assert_int_equal(n, rows[i].n);
        for (uint32_t k = 0; k < n; k++) {
            mr_file_split_read(mr_file_split_bytes(&p, k), &arena, &split);
            assert_int_equal(split.start, bytes);
            bytes += split.bytes;
            assert_true(split.end == (k + 1 < n ? bytes : UINT64_MAX));
        }
        assert_int_equal(bytes, rows[i].mebibytes << 20);
        mr_file_planner_close(&p);
        assert_int_equal(unlink(in_folder(rows[i].name)), 0);
    }
}

static void test_unreadable_folder(void **state)
{
    const struct mr_option options[] = {{"path", in_folder("loop")}};
    struct mr_table t = table_of(options, 1);
    struct mr_source_config config = {.table = &t, .env = env, .arena = &arena};
    struct mr_file_planner p = {0};
    struct mr_offsets to;
    bool has_new;

    (void)state;
    assert_int_equal(symlink("loop", options[0].value), 0);
    assert_int_equal(mr_file_planner_open(&p, &config, &err), MR_OK);
    assert_int_equal(mr_file_plan(&p, 0, MR_LIMIT_NONE, &to, &has_new, &err), MR_IO);
    assert_int_equal(mr_file_freeze(&p, &err), MR_IO);
    assert_non_null(strstr(err.message, "loop"));
    assert_false(p.frozen);
    mr_file_planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_source_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sink_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_clean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_splits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_codecs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_records, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
