#include "core/state/row.h"

#include "core/state/row_type.h"

struct reader {
    const uint8_t *at, *end;
    struct mr_error *err;
};

static enum mr_status cut(struct reader *r)
{
    return MR_FAIL(r->err, MR_CORRUPT, 0, "an encoded row ends too early");
}

static bool has(const struct reader *r, uint64_t bytes)
{
    return (uint64_t)(r->end - r->at) >= bytes;
}

static bool take_length(struct reader *r, uint32_t *n)
{
    if (!has(r, 4))
        return false;
    memcpy(n, r->at, 4);
    r->at += 4;
    return true;
}

static void append_scalar(struct mr_builder *b, const uint8_t *at)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    __int128 i128;
    struct mr_calendar_interval calendar;
    struct mr_column one = {.type = b->type, .calendar = &calendar};

    switch (b->type->kind) {
    case MR_BOOLEAN:
    case MR_TINYINT:
        memcpy(&i8, at, 1);
        mr_builder_append_i64(b, i8);
        return;
    case MR_SMALLINT:
        memcpy(&i16, at, 2);
        mr_builder_append_i64(b, i16);
        return;
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        memcpy(&i32, at, 4);
        mr_builder_append_i64(b, i32);
        return;
    case MR_FLOAT:
        memcpy(&f32, at, 4);
        mr_builder_append_f64(b, (double)f32);
        return;
    case MR_DOUBLE:
        memcpy(&f64, at, 8);
        mr_builder_append_f64(b, f64);
        return;
    case MR_DECIMAL:
        if (mr_row_fixed(b->type) == 8) {
            memcpy(&i64, at, 8);
            i128 = i64;
        } else {
            memcpy(&i128, at, 16);
        }
        mr_builder_append_i128(b, i128);
        return;
    case MR_INTERVAL_CALENDAR:
        memcpy(&calendar, at, sizeof calendar);
        mr_builder_append(b, &one, 0);
        return;
    default:
        memcpy(&i64, at, 8);
        mr_builder_append_i64(b, i64);
    }
}

static enum mr_status take_value(struct reader *r, struct mr_builder *b);

static enum mr_status take_element(struct reader *r, struct mr_builder *b, bool is_null)
{
    if (!is_null)
        return take_value(r, b);
    int32_t fixed = mr_row_fixed(b->type);
    if (fixed > 0 && !has(r, (uint64_t)fixed))
        return cut(r);
    r->at += fixed > 0 ? fixed : 0;
    mr_builder_append_null(b);
    return MR_OK;
}

/* n values after their bitmap: element i goes to builders[i * step]. */
static enum mr_status take_values(struct reader *r, struct mr_builder *builders, uint32_t step,
                                  uint32_t n)
{
    const uint8_t *bitmap = r->at;

    if (!has(r, mr_row_bitmap(n)))
        return cut(r);
    r->at += mr_row_bitmap(n);
    for (uint32_t i = 0; i < n; i++) {
        enum mr_status status = take_element(r, &builders[i * step], bitmap[i >> 3] >> (i & 7) & 1);
        if (status)
            return status;
    }
    return MR_OK;
}

static enum mr_status take_value(struct reader *r, struct mr_builder *b)
{
    const struct mr_type *type = b->type;
    int32_t fixed = mr_row_fixed(type);
    enum mr_status status = MR_OK;
    uint32_t n;

    if (type->kind == MR_STRUCT) {
        status = take_values(r, b->children, 1, type->fields_n);
        if (status == MR_OK)
            mr_builder_close_row(b);
        return status;
    }
    if (fixed >= 0) {
        if (!has(r, (uint64_t)fixed))
            return cut(r);
        if (type->kind == MR_VOID) /* is always null: its bit was set */
            return MR_FAIL(r->err, MR_CORRUPT, 0, "an encoded row has a value of type VOID");
        append_scalar(b, r->at);
        r->at += fixed;
        return MR_OK;
    }
    if (!take_length(r, &n))
        return cut(r);
    if (mr_type_is_views(type)) {
        if (!has(r, n))
            return cut(r);
        mr_builder_append_text(b, (struct mr_text){(const char *)r->at, n});
        r->at += n;
        return MR_OK;
    }
    for (uint32_t child = 0; child < type->fields_n && status == MR_OK; child++)
        status = take_values(r, &b->children[child], 0, n);
    if (status == MR_OK)
        mr_builder_close_row(b);
    return status;
}

/* ---- column by column: what has a width is copied in a loop of its own ---- */

struct rows {
    struct reader *readers;
    const uint8_t **bitmaps; /* where each row's null bits lie */
    uint32_t n;
    struct mr_arena *arena;
};

/* The bitmap of fields_n fields comes next in each row. */
static enum mr_status take_bitmaps(struct rows *rows, uint32_t fields_n)
{
    const uint32_t bytes = mr_row_bitmap(fields_n);

