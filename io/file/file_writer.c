#include "io/file/file_sink.h"

#include "core/base/check.h"
#include "core/format/value.h"
#include "io/file/file_partition.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { FLUSH_BYTES = 1 << 20, ZSTD_LEVEL = 3 };

void mr_file_record_write(struct mr_buffer *out, bool is_final, uint64_t length, const char *path)
{
    uint8_t head[2] = {1, is_final};
    uint32_t n = (uint32_t)strlen(path);

    mr_buffer_append(out, head, sizeof head);
    mr_buffer_append(out, &length, sizeof length);
    mr_buffer_append(out, &n, sizeof n);
    mr_buffer_append(out, path, n);
}

bool mr_file_record_read(struct mr_text *records, struct mr_arena *a, bool *is_final,
                         uint64_t *length, const char **path)
{
    uint32_t n;

    if (records->n < 14 || records->data[0] != 1)
        return false;
    *is_final = records->data[1] == 1;
    memcpy(length, records->data + 2, 8);
    memcpy(&n, records->data + 10, 4);
    if (records->n - 14 < n)
        return false;
    *path = mr_arena_copy(a, records->data + 14, n);
    records->data += 14 + n;
    records->n -= 14 + n;
    return true;
}

static void find_columns(struct mr_file_writer *w, struct mr_arena *a)
{
    const struct mr_sink_config *c = w->config;

    w->partition_columns = MR_NEW_ARRAY(a, uint32_t, c->partition_by_n + 1);
    w->data_columns = MR_NEW_ARRAY(a, uint32_t, c->schema->fields_n);
    for (uint32_t i = 0; i < c->schema->fields_n; i++) {
        bool is_partition = false;
        for (uint32_t p = 0; p < c->partition_by_n; p++)
            if (mr_text_equal_ignoring_case(mr_text_of(c->partition_by[p]),
                                            mr_text_of(c->schema->fields[i].name))) {
                w->partition_columns[p] = i;
                is_partition = true;
            }
        if (!is_partition)
            w->data_columns[w->data_columns_n++] = i;
    }
}

enum mr_status mr_file_writer_open(void *writer, const struct mr_sink_config *config,
                                   void *committer, uint32_t worker, struct mr_error *err)
{
    struct mr_file_writer *w = writer;
    struct mr_arena *a = config->arena;
    struct mr_encoder_config *e = MR_NEW(a, struct mr_encoder_config);
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, config->schema->fields_n);

    w->config = config;
    w->committer = committer;
    w->worker = worker;
    enum mr_status status = mr_file_sink_options_read(config, a, &w->options, err);
    if (status != MR_OK)
        return status;
    mr_arena_init(&w->scratch, a->budget, a->escape);
    mr_arena_init(&w->frame_arena, a->budget, a->escape);
    mr_arena_init(&w->epoch_arena, a->budget, a->escape);
    mr_buffer_init(&w->finals, &w->epoch_arena);
    for (uint32_t i = 0; i < MR_FILE_PARTITIONS_OPEN_MAX; i++)
        mr_arena_init(&w->parts[i].arena, a->budget, a->escape);
    find_columns(w, a);
    for (uint32_t i = 0; i < w->data_columns_n; i++)
        fields[i] = config->schema->fields[w->data_columns[i]];
    *e = (struct mr_encoder_config){.schema = mr_type_struct(a, fields, w->data_columns_n),
                                    .options = w->options.format_options,
                                    .options_n = w->options.format_options_n,
                                    .zone = config->zone};
    w->committer->writers[worker] = w;
    return w->options.format->encoder_open(e, a, &w->encoder, err);
}

static void close_part(struct mr_file_writer *w, struct mr_file_part *part)
{
    if (part->file)
        w->config->env->ops->close(part->file);
    part->file = NULL;
    part->path = NULL;
    part->is_taken = false;
    mr_arena_reset(&part->arena);
}

void mr_file_writer_close(void *writer)
{
    struct mr_file_writer *w = writer;

    if (w->config == NULL)
        return;
    for (uint32_t i = 0; i < MR_FILE_PARTITIONS_OPEN_MAX; i++) {
        close_part(w, &w->parts[i]);
        mr_arena_fini(&w->parts[i].arena);
    }
    mr_arena_fini(&w->scratch);
    mr_arena_fini(&w->frame_arena);
    mr_arena_fini(&w->epoch_arena);
}

