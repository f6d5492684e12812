#include "core/base/check.h"
#include "core/format/json/copy.h"
#include "core/format/json/json.h"
#include "core/format/temporal.h"
#include "core/format/value.h"
#include "core/format/variant/variant.h"
#include <math.h>

enum mr_status mr_json_writer_init(struct mr_json_writer *w, const struct mr_option *options,
                                   uint32_t n, const struct mr_zone *zone, struct mr_arena *a,
                                   struct mr_error *err)
{
    struct mr_temporal temporal;
    enum mr_status status = mr_temporal_init(&temporal, options, n, zone, false, a, err);

    *w = (struct mr_json_writer){
        .zone = temporal.zone,
        .keep_nulls = !mr_option_boolean(options, n, "ignoreNullFields", true),
        .timestamp_pattern = temporal.timestamp,
        .timestamp_ntz_pattern = temporal.timestamp_ntz,
        .date_pattern = temporal.date,
    };
    return status;
}

void mr_json_write_text(struct mr_text t, struct mr_buffer *out)
{
    json_copy_string(t, out);
}

static void append(struct mr_buffer *out, const char *text)
{
    mr_buffer_append_text(out, mr_text_of(text));
}

static inline void put(struct mr_buffer *out, char c)
{
    *mr_buffer_reserve(out, 1) = (uint8_t)c;
    out->n++;
}

static inline char *room_for_value(struct mr_buffer *out)
{
    return (char *)mr_buffer_reserve(out, MR_VALUE_TEXT);
}

/* Finite ones as numbers, the others as words in quotes. */
static void write_double(double x, const char *text, uint32_t n, struct mr_buffer *out)
{
    if (isfinite(x))
        mr_buffer_append(out, text, n);
    else
        json_copy_string((struct mr_text){text, n}, out);
}

void mr_json_write_binary(struct mr_text t, struct mr_buffer *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *to = mr_buffer_reserve(out, (t.n + 2) / 3 * 4 + 2), *start = to;
    const uint8_t *from = (const uint8_t *)t.data;

    *to++ = '"';
    for (uint64_t left = t.n; left > 0;) {
        uint32_t take = left < 3 ? (uint32_t)left : 3;
        uint32_t bits = (uint32_t)from[0] << 16;
        if (take > 1)
            bits |= (uint32_t)from[1] << 8;
        if (take > 2)
            bits |= from[2];
        to[0] = (uint8_t)digits[bits >> 18];
        to[1] = (uint8_t)digits[bits >> 12 & 63];
        to[2] = (uint8_t)(take > 1 ? digits[bits >> 6 & 63] : '=');
        to[3] = (uint8_t)(take > 2 ? digits[bits & 63] : '=');
        to += 4;
        from += take;
        left -= take;
    }
    *to++ = '"';
    out->n += (uint64_t)(to - start);
}

/* A date or time, in quotes. */
static void write_temporal(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                           struct mr_buffer *out)
{
    const struct mr_temporal t = {.zone = w->zone,
                                  .timestamp = w->timestamp_pattern,
                                  .timestamp_ntz = w->timestamp_ntz_pattern,
                                  .date = w->date_pattern};

    put(out, '"');
    if (c->type->kind == MR_DATE)
        mr_temporal_print_date(&t, c->i32[row], out);
    else if (c->type->kind == MR_TIMESTAMP_NTZ)
        mr_temporal_print_timestamp_ntz(&t, c->i64[row], out);
    else
        mr_temporal_print_timestamp(
            &t, c->i64[row],
            w->microseconds_always ? MR_TEMPORAL_MICROSECONDS : MR_TEMPORAL_MILLISECONDS, out);
    put(out, '"');
}

static void write_quoted(const char *text, uint32_t n, struct mr_buffer *out)
{
    json_copy_string((struct mr_text){text, n}, out);
}

