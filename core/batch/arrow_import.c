#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/batch/arrow_format.h"
#include "core/batch/builder.h"
#include "core/batch/layout.h"

/* ---- types ---- */

static enum mr_status import_type(const struct ArrowSchema *s, uint32_t depth, struct mr_arena *a,
                                  const struct mr_type **type, struct mr_error *err);

static enum mr_status import_fields(const struct ArrowSchema *s, uint32_t depth, struct mr_arena *a,
                                    struct mr_field **out, struct mr_error *err)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, s->n_children);

    for (int64_t i = 0; i < s->n_children; i++) {
        const struct ArrowSchema *child = s->children[i];
        const char *name = child->name ? child->name : "";
        fields[i].name = mr_arena_copy(a, name, strlen(name));
        fields[i].nullable = (child->flags & ARROW_FLAG_NULLABLE) != 0;
        enum mr_status status = import_type(child, depth + 1, a, &fields[i].type, err);
        if (status != MR_OK)
            return status;
    }
    *out = fields;
    return MR_OK;
}

static enum mr_status broken(const struct ArrowSchema *s, struct mr_error *err)
{
    return MR_FAIL(err, MR_CORRUPT, 0, "arrow: column \"%s\": format \"%s\" with %ld children",
                   s->name ? s->name : "", s->format, s->n_children);
}

static enum mr_status import_type(const struct ArrowSchema *s, uint32_t depth, struct mr_arena *a,
                                  const struct mr_type **type, struct mr_error *err)
{
    struct arrow_format f;
    struct mr_field *fields;
    enum mr_status status;

    if (depth > MR_DEPTH_MAX || s->n_children < 0 || s->n_children > MR_COLUMNS_MAX)
        return broken(s, err);
    if (s->dictionary || !mr_arrow_format_read(s->format, &f))
        return MR_FAIL(err, MR_UNSUPPORTED, 0, "arrow: column \"%s\" has the type \"%s\"%s",
                       s->name ? s->name : "", s->format, s->dictionary ? " in a dictionary" : "");
    switch (f.kind) {
    case MR_DECIMAL:
        *type = mr_type_decimal(a, f.precision, f.scale);
        return MR_OK;
    case MR_STRUCT:
        status = import_fields(s, depth, a, &fields, err);
        if (status == MR_OK)
            *type = mr_type_struct(a, fields, (uint32_t)s->n_children);
        return status;
    case MR_ARRAY:
        if (s->n_children != 1)
            return broken(s, err);
        status = import_fields(s, depth, a, &fields, err);
        if (status == MR_OK)
            *type = mr_type_array(a, fields[0].type, fields[0].nullable);
        return status;
    case MR_MAP:
        if (s->n_children != 1 || s->children[0]->n_children != 2)
            return broken(s, err);
        status = import_fields(s->children[0], depth, a, &fields, err);
        if (status == MR_OK)
            *type = mr_type_map(a, fields[0].type, fields[1].type, fields[1].nullable);
        return status;
    default: {
        struct mr_type *t = MR_NEW(a, struct mr_type);
        *t = (struct mr_type){.kind = f.kind};
        if (f.kind == MR_INTERVAL_DAY_TIME)
            *t = mr_type_interval_day_time;
        else if (f.kind == MR_INTERVAL_YEAR_MONTH)
            *t = mr_type_interval_year_month;
        *type = t;
        return MR_OK;
    }
    }
}

enum mr_status mr_arrow_import_type(const struct ArrowSchema *schema, struct mr_arena *a,
                                    const struct mr_type **type, struct mr_error *err)
{
    return import_type(schema, 0, a, type, err);
}

/* ---- values ---- */

struct importer {
    struct mr_arena *arena;
    struct mr_error *err;
};

/* Rows first..first + n of an array, counted behind its offset. */
struct range {
    int64_t first;
    uint32_t n;
};

/* Bytes are copied first: the buffer of the other side need not end on a word. */
static uint64_t *import_bits(const void *bits, int64_t first, uint32_t n, struct mr_arena *a)
{
    size_t bytes = ((size_t)(first & 7) + n + 7) / 8;
    uint64_t *padded = MR_NEW_ARRAY(a, uint64_t, bytes / 8 + 1);
    uint64_t *out = mr_layout_bits(n, false, a);

    memcpy(padded, (const uint8_t *)bits + first / 8, bytes);
    mr_layout_copy_bits(out, 0, padded, (uint32_t)(first & 7), n);
    return out;
}

