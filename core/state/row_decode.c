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

/* n values after their bitmap: element i goes to builders[i * step]. */
static enum mr_status take_values(struct reader *r, struct mr_builder *builders, uint32_t step,
                                  uint32_t n)
{
    const uint8_t *bitmap = r->at;

    if (!has(r, mr_row_bitmap(n)))
        return cut(r);
    r->at += mr_row_bitmap(n);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_builder *b = &builders[i * step];
        if (bitmap[i >> 3] >> (i & 7) & 1) {
            int32_t fixed = mr_row_fixed(b->type);
            if (fixed > 0 && !has(r, (uint64_t)fixed))
                return cut(r);
            r->at += fixed > 0 ? fixed : 0;
            mr_builder_append_null(b);
            continue;
        }
        enum mr_status status = take_value(r, b);
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
    if (!has(r, 4))
        return cut(r);
    memcpy(&n, r->at, 4);
    r->at += 4;
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

enum mr_status mr_row_decode(const struct mr_type *type, struct mr_text row,
                             struct mr_builder *builders, struct mr_error *err)
{
    struct reader r = {(const uint8_t *)row.data, (const uint8_t *)row.data + row.n, err};
    enum mr_status status = take_values(&r, builders, 1, type->fields_n);

    if (status == MR_OK && r.at != r.end)
        return MR_FAIL(err, MR_CORRUPT, 0, "an encoded row has %llu bytes too many",
                       (unsigned long long)(r.end - r.at));
    return status;
}
