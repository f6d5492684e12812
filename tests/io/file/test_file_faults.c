/* The file source and sink, with the k-th operation of the disk failing, for every k: the error
 * names the file, nothing is visible before its epoch is published, and without a fault the rows
 * are there once. */
#include "io/fault/fault.h"
#include "io/file/file_sink.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
/* cmocka needs those above */
#include <cmocka.h>

enum { FILES = 6, ROWS = 30, BAD = 2 /* each of a file */ };

struct variant {
    const char *clean, *codec, *file_bytes, *interval;
    bool by_pattern;
};

struct world {
    jmp_buf escape;
    struct mr_arena arena;
    struct mr_error err;
    char path[64], in[96], bad[96], out[96], gone[96];
    struct mr_env *env;
    const struct variant *variant;
    struct mr_option source_options[4], sink_options[5];
    struct mr_table table;
    struct mr_source_config source;
    struct mr_sink_config sink;
    const struct mr_source_ops *from;
    const struct mr_sink_ops *to;
    void *planner, *reader, *committer, *writer;
    bool is_published;
    uint64_t bad_records;
};

static const struct mr_field fields[] = {{"part", &mr_type_string, true},
                                         {"value", &mr_type_bigint, true}};
static const struct mr_type schema = {.kind = MR_STRUCT, .fields_n = 2, .fields = fields};
static const char *const partition_by[] = {"part"};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void make_input(const struct world *w)
{
    char path[160];

    mkdir(w->path, 0777);
    mkdir(w->in, 0777);
    for (int f = 0; f < FILES; f++) {
        snprintf(path, sizeof path, "%s/%d.json%s", w->in, f, f % 2 ? ".gz" : "");
        gzFile file = gzopen(path, f % 2 ? "wb" : "wbT");
        assert_non_null(file);
        for (int i = 0; i < ROWS; i++)
            gzprintf(file, "{\"part\":\"%c\",\"value\":%d}\n", 'a' + i % 3, f * ROWS + i);
        for (int i = 0; i < BAD; i++)
            gzprintf(file, "{\"part\":%d\n", i);
        gzclose(file);
    }
}

static void set_up(struct world *w, const struct variant *v)
{
    static uint32_t serial;

    *w = (struct world){.variant = v, .from = mr_source_find("json"), .to = mr_sink_find("json")};
    mr_arena_init(&w->arena, NULL, &w->escape);
    snprintf(w->path, sizeof w->path, "/dev/shm/mr-file-faults-%ld-%u", (long)getpid(), serial++);
    snprintf(w->in, sizeof w->in, "%s/in", w->path);
    snprintf(w->out, sizeof w->out, "%s/out", w->path);
    snprintf(w->bad, sizeof w->bad, "%s/bad", w->path);
    snprintf(w->gone, sizeof w->gone, "%s/gone/deep", w->path);
    make_input(w);
    w->source_options[0] = (struct mr_option){
        "path", v->by_pattern ? mr_arena_format(&w->arena, "%s/*.json*", w->in) : w->in};
    w->source_options[1] = (struct mr_option){"cleanSource", v->clean};
    w->source_options[2] = (struct mr_option){"sourceArchiveDir", w->gone};
    w->source_options[3] = (struct mr_option){"mode", "DROPMALFORMED"};
    w->table = (struct mr_table){.name = "t",
                                 .streaming = true,
                                 .format = "json",
                                 .options = w->source_options,
                                 .options_n = 4,
                                 .schema = &schema,
                                 .bad_records = w->bad};
    w->source = (struct mr_source_config){.table = &w->table,
                                          .schema = &schema,
                                          .arena = &w->arena,
                                          .zone = mr_zone_utc(),
                                          .batch_rows = 8,
                                          .workers = 1};
    w->sink_options[0] = (struct mr_option){"path", w->out};
    w->sink_options[1] = (struct mr_option){"compression", v->codec};
    w->sink_options[2] = (struct mr_option){"maxFileBytes", v->file_bytes};
    w->sink_options[3] = (struct mr_option){"commitInterval", v->interval};
    w->sink = (struct mr_sink_config){.format = "json",
                                      .options = w->sink_options,
                                      .options_n = 4,
                                      .partition_by = partition_by,
                                      .partition_by_n = 1,
                                      .schema = &schema,
                                      .query_id = "id",
                                      .arena = &w->arena,
                                      .zone = mr_zone_utc(),
                                      .workers = 1};
    assert_int_equal(w->from->check(&w->table, &w->err), MR_OK);
    assert_int_equal(w->to->check(&w->sink, &w->err), MR_OK);
}

