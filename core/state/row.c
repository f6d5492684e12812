#include "core/state/row.h"

#include "core/base/check.h"
#include "core/base/copy.h"
#include "core/state/row_type.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Rows as far as written: the place of each one's null bitmap, and of its next field. */
struct rows {
    const uint32_t *sel;
    uint32_t n;
    uint8_t **bitmap, **at;
};

static uint32_t row_of(const struct rows *r, uint32_t i)
{
    return r->sel ? r->sel[i] : i;
}

static uint64_t f64_bits(double x)
{
    uint64_t bits;

    if (x != x)
        return UINT64_C(0x7ff8000000000000);
    x += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t f32_bits(float x)
{
    uint32_t bits;

    if (x != x)
        return 0x7fc00000;
    x += 0.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t value_bytes(const struct mr_column *c, uint32_t row);

static uint64_t elements_bytes(const struct mr_column *c, uint32_t from, uint32_t n)
{
    uint64_t bytes = mr_row_bitmap(n);

    for (uint32_t i = 0; i < n; i++)
        bytes += value_bytes(c, from + i);
    return bytes;
}

/* Bytes that a value takes in an encoded row. */
static uint64_t value_bytes(const struct mr_column *c, uint32_t row)
{
    int32_t fixed = mr_row_fixed(c->type);
    uint64_t bytes = 0;

    if (fixed >= 0)
        return (uint64_t)fixed;
    if (mr_column_is_null(c, row))
        return 0;
    switch (c->type->kind) {
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        return 4 + (uint64_t)c->views[row].length;
    case MR_STRUCT:
        bytes = mr_row_bitmap(c->type->fields_n);
        for (uint32_t i = 0; i < c->type->fields_n; i++)
            bytes += value_bytes(&c->children[i], row);
        return bytes;
    default: /* ARRAY, MAP */
        bytes = 4;
        for (uint32_t i = 0; i < c->type->fields_n; i++)
            bytes += elements_bytes(&c->children[i], (uint32_t)c->offsets[row],
                                    (uint32_t)(c->offsets[row + 1] - c->offsets[row]));
        return bytes;
    }
}

static uint8_t *put_bytes(uint8_t *at, const void *data, uint64_t bytes)
{
    mr_copy_short(at, data, bytes);
    return at + bytes;
}

/* A value of fixed width that is no struct. */
static uint8_t *put_scalar(const struct mr_column *c, uint32_t row, uint8_t *at)
{
    uint32_t width = mr_type_value_bytes(c->type);
    uint64_t bits64;
    uint32_t bits32;
    uint8_t bit;

    switch (c->type->kind) {
    case MR_BOOLEAN:
        bit = mr_bit_get(c->bits, row);
        return put_bytes(at, &bit, 1);
    case MR_FLOAT:
        bits32 = f32_bits(c->f32[row]);
        return put_bytes(at, &bits32, 4);
    case MR_DOUBLE:
        bits64 = f64_bits(c->f64[row]);
        return put_bytes(at, &bits64, 8);
    case MR_DECIMAL:
        return put_bytes(at, &c->i128[row], (uint64_t)mr_row_fixed(c->type));
    default:
        return put_bytes(at, (const uint8_t *)c->data + (uint64_t)row * width, width);
    }
}

static uint8_t *put_value(const struct mr_column *c, uint32_t row, uint8_t *at);

/* Field or element i below bitmap. */
static uint8_t *put_element(const struct mr_column *c, uint32_t row, uint8_t *bitmap, uint32_t i,
                            uint8_t *at)
{
    int32_t fixed = mr_row_fixed(c->type);

    if (!mr_column_is_null(c, row))
        return put_value(c, row, at);
    bitmap[i >> 3] |= (uint8_t)(1u << (i & 7));
    if (fixed <= 0)
        return at;
    memset(at, 0, (size_t)fixed);
    return at + fixed;
}

static uint8_t *put_bitmap(uint8_t *at, uint32_t n)
{
    if (n - 1 < 8) /* nearly always, and then no call */
        *at = 0;
    else
        memset(at, 0, mr_row_bitmap(n));
    return at + mr_row_bitmap(n);
}

static uint8_t *put_value(const struct mr_column *c, uint32_t row, uint8_t *at)
{
    struct mr_text text;
    uint32_t n;

    switch (c->type->kind) {
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        text = mr_column_text(c, row);
        n = (uint32_t)text.n;
        at = put_bytes(at, &n, 4);
        return put_bytes(at, text.data, text.n);
    case MR_STRUCT: {
        uint8_t *bitmap = at;
        at = put_bitmap(at, c->type->fields_n);
        for (uint32_t i = 0; i < c->type->fields_n; i++)
            at = put_element(&c->children[i], row, bitmap, i, at);
        return at;
    }
    case MR_ARRAY:
    case MR_MAP:
        n = (uint32_t)(c->offsets[row + 1] - c->offsets[row]);
        at = put_bytes(at, &n, 4);
        for (uint32_t child = 0; child < c->type->fields_n; child++) {
            uint8_t *bitmap = at;
            at = put_bitmap(at, n);
            for (uint32_t i = 0; i < n; i++)
                at = put_element(&c->children[child], (uint32_t)c->offsets[row] + i, bitmap, i, at);
        }
        return at;
    default:
        return put_scalar(c, row, at);
    }
}

/* After a column was written: null rows get their bit, and zeros instead of what lay there. */
static void put_nulls(const struct rows *r, const struct mr_column *c, uint32_t field,
                      uint64_t width)
{
    if (c->valid == NULL)
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        if (mr_bit_get(c->valid, row_of(r, i)))
            continue;
        r->bitmap[i][field >> 3] |= (uint8_t)(1u << (field & 7));
        memset(r->at[i] - width, 0, width);
    }
}

static void put_i64_column(const struct rows *r, const int64_t *x)
{
    for (uint32_t i = 0; i < r->n; i++) {
        memcpy(r->at[i], &x[row_of(r, i)], 8);
        r->at[i] += 8;
    }
}

static void put_i32_column(const struct rows *r, const int32_t *x)
{
    for (uint32_t i = 0; i < r->n; i++) {
        memcpy(r->at[i], &x[row_of(r, i)], 4);
        r->at[i] += 4;
    }
}

static void put_text_column(const struct rows *r, const struct mr_column *c, uint32_t field)
{
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t row = row_of(r, i);
        if (mr_column_is_null(c, row)) {
            r->bitmap[i][field >> 3] |= (uint8_t)(1u << (field & 7));
            continue;
        }
        struct mr_text text = mr_column_text(c, row);
        uint32_t n = (uint32_t)text.n;
        memcpy(r->at[i], &n, 4);
        r->at[i] = put_bytes(r->at[i] + 4, text.data, text.n);
    }
}

