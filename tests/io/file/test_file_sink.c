/* The file sink by itself: more partitions than files may be open, compressed; names of folders;
 * what is left, taken away or not to be seen. */
#include "core/batch/builder.h"
#include "io/fault/fault.h"
#include "io/file/file_seen.h"
#include "io/file/file_sink.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { PARTITIONS = 3 * MR_FILE_PARTITIONS_OPEN_MAX, ROWS = 4 * PARTITIONS };

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    char path[64];
    struct mr_option options[3];
    struct mr_sink_config config;
    const struct mr_sink_ops *ops;
    void *committer, *writer;
};

static const struct mr_field fields[] = {{"part", &mr_type_bigint, true},
                                         {"value", &mr_type_bigint, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
static const char *const partition_by[] = {"part"};

static void set_up(struct world *w, const char *codec)
{
    *w = (struct world){.ops = mr_sink_find("json")};
    mr_arena_init(&w->arena, NULL, &w->escape);
    assert_int_equal(mr_env_open("syscalls", &w->config.env, &w->err), MR_OK);
    snprintf(w->path, sizeof w->path, "/dev/shm/mr-file-sink-%016llx",
             (unsigned long long)w->config.env->ops->random(w->config.env));
    w->options[0] = (struct mr_option){"path", w->path};
    w->options[1] = (struct mr_option){"compression", codec};
    w->options[2] = (struct mr_option){"commitInterval", "0 seconds"};
    w->config.format = "json";
    w->config.options = w->options;
    w->config.options_n = 3;
    w->config.partition_by = partition_by;
    w->config.partition_by_n = 1;
    w->config.schema = &schema;
    w->config.query_id = "id";
    w->config.arena = &w->arena;
    w->config.zone = mr_zone_utc();
    w->config.workers = 1;
    assert_int_equal(w->ops->check(&w->config, &w->err), MR_OK);
    w->committer = mr_arena_zero(&w->arena, w->ops->committer_size);
    w->writer = mr_arena_zero(&w->arena, w->ops->writer_size);
    assert_int_equal(w->ops->committer_open(w->committer, &w->config, &w->err), MR_OK);
    assert_int_equal(w->ops->writer_open(w->writer, &w->config, w->committer, 0, &w->err), MR_OK);
}

static void tear_down(struct world *w)
{
    char command[128];

    w->ops->writer_close(w->writer);
    w->ops->committer_close(w->committer);
    w->config.env->ops->fini(w->config.env);
    mr_arena_fini(&w->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", w->path);
    assert_int_equal(system(command), 0);
}

static void write_epoch(struct world *w)
{
    struct mr_column columns[2];
    struct mr_batch batch = {.columns = columns, .columns_n = 2, .rows = ROWS, .n = ROWS};
    struct mr_buffer prepared;

    for (int c = 0; c < 2; c++)
        mr_column_alloc(&columns[c], &mr_type_bigint, ROWS, false, &w->arena);
    for (int64_t i = 0; i < ROWS; i++) {
        columns[0].i64[i] = i % PARTITIONS;
        columns[1].i64[i] = i;
    }
    mr_buffer_init(&prepared, &w->arena);
    assert_int_equal(w->ops->begin(w->committer, 0, &w->err), MR_OK);
    assert_int_equal(w->ops->write(w->writer, 0, &batch, &w->err), MR_NEED_INPUT);
    assert_int_equal(w->ops->prepare(w->writer, 0, &prepared, &w->err), MR_NEED_INPUT);
    struct mr_text text = mr_buffer_text(&prepared);
    assert_int_equal(w->ops->publish(w->committer, 0, &text, 1, &w->err), MR_OK);
}

struct found {
    const struct world *w;
    char folder[128];
    int64_t part;
    bool seen[ROWS];
    uint32_t rows;
};

static bool read_file(void *arg, const char *name, bool is_dir)
{
    struct found *f = arg;
    char path[512], line[256];

    assert_false(is_dir);
    assert_true(name[0] != '.');
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    gzFile file = gzopen(path, "rb"); /* plain files too */
    assert_non_null(file);
    while (gzgets(file, line, sizeof line)) {
        long long value;
        assert_int_equal(sscanf(line, "{\"value\":%lld}", &value), 1);
        assert_true(value >= 0 && value < ROWS && !f->seen[value]);
        assert_int_equal(value % PARTITIONS, f->part);
        f->seen[value] = true;
        f->rows++;
    }
    gzclose(file);
    return true;
}

static void more_partitions_than_open_files(void **state)
{
    struct world w;
    struct found f = {.w = &w};

    set_up(&w, *state);
    write_epoch(&w);
    for (; f.part < PARTITIONS; f.part++) {
        snprintf(f.folder, sizeof f.folder, "%s/part=%lld", w.path, (long long)f.part);
        assert_int_equal(w.config.env->ops->list(w.config.env, f.folder, read_file, &f), 0);
    }
    assert_int_equal(f.rows, ROWS);
    tear_down(&w);
}

static void make_file(struct mr_env *env, const char *path, const char *content)
{
    struct mr_file *file;

    assert_int_equal(env->ops->open(env, path, MR_OPEN_WRITE | MR_OPEN_CREATE, &file), 0);
    assert_int_equal(env->ops->write(file, content, strlen(content), 0), strlen(content));
    env->ops->close(file);
}

/* What an epoch without a commit left is removed, in however many folders it is. */
static void undo_looks_into_every_folder(void **unused)
{
    enum { FOLDERS = 100200, EACH = 5 };
    struct world w;
    struct mr_file_stat st;
    char path[160];

    (void)unused;
    set_up(&w, "none");
    struct mr_env *env = w.config.env;
    for (uint32_t i = 0; i < FOLDERS; i++) {
        snprintf(path, sizeof path, "%s/part=%u", w.path, i);
        assert_int_equal(env->ops->make_dir(env, path), 0);
        snprintf(path, sizeof path, "%s/part=%u/.part-00000-id-1-0.json.tmp", w.path, i);
        if (i % EACH == 0)
            make_file(env, path, "x");
    }
    assert_int_equal(w.ops->undo(w.committer, 1, &w.err), MR_OK);
    for (uint32_t i = 0; i < FOLDERS; i += EACH) {
        snprintf(path, sizeof path, "%s/part=%u/.part-00000-id-1-0.json.tmp", w.path, i);
        assert_int_equal(env->ops->stat(env, path, &st), -ENOENT);
    }
    tear_down(&w);
}

/* Giving out again does nothing, nor when the file was taken away since; one with fewer bytes than
 * were committed has lost rows. */
static void a_file_that_is_out_has_its_length(void **unused)
{
    struct world w;
    char hidden[96], path[96];

    (void)unused;
    set_up(&w, "none");
    snprintf(hidden, sizeof hidden, "%s/.part-a.json.tmp", w.path);
    snprintf(path, sizeof path, "%s/part-a.json", w.path);
    make_file(w.config.env, hidden, "12345");
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 6, &w.err), MR_CORRUPT);
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 3, &w.err), MR_OK);
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 3, &w.err), MR_OK);
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 5, &w.err), MR_CORRUPT);
    assert_non_null(strstr(w.err.message, "3 bytes, 5 were committed"));
    /* The commits that made it longer were not durable: what they gave out comes again. */
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 2, &w.err), MR_OK);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mr_file_finalize_again(w.config.env, hidden, 3, &w.err),
                     MR_OK); /* taken away */
    assert_int_equal(mr_file_finalize(w.config.env, hidden, 3, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "moved or removed while the job wrote to it"));
    tear_down(&w);
}

