#include "core/format/variant/layout.h"

#include "core/base/bounds.h"

/* Little-endian, n bytes; outside the text: 0. */
static uint64_t take(struct mr_text t, uint64_t at, uint32_t n)
{
    uint64_t out = 0;

    if (n <= t.n && at <= t.n - n)
        memcpy(&out, t.data + at, n);
    return out;
}

static struct mr_text slice(struct mr_text t, uint64_t at, uint64_t n)
{
    return at <= t.n && n <= t.n - at ? (struct mr_text){t.data + at, n} : MR_TEXT("");
}

struct mr_variant mr_variant_of(struct mr_text bytes)
{
    uint32_t width = (uint32_t)(take(bytes, 0, 1) >> 6) + 1;
    uint64_t n = take(bytes, 1, width), ends = 1 + width + n * width;
    uint64_t names = ends + width + take(bytes, ends, width);

    if (names > bytes.n)
        names = bytes.n;
    return (struct mr_variant){{bytes.data, names}, {bytes.data + names, bytes.n - names}};
}

static struct mr_text name_of(struct mr_text names, uint64_t id)
{
    uint32_t width = (uint32_t)(take(names, 0, 1) >> 6) + 1;
    uint64_t n = take(names, 1, width), ends = 1 + width;
    uint64_t from = take(names, ends + id * width, width);
    uint64_t to = take(names, ends + (id + 1) * width, width);

    return id < n && from <= to ? slice(names, ends + (n + 1) * width + from, to - from)
                                : MR_TEXT("");
}

/* Where things stand in an ARRAY or OBJECT. */
struct shape {
    uint32_t n, id_bytes, offset_bytes;
    uint64_t ids, offsets, values;
};

static struct shape shape_of(struct mr_text value)
{
    uint8_t first = (uint8_t)take(value, 0, 1), header = first >> 2;
    bool object = (first & 3) == VARIANT_OBJECT, large = header >> (object ? 4 : 2) & 1;
    struct shape s = {.n = (uint32_t)take(value, 1, large ? 4 : 1),
                      .id_bytes = object ? (header >> 2 & 3) + 1 : 0,
                      .offset_bytes = (header & 3) + 1,
                      .ids = large ? 5 : 2};

    s.offsets = s.ids + (uint64_t)s.n * s.id_bytes;
    s.values = s.offsets + ((uint64_t)s.n + 1) * s.offset_bytes;
    if (s.values > value.n)
        s.n = 0;
    return s;
}

struct mr_variant mr_variant_member(struct mr_variant v, uint32_t i, struct mr_text *name)
{
    struct shape s = shape_of(v.value);
    uint64_t at =
        s.values + take(v.value, s.offsets + (uint64_t)i * s.offset_bytes, s.offset_bytes);

    if (name)
        *name = s.id_bytes
                    ? name_of(v.names, take(v.value, s.ids + (uint64_t)i * s.id_bytes, s.id_bytes))
                    : MR_TEXT("");
    if (at > v.value.n)
        at = v.value.n;
    return (struct mr_variant){v.names, {v.value.data + at, v.value.n - at}};
}