static void tear_down(struct world *w)
{
    mr_arena_fini(&w->arena);
    nftw(w->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static enum mr_status open_ends(struct world *w)
{
    w->planner = mr_arena_zero(&w->arena, w->from->planner_size);
    w->reader = mr_arena_zero(&w->arena, w->from->reader_size);
    w->committer = mr_arena_zero(&w->arena, w->to->committer_size);
    w->writer = mr_arena_zero(&w->arena, w->to->writer_size);
    w->source.env = w->sink.env = w->env;
    enum mr_status opened[] = {
        w->from->planner_open(w->planner, &w->source, &w->err),
        w->from->reader_open(w->reader, &w->source, &w->err),
        w->to->committer_open(w->committer, &w->sink, &w->err),
    };
    for (int i = 0; i < 3; i++)
        if (opened[i] != MR_OK)
            return opened[i];
    return w->to->writer_open(w->writer, &w->sink, w->committer, 0, &w->err);
}

static void close_ends(struct world *w)
{
    w->to->writer_close(w->writer);
    w->to->committer_close(w->committer);
    w->from->reader_close(w->reader);
    w->from->planner_close(w->planner);
}

static enum mr_status copy_split(struct world *w, struct mr_text split)
{
    struct mr_source_counts counts = {0};
    enum mr_step step = MR_MORE_OUTPUT;
    enum mr_status status = w->from->open_split(w->reader, split, &w->err);

    while (status == MR_OK && step != MR_DONE) {
        struct mr_batch batch = {0};
        step = w->from->pull(w->reader, &batch, &counts, &w->err);
        if (step == MR_FAILED || w->to->write(w->writer, 0, &batch, &w->err) == MR_FAILED)
            status = w->err.status;
    }
    w->bad_records += counts.bad;
    return status;
}

static enum mr_status publish(struct world *w)
{
    struct mr_buffer prepared;

    mr_buffer_init(&prepared, &w->arena);
    if (w->to->prepare(w->writer, 0, &prepared, &w->err) == MR_FAILED)
        return w->err.status;
    struct mr_text text = mr_buffer_text(&prepared);
    w->is_published = true;
    return w->to->publish(w->committer, 0, &text, 1, &w->err);
}

/* An epoch, as the engine runs it. */
static enum mr_status run(struct world *w)
{
    struct mr_offsets to;
    bool has_new;
    uint32_t n = 0;
    enum mr_status status = open_ends(w);

    if (status == MR_OK)
        status = w->to->undo(w->committer, 0, &w->err);
    if (status == MR_OK)
        status = w->from->freeze(w->planner, &w->err);
    if (status == MR_OK)
        status = w->from->plan(w->planner, 0, MR_LIMIT_AS_CONFIGURED, &to, &has_new, &w->err);
    if (status == MR_OK)
        status = w->from->splits(w->planner, &n, &w->err);
    if (status == MR_OK)
        status = w->to->begin(w->committer, 0, &w->err);
    for (uint32_t i = 0; i < n && status == MR_OK; i++)
        status = copy_split(w, w->from->split(w->planner, i));
    if (status == MR_OK)
        status = publish(w);
    if (status == MR_OK)
        status = w->from->committed(w->planner, 0, &w->err);
    if (status == MR_OK)
        status = w->to->idle(w->committer, &w->err);
    if (status == MR_OK)
        status = w->to->finish(w->committer, &w->err);
    close_ends(w);
    return status;
}

static uint32_t visible, hidden, rows;
static bool seen[FILES * ROWS];

static int see_output(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    char line[256];

    (void)st;
    if (type != FTW_F || path[ftw->base] == '.') {
        hidden += type == FTW_F;
        return 0;
    }
    visible++;
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    while (gzgets(file, line, sizeof line)) {
        int value;
        assert_int_equal(sscanf(line, "{\"value\":%d}", &value), 1);
        assert_true(value >= 0 && value < FILES * ROWS && !seen[value]);
        seen[value] = true;
        rows++;
    }
    gzclose(file);
    return 0;
}

static void look(const struct world *w)
{
    visible = hidden = rows = 0;
    memset(seen, 0, sizeof seen);
    nftw(w->out, see_output, 16, FTW_PHYS);
}

/* A fault that may pass: what is done with files of the source that are read is only told. */
static bool is_tolerated(const struct world *w)
{
    return strcmp(w->variant->clean, "off") != 0;
}

static void check_each(const struct variant *v, const char *kind, const char *action)
{
    uint64_t failed = 0;

    for (uint64_t k = 1, is_reached = 1; is_reached; k++) {
        struct world w;
        struct mr_env *inner;
        char schedule[40];
        set_up(&w, v);
        snprintf(schedule, sizeof schedule, "%s:%llu:%s", kind, (unsigned long long)k, action);
        assert_int_equal(mr_env_open("syscalls", &inner, NULL), MR_OK);
        w.env = mr_fault_open(inner, schedule);
        enum mr_status status = run(&w);
        is_reached = mr_fault_count(w.env) >= k;
        w.env->ops->fini(w.env);
        look(&w);
        if (status == MR_OK) {
            assert_true(!is_reached || is_tolerated(&w));
            assert_int_equal(rows, FILES * ROWS);
            assert_int_equal(hidden, 0);
            assert_int_equal(w.bad_records, FILES * BAD);
        } else {
            failed++;
            assert_int_equal(status, MR_IO);
            assert_non_null(strstr(w.err.message, w.path));
            assert_true(visible == 0 || w.is_published);
        }
        tear_down(&w);
    }
    assert_true(failed > 5);
}

static const struct variant variants[] = {
    {"off", "none", "128m", "0 seconds", false},
    {"archive", "gzip", "300", "1 hour", false},
    {"delete", "none", "300", "1 hour", true},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        check_each(&variants[i], "any", "EIO");
        check_each(&variants[i], "read", "EIO");
        check_each(&variants[i], "write", "torn");
    }
}

static void test_zstd(void **state)
{
    static const struct variant v = {"off", "zstd", "300", "1 hour", false};
    struct world w;

    (void)state;
    set_up(&w, &v);
    assert_int_equal(mr_env_open("syscalls", &w.env, NULL), MR_OK);
    assert_int_equal(run(&w), MR_OK);
    w.env->ops->fini(w.env);
    tear_down(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_zstd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