static void put_column(const struct rows *r, const struct mr_column *c, uint32_t field,
                       struct mr_arena *a);

/* A struct of fixed width, as a window is: child by child. */
static void put_fixed_struct(const struct rows *r, const struct mr_column *c, uint32_t field,
                             struct mr_arena *a)
{
    struct rows inner = {.sel = r->sel, .n = r->n, .at = r->at};

    inner.bitmap = mr_arena_alloc(a, r->n * sizeof *inner.bitmap);
    for (uint32_t i = 0; i < r->n; i++) {
        inner.bitmap[i] = r->at[i];
        r->at[i] = put_bitmap(r->at[i], c->type->fields_n);
    }
    for (uint32_t i = 0; i < c->type->fields_n; i++)
        put_column(&inner, &c->children[i], i, a);
    put_nulls(r, c, field, (uint64_t)mr_row_fixed(c->type));
}

static void put_column(const struct rows *r, const struct mr_column *c, uint32_t field,
                       struct mr_arena *a)
{
    int32_t fixed = mr_row_fixed(c->type);

    switch (c->type->kind) {
    case MR_BIGINT:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        put_i64_column(r, c->i64);
        put_nulls(r, c, field, 8);
        return;
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        put_i32_column(r, c->i32);
        put_nulls(r, c, field, 4);
        return;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        put_text_column(r, c, field);
        return;
    default:
        if (c->type->kind == MR_STRUCT && fixed >= 0) {
            put_fixed_struct(r, c, field, a);
            return;
        }
        for (uint32_t i = 0; i < r->n; i++)
            r->at[i] = put_element(c, row_of(r, i), r->bitmap[i], field, r->at[i]);
    }
}

/* One column of 8 (or 4) bytes: a row is a null byte and the value. */
static void encode_one_fixed(const struct mr_column *c, const uint32_t *sel, uint32_t n,
                             struct mr_arena *a, struct mr_text *keys, uint32_t width)
{
    uint8_t *at = mr_arena_alloc(a, (uint64_t)n * (width + 1));
    const uint8_t *data = c->data;

