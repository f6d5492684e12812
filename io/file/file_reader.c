#include "io/file/file_reader.h"

#include "core/base/check.h"
#include "io/file/file_uri.h"
#include <stdio.h>

static void on_bad(void *arg, const struct mr_bad_record *bad)
{
    struct mr_file_reader *r = arg;

    r->bad_n++;
    r->bad_at = r->split.start + bad->offset;
    mr_file_bad_add(&r->bad, &r->split, bad, r->split.start);
}

/* The columns of the schema that stand in records, by the flags of those of the table. */
static const struct mr_type *record_schema(const struct mr_type *schema, const struct mr_table *t,
                                           const bool *in_folder, struct mr_arena *a)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, schema->fields_n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < schema->fields_n; i++)
        if (!in_folder[mr_file_column_of(t, schema->fields[i].name)])
            fields[n++] = schema->fields[i];
    return mr_type_struct(a, fields, n);
}

/* Decodes records without the columns that stand in folders. */
static enum mr_status open_decoder(struct mr_file_reader *r, struct mr_error *err)
{
    const struct mr_source_config *config = r->config;
    const struct mr_table *t = config->table;

    if (r->decoder)
        r->format->decoder_close(r->decoder);
    r->decoder = NULL;
    mr_arena_reset(&r->decoder_arena);
    struct mr_arena *a = &r->decoder_arena;
    struct mr_option *options = MR_NEW_ARRAY(a, struct mr_option, t->options_n + 1);
    struct mr_decoder_config *c = MR_NEW(a, struct mr_decoder_config);
    *c = (struct mr_decoder_config){
        .schema = record_schema(config->schema, t, r->folder.is_in, a),
        .full_schema = record_schema(t->schema, t, r->folder.is_in, a),
        .options = options,
        .options_n =
            mr_file_format_options(t->options, t->options_n, mr_file_source_options, options),
        .zone = config->zone,
        .batch_rows = config->batch_rows,
        .now_us = config->env->ops->now_us(config->env),
        .on_bad = on_bad,
        .on_bad_arg = r,
    };
    return r->format->decoder_open(c, a, &r->decoder, err);
}

enum mr_status mr_file_reader_open(void *reader, const struct mr_source_config *config,
                                   struct mr_error *err)
{
    struct mr_file_reader *r = reader;
    struct mr_arena *a = config->arena;
    const struct mr_table *t = config->table;

    r->config = config;
    r->format = mr_format_find(t->format);
    mr_arena_init(&r->scratch, a->budget, a->escape);
    mr_arena_init(&r->split_arena, a->budget, a->escape);
    mr_arena_init(&r->decoder_arena, a->budget, a->escape);
    mr_file_stream_init(&r->stream, config->env, a->budget, a->escape);
    mr_file_bad_init(&r->bad, config->env, t->name, t->bad_records, a->budget, a->escape);
    enum mr_status status = mr_file_folder_open(&r->folder, config, err);
    return status == MR_OK ? open_decoder(r, err) : status;
}

void mr_file_reader_close(void *reader)
{
    struct mr_file_reader *r = reader;

    if (r->decoder)
        r->format->decoder_close(r->decoder);
    r->decoder = NULL;
    mr_file_stream_fini(&r->stream);
    mr_file_bad_fini(&r->bad);
    mr_arena_fini(&r->scratch);
    mr_arena_fini(&r->split_arena);
    mr_arena_fini(&r->decoder_arena);
}

enum mr_status mr_file_open_split(void *reader, struct mr_text split, struct mr_error *err)
{
    struct mr_file_reader *r = reader;
    bool gone;

    mr_arena_reset(&r->split_arena);
    mr_file_split_read(split, &r->split_arena, &r->split);
    r->bad_n = 0;
    bool changed = false;
    enum mr_status status =
        mr_file_folder_enter(&r->folder, r->split.path, &r->split_arena, &changed, err);
    if (status == MR_OK && changed)
        status = open_decoder(r, err);
    if (status == MR_OK)
        status = mr_file_stream_open(&r->stream, &r->split, &gone, err);
    if (status != MR_OK)
        return status;
    r->is_open = !gone;
    r->window_done = true;
    if (gone)
        fprintf(stderr,
                "millrace: warning: %s is gone: epoch %llu runs without what was not read yet\n",
                r->split.path, (unsigned long long)r->split.epoch);
    else
        r->format->decoder_begin(r->decoder);
    return MR_OK;
}

