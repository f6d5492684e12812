#include "core/expr/coerce.h"
#include "core/expr/gather.h"
#include "core/expr/lane.h"
#include "core/expr/writer.h"

#include <stdlib.h>

/* Arrays: making, measuring, searching, cutting. Sets and sorting are in functions_array_set.c. */

MR_RESOLVE(array)
{
    const struct mr_type *type = &mr_type_void;
    bool nullable = false;

    if (call->args_n > 0) {
        enum mr_status status = mr_coerce_common(r, call, 0, call->args_n, &type);
        if (status != MR_OK)
            return status;
        nullable = mr_expr_any_nullable(call);
    }
    call->type = mr_type_array(r->arena, type, nullable);
    return MR_OK;
}

/* Values of fixed width without nulls, all rows: each at its place. False: others. */
static bool interleave(struct mr_call *call, const struct mr_column *args, struct mr_column *out)
{
    const struct mr_type *type = call->expr->type->fields[0].type;
    const uint32_t n = call->expr->args_n, rows = call->rows;
    const uint32_t bytes = mr_type_value_bytes(type);

    if (type->kind == MR_BOOLEAN || type->kind == MR_VOID || type->fields_n > 0 ||
        mr_type_is_views(type) || (uint64_t)n * rows > INT32_MAX)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (args[k].valid)
            return false;
    mr_column_alloc(out, call->expr->type, rows, false, call->arena);
    mr_column_alloc(&out->children[0], type, n * rows, false, call->arena);
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *from = args[k].data;
        uint8_t *to = (uint8_t *)out->children[0].data + (size_t)k * bytes;
        for (uint32_t row = 0; row < rows; row++)
            switch (bytes) {
            case 4:
                memcpy(to + (size_t)row * n * 4, from + (size_t)row * 4, 4);
                break;
            case 8:
                memcpy(to + (size_t)row * n * 8, from + (size_t)row * 8, 8);
                break;
            default:
                memcpy(to + (size_t)row * n * bytes, from + (size_t)row * bytes, bytes);
            }
    }
    for (uint32_t row = 0; row < rows; row++)
        out->offsets[row + 1] = (int32_t)((row + 1) * n);
    return true;
}

MR_BODY(array)
{
    struct mr_list_writer w;

    if (interleave(call, args, out))
        return MR_OK;
    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        for (uint32_t k = 0; k < call->expr->args_n; k++)
            mr_builder_append(&w.children[0], &args[k], row);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(size)
{
    enum mr_kind k = call->args[0]->type->kind;

    if (k != MR_ARRAY && k != MR_MAP && k != MR_VOID)
        return mr_mismatch_argument(r, call, 0, "(\"ARRAY\" or \"MAP\")");
    call->type = &mr_type_int;
    call->nullable = r->ansi && call->args[0]->nullable;
    return MR_OK;
}

MR_RESOLVE(array_size)
{
    call->type = &mr_type_int;
    call->nullable = call->args[0]->nullable;
    return call->args[0]->type->kind == MR_ARRAY ? MR_OK
                                                 : mr_mismatch_argument(r, call, 0, "\"ARRAY\"");
}

static void put_sizes(struct mr_call *call, const struct mr_column *x, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_int, call->rows, false, call->arena);

    const int32_t *offsets = x->offsets;
    const uint32_t rows = call->rows;
    int32_t *to = out->i32;
    for (uint32_t row = 0; row < rows; row++)
        to[row] = (int32_t)((uint32_t)offsets[row + 1] - (uint32_t)offsets[row]);
}

MR_BODY(array_size)
{
    put_sizes(call, args, out);
    return MR_OK;
}

/* Of NULL: NULL, or -1 where ANSI mode is off. */
MR_BODY(size)
{
    if (args[0].type->kind == MR_VOID) {
        mr_column_alloc_null(out, &mr_type_int, call->rows, call->arena);
        memset(out->i32, 0xff, call->rows * sizeof *out->i32);
    } else {
        put_sizes(call, args, out);
        out->valid = args[0].valid;
    }
    if (out->valid == NULL || call->context->ansi)
        return MR_OK;
    for (uint32_t row = 0; row < call->rows; row++)
        if (!mr_bit_get(out->valid, row))
            out->i32[row] = -1;
    out->valid = NULL;
    return MR_OK;
}

