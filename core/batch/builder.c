#include "core/batch/builder.h"

#include "core/base/check.h"
#include "core/batch/layout.h"

enum { CAPACITY_MIN = 16, HEAP_BYTES_MIN = 4096, HEAP_BYTES_MAX = 1024 * 1024, HEAPS_MIN = 8 };

void mr_builder_init(struct mr_builder *b, const struct mr_type *type, uint32_t capacity,
                     struct mr_arena *a)
{
    if (capacity < CAPACITY_MIN)
        capacity = CAPACITY_MIN;
    *b = (struct mr_builder){.type = type, .arena = a, .capacity = capacity};
    b->column.type = type;
    b->column.data = mr_layout_data(type, capacity, a);
    if (type->fields_n > 0)
        b->children = MR_NEW_ARRAY(a, struct mr_builder, type->fields_n);
    for (uint32_t i = 0; i < type->fields_n; i++)
        mr_builder_init(&b->children[i], type->fields[i].type,
                        type->kind == MR_STRUCT ? capacity : CAPACITY_MIN, a);
}

static uint64_t *grow_bits(struct mr_builder *b, const uint64_t *old, uint32_t capacity)
{
    uint64_t *bits = mr_layout_bits(capacity, false, b->arena);

    memcpy(bits, old, mr_bit_words(b->rows) * sizeof *bits);
    return bits;
}

static void grow(struct mr_builder *b, uint64_t rows)
{
    if (rows > INT32_MAX) /* no column could hold them */
        mr_arena_exhaust(b->arena);
    uint64_t doubled = (uint64_t)b->capacity * 2;
    uint32_t capacity = (uint32_t)(rows > doubled ? rows : doubled);

    if (b->type->kind == MR_BOOLEAN) {
        b->column.bits = grow_bits(b, b->column.bits, capacity);
    } else if (b->column.data) {
        bool list = b->type->kind == MR_ARRAY || b->type->kind == MR_MAP;
        uint64_t values = (uint64_t)b->rows + (list ? 1 : 0);
        void *data = mr_layout_data(b->type, capacity, b->arena);
        memcpy(data, b->column.data, values * mr_type_value_bytes(b->type));
        b->column.data = data;
    }
    if (b->column.valid)
        b->column.valid = grow_bits(b, b->column.valid, capacity);
    b->capacity = capacity;
}

static inline void reserve(struct mr_builder *b, uint32_t n)
{
    uint64_t rows = (uint64_t)b->rows + n;

    if (MR_UNLIKELY(rows > b->capacity))
        grow(b, rows);
}

static void need_valid(struct mr_builder *b)
{
    if (b->column.valid == NULL) {
        b->column.valid = mr_layout_bits(b->capacity, false, b->arena);
        mr_layout_fill_bits(b->column.valid, 0, b->rows, true);
    }
}

/* The next row is there and not null. */
static inline void add_row(struct mr_builder *b)
{
    if (b->column.valid)
        mr_bit_set(b->column.valid, b->rows);
    b->rows++;
}

void mr_builder_append_null(struct mr_builder *b)
{
    reserve(b, 1);
    need_valid(b);
    mr_bit_clear(b->column.valid, b->rows);
    switch (b->type->kind) {
    case MR_VOID:
        break;
    case MR_BOOLEAN:
        mr_bit_clear(b->column.bits, b->rows);
        break;
    case MR_ARRAY:
    case MR_MAP:
        b->column.offsets[b->rows + 1] = b->column.offsets[b->rows];
        break;
    case MR_STRUCT:
        for (uint32_t i = 0; i < b->type->fields_n; i++)
            mr_builder_append_null(&b->children[i]);
        break;
    default: {
        uint32_t bytes = mr_type_value_bytes(b->type);
        memset((uint8_t *)b->column.data + (size_t)b->rows * bytes, 0, bytes);
    }
    }
    b->rows++;
}

/* ---- strings ---- */

static void new_heap(struct mr_builder *b, uint32_t bytes)
{
    uint32_t size = b->heap_capacity ? b->heap_capacity * 2 : HEAP_BYTES_MIN;

    if (size > HEAP_BYTES_MAX)
        size = HEAP_BYTES_MAX;
    if (size < bytes)
        size = bytes;
    if (b->column.heaps_n == b->heaps_capacity) {
        uint32_t n = b->column.heaps_n;
        b->heaps_capacity = n ? n * 2 : HEAPS_MIN;
        uint8_t **heaps = mr_arena_alloc(b->arena, b->heaps_capacity * sizeof *heaps);
        if (n)
            memcpy(heaps, b->column.heaps, n * sizeof *heaps);
        b->column.heaps = heaps;
    }
    b->column.heaps[b->column.heaps_n++] = mr_arena_alloc(b->arena, size);
    b->heap_capacity = size;
    b->heap_used = 0;
}