static enum mr_status write_all(struct mr_file_writer *w, struct mr_file_part *part,
                                const void *data, uint64_t n, struct mr_error *err)
{
    int64_t rc = w->config->env->ops->write(part->file, data, n, part->length);

    if (rc < 0)
        return MR_FAIL(err, MR_IO, (int)-rc, "write %s", part->path);
    part->length += n;
    return MR_OK;
}

/* A gzip member or zstd frame of its own: frames can follow each other, and a file can be cut
 * between. */
static enum mr_status compress_frame(struct mr_file_writer *w, const struct mr_buffer *in,
                                     struct mr_buffer *out, struct mr_error *err)
{
    if (w->options.codec == MR_FILE_ZSTD) {
        uint8_t *to = mr_buffer_reserve(out, ZSTD_compressBound(in->n));
        size_t n = ZSTD_compress(to, ZSTD_compressBound(in->n), in->data, in->n, ZSTD_LEVEL);
        if (ZSTD_isError(n))
            return MR_FAIL(err, MR_MEMORY, 0, "file sink: zstd: %s", ZSTD_getErrorName(n));
        out->n += n;
        return MR_OK;
    }
    z_stream z = {0};
    if (in->n > INT32_MAX) /* zlib counts in 32 bits */
        return MR_FAIL(err, MR_QUERY, 0, "file sink: %llu bytes at once are too many for gzip",
                       (unsigned long long)in->n);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return MR_FAIL(err, MR_MEMORY, 0, "file sink: gzip could not start");
    uint64_t bound = deflateBound(&z, in->n);
    z.next_out = mr_buffer_reserve(out, bound);
    z.avail_out = (uInt)bound;
    z.next_in = in->data;
    z.avail_in = (uInt)in->n;
    int rc = deflate(&z, Z_FINISH);
    out->n += bound - z.avail_out;
    deflateEnd(&z);
    return rc == Z_STREAM_END ? MR_OK
                              : MR_FAIL(err, MR_MEMORY, 0, "file sink: gzip failed (%d)", rc);
}

static enum mr_status flush_part(struct mr_file_writer *w, struct mr_file_part *part,
                                 struct mr_error *err)
{
    enum mr_status status = MR_OK;

    if (part->buffer.n == 0)
        return MR_OK;
    if (w->options.codec == MR_FILE_PLAIN) {
        status = write_all(w, part, part->buffer.data, part->buffer.n, err);
    } else {
        struct mr_buffer frame;
        mr_arena_reset(&w->frame_arena);
        mr_buffer_init(&frame, &w->frame_arena);
        status = compress_frame(w, &part->buffer, &frame, err);
        if (status == MR_OK)
            status = write_all(w, part, frame.data, frame.n, err);
    }
    part->buffer.n = 0;
    return status;
}

static const char *ending_of(const struct mr_file_sink_options *o)
{
    return o->codec == MR_FILE_GZIP ? ".gz" : o->codec == MR_FILE_ZSTD ? ".zst" : "";
}

static const char *extension_of(const struct mr_format_ops *format)
{
    return strcmp(format->name, "text") == 0 ? "txt" : format->name;
}

static enum mr_status open_part(struct mr_file_writer *w, struct mr_file_part *part, uint64_t epoch,
                                struct mr_text partition, struct mr_error *err)
{
    struct mr_env *env = w->config->env;
    char *folder =
        mr_arena_format(&part->arena, "%s%.*s", w->options.path, (int)partition.n, partition.data);
    int rc = partition.n ? mr_env_make_dirs(env, folder) : 0;

