#include "core/expr/cast.h"

/* Types that a variant can be cast to. */
static bool variant_holds(const struct mr_type *type)
{
    if (type->kind == MR_VOID ||
        (type->kind >= MR_INTERVAL_YEAR_MONTH && type->kind <= MR_INTERVAL_CALENDAR))
        return false;
    for (uint32_t i = 0; i < type->fields_n; i++)
        if (!(type->kind == MR_MAP && i == 0 ? type->fields[i].type->kind == MR_STRING
                                             : variant_holds(type->fields[i].type)))
            return false;
    return true;
}

static bool is_exact(const struct mr_type *t)
{
    return mr_type_is_integer(t) || t->kind == MR_DECIMAL;
}

/* Spark's Cast.canAnsiCast and, where ANSI mode is off, some more of its canCast. */
bool mr_cast_is_allowed(const struct mr_type *from, const struct mr_type *to, bool ansi)
{
    bool from_numeric = mr_type_is_numeric(from);

    if (mr_type_equal(from, to) || from->kind == MR_VOID)
        return true;
    if (from->kind == MR_VARIANT)
        return variant_holds(to);
    switch (to->kind) {
    case MR_VARIANT:
        return from->kind == MR_ARRAY ? mr_cast_is_allowed(from->fields[0].type, to, ansi)
                                      : from->fields_n == 0 && variant_holds(from);
    case MR_STRING:
        return true;
    case MR_BINARY:
        return from->kind == MR_STRING || (!ansi && mr_type_is_integer(from));
    case MR_BOOLEAN:
        return from->kind == MR_STRING || from_numeric;
    case MR_DATE:
        return from->kind == MR_STRING || from->kind == MR_TIMESTAMP ||
               from->kind == MR_TIMESTAMP_NTZ;
    case MR_TIMESTAMP:
        return from->kind == MR_STRING || from->kind == MR_DATE || from->kind == MR_TIMESTAMP_NTZ ||
               from_numeric || (!ansi && from->kind == MR_BOOLEAN);
    case MR_TIMESTAMP_NTZ:
        return from->kind == MR_STRING || from->kind == MR_DATE || from->kind == MR_TIMESTAMP;
    case MR_INTERVAL_CALENDAR:
        return from->kind == MR_STRING;
    case MR_INTERVAL_DAY_TIME:
    case MR_INTERVAL_YEAR_MONTH:
        return from->kind == MR_STRING || from->kind == to->kind || is_exact(from);
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
        if (from->kind != to->kind || from->fields_n != to->fields_n)
            return false;
        for (uint32_t i = 0; i < to->fields_n; i++)
            if (!mr_cast_is_allowed(from->fields[i].type, to->fields[i].type, ansi) ||
                (from->fields[i].nullable && !to->fields[i].nullable))
                return false;
        return true;
    default:
        return mr_type_is_numeric(to) &&
               (from_numeric || (mr_type_is_units(from) && is_exact(to)) ||
                from->kind == MR_STRING || from->kind == MR_BOOLEAN || from->kind == MR_TIMESTAMP ||
                (!ansi && from->kind == MR_DATE));
    }
}

static enum mr_status refuse(struct mr_resolve *r, const struct mr_expr *call)
{
    const struct mr_type *from = call->args[0]->type, *to = call->type;
    const char *a = mr_type_sql(r->arena, from), *b = mr_type_sql(r->arena, to);
    const char *function = from->kind == MR_DATE && mr_type_is_numeric(to) ? "`UNIX_DATE`"
                           : mr_type_is_numeric(from) && to->kind == MR_DATE
                               ? "`DATE_FROM_UNIX_DATE`"
                               : NULL;

    if (function)
        return mr_mismatch(r, call, "CAST_WITH_FUNC_SUGGESTION",
                           "cannot cast \"%s\" to \"%s\". To convert values from \"%s\" to \"%s\", "
                           "you can use the functions %s instead.",
                           a, b, a, b, function);
    if ((mr_type_is_integer(from) && to->kind == MR_BINARY) ||
        (from->kind == MR_BOOLEAN && to->kind == MR_TIMESTAMP))
        return mr_mismatch(r, call, "CAST_WITH_CONF_SUGGESTION",
                           "cannot cast \"%s\" to \"%s\" with ANSI mode on.", a, b);
    return mr_mismatch(r, call, "CAST_WITHOUT_SUGGESTION", "cannot cast \"%s\" to \"%s\".", a, b);
}

/* Casts that may give NULL for a value that is not. */
static bool may_null(const struct mr_type *from, const struct mr_type *to)
{
    if (from->kind == MR_VOID || from->kind == MR_VARIANT || to->kind == MR_INTERVAL_CALENDAR)
        return true;
    return (from->kind == MR_FLOAT || from->kind == MR_DOUBLE) && to->kind == MR_TIMESTAMP;
}

enum mr_status mr_cast_make(struct mr_resolve *r, struct mr_expr *x, const struct mr_type *type,
                            bool is_try, struct mr_place place, struct mr_expr **out)
{
    struct mr_expr *call;

    if (mr_type_equal(x->type, type)) {
        *out = x;
        return MR_OK;
    }
    call = MR_NEW(r->arena, struct mr_expr);
    call->kind = MR_EXPR_CALL;
    call->function = mr_function_find(is_try ? "try_cast" : "cast");
    call->type = type;
    call->nullable = x->nullable || is_try || !r->ansi || may_null(x->type, type);
    call->place = place;
    call->args_n = 1;
    call->args = MR_NEW_ARRAY(r->arena, struct mr_expr *, 1);
    call->args[0] = x;
    call->text = mr_arena_format(r->arena, "%s(%s AS %s)", is_try ? "TRY_CAST" : "CAST",
                                 x->text ? x->text : "", mr_type_sql(r->arena, type));
    if (!mr_cast_is_allowed(x->type, type, r->ansi || is_try))
        return refuse(r, call);
    *out = call;
    return MR_OK;
}

/* cast and try_cast are made above; as functions they have no target. */
MR_RESOLVE(cast)
{
    return mr_mismatch(r, call, "UNEXPECTED_INPUT_TYPE", "%s needs a type", call->function->name);
}
