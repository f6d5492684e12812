#include "core/expr/signature.h"

static const struct mr_type *type_of_letter(char letter)
{
    switch (letter) {
    case 'b':
        return &mr_type_boolean;
    case 'i':
        return &mr_type_int;
    case 'l':
        return &mr_type_bigint;
    case 'f':
        return &mr_type_float;
    case 'd':
        return &mr_type_double;
    case 's':
        return &mr_type_string;
    case 'y':
        return &mr_type_binary;
    case 'D':
        return &mr_type_date;
    case 't':
        return &mr_type_timestamp;
    case 'n':
        return &mr_type_timestamp_ntz;
    case 'u':
        return &mr_type_interval_day_time;
    case 'm':
        return &mr_type_interval_year_month;
    default:
        MR_UNREACHABLE();
    }
}

/* Letters that stand for several types: does x fit, what it is cast to if not (NULL: error), the
 * name. */
static enum mr_status coerce_class(struct mr_resolve *r, struct mr_expr *call, uint32_t i,
                                   char letter)
{
    struct mr_expr *x = call->args[i];
    enum mr_kind k = x->type->kind;
    const struct mr_type *instead = NULL;
    const char *what;
    bool fits;

    switch (letter) {
    case 'x':
        return MR_OK;
    case 'T':
        fits = k == MR_TIMESTAMP || k == MR_TIMESTAMP_NTZ;
        instead = k == MR_STRING || k == MR_DATE || k == MR_VOID ? &mr_type_timestamp : NULL;
        what = "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\")";
        break;
    case 'E':
        fits = k == MR_DATE;
        instead = k == MR_VOID ? &mr_type_date : NULL;
        what = "\"DATE\"";
        break;
    case 'U':
        fits = k == MR_TIMESTAMP;
        instead = k == MR_VOID ? &mr_type_timestamp : NULL;
        what = "\"TIMESTAMP\"";
        break;
    case 'N':
        fits = mr_type_is_numeric(x->type);
        instead = k == MR_STRING || k == MR_VOID ? &mr_type_double : NULL;
        what = "\"NUMERIC\"";
        break;
    case 'I':
        fits = mr_type_is_integer(x->type);
        instead = k == MR_STRING || k == MR_VOID ? &mr_type_bigint : NULL;
        what = "\"INTEGRAL\"";
        break;
    case 'S':
        fits = k == MR_STRING || k == MR_BINARY;
        instead = fits || !mr_cast_is_implicit(x->type, &mr_type_string) ? NULL : &mr_type_string;
        what = "(\"STRING\" or \"BINARY\")";
        break;
    case 'A':
        fits = k == MR_ARRAY;
        instead = k == MR_VOID ? mr_type_array(r->arena, &mr_type_void, true) : NULL;
        what = "\"ARRAY\"";
        break;
    case 'M':
        fits = k == MR_MAP;
        what = "\"MAP\"";
        break;
    default:
        MR_ASSERT(letter == 'R');
        fits = k == MR_STRUCT;
        what = "\"STRUCT\"";
    }
    if (fits)
        return MR_OK;
    if (instead == NULL)
        return mr_mismatch_argument(r, call, i, what);
    call->args[i] = mr_coerce(r, x, instead);
    return MR_OK;
}

static const struct mr_type *result_type(struct mr_resolve *r, const struct mr_expr *call,
                                         char letter)
{
    const struct mr_type *first = call->args_n ? call->args[0]->type : NULL;

    if (letter >= '1' && letter <= '9')
        return call->args[letter - '1']->type;
    if (letter == 'e')
        return first->fields[0].type;
    if (letter == 'a')
        return mr_type_array(r->arena, first, call->args[0]->nullable);
    return type_of_letter(letter);
}

MR_RESOLVE(types)
{
    const char *at = call->function->signature;

    for (uint32_t i = 0; i < call->args_n; i++) {
        enum mr_status status;
        MR_ASSERT(*at != ':' && *at != 0);
        if (strchr("xTEUNISAMR", *at))
            status = coerce_class(r, call, i, *at);
        else
            status = mr_coerce_argument(r, call, i, type_of_letter(*at), NULL);
        if (status != MR_OK)
            return status;
        if (at[1] != '*')
            at += at[1] == ',' ? 2 : 1;
    }
    at = strchr(call->function->signature, ':') + 1;
    call->type = result_type(r, call, *at);
    call->nullable = at[1] == '?' || (at[1] != '!' && mr_expr_any_nullable(call));
    return MR_OK;
}
