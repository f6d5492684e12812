#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/format/corrupt.h"
#include "core/format/csv/csv.h"
#include "core/format/csv/csv_record.h"
#include "core/format/cut.h"
#include "core/format/json/copy.h"
#include "core/format/utf8.h"
#include "kernels/lines/lines.h"

enum { BYTES_MAX = INT32_MAX };

struct mr_decoder {
    const struct mr_decoder_config *config;
    struct csv_options options;
    struct mr_cutter cutter;
    struct csv_tokens tokens;
    const struct mr_type *needed; /* without the corrupt and the rescued column */
    uint32_t *sources;            /* field of the record for each column needed */
    uint32_t *positions;          /* column of the batch for each */
    uint32_t declared_n;          /* columns of the schema, without those two */
    uint32_t corrupt, rescued;    /* their columns in the batch; UINT32_MAX: none */
    bool selects; /* fields are taken by position, and their number does not matter */
    uint32_t *ends;
    struct mr_arena record; /* of the record at hand */
    uint64_t offset;        /* bytes consumed since begin */
    bool started, header_due;
};

struct filling {
    struct mr_decoder *d;
    struct mr_arena *scratch;
    struct mr_heaps heaps;
    struct mr_column *columns; /* of the batch */
    uint32_t rows, rows_max;
    struct mr_error *err;
};

