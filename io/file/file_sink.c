#include "io/file/file_sink.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "io/options.h"
#include <errno.h>
#include <stdio.h>
#include <strings.h>

enum { BYTES_MAX_DEFAULT = 128 << 20, OPTIONS_MAX = 256 };

static enum mr_status wrong(struct mr_error *err, const struct mr_option *o, const char *allowed)
{
    return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                             "sink: invalid value '%s' for option '%s', must be %s", o->value,
                             o->name, allowed);
}

static enum mr_status read_option(const struct mr_option *o, struct mr_file_sink_options *out,
                                  struct mr_error *err)
{
    if (strcasecmp(o->name, "path") == 0) {
        out->path = o->value;
    } else if (strcasecmp(o->name, "maxFileBytes") == 0) {
        if (!mr_file_parse_bytes(o->value, &out->bytes_max) || out->bytes_max == 0)
            return wrong(err, o, "a positive number of bytes, as 10000 or 128m");
    } else if (strcasecmp(o->name, "commitInterval") == 0) {
        if (!mr_io_parse_duration(mr_text_of(o->value), 0, &out->age_max_us))
            return wrong(err, o, "a duration, as 500ms, 1s or '5 minutes'");
    } else if (strcasecmp(o->name, "compression") == 0) {
        if (strcasecmp(o->value, "gzip") == 0)
            out->codec = MR_FILE_GZIP;
        else if (strcasecmp(o->value, "zstd") == 0)
            out->codec = MR_FILE_ZSTD;
        else if (strcasecmp(o->value, "none") != 0 && strcasecmp(o->value, "uncompressed") != 0)
            return wrong(err, o, "'none', 'gzip' or 'zstd'");
    }
    return MR_OK;
}

enum mr_status mr_file_sink_options_read(const struct mr_sink_config *config, struct mr_arena *a,
                                         struct mr_file_sink_options *out, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    *out = (struct mr_file_sink_options){.bytes_max = BYTES_MAX_DEFAULT,
                                         .age_max_us = MR_US_PER_SECOND,
                                         .format = mr_format_find(config->format)};
    MR_ASSERT(out->format != NULL);
    for (uint32_t i = 0; i < config->options_n && status == MR_OK; i++)
        status = read_option(&config->options[i], out, err);
    if (status != MR_OK)
        return status;
    if (out->path == NULL || out->path[0] == '\0')
        return MR_FAIL_CONDITION(err, MR_USER, "IllegalArgumentException",
                                 "sink: 'path' is not specified");
    /* Commits name files by it: they are found from any folder that a later start is made in. */
    out->path = mr_file_absolute(out->path, a);
    out->format_options = MR_NEW_ARRAY(a, struct mr_option, config->options_n + 1);
    out->format_options_n = mr_file_format_options(config->options, config->options_n,
                                                   mr_file_sink_options, out->format_options);
    return MR_OK;
}

static enum mr_status check_partitions(const struct mr_sink_config *c, struct mr_error *err)
{
    for (uint32_t p = 0; p < c->partition_by_n; p++) {
        const struct mr_field *field = NULL;
        for (uint32_t i = 0; i < c->schema->fields_n; i++)
            if (mr_text_equal_ignoring_case(mr_text_of(c->partition_by[p]),
                                            mr_text_of(c->schema->fields[i].name)))
                field = &c->schema->fields[i];
        if (field == NULL)
            return MR_FAIL_CONDITION(
                err, MR_USER, "PARTITION_COLUMN_NOT_FOUND_IN_SCHEMA",
                "sink: partition_by names \"%s\", which is no column of the result",
                c->partition_by[p]);
        if (field->type->kind >= MR_INTERVAL_YEAR_MONTH || field->type->kind == MR_VOID)
            return MR_FAIL_CONDITION(err, MR_USER, "INVALID_PARTITION_COLUMN_DATA_TYPE",
                                     "sink: column \"%s\" has a type that can't name a folder",
                                     field->name);
    }
    if (c->partition_by_n && c->partition_by_n == c->schema->fields_n)
        return MR_FAIL_CONDITION(err, MR_USER, "ALL_PARTITION_COLUMNS_NOT_ALLOWED",
                                 "sink: partition_by names all columns: no data would be left");
    return MR_OK;
}