/* n > MR_VIEW_INLINE; most strings are short, so two overlapping moves do without a call. */
static inline void copy_far(uint8_t *to, const char *from, uint32_t n)
{
    if (n <= 16) {
        uint64_t head, tail;
        memcpy(&head, from, 8);
        memcpy(&tail, from + n - 8, 8);
        memcpy(to, &head, 8);
        memcpy(to + n - 8, &tail, 8);
    } else if (n <= 32) {
        unsigned __int128 head, tail;
        memcpy(&head, from, 16);
        memcpy(&tail, from + n - 16, 16);
        memcpy(to, &head, 16);
        memcpy(to + n - 16, &tail, 16);
    } else {
        memcpy(to, from, n);
    }
}

static inline void put_far(struct mr_builder *b, struct mr_view *to, const char *data, uint32_t n)
{
    if (MR_UNLIKELY(b->heap_capacity - b->heap_used < n))
        new_heap(b, n);
    uint32_t heap = b->column.heaps_n - 1, at = b->heap_used;

    copy_far(b->column.heaps[heap] + at, data, n);
    to->length = (int32_t)n;
    memcpy(to->far.prefix, data, 4);
    to->far.heap = (int32_t)heap;
    to->far.offset = (int32_t)at;
    b->heap_used = at + n;
}

static inline void put_view(struct mr_builder *b, struct mr_view *to, const struct mr_column *from,
                            uint32_t row)
{
    const struct mr_view *v = &from->views[row];

    if (v->length <= MR_VIEW_INLINE)
        *to = *v;
    else
        put_far(b, to, (const char *)from->heaps[v->far.heap] + v->far.offset, (uint32_t)v->length);
}

void mr_builder_append_text(struct mr_builder *b, struct mr_text t)
{
    MR_ASSERT(mr_type_value_bytes(b->type) == sizeof(struct mr_view));
    if (t.n > INT32_MAX) /* no column could hold it */
        mr_arena_exhaust(b->arena);
    reserve(b, 1);
    if (t.n <= MR_VIEW_INLINE)
        mr_view_set(&b->column.views[b->rows], t.data, (uint32_t)t.n, 0, 0);
    else
        put_far(b, &b->column.views[b->rows], t.data, (uint32_t)t.n);
    add_row(b);
}

/* ---- single values ---- */

void mr_builder_append_i64(struct mr_builder *b, int64_t value)
{
    reserve(b, 1);
    if (b->type->kind == MR_BOOLEAN) {
        mr_bit_put(b->column.bits, b->rows, value != 0);
        add_row(b);
        return;
    }
    switch (mr_type_value_bytes(b->type)) {
    case 1:
        b->column.i8[b->rows] = (int8_t)value;
        break;
    case 2:
        b->column.i16[b->rows] = (int16_t)value;
        break;
    case 4:
        b->column.i32[b->rows] = (int32_t)value;
        break;
    case 8:
        b->column.i64[b->rows] = value;
        break;
    default:
        MR_UNREACHABLE();
    }
    add_row(b);
}

void mr_builder_append_f64(struct mr_builder *b, double value)
{
    MR_ASSERT(b->type->kind == MR_DOUBLE || b->type->kind == MR_FLOAT);
    reserve(b, 1);
    if (b->type->kind == MR_FLOAT)
        b->column.f32[b->rows] = (float)value;
    else
        b->column.f64[b->rows] = value;
    add_row(b);
}

void mr_builder_append_i128(struct mr_builder *b, __int128 value)
{
    MR_ASSERT(b->type->kind == MR_DECIMAL);
    reserve(b, 1);
    b->column.i128[b->rows] = value;
    add_row(b);
}

void mr_builder_append_calendar(struct mr_builder *b, const struct mr_calendar_interval *value)
{
    MR_ASSERT(b->type->kind == MR_INTERVAL_CALENDAR);
    reserve(b, 1);
    b->column.calendar[b->rows] = *value;
    add_row(b);
}

void mr_builder_close_row(struct mr_builder *b)
{
    reserve(b, 1);
    if (b->type->kind == MR_STRUCT) {
        for (uint32_t i = 0; i < b->type->fields_n; i++)
            MR_ASSERT(b->children[i].rows == b->rows + 1);
    } else {
        MR_ASSERT(b->type->kind == MR_ARRAY || b->type->kind == MR_MAP);
        MR_ASSERT(b->children[b->type->fields_n - 1].rows == b->children[0].rows);
        b->column.offsets[b->rows + 1] = (int32_t)b->children[0].rows;
    }
    add_row(b);
}

/* ---- runs of rows ---- */

/* rows NULL: first..first + n - 1. */
struct pick {
    const uint32_t *rows;
    uint32_t first, n;
};

static inline uint32_t pick_row(const struct pick *p, uint32_t i)
{
    return p->rows ? p->rows[i] : p->first + i;
}

