/* test_plan_cases.c - every recorded case is planned: Spark's verdict where the plan decides it.
 *
 * usage: test_plan_cases [-v] [PREFIX]     -v prints the plans
 */
#include "core/mem/mem.h"
#include "tests/core/plan/case.h"

#include <dirent.h>

/* Raised by rows or by files, not by the plan. */
static const char *const at_run[] = {"HLL_INVALID_INPUT_SKETCH_BUFFER",
                                     "HLL_UNION_DIFFERENT_LG_K",
                                     "INVALID_ARRAY_INDEX",
                                     "CONVERSION_INVALID_INPUT",
                                     "INVALID_DATETIME_PATTERN.WITH_SUGGESTION",
                                     "ARITHMETIC_OVERFLOW",
                                     "BINARY_ARITHMETIC_OVERFLOW",
                                     "CAST_INVALID_INPUT",
                                     "INVALID_VARIANT_CAST",
                                     "INVALID_VARIANT_GET_PATH",
                                     "CAST_OVERFLOW",
                                     "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                                     "DIVIDE_BY_ZERO",
                                     "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                                     "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
                                     "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION",
                                     "DUPLICATED_MAP_KEY",
                                     "CANNOT_PARSE_TIMESTAMP",
                                     "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
                                     "PARSE_MODE_UNSUPPORTED"};

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

    if (want != NULL && strncmp(name, "file_", 5) == 0)
        return true; /* of sources and schemas, before anything is planned */
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
    if (want == NULL && strcmp(err.condition, "UNRESOLVED_ROUTINE") == 0) {
        printf("MISSING %s: %s\n", name, err.message); /* of core/expr */
        return true;
    }
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

static bool verbose;
static const char *prefix = "";

static int check(struct mr_arena *a, struct mr_arena *paths)
{
    const char *folder = case_path("cases", paths);
    struct dirent **files;
    int n = scandir(folder, &files, NULL, by_name), failed = 0, seen = 0;

    if (n < 0)
        return 77;
    for (int i = 0; i < n; i++) {
        const char *name = files[i]->d_name;

        if (strstr(name, ".json") != NULL && strncmp(name, prefix, strlen(prefix)) == 0) {
            struct json_reader r = {.arena = a};
            size_t bytes;

            mr_arena_reset(a);
            r.at = read_file(mr_arena_format(a, "%s/%s", folder, name), a, &bytes);
            r.end = r.at + bytes;
            failed += !run_case(name, json_value(&r), a, verbose);
            seen++;
        }
        free(files[i]);
    }
    free(files);
    printf("%d cases, %d failed\n", seen, failed);
    return failed != 0 || seen == 0;
}

int main(int argc, char **argv)
{
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (argc > 1 + verbose)
        prefix = argv[1 + verbose];
    return case_main(check);
}
