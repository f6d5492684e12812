/* The bytes of a split: a file that lost its end since it was planned is told; compressed files of
 * any length, and bad ones. */
#include "io/file/file_stream.h"

#include "core/mem/mem.h"
#include "io/file/file_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static jmp_buf escape;

static void a_short_file_is_told(void **state)
{
    static const struct {
        uint64_t start, end, bytes; /* of the split, as planned */
        bool is_short;
        const char *text;
    } cases[] = {
        {0, UINT64_MAX, 8, false, "one\ntwo\n"},
        {0, UINT64_MAX, 9, true, "one\ntwo\n"},
        {0, UINT64_MAX, 5, false, "one\ntwo\n"} /* it grew */,
        {4, UINT64_MAX, 4, false, "two\n"},
        {4, UINT64_MAX, 40, true, "two\n"},
        {8, 16, 8, true, ""},
        {0, 4, 4, false, "one\n"},
    };
    char path[] = "/tmp/mr-stream-XXXXXX";
    int fd = mkstemp(path);
    struct mr_file_stream s;
    struct mr_env *env;

    (void)state;
    assert_true(fd >= 0 && write(fd, "one\ntwo\n", 8) == 8);
    close(fd);
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    mr_file_stream_init(&s, env, NULL, &escape);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mr_file_split split = {
            .start = cases[i].start, .end = cases[i].end, .bytes = cases[i].bytes, .path = path};
        bool gone;
        assert_int_equal(mr_file_stream_open(&s, &split, &gone, NULL), MR_OK);
        assert_false(gone);
        assert_int_equal(mr_file_stream_fill(&s, NULL), MR_OK);
        assert_true(s.at_end);
        assert_int_equal(s.is_short, cases[i].is_short);
        assert_int_equal(s.n, strlen(cases[i].text));
        assert_memory_equal(s.data, cases[i].text, s.n);
    }
    mr_file_stream_fini(&s);
    env->ops->fini(env);
    unlink(path);
}

enum { TEXT_BYTES = 700000, AT_END = 1000000 };
static uint8_t text[TEXT_BYTES];
static char path[] = "/tmp/mr-stream-XXXXXX";

