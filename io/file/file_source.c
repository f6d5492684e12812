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

/* Whether the format takes the declared columns that are in no folder's name. */
static enum mr_status check_columns(const struct mr_table *t, struct mr_arena *a,
                                    struct mr_error *err)
{
    const struct mr_format_ops *format = mr_format_find(t->format);
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, t->schema->fields_n + 1);
    struct mr_option *options = MR_NEW_ARRAY(a, struct mr_option, t->options_n + 1);
    struct mr_error inner = {0};
    struct mr_decoder *decoder;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->schema->fields_n; i++)
        if (t->in_folder == NULL || !t->in_folder[i])
            fields[n++] = t->schema->fields[i];
    /* Folders that come later may have names for the others. */
    if (t->in_folder == NULL && n > 1 && format->default_schema)
        return MR_OK;
    const struct mr_type *schema = mr_type_struct(a, fields, n);
    const struct mr_decoder_config config = {
        .schema = schema,
        .full_schema = schema,
        .options = options,
        .options_n =
            mr_file_format_options(t->options, t->options_n, mr_file_source_options, options),
        .zone = mr_zone_utc(),
        .batch_rows = 1};
    enum mr_status status = format->decoder_open(&config, a, &decoder, &inner);
    if (status == MR_OK) {
        format->decoder_close(decoder);
        return MR_OK;
    }
    return mr_error_set(err, status, inner.os_error, inner.condition, inner.source_file,
                        inner.source_line, "source \"%s\": %s", t->name, inner.message);
}

static enum mr_status complete_schema(struct mr_table *t, const struct mr_conf *conf,
                                      struct mr_arena *a, struct mr_error *err)
{
    enum mr_status status = mr_file_complete_schema(t, conf, a, err);

    return status == MR_OK ? check_columns(t, a, err) : status;
}

#define FILE_SOURCE(format, schema_of)                                                             \
    const struct mr_source_ops mr_source_##format = {                                              \
        .name = #format,                                                                           \
        .planner_size = sizeof(struct mr_file_planner),                                            \
        .reader_size = sizeof(struct mr_file_reader),                                              \
        .replayable = true,                                                                        \
        .schema = schema_of,                                                                       \
        .options = mr_file_source_options,                                                         \
        .complete_schema = complete_schema,                                                        \
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