    part->partition.data = mr_arena_copy(&part->arena, partition.data, partition.n);
    part->partition.n = partition.n;
    part->path =
        mr_arena_format(&part->arena, "%s/.part-%05u-%s-%llu-%u.%s%s.tmp", folder, w->worker,
                        w->config->query_id, (unsigned long long)epoch, w->serial++,
                        extension_of(w->options.format), ending_of(&w->options));
    part->folder = folder;
    part->length = 0;
    part->opened_us = env->ops->monotonic_us(env);
    mr_buffer_init(&part->buffer, &part->arena);
    if (rc >= 0)
        rc = env->ops->open(env, part->path, MR_OPEN_WRITE | MR_OPEN_CREATE | MR_OPEN_TRUNCATE,
                            &part->file);
    if (rc < 0) {
        const bool is_gone = rc == -ENOENT || rc == -ENOTDIR;
        enum mr_status status =
            is_gone ? MR_FAIL(err, MR_IO, 0,
                              "the sink's folder %s was moved or removed while the job ran: put it "
                              "back, and start the job again",
                              folder)
                    : MR_FAIL(err, MR_IO, -rc, "create %s", part->path);
        part->path = NULL;
        return status;
    }
    if (w->options.format->encode_begin)
        w->options.format->encode_begin(w->encoder, &part->buffer);
    return MR_OK;
}

static enum mr_status finish_part(struct mr_file_writer *w, struct mr_file_part *part,
                                  bool is_final, struct mr_buffer *out, struct mr_error *err)
{
    struct mr_file_stat there;
    enum mr_status status = flush_part(w, part, err);

    if (status != MR_OK)
        return status;
    int rc = w->config->env->ops->sync(part->file);
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "sync %s", part->path);
    rc = w->config->env->ops->stat(w->config->env, part->path, &there);
    if (rc == -ENOENT || rc == -ENOTDIR)
        return mr_file_lost(part->path, err);
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "look at %s", part->path);
    rc = part->folder ? w->config->env->ops->sync_dir(w->config->env, part->folder) : 0;
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "sync %s", part->folder);
    part->folder = NULL;
    mr_file_record_write(out, is_final, part->length, part->path);
    if (is_final)
        close_part(w, part);
    return MR_OK;
}

/* The part of a partition; the one used longest ago makes room. */
static enum mr_status find_part(struct mr_file_writer *w, uint64_t epoch, struct mr_text partition,
                                struct mr_file_part **out, struct mr_error *err)
{
    struct mr_file_part *oldest = NULL, *free_one = NULL;
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < MR_FILE_PARTITIONS_OPEN_MAX; i++) {
        struct mr_file_part *p = &w->parts[i];
        if (p->is_taken)
            close_part(w, p);
        if (p->path == NULL) {
            free_one = free_one ? free_one : p;
        } else if (mr_text_equal(p->partition, partition)) {
            p->used_at = w->writes;
            *out = p;
            return MR_OK;
        } else if (oldest == NULL || p->used_at < oldest->used_at) {
            oldest = p;
        }
    }
    if (free_one == NULL) {
        status = finish_part(w, oldest, true, &w->finals, err);
        free_one = oldest;
    }
    if (status == MR_OK)
        status = open_part(w, free_one, epoch, partition, err);
    free_one->used_at = w->writes;
    *out = free_one;
    return status;
}

/* Hive's way to put a value into a folder name: what could mean something to a path is %XX. */
static void append_escaped(struct mr_buffer *out, struct mr_text t)
{
    for (uint64_t i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (c < ' ' || c == 0x7f || strchr("\"#%'*/:=?\\{[]^", c))
            mr_buffer_append_format(out, "%%%02X", c);
        else
            mr_buffer_append(out, &c, 1);
    }
}

static struct mr_text value_text(const struct mr_file_writer *w, const struct mr_column *c,
                                 uint32_t row, char *room)
{
    switch (c->type->kind) {
    case MR_STRING:
    case MR_BINARY:
        return mr_column_text(c, row);
    case MR_BOOLEAN:
        return mr_bit_get(c->bits, row) ? MR_TEXT("true") : MR_TEXT("false");
    default: /* check() lets no nested type through */
        return (struct mr_text){room, mr_value_print(c, row, w->config->zone, room)};
    }
}

static struct mr_text partition_of(struct mr_file_writer *w, const struct mr_batch *b, uint32_t row,
                                   struct mr_buffer *out)
{
    char room[MR_VALUE_TEXT];
    const struct mr_sink_config *c = w->config;

    out->n = 0;
    for (uint32_t i = 0; i < c->partition_by_n; i++) {
        const struct mr_column *column = &b->columns[w->partition_columns[i]];
        mr_buffer_append(out, "/", 1);
        append_escaped(out, mr_text_of(c->schema->fields[w->partition_columns[i]].name));
        mr_buffer_append(out, "=", 1);
        struct mr_text value = {NULL, 0};
        if (!mr_column_is_null(column, row))
            value = value_text(w, column, row, room);
        if (value.n == 0)
            value = MR_TEXT(MR_FILE_NULL_PARTITION);
        append_escaped(out, value);
    }
    return mr_buffer_text(out);
}

