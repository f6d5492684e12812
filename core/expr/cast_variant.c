#include "core/expr/cast.h"

/* CAST to and from VARIANT. A scalar of a variant is cast as a column of one row of its own type,
 * so that the rules are those of every cast; what that cast refuses is INVALID_VARIANT_CAST. */

static enum mr_status refuse(struct cast *c, struct mr_variant v, const struct mr_type *to,
                             struct mr_builder *b)
{
    enum { SHOWN = 512 };
    struct mr_buffer text;

    if (c->nulls) {
        mr_builder_append_null(b);
        return MR_OK;
    }
    mr_buffer_init(&text, c->call->arena);
    mr_variant_print(v, c->call->context->zone, &text);
    return MR_FAIL_CONDITION(c->call->err, MR_QUERY, "INVALID_VARIANT_CAST",
                             "The variant value `%.*s` cannot be cast into `\"%s\"`. Please use "
                             "`try_variant_get` instead.",
                             (int)(text.n < SHOWN ? text.n : SHOWN), (const char *)text.data,
                             mr_type_sql(c->call->arena, to));
}

const struct mr_type *mr_cast_variant_type(const struct mr_variant_value *x, struct mr_arena *a)
{
    uint32_t precision;

    switch (x->kind) {
    case MR_VARIANT_BOOLEAN:
        return &mr_type_boolean;
    case MR_VARIANT_INTEGER:
        return &mr_type_bigint;
    case MR_VARIANT_DECIMAL:
        precision = mr_variant_precision(x->i128);
        return mr_type_decimal(a, precision > x->scale ? precision : x->scale, x->scale);
    case MR_VARIANT_DOUBLE:
        return &mr_type_double;
    case MR_VARIANT_FLOAT:
        return &mr_type_float;
    case MR_VARIANT_BINARY:
        return &mr_type_binary;
    case MR_VARIANT_DATE:
        return &mr_type_date;
    case MR_VARIANT_TIMESTAMP:
        return &mr_type_timestamp;
    case MR_VARIANT_TIMESTAMP_NTZ:
        return &mr_type_timestamp_ntz;
    default:
        return &mr_type_string;
    }
}

static void append_scalar(struct mr_builder *b, const struct mr_variant_value *x)
{
    switch (x->kind) {
    case MR_VARIANT_DECIMAL:
        mr_builder_append_i128(b, x->i128);
        break;
    case MR_VARIANT_DOUBLE:
        mr_builder_append_f64(b, x->f64);
        break;
    case MR_VARIANT_FLOAT:
        mr_builder_append_f64(b, (double)x->f32);
        break;
    case MR_VARIANT_STRING:
    case MR_VARIANT_BINARY:
        mr_builder_append_text(b, x->text);
        break;
    default:
        mr_builder_append_i64(b, x->i64);
    }
}

/* Seconds that other casts bring down to the last instant there is. */
static bool is_no_instant(const struct mr_variant_value *x, const struct mr_type *to)
{
    const double seconds_max = 9.2e12;
    double seconds = x->kind == MR_VARIANT_DOUBLE ? x->f64 : (double)x->f32;

    return to->kind == MR_TIMESTAMP &&
           (x->kind == MR_VARIANT_DOUBLE || x->kind == MR_VARIANT_FLOAT) &&
           (seconds < -seconds_max || seconds > seconds_max);
}

static enum mr_status cast_scalar(struct cast *c, struct mr_variant v,
                                  const struct mr_variant_value *x, const struct mr_type *to,
                                  struct mr_builder *b)
{
    struct mr_arena *a = c->call->arena;
    const struct mr_type *from = mr_cast_variant_type(x, a);
    struct cast inner = {.call = c->call, .nulls = true, .rows = 1, .n = 1};
    struct mr_builder one;
    struct mr_column in, out;
    enum mr_status status;

    if (mr_type_equal(from, to)) {
        append_scalar(b, x);
        return MR_OK;
    }
    if (!mr_cast_is_allowed(from, to, true) || is_no_instant(x, to))
        return refuse(c, v, to, b);
    mr_builder_init(&one, from, 1, a);
    append_scalar(&one, x);
    mr_builder_finish(&one, &in);
    status = mr_cast_any(&inner, &in, to, &out);
    if (status != MR_OK)
        return status;
    if (mr_column_is_null(&out, 0))
        return refuse(c, v, to, b);
    mr_builder_append(b, &out, 0);
    return MR_OK;
}

/* ARRAY, MAP: all members; STRUCT: those of its fields, by name. As deep as the type. */
static enum mr_status cast_members(struct cast *c, struct mr_variant v, uint32_t n,
                                   const struct mr_type *to, struct mr_builder *b)
{
    uint32_t last = to->fields_n - 1;

    for (uint32_t i = 0; i < (to->kind == MR_STRUCT ? to->fields_n : n); i++) {
        struct mr_builder *child = &b->children[to->kind == MR_STRUCT ? i : last];
        struct mr_variant member;
        struct mr_text name;
        if (to->kind != MR_STRUCT)
            member = mr_variant_member(v, i, &name);
        else if (!mr_variant_find(v, mr_text_of(to->fields[i].name), &member)) {
            mr_builder_append_null(child);
            continue;
        }
        if (to->kind == MR_MAP)
            mr_builder_append_text(&b->children[0], name);
        enum mr_status status = mr_cast_variant_append(c, member, child->type, child);
        if (status != MR_OK)
            return status;
    }
    mr_builder_close_row(b);
    return MR_OK;
}

enum mr_status mr_cast_variant_append(struct cast *c, struct mr_variant v, const struct mr_type *to,
                                      struct mr_builder *b)
{
    struct mr_variant_value x = mr_variant_read(v);
    bool nested = x.kind == MR_VARIANT_ARRAY || x.kind == MR_VARIANT_OBJECT;
    struct mr_buffer bytes;