/* An earlier run may have cut the file, or given it out, and ended before that was durable: it is
 * synced before another commit forgets the file. */
static void what_an_earlier_run_did_is_synced(void **unused)
{
    struct world w;
    struct mr_env *env, *inner;
    struct mr_file_stat st;
    char hidden[96], path[96];

    (void)unused;
    set_up(&w, "none");
    snprintf(hidden, sizeof hidden, "%s/.part-a.json.tmp", w.path);
    snprintf(path, sizeof path, "%s/part-a.json", w.path);
    make_file(w.config.env, hidden, "123");
    assert_int_equal(mr_env_open("syscalls", &inner, &w.err), MR_OK);
    env = mr_fault_open(inner, "sync:1:EIO");
    assert_int_equal(mr_file_finalize_again(env, hidden, 3, &w.err), MR_IO);
    assert_int_equal(env->ops->stat(env, path, &st), -ENOENT);
    env->ops->fini(env);
    assert_int_equal(mr_file_finalize_again(w.config.env, hidden, 3, &w.err), MR_OK);
    assert_int_equal(w.config.env->ops->stat(w.config.env, path, &st), 0);
    assert_int_equal(mr_env_open("syscalls", &inner, &w.err), MR_OK);
    env = mr_fault_open(inner, "sync:1:EIO");
    assert_int_equal(mr_file_finalize_again(env, hidden, 3, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, w.path));
    assert_int_equal(mr_file_finalize_again(env, hidden, 3, &w.err), MR_OK);
    env->ops->fini(env);
    tear_down(&w);
}