static enum mr_status write_rows(struct mr_file_writer *w, uint64_t epoch, struct mr_text partition,
                                 const struct mr_batch *rows, struct mr_error *err)
{
    struct mr_file_part *part;
    enum mr_status status = find_part(w, epoch, partition, &part, err);

    if (status == MR_OK)
        status = w->options.format->encode(w->encoder, rows, &part->buffer, err);
    if (status == MR_OK && part->buffer.n >= FLUSH_BYTES)
        status = flush_part(w, part, err);
    return status;
}

/* Each partition's rows go together, in their order. */
static enum mr_status write_partitioned(struct mr_file_writer *w, uint64_t epoch,
                                        const struct mr_batch *batch, struct mr_batch *data,
                                        struct mr_error *err)
{
    struct mr_text *keys = MR_NEW_ARRAY(&w->scratch, struct mr_text, batch->n);
    uint32_t *sel = MR_NEW_ARRAY(&w->scratch, uint32_t, batch->n);
    enum mr_status status = MR_OK;
    struct mr_buffer key;

    mr_buffer_init(&key, &w->scratch);
    for (uint32_t i = 0; i < batch->n; i++) {
        keys[i] = partition_of(w, batch, mr_batch_row(batch, i), &key);
        if (i > 0 && mr_text_equal(keys[i], keys[i - 1]))
            keys[i] = keys[i - 1];
        else
            keys[i].data = mr_arena_copy(&w->scratch, keys[i].data, keys[i].n);
    }
    data->sel = sel;
    for (uint32_t i = 0; i < batch->n && status == MR_OK; i++) {
        struct mr_text partition = keys[i];
        if (partition.data == NULL)
            continue; /* went with an earlier row */
        data->n = 0;
        for (uint32_t j = i; j < batch->n; j++) {
            if (keys[j].data == NULL || !mr_text_equal(keys[j], partition))
                continue;
            keys[j].data = NULL;
            sel[data->n++] = mr_batch_row(batch, j);
        }
        status = write_rows(w, epoch, partition, data, err);
    }
    return status;
}

enum mr_step mr_file_write(void *writer, uint64_t epoch, const struct mr_batch *batch,
                           struct mr_error *err)
{
    struct mr_file_writer *w = writer;
    struct mr_batch data = *batch;

    mr_arena_reset(&w->scratch);
    w->writes++;
    if (batch->n == 0)
        return MR_NEED_INPUT;
    data.columns = MR_NEW_ARRAY(&w->scratch, struct mr_column, w->data_columns_n);
    data.columns_n = w->data_columns_n;
    for (uint32_t i = 0; i < w->data_columns_n; i++)
        data.columns[i] = batch->columns[w->data_columns[i]];
    enum mr_status status = w->config->partition_by_n
                                ? write_partitioned(w, epoch, batch, &data, err)
                                : write_rows(w, epoch, (struct mr_text){"", 0}, &data, err);
    return status == MR_OK ? MR_NEED_INPUT : MR_FAILED;
}

enum mr_step mr_file_prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                             struct mr_error *err)
{
    struct mr_file_writer *w = writer;
    int64_t now_us = w->config->env->ops->monotonic_us(w->config->env);

    (void)epoch;
    mr_buffer_append(out, w->finals.data, w->finals.n);
    mr_arena_reset(&w->epoch_arena);
    mr_buffer_init(&w->finals, &w->epoch_arena);
    for (uint32_t i = 0; i < MR_FILE_PARTITIONS_OPEN_MAX; i++) {
        struct mr_file_part *p = &w->parts[i];
        if (p->is_taken)
            close_part(w, p);
        if (p->path == NULL)
            continue;
        bool is_final = p->length + p->buffer.n >= w->options.bytes_max ||
                        now_us - p->opened_us >= w->options.age_max_us;
        if (finish_part(w, p, is_final, out, err) != MR_OK)
            return MR_FAILED;
    }
    return MR_NEED_INPUT;
}