bool mr_variant_find(struct mr_variant v, struct mr_text name, struct mr_variant *out)
{
    struct shape s = shape_of(v.value);
    uint32_t from = 0, to = s.n;

    if (((uint8_t)take(v.value, 0, 1) & 3) != VARIANT_OBJECT)
        return false;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        struct mr_text found;
        struct mr_variant member = mr_variant_member(v, middle, &found);
        int order = variant_compare_names(found, name);
        if (order == 0) {
            *out = member;
            return true;
        }
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

/* Of UTF-8 in the order of UTF-16: what takes two units there begins below U+E000. */
int variant_compare_names(struct mr_text a, struct mr_text b)
{
    uint64_t n = a.n < b.n ? a.n : b.n, i = 0;

    while (i < n && a.data[i] == b.data[i])
        i++;
    if (i == n)
        return (a.n > b.n) - (a.n < b.n);
    uint8_t x = (uint8_t)a.data[i], y = (uint8_t)b.data[i];
    if ((x >= 0xf0 && (y == 0xee || y == 0xef)) || (y >= 0xf0 && (x == 0xee || x == 0xef)))
        return x >= 0xf0 ? -1 : 1;
    return x < y ? -1 : 1;
}

uint32_t mr_variant_precision(__int128 decimal)
{
    unsigned __int128 rest = decimal < 0 ? -(unsigned __int128)decimal : (unsigned __int128)decimal;
    uint32_t n = 1;

    for (; rest > 9; rest /= 10)
        n++;
    return n;
}

static struct mr_variant_value read_decimal(struct mr_text t, uint32_t bytes)
{
    struct mr_variant_value out = {.kind = MR_VARIANT_DECIMAL, .scale = (uint32_t)take(t, 1, 1)};
    __int128 v = 0;

    if (bytes + 2 <= t.n)
        memcpy(&v, t.data + 2, bytes);
    if (bytes < 16)
        v = bytes == 4 ? (__int128)(int32_t)v : (__int128)(int64_t)v;
    if (out.scale > MR_DECIMAL_DIGITS)
        out.scale = 0;
    for (; out.scale > 0 && v % 10 == 0; out.scale--)
        v /= 10;
    out.i128 = v;
    return out;
}

static struct mr_variant_value read_primitive(struct mr_text t)
{
    struct mr_variant_value out = {.kind = MR_VARIANT_NULL};
    uint64_t bits = take(t, 1, 8);

    switch ((uint8_t)take(t, 0, 1) >> 2) {
    case VARIANT_TRUE:
    case VARIANT_FALSE:
        return (struct mr_variant_value){.kind = MR_VARIANT_BOOLEAN,
                                         .i64 = (uint8_t)t.data[0] >> 2 == VARIANT_TRUE};
    case VARIANT_INT8:
        return (struct mr_variant_value){.kind = MR_VARIANT_INTEGER, .i64 = (int8_t)take(t, 1, 1)};
    case VARIANT_INT16:
        return (struct mr_variant_value){.kind = MR_VARIANT_INTEGER, .i64 = (int16_t)take(t, 1, 2)};
    case VARIANT_INT32:
        return (struct mr_variant_value){.kind = MR_VARIANT_INTEGER, .i64 = (int32_t)take(t, 1, 4)};
    case VARIANT_INT64:
        return (struct mr_variant_value){.kind = MR_VARIANT_INTEGER, .i64 = (int64_t)bits};
    case VARIANT_DATE:
        return (struct mr_variant_value){.kind = MR_VARIANT_DATE, .i64 = (int32_t)take(t, 1, 4)};
    case VARIANT_TIMESTAMP:
        return (struct mr_variant_value){.kind = MR_VARIANT_TIMESTAMP, .i64 = (int64_t)bits};
    case VARIANT_TIMESTAMP_NTZ:
        return (struct mr_variant_value){.kind = MR_VARIANT_TIMESTAMP_NTZ, .i64 = (int64_t)bits};
    case VARIANT_DOUBLE:
        out.kind = MR_VARIANT_DOUBLE;
        memcpy(&out.f64, &bits, 8);
        return out;
    case VARIANT_FLOAT:
        bits = take(t, 1, 4);
        out.kind = MR_VARIANT_FLOAT;
        memcpy(&out.f32, &bits, 4);
        return out;
    case VARIANT_DECIMAL4:
        return read_decimal(t, 4);
    case VARIANT_DECIMAL8:
        return read_decimal(t, 8);
    case VARIANT_DECIMAL16:
        return read_decimal(t, 16);
    case VARIANT_BINARY:
    case VARIANT_STRING:
        out.kind =
            (uint8_t)t.data[0] >> 2 == VARIANT_STRING ? MR_VARIANT_STRING : MR_VARIANT_BINARY;
        out.text = slice(t, 5, take(t, 1, 4));
        return out;
    default:
        return out;
    }
}

/* How many bytes of a value's text are its own. */
static uint64_t value_bytes(struct mr_text t)
{
    static const uint8_t fixed[] = {1, 1, 1, 2, 3, 5, 9, 9, 6, 10, 18, 5, 9, 9, 5};
    uint8_t first = (uint8_t)take(t, 0, 1), type = first >> 2;
    struct shape s;

    if ((first & 3) == VARIANT_SHORT_STRING)
        return UINT64_C(1) + type;
    if ((first & 3) == VARIANT_PRIMITIVE)
        return type < sizeof fixed ? fixed[type] : 5 + take(t, 1, 4);
    s = shape_of(t);
    return s.values + take(t, s.offsets + (uint64_t)s.n * s.offset_bytes, s.offset_bytes);
}

void mr_variant_copy(struct mr_variant v, struct mr_buffer *out)
{
    uint64_t n = value_bytes(v.value);

    mr_buffer_append_text(out, v.names);
    mr_buffer_append(out, v.value.data, n < v.value.n ? n : v.value.n);
}

struct mr_variant_value mr_variant_read(struct mr_variant v)
{
    uint8_t first = (uint8_t)take(v.value, 0, 1);

    switch (first & 3) {
    case VARIANT_PRIMITIVE:
        return read_primitive(v.value);
    case VARIANT_SHORT_STRING:
        return (struct mr_variant_value){.kind = MR_VARIANT_STRING,
                                         .text = slice(v.value, 1, first >> 2)};
    default:
        return (struct mr_variant_value){.kind = (first & 3) == VARIANT_OBJECT ? MR_VARIANT_OBJECT
                                                                               : MR_VARIANT_ARRAY,
                                         .members_n = shape_of(v.value).n};
    }
}
