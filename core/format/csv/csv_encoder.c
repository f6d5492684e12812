#include "core/base/check.h"
#include "core/format/csv/csv.h"
#include "core/format/value.h"

struct mr_encoder {
    struct csv_options options;
    const struct mr_type *schema;
    struct mr_text line_end;
    struct mr_buffer text; /* of the value at hand */
};

enum mr_status csv_encoder_open(const struct mr_encoder_config *config, struct mr_arena *a,
                                struct mr_encoder **out, struct mr_error *err)
{
    struct mr_encoder *e = MR_NEW(a, struct mr_encoder);
    enum mr_status status = csv_options_read(config->options, config->options_n, config->zone,
                                             false, a, &e->options, err);

    if (status == MR_OK)
        status = csv_check_schema(config->schema, err);
    e->schema = config->schema;
    e->line_end = e->options.line_separator.n ? e->options.line_separator : MR_TEXT("\n");
    mr_buffer_init(&e->text, a);
    *out = e;
    return status;
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

static struct mr_text value_text(struct mr_encoder *e, const struct mr_column *c, uint32_t row)
{
    char text[MR_VALUE_TEXT];

    e->text.n = 0;
    switch (c->type->kind) {
    case MR_STRING:
        return mr_column_text(c, row);
    case MR_BOOLEAN:
        return mr_bit_get(c->bits, row) ? MR_TEXT("true") : MR_TEXT("false");
    case MR_DATE:
        mr_temporal_print_date(&e->options.temporal, c->i32[row], &e->text);
        break;
    case MR_TIMESTAMP:
        mr_temporal_print_timestamp(&e->options.temporal, c->i64[row], MR_TEMPORAL_MILLISECONDS,
                                    &e->text);
        break;
    case MR_TIMESTAMP_NTZ:
        mr_temporal_print_timestamp_ntz(&e->options.temporal, c->i64[row], &e->text);
        break;
    case MR_DECIMAL:
        mr_buffer_append(&e->text, text,
                         mr_value_print_decimal_short(c->i128[row], c->type->scale, text));
        break;
    default: /* no times are left: the zone does not matter */
        mr_buffer_append(&e->text, text, mr_value_print(c, row, NULL, text));
        break;
    }
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

enum mr_status csv_encode(struct mr_encoder *e, const struct mr_batch *batch, struct mr_buffer *out,
                          struct mr_error *err)
{
    MR_ASSERT(err != NULL && batch->columns_n == e->schema->fields_n);
    for (uint32_t i = 0; i < batch->n; i++) {
        uint32_t row = mr_batch_row(batch, i);
        for (uint32_t k = 0; k < batch->columns_n; k++) {
            const struct mr_column *c = &batch->columns[k];
            if (k)
                write_separator(e, out);
            if (mr_column_is_null(c, row))
                write_replacement(e, e->options.syntax.null_value, out);
            else
                write_field(e, value_text(e, c, row), k == 0, out);
        }
        mr_buffer_append_text(out, e->line_end);
    }
    return MR_OK;
}