static bool any_null(const struct mr_column *from, const struct pick *p)
{
    if (from->valid == NULL)
        return false;
    if (p->rows == NULL)
        return !mr_layout_all_set(from->valid, p->first, p->n);
    for (uint32_t i = 0; i < p->n; i++)
        if (!mr_bit_get(from->valid, p->rows[i]))
            return true;
    return false;
}

static void gather_bits(uint64_t *to, uint32_t at, const uint64_t *from, const struct pick *p)
{
    if (p->rows == NULL) {
        mr_layout_copy_bits(to, at, from, p->first, p->n);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++)
        mr_bit_put(to, at + i, mr_bit_get(from, p->rows[i]));
}

static void append_valid(struct mr_builder *b, const struct mr_column *from, const struct pick *p)
{
    if (any_null(from, p)) {
        need_valid(b);
        gather_bits(b->column.valid, b->rows, from->valid, p);
    } else if (b->column.valid) {
        mr_layout_fill_bits(b->column.valid, b->rows, p->n, true);
    }
}

#define GATHER(member)                                                                             \
    for (uint32_t i = 0; i < p->n; i++)                                                            \
    b->column.member[b->rows + i] = from->member[p->rows[i]]

static void append_fixed(struct mr_builder *b, const struct mr_column *from, const struct pick *p)
{
    uint32_t bytes = mr_type_value_bytes(b->type);

    if (p->rows == NULL) {
        memcpy((uint8_t *)b->column.data + (size_t)b->rows * bytes,
               (const uint8_t *)from->data + (size_t)p->first * bytes, (size_t)p->n * bytes);
        return;
    }
    switch (bytes) {
    case 1:
        GATHER(i8);
        break;
    case 2:
        GATHER(i16);
        break;
    case 4:
        GATHER(i32);
        break;
    case 8:
        GATHER(i64);
        break;
    default:
        GATHER(i128);
        break;
    }
}

static void append_picked(struct mr_builder *b, const struct mr_column *from, const struct pick *p);

/* ARRAY and MAP. A null row may span elements: they are left behind. */
static void append_lists(struct mr_builder *b, const struct mr_column *from, const struct pick *p)
{
    int32_t *to = b->column.offsets + b->rows;

    if (p->rows == NULL && !any_null(from, p)) {
        const int32_t *offsets = from->offsets + p->first;
        struct pick range = {NULL, (uint32_t)offsets[0], (uint32_t)(offsets[p->n] - offsets[0])};
        for (uint32_t i = 1; i <= p->n; i++)
            to[i] = to[0] + (offsets[i] - offsets[0]);
        for (uint32_t f = 0; f < b->type->fields_n; f++)
            append_picked(&b->children[f], &from->children[f], &range);
        return;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t row = pick_row(p, i);
        uint32_t begin = (uint32_t)from->offsets[row], end = (uint32_t)from->offsets[row + 1];
        struct pick range = {NULL, begin, mr_column_is_null(from, row) ? 0 : end - begin};
        for (uint32_t f = 0; f < b->type->fields_n; f++)
            append_picked(&b->children[f], &from->children[f], &range);
        to[i + 1] = (int32_t)b->children[0].rows;
    }
}

static void append_picked(struct mr_builder *b, const struct mr_column *from, const struct pick *p)
{
    MR_ASSERT(from->type->kind == b->type->kind);
    if (p->n == 0)
        return;
    reserve(b, p->n);
    switch (b->type->kind) {
    case MR_VOID:
        break;
    case MR_BOOLEAN:
        gather_bits(b->column.bits, b->rows, from->bits, p);
        break;
    case MR_STRING:
    case MR_BINARY:
    case MR_VARIANT:
        for (uint32_t i = 0; i < p->n; i++)
            put_view(b, &b->column.views[b->rows + i], from, pick_row(p, i));
        break;
    case MR_ARRAY:
    case MR_MAP:
        append_lists(b, from, p);
        break;
    case MR_STRUCT:
        for (uint32_t f = 0; f < b->type->fields_n; f++)
            append_picked(&b->children[f], &from->children[f], p);
        break;
    default:
        append_fixed(b, from, p);
    }
    append_valid(b, from, p);
    b->rows += p->n;
}

void mr_builder_append(struct mr_builder *b, const struct mr_column *from, uint32_t row)
{
    append_picked(b, from, &(struct pick){NULL, row, 1});
}

void mr_builder_append_rows(struct mr_builder *b, const struct mr_column *from,
                            const uint32_t *rows, uint32_t n)
{
    append_picked(b, from, &(struct pick){rows, 0, n});
}

void mr_builder_finish(struct mr_builder *b, struct mr_column *out)
{
    *out = b->column;
    if (b->type->fields_n > 0)
        out->children = MR_NEW_ARRAY(b->arena, struct mr_column, b->type->fields_n);
    for (uint32_t i = 0; i < b->type->fields_n; i++)
        mr_builder_finish(&b->children[i], &out->children[i]);
}