/* Does the format take the columns that are no folders? */
static enum mr_status check_columns(const struct mr_sink_config *c,
                                    const struct mr_file_sink_options *options, struct mr_arena *a,
                                    struct mr_error *err)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, c->schema->fields_n);
    struct mr_encoder *encoder;
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->schema->fields_n; i++) {
        bool names_folder = false;
        for (uint32_t p = 0; p < c->partition_by_n; p++)
            names_folder |= mr_text_equal_ignoring_case(mr_text_of(c->partition_by[p]),
                                                        mr_text_of(c->schema->fields[i].name));
        if (!names_folder)
            fields[n++] = c->schema->fields[i];
    }
    const struct mr_encoder_config e = {.schema = mr_type_struct(a, fields, n),
                                        .options = options->format_options,
                                        .options_n = options->format_options_n,
                                        .zone = mr_zone_utc()};
    return options->format->encoder_open(&e, a, &encoder, err);
}

static enum mr_status check(const struct mr_sink_config *config, struct mr_error *err)
{
    struct mr_file_sink_options options;
    struct mr_arena arena;
    jmp_buf escape;
    enum mr_status status;

    mr_arena_init(&arena, NULL, &escape);
    if (setjmp(escape)) {
        mr_arena_fini(&arena);
        return MR_FAIL(err, MR_MEMORY, 0, "file sink: no memory");
    }
    status = mr_file_sink_options_read(config, &arena, &options, err);
    if (status == MR_OK) {
        status = options.format->check_options(options.format_options, options.format_options_n,
                                               false, err);
        if (status != MR_OK)
            status = mr_file_unknown_option(config->format, options.format_options,
                                            options.format_options_n, mr_file_sink_options, false,
                                            status, err);
    }
    if (status == MR_OK && config->schema)
        status = check_partitions(config, err);
    if (status == MR_OK && config->schema)
        status = check_columns(config, &options, &arena, err);
    mr_arena_fini(&arena);
    return status;
}

/* Its hidden name is not there any more. */
static enum mr_status check_given_out(struct mr_env *env, const char *hidden, const char *path,
                                      uint64_t length, bool may_be_gone, struct mr_error *err)
{
    struct mr_file_stat stat;
    int rc = env->ops->stat(env, path, &stat);

    if (rc == -ENOENT && may_be_gone) {
        fprintf(stderr,
                "millrace: note: %s (%llu bytes) is not there: it was given out and has been taken "
                "away since, or its folder was, while a job wrote to it\n",
                path, (unsigned long long)length);
        return MR_OK;
    }
    if (rc == -ENOENT)
        return mr_file_lost(hidden, err);
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "look at %s", path);
    if (stat.size > length) /* only where not each commit is durable */
        fprintf(stderr,
                "millrace: note: %s has %llu bytes more than were committed: rows of epochs that a "
                "power cut took, which come again\n",
                path, (unsigned long long)(stat.size - length));
    return stat.size >= length
               ? MR_OK
               : MR_FAIL(err, MR_CORRUPT, 0, "%s has %llu bytes, %llu were committed", path,
                         (unsigned long long)stat.size, (unsigned long long)length);
}

enum mr_status mr_file_lost(const char *hidden, struct mr_error *err)
{
    return MR_FAIL(err, MR_IO, 0,
                   "%s was moved or removed while the job wrote to it; leave the sink's folder "
                   "alone while it runs: the rows of this file are where it is now, if anywhere",
                   hidden);
}

static int cut(struct mr_env *env, const char *path, uint64_t length)
{
    struct mr_file *file;
    int rc = env->ops->open(env, path, MR_OPEN_WRITE, &file);

    if (rc < 0)
        return rc;
    rc = env->ops->truncate(file, length);
    if (rc >= 0)
        rc = env->ops->sync(file);
    env->ops->close(file);
    return rc;
}

/* again: an earlier run may have cut it, or given it out, and ended before that was durable; who
 * reads it may have taken it away. */
static enum mr_status finalize(struct mr_env *env, const char *hidden, uint64_t length, bool again,
                               struct mr_error *err)
{
    char path[4096], folder[4096];
    int n;
    struct mr_file_stat stat;
    const char *name = strrchr(hidden, '/') + 1;
    int folder_n = (int)(name - hidden) - 1, name_n = (int)(strlen(name) - strlen(".tmp")) - 1;

