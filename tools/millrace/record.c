#include "tools/millrace/record.h"

#include "tools/millrace/command.h"

#include "core/base/time.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define WITH_BATCHES "{\"batches\": ["
#define WITH_ERROR "{\"error\": "

/* What is there already must be ours to replace. */
static enum mr_status check_old(const char *path, struct mr_error *err)
{
    char head[sizeof WITH_BATCHES] = "";
    struct stat st;

    /* Looked at before it is opened: that of a pipe waits for its other end. */
    if (stat(path, &st) != 0)
        return errno == ENOENT ? MR_OK : MR_FAIL(err, MR_USER, errno, "--record: look at %s", path);
    if (!S_ISREG(st.st_mode))
        return MR_OK;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return MR_FAIL(err, MR_USER, errno, "--record: open %s", path);
    size_t n = fread(head, 1, sizeof head - 1, f);
    fclose(f);
    if (n == 0)
        return MR_OK;
    if (strcmp(head, WITH_BATCHES) != 0 && strncmp(head, WITH_ERROR, sizeof WITH_ERROR - 1) != 0)
        return MR_FAIL(err, MR_USER, 0,
                       "--record: %s is there and is no record of millrace: it is left as it is; "
                       "take another name, or remove it",
                       path);
    fprintf(stderr,
            "millrace: note: --record: the record in %s is replaced: it will have the epochs from "
            "now on, also when the job goes on from a checkpoint\n",
            path);
    return MR_OK;
}

static enum mr_status flush(struct mr_record *r, struct mr_error *err)
{
    if (fflush(r->file) == 0 && !ferror(r->file))
        return MR_OK;
    return MR_FAIL(err, MR_IO, errno, "--record: write %s", r->path);
}

enum mr_status mr_record_open(struct mr_record *r, const char *path, struct mr_error *err)
{
    enum mr_status status = check_old(path, err);

    *r = (struct mr_record){.path = path};
    if (status != MR_OK)
        return status;
    r->file = fopen(path, "w");
    if (r->file == NULL)
        return MR_FAIL(err, MR_USER, errno, "--record: create %s", path);
    mr_arena_init(&r->arena, NULL, &r->escape);
    mr_buffer_init(&r->rows, &r->arena);
    if (ftell(r->file) < 0)
        return MR_FAIL(err, MR_USER, errno, "--record: %s must be a file: its end is rewritten",
                       path);
    fputs(WITH_BATCHES, r->file);
    r->tail = ftell(r->file);
    fputs("]}\n", r->file);
    return flush(r, err);
}

void mr_record_schema(struct mr_record *r, const struct mr_type *schema, const struct mr_zone *zone)
{
    r->schema = schema;
    r->writer =
        (struct mr_json_writer){.zone = zone, .keep_nulls = true, .microseconds_always = true};
}

void mr_record_rows(void *record, uint64_t epoch, const struct mr_batch *batch)
{
    struct mr_record *r = record;

    (void)epoch;
    if (setjmp(r->escape))
        mr_cli_no_memory();
    for (uint32_t i = 0; i < batch->n; i++) {
        if (r->rows.n)
            mr_buffer_append_text(&r->rows, MR_TEXT(",\n   "));
        mr_json_write_row(&r->writer, r->schema, batch, mr_batch_row(batch, i), &r->rows);
    }
}

static void print_watermark(FILE *f, const struct mr_progress *p)
{
    struct mr_civil c;

    if (!p->has_watermark) {
        fputs("null", f);
        return;
    }
    mr_civil_from_us(p->watermark_us, &c);
    fprintf(f, "\"%04d-%02u-%02uT%02u:%02u:%02u.%03uZ\"", c.year, c.month, c.day, c.hour, c.minute,
            c.second, c.us / 1000);
}

enum mr_status mr_record_epoch(void *record, const struct mr_progress *p, struct mr_error *err)
{
    struct mr_record *r = record;
    FILE *f = r->file;

    if (p->is_idle)
        return MR_OK;
    if (setjmp(r->escape))
        mr_cli_no_memory();
    fseek(f, r->tail, SEEK_SET);
    fprintf(f, "%s\n {\"batch\": %llu, \"input_rows\": %llu, \"watermark\": ",
            r->batches_n++ ? "," : "", (unsigned long long)p->batch_id,
            (unsigned long long)p->input_rows);
    print_watermark(f, p);
    fputs(", \"state\": [", f);
    for (uint32_t i = 0; i < p->operators_n; i++)
        fprintf(f, "%s{\"op\": \"%s\", \"total\": %llu, \"updated\": %llu, \"dropped\": %llu}",
                i ? ", " : "", p->operators[i].name,
                (unsigned long long)p->operators[i].counts.rows_total,
                (unsigned long long)p->operators[i].counts.rows_updated,
                (unsigned long long)p->operators[i].counts.rows_dropped);
    fputs("],\n  \"rows\": [", f);
    if (r->rows.n)
        fwrite(r->rows.data, 1, r->rows.n, f);
    fputs("]}", f);
    r->tail = ftell(f);
    fputs("\n]}\n", f);
    mr_arena_reset(&r->arena);
    mr_buffer_init(&r->rows, &r->arena);
    return flush(r, err);
}

void mr_record_error(struct mr_record *r, const struct mr_error *error, const char *at)
{
    struct mr_buffer text;
    char message[MR_ERROR_MESSAGE + MR_ERROR_FILE + 256];

    if (setjmp(r->escape))
        mr_cli_no_memory();
    mr_arena_reset(&r->arena);
    mr_buffer_init(&text, &r->arena);
    mr_error_format(error, message, sizeof message);
    if (r->schema == NULL) { /* refused before anything ran */
        r->tail = 0;
        mr_buffer_append_text(&text, MR_TEXT(WITH_ERROR));
    } else {
        mr_buffer_append_text(&text, MR_TEXT("\n],\n \"error\": "));
    }
    mr_json_write_text(
        mr_text_of(error->condition[0] ? error->condition : mr_status_text(error->status)), &text);
    mr_buffer_append_format(&text, ", \"at\": \"%s\", \"message\": ", at);
    mr_json_write_text(mr_text_of(message), &text);
    mr_buffer_append_text(&text, MR_TEXT("}\n"));
    fseek(r->file, r->tail, SEEK_SET);
    fwrite(text.data, 1, text.n, r->file);
    struct mr_error second = {0};
    if (flush(r, &second) != MR_OK)
        fprintf(stderr, "millrace: warning: the record can't say why: %s: %s\n", second.message,
                strerror(second.os_error));
}

void mr_record_close(struct mr_record *r)
{
    if (r->file == NULL)
        return;
    fclose(r->file);
    r->file = NULL;
    mr_arena_fini(&r->arena);
}
