#include "core/expr/cast.h"

#include "core/base/time.h"
#include "core/format/value.h"

#include <stdio.h>

/* Without ANSI mode "1.5" is 1: the text before the point, if digits follow it. */
static struct mr_text without_fraction(struct mr_text t)
{
    uint64_t point = 0, end;

    t = mr_text_trim(t);
    while (point < t.n && t.data[point] != '.')
        point++;
    for (end = point + 1; end < t.n && t.data[end] >= '0' && t.data[end] <= '9';)
        end++;
    if (point >= t.n || end < t.n)
        return t;
    if (point == 0 || (point == 1 && (t.data[0] == '-' || t.data[0] == '+')))
        return MR_TEXT("0");
    return (struct mr_text){t.data, point};
}

static bool parse_integer(struct mr_column *out, uint32_t row, struct mr_text t)
{
    static const int64_t limits[] = {[MR_TINYINT] = INT8_MAX,
                                     [MR_SMALLINT] = INT16_MAX,
                                     [MR_INT] = INT32_MAX,
                                     [MR_BIGINT] = INT64_MAX};
    int64_t limit = limits[out->type->kind], v;

    if (!mr_value_parse_integer(t, -limit - 1, limit, &v))
        return false;
    switch (out->type->kind) {
    case MR_TINYINT:
        out->i8[row] = (int8_t)v;
        break;
    case MR_SMALLINT:
        out->i16[row] = (int16_t)v;
        break;
    case MR_INT:
        out->i32[row] = (int32_t)v;
        break;
    default:
        out->i64[row] = v;
    }
    return true;
}

static bool parse(struct cast *c, struct mr_text t, struct mr_column *out, uint32_t row)
{
    const struct mr_eval_context *context = c->call->context;
    bool value;

    switch (out->type->kind) {
    case MR_BOOLEAN:
        if (!mr_value_parse_boolean(t, &value))
            return false;
        mr_bit_put(out->bits, row, value);
        return true;
    case MR_FLOAT:
        return mr_value_parse_float(t, &out->f32[row]);
    case MR_DOUBLE:
        return mr_value_parse_double(t, &out->f64[row]);
    case MR_DECIMAL:
        return mr_value_parse_decimal(t, out->type->precision, out->type->scale, &out->i128[row]);
    case MR_DATE:
        return mr_value_parse_date(t, &out->i32[row]);
    case MR_TIMESTAMP:
        return mr_value_parse_timestamp(t, context->zone, context->now_us, &out->i64[row]);
    case MR_TIMESTAMP_NTZ:
        return mr_value_parse_timestamp_ntz_or_zoned(t, &out->i64[row]);
    case MR_INTERVAL_CALENDAR:
        return mr_value_parse_interval(t, &out->calendar[row]);
    default:
        return parse_integer(out, row, c->wraps ? without_fraction(t) : t);
    }
}

/* A number for BigDecimal ("1d" is none), only too large for the type or for any. */
static bool is_number(struct mr_text t, bool *beyond_all)
{
    __int128 any;
    double v;

    t = mr_text_trim(t);
    if (t.n == 0 || strchr("dDfFnNyY", t.data[t.n - 1]) != NULL || !mr_value_parse_double(t, &v))
        return false;
    *beyond_all = !mr_value_parse_decimal(t, MR_DECIMAL_DIGITS, 0, &any);
    return true;
}

static enum mr_status bad_text(struct cast *c, const struct mr_column *in, uint32_t row,
                               const struct mr_type *to, struct mr_column *out)
{
    struct mr_text t = mr_column_text(in, row);
    bool beyond_all;

    if (to->kind != MR_DECIMAL || !is_number(t, &beyond_all))
        return mr_cast_invalid(c, in, row, to, out);
    if (c->nulls || !beyond_all)
        return mr_cast_out_of_range(c, in, row, to, out);
    return MR_FAIL_CONDITION(c->call->err, MR_QUERY, "NUMERIC_OUT_OF_SUPPORTED_RANGE",
                             "The value %.*s cannot be interpreted as a numeric since it has more "
                             "than 38 digits.",
                             (int)(t.n < 512 ? t.n : 512), t.data);
}

static void put_digits(struct mr_column *out, uint32_t row, int64_t v)
{
    if (out->type->kind == MR_INT)
        out->i32[row] = (int32_t)v;
    else
        out->i64[row] = v;
}

enum mr_status mr_cast_text(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                            struct mr_column *out)
{
    const bool wide = to->kind == MR_INT || to->kind == MR_BIGINT;

