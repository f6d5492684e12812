/* JSON text <-> variants. */
#include "core/base/bounds.h"
#include "core/format/json/json.h"
#include "core/format/json/reader.h"
#include "core/format/value.h"
#include "core/format/variant/variant.h"
#include <math.h>
#include <stdio.h>

/* 12.50 as 1250 and 2; false: it has an exponent, or more than 38 digits on one side of its
 * point. */
static bool read_decimal(struct mr_text t, __int128 *value, uint32_t *scale)
{
    bool negative = t.n && t.data[0] == '-', point = false;
    uint32_t digits = 0;

    *value = 0;
    *scale = 0;
    for (uint64_t i = negative; i < t.n; i++) {
        if (t.data[i] == '.') {
            point = true;
            continue;
        }
        if (!mr_is_digit(t.data[i]))
            return false;
        digits += digits > 0 || t.data[i] != '0';
        *scale += point;
        if (digits > MR_DECIMAL_DIGITS || *scale > MR_DECIMAL_DIGITS)
            return false;
        *value = *value * 10 + (t.data[i] - '0');
    }
    if (negative)
        *value = -*value;
    return true;
}

static bool put_number(struct mr_variant_builder *b, struct mr_text t, bool integer)
{
    int64_t whole;
    double real;
    __int128 decimal;
    uint32_t scale;

    if (integer && mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &whole))
        mr_variant_put_integer(b, whole);
    else if (read_decimal(t, &decimal, &scale))
        mr_variant_put_decimal(b, decimal, scale);
    else if (mr_value_parse_double(t, &real))
        mr_variant_put_double(b, real);
    else
        return false;
    return true;
}

/* Half of a surrogate pair, which the reader was told to keep. */
static bool has_lone_surrogate(struct mr_text t)
{
    for (uint64_t i = 0; i + 1 < t.n; i++)
        if ((uint8_t)t.data[i] == 0xed && (uint8_t)t.data[i + 1] >= 0xa0)
            return true;
    return false;
}

static bool put_token(struct mr_variant_builder *b, struct json_reader *r)
{
    switch (r->token) {
    case JSON_STRING:
        if (!json_reader_finish(r) || has_lone_surrogate(r->text))
            return false;
        mr_variant_put_text(b, r->text);
        return true;
    case JSON_INTEGER:
    case JSON_FLOAT:
        return put_number(b, r->text, r->token == JSON_INTEGER);
    case JSON_TRUE:
    case JSON_FALSE:
        mr_variant_put_boolean(b, r->token == JSON_TRUE);
        return true;
    case JSON_NULL:
        mr_variant_put_null(b);
        return true;
    case JSON_START_OBJECT:
    case JSON_START_ARRAY:
        return mr_variant_open(b, r->token == JSON_START_OBJECT);
    default:
        return false;
    }
}

bool mr_variant_read_json(struct mr_variant_builder *b, struct json_reader *r)
{
    uint32_t bottom = b->depth;

    for (enum json_token token = r->token; token != JSON_END && token != JSON_ERROR;
         token = json_reader_next(r)) {
        if (token == JSON_FIELD_NAME) {
            struct mr_text name = *json_reader_name(r);
            if (has_lone_surrogate(name))
                return false;
            name.data = mr_arena_copy(b->arena, name.data, name.n);
            mr_variant_name(b, name);
            continue;
        }
        bool ends = token == JSON_END_OBJECT || token == JSON_END_ARRAY;
        if (ends && b->depth == bottom)
            return false;
        if (!ends && b->depth > bottom && !b->levels[b->depth - 1].object)
            mr_variant_item(b);
        if (ends ? !mr_variant_close(b) : !put_token(b, r))
            return false;
        if (b->depth == bottom)
            return true;
    }
    return false;
}

static void print_real(double x, const char *text, uint32_t n, struct mr_buffer *out)
{
    if (isfinite(x))
        mr_buffer_append(out, text, n);
    else
        mr_json_write_text((struct mr_text){text, n}, out);
}

