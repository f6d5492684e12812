/* docs/options.md is what the tables of options say. MR_UPDATE_DOCS=1 writes it. */
#include "core/format/format.h"
#include "core/format/options.h"
#include "core/op/sink.h"
#include "core/op/source.h"
#include "core/run/job_yaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf escape;

static void print_own(const char *name, const char *const *options, struct mr_buffer *out)
{
    if (*options == NULL || strcmp(name, "memory") == 0) /* memory: of the C API, not of jobs */
        return;
    mr_buffer_append_format(out, "\n### %s\n\n| option | meaning (default) |\n|---|---|\n", name);
    for (; *options; options++) {
        const char *colon = strchr(*options, ':');
        assert_non_null(colon);
        mr_buffer_append_format(out, "| `%.*s` |%s |\n", (int)(colon - *options), *options,
                                colon + 1);
    }
}

static void print_format(const struct mr_format_ops *f, struct mr_buffer *out)
{
    mr_buffer_append_format(out, "\n### %s\n\n", f->name);
    for (const struct mr_option_spec *o = f->options; o->name; o++) {
        const char *use = o->use == MR_OPTION_READS    ? " (reading)"
                          : o->use == MR_OPTION_WRITES ? " (writing)"
                                                       : "";
        mr_buffer_append_format(out, "%s`%s`%s", o == f->options ? "" : ", ", o->name, use);
    }
    mr_buffer_append_text(out, MR_TEXT("\n"));
}

static void print_all(struct mr_buffer *out)
{
    static const char *const file_formats[] = {"json", NULL}; /* the three have the same */

    mr_buffer_append_text(
        out, MR_TEXT("# Options\n\nThe `options:` of sources and sinks, named as in Spark and as "
                     "good in any "
                     "case; one that is not known is an error. An option that says\n\"accepted\" "
                     "is there for "
                     "job files that come from Spark, and does nothing.\n\n## Sources\n"));
    for (const char *const *name = mr_source_names(); *name; name++)
        if (mr_format_find(*name) == NULL)
            print_own(*name, mr_source_find(*name)->options, out);
    print_own("json, csv, text: of the files", mr_source_find(file_formats[0])->options, out);
    mr_buffer_append_text(out, MR_TEXT("\n## Sinks\n"));
    for (const char *const *name = mr_sink_names(); *name; name++)
        if (mr_format_find(*name) == NULL)
            print_own(*name, mr_sink_find(*name)->options, out);
    print_own("json, csv, text: of the files", mr_sink_find(file_formats[0])->options, out);
    mr_buffer_append_text(out, MR_TEXT("\n## Formats\n\nBeside those of the files, also for "
                                       "`from_json`, `to_json` and their like; "
                                       "meanings and defaults are Spark's.\n"));
    for (uint32_t i = 0; mr_formats[i]; i++)
        print_format(mr_formats[i], out);
}

static void test_docs_are_in_sync(void **state)
{
    const char *end = strstr(__FILE__, "tests/io");
    struct mr_arena a;
    struct mr_buffer docs;
    struct mr_text text;
    char path[1024];

    (void)state;
#ifndef MR_HAVE_KAFKA
    skip(); /* its options are missing here */
#endif
    assert_non_null(end);
    snprintf(path, sizeof path, "%.*sdocs/options.md", (int)(end - __FILE__), __FILE__);
    mr_arena_init(&a, NULL, &escape);
    mr_buffer_init(&docs, &a);
    print_all(&docs);
    if (getenv("MR_UPDATE_DOCS")) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(docs.data, 1, docs.n, f);
        fclose(f);
    }
    assert_int_equal(mr_yaml_read_file(path, 1 << 20, &a, &text, NULL), MR_OK);
    mr_buffer_append(&docs, "", 1);
    assert_string_equal(text.data, (const char *)docs.data);
    mr_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_docs_are_in_sync)};

    if (setjmp(escape))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
