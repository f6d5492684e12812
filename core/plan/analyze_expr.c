/* analyze_expr.c - syntax trees of expressions -> typed expressions. */
#include "core/plan/analyzer.h"

#include "core/format/value.h"

struct mr_expr *mr_call(struct mr_analyzer *an, const char *name, struct mr_expr **args,
                        uint32_t args_n, struct mr_place place, const char *text)
{
    const struct mr_function *f = mr_function_find(name);
    struct mr_expr *out = NULL;

    if (f == NULL)
        return MR_ANALYZE_FAIL(an, place, "", "the function %s is missing in this build", name);
    if (mr_call_make(&an->resolve, f, args, args_n, place, text, &out) != MR_OK) {
        if (an->err->line == 0)
            mr_analyze_fail_at(an, place);
        return NULL;
    }
    return out;
}

struct mr_expr *mr_literal_int(struct mr_analyzer *an, int64_t value)
{
    struct mr_expr *x = mr_expr_literal_i64(an->arena, &mr_type_int, value);

    x->text = mr_arena_format(an->arena, "%lld", (long long)value);
    return x;
}

struct mr_expr *mr_analyze_constant(struct mr_analyzer *an, struct mr_expr *x)
{
    struct mr_eval_context context = {.zone = an->session->conf.zone,
                                      .ansi = an->session->conf.ansi,
                                      .now_us = an->session->now_us};
    struct mr_expr *out = NULL;

    if (x->kind == MR_EXPR_LITERAL)
        return x;
    if (!mr_expr_covered(x, NULL, 0))
        return MR_ANALYZE_FAIL(an, x->place, "NON_FOLDABLE_ARGUMENT", "\"%s\" must be a constant.",
                               x->text);
    if (mr_eval_constant(x, &context, an->arena, &out, an->err) != MR_OK) {
        if (an->err->line == 0)
            mr_analyze_fail_at(an, x->place);
        return NULL;
    }
    out->text = x->text;
    out->place = x->place;
    return out;
}

static struct mr_expr *literal(struct mr_analyzer *an, const struct mr_ast *x)
{
    struct mr_expr *e = MR_NEW(an->arena, struct mr_expr);

    e->kind = MR_EXPR_LITERAL;
    e->type = x->literal->type;
    e->value = x->literal;
    e->nullable = mr_column_is_null(x->literal, 0);
    e->place = x->place;
    e->text = mr_literal_text(an, x->literal);
    return e;
}

static struct mr_expr *cast(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_expr *arg = mr_analyze_expr(an, s, x->args[0]), *out = NULL;
    const char *text;

    if (arg == NULL)
        return NULL;
    text = mr_call_text(an, x, &arg, 1);
    if (mr_cast_make(&an->resolve, arg, x->type, x->is_try, x->place, &out) != MR_OK) {
        if (an->err->line == 0)
            mr_analyze_fail_at(an, x->place);
        return NULL;
    }
    if (x->is_literal) {
        out = mr_analyze_constant(an, out);
        if (out != NULL)
            out->text = mr_literal_text(an, out->value);
        return out;
    }
    if (out != arg && out->kind == MR_EXPR_CALL) {
        struct mr_expr *copy = MR_NEW(an->arena, struct mr_expr);

        *copy = *out;
        copy->text = text;
        return copy;
    }
    return out;
}

static struct mr_expr *item(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_expr *args[2];

    for (int i = 0; i < 2; i++)
        if ((args[i] = mr_analyze_expr(an, s, x->args[i])) == NULL)
            return NULL;
    if (args[0]->type->kind == MR_STRUCT && args[1]->kind == MR_EXPR_LITERAL &&
        args[1]->type->kind == MR_STRING) {
        struct mr_text name = mr_column_text(args[1]->value, 0);
        return mr_analyze_field(an, args[0], mr_arena_copy(an->arena, name.data, name.n), x->place);
    }
    return mr_call(an, "get_item", args, 2, x->place, mr_call_text(an, x, args, 2));
}

