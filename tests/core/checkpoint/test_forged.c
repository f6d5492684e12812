/* What checksums let pass, because who wrote it made them right: a file of another version, a log
 * or a snapshot of another query put into the folder. It is refused with what is wrong, never read
 * as something else. */
#include "core/checkpoint/crc32c.h"
#include "core/checkpoint/log.h"
#include "core/checkpoint/metadata.h"
#include "core/checkpoint/snapshot.h"
#include "tests/core/checkpoint/world.h"

#include <fcntl.h>

static const char *in_world(struct world *w, const char *name)
{
    return mr_arena_format(&w->arena, "%s/%s", w->path, name);
}

static void put_file(struct world *w, const char *name, const char *text)
{
    FILE *f = fopen(in_world(w, name), "wb");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* A checkpoint with snapshots and several segments. */
static void make(struct world *w, uint32_t epochs)
{
    world_init(w, "forged");
    w->config.segment_bytes = 32 * 1024;
    w->config.snapshot_bytes_per_epoch = 20000;
    assert_int_equal(world_open(w), MR_OK);
    for (uint32_t i = 0; i < epochs; i++)
        assert_int_equal(world_epoch(w), MR_OK);
    world_close(w);
}

static void test_metadata(void **state)
{
    static const char head[] = "millrace checkpoint\nversion 1\n",
                      whole[] = "code 1\nid x\nmode append\n";
    static const struct {
        const char *before, *text, *says;
        enum mr_status status;
    } rows[] = {
        {head, whole, NULL, MR_OK},
        {head, "code 1\nid x\nmode append\nsink json\nsource a\\nb\\\\c\\\n", NULL, MR_OK},
        {"", "another program\n", "no checkpoint of millrace", MR_CORRUPT},
        {"", "no line end", "no checkpoint of millrace", MR_CORRUPT},
        {"", "", "no checkpoint of millrace", MR_CORRUPT},
        {"", "millrace checkpoint\n", "a version was expected", MR_CORRUPT},
        {"", "millrace checkpoint\nvorsion 1\n", "a version was expected", MR_CORRUPT},
        {"", "millrace checkpoint\nversion 99\n", "format version 99", MR_UNSUPPORTED},
        {head, "id x\nmode append\n", "id, code or mode is missing", MR_CORRUPT},
        {head, "code 1\nmode append\n", "id, code or mode is missing", MR_CORRUPT},
        {head, "code 1\nid x\n", "id, code or mode is missing", MR_CORRUPT},
        {head, "code 1\nid x\nmode append\nblank\n", "a key that is not known", MR_CORRUPT},
        {head, "detail x\n", "line 3: a key that is not known", MR_CORRUPT},
        {head, "table x\n", "a key that is not known", MR_CORRUPT},
        {head, "operator o\nslots i64\n", "line 4: a key that is not known", MR_CORRUPT},
        {head, "operator o\nkey bigint\n", "a key that is not known", MR_CORRUPT},
        {head, "operator o\nvalue bigint\n", "a key that is not known", MR_CORRUPT},
        {head, "operator o\ntable t\nother bigint\n", "a key that is not known", MR_CORRUPT},
    };
    struct world w;

    (void)state;
    world_init(&w, "forged");
    assert_int_equal(mkdir(w.path, 0777), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_metadata m;
        bool found;
        const char *text = mr_arena_format(&w.arena, "%s%s", rows[i].before, rows[i].text);
        put_file(
            &w, "metadata",
            mr_arena_format(&w.arena, "%scrc32c %08x\n", text, mr_crc32c(0, text, strlen(text))));
        enum mr_status status =
            mr_metadata_load(w.env, in_world(&w, "metadata"), &w.arena, &m, &found, &w.err);
        assert_int_equal(status, rows[i].status);
        if (rows[i].says && strstr(w.err.message, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, w.err.message);
    }
    put_file(&w, "metadata", "short\n");
    assert_int_equal(world_open(&w), MR_CORRUPT);
    assert_non_null(strstr(w.err.message, "it is too short"));
    world_fini(&w);
}

/* Types of all kinds, and what has no name. */
static void test_types(void **state)
{
    static const struct mr_field one[] = {{NULL, &mr_type_bigint, false}},
                                 two[] = {{"k", &mr_type_string, false},
                                          {"v", &mr_type_double, true}};
    static const struct mr_type array = {.kind = MR_ARRAY, .fields_n = 1, .fields = one},
                                map = {.kind = MR_MAP, .fields_n = 2, .fields = two},
                                both = {.kind = MR_STRUCT, .fields_n = 2, .fields = two};
    static const struct mr_field all[] = {
        {"a", &array, true}, {"m", &map, false}, {"s", &both, true}, {NULL, &mr_type_date, true}};
    static const struct mr_type key = {.kind = MR_STRUCT, .fields_n = 4, .fields = all};
    static const struct mr_state_table table = {.name = "t", .key = &key};
    static const struct mr_fingerprint_operator op = {"dedupe", &table, 1, NULL};
    static const struct mr_fingerprint f = {.operators_n = 1, .operators = &op, .mode = "append"};
    struct world w;
    struct mr_metadata m;
    struct mr_buffer out;

    (void)state;
    world_init(&w, "forged");
    mr_metadata_of(&f, "id", &w.arena, &m);
    mr_buffer_init(&out, &w.arena);
    mr_metadata_print(&m, &out);
    mr_buffer_append(&out, "", 1);
    const char *text = (const char *)out.data;
    assert_non_null(strstr(text, "key array<bigint!>? a\nkey map<string!,double?>! m\n"));
    assert_non_null(strstr(text, "key struct<string!,double?>? s\nkey date? \n"));
    assert_int_equal(mr_metadata_compare(&m, &m, w.path, &w.arena, &w.err), MR_OK);
    world_fini(&w);
}

enum { CHUNKS_MAX = 3 };

/* A round behind the newest one, of these chunks and an end. */
static void put_round(struct world *w, const struct mr_chunk *chunks, const char *data)
{
    struct mr_snapshot_list list;
    struct mr_round r = {.env = w->env, .path = in_world(w, "snapshot"), .arena = &w->arena};

    assert_int_equal(mr_snapshot_list(w->env, r.path, false, &w->arena, &list, &w->err), MR_OK);
    r.number = list.seen_max;
    assert_int_equal(mr_round_begin(&r, 12345, UINT64_MAX, &w->err), MR_OK);
    for (uint32_t i = 0; i < CHUNKS_MAX && chunks[i].kind; i++)
        assert_int_equal(mr_round_put(&r, chunks[i], mr_text_of(data), &w->err), MR_OK);
    assert_int_equal(mr_round_finish(&r, 12345, &w->err), MR_OK);
}

static void test_snapshots(void **state)
{
    static const struct {
        struct mr_chunk chunks[CHUNKS_MAX];
        const char *data, *says;
    } rows[] = {
        {{{.kind = 77}}, "", "a chunk of an unknown kind"},
        {{{.kind = MR_CHUNK_STATE, .op = 9, .partitions_n = 1}},
         "",
         "a table that the query has not"},
        {{{.kind = MR_CHUNK_STATE, .table = 9, .partitions_n = 1}},
         "",
         "a table that the query has"},
        {{{.kind = MR_CHUNK_STATE, .partitions_n = 9999}}, "", "a table that the query has not"},
        {{{.kind = MR_CHUNK_STATE, .partition = 200, .partitions_n = 100}},
         "",
         "that the query has"},
        {{{.kind = MR_CHUNK_BEGIN}}, "", "a chunk of something else"},
        {{{.kind = MR_CHUNK_STATE, .epoch = 12345, .partitions_n = 1}}, "", "newer than the last"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        make(&w, 20);
        put_round(&w, rows[i].chunks, rows[i].data);
        assert_int_equal(world_open(&w), MR_CORRUPT);
        if (strstr(w.err.message, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, w.err.message);
        assert_non_null(strstr(w.err.message, w.path));
        world_fini(&w);
    }
}

/* A file of snapshots under another name is no round of that number; what is no round is left
 * alone. */
static void test_names(void **state)
{
    struct world w;
    struct mr_snapshot_list list;

    (void)state;
    make(&w, 20);
    put_file(&w, "snapshot/0000000000000000", "");
    put_file(&w, "snapshot/readme", "");
    put_file(&w, "snapshot/0000000000000001.bak", "");
    put_file(&w, "snapshot/77", "");
    put_file(&w, "log/0000000000000000", "");
    put_file(&w, "log/0000000000000001.bak", "");
    put_file(&w, "log/readme", "");
    assert_int_equal(mkdir(in_world(&w, "snapshot/0000000000000099"), 0777), 0);
    assert_int_equal(mkdir(in_world(&w, "log/0000000000000099"), 0777), 0);
    assert_int_equal(world_open(&w), MR_OK);
    world_close(&w);
    assert_int_equal(
        mr_snapshot_list(w.env, in_world(&w, "snapshot"), false, &w.arena, &list, &w.err), MR_OK);
    assert_int_equal(link(in_world(&w, mr_arena_format(&w.arena, "snapshot/%016llu",
                                                       (unsigned long long)list.newest)),
                          in_world(&w, "snapshot/0000000000000098")),
                     0);
    assert_int_equal(world_open(&w), MR_CORRUPT);
    assert_non_null(strstr(w.err.message, "a chunk of something else"));
    world_fini(&w);
}

/* A group behind the last one. is_cut: its first record says that it is longer than the group. */
static void put_group(struct world *w, const struct mr_record *records, const struct mr_text *data,
                      bool is_cut)
{
    struct mr_arena a, scratch;
    struct mr_log_scan scan = {.env = w->env, .path = in_world(w, "log"), .arena = &a};
    struct mr_log log = {.env = w->env,
                         .path = in_world(w, "log"),
                         .arena = &a,
                         .scratch = &scratch,
                         .segment_bytes = 32 * 1024};

    mr_arena_init(&a, NULL, NULL);
    mr_arena_init(&scratch, NULL, NULL);
    assert_int_equal(mr_log_scan(&scan, 0, &w->err), MR_OK);
    assert_int_equal(mr_log_open(&log, &scan, &w->err), MR_OK);
    for (uint32_t i = 0; i < 2 && records[i].kind; i++)
        assert_int_equal(mr_log_put(&log, w->next, records[i], data[i], &w->err), MR_OK);
    if (is_cut) {
        uint64_t bytes = 1 << 20;
        memcpy(log.group.data + sizeof(struct mr_group_header), &bytes, sizeof bytes);
    }
    assert_int_equal(mr_log_append(&log, true, &w->err), MR_OK);
    mr_log_close(&log);
    mr_log_scan_fini(&scan);
    mr_arena_fini(&a);
    mr_arena_fini(&scratch);
}

static void test_groups(void **state)
{
    struct mr_buffer commit;
    struct world w;
    struct mr_commit good = {.epoch = 20, .prepared = MR_TEXT("x")};
    static const struct {
        struct mr_record records[2]; /* the second: a good commit */
        const char *data, *says;
        bool is_cut, is_seen;
    } rows[] = {
        {{{.kind = 99}}, "abc", "a record of an unknown kind", false, false},
        {{{.kind = MR_RECORD_COMMIT}}, "abc", "a commit in the log is malformed", false, true},
        {{{.kind = MR_RECORD_PLAN}}, "abc", "the plan of the last epoch is malformed", false, true},
        {{{.kind = MR_RECORD_PLAN}, {.kind = MR_RECORD_COMMIT}},
         "abc",
         "a plan in the log is malformed",
         false,
         true},
        {{{.kind = MR_RECORD_STATE, .op = 7}, {.kind = MR_RECORD_COMMIT}},
         "abc",
         "a table that the query has not",
         false,
         false},
        {{{.kind = MR_RECORD_STATE, .table = 7}, {.kind = MR_RECORD_COMMIT}},
         "abc",
         "a table that the query has not",
         false,
         false},
        {{{.kind = MR_RECORD_PLAN}}, "abc", "a group of the log is malformed", true, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mr_buffer out;
        make(&w, 20);
        mr_buffer_init(&commit, &w.arena);
        mr_record_put_commit(&commit, &good);
        const struct mr_text data[] = {mr_text_of(rows[i].data), mr_buffer_text(&commit)};
        put_group(&w, rows[i].records, data, rows[i].is_cut);
        mr_buffer_init(&out, &w.arena);
        assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err),
                         rows[i].is_seen ? MR_CORRUPT : MR_OK);
        assert_int_equal(world_open(&w), MR_CORRUPT);
        if (strstr(w.err.message, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, w.err.message);
        world_fini(&w);
    }
}

/* What show says of a query without a watermark, an epoch that was planned, and what is no
 * checkpoint. */
static void test_shown(void **state)
{
    struct mr_plan_record plan = {.epoch = 1, .sources_n = 1};
    struct mr_commit commit = {.next_watermark_us = INT64_MIN};
    struct mr_buffer out;
    struct world w;

    (void)state;
    world_init(&w, "forged");
    mr_checkpoint_close(NULL);
    assert_int_equal(world_open(&w), MR_OK);
    assert_int_equal(mr_checkpoint_log(w.checkpoint, 0, 0, 0, (struct mr_text){NULL, 0}, &w.err),
                     MR_OK);
    assert_int_equal(mr_checkpoint_commit(w.checkpoint, &commit, &w.err), MR_OK);
    assert_int_equal(mr_checkpoint_plan(w.checkpoint, &plan, &w.err), MR_OK);
    world_close(&w);
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_show(w.env, w.path, &out, &w.err), MR_OK);
    mr_buffer_append(&out, "", 1);
    assert_non_null(strstr((char *)out.data, "watermark none"));
    assert_non_null(
        strstr((char *)out.data, "planned epoch 1, not committed\nup to offset of source 1: \n"));
    put_file(&w, "plain", "");
    assert_int_equal(mr_checkpoint_show(w.env, in_world(&w, "plain"), &out, &w.err), MR_USER);
    assert_non_null(strstr(w.err.message, "is no folder"));
    assert_int_equal(mr_checkpoint_verify(w.env, in_world(&w, "snapshot"), &out, &w.err), MR_USER);
    assert_non_null(strstr(w.err.message, "it has neither metadata nor log"));
    assert_int_equal(remove(in_world(&w, "metadata")), 0);
    put_file(&w, "log/0000000000000005", "x");
    mr_buffer_init(&out, &w.arena);
    assert_int_equal(mr_checkpoint_verify(w.env, w.path, &out, &w.err), MR_CORRUPT);
    assert_non_null(strstr(w.err.message, "2 problems"));
    mr_buffer_append(&out, "", 1);
    assert_non_null(strstr((char *)out.data, "metadata is missing"));
    assert_non_null(strstr((char *)out.data, "it does not begin"));
    world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),  cmocka_unit_test(test_types),
        cmocka_unit_test(test_snapshots), cmocka_unit_test(test_names),
        cmocka_unit_test(test_groups),    cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