/* A record too large to hold: quarantined by its beginning, the rest skipped. */
static enum mr_status drop_giant(struct mr_file_reader *r, struct mr_error *err)
{
    struct mr_file_stream *s = &r->stream;
    const struct mr_table *t = r->config->table;
    char *reason = mr_arena_format(
        &r->scratch,
        "the record is longer than %llu bytes, the most that is held (its beginning "
        "is shown)",
        (unsigned long long)s->record_bytes_max);
    struct mr_bad_record bad = {.raw = {(const char *)s->data, s->n < 4096 ? s->n : 4096},
                                .reason = reason,
                                .offset = s->offset - r->split.start};

    if (!r->format->is_lines(t->options, t->options_n)) /* where does the next one begin? */
        return MR_FAIL(err, MR_QUERY, 0,
                       "%s: a record is longer than %llu bytes; raise engine: memory_limit, of "
                       "which it may be a sixteenth, at most 256 MiB",
                       r->split.path, (unsigned long long)s->record_bytes_max);
    on_bad(r, &bad);
    mr_file_stream_skip(s);
    return MR_OK;
}

/* One window's worth of rows. */
static enum mr_status decode(struct mr_file_reader *r, struct mr_batch *out, struct mr_error *err)
{
    struct mr_file_stream *s = &r->stream;
    uint64_t used = 0;
    enum mr_status status = MR_OK;

    if (r->window_done && !s->at_end) {
        status = mr_file_stream_fill(s, err);
        if (status != MR_OK)
            return status;
        if (s->is_short)
            fprintf(stderr,
                    "millrace: warning: %s is shorter than when epoch %llu was planned: what stood "
                    "from byte %llu on is not read\n",
                    s->path, (unsigned long long)r->split.epoch,
                    (unsigned long long)(s->at > r->split.start ? s->at : r->split.start));
    }
    r->window_done = false;
    if (s->n == 0) {
        r->window_done = true;
        return MR_OK;
    }
    status = r->format->decode(r->decoder, s->data, s->n, s->at_end, &r->scratch, out, &used, err);
    if (status != MR_OK)
        return status;
    mr_file_stream_consume(s, used);
    mr_file_folder_add(&r->folder, out, &r->scratch);
    r->window_done = s->n == 0 || (used == 0 && out->rows == 0);
    if (r->window_done && !s->at_end && s->n > s->record_bytes_max)
        return drop_giant(r, err);
    return MR_OK;
}

/* Where mode FAILFAST found the record that it failed by. */
static void say_place(const struct mr_file_reader *r, struct mr_error *err)
{
    static const char malformed[] = "MALFORMED_RECORD_IN_PARSING";
    size_t n = strlen(err->message);

    if (err->file[0] == '\0' && strstr(err->message, r->split.path) != err->message)
        snprintf(err->file, sizeof err->file, "%s", r->split.path);
    if (r->bad_n && strncmp(err->condition, malformed, sizeof malformed - 1) == 0)
        snprintf(err->message + n, sizeof err->message - n,
                 " The record begins at byte %llu of it.", (unsigned long long)r->bad_at);
}

enum mr_step mr_file_pull(void *reader, struct mr_batch *out, struct mr_source_counts *counts,
                          struct mr_error *err)
{
    struct mr_file_reader *r = reader;

    *out = (struct mr_batch){0};
    mr_arena_reset(&r->scratch);
    if (!r->is_open)
        return MR_DONE;
    uint64_t bad_before = r->bad_n;
    enum mr_status status = decode(r, out, err);
    counts->rows += out->rows;
    counts->bad += r->bad_n - bad_before;
    if (status != MR_OK) {
        say_place(r, err);
        return MR_FAILED;
    }
    if (!(r->window_done && r->stream.at_end))
        return MR_MORE_OUTPUT;
    MR_ASSERT(r->stream.n == 0);
    if (mr_file_bad_finish(&r->bad, err) != MR_OK)
        return MR_FAILED;
    /* The batch may borrow the window: only the next open_split closes the file. */
    r->is_open = false;
    return MR_DONE;
}

void mr_file_input(void *reader, struct mr_input_block *out)
{
    struct mr_file_reader *r = reader;

    out->file = mr_file_uri(&r->split_arena, r->split.path);
    out->start = (int64_t)r->split.start;
    out->length = (int64_t)r->split.bytes;
}