/* The instant in the zone, with its offset: 2020-01-02 03:04:05+01:00. */
static uint32_t print_instant(int64_t us, const struct mr_zone *zone, char *text)
{
    int64_t offset = (mr_zone_to_local(zone, us) - us) / 1000000;
    uint32_t n = mr_value_print_timestamp(us, zone, text);
    uint32_t seconds = (uint32_t)(offset < 0 ? -offset : offset);

    return n + (uint32_t)snprintf(text + n, MR_VALUE_TEXT - n, "%c%02u:%02u",
                                  offset < 0 ? '-' : '+', seconds / 3600, seconds / 60 % 60);
}

static void print_scalar(const struct mr_variant_value *x, const struct mr_zone *zone,
                         struct mr_buffer *out)
{
    char text[MR_VALUE_TEXT];

    switch (x->kind) {
    case MR_VARIANT_BOOLEAN:
        mr_buffer_append_text(out, x->i64 ? MR_TEXT("true") : MR_TEXT("false"));
        break;
    case MR_VARIANT_INTEGER:
        mr_buffer_append(out, text, mr_value_print_integer(x->i64, text));
        break;
    case MR_VARIANT_DECIMAL:
        mr_buffer_append(out, text, mr_value_print_decimal(x->i128, x->scale, text));
        break;
    case MR_VARIANT_DOUBLE:
        print_real(x->f64, text, mr_value_print_double(x->f64, text), out);
        break;
    case MR_VARIANT_FLOAT:
        print_real(x->f32, text, mr_value_print_float(x->f32, text), out);
        break;
    case MR_VARIANT_STRING:
        mr_json_write_text(x->text, out);
        break;
    case MR_VARIANT_BINARY:
        mr_json_write_binary(x->text, out);
        break;
    case MR_VARIANT_DATE:
        mr_json_write_text((struct mr_text){text, mr_value_print_date((int32_t)x->i64, text)}, out);
        break;
    case MR_VARIANT_TIMESTAMP:
        mr_json_write_text((struct mr_text){text, print_instant(x->i64, zone, text)}, out);
        break;
    case MR_VARIANT_TIMESTAMP_NTZ:
        mr_json_write_text((struct mr_text){text, mr_value_print_timestamp_ntz(x->i64, text)}, out);
        break;
    default:
        mr_buffer_append_text(out, MR_TEXT("null"));
    }
}

/* Levels are walked by an explicit stack, as deep as a builder lets them be. */
void mr_variant_print(struct mr_variant v, const struct mr_zone *zone, struct mr_buffer *out)
{
    struct {
        struct mr_variant v;
        uint32_t next, n;
        bool object;
    } levels[MR_VARIANT_DEPTH_MAX], *l;
    uint32_t depth = 0;

    for (;;) {
        struct mr_variant_value x = mr_variant_read(v);
        bool object = x.kind == MR_VARIANT_OBJECT;
        if ((object || x.kind == MR_VARIANT_ARRAY) && depth < MR_VARIANT_DEPTH_MAX) {
            mr_buffer_append(out, object ? "{" : "[", 1);
            levels[depth].v = v;
            levels[depth].next = 0;
            levels[depth].n = x.members_n;
            levels[depth++].object = object;
        } else {
            print_scalar(&x, zone, out);
        }
        for (; depth > 0 && levels[depth - 1].next == levels[depth - 1].n; depth--)
            mr_buffer_append(out, levels[depth - 1].object ? "}" : "]", 1);
        if (depth == 0)
            return;
        l = &levels[depth - 1];
        struct mr_text name;
        if (l->next > 0)
            mr_buffer_append(out, ",", 1);
        v = mr_variant_member(l->v, l->next++, &name);
        if (l->object) {
            mr_json_write_text(name, out);
            mr_buffer_append(out, ":", 1);
        }
    }
}