    rows->bitmaps = mr_arena_alloc(rows->arena, rows->n * sizeof *rows->bitmaps);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct reader *r = &rows->readers[i];
        if (!has(r, bytes))
            return cut(r);
        rows->bitmaps[i] = r->at;
        r->at += bytes;
    }
    return MR_OK;
}

static inline bool is_null(const struct rows *rows, uint32_t i, uint32_t field)
{
    return rows->bitmaps[i][field >> 3] >> (field & 7) & 1;
}

static void take_nulls(struct rows *rows, uint32_t field, struct mr_column *out)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        if (!is_null(rows, i, field))
            continue;
        mr_column_need_valid(out, rows->n, rows->arena);
        mr_bit_clear(out->valid, i);
    }
}

static inline enum mr_status take_plain(struct rows *rows, uint8_t *to, const uint32_t width)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        struct reader *r = &rows->readers[i];
        if (!has(r, width))
            return cut(r);
        memcpy(to + (size_t)i * width, r->at, width);
        r->at += width;
    }
    return MR_OK;
}

static enum mr_status take_column(struct rows *rows, uint32_t field, const struct mr_type *type,
                                  struct mr_column *out);

static enum mr_status take_struct(struct rows *rows, const struct mr_type *type,
                                  struct mr_column *out)
{
    struct rows inner = *rows;
    enum mr_status status = take_bitmaps(&inner, type->fields_n);

    mr_column_alloc(out, type, 0, false, rows->arena); /* the children bring their own */
    for (uint32_t i = 0; i < type->fields_n && status == MR_OK; i++)
        status = take_column(&inner, i, type->fields[i].type, &out->children[i]);
    return status;
}

static enum mr_status take_texts(struct rows *rows, uint32_t field, const struct mr_type *type,
                                 struct mr_column *out)
{
    struct mr_builder builder;
    uint32_t n;

    mr_builder_init(&builder, type, rows->n, rows->arena);
    for (uint32_t i = 0; i < rows->n; i++) {
        struct reader *r = &rows->readers[i];
        if (is_null(rows, i, field)) {
            mr_builder_append_null(&builder);
            continue;
        }
        if (!take_length(r, &n) || !has(r, n))
            return cut(r);
        mr_builder_append_text(&builder, (struct mr_text){(const char *)r->at, n});
        r->at += n;
    }
    mr_builder_finish(&builder, out);
    return MR_OK;
}

static enum mr_status take_any(struct rows *rows, uint32_t field, const struct mr_type *type,
                               struct mr_column *out)
{
    struct mr_builder builder;

    mr_builder_init(&builder, type, rows->n, rows->arena);
    for (uint32_t i = 0; i < rows->n; i++) {
        enum mr_status status = take_element(&rows->readers[i], &builder, is_null(rows, i, field));
        if (status)
            return status;
    }
    mr_builder_finish(&builder, out);
    return MR_OK;
}

static enum mr_status take_column(struct rows *rows, uint32_t field, const struct mr_type *type,
                                  struct mr_column *out)
{
    const int32_t fixed = mr_row_fixed(type);
    enum mr_status status;

    if (type->kind == MR_VOID) {
        mr_column_alloc_null(out, type, rows->n, rows->arena);
        return MR_OK;
    }
    if (type->kind == MR_STRUCT && fixed > 0) {
        status = take_struct(rows, type, out);
    } else if (fixed >= 4 && type->kind != MR_DECIMAL && type->kind != MR_INTERVAL_CALENDAR) {
        mr_column_alloc(out, type, rows->n, false, rows->arena);
        status = fixed == 8 ? take_plain(rows, out->data, 8) : take_plain(rows, out->data, 4);
    } else if (mr_type_is_views(type)) {
        return take_texts(rows, field, type, out);
    } else {
        return take_any(rows, field, type, out);
    }
    if (status == MR_OK)
        take_nulls(rows, field, out);
    return status;
}

enum mr_status mr_row_decode(const struct mr_type *type, const struct mr_text *keys, uint32_t n,
                             struct mr_column *columns, struct mr_arena *a, struct mr_error *err)
{
    struct rows rows = {.n = n, .arena = a};
    enum mr_status status;

    rows.readers = mr_arena_alloc(a, n * sizeof *rows.readers);
    for (uint32_t i = 0; i < n; i++)
        rows.readers[i] = (struct reader){(const uint8_t *)keys[i].data,
                                          (const uint8_t *)keys[i].data + keys[i].n, err};
    status = take_bitmaps(&rows, type->fields_n);
    for (uint32_t c = 0; c < type->fields_n && status == MR_OK; c++)
        status = take_column(&rows, c, type->fields[c].type, &columns[c]);
    for (uint32_t i = 0; i < n && status == MR_OK; i++)
        if (rows.readers[i].at != rows.readers[i].end)
            status = MR_FAIL(err, MR_CORRUPT, 0, "an encoded row has %llu bytes too many",
                             (unsigned long long)(rows.readers[i].end - rows.readers[i].at));
    return status;
}
