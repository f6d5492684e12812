/* column.h - values of one column of a batch, in Arrow layout.
 *
 * Layout   fixed width: data has one value a row. BOOLEAN: one bit a row. STRING, BINARY: Arrow's
 *          Utf8View / BinaryView. ARRAY: offsets[rows + 1] into children[0]. MAP: the same into
 *          children[0] (keys) and children[1] (values). STRUCT: children of the same row count; a
 *          row whose struct is null may have anything in its children. VOID: no data, all null.
 *          Validity: bit i of valid set = row i is not null; valid NULL = no row is null.
 *          The value of a null row is undefined but readable; a view of a null row has length 0.
 * Owner    A column owns nothing: its memory belongs to whoever filled it and lives as long as that
 *          one promises (an operator's output: until its next step).
 * Limits   MR_PAD_BYTES readable bytes behind every buffer; buffers are 64-byte aligned.
 */
#pragma once
#include "core/base/copy.h"
#include "core/batch/type.h"

/* Arrow's 16-byte string view. Up to 12 bytes lie in it; longer ones in heaps[heap] at offset. */
struct mr_view {
    int32_t length;
    union {
        char inlined[12];
        struct {
            char prefix[4];
            int32_t heap, offset;
        } far;
    };
};
_Static_assert(sizeof(struct mr_view) == 16, "as Arrow has it");
enum { MR_VIEW_INLINE = 12 };

struct mr_column {
    const struct mr_type *type;
    uint64_t *valid; /* NULL: no row is null */
    union {
        void *data;
        uint64_t *bits;
        int8_t *i8;
        int16_t *i16;
        int32_t *i32; /* INT, DATE, INTERVAL_YEAR_MONTH */
        int64_t *i64; /* BIGINT, TIMESTAMP*, INTERVAL_DAY_TIME */
        float *f32;
        double *f64;
        __int128 *i128; /* DECIMAL */
        struct mr_calendar_interval *calendar;
        struct mr_view *views;
        int32_t *offsets; /* ARRAY, MAP */
    };
    uint8_t **heaps; /* bytes of long strings */
    uint32_t heaps_n;
    struct mr_column *children; /* type->fields_n */
};

static inline bool mr_bit_get(const uint64_t *bits, uint32_t i)
{
    return (bits[i >> 6] >> (i & 63)) & 1;
}
static inline void mr_bit_set(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= (uint64_t)1 << (i & 63);
}
static inline void mr_bit_clear(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] &= ~((uint64_t)1 << (i & 63));
}
static inline void mr_bit_put(uint64_t *bits, uint32_t i, bool value)
{
    bits[i >> 6] = (bits[i >> 6] & ~((uint64_t)1 << (i & 63))) | ((uint64_t)value << (i & 63));
}
/* How many of bits 0..n-1 are set; bits NULL: all. */
uint32_t mr_bit_count(const uint64_t *bits, uint32_t n);
static inline uint32_t mr_bit_words(uint32_t rows)
{
    return (rows + 63) >> 6;
}

static inline bool mr_column_is_null(const struct mr_column *c, uint32_t row)
{
    return c->type->kind == MR_VOID || (c->valid != NULL && !mr_bit_get(c->valid, row));
}

static inline struct mr_text mr_column_text(const struct mr_column *c, uint32_t row)
{
    const struct mr_view *v = &c->views[row];
    const char *data = v->length <= MR_VIEW_INLINE
                           ? v->inlined
                           : (const char *)c->heaps[v->far.heap] + v->far.offset;
    return (struct mr_text){data, (uint64_t)v->length};
}

/* The n <= 12 bytes at data into a view, the others 0. */
static inline void mr_view_set_short(struct mr_view *v, const char *data, uint32_t n)
{
    uint64_t low;
    uint32_t high = 0;

    if (n >= 8) {
        uint32_t last;
        memcpy(&low, data, 8);
        memcpy(&last, data + n - 4, 4);
        high = (uint32_t)((uint64_t)last >> (8 * (MR_VIEW_INLINE - n)));
    } else {
        low = mr_load_short(data, n);
    }
    memcpy(v->inlined, &low, 8);
    memcpy(v->inlined + 8, &high, 4);
}

/* A view of text that lies (or, when short, need not lie) in heap number heap at offset. */
static inline void mr_view_set(struct mr_view *v, const char *data, uint32_t n, int32_t heap,
                               int32_t offset)
{
    v->length = (int32_t)n;
    if (n <= MR_VIEW_INLINE) {
        mr_view_set_short(v, data, n);
    } else {
        memcpy(v->far.prefix, data, 4);
        v->far.heap = heap;
        v->far.offset = offset;
    }
}

/* Room for rows values (of this column only, not of list elements): data and, if with_valid, a
 * validity of all ones. Children of a STRUCT too. Sets heaps to none. */
void mr_column_alloc(struct mr_column *c, const struct mr_type *type, uint32_t rows,
                     bool with_valid, struct mr_arena *a);
/* Makes validity (all ones) if there is none yet. */
void mr_column_need_valid(struct mr_column *c, uint32_t rows, struct mr_arena *a);
/* All rows null. */
void mr_column_alloc_null(struct mr_column *c, const struct mr_type *type, uint32_t rows,
                          struct mr_arena *a);

/* Writes a string into row: short ones into the view, long ones copied to the arena. heaps has one
 * entry per far string unless a caller sets up one heap itself. Slow path: see builder.h for
 * runs. */
void mr_column_set_text(struct mr_column *c, uint32_t row, struct mr_text t, struct mr_arena *a);

/* Three-way comparison of two values by Spark's order (NULL first, NaN last and equal to NaN,
 * -0.0 = 0.0, binary strings, structs and arrays by element). Types must be equal. */
int mr_column_compare(const struct mr_column *a, uint32_t row_a, const struct mr_column *b,
                      uint32_t row_b);
