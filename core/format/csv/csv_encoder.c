#include "core/base/check.h"
#include "core/format/csv/csv.h"
#include "core/format/csv/csv_record.h"
#include "core/format/value.h"

struct mr_encoder {
    struct csv_options options;
    const struct mr_type *schema;
    struct mr_text line_end;
    struct mr_buffer text; /* of the value at hand */
};

enum mr_status mr_csv_writer_open(const struct mr_encoder_config *config, struct mr_arena *a,
                                  struct mr_encoder **out, struct mr_error *err)
{
    struct mr_encoder *e = MR_NEW(a, struct mr_encoder);
    enum mr_status status = csv_options_read(config->options, config->options_n, config->zone,
                                             false, a, &e->options, err);

    e->schema = config->schema;
    e->line_end = e->options.line_separator.n ? e->options.line_separator : MR_TEXT("\n");
    mr_buffer_init(&e->text, a);
    *out = e;
    return status;
}

enum mr_status csv_encoder_open(const struct mr_encoder_config *config, struct mr_arena *a,
                                struct mr_encoder **out, struct mr_error *err)
{
    enum mr_status status = csv_check_schema(config->schema, err);

    return status == MR_OK ? mr_csv_writer_open(config, a, out, err) : status;
}

static bool is_trigger(const struct mr_encoder *e, struct mr_text t, uint64_t i)
{
    const struct csv_syntax *s = &e->options.syntax;
    uint8_t c = (uint8_t)t.data[i];

    if (c == '\n' || c == '\r' || (c == s->quote && (i == 0 || e->options.escape_quotes)))
        return true;
    return c == (uint8_t)s->separator.data[0] && t.n - i >= s->separator.n &&
           memcmp(t.data + i, s->separator.data, s->separator.n) == 0;
}

static bool needs_quotes(const struct mr_encoder *e, struct mr_text t, bool first_column)
{
    if (e->options.quote_all)
        return true;
    if (first_column && t.n && (uint8_t)t.data[0] == e->options.syntax.comment)
        return true;
    for (uint64_t i = 0; i < t.n; i++)
        if (is_trigger(e, t, i))
            return true;
    return false;
}

static void write_byte(int c, struct mr_buffer *out)
{
    if (c >= 0)
        mr_buffer_append(out, &(char){(char)c}, 1);
}

static void write_quoted(const struct mr_encoder *e, struct mr_text t, struct mr_buffer *out)
{
    const struct csv_syntax *s = &e->options.syntax;

    write_byte(s->quote, out);
    for (uint64_t i = 0; i < t.n; i++) {
        uint8_t c = (uint8_t)t.data[i];
        if (c == s->quote)
            write_byte(s->escape, out);
        else if (c == s->escape)
            write_byte(s->escape_escape, out);
        write_byte(c, out);
    }
    write_byte(s->quote, out);
}

/* A replacement for null or the empty text stands as it is, its own quotes not doubled. */
static void write_replacement(const struct mr_encoder *e, struct mr_text t, struct mr_buffer *out)
{
    int quote = e->options.syntax.quote;
    bool is_quoted = t.n >= 2 && (uint8_t)t.data[0] == quote && (uint8_t)t.data[t.n - 1] == quote;

    if (e->options.quote_all && !is_quoted) {
        write_byte(quote, out);
        mr_buffer_append_text(out, t);
        write_byte(quote, out);
    } else {
        mr_buffer_append_text(out, t);
    }
}

static void write_field(const struct mr_encoder *e, struct mr_text t, bool first_column,
                        struct mr_buffer *out)
{
    const struct csv_syntax *s = &e->options.syntax;

    if (t.n == 0) {
        write_replacement(e, s->empty_value, out);
        return;
    }
    while (s->trim_leading && t.n && (uint8_t)t.data[0] <= ' ')
        t = (struct mr_text){t.data + 1, t.n - 1};
    while (s->trim_trailing && t.n && (uint8_t)t.data[t.n - 1] <= ' ')
        t.n--;
    if (t.n == 0)
        write_replacement(e, s->empty_value, out);
    else if (needs_quotes(e, t, first_column))
        write_quoted(e, t, out);
    else
        mr_buffer_append_text(out, t);
}

static void print_value(const struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                        struct mr_buffer *out);

/* What comes first has no blank before it; a null that prints as nothing never. */
static void print_item(const struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                       bool first, struct mr_buffer *out)
{
    bool is_null = mr_column_is_null(c, row);

    if (!first && !(is_null && e->options.syntax.null_value.n == 0))
        mr_buffer_append(out, " ", 1);
    if (is_null)
        mr_buffer_append_text(out, e->options.syntax.null_value);
    else
        print_value(e, c, row, out);
}