    n = snprintf(path, sizeof path, "%.*s/%.*s", folder_n, hidden, name_n, name + 1);
    if (n < 0 || n >= (int)sizeof path)
        return MR_FAIL(err, MR_IO, ENAMETOOLONG, "%s", hidden);
    memcpy(folder, path, (size_t)folder_n);
    folder[folder_n] = '\0';
    int rc = env->ops->stat(env, hidden, &stat);
    if (rc == -ENOENT) {
        enum mr_status status = check_given_out(env, hidden, path, length, again, err);
        rc = status == MR_OK && again ? env->ops->sync_dir(env, folder) : 0;
        return rc == 0 || rc == -ENOENT ? status : MR_FAIL(err, MR_IO, -rc, "sync %s", folder);
    }
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "look at %s", hidden);
    if (stat.size < length)
        return MR_FAIL(err, MR_CORRUPT, 0, "%s has %llu bytes, %llu were committed", hidden,
                       (unsigned long long)stat.size, (unsigned long long)length);
    rc = again || stat.size > length ? cut(env, hidden, length) : 0;
    if (rc < 0)
        return MR_FAIL(err, MR_IO, -rc, "cut %s to %llu bytes", hidden, (unsigned long long)length);
    rc = env->ops->rename(env, hidden, path);
    if (rc >= 0)
        rc = env->ops->sync_dir(env, folder);
    return rc < 0 ? MR_FAIL(err, MR_IO, -rc, "rename %s to %s", hidden, path) : MR_OK;
}

enum mr_status mr_file_finalize(struct mr_env *env, const char *hidden, uint64_t length,
                                struct mr_error *err)
{
    return finalize(env, hidden, length, false, err);
}

enum mr_status mr_file_finalize_again(struct mr_env *env, const char *hidden, uint64_t length,
                                      struct mr_error *err)
{
    return finalize(env, hidden, length, true, err);
}

static enum mr_status committer_open(void *committer, const struct mr_sink_config *config,
                                     struct mr_error *err)
{
    struct mr_file_committer *c = committer;
    enum mr_status status = mr_file_sink_options_read(config, config->arena, &c->options, err);

    c->config = config;
    mr_arena_init(&c->arena, config->arena->budget, config->arena->escape);
    mr_arena_init(&c->walk, config->arena->budget, config->arena->escape);
    if (status != MR_OK)
        return status;
    int rc = mr_env_make_dirs(config->env, c->options.path);
    return rc < 0 ? MR_FAIL(err, MR_IO, -rc, "file sink: make folder %s", c->options.path) : MR_OK;
}

/* Before the first epoch of this process files are those of an earlier one. */
static enum mr_status finalize_committed(const struct mr_file_committer *c, const char *hidden,
                                         uint64_t length, struct mr_error *err)
{
    return c->began ? mr_file_finalize(c->config->env, hidden, length, err)
                    : mr_file_finalize_again(c->config->env, hidden, length, err);
}

/* Gives out what the last commit left open. Writers only close these files from now on. */
static enum mr_status finalize_open(struct mr_file_committer *c, struct mr_error *err)
{
    enum mr_status status = MR_OK;

    for (uint32_t i = 0; i < c->open_n && status == MR_OK; i++)
        status = finalize_committed(c, c->open[i].path, c->open[i].length, err);
    if (status == MR_OK)
        c->open_n = 0;
    return status;
}

static void committer_close(void *committer)
{
    struct mr_file_committer *c = committer;

    if (c->config == NULL)
        return;
    mr_arena_fini(&c->arena);
    mr_arena_fini(&c->walk);
}

static enum mr_status begin(void *committer, uint64_t epoch, struct mr_error *err)
{
    struct mr_file_committer *c = committer;

    (void)epoch;
    (void)err;
    c->began = true;
    return MR_OK;
}

static enum mr_status publish(void *committer, uint64_t epoch, const struct mr_text *prepared,
                              uint32_t prepared_n, struct mr_error *err)
{
    struct mr_file_committer *c = committer;
    enum mr_status status = MR_OK;
    uint32_t capacity = 0;

    for (uint32_t i = 0; i < prepared_n; i++)
        capacity += (uint32_t)(prepared[i].n / 14 + 1);
    mr_arena_reset(&c->arena);
    c->open = MR_NEW_ARRAY(&c->arena, struct mr_file_open, capacity + 1);
    c->open_n = 0;
    for (uint32_t i = 0; i < prepared_n; i++) {
        struct mr_text records = prepared[i];
        while (records.n > 0 && status == MR_OK) {
            bool is_final;
            uint64_t length;
            const char *path;
            if (!mr_file_record_read(&records, &c->arena, &is_final, &length, &path))
                return MR_FAIL(err, MR_CORRUPT, 0,
                               "file sink: what epoch %llu prepared is not of a file sink: start "
                               "with a new checkpoint",
                               (unsigned long long)epoch);
            if (is_final)
                status = finalize_committed(c, path, length, err);
            else
                c->open[c->open_n++] = (struct mr_file_open){path, length};
        }
    }
    if (status == MR_OK && !c->began)
        status = finalize_open(c, err);
    return status;
}

