#include "core/format/json/decoder.h"

#include "core/base/check.h"
#include "core/format/corrupt.h"
#include "core/format/cut.h"
#include "core/format/json/exact.h"
#include "core/format/json/failure.h"
#include "core/format/json/fast.h"
#include "core/format/json/out.h"
#include "kernels/lines/lines.h"

enum { RECORD_BYTES_MAX = INT32_MAX, RAW_BYTES_MAX = 4096 };

struct mr_decoder {
    const struct mr_decoder_config *config;
    struct json_plan plan;
    struct mr_cutter cutter;
    uint32_t columns_n;
    uint32_t corrupt;    /* column of the raw text; UINT32_MAX: none */
    uint32_t *positions; /* plan.root field -> column */
    struct json_exact exact;
    struct json_fast fast;
    const struct json_fast_kernels *kernels; /* NULL: every line goes the exact way */
    uint32_t *ends;
    struct mr_arena record; /* of the record at hand */
    uint64_t offset;        /* bytes consumed since begin */
    bool started;
    bool skipping; /* the rest of a record that was too long */
    /* Rows of one record that did not fit into the batch. */
    const struct mr_cell *pending;
    uint32_t pending_n;
    uint64_t pending_bytes; /* consumed when they are out */
    struct mr_text pending_raw;
    bool pending_bad;
};

/* The batch being filled. */
struct filling {
    struct mr_decoder *d;
    struct mr_heaps heaps;
    struct json_out *outs;     /* in the order of plan.root, then the corrupt column */
    struct mr_column *columns; /* the same */
    uint32_t rows, rows_max;
    struct mr_error *err;
};

static enum mr_status split_columns(struct mr_decoder *d, struct mr_arena *a, struct mr_error *err)
{
    const struct mr_type *schema = d->config->schema;
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, schema->fields_n);
    uint32_t n = 0;

    d->columns_n = schema->fields_n;
    d->corrupt = UINT32_MAX;
    d->positions = MR_NEW_ARRAY(a, uint32_t, schema->fields_n + 1);
    for (uint32_t i = 0; i < schema->fields_n; i++) {
        if (strcmp(schema->fields[i].name, d->plan.options.corrupt_name) == 0) {
            d->corrupt = i;
            continue;
        }
        fields[n] = schema->fields[i];
        d->positions[n++] = i;
    }
    if (d->corrupt != UINT32_MAX)
        d->positions[n] = d->corrupt;
    json_plan_init(&d->plan, mr_type_struct(a, fields, n), a);
    return mr_corrupt_check(d->config, d->plan.options.corrupt_name, true, err);
}

enum mr_status json_decoder_open(const struct mr_decoder_config *config, struct mr_arena *a,
                                 struct mr_decoder **out, struct mr_error *err)
{
    struct mr_decoder *d = MR_NEW(a, struct mr_decoder);
    struct json_options *o = &d->plan.options;

    MR_ASSERT(config->batch_rows > 0 && config->batch_rows <= MR_BATCH_ROWS_MAX);
    d->config = config;
    enum mr_status status = json_options_read(config, a, o, err);
    if (status != MR_OK)
        return status;
    o->exact_text = o->array_as_structs = true;
    status = split_columns(d, a, err);
    if (status != MR_OK)
        return status;
    d->cutter.separator = o->line_separator;
    json_exact_init(&d->exact, &d->plan, a);
    json_fast_init(&d->fast, &d->plan, a);
    bool ends_line = d->cutter.separator.n == 0 || d->cutter.separator.data[0] == '\n' ||
                     d->cutter.separator.data[0] == '\r';
    d->kernels = ends_line ? json_fast_choose() : NULL;
    d->fast.gap = d->cutter.separator.n ? (uint32_t)d->cutter.separator.n : 1;
    d->ends = MR_NEW_ARRAY(a, uint32_t, config->batch_rows + MR_LINES_SLACK);
    mr_arena_init(&d->record, a->budget, a->escape);
    *out = d;
    return MR_OK;
}

void json_decoder_close(struct mr_decoder *d)
{
    mr_arena_fini(&d->record);
}

void json_decoder_force_exact(struct mr_decoder *d)
{
    d->kernels = NULL;
}

void json_decoder_begin(struct mr_decoder *d)
{
    d->offset = 0;
    d->started = d->skipping = false;
    d->pending = NULL;
    d->pending_n = 0;
}

