#include "core/base/check.h"
#include "core/format/value.h"
#include "io/console/console.h"

static void put_binary(struct mr_text t, struct mr_buffer *out)
{
    mr_buffer_append(out, "[", 1);
    for (uint64_t i = 0; i < t.n; i++)
        mr_buffer_append_format(out, "%s%02X", i ? " " : "", (unsigned char)t.data[i]);
    mr_buffer_append(out, "]", 1);
}

static uint32_t print_scalar(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                             char *text)
{
    switch (c->type->kind) {
    case MR_TINYINT:
        return mr_value_print_integer(c->i8[row], text);
    case MR_SMALLINT:
        return mr_value_print_integer(c->i16[row], text);
    case MR_INT:
        return mr_value_print_integer(c->i32[row], text);
    case MR_BIGINT:
        return mr_value_print_integer(c->i64[row], text);
    case MR_FLOAT:
        return mr_value_print_float(c->f32[row], text);
    case MR_DOUBLE:
        return mr_value_print_double(c->f64[row], text);
    case MR_DECIMAL:
        return mr_value_print_decimal(c->i128[row], c->type->scale, text);
    case MR_DATE:
        return mr_value_print_date(c->i32[row], text);
    case MR_TIMESTAMP:
        return mr_value_print_timestamp(c->i64[row], zone, text);
    case MR_TIMESTAMP_NTZ:
        return mr_value_print_timestamp_ntz(c->i64[row], text);
    case MR_INTERVAL_YEAR_MONTH:
        return mr_value_print_interval_year_month(c->i32[row], c->type, text);
    case MR_INTERVAL_DAY_TIME:
        return mr_value_print_interval_day_time(c->i64[row], c->type, text);
    case MR_INTERVAL_CALENDAR:
        return mr_value_print_calendar_interval(&c->calendar[row], text);
    default:
        MR_UNREACHABLE();
        return 0;
    }
}

/* The depth of types is bounded by MR_DEPTH_MAX. */
static void put_nested(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                       struct mr_buffer *out)
{
    bool is_struct = c->type->kind == MR_STRUCT, is_map = c->type->kind == MR_MAP;
    uint32_t from = is_struct ? 0 : (uint32_t)c->offsets[row];
    uint32_t to = is_struct ? c->type->fields_n : (uint32_t)c->offsets[row + 1];
    const char *brackets = c->type->kind == MR_ARRAY ? "[]" : "{}";

    mr_buffer_append(out, brackets, 1);
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            mr_buffer_append(out, ", ", 2);
        mr_console_cell(&c->children[is_struct ? i : 0], is_struct ? row : i, zone, out);
        if (is_map) {
            mr_buffer_append(out, " -> ", 4);
            mr_console_cell(&c->children[1], i, zone, out);
        }
    }
    mr_buffer_append(out, brackets + 1, 1);
}

void mr_console_cell(const struct mr_column *c, uint32_t row, const struct mr_zone *zone,
                     struct mr_buffer *out)
{
    if (mr_column_is_null(c, row)) {
        mr_buffer_append(out, "NULL", 4);
        return;
    }
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_buffer_append_text(out, mr_bit_get(c->bits, row) ? MR_TEXT("true") : MR_TEXT("false"));
        break;
    case MR_STRING:
        mr_buffer_append_text(out, mr_column_text(c, row));
        break;
    case MR_BINARY:
        put_binary(mr_column_text(c, row), out);
        break;
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
        put_nested(c, row, zone, out);
        break;
    default:
        out->n += print_scalar(c, row, zone, (char *)mr_buffer_reserve(out, MR_VALUE_TEXT));
    }
}
