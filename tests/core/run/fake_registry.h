/* fake_registry.h - sources json and text, sinks noop and console: this folder's tests link no real
 * ones. */
#pragma once
#include "core/run/job.h"
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct mr_field text_fields[] = {{"value", &mr_type_string, true}};
static const struct mr_type text_schema = {.kind = MR_STRUCT, .fields_n = 1, .fields = text_fields};

static const struct mr_type *fixed_schema(const struct mr_option *options, uint32_t n,
                                          struct mr_arena *a)
{
    (void)options;
    (void)n;
    (void)a;
    return &text_schema;
}

/* Refuses the option "bad". */
static enum mr_status check_table(const struct mr_table *t, struct mr_error *err)
{
    if (mr_option_get(t->options, t->options_n, "bad"))
        return MR_FAIL(err, MR_USER, 0, "source \"%s\": option bad: no", t->name);
    return MR_OK;
}

static enum mr_status check_sink(const struct mr_sink_config *config, struct mr_error *err)
{
    if (mr_option_get(config->options, config->options_n, "bad"))
        return MR_FAIL(err, MR_USER, 0, "option bad: no");
    assert_int_equal(config->schema->fields_n, 1);
    return MR_OK;
}

static const struct mr_source_ops fake_json = {.name = "json"};
static const struct mr_source_ops fake_text = {
    .name = "text", .schema = fixed_schema, .check = check_table};
static const struct mr_sink_ops fake_noop = {
    .name = "noop", .modes = 1 << MR_APPEND, .check = check_sink};
static const struct mr_sink_ops fake_console = {
    .name = "console", .modes = 1 << MR_APPEND, .needs_checkpoint = true};
static const char *const source_names[] = {"json", "text", NULL};
static const char *const sink_names[] = {"console", "noop", NULL};

const struct mr_source_ops *mr_source_find(const char *format)
{
    return strcmp(format, "json") == 0   ? &fake_json
           : strcmp(format, "text") == 0 ? &fake_text
                                         : NULL;
}

const struct mr_sink_ops *mr_sink_find(const char *format)
{
    return strcmp(format, "noop") == 0      ? &fake_noop
           : strcmp(format, "console") == 0 ? &fake_console
                                            : NULL;
}

const char *const *mr_source_names(void)
{
    return source_names;
}

const char *const *mr_sink_names(void)
{
    return sink_names;
}