static uint32_t find_field(const struct mr_type *type, const char *name)
{
    for (uint32_t i = 0; name != NULL && i < type->fields_n; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* Records have no field for the corrupt and the rescued column. */
static bool is_hidden(const struct mr_decoder *d, const char *name)
{
    return strcmp(name, d->options.corrupt_name) == 0 ||
           (d->options.rescued_name && strcmp(name, d->options.rescued_name) == 0);
}

static uint32_t place_in_record(const struct mr_decoder *d, const struct mr_type *full,
                                uint32_t field)
{
    uint32_t place = 0;

    for (uint32_t i = 0; i < field; i++)
        place += !is_hidden(d, full->fields[i].name);
    return place;
}

static enum mr_status map_columns(struct mr_decoder *d, bool file, struct mr_arena *a,
                                  struct mr_error *err)
{
    const struct mr_type *schema = d->config->schema;
    const struct mr_type *full = d->config->full_schema ? d->config->full_schema : schema;
    uint32_t n = 0;
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, schema->fields_n + 1);

    d->corrupt = find_field(schema, d->options.corrupt_name);
    d->rescued = find_field(schema, d->options.rescued_name);
    d->declared_n = place_in_record(d, full, full->fields_n);
    d->sources = MR_NEW_ARRAY(a, uint32_t, schema->fields_n + 1);
    d->positions = MR_NEW_ARRAY(a, uint32_t, schema->fields_n + 1);
    for (uint32_t i = 0; i < schema->fields_n; i++) {
        if (i == d->corrupt || i == d->rescued)
            continue;
        uint32_t source = find_field(full, schema->fields[i].name);
        MR_ASSERT(source != UINT32_MAX);
        fields[n] = schema->fields[i];
        d->sources[n] = place_in_record(d, full, source);
        d->positions[n++] = i;
    }
    d->needed = mr_type_struct(a, fields, n);
    d->selects = d->options.column_pruning && n < d->declared_n;
    enum mr_status status =
        mr_rescued_check(d->config, d->options.rescued_name, d->options.corrupt_name, err);
    return status != MR_OK ? status
                           : mr_corrupt_check(d->config, d->options.corrupt_name, file, err);
}

enum mr_status csv_decoder_open(const struct mr_decoder_config *config, struct mr_arena *a,
                                struct mr_decoder **out, struct mr_error *err)
{
    struct mr_decoder *d = MR_NEW(a, struct mr_decoder);

    MR_ASSERT(config->batch_rows > 0 && config->batch_rows <= MR_BATCH_ROWS_MAX);
    d->config = config;
    enum mr_status status = csv_options_read(config->options, config->options_n, config->zone, true,
                                             a, &d->options, err);
    d->options.temporal.now_us = config->now_us;
    if (status == MR_OK)
        status = csv_check_schema(config->schema, err);
    if (status == MR_OK)
        status = map_columns(d, true, a, err);
    if (status != MR_OK)
        return status;
    d->cutter.separator = d->options.line_separator;
    d->tokens.syntax = &d->options.syntax;
    d->tokens.arena = &d->record;
    d->ends = MR_NEW_ARRAY(a, uint32_t, config->batch_rows + MR_LINES_SLACK);
    mr_arena_init(&d->record, a->budget, a->escape);
    *out = d;
    return MR_OK;
}

void csv_decoder_close(struct mr_decoder *d)
{
    mr_arena_fini(&d->record);
}

void csv_decoder_begin(struct mr_decoder *d)
{
    d->offset = 0;
    d->started = false;
    d->header_due = d->options.header;
}

static void begin_batch(struct filling *f, const uint8_t *data, uint64_t n)
{
    struct mr_decoder *d = f->d;
    const struct mr_type *schema = d->config->schema;

    f->rows_max = d->config->batch_rows;
    mr_heaps_begin(&f->heaps, data, n, f->scratch);
    f->columns = MR_NEW_ARRAY(f->scratch, struct mr_column, schema->fields_n);
    for (uint32_t i = 0; i < schema->fields_n; i++)
        mr_column_alloc(&f->columns[i], schema->fields[i].type, f->rows_max, true, f->scratch);
}

static void put_null(struct mr_column *c, uint32_t row)
{
    mr_bit_clear(c->valid, row);
    if (c->type->kind == MR_STRING || c->type->kind == MR_BINARY)
        memset(&c->views[row], 0, sizeof c->views[row]);
}

static void rescue(struct mr_buffer *members, struct mr_text name, struct mr_text value)
{
    struct mr_buffer quoted;

    mr_buffer_init(&quoted, members->arena);
    json_copy_string(value, &quoted);
    mr_rescued_add(members, name, mr_buffer_text(&quoted));
}

static void rescue_excess(const struct mr_decoder *d, const struct csv_tokens *t,
                          struct mr_buffer *members)
{
    for (uint32_t i = d->declared_n; i < t->n; i++) {
        const char *name = mr_arena_format(members->arena, "_c%u", i);
        rescue(members, mr_text_of(name), t->fields[i]);
    }
}

/* The fields of the record -> the next row. Gives what was wrong, or NULL. */
static const char *put_row(struct filling *f, const struct csv_tokens *t)
{
    struct mr_decoder *d = f->d;
    const char *reason = t->error;
    bool rescues = d->options.rescued_name != NULL;
    struct mr_buffer members;

    mr_buffer_init(&members, &d->record);
    if (reason == NULL && !d->selects && (rescues ? t->n < d->declared_n : t->n != d->declared_n))
        reason = t->n < d->declared_n ? "the record has too few fields"
                                      : "the record has too many fields";
    for (uint32_t i = 0; i < d->needed->fields_n; i++) {
        struct mr_column *c = &f->columns[d->positions[i]];
        struct mr_cell cell;
        uint32_t source = d->sources[i];
        if (source >= t->n || mr_text_equal(t->fields[source], d->options.syntax.null_value)) {
            put_null(c, f->rows);
        } else if (csv_convert(&d->options, c->type, t->fields[source], &d->record, &cell)) {
            mr_cell_store(c, f->rows, &cell, &f->heaps);
        } else {
            put_null(c, f->rows);
            if (rescues)
                rescue(&members, mr_text_of(d->needed->fields[i].name), t->fields[source]);
            else if (reason == NULL)
                reason = mr_arena_format(&d->record, "a field that does not fit its column, %s",
                                         d->needed->fields[i].name);
        }
    }
    if (d->rescued != UINT32_MAX) {
        rescue_excess(d, t, &members);
        struct mr_cell cell = mr_rescued_cell(&members);
        if (cell.is_null)
            put_null(&f->columns[d->rescued], f->rows);
        else
            mr_cell_store(&f->columns[d->rescued], f->rows, &cell, &f->heaps);
    }
    return reason;
}

/* The row as Spark prints it: [1,null,x]. */
static struct mr_text print_row(struct filling *f)
{
    struct mr_decoder *d = f->d;
    struct csv_tokens *t = &d->tokens;
    struct mr_buffer out;

    mr_buffer_init(&out, &d->record);
    for (uint32_t i = 0; i < d->needed->fields_n; i++) {
        bool is_null = mr_column_is_null(&f->columns[d->positions[i]], f->rows);
        mr_buffer_append(&out, i ? "," : "[", 1);
        mr_buffer_append_text(&out, is_null ? MR_TEXT("null") : t->fields[d->sources[i]]);
    }
    mr_buffer_append(&out, "]", 1);
    return mr_buffer_text(&out);
}

/* The record in tokens, whose bytes are raw, begins at offset at of the input. */
static enum mr_status take_record(struct filling *f, struct mr_text raw, uint64_t at)
{
    struct mr_decoder *d = f->d;
    const char *reason = put_row(f, &d->tokens);

    if (d->corrupt != UINT32_MAX) {
        struct mr_column *c = &f->columns[d->corrupt];
        if (reason)
            mr_cell_store(c, f->rows, &(struct mr_cell){.text = raw}, &f->heaps);
        else
            put_null(c, f->rows);
    }
    if (reason) {
        if (d->config->on_bad)
            d->config->on_bad(
                d->config->on_bad_arg,
                &(struct mr_bad_record){.raw = raw, .reason = reason, .offset = d->offset + at});
        if (d->options.mode == MR_MODE_FAILFAST)
            return mr_corrupt_failfast(NULL, print_row(f), reason, f->err);
        if (d->options.mode == MR_MODE_DROPMALFORMED)
            return MR_OK;
    }
    f->rows++;
    return MR_OK;
}

/* With enforceSchema false the names of the header must be those of the columns read. */
static enum mr_status check_header(struct filling *f)
{
    struct mr_decoder *d = f->d;
    const struct mr_type *schema =
        d->config->full_schema ? d->config->full_schema : d->config->schema;

    if (d->options.enforce_schema)
        return MR_OK;
    if (!d->selects && d->tokens.n != d->declared_n)
        return MR_FAIL(f->err, MR_QUERY, 0,
                       "csv: the header has %u columns and the schema has %u (enforceSchema is "
                       "false)",
                       d->tokens.n, d->declared_n);
    for (uint32_t i = 0, field = 0; i < schema->fields_n; i++) {
        const char *name = schema->fields[i].name;
        if (is_hidden(d, name))
            continue;
        struct mr_text found = field < d->tokens.n ? d->tokens.fields[field] : MR_TEXT("");
        field++;
        if (d->selects && find_field(d->config->schema, name) == UINT32_MAX)
            continue;
        if (!mr_text_equal_ignoring_case(mr_text_of(name), found))
            return MR_FAIL_CONDITION(
                f->err, MR_QUERY, "FAILED_READ_FILE.NO_HINT",
                "CSV header does not conform to the schema: expected %s but found %.*s "
                "(enforceSchema is false)",
                name, (int)found.n, found.data);
    }
    return MR_OK;
}

static bool is_blank_or_comment(const struct csv_syntax *s, struct mr_text line)
{
    if (mr_text_trim(line).n == 0)
        return true;
    return s->comment >= 0 && (uint8_t)line.data[0] == s->comment;
}

static enum mr_status decode_line(struct filling *f, const uint8_t *data, uint32_t from,
                                  uint32_t to)
{
    struct mr_decoder *d = f->d;
    struct mr_text raw = {(const char *)data + from, to - from};

    if (is_blank_or_comment(&d->options.syntax, raw))
        return MR_OK;
    mr_arena_reset(&d->record);
    raw = mr_utf8_replace(raw, &d->record);
    bool header = d->header_due;
    d->header_due = false;
    if (!header && d->needed->fields_n == 0 && d->selects) {
        d->tokens.n = 0; /* only the number of rows is asked for */
        d->tokens.error = NULL;
        return take_record(f, raw, from);
    }
    if (csv_tokens_line(&d->tokens, (const uint8_t *)raw.data, raw.n) != CSV_RECORD)
        d->tokens.n = 0;
    return header ? check_header(f) : take_record(f, raw, from);
}

static enum mr_status decode_lines(struct filling *f, const uint8_t *data, uint32_t n, bool at_end,
                                   uint32_t *at)
{
    struct mr_decoder *d = f->d;
    uint32_t base = *at;
    uint32_t found = mr_cut(&d->cutter, data + base, n - base, d->ends, f->rows_max);
    uint32_t gap = d->cutter.separator.n ? (uint32_t)d->cutter.separator.n : 1;

    for (uint32_t i = 0; i < found; i++) {
        enum mr_status status = decode_line(f, data, *at, base + d->ends[i]);
        if (status != MR_OK)
            return status;
        *at = base + d->ends[i] + gap; /* \r\n leaves a blank line, which gives no row */
    }
    if (found == f->rows_max || !at_end || *at == n)
        return MR_OK;
    enum mr_status status = decode_line(f, data, *at, n);
    *at = n;
    return status;
}

/* What ends a line is what ends the first one. */
static void detect_line_end(struct mr_decoder *d, const uint8_t *data, uint32_t n)
{
    struct mr_text separator = d->options.line_separator;
    uint8_t *end = d->tokens.line_end;

    end[0] = '\n';
    end[1] = 0;
    if (separator.n) {
        end[0] = (uint8_t)separator.data[0];
        end[1] = separator.n > 1 ? (uint8_t)separator.data[1] : 0;
        return;
    }
    const uint8_t *newline = memchr(data, '\n', n), *cr = memchr(data, '\r', n);
    if (cr && (newline == NULL || cr < newline)) {
        end[0] = '\r';
        end[1] = newline == cr + 1 ? '\n' : 0;
    }
}

static enum mr_status decode_multi_line(struct filling *f, const uint8_t *data, uint32_t n,
                                        bool at_end, uint32_t *at)
{
    struct mr_decoder *d = f->d;

    while (f->rows < f->rows_max && *at < n) {
        uint64_t used = 0;
        mr_arena_reset(&d->record);
        enum csv_result result = csv_tokens_next(&d->tokens, data + *at, n - *at, at_end, &used);
        if (result == CSV_INCOMPLETE)
            break;
        struct mr_text raw = {(const char *)data + *at, used};
        if (raw.n && raw.data[raw.n - 1] == '\n')
            raw.n -= raw.n > 1 && raw.data[raw.n - 2] == '\r' ? 2 : 1;
        uint32_t from = *at;
        *at += (uint32_t)used;
        if (result == CSV_NOTHING)
            continue;
        bool header = d->header_due;
        d->header_due = false;
        enum mr_status status = header ? check_header(f) : take_record(f, raw, from);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static void end_batch(struct filling *f, struct mr_batch *out)
{
    const struct mr_type *schema = f->d->config->schema;

    *out = (struct mr_batch){
        .columns = f->columns, .columns_n = schema->fields_n, .rows = f->rows, .n = f->rows};
    for (uint32_t i = 0; i < schema->fields_n; i++)
        mr_cell_end_column(&f->columns[i], f->rows, &f->heaps);
}

enum mr_status csv_decode(struct mr_decoder *d, const uint8_t *data, uint64_t n, bool at_end,
                          struct mr_arena *scratch, struct mr_batch *out, uint64_t *used,
                          struct mr_error *err)
{
    struct filling f = {.d = d, .scratch = scratch, .err = err};
    enum mr_status status;
    uint32_t at = 0;

    *used = 0;
    *out = (struct mr_batch){.columns_n = d->config->schema->fields_n};
    if (n > BYTES_MAX) {
        n = BYTES_MAX;
        at_end = false;
    }
    if (n == 0 || (!d->started && n < 3 && !at_end))
        return MR_OK;
    if (!d->started) {
        /* an \r at the very end may be the first half of an end */
        bool line_seen = memchr(data, '\n', n) || memchr(data, '\r', n - 1);
        if (d->options.syntax.multi_line && !line_seen && !at_end)
            return MR_OK;
        at = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        detect_line_end(d, data, (uint32_t)n);
        d->started = true;
    }
    begin_batch(&f, data, n);
    status = d->options.syntax.multi_line ? decode_multi_line(&f, data, (uint32_t)n, at_end, &at)
                                          : decode_lines(&f, data, (uint32_t)n, at_end, &at);
    end_batch(&f, out);
    *used = at;
    d->offset += at;
    if (status == MR_OK && at == 0 && f.rows == 0 && n == BYTES_MAX)
        return MR_FAIL(err, MR_QUERY, 0, "csv: a record is longer than 2 GiB");
    return status;
}

/* from_csv: a decoder whose batch is the fields of the struct. */
struct mr_csv_parser {
    struct mr_decoder decoder;
};

static enum mr_status check_record_schema(const struct mr_type *schema, struct mr_arena *a,
                                          struct mr_error *err)
{
    for (uint32_t i = 0; i < schema->fields_n; i++) {
        const struct mr_type *type = schema->fields[i].type;
        if (type->fields_n || type->kind == MR_STRUCT || type->kind == MR_VOID ||
            type->kind == MR_VARIANT) {
            struct mr_buffer name;
            mr_buffer_init(&name, a);
            mr_type_print_sql(type, &name);
            return MR_FAIL_CONDITION(
                err, MR_USER, "UNSUPPORTED_DATATYPE",
                "Unsupported data type \"%.*s\": the field `%s` has no form in "
                "CSV.",
                (int)name.n, (const char *)name.data, schema->fields[i].name);
        }
    }
    return MR_OK;
}

enum mr_status mr_csv_parser_open(const struct mr_decoder_config *config, struct mr_arena *a,
                                  struct mr_csv_parser **out, struct mr_error *err)
{
    struct mr_csv_parser *p = MR_NEW(a, struct mr_csv_parser);
    struct mr_decoder *d = &p->decoder;
    enum mr_status status;

    d->config = config;
    status = csv_options_read(config->options, config->options_n, config->zone, true, a,
                              &d->options, err);
    if (status == MR_OK && d->options.mode == MR_MODE_DROPMALFORMED)
        status = MR_FAIL_CONDITION(err, MR_QUERY, "PARSE_MODE_UNSUPPORTED",
                                   "The function `from_csv` doesn't support the DROPMALFORMED "
                                   "mode. Acceptable modes are PERMISSIVE and FAILFAST.");
    if (status == MR_OK)
        status = check_record_schema(config->schema, a, err);
    if (status == MR_OK)
        status = map_columns(d, false, a, err);
    if (status != MR_OK)
        return status;
    d->tokens.syntax = &d->options.syntax;
    d->tokens.arena = &d->record;
    mr_arena_init(&d->record, a->budget, a->escape);
    *out = p;
    return MR_OK;
}

void mr_csv_parser_close(struct mr_csv_parser *p)
{
    mr_arena_fini(&p->decoder.record);
}

/* Nothing there: a struct of nulls, and nothing for the corrupt field to hold. */
static enum mr_status parse_text(struct filling *f, struct mr_text text)
{
    struct mr_decoder *d = f->d;
    uint32_t row = f->rows;
    enum csv_result result;

    mr_arena_reset(&d->record);
    text = mr_utf8_replace(text, &d->record);
    result = csv_tokens_text(&d->tokens, (const uint8_t *)text.data, text.n);
    if (result != CSV_RECORD)
        d->tokens.n = 0;
    if (d->needed->fields_n > 0 || d->rescued != UINT32_MAX) {
        enum mr_status status = take_record(f, text, 0);
        if (status != MR_OK)
            return status;
    }
    if (d->corrupt != UINT32_MAX && (result != CSV_RECORD || d->needed->fields_n == 0))
        put_null(&f->columns[d->corrupt], row);
    return MR_OK;
}

enum mr_status mr_csv_parse_column(struct mr_csv_parser *p, const struct mr_column *texts,
                                   uint32_t rows, const uint32_t *sel, uint32_t n,
                                   struct mr_arena *a, struct mr_column *out, struct mr_error *err)
{
    struct filling f = {.d = &p->decoder, .scratch = a, .err = err};
    const struct mr_type *type = p->decoder.config->schema;
    enum mr_status status = MR_OK;

    mr_column_alloc(out, type, rows, true, a);
    f.columns = out->children;
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_column_need_valid(&f.columns[i], rows, a);
    mr_heaps_begin(&f.heaps, (const uint8_t *)"", 0, a);
    for (uint32_t row = 0, next = 0; row < rows && status == MR_OK; row++) {
        bool selected = next < n && (sel == NULL || sel[next] == row);
        next += selected;
        f.rows = row;
        if (selected && !mr_column_is_null(texts, row)) {
            status = parse_text(&f, mr_column_text(texts, row));
            continue;
        }
        mr_bit_clear(out->valid, row);
        for (uint32_t i = 0; i < type->fields_n; i++)
            put_null(&f.columns[i], row);
    }
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_cell_end_column(&f.columns[i], rows, &f.heaps);
    return status;
}
