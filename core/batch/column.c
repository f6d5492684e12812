#include "core/batch/column.h"

#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/batch/layout.h"

/* Buffers are at least a cache line, so that the arena aligns them to one. */
static void *alloc_buffer(struct mr_arena *a, uint64_t bytes)
{
    return mr_arena_alloc(a, bytes < 64 ? 64 : bytes);
}

uint32_t mr_bit_count(const uint64_t *bits, uint32_t n)
{
    uint32_t count = bits ? 0 : n;

    for (uint32_t w = 0; bits && w < mr_bit_words(n); w++) {
        const uint64_t beyond = n - w * 64 < 64 ? ~UINT64_C(0) << (n & 63) : 0;
        count += (uint32_t)__builtin_popcountll(bits[w] & ~beyond);
    }
    return count;
}

uint64_t *mr_layout_bits(uint32_t rows, bool value, struct mr_arena *a)
{
    size_t bytes = mr_bit_words(rows) * sizeof(uint64_t);
    uint64_t *bits = alloc_buffer(a, bytes);

    memset(bits, value ? 0xff : 0, bytes);
    return bits;
}

void *mr_layout_data(const struct mr_type *type, uint32_t rows, struct mr_arena *a)
{
    switch (type->kind) {
    case MR_VOID:
    case MR_STRUCT:
        return NULL;
    case MR_BOOLEAN:
        return mr_layout_bits(rows, false, a);
    case MR_ARRAY:
    case MR_MAP: {
        int32_t *offsets = alloc_buffer(a, ((uint64_t)rows + 1) * sizeof(int32_t));
        offsets[0] = 0;
        return offsets;
    }
    default:
        return alloc_buffer(a, (uint64_t)rows * mr_type_value_bytes(type));
    }
}

void mr_column_alloc(struct mr_column *c, const struct mr_type *type, uint32_t rows,
                     bool with_valid, struct mr_arena *a)
{
    *c = (struct mr_column){.type = type};
    c->data = mr_layout_data(type, rows, a);
    if (with_valid)
        c->valid = mr_layout_bits(rows, true, a);
    if (type->fields_n > 0)
        c->children = MR_NEW_ARRAY(a, struct mr_column, type->fields_n);
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_column_alloc(&c->children[i], type->fields[i].type, type->kind == MR_STRUCT ? rows : 0,
                        with_valid, a);
}

void mr_column_need_valid(struct mr_column *c, uint32_t rows, struct mr_arena *a)
{
    if (c->valid == NULL)
        c->valid = mr_layout_bits(rows, true, a);
}

void mr_column_alloc_null(struct mr_column *c, const struct mr_type *type, uint32_t rows,
                          struct mr_arena *a)
{
    *c = (struct mr_column){.type = type};
    c->data = mr_layout_data(type, rows, a);
    if (c->data && type->kind != MR_BOOLEAN) {
        uint64_t values =
            type->kind == MR_ARRAY || type->kind == MR_MAP ? (uint64_t)rows + 1 : rows;
        memset(c->data, 0, values * mr_type_value_bytes(type));
    }
    c->valid = mr_layout_bits(rows, false, a);
    if (type->fields_n > 0)
        c->children = MR_NEW_ARRAY(a, struct mr_column, type->fields_n);
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_column_alloc_null(&c->children[i], type->fields[i].type,
                             type->kind == MR_STRUCT ? rows : 0, a);
}

/* Room for one heap more: the array doubles when its count is a power of two. */
static int32_t add_heap(struct mr_column *c, uint8_t *heap, struct mr_arena *a)
{
    uint32_t n = c->heaps_n;

    if ((n & (n - 1)) == 0) {
        uint8_t **grown = mr_arena_alloc(a, (n ? (size_t)n * 2 : 1) * sizeof *grown);
        if (n)
            memcpy(grown, c->heaps, n * sizeof *grown);
        c->heaps = grown;
    }
    c->heaps[n] = heap;
    c->heaps_n = n + 1;
    return (int32_t)n;
}

void mr_column_set_text(struct mr_column *c, uint32_t row, struct mr_text t, struct mr_arena *a)
{
    MR_ASSERT(t.n <= INT32_MAX);
    int32_t heap = 0;

    if (t.n > MR_VIEW_INLINE)
        heap = add_heap(c, (uint8_t *)mr_arena_copy(a, t.data, t.n), a);
    mr_view_set(&c->views[row], t.data, (uint32_t)t.n, heap, 0);
}

#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

static int compare_f64(double x, double y)
{
    bool x_nan = x != x, y_nan = y != y;

    if (x_nan || y_nan)
        return (int)x_nan - (int)y_nan;
    return COMPARE(x, y);
}

static int compare_calendar(const struct mr_calendar_interval *x,
                            const struct mr_calendar_interval *y)
{
    if (x->months != y->months)
        return COMPARE(x->months, y->months);
    if (x->days != y->days)
        return COMPARE(x->days, y->days);
    return COMPARE(x->us, y->us);
}

/* ARRAY, and MAP as the list of its entries: by element, then by length. */
static int compare_lists(const struct mr_column *a, uint32_t row_a, const struct mr_column *b,
                         uint32_t row_b)
{
    uint32_t at_a = (uint32_t)a->offsets[row_a], at_b = (uint32_t)b->offsets[row_b];
    uint32_t n_a = (uint32_t)a->offsets[row_a + 1] - at_a;
    uint32_t n_b = (uint32_t)b->offsets[row_b + 1] - at_b;

    for (uint32_t i = 0; i < n_a && i < n_b; i++) {
        for (uint32_t f = 0; f < a->type->fields_n; f++) {
            int order = mr_column_compare(&a->children[f], at_a + i, &b->children[f], at_b + i);
            if (order != 0)
                return order;
        }
    }
    return COMPARE(n_a, n_b);
}

int mr_column_compare(const struct mr_column *a, uint32_t row_a, const struct mr_column *b,
                      uint32_t row_b)
{
    bool null_a = mr_column_is_null(a, row_a), null_b = mr_column_is_null(b, row_b);

    if (null_a || null_b)
        return (int)null_b - (int)null_a;
    switch (a->type->kind) {
    case MR_BOOLEAN:
        return (int)mr_bit_get(a->bits, row_a) - (int)mr_bit_get(b->bits, row_b);
    case MR_TINYINT:
        return COMPARE(a->i8[row_a], b->i8[row_b]);
    case MR_SMALLINT:
        return COMPARE(a->i16[row_a], b->i16[row_b]);
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        return COMPARE(a->i32[row_a], b->i32[row_b]);
    case MR_BIGINT:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        return COMPARE(a->i64[row_a], b->i64[row_b]);
    case MR_FLOAT:
        return compare_f64((double)a->f32[row_a], (double)b->f32[row_b]);
    case MR_DOUBLE:
        return compare_f64(a->f64[row_a], b->f64[row_b]);
    case MR_DECIMAL:
        return COMPARE(a->i128[row_a], b->i128[row_b]);
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        return mr_text_compare(mr_column_text(a, row_a), mr_column_text(b, row_b));
    case MR_INTERVAL_CALENDAR:
        return compare_calendar(&a->calendar[row_a], &b->calendar[row_b]);
    case MR_ARRAY:
    case MR_MAP:
        return compare_lists(a, row_a, b, row_b);
    case MR_STRUCT:
        for (uint32_t f = 0; f < a->type->fields_n; f++) {
            int order = mr_column_compare(&a->children[f], row_a, &b->children[f], row_b);
            if (order != 0)
                return order;
        }
        return 0;
    default:
        MR_UNREACHABLE();
    }
}