static int set_up(void **state)
{
    uint32_t x = 12345;

    (void)state;
    for (int i = 0; i < TEXT_BYTES; i++) {
        x = x * 1664525 + 1013904223;
        text[i] = (uint8_t)("0123456789abcde\n"[x >> 28]);
    }
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* A gzip member or a zstd frame without a checksum, behind those that are there. */
static void append_member(enum mr_file_codec codec, const uint8_t *data, size_t n)
{
    if (codec == MR_FILE_GZIP) {
        gzFile file = gzopen(path, "ab");
        assert_true(file && gzwrite(file, data, (unsigned)n) == (int)n);
        assert_int_equal(gzclose(file), Z_OK);
        return;
    }
    size_t bound = ZSTD_compressBound(n);
    void *frame = malloc(bound);
    FILE *file = fopen(path, "ab");
    size_t bytes = ZSTD_compress(frame, bound, data, n, 3);
    assert_true(file && !ZSTD_isError(bytes) && fwrite(frame, 1, bytes, file) == bytes);
    fclose(file);
    free(frame);
}

static struct mr_file_stream open_stream(struct mr_env *env, enum mr_file_codec codec)
{
    const struct mr_file_split split = {.end = UINT64_MAX, .path = path, .codec = codec};
    struct mr_file_stream s;
    bool gone;

    mr_file_stream_init(&s, env, NULL, &escape);
    assert_int_equal(mr_file_stream_open(&s, &split, &gone, NULL), MR_OK);
    assert_false(gone);
    return s;
}

/* Members end anywhere, also where the room for their rows does: nothing waits unseen. */
static void members_of_any_length(void **state)
{
    static const size_t cases[][4] = {
        {1},
        {262144},
        {262144, 1},
        {262143, 2},
        {100000, 200000},
        {200000, 100000, 90000},
        {131072, 131072, 131072, 131072},
        {300000, 5, 131072, 260000},
        {400000, 300000},
    };
    struct mr_env *env;

    (void)state;
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    for (uint32_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        enum mr_file_codec codec = i % 2 ? MR_FILE_ZSTD : MR_FILE_GZIP;
        struct mr_error err = {0};
        uint64_t all = 0, at = 0;
        assert_int_equal(truncate(path, 0), 0);
        for (int k = 0; k < 4 && cases[i / 2][k]; all += cases[i / 2][k++])
            append_member(codec, text + all, cases[i / 2][k]);
        struct mr_file_stream s = open_stream(env, codec);
        while (!s.at_end) {
            if (mr_file_stream_fill(&s, &err) != MR_OK)
                fail_msg("case %u: %s", i, err.message);
            assert_true(s.n <= all - at);
            assert_memory_equal(s.data, text + at, s.n);
            at += s.n;
            mr_file_stream_consume(&s, s.n);
        }
        assert_int_equal(at, all);
        mr_file_stream_fini(&s);
    }
    env->ops->fini(env);
}

/* What is no such file, or only a part of one, says where. */
static void bad_members_are_told(void **state)
{
    static const struct {
        uint64_t cut, spoilt; /* bytes of the file; where it is spoilt; 0: not */
        const char *says;
    } cases[] = {
        {0, 0, NULL},
        {5, 0, "the compressed file is cut off at 5"},
        {300, 0, "the compressed file is cut off at 300"},
        {0, 1, "bad compressed data near byte"},
        {0, 6, "bad compressed data near byte"},
        {0, AT_END, "bad compressed data near byte"},
    };
    struct mr_env *env;

    (void)state;
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    for (uint32_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        enum mr_file_codec codec = i % 2 ? MR_FILE_ZSTD : MR_FILE_GZIP;
        struct mr_error err = {0};
        enum mr_status status = MR_OK;
        assert_int_equal(truncate(path, 0), 0);
        append_member(codec, text, 4000);
        if (cases[i / 2].cut)
            assert_int_equal(truncate(path, (off_t)cases[i / 2].cut), 0);
        if (cases[i / 2].spoilt) {
            FILE *file = fopen(path, "r+b");
            assert_non_null(file);
            if (cases[i / 2].spoilt == AT_END)
                fseek(file, 0, SEEK_END);
            else
                fseek(file, (long)cases[i / 2].spoilt, SEEK_SET);
            for (int k = 0; k < 16; k++)
                fputc(0xff, file);
            fclose(file);
        }
        struct mr_file_stream s = open_stream(env, codec);
        while (!s.at_end && status == MR_OK)
            status = mr_file_stream_fill(&s, &err);
        if (cases[i / 2].says == NULL)
            assert_int_equal(status, MR_OK);
        else if (status != MR_QUERY || strstr(err.message, cases[i / 2].says) == NULL ||
                 strstr(err.message, path) == NULL)
            fail_msg("case %u: %s", i, err.message);
        mr_file_stream_fini(&s);
    }
    env->ops->fini(env);
}

static void what_can_not_be_opened_is_told(void **state)
{
    struct mr_file_split split = {.end = UINT64_MAX};
    struct mr_error err = {0};
    struct mr_file_stream s;
    struct mr_env *env;
    bool gone;

    (void)state;
    assert_int_equal(mr_env_open("syscalls", &env, NULL), MR_OK);
    mr_file_stream_init(&s, env, NULL, &escape);
    split.path = "/dev/null/x";
    assert_int_equal(mr_file_stream_open(&s, &split, &gone, &err), MR_IO);
    assert_false(gone);
    assert_string_equal(err.message, "open /dev/null/x");
    split.path = "/nowhere/x";
    assert_int_equal(mr_file_stream_open(&s, &split, &gone, &err), MR_OK);
    assert_true(gone);
    mr_file_stream_fini(&s);
    env->ops->fini(env);
}

/* A record of more than a sixteenth of the memory: left out, where a line feed tells where the next
 * one begins; else nobody knows what the rest of the file is. */
static void giants_are_left_out(void **state)
{
    static const struct {
        struct mr_option option;
        bool is_error;
    } rows[] = {
        {{"lineSep", "\n"}, false},
        {{"lineSep", ";"}, true},
        {{"wholetext", "true"}, true},
        {{"wholetext", "false"}, false},
    };
    enum { GIANT_BYTES = 3 << 19 };
    struct mr_error err = {0};
    struct mr_env *env;
    struct mr_budget budget;
    struct mr_arena limited;

    (void)state;
    char *giant = malloc(GIANT_BYTES);
    memset(giant, 0x78, GIANT_BYTES);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs("a\n", file);
    fwrite(giant, 1, GIANT_BYTES, file);
    fputs("\nb\nc\n", file);
    fclose(file);
    free(giant);
    assert_int_equal(mr_env_open("syscalls", &env, &err), MR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct mr_option options[] = {{"path", path}, rows[i].option};
        struct mr_table t = {.name = "t", .format = "text", .options = options, .options_n = 2};
        struct mr_file_split split = {.path = options[0].value, .end = UINT64_MAX};
        struct mr_source_counts counts = {0};
        struct mr_file_reader reader = {0};
        struct mr_buffer bytes;
        enum mr_step step = MR_MORE_OUTPUT;
        t.schema = mr_format_text.default_schema;
        mr_budget_init(&budget, "test", NULL, 16 << 20);
        mr_arena_init(&limited, &budget, &escape);
        struct mr_source_config config = {.table = &t,
                                          .schema = t.schema,
                                          .env = env,
                                          .arena = &limited,
                                          .zone = mr_zone_utc(),
                                          .batch_rows = 100};
        assert_int_equal(mr_file_reader_open(&reader, &config, &err), MR_OK);
        mr_buffer_init(&bytes, &limited);
        mr_file_split_write(&split, &bytes);
        assert_int_equal(mr_file_open_split(&reader, mr_buffer_text(&bytes), &err), MR_OK);
        while (step == MR_MORE_OUTPUT) {
            struct mr_batch batch;
            step = mr_file_pull(&reader, &batch, &counts, &err);
        }
        if (rows[i].is_error) {
            assert_int_equal(step, MR_FAILED);
            assert_non_null(strstr(err.message, "a record is longer than 1048576 bytes"));
            assert_int_equal(counts.bad, 0);
        } else {
            assert_int_equal(step, MR_DONE);
            assert_true(counts.rows == 3 && counts.bad == 1);
        }
        mr_file_reader_close(&reader);
        mr_arena_fini(&limited);
    }
    env->ops->fini(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_file_is_told),
        cmocka_unit_test_setup_teardown(members_of_any_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_members_are_told, set_up, tear_down),
        cmocka_unit_test(what_can_not_be_opened_is_told),
        cmocka_unit_test_setup_teardown(giants_are_left_out, set_up, tear_down),
    };
    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
