#include "core/expr/coerce.h"

#include <stdarg.h>
#include <stdio.h>

const char *mr_type_sql(struct mr_arena *a, const struct mr_type *type)
{
    struct mr_buffer b;

    mr_buffer_init(&b, a);
    mr_type_print_sql(type, &b);
    return mr_arena_copy(a, b.data, b.n);
}

bool mr_expr_is_null_literal(const struct mr_expr *x)
{
    return x->kind == MR_EXPR_LITERAL && mr_column_is_null(x->value, 0);
}

bool mr_expr_any_nullable(const struct mr_expr *call)
{
    for (uint32_t i = 0; i < call->args_n; i++)
        if (call->args[i]->nullable)
            return true;
    return false;
}

enum mr_status mr_mismatch(struct mr_resolve *r, const struct mr_expr *call, const char *sub,
                           const char *format, ...)
{
    char text[MR_ERROR_MESSAGE / 2], condition[MR_ERROR_CONDITION];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(condition, sizeof condition, "DATATYPE_MISMATCH.%s", sub);
    if (r->err) {
        r->err->line = call->place.line;
        r->err->column = call->place.column;
    }
    return MR_FAIL_CONDITION(r->err, MR_USER, condition,
                             "Cannot resolve \"%s\" due to data type mismatch: %s",
                             call->text ? call->text : call->function->name, text);
}

enum mr_status mr_mismatch_argument(struct mr_resolve *r, const struct mr_expr *call, uint32_t i,
                                    const char *what)
{
    static const char *const ordinals[] = {"first", "second",  "third",  "fourth", "fifth",
                                           "sixth", "seventh", "eighth", "ninth",  "tenth"};
    const struct mr_expr *x = call->args[i];

    return mr_mismatch(r, call, "UNEXPECTED_INPUT_TYPE",
                       "The %s parameter requires the %s type, however \"%s\" has the type \"%s\".",
                       i < 10 ? ordinals[i] : "last", what, x->text ? x->text : "",
                       mr_type_sql(r->arena, x->type));
}

enum mr_status mr_fold_cast(struct mr_resolve *r, struct mr_expr **x)
{
    struct mr_eval_context context = {.zone = r->zone, .ansi = r->ansi};

    if ((*x)->kind != MR_EXPR_CALL || (*x)->function != mr_function_find("cast") ||
        (*x)->args[0]->kind != MR_EXPR_LITERAL)
        return MR_OK;
    return mr_eval_constant(*x, &context, r->arena, x, r->err);
}

enum mr_status mr_require_literal(struct mr_resolve *r, const struct mr_expr *call, uint32_t i,
                                  const char *name)
{
    const struct mr_expr *x = call->args[i];

    if (x->kind == MR_EXPR_LITERAL)
        return MR_OK;
    return mr_mismatch(
        r, call, "NON_FOLDABLE_INPUT",
        "the input `%s` should be a foldable \"%s\" expression; however, got \"%s\".", name,
        mr_type_sql(r->arena, x->type), x->text ? x->text : "");
}

enum mr_status mr_require_place(struct mr_resolve *r, const struct mr_expr *call, uint32_t i)
{
    enum mr_kind k = call->args[i]->type->kind;

    return k >= MR_TINYINT && k <= MR_INT ? MR_OK : mr_mismatch_argument(r, call, i, "\"INT\"");
}

const struct mr_type *mr_decimal_of(struct mr_arena *a, const struct mr_type *type)
{
    static const uint8_t digits[] = {
        [MR_TINYINT] = 3, [MR_SMALLINT] = 5, [MR_INT] = 10, [MR_BIGINT] = 20};

    switch (type->kind) {
    case MR_DECIMAL:
        return type;
    case MR_FLOAT:
        return mr_type_decimal(a, 14, 7);
    case MR_DOUBLE:
        return mr_type_decimal(a, 30, 15);
    default:
        return mr_type_decimal(a, digits[type->kind], 0);
    }
}

const struct mr_type *mr_decimal_wider(struct mr_arena *a, const struct mr_type *x,
                                       const struct mr_type *y)
{
    uint32_t scale = x->scale > y->scale ? x->scale : y->scale;
    int32_t whole_x = x->precision - x->scale, whole_y = y->precision - y->scale;
    uint32_t precision = (uint32_t)(whole_x > whole_y ? whole_x : whole_y) + scale;

    if (precision > MR_DECIMAL_DIGITS) { /* the digits before the point stay */
        uint32_t above = precision - MR_DECIMAL_DIGITS;
        precision = MR_DECIMAL_DIGITS;
        scale = scale > above ? scale - above : 0;
    }
    return mr_type_decimal(a, precision, scale);
}

static bool is_fractional(const struct mr_type *t)
{
    return t->kind == MR_FLOAT || t->kind == MR_DOUBLE || t->kind == MR_DECIMAL;
}

static bool is_atomic(const struct mr_type *t)
{
    return t->kind != MR_VOID && t->kind < MR_INTERVAL_CALENDAR;
}