static enum mr_status import_column(const struct importer *im, const struct ArrowArray *array,
                                    const struct ArrowSchema *schema, const struct mr_type *type,
                                    struct range range, struct mr_column *out);

static enum mr_status corrupt(const struct importer *im, const struct ArrowSchema *s)
{
    return MR_FAIL(im->err, MR_CORRUPT, 0, "arrow: column \"%s\" (\"%s\") has broken buffers",
                   s->name ? s->name : "", s->format);
}

static void import_fixed(const struct importer *im, const struct ArrowArray *array, int64_t first,
                         uint32_t n, struct mr_column *out)
{
    uint32_t bytes = mr_type_value_bytes(out->type);

    if (out->type->kind == MR_BOOLEAN) {
        out->bits = import_bits(array->buffers[1], first, n, im->arena);
        return;
    }
    out->data = mr_layout_data(out->type, n, im->arena);
    if (n > 0)
        memcpy(out->data, (const uint8_t *)array->buffers[1] + first * bytes, (size_t)n * bytes);
    if (out->type->kind == MR_INTERVAL_CALENDAR)
        for (uint32_t i = 0; i < n; i++)
            out->calendar[i].us /= 1000;
}

/* Text of row, which is not null. */
static bool text_at(const struct ArrowArray *array, enum arrow_layout layout, int64_t row,
                    struct mr_text *out)
{
    const char *data = array->buffers[2];
    int64_t begin, end;

    if (layout == ARROW_VIEWS) {
        const struct mr_view *v = (const struct mr_view *)array->buffers[1] + row;
        int64_t heaps_n = array->n_buffers - 3;
        const int64_t *sizes = array->buffers[array->n_buffers - 1];
        *out = (struct mr_text){v->inlined, (uint64_t)v->length};
        if (v->length <= MR_VIEW_INLINE)
            return v->length >= 0;
        if (v->far.heap < 0 || v->far.heap >= heaps_n || v->far.offset < 0 ||
            (int64_t)v->far.offset + v->length > sizes[v->far.heap])
            return false;
        out->data = (const char *)array->buffers[2 + v->far.heap] + v->far.offset;
        return true;
    }
    if (layout == ARROW_OFFSETS_32) {
        begin = ((const int32_t *)array->buffers[1])[row];
        end = ((const int32_t *)array->buffers[1])[row + 1];
    } else {
        begin = ((const int64_t *)array->buffers[1])[row];
        end = ((const int64_t *)array->buffers[1])[row + 1];
    }
    if (begin < 0 || end < begin || end - begin > INT32_MAX)
        return false;
    *out = (struct mr_text){data ? data + begin : "", (uint64_t)(end - begin)};
    return true;
}

static bool import_texts(const struct importer *im, const struct ArrowArray *array,
                         enum arrow_layout layout, int64_t first, uint32_t n, struct mr_column *out)
{
    struct mr_builder b;
    uint64_t *valid = out->valid;

    mr_builder_init(&b, out->type, n, im->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_text t = {"", 0};
        if ((valid == NULL || mr_bit_get(valid, i)) && !text_at(array, layout, first + i, &t))
            return false;
        mr_builder_append_text(&b, t);
    }
    mr_builder_finish(&b, out);
    out->valid = valid;
    return true;
}

/* Offsets from 0 on, and the range of the elements. */
static bool import_offsets(const struct importer *im, const struct ArrowArray *array, bool wide,
                           int64_t first, uint32_t n, struct mr_column *out, struct range *elements)
{
    const int32_t *narrow_offsets = (const int32_t *)array->buffers[1] + (wide ? 0 : first);
    const int64_t *wide_offsets = (const int64_t *)array->buffers[1] + (wide ? first : 0);
    int64_t begin = 0, last = 0;

    out->offsets = mr_layout_data(out->type, n, im->arena);
    for (uint32_t i = 0; n > 0 && i <= n; i++) {
        int64_t offset = wide ? wide_offsets[i] : narrow_offsets[i];
        if (i == 0)
            begin = last = offset;
        if (offset < last || begin < 0 || offset - begin > INT32_MAX)
            return false;
        out->offsets[i] = (int32_t)(offset - begin);
        last = offset;
    }
    *elements = (struct range){begin, (uint32_t)(last - begin)};
    return true;
}

