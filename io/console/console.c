#include "io/console/console.h"

#include "core/base/check.h"
#include "io/options.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { ROWS_DEFAULT = 20, TRUNCATE_DEFAULT = 20, ROWS_MAX = 100000 };

static const char *const options[] = {
    "numRows: how many rows of a batch are shown (20)",
    "truncate: cut cells after 20 characters, or after so many; false: don't (true)",
    NULL,
};

struct settings {
    int64_t rows, truncate;
};

struct committer {
    const struct mr_sink_config *config;
    struct settings settings;
    struct mr_arena arena; /* of one table */
};

struct writer {
    const struct mr_sink_config *config;
    struct settings settings;
    struct mr_arena arena;  /* of one epoch */
    struct mr_buffer cells; /* u32 length and text of each */
    uint64_t kept_n, rows_n;
};

static enum mr_status read_settings(const struct mr_sink_config *config, struct settings *s,
                                    struct mr_error *err)
{
    const struct mr_option *o = config->options;
    uint32_t n = config->options_n;
    const char *truncate = mr_option_get(o, n, "truncate");
    bool yes = true;
    enum mr_status status =
        mr_io_option_integer(o, n, "numRows", ROWS_DEFAULT, 0, ROWS_MAX, &s->rows, err);

    s->truncate = TRUNCATE_DEFAULT;
    if (status != MR_OK || truncate == NULL)
        return status;
    if (truncate[0] >= '0' && truncate[0] <= '9')
        return mr_io_option_integer(o, n, "truncate", 0, 0, INT32_MAX, &s->truncate, err);
    status = mr_io_option_boolean(o, n, "truncate", true, &yes, err);
    s->truncate = yes ? TRUNCATE_DEFAULT : 0;
    return status;
}

static enum mr_status check(const struct mr_sink_config *config, struct mr_error *err)
{
    struct settings s;
    enum mr_status status =
        mr_io_options_check(config->options, config->options_n, options, "sink console", err);

    return status == MR_OK ? read_settings(config, &s, err) : status;
}

static enum mr_status committer_open(void *committer, const struct mr_sink_config *config,
                                     struct mr_error *err)
{
    struct committer *c = committer;

    c->config = config;
    mr_arena_init(&c->arena, config->arena->budget, config->arena->escape);
    return read_settings(config, &c->settings, err);
}

static void committer_close(void *committer)
{
    struct committer *c = committer;

    mr_arena_fini(&c->arena);
}

static enum mr_status writer_open(void *writer, const struct mr_sink_config *config,
                                  void *committer, uint32_t worker, struct mr_error *err)
{
    struct writer *w = writer;

    (void)committer, (void)worker;
    w->config = config;
    mr_arena_init(&w->arena, config->arena->budget, config->arena->escape);
    mr_buffer_init(&w->cells, &w->arena);
    return read_settings(config, &w->settings, err);
}

static void writer_close(void *writer)
{
    struct writer *w = writer;

    mr_arena_fini(&w->arena);
}

static void keep_cell(struct writer *w, const struct mr_column *c, uint32_t row)
{
    uint64_t at = w->cells.n;
    uint32_t bytes = 0;

    mr_buffer_append(&w->cells, &bytes, sizeof bytes);
    mr_console_cell(c, row, w->config->zone, &w->cells);
    bytes = (uint32_t)(w->cells.n - at - sizeof bytes);
    memcpy(w->cells.data + at, &bytes, sizeof bytes);
}

static enum mr_step write_rows(void *writer, uint64_t epoch, const struct mr_batch *batch,
                               struct mr_error *err)
{
    struct writer *w = writer;

    (void)epoch, (void)err;
    for (uint32_t i = 0; i < batch->n && w->kept_n < (uint64_t)w->settings.rows; i++) {
        for (uint32_t c = 0; c < batch->columns_n; c++)
            keep_cell(w, &batch->columns[c], mr_batch_row(batch, i));
        w->kept_n++;
    }
    w->rows_n += batch->n;
    return MR_NEED_INPUT;
}

/* What publish reads: rows in all, rows kept, their cells. */
static enum mr_step prepare(void *writer, uint64_t epoch, struct mr_buffer *out,
                            struct mr_error *err)
{
    struct writer *w = writer;