static const struct mr_type *common_numeric(const struct mr_type *a, const struct mr_type *b,
                                            bool ansi, struct mr_arena *arena)
{
    if (a->kind == MR_DECIMAL || b->kind == MR_DECIMAL) {
        const struct mr_type *other = a->kind == MR_DECIMAL ? b : a;
        if (other->kind == MR_FLOAT || other->kind == MR_DOUBLE)
            return &mr_type_double;
        return mr_decimal_wider(arena, mr_decimal_of(arena, a), mr_decimal_of(arena, b));
    }
    const struct mr_type *wider = a->kind > b->kind ? a : b;
    const struct mr_type *narrower = wider == a ? b : a;
    if (ansi && wider->kind == MR_FLOAT && mr_type_is_integer(narrower))
        return &mr_type_double;
    return wider;
}

/* What a text becomes beside another type. Without ANSI mode the other one becomes a text. */
static const struct mr_type *common_with_text(const struct mr_type *other, bool ansi)
{
    if (!ansi)
        return is_atomic(other) && other->kind != MR_BINARY && other->kind != MR_BOOLEAN
                   ? &mr_type_string
                   : NULL;
    if (mr_type_is_integer(other))
        return &mr_type_bigint;
    if (is_fractional(other))
        return &mr_type_double;
    return is_atomic(other) && !mr_type_is_units(other) ? other : NULL;
}

static const struct mr_type *common_lists(const struct mr_type *a, const struct mr_type *b,
                                          bool ansi, struct mr_arena *arena)
{
    const struct mr_type *first = mr_type_common(a->fields[0].type, b->fields[0].type, ansi, arena);
    const struct mr_type *second;

    if (first == NULL)
        return NULL;
    if (a->kind == MR_ARRAY)
        return mr_type_array(arena, first, a->fields[0].nullable || b->fields[0].nullable);
    second = mr_type_common(a->fields[1].type, b->fields[1].type, ansi, arena);
    return second == NULL
               ? NULL
               : mr_type_map(arena, first, second, a->fields[1].nullable || b->fields[1].nullable);
}

/* Field by field; names must agree without case, the first one's are kept. */
static const struct mr_type *common_structs(const struct mr_type *a, const struct mr_type *b,
                                            bool ansi, struct mr_arena *arena)
{
    struct mr_field *fields;

    if (a->fields_n != b->fields_n)
        return NULL;
    fields = MR_NEW_ARRAY(arena, struct mr_field, a->fields_n + 1);
    for (uint32_t i = 0; i < a->fields_n; i++) {
        fields[i] = a->fields[i];
        fields[i].type = mr_type_common(a->fields[i].type, b->fields[i].type, ansi, arena);
        fields[i].nullable = a->fields[i].nullable || b->fields[i].nullable;
        if (fields[i].type == NULL || !mr_text_equal_ignoring_case(mr_text_of(a->fields[i].name),
                                                                   mr_text_of(b->fields[i].name)))
            return NULL;
    }
    return mr_type_struct(arena, fields, a->fields_n);
}

const struct mr_type *mr_type_units_of_both(const struct mr_type *a, const struct mr_type *b,
                                            struct mr_arena *arena)
{
    struct mr_type *type = MR_NEW(arena, struct mr_type);

    *type = *a;
    type->precision = a->precision < b->precision ? a->precision : b->precision;
    type->scale = a->scale > b->scale ? a->scale : b->scale;
    return type;
}

const struct mr_type *mr_type_common(const struct mr_type *a, const struct mr_type *b, bool ansi,
                                     struct mr_arena *arena)
{
    if (mr_type_equal_with_nullability(a, b) || b->kind == MR_VOID)
        return a;
    if (a->kind == MR_VOID)
        return b;
    if (a->kind == MR_STRING && b->kind != MR_STRING)
        return common_with_text(b, ansi);
    if (b->kind == MR_STRING && a->kind != MR_STRING)
        return common_with_text(a, ansi);
    if (mr_type_is_numeric(a) && mr_type_is_numeric(b))
        return common_numeric(a, b, ansi, arena);
    if (mr_type_is_time(a) &&
        mr_type_is_time(b)) /* a date gives way, and a local time to an instant */
        return a->kind == MR_TIMESTAMP || b->kind == MR_TIMESTAMP ? &mr_type_timestamp
                                                                  : &mr_type_timestamp_ntz;
    if (a->kind != b->kind)
        return NULL;
    if (mr_type_is_units(a))
        return mr_type_units_of_both(a, b, arena);
    if (a->kind == MR_ARRAY || a->kind == MR_MAP)
        return common_lists(a, b, ansi, arena);
    return a->kind == MR_STRUCT ? common_structs(a, b, ansi, arena) : NULL;
}

static bool list_is_implicit(const struct mr_type *from, const struct mr_type *to)
{
    for (uint32_t i = 0; i < to->fields_n; i++)
        if (!mr_cast_is_implicit(from->fields[i].type, to->fields[i].type) ||
            (from->fields[i].nullable && !to->fields[i].nullable))
            return false;
    return true;
}

