#include "core/expr/cast.h"

#include "core/format/value.h"
#include "kernels/select/select.h"

static enum mr_status put_null(struct cast *c, uint32_t row, struct mr_column *out)
{
    mr_column_put_null(out, row, c->rows, c->call->arena);
    if (mr_type_is_views(out->type))
        out->views[row] = (struct mr_view){0};
    return MR_OK;
}

static struct mr_text print(struct cast *c, const struct mr_column *in, uint32_t row)
{
    struct mr_buffer b;

    mr_buffer_init(&b, c->call->arena);
    mr_cast_print(in, row, c->call->context, &b);
    return mr_buffer_text(&b);
}

static const char *suffix(const struct mr_type *type)
{
    switch (type->kind) {
    case MR_TINYINT:
    case MR_SMALLINT:
        return "S";
    case MR_BIGINT:
        return "L";
    case MR_DOUBLE:
        return "D";
    case MR_DECIMAL:
        return "BD";
    default:
        return "";
    }
}

enum mr_status mr_cast_overflow(struct cast *c, const struct mr_column *in, uint32_t row,
                                const struct mr_type *to, struct mr_column *out)
{
    struct mr_arena *a = c->call->arena;
    struct mr_text value;

    if (c->nulls)
        return put_null(c, row, out);
    value = print(c, in, row);
    return MR_FAIL_CONDITION(
        c->call->err, MR_QUERY, "CAST_OVERFLOW",
        "The value %.*s%s of the type \"%s\" cannot be cast to \"%s\" due to an "
        "overflow. Use `try_cast` to tolerate overflow and return NULL instead.",
        (int)value.n, value.data, suffix(in->type), mr_type_sql(a, in->type), mr_type_sql(a, to));
}

enum mr_status mr_cast_invalid(struct cast *c, const struct mr_column *in, uint32_t row,
                               const struct mr_type *to, struct mr_column *out)
{
    struct mr_arena *a = c->call->arena;
    struct mr_text value;

    if (c->nulls)
        return put_null(c, row, out);
    value = print(c, in, row);
    return MR_FAIL_CONDITION(c->call->err, MR_QUERY, "CAST_INVALID_INPUT",
                             "The value '%.*s' of the type \"%s\" cannot be cast to \"%s\" because "
                             "it is malformed. Correct the value as per the syntax, or change its "
                             "target type. Use `try_cast` to tolerate malformed input and return "
                             "NULL instead.",
                             (int)(value.n < 512 ? value.n : 512), value.data,
                             mr_type_sql(a, in->type), mr_type_sql(a, to));
}

enum mr_status mr_cast_out_of_range(struct cast *c, const struct mr_column *in, uint32_t row,
                                    const struct mr_type *to, struct mr_column *out)
{
    struct mr_text value;

    if (c->nulls)
        return put_null(c, row, out);
    value = mr_text_trim(print(c, in, row));
    return MR_FAIL_CONDITION(c->call->err, MR_QUERY, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                             "%.*s cannot be represented as Decimal(%u, %u). If necessary set "
                             "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and "
                             "return NULL instead.",
                             (int)(value.n < 512 ? value.n : 512), value.data, to->precision,
                             to->scale);
}

/* All elements of the lists of the selected rows that are not null. */
static void select_elements(struct cast *c, const struct mr_column *in,
                            const struct mr_column *child, struct cast *inner)
{
    uint32_t rows = 0, n = 0, *sel;

    EACH_CAST_ROW(c, i, row)
    {
        if ((uint32_t)in->offsets[row + 1] > rows)
            rows = (uint32_t)in->offsets[row + 1];
        n += (uint32_t)(in->offsets[row + 1] - in->offsets[row]);
    }
    sel = mr_arena_alloc(c->call->arena, ((size_t)n + 1) * sizeof *sel);
    n = 0;
    EACH_CAST_ROW(c, i, row)
    {
        for (int32_t k = in->offsets[row]; k < in->offsets[row + 1]; k++)
            if (!mr_column_is_null(child, (uint32_t)k))
                sel[n++] = (uint32_t)k;
    }
    *inner = (struct cast){c->call, c->nulls, rows, n, sel, c->wraps};
}

static enum mr_status cast_child(struct cast *inner, const struct mr_column *child,
                                 const struct mr_type *to, struct mr_column *out)
{
    enum mr_status status = mr_cast_any(inner, child, to, out);

    if (status != MR_OK || child->valid == NULL || out->valid == child->valid)
        return status;
    mr_column_need_valid(out, inner->rows, inner->call->arena);
    for (uint32_t w = 0; w < mr_bit_words(inner->rows); w++)
        out->valid[w] &= child->valid[w];
    return MR_OK;
}