struct leftovers {
    struct mr_file_committer *c;
    const char *folder;      /* being listed */
    struct mr_buffer others; /* char * each: those still to be listed */
    int error;
};

static bool see_leftover(void *arg, const char *name, bool is_dir)
{
    struct leftovers *l = arg;
    struct mr_env *env = l->c->config->env;
    size_t n = strlen(name);

    if (is_dir) {
        if (strchr(name, '=') == NULL) /* not named by a column */
            return true;
        const char *other = mr_arena_format(&l->c->walk, "%s/%s", l->folder, name);
        mr_buffer_append(&l->others, &other, sizeof other);
        return true;
    }
    if (strncmp(name, ".part-", 6) != 0 || n < 4 || strcmp(name + n - 4, ".tmp") != 0 ||
        strstr(name, l->c->config->query_id) == NULL)
        return true;
    int rc = env->ops->unlink(env, mr_arena_format(&l->c->walk, "%s/%s", l->folder, name));
    if (rc < 0 && rc != -ENOENT)
        l->error = -rc;
    return l->error == 0;
}

/* publish has given out what was committed: hidden files of this query that are left belong to
 * none. */
static enum mr_status undo(void *committer, uint64_t epoch, struct mr_error *err)
{
    struct mr_file_committer *c = committer;
    struct leftovers l = {.c = c};

    (void)epoch;
    mr_buffer_init(&l.others, &c->walk);
    mr_buffer_append(&l.others, &c->options.path, sizeof c->options.path);
    while (l.others.n > 0 && l.error == 0) {
        l.others.n -= sizeof l.folder;
        memcpy(&l.folder, l.others.data + l.others.n, sizeof l.folder);
        int rc = c->config->env->ops->list(c->config->env, l.folder, see_leftover, &l);
        if (rc < 0 && rc != -ENOENT)
            l.error = -rc;
    }
    mr_arena_fini(&c->walk);
    if (l.error == ELOOP)
        return MR_FAIL(err, MR_IO, 0,
                       "file sink: links of folders below %s go in a circle; take them away",
                       c->options.path);
    return l.error ? MR_FAIL(err, MR_IO, l.error, "file sink: clean up %s", c->options.path)
                   : MR_OK;
}

/* All open files, while the writers rest. A failed epoch may have written behind the committed
 * length. */
static enum mr_status give_out(void *committer, struct mr_error *err)
{
    struct mr_file_committer *c = committer;
    enum mr_status status = finalize_open(c, err);

    for (uint32_t w = 0; status == MR_OK && w < c->config->workers; w++)
        for (uint32_t i = 0; c->writers[w] && i < MR_FILE_PARTITIONS_OPEN_MAX; i++)
            c->writers[w]->parts[i].is_taken = c->writers[w]->parts[i].path != NULL;
    return status;
}

/* Nothing new came for a while: files old enough are given out. */
static enum mr_status idle(void *committer, struct mr_error *err)
{
    struct mr_file_committer *c = committer;
    struct mr_env *env = c->config->env;
    int64_t now_us = env->ops->monotonic_us(env);

    if (c->open_n == 0)
        return MR_OK;
    for (uint32_t w = 0; w < c->config->workers; w++)
        for (uint32_t i = 0; c->writers[w] && i < MR_FILE_PARTITIONS_OPEN_MAX; i++) {
            const struct mr_file_part *p = &c->writers[w]->parts[i];
            if (p->path && !p->is_taken && now_us - p->opened_us < c->options.age_max_us)
                return MR_OK;
        }
    return give_out(c, err);
}

#define FILE_SINK(format_name)                                                                     \
    const struct mr_sink_ops mr_sink_##format_name = {                                             \
        .name = #format_name,                                                                      \
        .committer_size = sizeof(struct mr_file_committer),                                        \
        .writer_size = sizeof(struct mr_file_writer),                                              \
        .modes = 1u << MR_APPEND,                                                                  \
        .needs_checkpoint = true,                                                                  \
        .options = mr_file_sink_options,                                                           \
        .check = check,                                                                            \
        .committer_open = committer_open,                                                          \
        .committer_close = committer_close,                                                        \
        .undo = undo,                                                                              \
        .begin = begin,                                                                            \
        .publish = publish,                                                                        \
        .idle = idle,                                                                              \
        .finish = give_out,                                                                        \
        .writer_open = mr_file_writer_open,                                                        \
        .writer_close = mr_file_writer_close,                                                      \
        .write = mr_file_write,                                                                    \
        .prepare = mr_file_prepare,                                                                \
    }

FILE_SINK(csv);
FILE_SINK(json);
FILE_SINK(text);