/* As Spark shows nested values: [1, 2], {k -> v}, {1, x}. Only to_csv has them. */
static void print_list(const struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                       struct mr_buffer *out)
{
    bool map = c->type->kind == MR_MAP;
    int32_t from = c->offsets[row], to = c->offsets[row + 1];

    mr_buffer_append(out, map ? "{" : "[", 1);
    for (int32_t i = from; i < to; i++) {
        if (i > from)
            mr_buffer_append(out, ",", 1);
        print_item(e, &c->children[0], (uint32_t)i, i == from, out);
        if (map) {
            mr_buffer_append(out, " ->", 3);
            print_item(e, &c->children[1], (uint32_t)i, false, out);
        }
    }
    mr_buffer_append(out, map ? "}" : "]", 1);
}

static void print_struct(const struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out)
{
    mr_buffer_append(out, "{", 1);
    for (uint32_t i = 0; i < c->type->fields_n; i++) {
        if (i)
            mr_buffer_append(out, ",", 1);
        /* Spark puts a blank before a null that comes first here, though not in a list */
        bool first = i == 0 && !mr_column_is_null(&c->children[i], row);
        print_item(e, &c->children[i], row, first, out);
    }
    mr_buffer_append(out, "}", 1);
}

static void print_bytes(struct mr_text t, struct mr_buffer *out)
{
    mr_buffer_append(out, "[", 1);
    for (uint64_t i = 0; i < t.n; i++)
        mr_buffer_append_format(out, i ? " %02X" : "%02X", (uint8_t)t.data[i]);
    mr_buffer_append(out, "]", 1);
}

static void print_value(const struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                        struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];

    switch (c->type->kind) {
    case MR_STRING:
        mr_buffer_append_text(out, mr_column_text(c, row));
        break;
    case MR_BINARY:
        print_bytes(mr_column_text(c, row), out);
        break;
    case MR_ARRAY:
    case MR_MAP:
        print_list(e, c, row, out);
        break;
    case MR_STRUCT:
        print_struct(e, c, row, out);
        break;
    case MR_BOOLEAN:
        mr_buffer_append_text(out, mr_bit_get(c->bits, row) ? MR_TEXT("true") : MR_TEXT("false"));
        break;
    case MR_DATE:
        mr_temporal_print_date(&e->options.temporal, c->i32[row], out);
        break;
    case MR_TIMESTAMP:
        mr_temporal_print_timestamp(&e->options.temporal, c->i64[row], MR_TEMPORAL_MILLISECONDS,
                                    out);
        break;
    case MR_TIMESTAMP_NTZ:
        mr_temporal_print_timestamp_ntz(&e->options.temporal, c->i64[row], out);
        break;
    case MR_DECIMAL:
        mr_buffer_append(out, text,
                         mr_value_print_decimal_short(c->i128[row], c->type->scale, text));
        break;
    default: /* no times are left: the zone does not matter */
        mr_buffer_append(out, text, mr_value_print(c, row, NULL, text));
        break;
    }
}

static struct mr_text value_text(struct mr_encoder *e, const struct mr_column *c, uint32_t row)
{
    if (c->type->kind == MR_STRING)
        return mr_column_text(c, row);
    e->text.n = 0;
    print_value(e, c, row, &e->text);
    return mr_buffer_text(&e->text);
}

static void write_separator(const struct mr_encoder *e, struct mr_buffer *out)
{
    mr_buffer_append_text(out, e->options.syntax.separator);
}

void csv_encode_begin(struct mr_encoder *e, struct mr_buffer *out)
{
    if (!e->options.header || e->schema->fields_n == 0)
        return;
    for (uint32_t i = 0; i < e->schema->fields_n; i++) {
        if (i)
            write_separator(e, out);
        write_field(e, mr_text_of(e->schema->fields[i].name), i == 0, out);
    }
    mr_buffer_append_text(out, e->line_end);
}

/* The values of a row, without its line end. */
static void write_fields(struct mr_encoder *e, const struct mr_column *columns, uint32_t row,
                         struct mr_buffer *out)
{
    for (uint32_t k = 0; k < e->schema->fields_n; k++) {
        if (k)
            write_separator(e, out);
        if (mr_column_is_null(&columns[k], row))
            write_replacement(e, e->options.syntax.null_value, out);
        else
            write_field(e, value_text(e, &columns[k], row), k == 0, out);
    }
}

enum mr_status csv_encode(struct mr_encoder *e, const struct mr_batch *batch, struct mr_buffer *out,
                          struct mr_error *err)
{
    MR_ASSERT(err != NULL && batch->columns_n == e->schema->fields_n);
    for (uint32_t i = 0; i < batch->n; i++) {
        write_fields(e, batch->columns, mr_batch_row(batch, i), out);
        mr_buffer_append_text(out, e->line_end);
    }
    return MR_OK;
}

void mr_csv_write_record(struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out)
{
    MR_ASSERT(c->type->kind == MR_STRUCT && c->type->fields_n == e->schema->fields_n);
    write_fields(e, c->children, row, out);
}
