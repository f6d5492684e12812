#include "io/file/file_reader.h"

#include "core/base/check.h"
#include "io/file/file_partition.h"

/* fnmatch would take what it can't read literally, and match nothing for ever. */
static enum mr_status check_pattern(const struct mr_table *table, const char *path,
                                    struct mr_error *err)
{
    const char *open = strchr(path, '[');

    if (strpbrk(path, "{}") == NULL && (open == NULL || strchr(open, ']')))
        return MR_OK;
    return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                             "source \"%s\": the pattern %s can't be read: allowed are *, ? and "
                             "[..]",
                             table->name, path);
}

static enum mr_status check(const struct mr_table *table, struct mr_error *err)
{
    struct mr_option options[256];
    struct mr_file_options own;
    enum mr_status status = mr_file_options_read(table, &own, err);

    if (status != MR_OK)
        return status;
    status = check_pattern(table, own.path, err);
    if (status != MR_OK)
        return status;
    if (table->options_n > 256)
        return MR_FAIL(err, MR_USER, 0, "source \"%s\": more than 256 options", table->name);
    uint32_t n =
        mr_file_format_options(table->options, table->options_n, mr_file_source_options, options);
    status = mr_format_find(table->format)->check_options(options, n, true, err);
    return status == MR_OK ? MR_OK
                           : mr_file_unknown_option(table->format, options, n,
                                                    mr_file_source_options, true, status, err);
}

static const struct mr_type *declared_schema(const struct mr_option *options, uint32_t n,
                                             struct mr_arena *a)
{
    (void)options;
    (void)n;
    (void)a;
    return NULL;
}

static const struct mr_type *text_schema(const struct mr_option *options, uint32_t n,
                                         struct mr_arena *a)
{
    (void)options;
    (void)n;
    (void)a;
    return mr_format_text.default_schema;
}

#define FILE_SOURCE(format, schema_of)                                                             \
    const struct mr_source_ops mr_source_##format = {                                              \
        .name = #format,                                                                           \
        .planner_size = sizeof(struct mr_file_planner),                                            \
        .reader_size = sizeof(struct mr_file_reader),                                              \
        .replayable = true,                                                                        \
        .schema = schema_of,                                                                       \
        .options = mr_file_source_options,                                                         \
        .complete_schema = mr_file_complete_schema,                                                \
        .check = check,                                                                            \
        .planner_open = mr_file_planner_open,                                                      \
        .planner_close = mr_file_planner_close,                                                    \
        .plan = mr_file_plan,                                                                      \
        .freeze = mr_file_freeze,                                                                  \
        .adopt = mr_file_adopt,                                                                    \
        .save = mr_file_save,                                                                      \
        .load = mr_file_load,                                                                      \
        .committed = mr_file_committed,                                                            \
        .splits = mr_file_splits,                                                                  \
        .split = mr_file_split_bytes,                                                              \
        .reader_open = mr_file_reader_open,                                                        \
        .reader_close = mr_file_reader_close,                                                      \
        .open_split = mr_file_open_split,                                                          \
        .pull = mr_file_pull,                                                                      \
        .input = mr_file_input,                                                                    \
    }

FILE_SOURCE(csv, declared_schema);
FILE_SOURCE(json, declared_schema);
FILE_SOURCE(text, text_schema);