    (void)epoch, (void)err;
    mr_buffer_append(out, &w->rows_n, sizeof w->rows_n);
    mr_buffer_append(out, &w->kept_n, sizeof w->kept_n);
    mr_buffer_append(out, w->cells.data, w->cells.n);
    w->rows_n = w->kept_n = 0;
    mr_arena_reset(&w->arena);
    mr_buffer_init(&w->cells, &w->arena);
    return MR_NEED_INPUT;
}

/* Adds the cells of one writer to those of others, up to the limit of rows. False: they are cut
 * short. */
static bool read_cells(struct committer *c, struct mr_text prepared, struct mr_text *cells,
                       uint64_t *rows_n, uint64_t *all_n)
{
    uint32_t columns_n = c->config->schema->fields_n;
    uint64_t all, kept;
    const char *at = prepared.data + sizeof all + sizeof kept;
    const char *end = prepared.data + prepared.n;

    if (prepared.n == 0)
        return true;
    if (prepared.n < sizeof all + sizeof kept)
        return false;
    memcpy(&all, prepared.data, sizeof all);
    memcpy(&kept, prepared.data + sizeof all, sizeof kept);
    *all_n += all;
    for (uint64_t r = 0; r < kept && *rows_n < (uint64_t)c->settings.rows; r++, ++*rows_n)
        for (uint32_t k = 0; k < columns_n; k++) {
            uint32_t bytes;
            if ((uint64_t)(end - at) < sizeof bytes)
                return false;
            memcpy(&bytes, at, sizeof bytes);
            at += sizeof bytes;
            if ((uint64_t)(end - at) < bytes)
                return false;
            cells[*rows_n * columns_n + k] = (struct mr_text){at, bytes};
            at += bytes;
        }
    return true;
}

static enum mr_status publish(void *committer, uint64_t epoch, const struct mr_text *prepared,
                              uint32_t prepared_n, struct mr_error *err)
{
    static const char line[] = "-------------------------------------------\n";
    struct committer *c = committer;
    uint64_t all = 0;
    struct mr_buffer out;

    mr_arena_reset(&c->arena);
    struct mr_console_table table = {
        .schema = c->config->schema,
        .truncate = (uint32_t)c->settings.truncate,
    };
    struct mr_text *cells = MR_NEW_ARRAY(
        &c->arena, struct mr_text, (uint64_t)c->settings.rows * c->config->schema->fields_n + 1);
    for (uint32_t i = 0; i < prepared_n; i++)
        if (!read_cells(c, prepared[i], cells, &table.rows_n, &all))
            return MR_FAIL(
                err, MR_CORRUPT, 0,
                "sink console: what was kept of epoch %llu is of another sink or has other "
                "columns: start with a new checkpoint",
                (unsigned long long)epoch);
    table.cells = cells;
    mr_buffer_init(&out, &c->arena);
    if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        mr_buffer_append_text(&out, MR_TEXT("\r\033[K")); /* a line of progress makes room */
    if (!c->config->batch)
        mr_buffer_append_format(&out, "%sBatch: %llu\n%s", line, (unsigned long long)epoch, line);
    mr_console_print(&table, &c->arena, &out);
    if (all > table.rows_n)
        mr_buffer_append_format(&out, "only showing top %lld row%s\n", (long long)table.rows_n,
                                table.rows_n == 1 ? "" : "s");
    mr_buffer_append(&out, "\n", 1);
    if (fwrite(out.data, 1, out.n, stdout) != out.n || fflush(stdout) != 0)
        return MR_FAIL(err, MR_IO, errno, "sink console: standard output");
    return MR_OK;
}

const struct mr_sink_ops mr_sink_console = {
    .name = "console",
    .committer_size = sizeof(struct committer),
    .writer_size = sizeof(struct writer),
    .modes = 1 << MR_APPEND | 1 << MR_UPDATE | 1 << MR_COMPLETE,
    .repeats = true,
    .options = options,
    .check = check,
    .committer_open = committer_open,
    .committer_close = committer_close,
    .publish = publish,
    .writer_open = writer_open,
    .writer_close = writer_close,
    .write = write_rows,
    .prepare = prepare,
};