static void write_scalar(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];

    switch (c->type->kind) {
    case MR_BOOLEAN:
        append(out, mr_bit_get(c->bits, row) ? "true" : "false");
        break;
    case MR_TINYINT:
        out->n += mr_value_print_integer(c->i8[row], room_for_value(out));
        break;
    case MR_SMALLINT:
        out->n += mr_value_print_integer(c->i16[row], room_for_value(out));
        break;
    case MR_INT:
        out->n += mr_value_print_integer(c->i32[row], room_for_value(out));
        break;
    case MR_BIGINT:
        out->n += mr_value_print_integer(c->i64[row], room_for_value(out));
        break;
    case MR_FLOAT:
        write_double(c->f32[row], text, mr_value_print_float(c->f32[row], text), out);
        break;
    case MR_DOUBLE:
        write_double(c->f64[row], text, mr_value_print_double(c->f64[row], text), out);
        break;
    case MR_DECIMAL:
        out->n += mr_value_print_decimal_short(c->i128[row], c->type->scale, room_for_value(out));
        break;
    case MR_STRING:
        json_copy_string(mr_column_text(c, row), out);
        break;
    case MR_BINARY:
        mr_json_write_binary(mr_column_text(c, row), out);
        break;
    case MR_VARIANT:
        mr_variant_print(mr_variant_of(mr_column_text(c, row)), w->zone, out);
        break;
    case MR_DATE:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
        write_temporal(w, c, row, out);
        break;
    case MR_INTERVAL_YEAR_MONTH:
        write_quoted(text, mr_value_print_interval_year_month(c->i32[row], c->type, text), out);
        break;
    case MR_INTERVAL_DAY_TIME:
        write_quoted(text, mr_value_print_interval_day_time(c->i64[row], c->type, text), out);
        break;
    case MR_INTERVAL_CALENDAR:
        write_quoted(text, mr_value_print_calendar_interval(&c->calendar[row], text), out);
        break;
    default:
        MR_UNREACHABLE();
    }
}

static void write_present(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                          struct mr_buffer *out);

static void write_struct(const struct mr_json_writer *w, const struct mr_type *type,
                         const struct mr_column *columns, uint32_t row, struct mr_buffer *out)
{
    bool comma = false;

    put(out, '{');
    for (uint32_t i = 0; i < type->fields_n; i++) {
        const bool is_null = mr_column_is_null(&columns[i], row);
        if (is_null && !w->keep_nulls)
            continue;
        if (comma)
            put(out, ',');
        comma = true;
        json_copy_string(mr_text_of(type->fields[i].name), out);
        put(out, ':');
        if (is_null)
            append(out, "null");
        else
            write_present(w, &columns[i], row, out);
    }
    put(out, '}');
}

/* A key is the text of its value, without the quotes that a timestamp would have. */
static void write_key(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                      struct mr_buffer *out)
{
    if (c->type->kind == MR_STRING) {
        json_copy_string(mr_column_text(c, row), out);
        return;
    }
    if (c->type->kind >= MR_DATE && c->type->kind <= MR_INTERVAL_DAY_TIME) { /* as Spark holds it */
        const bool is_narrow = mr_type_value_bytes(c->type) == sizeof c->i32[row];
        char text[MR_VALUE_TEXT];
        write_quoted(text, mr_value_print_integer(is_narrow ? c->i32[row] : c->i64[row], text),
                     out);
        return;
    }
    uint64_t start = out->n;
    mr_json_write_value(w, c, row, out);
    if (out->n > start && out->data[start] == '"')
        return;
    struct mr_text text = {mr_arena_copy(out->arena, out->data + start, out->n - start),
                           out->n - start};
    out->n = start;
    json_copy_string(text, out);
}

static void write_list(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                       struct mr_buffer *out)
{
    uint32_t from = (uint32_t)c->offsets[row], to = (uint32_t)c->offsets[row + 1];
    bool map = c->type->kind == MR_MAP;

    put(out, map ? '{' : '[');
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            put(out, ',');
        if (map) {
            write_key(w, &c->children[0], i, out);
            put(out, ':');
        }
        mr_json_write_value(w, &c->children[map], i, out);
    }
    put(out, map ? '}' : ']');
}

/* A value that is not null. */
static void write_present(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                          struct mr_buffer *out)
{
    if (c->type->kind == MR_STRUCT)
        write_struct(w, c->type, c->children, row, out);
    else if (c->type->kind == MR_ARRAY || c->type->kind == MR_MAP)
        write_list(w, c, row, out);
    else
        write_scalar(w, c, row, out);
}

void mr_json_write_value(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out)
{
    if (mr_column_is_null(c, row))
        append(out, "null");
    else
        write_present(w, c, row, out);
}

void mr_json_write_row(const struct mr_json_writer *w, const struct mr_type *type,
                       const struct mr_batch *batch, uint32_t row, struct mr_buffer *out)
{
    write_struct(w, type, batch->columns, row, out);
}