/* Subqueries are analyzed (so that their errors come first) and kept; who runs the plan decides. */
static struct mr_expr *subquery(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_logical *plan = mr_analyze(an, x->relation, s);
    struct mr_expr *e = MR_NEW(an->arena, struct mr_expr);

    if (plan == NULL)
        return NULL;
    if (plan->streaming)
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY",
                               "Invalid subquery: Streaming query is not allowed in subquery "
                               "expressions.");
    if (x->kind == MR_AST_SUBQUERY && plan->output_n != 1)
        return MR_ANALYZE_FAIL(
            an, x->place,
            "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
            "Invalid subquery: Scalar subquery must return only one column, but found %u.",
            plan->output_n);
    e->kind = MR_EXPR_CALL;
    e->function = &mr_subquery_function;
    e->data = plan;
    e->place = x->place;
    e->type = x->kind == MR_AST_SUBQUERY ? plan->output[0].type : &mr_type_boolean;
    e->nullable = x->kind != MR_AST_EXISTS;
    e->text = x->kind == MR_AST_SUBQUERY ? "scalarsubquery()"
              : x->kind == MR_AST_EXISTS ? "exists()"
                                         : "in_subquery()";
    e->args_n = x->args_n;
    e->args = MR_NEW_ARRAY(an->arena, struct mr_expr *, x->args_n);
    for (uint32_t i = 0; i < x->args_n; i++)
        if ((e->args[i] = mr_analyze_expr(an, s, x->args[i])) == NULL)
            return NULL;
    if (x->kind == MR_AST_IN_QUERY && plan->output_n != x->args_n)
        return MR_ANALYZE_FAIL(
            an, x->place, "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
            "The number of columns in the left hand side of an IN subquery (%u) does "
            "not match the number of columns in the output of subquery (%u).",
            x->args_n, plan->output_n);
    return e;
}

/* An alias within an expression, as in struct(a AS b): it shows in the name of the whole. */
static struct mr_expr *within_alias(struct mr_analyzer *an, struct mr_scope *s,
                                    const struct mr_ast *x)
{
    struct mr_expr *e = mr_analyze_expr(an, s, x->args[0]), *named;
    struct mr_buffer text;

    if (e == NULL || e->text == NULL)
        return e;
    named = MR_NEW(an->arena, struct mr_expr);
    *named = *e;
    mr_buffer_init(&text, an->arena);
    mr_buffer_append_format(&text, "%s AS ", e->text);
    mr_type_print_name(x->parts[0], &text);
    named->text = mr_arena_copy(an->arena, text.data, text.n);
    return named;
}

struct mr_expr *mr_analyze_expr(struct mr_analyzer *an, struct mr_scope *s, const struct mr_ast *x)
{
    struct mr_expr *e;

    switch (x->kind) {
    case MR_AST_LITERAL:
        return literal(an, x);
    case MR_AST_NAME:
        return mr_analyze_name(an, s, x);
    case MR_AST_CALL:
        return mr_analyze_call(an, s, x);
    case MR_AST_CAST:
        return cast(an, s, x);
    case MR_AST_FIELD:
        e = mr_analyze_expr(an, s, x->args[0]);
        return e != NULL ? mr_analyze_field(an, e, x->name, x->place) : NULL;
    case MR_AST_ITEM:
        return item(an, s, x);
    case MR_AST_ALIAS:
        return within_alias(an, s, x);
    case MR_AST_ORDER:
    case MR_AST_PARAMETER:
        return mr_analyze_expr(an, s, x->args[0]);
    case MR_AST_SUBQUERY:
    case MR_AST_EXISTS:
    case MR_AST_IN_QUERY:
        return subquery(an, s, x);
    case MR_AST_STAR:
        return MR_ANALYZE_FAIL(an, x->place, "INVALID_USAGE_OF_STAR_OR_REGEX",
                               "Invalid usage of '*' in this expression.");
    case MR_AST_LAMBDA:
        return MR_ANALYZE_FAIL(an, x->place,
                               "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION",
                               "A lambda function should only be used in a higher order function.");
    }
    MR_UNREACHABLE();
}

const char *mr_item_name(const struct mr_ast *x, const struct mr_expr *e)
{
    if (x->kind == MR_AST_ALIAS)
        return x->parts[0];
    if (x->kind == MR_AST_NAME &&
        (e->kind == MR_EXPR_COLUMN || e->kind == MR_EXPR_CALL || e->kind == MR_EXPR_LITERAL)) {
        /* a column, or a field of one: Spark names it as the last part was written */
        if (e->kind != MR_EXPR_CALL || mr_expr_is_call(e, "get_field") ||
            mr_expr_is_call(e, "get_item"))
            return x->parts[x->parts_n - 1];
    }
    if (x->kind == MR_AST_CAST && x->args[0]->kind == MR_AST_ALIAS) /* v:a::int */
        return x->args[0]->parts[0];
    /* a cast alone keeps the name of its column */
    if (x->kind == MR_AST_CAST && x->args[0]->kind == MR_AST_NAME && x->args[0]->parts_n <= 2 &&
        e->kind == MR_EXPR_CALL && e->args_n == 1 && e->args[0]->kind == MR_EXPR_COLUMN)
        return x->args[0]->parts[x->args[0]->parts_n - 1];
    return e->text != NULL ? e->text : "expr";
}