static void begin_batch(struct filling *f, struct mr_decoder *d, const uint8_t *data, uint64_t n,
                        struct mr_arena *scratch, struct mr_error *err)
{
    uint32_t fields_n = d->plan.root.children_n;

    *f = (struct filling){.d = d, .rows_max = d->config->batch_rows, .err = err};
    mr_heaps_begin(&f->heaps, data, n, scratch);
    f->outs = MR_NEW_ARRAY(scratch, struct json_out, d->columns_n + 1);
    f->columns = MR_NEW_ARRAY(scratch, struct mr_column, d->columns_n + 1);
    for (uint32_t i = 0; i < fields_n; i++)
        json_out_init(&f->outs[i], &f->columns[i], d->plan.root.children[i].type, f->rows_max,
                      &f->heaps, scratch);
    if (d->corrupt != UINT32_MAX) {
        json_out_init(&f->outs[fields_n], &f->columns[fields_n], &mr_type_string, f->rows_max,
                      &f->heaps, scratch);
        memset(f->columns[fields_n].valid, 0, mr_bit_words(f->rows_max) * sizeof(uint64_t));
        memset(f->columns[fields_n].views, 0, f->rows_max * sizeof(struct mr_view));
    }
    json_fast_begin(&d->fast, f->columns, &f->heaps);
}

static void end_batch(struct filling *f, struct mr_arena *scratch, struct mr_batch *out)
{
    struct mr_decoder *d = f->d;

    *out = (struct mr_batch){.columns_n = d->columns_n, .rows = f->rows, .n = f->rows};
    out->columns = MR_NEW_ARRAY(scratch, struct mr_column, d->columns_n);
    for (uint32_t i = 0; i < d->columns_n; i++) {
        json_out_end(&f->outs[i], f->rows);
        out->columns[d->positions[i]] = f->columns[i];
    }
}

/* One row: values NULL, all fields are null. */
static void put_row(struct filling *f, const struct mr_cell *values, bool bad, struct mr_text raw)
{
    const struct mr_cell null = {.is_null = true};
    uint32_t fields_n = f->d->plan.root.children_n;

    for (uint32_t i = 0; i < fields_n; i++)
        json_out_put(&f->outs[i], f->rows, values ? &values[i] : &null);
    if (f->d->corrupt != UINT32_MAX && bad)
        json_out_put(&f->outs[fields_n], f->rows, &(struct mr_cell){.text = raw});
    f->rows++;
}

/* Rows of the record that was parsed last, as far as the batch has room. */
static void put_pending(struct filling *f)
{
    struct mr_decoder *d = f->d;

    while (d->pending_n > 0 && f->rows < f->rows_max) {
        put_row(f, d->pending->items, d->pending_bad, d->pending_raw);
        d->pending++;
        d->pending_n--;
    }
}

static enum mr_status bad_record(struct filling *f, struct mr_text raw, uint64_t at)
{
    struct mr_decoder *d = f->d;

    if (d->config->on_bad)
        d->config->on_bad(d->config->on_bad_arg, &(struct mr_bad_record){.raw = raw,
                                                                         .reason = d->exact.reason,
                                                                         .offset = d->offset + at});
    if (d->plan.options.mode == MR_MODE_FAILFAST)
        return json_failfast(&d->exact, raw, d->corrupt != UINT32_MAX, f->err);
    return MR_OK;
}

/* One record by the exact path. *held: its rows did not all fit. */
static enum mr_status exact_record(struct filling *f, const uint8_t *data, uint32_t start,
                                   uint32_t end, bool *held)
{
    struct mr_decoder *d = f->d;
    struct mr_text raw = {(const char *)data + start, end - start};

    *held = false;
    mr_arena_reset(&d->record);
    enum json_outcome outcome = json_exact_parse(&d->exact, raw, &d->record);
    if (outcome != JSON_GOOD) {
        enum mr_status status = bad_record(f, raw, start);
        if (status != MR_OK)
            return status;
        if (d->plan.options.mode == MR_MODE_DROPMALFORMED)
            return MR_OK;
    }
    if (outcome == JSON_BAD) {
        put_row(f, NULL, true, raw);
        return MR_OK;
    }
    if (d->exact.rows_n > f->rows_max - f->rows) {
        /* the input may move before the rest is put */
        raw.data = mr_arena_copy(&d->record, raw.data, raw.n);
        outcome = json_exact_parse(&d->exact, raw, &d->record);
        *held = true;
    }
    d->pending = d->exact.rows;
    d->pending_n = d->exact.rows_n;
    d->pending_raw = raw;
    d->pending_bad = outcome != JSON_GOOD;
    put_pending(f);
    return MR_OK;
}