    for (uint32_t i = 0; i < n; i++, at += width + 1) {
        uint32_t row = sel ? sel[i] : i;
        bool is_null = c->valid && !mr_bit_get(c->valid, row);
        at[0] = is_null;
        if (is_null)
            memset(at + 1, 0, width);
        else if (width == 8)
            memcpy(at + 1, data + (uint64_t)row * 8, 8);
        else
            memcpy(at + 1, data + (uint64_t)row * 4, 4);
        keys[i] = (struct mr_text){(const char *)at, width + 1};
    }
}

static void encode_one_text(const struct mr_column *c, const uint32_t *sel, uint32_t n,
                            struct mr_arena *a, struct mr_text *keys)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < n; i++)
        bytes += 5 + (uint64_t)c->views[sel ? sel[i] : i].length;
    uint8_t *at = mr_arena_alloc(a, bytes);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        uint8_t *begin = at;
        if (c->valid && !mr_bit_get(c->valid, row)) {
            *at++ = 1;
        } else {
            struct mr_text text = mr_column_text(c, row);
            uint32_t length = (uint32_t)text.n;
            *at++ = 0;
            memcpy(at, &length, 4);
            at = put_bytes(at + 4, text.data, text.n);
        }
        keys[i] = (struct mr_text){(const char *)begin, (uint64_t)(at - begin)};
    }
}

/* What the values of a column without fixed width add to each row. */
static void add_bytes(const struct rows *r, const struct mr_column *c, struct mr_text *keys)
{
    const bool is_text = mr_type_is_views(c->type);

    if (is_text && c->valid == NULL) {
        for (uint32_t i = 0; i < r->n; i++)
            keys[i].n += 4 + (uint64_t)c->views[row_of(r, i)].length;
        return;
    }
    for (uint32_t i = 0; i < r->n; i++)
        keys[i].n += value_bytes(c, row_of(r, i));
}

static void encode_any(const struct mr_column *columns, uint32_t columns_n, const uint32_t *sel,
                       uint32_t n, struct mr_arena *a, struct mr_text *keys)
{
    struct rows r = {.sel = sel, .n = n};
    uint32_t bitmap = mr_row_bitmap(columns_n);
    uint64_t fixed = bitmap, bytes = 0;

    for (uint32_t c = 0; c < columns_n; c++) {
        int32_t width = mr_row_fixed(columns[c].type);
        fixed += width > 0 ? (uint64_t)width : 0;
    }
    for (uint32_t i = 0; i < n; i++)
        keys[i].n = fixed;
    for (uint32_t c = 0; c < columns_n; c++) {
        if (mr_row_fixed(columns[c].type) < 0)
            add_bytes(&r, &columns[c], keys);
    }
    for (uint32_t i = 0; i < n; i++)
        bytes += keys[i].n;

    uint8_t *data = mr_arena_alloc(a, bytes);
    r.bitmap = mr_arena_alloc(a, n * sizeof *r.bitmap);
    r.at = mr_arena_alloc(a, n * sizeof *r.at);
    for (uint32_t i = 0; i < n; i++) {
        keys[i].data = (const char *)data;
        r.bitmap[i] = data;
        r.at[i] = put_bitmap(data, columns_n);
        data += keys[i].n;
    }
    for (uint32_t c = 0; c < columns_n; c++)
        put_column(&r, &columns[c], c, a);
    for (uint32_t i = 0; i < n; i++)
        MR_VERIFY((const char *)r.at[i] == keys[i].data + keys[i].n);
}

void mr_row_encode(const struct mr_column *columns, uint32_t columns_n, const uint32_t *sel,
                   uint32_t n, struct mr_arena *a, struct mr_text *keys, uint64_t *hashes)
{
    enum mr_kind kind = columns_n == 1 ? columns[0].type->kind : MR_VOID;

    if (kind == MR_BIGINT || kind == MR_TIMESTAMP || kind == MR_TIMESTAMP_NTZ)
        encode_one_fixed(columns, sel, n, a, keys, 8);
    else if (kind == MR_INT || kind == MR_DATE)
        encode_one_fixed(columns, sel, n, a, keys, 4);
    else if (kind == MR_STRING || kind == MR_BINARY)
        encode_one_text(columns, sel, n, a, keys);
    else
        encode_any(columns, columns_n, sel, n, a, keys);
    for (uint32_t i = 0; i < n; i++)
        if (keys[i].n > MR_ROW_BYTES_MAX)
            mr_arena_exhaust(a);
    for (uint32_t i = 0; hashes && i < n; i++)
        hashes[i] = mr_row_hash(keys[i]);
}

uint64_t mr_row_hash(struct mr_text row)
{
    return row.n ? XXH3_64bits(row.data, row.n) : 0;
}