static enum mr_status import_nested(const struct importer *im, const struct ArrowArray *array,
                                    const struct ArrowSchema *schema, enum arrow_layout layout,
                                    struct range range, struct mr_column *out)
{
    struct range child = range;

    if (layout != ARROW_FIELDS &&
        !import_offsets(im, array, layout == ARROW_OFFSETS_64, range.first, range.n, out, &child))
        return corrupt(im, schema);
    if (layout == ARROW_ENTRIES) {
        if (array->n_children != 1 || schema->n_children != 1)
            return corrupt(im, schema);
        array = array->children[0];
        schema = schema->children[0];
        child.first += array->offset;
    }
    if (array->n_children != out->type->fields_n || schema->n_children != out->type->fields_n)
        return corrupt(im, schema);
    out->children = MR_NEW_ARRAY(im->arena, struct mr_column, out->type->fields_n);
    for (uint32_t i = 0; i < out->type->fields_n; i++) {
        enum mr_status status = import_column(im, array->children[i], schema->children[i],
                                              out->type->fields[i].type, child, &out->children[i]);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status import_column(const struct importer *im, const struct ArrowArray *array,
                                    const struct ArrowSchema *schema, const struct mr_type *type,
                                    struct range range, struct mr_column *out)
{
    static const int64_t buffers_min[] = {
        [ARROW_FIXED] = 2,   [ARROW_VIEWS] = 3,  [ARROW_OFFSETS_32] = 2, [ARROW_OFFSETS_64] = 2,
        [ARROW_ENTRIES] = 2, [ARROW_FIELDS] = 1, [ARROW_NOTHING] = 0};
    bool is_text = type->kind == MR_STRING || type->kind == MR_BINARY;
    struct arrow_format f;

    if (!mr_arrow_format_read(schema->format, &f) || f.kind != type->kind)
        return corrupt(im, schema);
    if (range.first < 0 || range.first + range.n > array->length || array->offset < 0 ||
        array->n_buffers < (is_text ? 3 : buffers_min[f.layout]))
        return corrupt(im, schema);
    range.first += array->offset;
    *out = (struct mr_column){.type = type};
    if (f.layout == ARROW_NOTHING)
        return MR_OK;
    if (f.layout != ARROW_FIELDS && range.n > 0 && array->buffers[1] == NULL)
        return corrupt(im, schema);
    if (array->buffers[0] && array->null_count != 0 && range.n > 0)
        out->valid = import_bits(array->buffers[0], range.first, range.n, im->arena);
    if (f.layout == ARROW_FIXED) {
        import_fixed(im, array, range.first, range.n, out);
        return MR_OK;
    }
    if (is_text)
        return import_texts(im, array, f.layout, range.first, range.n, out) ? MR_OK
                                                                            : corrupt(im, schema);
    return import_nested(im, array, schema, f.layout, range, out);
}

enum mr_status mr_arrow_import(const struct ArrowArray *array, const struct ArrowSchema *schema,
                               const struct mr_type *type, struct mr_arena *a, struct mr_batch *out,
                               struct mr_error *err)
{
    MR_ASSERT(type->kind == MR_STRUCT);
    struct importer im = {a, err};
    struct mr_column whole;

    if (array->length < 0 || array->length > INT32_MAX)
        return MR_FAIL(err, MR_UNSUPPORTED, 0, "arrow: a batch of %ld rows", array->length);
    uint32_t rows = (uint32_t)array->length;
    enum mr_status status =
        import_column(&im, array, schema, type, (struct range){0, rows}, &whole);
    if (status != MR_OK)
        return status;
    *out = (struct mr_batch){
        .columns = whole.children, .columns_n = type->fields_n, .rows = rows, .n = rows};
    return MR_OK;
}