/* (array, value): both to a common element type. The result type is the function's signature. */
MR_RESOLVE(array_value)
{
    const struct mr_type *array = call->args[0]->type, *common;
    const char *name = call->function->name;

    if (array->kind == MR_VOID)
        array = mr_type_array(r->arena, &mr_type_void, true);
    if (array->kind != MR_ARRAY)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY\"");
    if (call->args[1]->type->kind == MR_VOID && strcmp(name, "array_append") != 0 &&
        strcmp(name, "array_prepend") != 0)
        return mr_mismatch(r, call, "NULL_TYPE",
                           "Null typed values cannot be used as arguments of `%s`.", name);
    common = mr_type_common_strict(array->fields[0].type, call->args[1]->type, r->ansi, r->arena);
    if (common == NULL)
        return mr_mismatch(r, call, "ARRAY_FUNCTION_DIFF_TYPES",
                           "Input to `%s` should have been \"ARRAY\" followed by a value with same "
                           "element type, but it's [\"%s\", \"%s\"].",
                           name, mr_type_sql(r->arena, array),
                           mr_type_sql(r->arena, call->args[1]->type));
    array = mr_type_array(r->arena, common, array->fields[0].nullable);
    call->args[0] = mr_coerce(r, call->args[0], array);
    call->args[1] = mr_coerce(r, call->args[1], common);
    switch (call->function->signature[0]) {
    case 'b':
        call->type = &mr_type_boolean;
        break;
    case 'l':
        call->type = &mr_type_bigint;
        break;
    default: /* an array that may now hold the value */
        call->type = mr_type_array(r->arena, common, true);
    }
    call->nullable = mr_expr_any_nullable(call) || array->fields[0].nullable;
    return MR_OK;
}

/* Is one of bits [from, to) set? */
static bool any_bit(const uint64_t *bits, uint32_t from, uint32_t to)
{
    for (; from < to; from = (from | 63) + 1) {
        uint64_t word = bits[from / 64] >> (from % 64);
        if (to - from < 64)
            word &= (UINT64_C(1) << (to - from)) - 1;
        if (word)
            return true;
    }
    return false;
}

/* A constant in lists of fixed width without nulls: all elements are compared at once. False:
 * others. */
static bool contains_constant(struct mr_call *call, const struct mr_column *x,
                              struct mr_column *out)
{
    const struct mr_column *element = &x->children[0];
    const enum mr_lane lane = mr_lane_of(element->type);

    if (lane == MR_LANES_N || element->valid || call->sel || !mr_call_is_literal(call, 1))
        return false;
    const uint32_t first = (uint32_t)x->offsets[0], n = (uint32_t)x->offsets[call->rows] - first;
    const uint32_t bytes = mr_type_value_bytes(element->type);
    uint64_t *equal = mr_arena_alloc(call->arena, (mr_bit_words(n) + 1) * sizeof *equal);
    mr_select->compare_by[lane][MR_EQ](equal,
                                       (const uint8_t *)element->data + (size_t)first * bytes,
                                       call->expr->args[1]->value->data, n);
    for (uint32_t w = 0; w < mr_bit_words(call->rows); w++) {
        const uint32_t rows = call->rows - w * 64 < 64 ? call->rows - w * 64 : 64;
        uint64_t bits = 0;
        for (uint32_t k = 0; k < rows; k++) {
            const int32_t *ends = x->offsets + w * 64 + k;
            bits |= (uint64_t)any_bit(equal, (uint32_t)ends[0] - first, (uint32_t)ends[1] - first)
                    << k;
        }
        out->bits[w] = bits;
    }
    return true;
}

MR_BODY(array_contains)
{
    const struct mr_column *x = &args[0], *element = &args[0].children[0];

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    if (contains_constant(call, x, out))
        return MR_OK;
    MR_EACH_ROW(call, i, row)
    {
        bool found = false, null = false;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1] && !found; e++) {
            if (mr_column_is_null(element, (uint32_t)e))
                null = true;
            else
                found = mr_column_compare(element, (uint32_t)e, &args[1], row) == 0;
        }
        mr_bit_put(out->bits, row, found);
        if (!found && null)
            mr_column_put_null(out, row, call->rows, call->arena);
    }
    return MR_OK;
}

