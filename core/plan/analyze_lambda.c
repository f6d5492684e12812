/* analyze_lambda.c - functions that take lambdas: what their parameters are. */
#include "core/plan/analyzer.h"

#include "core/expr/coerce.h"

enum { PARAMETERS_MAX = 3 };

static bool is_of_maps(const char *name)
{
    return mr_same_name(name, "map_filter") || mr_same_name(name, "map_zip_with") ||
           mr_same_name(name, "transform_keys") || mr_same_name(name, "transform_values");
}

static bool takes_lambdas(const char *name)
{
    static const char *const takers[] = {"aggregate",      "array_sort",       "exists",
                                         "filter",         "forall",           "map_filter",
                                         "map_zip_with",   "reduce",           "transform",
                                         "transform_keys", "transform_values", "zip_with"};

    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (mr_same_name(name, takers[i]))
            return true;
    return false;
}

/* What the parameters of the lambda at args[at] are, given the arguments before it. */
static uint32_t parameters(const char *name, uint32_t at, struct mr_expr *const *args,
                           const struct mr_type **types)
{
    const struct mr_type *first = at > 0 ? args[0]->type : NULL;

    if (first == NULL || !takes_lambdas(name) || is_of_maps(name) != (first->kind == MR_MAP))
        return 0;
    if (mr_same_name(name, "aggregate") || mr_same_name(name, "reduce")) {
        if (first->kind != MR_ARRAY || at < 2)
            return 0;
        types[0] = at == 2 ? args[1]->type : args[2]->args[0]->type;
        types[1] = first->fields[0].type;
        return at == 2 ? 2 : 1;
    }
    if (first->kind == MR_ARRAY) {
        types[0] = first->fields[0].type;
        types[1] = &mr_type_int; /* the index */
        if (mr_same_name(name, "array_sort"))
            types[1] = types[0];
        else if (mr_same_name(name, "zip_with"))
            types[1] = at > 1 && args[1]->type->kind == MR_ARRAY ? args[1]->type->fields[0].type
                                                                 : &mr_type_void;
        return mr_same_name(name, "exists") || mr_same_name(name, "forall") ? 1 : 2;
    }
    if (first->kind == MR_MAP) {
        types[0] = first->fields[0].type;
        types[1] = first->fields[1].type;
        types[2] =
            at > 1 && args[1]->type->kind == MR_MAP ? args[1]->type->fields[1].type : &mr_type_void;
        return mr_same_name(name, "map_zip_with") ? 3 : 2;
    }
    return 0;
}

/* A lambda to a function that takes none, or of a first argument that has no elements. */
static void *not_a_collection(struct mr_analyzer *an, const struct mr_ast *x,
                              const struct mr_expr *first)
{
    if (!takes_lambdas(x->name) || first == NULL)
        return MR_ANALYZE_FAIL(
            an, x->place, "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
            "Invalid lambda function call. A lambda function should only be used "
            "in a higher order function: %s takes none.",
            x->name);
    return MR_ANALYZE_FAIL(an, x->place, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
                           "Cannot resolve \"%s\" due to data type mismatch: The first parameter "
                           "requires the \"%s\" type, however \"%s\" has the type \"%s\".",
                           x->name, is_of_maps(x->name) ? "MAP" : "ARRAY", first->text,
                           mr_type_sql(an->arena, first->type));
}

/* The index of transform and filter may be left out, other parameters may not. */
static uint32_t fewest(const char *name, uint32_t n)
{
    return mr_same_name(name, "transform") || mr_same_name(name, "filter") ? 1 : n;
}

static struct mr_expr *lambda(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x,
                              const struct mr_type *const *types, uint32_t least, uint32_t types_n)
{
    struct mr_lambda_frame frame = {
        .names = x->parts, .types = types, .n = x->parts_n, .next = s->lambdas};
    struct mr_expr *e = MR_NEW(an->arena, struct mr_expr);
    struct mr_expr *body;

    if (x->parts_n < least || x->parts_n > types_n)
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
                               "Invalid lambda function call. A higher order function expects %u "
                               "parameters, but got %u.",
                               types_n, x->parts_n);
    if (s->lambdas != NULL)
        frame.first = s->lambdas->first + s->lambdas->n;
    s->lambdas = &frame;
    body = mr_analyze_expr(an, s, x->args[0]);
    s->lambdas = frame.next;
    if (body == NULL)
        return NULL;
    e->kind = MR_EXPR_LAMBDA;
    e->type = body->type;
    e->nullable = body->nullable;
    e->place = x->place;
    e->variables_n = x->parts_n;
    e->index = frame.first;
    e->args_n = 1;
    e->args = MR_NEW_ARRAY(an->arena, struct mr_expr *, 1);
    e->args[0] = body;
    e->text = mr_arena_format(an->arena, "lambdafunction(%s)", body->text);
    return e;
}

struct mr_expr *mr_analyze_higher_order(struct mr_analyzer *an, struct mr_scope *s,
                                        const struct mr_ast *x)
{
    struct mr_expr **args = MR_NEW_ARRAY(an->arena, struct mr_expr *, x->args_n);
    const struct mr_function *f = mr_find_function(x->name);

    if (f == NULL)
        return MR_ANALYZE_FAIL(an, x->place, "UNRESOLVED_ROUTINE", "Cannot resolve routine `%s`.",
                               x->name);
    for (uint32_t i = 0; i < x->args_n; i++) {
        if (x->args[i]->kind == MR_AST_LAMBDA) {
            const struct mr_type **types =
                MR_NEW_ARRAY(an->arena, const struct mr_type *, PARAMETERS_MAX);
            uint32_t n = parameters(x->name, i, args, types);

            if (n == 0)
                return not_a_collection(an, x, i > 0 ? args[0] : NULL);
            args[i] = lambda(an, s, x->args[i], types, fewest(x->name, n), n);
        } else {
            args[i] = mr_analyze_expr(an, s, x->args[i]);
        }
        if (args[i] == NULL)
            return NULL;
    }
    return mr_call(an, f->name, args, x->args_n, x->place, mr_call_text(an, x, args, x->args_n));
}
