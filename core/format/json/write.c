#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/json/copy.h"
#include "core/format/json/json.h"
#include "core/format/options.h"
#include "core/format/value.h"
#include <math.h>
#include <stdio.h>

enum mr_status mr_json_writer_init(struct mr_json_writer *w, const struct mr_option *options,
                                   uint32_t n, const struct mr_zone *zone, struct mr_arena *a,
                                   struct mr_error *err)
{
    *w = (struct mr_json_writer){
        .zone = mr_option_zone(options, n, zone ? zone : mr_zone_utc()),
        .keep_nulls = !mr_option_boolean(options, n, "ignoreNullFields", true),
    };
    enum mr_status status = mr_option_pattern(options, n, "timestampFormat", false, a,
                                              &w->timestamp_pattern, err);
    if (status == MR_OK)
        status = mr_option_pattern(options, n, "timestampNTZFormat", false, a,
                                   &w->timestamp_ntz_pattern, err);
    if (status == MR_OK)
        status = mr_option_pattern(options, n, "dateFormat", false, a, &w->date_pattern, err);
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

/* Finite ones as numbers, the others as words in quotes. */
static void write_double(double x, const char *text, uint32_t n, struct mr_buffer *out)
{
    if (isfinite(x))
        mr_buffer_append(out, text, n);
    else
        json_copy_string((struct mr_text){text, n}, out);
}

static void write_binary(struct mr_text t, struct mr_buffer *out)
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

/* ISO 8601 with milliseconds, as Spark's default pattern; years above 9999 have a sign, as in Java. */
static void print_local(int64_t local_us, bool microseconds, struct mr_buffer *out)
{
    struct mr_civil c;
    uint32_t fraction;

    mr_civil_from_us(local_us, &c);
    fraction = microseconds ? c.us : c.us / 1000;
    mr_buffer_append_format(out, c.year > 9999 ? "+%d" : c.year < 0 ? "-%04d" : "%04d",
                            c.year < 0 ? -c.year : c.year);
    mr_buffer_append_format(out, "-%02u-%02uT%02u:%02u:%02u.%0*u", c.month, c.day, c.hour,
                            c.minute, c.second, microseconds ? 6 : 3, fraction);
}

static void write_timestamp(const struct mr_json_writer *w, int64_t us, struct mr_buffer *out)
{
    mr_buffer_append(out, "\"", 1);
    if (w->timestamp_pattern) {
        mr_pattern_print(w->timestamp_pattern, us, w->zone, out);
    } else {
        int64_t local = mr_zone_to_local(w->zone, us);
        int64_t offset = (local - us) / MR_US_PER_SECOND;
        int64_t size = offset < 0 ? -offset : offset;
        print_local(local, w->microseconds_always, out);
        if (offset == 0)
            mr_buffer_append(out, "Z", 1);
        else
            mr_buffer_append_format(out, "%c%02d:%02d", offset < 0 ? '-' : '+', (int)(size / 3600),
                                    (int)(size / 60 % 60));
    }
    mr_buffer_append(out, "\"", 1);
}

static void write_timestamp_ntz(const struct mr_json_writer *w, int64_t us, struct mr_buffer *out)
{
    mr_buffer_append(out, "\"", 1);
    if (w->timestamp_ntz_pattern)
        mr_pattern_print(w->timestamp_ntz_pattern, us, mr_zone_utc(), out);
    else
        print_local(us, false, out);
    mr_buffer_append(out, "\"", 1);
}

static void write_date(const struct mr_json_writer *w, int32_t days, struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];

    mr_buffer_append(out, "\"", 1);
    if (w->date_pattern)
        mr_pattern_print(w->date_pattern, days * MR_US_PER_DAY, mr_zone_utc(), out);
    else
        mr_buffer_append(out, text, mr_value_print_date(days, text));
    mr_buffer_append(out, "\"", 1);
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
        mr_buffer_append(out, text, mr_value_print_integer(c->i8[row], text));
        break;
    case MR_SMALLINT:
        mr_buffer_append(out, text, mr_value_print_integer(c->i16[row], text));
        break;
    case MR_INT:
        mr_buffer_append(out, text, mr_value_print_integer(c->i32[row], text));
        break;
    case MR_BIGINT:
        mr_buffer_append(out, text, mr_value_print_integer(c->i64[row], text));
        break;
    case MR_FLOAT:
        write_double(c->f32[row], text, mr_value_print_float(c->f32[row], text), out);
        break;
    case MR_DOUBLE:
        write_double(c->f64[row], text, mr_value_print_double(c->f64[row], text), out);
        break;
    case MR_DECIMAL:
        mr_buffer_append(out, text,
                         mr_value_print_decimal_short(c->i128[row], c->type->scale, text));
        break;
    case MR_STRING:
        json_copy_string(mr_column_text(c, row), out);
        break;
    case MR_BINARY:
        write_binary(mr_column_text(c, row), out);
        break;
    case MR_DATE:
        write_date(w, c->i32[row], out);
        break;
    case MR_TIMESTAMP:
        write_timestamp(w, c->i64[row], out);
        break;
    case MR_TIMESTAMP_NTZ:
        write_timestamp_ntz(w, c->i64[row], out);
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

static void write_struct(const struct mr_json_writer *w, const struct mr_type *type,
                         const struct mr_column *columns, uint32_t row, struct mr_buffer *out)
{
    bool comma = false;

    mr_buffer_append(out, "{", 1);
    for (uint32_t i = 0; i < type->fields_n; i++) {
        if (!w->keep_nulls && mr_column_is_null(&columns[i], row))
            continue;
        if (comma)
            mr_buffer_append(out, ",", 1);
        comma = true;
        json_copy_string(mr_text_of(type->fields[i].name), out);
        mr_buffer_append(out, ":", 1);
        mr_json_write_value(w, &columns[i], row, out);
    }
    mr_buffer_append(out, "}", 1);
}

/* A key is the text of its value, without the quotes that a timestamp would have. */
static void write_key(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                      struct mr_buffer *out)
{
    if (c->type->kind == MR_STRING) {
        json_copy_string(mr_column_text(c, row), out);
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

    mr_buffer_append(out, map ? "{" : "[", 1);
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            mr_buffer_append(out, ",", 1);
        if (map) {
            write_key(w, &c->children[0], i, out);
            mr_buffer_append(out, ":", 1);
        }
        mr_json_write_value(w, &c->children[map], i, out);
    }
    mr_buffer_append(out, map ? "}" : "]", 1);
}

void mr_json_write_value(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out)
{
    if (mr_column_is_null(c, row))
        append(out, "null");
    else if (c->type->kind == MR_STRUCT)
        write_struct(w, c->type, c->children, row, out);
    else if (c->type->kind == MR_ARRAY || c->type->kind == MR_MAP)
        write_list(w, c, row, out);
    else
        write_scalar(w, c, row, out);
}

void mr_json_write_row(const struct mr_json_writer *w, const struct mr_type *type,
                       const struct mr_batch *batch, uint32_t row, struct mr_buffer *out)
{
    write_struct(w, type, batch->columns, row, out);
}