/* Files whose place can't be looked at are an error, with the name. */
static void what_can_not_be_looked_at_is_told(void **unused)
{
    struct world w;
    char hidden[96], path[96];

    (void)unused;
    set_up(&w, "none");
    assert_int_equal(mr_file_finalize(w.config.env, "/dev/null/.part.tmp", 1, &w.err), MR_IO);
    assert_string_equal(w.err.message, "look at /dev/null/.part.tmp");
    assert_int_equal(w.err.os_error, ENOTDIR);
    snprintf(hidden, sizeof hidden, "%s/.part-l.json.tmp", w.path);
    snprintf(path, sizeof path, "%s/part-l.json", w.path);
    assert_int_equal(symlink("part-l.json", path), 0);
    assert_int_equal(mr_file_finalize_again(w.config.env, hidden, 1, &w.err), MR_IO);
    assert_int_equal(w.err.os_error, ELOOP);
    assert_non_null(strstr(w.err.message, path));
    tear_down(&w);
}

/* Only hidden files of this query, in folders that its columns may name. */
static void undo_leaves_what_is_not_ours(void **unused)
{
    static const struct {
        const char *folder, *name;
        bool is_ours;
    } files[] = {
        {".", ".part-00000-id-1-0.json.tmp", true},
        {".", ".part-00000-other-1-0.json.tmp", false},
        {".", ".part-00000-id-1-0.json", false},
        {".", "part-00000-id-1-0.json", false},
        {".", ".tmp", false},
        {"part=1", ".part-00001-id-1-0.json.gz.tmp", true},
        {"part=1/deep=2", ".part-00001-id-1-0.json.tmp", true},
        {"_part=1", ".part-00000-id-1-0.json.tmp", true},
        {"_log", ".part-00000-id-1-0.json.tmp", false},
        {".part=1", ".part-00000-id-1-0.json.tmp", true},
        {"archive", ".part-00000-id-1-0.json.tmp", false},
    };
    enum { N = sizeof files / sizeof *files };
    struct mr_file_stat st;
    struct world w;
    char path[N][160];

    (void)unused;
    set_up(&w, "none");
    struct mr_env *env = w.config.env;
    for (int i = 0; i < N; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", w.path, files[i].folder);
        assert_int_equal(mr_env_make_dirs(env, path[i]), 0);
        snprintf(path[i], sizeof path[i], "%s/%s/%s", w.path, files[i].folder, files[i].name);
        make_file(env, path[i], "x");
    }
    /* Only links that a column may name are followed. */
    char link[160];
    snprintf(link, sizeof link, "%s/loop", w.path);
    assert_int_equal(symlink(w.path, link), 0);
    assert_int_equal(w.ops->undo(w.committer, 1, &w.err), MR_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(link, sizeof link, "%s/part=loop%d", w.path, i);
        assert_int_equal(symlink(w.path, link), 0);
    }
    assert_int_equal(w.ops->undo(w.committer, 1, &w.err), MR_IO);
    assert_non_null(strstr(w.err.message, "go in a circle"));
    for (int i = 0; i < N; i++)
        if (env->ops->stat(env, path[i], &st) != (files[i].is_ours ? -ENOENT : 0))
            fail_msg("%s/%s", files[i].folder, files[i].name);
    tear_down(&w);
}

/* As Spark names folders: of values' texts, with %XX for what means something to a path. */
static void folders_are_named_by_values(void **unused)
{
    static const struct mr_field mixed[] = {{"B b", &mr_type_boolean, true},
                                            {"s", &mr_type_string, true},
                                            {"v", &mr_type_bigint, true},
                                            {"d", &mr_type_date, true}};
    static const struct mr_type type = {.kind = MR_STRUCT, .fields_n = 4, .fields = mixed};
    static const char *const by[] = {"s", "bb", "d"};
    static const char *const names[] = {"b b", "S", "d"};
    static const struct {
        const char *boolean, *text; /* NULL: null */
        int32_t days;               /* -1: null */
        const char *folder;
    } rows[] = {
        {"true", "a/b=c", 20000, "B b=true/s=a%2Fb%3Dc/d=2024-10-04"},
        {"false", "", -1, "B b=false/s=__HIVE_DEFAULT_PARTITION__/d=__HIVE_DEFAULT_PARTITION__"},
        {NULL, "\x01\x7f{}\xc3\xa9 '", 0,
         "B b=__HIVE_DEFAULT_PARTITION__/s=%01%7F%7B}\xc3\xa9 %27/d=1970-01-01"},
    };
    struct mr_builder builders[4];
    struct mr_column columns[4];
    struct mr_batch batch = {.columns = columns, .columns_n = 4, .rows = 3, .n = 3};
    struct mr_file_stat st;
    struct mr_buffer prepared;
    struct world w;

    (void)unused;
    set_up(&w, "none");
    w.ops->writer_close(w.writer);
    w.config.schema = &type;
    w.config.partition_by = by;
    w.config.partition_by_n = 3;
    assert_int_equal(w.ops->check(&w.config, &w.err), MR_USER); /* there is no column "bb" */
    w.config.partition_by = names;
    assert_int_equal(w.ops->check(&w.config, &w.err), MR_OK);
    w.writer = mr_arena_zero(&w.arena, w.ops->writer_size);
    assert_int_equal(w.ops->writer_open(w.writer, &w.config, w.committer, 0, &w.err), MR_OK);
    for (int c = 0; c < 4; c++)
        mr_builder_init(&builders[c], mixed[c].type, 3, &w.arena);
    for (int i = 0; i < 3; i++) {
        if (rows[i].boolean)
            mr_builder_append_i64(&builders[0], strcmp(rows[i].boolean, "true") == 0);
        else
            mr_builder_append_null(&builders[0]);
        mr_builder_append_text(&builders[1], mr_text_of(rows[i].text));
        mr_builder_append_i64(&builders[2], i);
        if (rows[i].days >= 0)
            mr_builder_append_i64(&builders[3], rows[i].days);
        else
            mr_builder_append_null(&builders[3]);
    }
    for (int c = 0; c < 4; c++)
        mr_builder_finish(&builders[c], &columns[c]);
    mr_buffer_init(&prepared, &w.arena);
    assert_int_equal(w.ops->write(w.writer, 0, &batch, &w.err), MR_NEED_INPUT);
    assert_int_equal(w.ops->prepare(w.writer, 0, &prepared, &w.err), MR_NEED_INPUT);
    for (int i = 0; i < 3; i++) {
        char *path = mr_arena_format(&w.arena, "%s/%s", w.path, rows[i].folder);
        if (w.config.env->ops->stat(w.config.env, path, &st) != 0)
            fail_msg("%s is not there", path);
        assert_true(st.is_dir);
    }
    tear_down(&w);
}