MR_BODY(array_position)
{
    const struct mr_column *x = &args[0];

    mr_column_alloc(out, &mr_type_bigint, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        out->i64[row] = 0;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1] && out->i64[row] == 0; e++)
            if (!mr_column_is_null(&x->children[0], (uint32_t)e) &&
                mr_column_compare(&x->children[0], (uint32_t)e, &args[1], row) == 0)
                out->i64[row] = e - x->offsets[row] + 1;
    }
    return MR_OK;
}

MR_BODY(array_remove)
{
    const struct mr_column *x = &args[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
            if (mr_column_is_null(&x->children[0], (uint32_t)e) ||
                mr_column_compare(&x->children[0], (uint32_t)e, &args[1], row) != 0)
                mr_builder_append(&w.children[0], &x->children[0], (uint32_t)e);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

static void append_all(struct mr_list_writer *w, const struct mr_column *x, uint32_t row)
{
    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
        mr_builder_append(&w->children[0], &x->children[0], (uint32_t)e);
}

/* The value may be null; only a null array gives null. */
static enum mr_status extend(struct mr_call *call, const struct mr_column *args, bool front,
                             struct mr_column *out)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (mr_column_is_null(&args[0], row)) {
            mr_list_writer_null(&w, row);
            continue;
        }
        if (front)
            mr_builder_append(&w.children[0], &args[1], row);
        append_all(&w, &args[0], row);
        if (!front)
            mr_builder_append(&w.children[0], &args[1], row);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_BODY(array_append)
{
    return extend(call, args, false, out);
}
MR_BODY(array_prepend)
{
    return extend(call, args, true, out);
}

MR_BODY(array_compact)
{
    const struct mr_column *x = &args[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
            if (!mr_column_is_null(&x->children[0], (uint32_t)e))
                mr_builder_append(&w.children[0], &x->children[0], (uint32_t)e);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* array_insert(array, place from 1 or from the end, value): gaps are filled with nulls. */
MR_RESOLVE(array_insert)
{
    struct mr_expr *place = call->args[1], *value = call->args[2];
    enum mr_status status;

    call->args[1] = value;
    call->args_n = 2;
    status = mr_resolve_array_value(r, call);
    value = call->args[1];
    call->args[1] = place;
    call->args[2] = value;
    call->args_n = 3;
    if (status == MR_OK)
        status = mr_require_place(r, call, 1);
    call->args[1] = mr_coerce(r, call->args[1], &mr_type_int);
    return status;
}

MR_BODY(array_insert)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        const struct mr_column *x = &args[0];
        int64_t n, at, place;
        if (mr_column_is_null(x, row) || mr_column_is_null(&args[1], row)) {
            mr_list_writer_null(&w, row);
            continue;
        }
        n = x->offsets[row + 1] - x->offsets[row];
        at = args[1].i32[row];
        if (at == 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "INVALID_INDEX_OF_ZERO",
                                     "The index 0 is invalid. An index shall be either < 0 or > 0 "
                                     "(the first element has index 1).");
        place = at > 0 ? at - 1 : n + at + 1;
        if (place > (1 << 24) || place < -(1 << 24))
            return MR_FAIL_CONDITION(call->err, MR_QUERY, "COLLECTION_SIZE_LIMIT_EXCEEDED.FUNCTION",
                                     "array_insert: place %lld", (long long)at);
        if (place < 0) {
            mr_builder_append(&w.children[0], &args[2], row);
            for (; place < 0; place++)
                mr_builder_append_null(&w.children[0]);
            append_all(&w, x, row);
        } else {
            for (int64_t e = 0; e < n || e <= place; e++) {
                if (e == place)
                    mr_builder_append(&w.children[0], &args[2], row);
                if (e < n)
                    mr_builder_append(&w.children[0], &x->children[0],
                                      (uint32_t)(x->offsets[row] + e));
                else if (e < place)
                    mr_builder_append_null(&w.children[0]);
            }
        }
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* slice(array, from, n): from 1, or from the end when negative. */
MR_BODY(slice)
{
    const struct mr_column *x = &args[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        int64_t from = args[1].i32[row], n = args[2].i32[row];
        int64_t length = x->offsets[row + 1] - x->offsets[row];
        if (from == 0 || n < 0)
            return MR_FAIL_CONDITION(call->err, MR_QUERY,
                                     from == 0 ? "INVALID_PARAMETER_VALUE.START"
                                               : "INVALID_PARAMETER_VALUE.LENGTH",
                                     "The value of parameter(s) `%s` in `slice` is invalid.",
                                     from == 0 ? "start" : "length");
        from = from > 0 ? from - 1 : length + from;
        for (int64_t e = from; from >= 0 && e < length && e < from + n; e++)
            mr_builder_append(&w.children[0], &x->children[0], (uint32_t)(x->offsets[row] + e));
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

MR_RESOLVE(flatten)
{
    const struct mr_type *type = call->args[0]->type;

    if (type->kind != MR_ARRAY || type->fields[0].type->kind != MR_ARRAY)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY\" of \"ARRAY\"");
    call->type = type->fields[0].type;
    call->nullable = call->args[0]->nullable || type->fields[0].nullable;
    return MR_OK;
}

MR_BODY(flatten)
{
    const struct mr_column *x = &args[0], *inner = &args[0].children[0];
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        bool null = false;
        for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++)
            null = null || mr_column_is_null(inner, (uint32_t)e);
        for (int32_t e = x->offsets[row]; !null && e < x->offsets[row + 1]; e++)
            append_all(&w, inner, (uint32_t)e);
        if (null)
            mr_list_writer_null(&w, row);
        else
            mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* array_repeat(value, n). */
MR_RESOLVE(array_repeat)
{
    call->type = mr_type_array(r->arena, call->args[0]->type, call->args[0]->nullable);
    call->nullable = call->args[1]->nullable;
    return mr_coerce_argument(r, call, 1, &mr_type_int, NULL);
}

MR_BODY(array_repeat)
{
    struct mr_list_writer w;

    mr_list_writer_init(&w, out, call->expr->type, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (mr_column_is_null(&args[1], row)) {
            mr_list_writer_null(&w, row);
            continue;
        }
        for (int32_t k = 0; k < args[1].i32[row]; k++)
            mr_builder_append(&w.children[0], &args[0], row);
        mr_list_writer_close(&w, row);
    }
    mr_list_writer_finish(&w);
    return MR_OK;
}

/* array_join(array of texts, separator[, for nulls]). */
MR_RESOLVE(array_join)
{
    enum mr_status status = MR_OK;

    if (call->args[0]->type->kind != MR_ARRAY)
        return mr_mismatch_argument(r, call, 0, "\"ARRAY<STRING>\"");
    call->args[0] = mr_coerce(r, call->args[0], mr_type_array(r->arena, &mr_type_string, true));
    for (uint32_t i = 1; i < call->args_n && status == MR_OK; i++)
        status = mr_coerce_argument(r, call, i, &mr_type_string, NULL);
    call->type = &mr_type_string;
    call->nullable = mr_expr_any_nullable(call);
    return status;
}

/* The texts of row's elements with the separator between them to out, or (out NULL) only how many
 * bytes they take. Nulls are left out or have a text. */
static uint64_t join_row(const struct mr_column *args, uint32_t args_n, uint32_t row, char *out)
{
    const struct mr_column *x = &args[0], *element = &args[0].children[0];
    const struct mr_text between = mr_column_text(&args[1], row);
    uint64_t n = 0;
    bool some = false;

    for (int32_t e = x->offsets[row]; e < x->offsets[row + 1]; e++) {
        const bool null = mr_column_is_null(element, (uint32_t)e);
        if (null && args_n < 3)
            continue;
        const struct mr_text t =
            null ? mr_column_text(&args[2], row) : mr_column_text(element, (uint32_t)e);
        if (out && some)
            memcpy(out + n, between.data, between.n);
        n += some ? between.n : 0;
        if (out)
            memcpy(out + n, t.data, t.n);
        n += t.n;
        some = true;
    }
    return n;
}

MR_BODY(array_join)
{
    const uint32_t args_n = call->expr->args_n;
    struct mr_text_writer w;

    mr_text_writer_init(&w, out, &mr_type_string, call->rows, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        char *room = mr_text_writer_room(&w, join_row(args, args_n, row, NULL));
        mr_text_writer_put(&w, row, join_row(args, args_n, row, room));
    }
    return MR_OK;
}