    if (to->kind == MR_BINARY) { /* the same bytes */
        *out = *in;
        out->type = to;
        return MR_OK;
    }
    c->nulls = c->nulls || to->kind == MR_INTERVAL_CALENDAR; /* in ANSI mode, too */
    mr_column_alloc(out, to, c->rows, false, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        struct mr_text t = mr_column_text(in, row);
        int64_t v;
        if (wide && mr_value_parse_digits(&in->views[row], &v)) {
            put_digits(out, row, v);
            continue;
        }
        if (parse(c, t, out, row))
            continue;
        enum mr_status status = bad_text(c, in, row, to, out);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

/* BigDecimal's own text, which casts take without ANSI mode: with an exponent below 1E-6. */
static uint32_t print_scientific(__int128 v, uint32_t scale, char *out)
{
    char digits[MR_VALUE_TEXT];
    struct mr_type whole = {.kind = MR_DECIMAL, .precision = MR_DECIMAL_DIGITS};
    struct mr_column c = {.type = &whole, .i128 = &v};
    uint32_t n = mr_value_print(&c, 0, NULL, digits), at = 0, first = digits[0] == '-';
    int32_t exponent = (int32_t)(n - first) - 1 - (int32_t)scale;

    if (exponent >= -6)
        return 0;
    for (uint32_t i = 0; i <= first; i++)
        out[at++] = digits[i];
    if (n > first + 1)
        out[at++] = '.';
    for (uint32_t i = first + 1; i < n; i++)
        out[at++] = digits[i];
    return at + (uint32_t)sprintf(out + at, "E%d", exponent);
}

static uint32_t print_plain(const struct mr_column *in, uint32_t row,
                            const struct mr_eval_context *context, char *out)
{
    uint32_t n = in->type->kind == MR_DECIMAL && !context->ansi
                     ? print_scientific(in->i128[row], in->type->scale, out)
                     : 0;

    return n ? n : mr_value_print(in, row, context->zone, out);
}

static void print_value(const struct mr_column *in, uint32_t row,
                        const struct mr_eval_context *context, struct mr_buffer *out);

static void print_item(const struct mr_column *in, uint32_t row,
                       const struct mr_eval_context *context, struct mr_buffer *out)
{
    if (mr_column_is_null(in, row))
        mr_buffer_append_text(out, MR_TEXT("null"));
    else
        print_value(in, row, context, out);
}

static void print_lists(const struct mr_column *in, uint32_t row,
                        const struct mr_eval_context *context, struct mr_buffer *out)
{
    bool is_map = in->type->kind == MR_MAP;

    mr_buffer_append_text(out, is_map ? MR_TEXT("{") : MR_TEXT("["));
    for (int32_t k = in->offsets[row]; k < in->offsets[row + 1]; k++) {
        if (k > in->offsets[row])
            mr_buffer_append_text(out, MR_TEXT(", "));
        print_item(&in->children[0], (uint32_t)k, context, out);
        if (!is_map)
            continue;
        mr_buffer_append_text(out, MR_TEXT(" -> "));
        print_item(&in->children[1], (uint32_t)k, context, out);
    }
    mr_buffer_append_text(out, is_map ? MR_TEXT("}") : MR_TEXT("]"));
}

static void print_value(const struct mr_column *in, uint32_t row,
                        const struct mr_eval_context *context, struct mr_buffer *out)
{
    switch (in->type->kind) {
    case MR_BOOLEAN:
        mr_buffer_append_text(out, mr_bit_get(in->bits, row) ? MR_TEXT("true") : MR_TEXT("false"));
        break;
    case MR_STRING:
    case MR_BINARY:
        mr_buffer_append_text(out, mr_column_text(in, row));
        break;
    case MR_VARIANT:
        mr_variant_print(mr_variant_of(mr_column_text(in, row)), context->zone, out);
        break;
    case MR_ARRAY:
    case MR_MAP:
        print_lists(in, row, context, out);
        break;
    case MR_STRUCT:
        mr_buffer_append_text(out, MR_TEXT("{"));
        for (uint32_t f = 0; f < in->type->fields_n; f++) {
            if (f > 0)
                mr_buffer_append_text(out, MR_TEXT(", "));
            print_item(&in->children[f], row, context, out);
        }
        mr_buffer_append_text(out, MR_TEXT("}"));
        break;
    default:
        out->n += print_plain(in, row, context, (char *)mr_buffer_reserve(out, MR_VALUE_TEXT));
    }
}

void mr_cast_print(const struct mr_column *in, uint32_t row, const struct mr_eval_context *context,
                   struct mr_buffer *out)
{
    if (mr_column_is_null(in, row))
        mr_buffer_append_text(out, MR_TEXT("NULL"));
    else
        print_value(in, row, context, out);
}

/* INT and BIGINT: most texts lie in their views. */
static void print_integers(struct cast *c, const struct mr_column *in, struct mr_text_writer *w)
{
    const bool is_int = in->type->kind == MR_INT;

    EACH_CAST_ROW(c, i, row)
    {
        char text[MR_VALUE_TEXT];
        struct mr_view *v = &w->out->views[row];
        const uint32_t n = mr_value_print_integer(is_int ? in->i32[row] : in->i64[row], text);
        if (n > MR_VIEW_INLINE) {
            mr_text_writer_copy(w, row, (struct mr_text){text, n});
            continue;
        }
        v->length = (int32_t)n;
        mr_view_set_short(v, text, n);
    }
}

enum mr_status mr_cast_to_text(struct cast *c, const struct mr_column *in, struct mr_column *out)
{
    const struct mr_eval_context *context = c->call->context;
    struct mr_text_writer w;
    struct mr_buffer b;

    if (in->type->kind == MR_BINARY) {
        *out = *in;
        out->type = &mr_type_string;
        return MR_OK;
    }
    mr_text_writer_init(&w, out, &mr_type_string, c->rows, c->call->arena);
    if (in->type->kind == MR_INT || in->type->kind == MR_BIGINT) {
        print_integers(c, in, &w);
        return MR_OK;
    }
    mr_buffer_init(&b, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        if (in->type->kind == MR_BOOLEAN || in->type->fields_n > 0) {
            b.n = 0;
            mr_cast_print(in, row, context, &b);
            mr_text_writer_copy(&w, row, mr_buffer_text(&b));
        } else {
            char *room = mr_text_writer_room(&w, MR_VALUE_TEXT);
            mr_text_writer_put(&w, row, print_plain(in, row, context, room));
        }
    }
    return MR_OK;
}