/* Before a query is planned there is no schema: the options are checked alone. */
static void a_check_needs_no_schema(void **unused)
{
    static const struct mr_field nothing[] = {{"part", &mr_type_void, true},
                                              {"value", &mr_type_bigint, true}};
    static const struct mr_type with_void = {.kind = MR_STRUCT, .fields_n = 2, .fields = nothing};
    struct world w;

    (void)unused;
    set_up(&w, "none");
    w.config.schema = NULL;
    assert_int_equal(w.ops->check(&w.config, &w.err), MR_OK);
    w.options[1].value = "rar";
    assert_int_equal(w.ops->check(&w.config, &w.err), MR_USER);
    w.options[1].value = "none";
    w.config.schema = &with_void;
    assert_int_equal(w.ops->check(&w.config, &w.err), MR_USER);
    assert_string_equal(w.err.condition, "INVALID_PARTITION_COLUMN_DATA_TYPE");
    tear_down(&w);
}

/* The commit names files by it, and the next start may be made in another folder. */
static void a_folder_is_named_from_the_root(void **unused)
{
    struct mr_file_sink_options options;
    struct world w;
    char folder[256];

    (void)unused;
    set_up(&w, "none");
    w.options[0].value = "a/./out";
    assert_int_equal(mr_file_sink_options_read(&w.config, &w.arena, &options, &w.err), MR_OK);
    assert_non_null(getcwd(folder, sizeof folder));
    assert_string_equal(options.path, mr_arena_format(&w.arena, "%s/a/out", folder));
    tear_down(&w);
}

static void seen_files_are_forgotten_when_old(void **unused)
{
    struct mr_file_seen seen;
    jmp_buf escape;
    char path[32];

    (void)unused;
    mr_file_seen_init(&seen, false, NULL, &escape);
    for (int64_t i = 0; i < 100000; i++) {
        snprintf(path, sizeof path, "f%lld", (long long)i);
        assert_false(mr_file_seen_has(&seen, path));
        mr_file_seen_add(&seen, path, i);
        mr_file_seen_purge(&seen, 1000, INT64_MAX);
        assert_true(mr_file_seen_has(&seen, path));
        snprintf(path, sizeof path, "f%lld", (long long)(i < 1000 ? 0 : i - 1000));
        assert_true(mr_file_seen_has(&seen, path));
        assert_true(seen.n <= 4096);
    }
    mr_file_seen_fini(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"plain", more_partitions_than_open_files, NULL, NULL, "none"},
        {"gzip", more_partitions_than_open_files, NULL, NULL, "gzip"},
        cmocka_unit_test(undo_looks_into_every_folder),
        cmocka_unit_test(a_file_that_is_out_has_its_length),
        cmocka_unit_test(what_an_earlier_run_did_is_synced),
        cmocka_unit_test(what_can_not_be_looked_at_is_told),
        cmocka_unit_test(undo_leaves_what_is_not_ours),
        cmocka_unit_test(folders_are_named_by_values),
        cmocka_unit_test(a_check_needs_no_schema),
        cmocka_unit_test(a_folder_is_named_from_the_root),
        cmocka_unit_test(seen_files_are_forgotten_when_old),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