/* The records that end in ends[0..n): fast as long as they fit, exact one by one. *at: start of the
 * next. */
static enum mr_status decode_lines(struct filling *f, const uint8_t *data, uint32_t n, uint32_t *at)
{
    struct mr_decoder *d = f->d;
    bool held;

    for (uint32_t i = 0; i < n && f->rows < f->rows_max;) {
        if (d->kernels)
            i += d->kernels->lines(&d->fast, data, at, d->ends + i, n - i, &f->rows, f->rows_max);
        if (i == n || f->rows == f->rows_max)
            break;
        enum mr_status status = exact_record(f, data, *at, d->ends[i], &held);
        if (status != MR_OK)
            return status;
        if (held) {
            d->pending_bytes = d->ends[i] + d->fast.gap - *at;
            break;
        }
        *at = d->ends[i++] + d->fast.gap;
    }
    return MR_OK;
}

/* A last record without an end. */
static enum mr_status decode_tail(struct filling *f, const uint8_t *data, uint32_t n, uint32_t *at)
{
    bool held;
    enum mr_status status = exact_record(f, data, *at, n, &held);

    if (status == MR_OK && held)
        f->d->pending_bytes = n - *at;
    else
        *at = n;
    return status;
}

/* Passes over the rest of a record. False: all of n is of it. */
static bool skip_record(struct mr_decoder *d, const uint8_t *data, uint32_t n, uint32_t *at)
{
    if (mr_cut(&d->cutter, data, n, d->ends, 1) == 0) {
        *at = n;
        return false;
    }
    *at = d->ends[0] + d->fast.gap;
    d->skipping = false;
    return true;
}

/* A record that is longer than any may be: bad, and told by its beginning. */
static enum mr_status drop_record(struct filling *f, const uint8_t *data, uint32_t n, uint32_t *at)
{
    struct mr_text raw = {(const char *)data, RAW_BYTES_MAX};

    f->d->exact.reason = "a record is too long";
    f->d->exact.condition = NULL;
    f->d->exact.rows_n = 0;
    f->d->exact.scratch = &f->d->record;
    f->d->skipping = true;
    *at = n;
    enum mr_status status = bad_record(f, raw, 0);
    if (status == MR_OK && f->d->plan.options.mode == MR_MODE_PERMISSIVE)
        put_row(f, NULL, true, raw);
    return status;
}

static enum mr_status decode_records(struct filling *f, const uint8_t *data, uint32_t n,
                                     bool at_end, uint32_t *at)
{
    struct mr_decoder *d = f->d;
    uint32_t found = 0;

    if (d->skipping && !skip_record(d, data, n, at))
        return MR_OK;
    if (!d->plan.options.multi_line)
        found = mr_cut(&d->cutter, data + *at, n - *at, d->ends, f->rows_max);
    for (uint32_t i = 0; i < found; i++)
        d->ends[i] += *at;
    enum mr_status status = decode_lines(f, data, found, at);
    if (found == 0 && *at == 0 && n == RECORD_BYTES_MAX && !at_end)
        return drop_record(f, data, n, at);
    if (status != MR_OK || d->pending_n > 0 || !at_end || f->rows == f->rows_max || *at == n)
        return status;
    if (found == f->rows_max)
        return MR_OK; /* there may be more ends */
    return decode_tail(f, data, n, at);
}

enum mr_status json_decode(struct mr_decoder *d, const uint8_t *data, uint64_t n, bool at_end,
                           struct mr_arena *scratch, struct mr_batch *out, uint64_t *used,
                           struct mr_error *err)
{
    struct filling f;
    enum mr_status status = MR_OK;
    uint32_t at = 0;

    if (n > RECORD_BYTES_MAX) {
        n = RECORD_BYTES_MAX;
        at_end = false;
    }
    *used = 0;
    *out = (struct mr_batch){.columns_n = 0};
    if (n == 0 || (!d->started && n < 3 && !at_end))
        return MR_OK;
    begin_batch(&f, d, data, n, scratch, err);
    if (!d->started) {
        d->started = true;
        at = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    }
    if (d->pending_n > 0) {
        put_pending(&f);
        at = d->pending_n == 0 ? (uint32_t)d->pending_bytes : 0;
    } else {
        status = decode_records(&f, data, (uint32_t)n, at_end, &at);
    }
    end_batch(&f, scratch, out);
    *used = at;
    d->offset += at;
    return status;
}