bool mr_cast_is_implicit(const struct mr_type *from, const struct mr_type *to)
{
    if (mr_type_equal(from, to) || from->kind == MR_VOID)
        return true;
    if (to->kind == MR_STRING)
        return is_atomic(from) || from->kind == MR_VARIANT;
    if (from->kind == MR_STRING)
        return is_atomic(to);
    if (mr_type_is_numeric(from) && mr_type_is_numeric(to)) /* narrower ones too: the cast checks */
        return true;
    if (mr_type_is_time(from) && mr_type_is_time(to))
        return true;
    if (from->kind != to->kind || from->fields_n != to->fields_n)
        return false;
    if (mr_type_is_units(from))
        return true;
    return from->fields_n > 0 && list_is_implicit(from, to);
}

struct mr_expr *mr_coerce(struct mr_resolve *r, struct mr_expr *x, const struct mr_type *type)
{
    struct mr_expr *cast;

    if (mr_type_equal(x->type, type))
        return x;
    if (mr_expr_is_null_literal(x)) {
        cast = mr_expr_literal_null(r->arena, type);
    } else {
        cast = MR_NEW(r->arena, struct mr_expr);
        cast->kind = MR_EXPR_CALL;
        cast->function = mr_function_find("cast");
        cast->type = type;
        cast->nullable = x->nullable;
        cast->args_n = 1;
        cast->args = MR_NEW_ARRAY(r->arena, struct mr_expr *, 1);
        cast->args[0] = x;
    }
    cast->place = x->place;
    cast->text = x->text;
    return cast;
}

enum mr_status mr_coerce_argument(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                  const struct mr_type *type, const char *what)
{
    struct mr_expr *x = call->args[i];

    if (mr_type_equal(x->type, type))
        return MR_OK;
    if (!mr_cast_is_implicit(x->type, type))
        return mr_mismatch_argument(
            r, call, i,
            what ? what : mr_arena_format(r->arena, "\"%s\"", mr_type_sql(r->arena, type)));
    call->args[i] = mr_coerce(r, x, type);
    return MR_OK;
}

/* Does one have text where the other has something else? */
static bool mixes_text(const struct mr_type *a, const struct mr_type *b)
{
    if (a->kind == MR_VOID || b->kind == MR_VOID)
        return false;
    if ((a->kind == MR_STRING) != (b->kind == MR_STRING))
        return true;
    for (uint32_t i = 0; a->kind == b->kind && i < a->fields_n && i < b->fields_n; i++)
        if (mixes_text(a->fields[i].type, b->fields[i].type))
            return true;
    return false;
}

const struct mr_type *mr_type_common_strict(const struct mr_type *a, const struct mr_type *b,
                                            bool ansi, struct mr_arena *arena)
{
    return mixes_text(a, b) ? NULL : mr_type_common(a, b, ansi, arena);
}

const struct mr_type *mr_type_common_compared(const struct mr_type *a, const struct mr_type *b,
                                              bool ansi, struct mr_arena *arena)
{
    const struct mr_type *other = a->kind == MR_STRING ? b : a;

    if ((a->kind == MR_STRING) == (b->kind == MR_STRING) || other->kind == MR_VOID)
        return ansi ? mr_type_common(a, b, ansi, arena) : mr_type_common_strict(a, b, ansi, arena);
    if (mr_type_is_units(other))
        return NULL;
    if (ansi)
        return mr_type_common(a, b, ansi, arena);
    return other->kind == MR_DECIMAL ? &mr_type_double : is_atomic(other) ? other : NULL;
}

const struct mr_type *mr_type_common_of(struct mr_resolve *r, struct mr_expr *const *x, uint32_t n)
{
    const struct mr_type *common = &mr_type_void;

    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n && common != NULL; i++)
            if ((!r->ansi && mr_type_has(x[i]->type, MR_STRING)) == (pass == 0))
                common = mr_type_common(common, x[i]->type, r->ansi, r->arena);
    return common;
}

enum mr_status mr_coerce_common(struct mr_resolve *r, struct mr_expr *call, uint32_t from,
                                uint32_t to, const struct mr_type **type)
{
    const struct mr_type *common = mr_type_common_of(r, call->args + from, to - from);

    if (common == NULL) {
        struct mr_buffer b;
        mr_buffer_init(&b, r->arena);
        for (uint32_t k = from; k < to; k++)
            mr_buffer_append_format(&b, "%s\"%s\"", k == from ? "" : " or ",
                                    mr_type_sql(r->arena, call->args[k]->type));
        return mr_mismatch(r, call, "DATA_DIFF_TYPES",
                           "Input to `%s` should all be the same type, but it's (%.*s).",
                           call->function->name, (int)b.n, (const char *)b.data);
    }
    for (uint32_t i = from; i < to; i++)
        call->args[i] = mr_coerce(r, call->args[i], common);
    *type = common;
    return MR_OK;
}