    if (to->kind == MR_VARIANT || (to->kind == MR_STRING && nested)) {
        mr_buffer_init(&bytes, c->call->arena);
        if (to->kind == MR_VARIANT)
            mr_variant_copy(v, &bytes);
        else
            mr_variant_print(v, c->call->context->zone, &bytes);
        mr_builder_append_text(b, mr_buffer_text(&bytes));
        return MR_OK;
    }
    if (x.kind == MR_VARIANT_NULL) {
        mr_builder_append_null(b);
        return MR_OK;
    }
    switch (to->kind) {
    case MR_ARRAY:
        if (x.kind == MR_VARIANT_ARRAY)
            return cast_members(c, v, x.members_n, to, b);
        break;
    case MR_MAP:
    case MR_STRUCT:
        if (x.kind == MR_VARIANT_OBJECT)
            return cast_members(c, v, x.members_n, to, b);
        break;
    default:
        if (!nested)
            return cast_scalar(c, v, &x, to, b);
    }
    return refuse(c, v, to, b);
}

enum mr_status mr_cast_variant(struct cast *c, const struct mr_column *in, const struct mr_type *to,
                               struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, to, c->rows, c->call->arena);
    EACH_CAST_ROW(c, i, row)
    {
        while (b.rows < row)
            mr_builder_append_null(&b);
        enum mr_status status =
            mr_cast_variant_append(c, mr_variant_of(mr_column_text(in, row)), to, &b);
        if (status != MR_OK)
            return status;
    }
    while (b.rows < c->rows)
        mr_builder_append_null(&b);
    mr_builder_finish(&b, out);
    return MR_OK;
}

static void put_value(struct mr_variant_builder *b, const struct mr_column *c, uint32_t row);

static void put_list(struct mr_variant_builder *b, const struct mr_column *c, uint32_t row)
{
    bool map = c->type->kind == MR_MAP;

    mr_variant_open(b, map);
    for (int32_t i = c->offsets[row]; i < c->offsets[row + 1]; i++) {
        if (map)
            mr_variant_name(b, mr_column_text(&c->children[0], (uint32_t)i));
        else
            mr_variant_item(b);
        put_value(b, &c->children[map], (uint32_t)i);
    }
    mr_variant_close(b);
}

static void put_struct(struct mr_variant_builder *b, const struct mr_column *c, uint32_t row)
{
    mr_variant_open(b, true);
    for (uint32_t i = 0; i < c->type->fields_n; i++) {
        mr_variant_name(b, mr_text_of(c->type->fields[i].name));
        put_value(b, &c->children[i], row);
    }
    mr_variant_close(b);
}

/* The depth of types is bounded, far below that of variants. */
static void put_value(struct mr_variant_builder *b, const struct mr_column *c, uint32_t row)
{
    if (mr_column_is_null(c, row)) {
        mr_variant_put_null(b);
        return;
    }
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_variant_put_boolean(b, mr_bit_get(c->bits, row));
        break;
    case MR_TINYINT:
        mr_variant_put_integer(b, c->i8[row]);
        break;
    case MR_SMALLINT:
        mr_variant_put_integer(b, c->i16[row]);
        break;
    case MR_INT:
        mr_variant_put_integer(b, c->i32[row]);
        break;
    case MR_BIGINT:
        mr_variant_put_integer(b, c->i64[row]);
        break;
    case MR_FLOAT:
        mr_variant_put_float(b, c->f32[row]);
        break;
    case MR_DOUBLE:
        mr_variant_put_double(b, c->f64[row]);
        break;
    case MR_DECIMAL:
        mr_variant_put_decimal(b, c->i128[row], c->type->scale);
        break;
    case MR_STRING:
        mr_variant_put_text(b, mr_column_text(c, row));
        break;
    case MR_BINARY:
        mr_variant_put_binary(b, mr_column_text(c, row));
        break;
    case MR_DATE:
        mr_variant_put_time(b, MR_VARIANT_DATE, c->i32[row]);
        break;
    case MR_TIMESTAMP:
        mr_variant_put_time(b, MR_VARIANT_TIMESTAMP, c->i64[row]);
        break;
    case MR_TIMESTAMP_NTZ:
        mr_variant_put_time(b, MR_VARIANT_TIMESTAMP_NTZ, c->i64[row]);
        break;
    case MR_VARIANT:
        mr_variant_put_variant(b, mr_variant_of(mr_column_text(c, row)));
        break;
    case MR_STRUCT:
        put_struct(b, c, row);
        break;
    default:
        put_list(b, c, row);
    }
}

enum mr_status mr_cast_to_variant(struct cast *c, const struct mr_column *in, struct mr_column *out)
{
    struct mr_arena *a = c->call->arena;
    struct mr_variant_builder b;
    struct mr_text_writer w;
    struct mr_buffer bytes;

    mr_text_writer_init(&w, out, &mr_type_variant, c->rows, a);
    mr_variant_builder_init(&b, a);
    mr_buffer_init(&bytes, a);
    EACH_CAST_ROW(c, i, row)
    {
        bytes.n = 0;
        mr_variant_begin(&b);
        put_value(&b, in, row);
        if (!mr_variant_finish(&b, &bytes))
            return MR_FAIL_CONDITION(c->call->err, MR_QUERY, "VARIANT_SIZE_LIMIT",
                                     "Cannot build a variant of more than %d bytes.",
                                     MR_VARIANT_BYTES_MAX);
        mr_text_writer_copy(&w, row, mr_buffer_text(&bytes));
    }
    return MR_OK;
}
