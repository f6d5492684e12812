/* The format text: a record is a line, or with wholetext the whole input; its one column is a
 * STRING. */
#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/format/cut.h"
#include "core/format/heaps.h"
#include "core/format/options.h"
#include "kernels/lines/lines.h"

enum { BYTES_MAX = INT32_MAX };

static const struct mr_option_spec specs[] = {
    {"compression", MR_OPTION_COMPRESSION, MR_OPTION_READS | MR_OPTION_WRITES},
    {"encoding", MR_OPTION_ENCODING, MR_OPTION_READS | MR_OPTION_WRITES},
    {"lineSep", MR_OPTION_TEXT, MR_OPTION_READS | MR_OPTION_WRITES},
    {"wholetext", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {NULL, MR_OPTION_TEXT, 0},
};

static const struct mr_field value_field = {"value", &mr_type_string, true};
static const struct mr_type value_type = {.kind = MR_STRUCT, .fields_n = 1, .fields = &value_field};

static enum mr_status check_options(const struct mr_option *options, uint32_t n, bool reading,
                                    struct mr_error *err)
{
    const char *separator = mr_option_get(options, n, "lineSep");

    if (separator && *separator == '\0')
        return MR_FAIL(err, MR_USER, 0, "text option lineSep must not be empty");
    return mr_options_check("text", specs, options, n, reading, err);
}

struct mr_decoder {
    struct mr_cutter cutter;
    bool whole;
    uint32_t columns_n; /* 0 or 1: a query may need the number of rows only */
    uint32_t rows_max;
    uint32_t *ends;
    bool started;
    bool emitted; /* the one row of wholetext */
};

static enum mr_status decoder_open(const struct mr_decoder_config *config, struct mr_arena *a,
                                   struct mr_decoder **out, struct mr_error *err)
{
    struct mr_decoder *d = MR_NEW(a, struct mr_decoder);
    const struct mr_type *schema = config->schema;

    if (schema->fields_n > 1)
        return MR_FAIL_CONDITION(err, MR_USER, "_LEGACY_ERROR_TEMP_1290",
                                 "Text data source supports only a single column, and you have %u "
                                 "columns.",
                                 schema->fields_n);
    if (schema->fields_n == 1 && schema->fields[0].type->kind != MR_STRING)
        return MR_FAIL_CONDITION(
            err, MR_USER, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
            "The Text datasource doesn't support the column `%s`: it must be a "
            "STRING.",
            schema->fields[0].name);
    d->columns_n = schema->fields_n;
    d->rows_max = config->batch_rows;
    d->whole = mr_option_boolean(config->options, config->options_n, "wholetext", false);
    d->cutter.separator =
        mr_option_text(config->options, config->options_n, "lineSep", MR_TEXT(""));
    d->ends = MR_NEW_ARRAY(a, uint32_t, d->rows_max + MR_LINES_SLACK);
    *out = d;
    return MR_OK;
}

static void decoder_begin(struct mr_decoder *d)
{
    d->started = d->emitted = false;
}

static void decoder_close(struct mr_decoder *d)
{
    MR_ASSERT(d != NULL);
}

static void put_line(struct mr_column *c, uint32_t row, const uint8_t *base, uint32_t from,
                     uint32_t to)
{
    if (c)
        mr_view_set(&c->views[row], (const char *)base + from, to - from, 0, (int32_t)from);
}

/* The lines of data[*at..n); the batch has room for all that ends holds. */
static uint32_t decode_lines(struct mr_decoder *d, const uint8_t *data, uint32_t n, bool at_end,
                             struct mr_column *c, uint32_t *at)
{
    uint32_t rows = 0, base = *at;
    uint32_t found = mr_cut(&d->cutter, data + base, n - base, d->ends, d->rows_max);

    for (uint32_t i = 0; i < found; i++) {
        uint32_t stop = base + d->ends[i];
        if (stop < *at)
            continue; /* the \n of an \r\n */
        uint32_t gap = mr_cut_gap(&d->cutter, data, n, stop, at_end);
        if (gap == 0)
            return rows;
        put_line(c, rows++, data, *at, stop);
        *at = stop + gap;
    }
    if (found < d->rows_max && at_end && *at < n) {
        put_line(c, rows++, data, *at, n);
        *at = n;
    }
    return rows;
}

/* One row, when all is there; an empty input gives an empty one. */
static uint32_t decode_whole(struct mr_decoder *d, const uint8_t *data, uint32_t n, bool at_end,
                             struct mr_column *c, uint32_t *at)
{
    if (!at_end || d->emitted)
        return 0;
    put_line(c, 0, data, *at, n);
    d->emitted = true;
    *at = n;
    return 1;
}

static enum mr_status decode(struct mr_decoder *d, const uint8_t *data, uint64_t n, bool at_end,
                             struct mr_arena *scratch, struct mr_batch *out, uint64_t *used,
                             struct mr_error *err)
{
    struct mr_column *c = NULL;
    struct mr_heaps heaps;
    uint32_t at = 0, rows;

    *used = 0;
    *out = (struct mr_batch){.columns_n = d->columns_n};
    if (n > BYTES_MAX) {
        if (d->whole)
            return MR_FAIL(err, MR_QUERY, 0, "text: a file is longer than 2 GiB");
        n = BYTES_MAX;
        at_end = false;
    }
    if (!d->started && n < 3 && !at_end)
        return MR_OK;
    if (!d->started && !d->whole && n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        at = 3;
    d->started = true;
    mr_heaps_begin(&heaps, data, n, scratch);
    if (d->columns_n) {
        c = MR_NEW(scratch, struct mr_column);
        mr_column_alloc(c, &mr_type_string, d->rows_max, false, scratch);
        c->heaps = heaps.heaps;
        c->heaps_n = heaps.n;
    }
    rows = d->whole ? decode_whole(d, data, (uint32_t)n, at_end, c, &at)
                    : decode_lines(d, data, (uint32_t)n, at_end, c, &at);
    if (rows == 0 && at == 0 && n == BYTES_MAX)
        return MR_FAIL(err, MR_QUERY, 0, "text: a line is longer than 2 GiB");
    out->columns = c;
    out->rows = out->n = rows;
    *used = at;
    return MR_OK;
}

static bool is_lines(const struct mr_option *options, uint32_t n)
{
    const char *separator = mr_option_get(options, n, "lineSep");

    return !mr_option_boolean(options, n, "wholetext", false) &&
           (separator == NULL || strcmp(separator, "\n") == 0);
}

struct mr_encoder {
    struct mr_text separator;
};

static enum mr_status encoder_open(const struct mr_encoder_config *config, struct mr_arena *a,
                                   struct mr_encoder **out, struct mr_error *err)
{
    struct mr_encoder *e = MR_NEW(a, struct mr_encoder);

    if (config->schema->fields_n != 1 || config->schema->fields[0].type->kind != MR_STRING)
        return MR_FAIL(err, MR_USER, 0,
                       "format text writes one column, a STRING; the query gives %u",
                       config->schema->fields_n);
    e->separator = mr_option_text(config->options, config->options_n, "lineSep", MR_TEXT("\n"));
    *out = e;
    return MR_OK;
}

static void encode_begin(struct mr_encoder *e, struct mr_buffer *out)
{
    MR_ASSERT(e != NULL && out != NULL);
}

/* A null is an empty line, as in Spark. */
static enum mr_status encode(struct mr_encoder *e, const struct mr_batch *batch,
                             struct mr_buffer *out, struct mr_error *err)
{
    const struct mr_column *c = &batch->columns[0];

    MR_ASSERT(err != NULL && batch->columns_n == 1);
    for (uint32_t i = 0; i < batch->n; i++) {
        uint32_t row = mr_batch_row(batch, i);
        if (!mr_column_is_null(c, row))
            mr_buffer_append_text(out, mr_column_text(c, row));
        mr_buffer_append_text(out, e->separator);
    }
    return MR_OK;
}

const struct mr_format_ops mr_format_text = {
    .name = "text",
    .options = specs,
    .check_options = check_options,
    .default_schema = &value_type,
    .decoder_open = decoder_open,
    .decoder_begin = decoder_begin,
    .decode = decode,
    .decoder_close = decoder_close,
    .is_lines = is_lines,
    .splittable = is_lines,
    .encoder_open = encoder_open,
    .encode_begin = encode_begin,
    .encode = encode,
};