/* Offsets are shared; elements are cast where they lie. */
static enum mr_status cast_list(struct cast *c, const struct mr_column *in,
                                const struct mr_type *to, struct mr_column *out)
{
    *out = *in;
    out->type = to;
    out->valid = NULL;
    out->children = MR_NEW_ARRAY(c->call->arena, struct mr_column, to->fields_n);
    for (uint32_t f = 0; f < to->fields_n; f++) {
        struct cast inner;
        select_elements(c, in, &in->children[f], &inner);
        enum mr_status status =
            cast_child(&inner, &in->children[f], to->fields[f].type, &out->children[f]);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

static enum mr_status cast_struct(struct cast *c, const struct mr_column *in,
                                  const struct mr_type *to, struct mr_column *out)
{
    *out = *in;
    out->type = to;
    out->valid = NULL;
    out->children = MR_NEW_ARRAY(c->call->arena, struct mr_column, to->fields_n + 1);
    for (uint32_t f = 0; f < to->fields_n; f++) {
        uint32_t *sel = mr_arena_alloc(c->call->arena, ((size_t)c->n + 1) * sizeof *sel), n = 0;
        EACH_CAST_ROW(c, i, row)
        {
            sel[n] = row;
            n += !mr_column_is_null(&in->children[f], row);
        }
        struct cast inner = {c->call, c->nulls, c->rows, n, sel, c->wraps};
        enum mr_status status =
            cast_child(&inner, &in->children[f], to->fields[f].type, &out->children[f]);
        if (status != MR_OK)
            return status;
    }
    return MR_OK;
}

enum mr_status mr_cast_any(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                           struct mr_column *out)
{
    if (mr_type_equal(in->type, to)) {
        *out = *in;
        out->type = to;
        return MR_OK;
    }
    if (in->type->kind == MR_VOID) {
        mr_column_alloc_null(out, to, c->rows, c->call->arena);
        return MR_OK;
    }
    if (in->type->kind == MR_VARIANT)
        return mr_cast_variant(c, in, to, out);
    if (to->kind == MR_VARIANT)
        return mr_cast_to_variant(c, in, out);
    if (in->type->kind == MR_DATE &&
        mr_type_is_numeric(to)) { /* without ANSI mode there is such a cast */
        mr_column_alloc_null(out, to, c->rows, c->call->arena);
        return MR_OK;
    }
    if (to->kind == MR_STRING)
        return mr_cast_to_text(c, in, out);
    if (mr_type_is_units(in->type) || mr_type_is_units(to))
        return mr_cast_interval(c, in, to, out);
    if (to->kind == MR_BINARY && mr_type_is_integer(in->type))
        return mr_cast_integer_bytes(c, in, out);
    switch (in->type->kind) {
    case MR_BOOLEAN:
    case MR_TINYINT:
    case MR_SMALLINT:
    case MR_INT:
    case MR_BIGINT:
        return mr_cast_integer(c, in, to, out);
    case MR_FLOAT:
    case MR_DOUBLE:
        return mr_cast_double(c, in, to, out);
    case MR_DECIMAL:
        return mr_cast_decimal(c, in, to, out);
    case MR_STRING:
        return mr_cast_text(c, in, to, out);
    case MR_DATE:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
        return mr_cast_time(c, in, to, out);
    case MR_ARRAY:
    case MR_MAP:
        return cast_list(c, in, to, out);
    case MR_STRUCT:
        return cast_struct(c, in, to, out);
    default:
        MR_UNREACHABLE();
    }
}

/* Conversions that any bits survive: all rows at once. */
static bool cast_total(struct mr_call *call, const struct mr_column *in, struct mr_column *out)
{
    const enum mr_kind from = in->type->kind, to = call->expr->type->kind;
    uint32_t rows = call->rows;

#define WIDEN(from_member, from_type, to_member, to_type)                                          \
    do {                                                                                           \
        mr_column_alloc(out, call->expr->type, rows, false, call->arena);                          \
        const from_type *x = in->from_member;                                                      \
        to_type *y = out->to_member;                                                               \
        for (uint32_t i = 0; i < rows; i++)                                                        \
            y[i] = (to_type)x[i];                                                                  \
        return true;                                                                               \
    } while (0)
    if (from == MR_INT && to == MR_BIGINT)
        WIDEN(i32, int32_t, i64, int64_t);
    if (from == MR_INT && to == MR_DOUBLE)
        WIDEN(i32, int32_t, f64, double);
    if (from == MR_BIGINT && to == MR_DOUBLE)
        WIDEN(i64, int64_t, f64, double);
    if (from == MR_FLOAT && to == MR_DOUBLE)
        WIDEN(f32, float, f64, double);
    if (from == MR_SMALLINT && to == MR_INT)
        WIDEN(i16, int16_t, i32, int32_t);
    if (from == MR_TINYINT && to == MR_INT)
        WIDEN(i8, int8_t, i32, int32_t);
#undef WIDEN
    return false;
}

static enum mr_status cast(struct mr_call *call, const struct mr_column *args,
                           struct mr_column *out, bool nulls)
{
    bool legacy = !call->context->ansi;
    struct cast c = {call, nulls || legacy, call->rows, call->n, call->sel, !nulls && legacy};

    if (cast_total(call, args, out))
        return MR_OK;
    if (call->valid) {
        uint32_t *sel = mr_arena_alloc(call->arena, ((size_t)call->n + 1) * sizeof *sel);
        c.n = mr_select->from_bits(sel, call->sel, call->n, call->valid, NULL);
        c.sel = sel;
    }
    return mr_cast_any(&c, args, call->expr->type, out);
}

MR_BODY(cast)
{
    return cast(call, args, out, false);
}

MR_BODY(try_cast)
{
    return cast(call, args, out, true);
}
