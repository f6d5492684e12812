/* analyze_text.c - expressions as Spark prints them in column names and errors: "(v + 1)",
 * "count(1)". */
#include "core/plan/analyzer.h"

#include "core/format/value.h"

/* Written between the operands; the others are written as functions. */
static const char *const infix[] = {"+",  "-",   "*",  "/", "%", "=", "<=>", "<",  "<=", ">",
                                    ">=", "and", "or", "&", "|", "^", "div", "<<", ">>", ">>>"};

static bool is_infix(const char *name)
{
    for (size_t i = 0; i < sizeof infix / sizeof *infix; i++)
        if (strcmp(infix[i], name) == 0)
            return true;
    return false;
}

/* Schemas and options are constants of the call, and are not shown. */
static uint32_t shown_arguments(const char *name)
{
    static const char *const one[] = {"from_csv", "from_json",     "to_csv",
                                      "to_json",  "schema_of_csv", "schema_of_json"};

    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (mr_same_name(name, one[i]))
            return 1;
    if (mr_same_name(name, "variant_get") || mr_same_name(name, "try_variant_get"))
        return 2;
    return UINT32_MAX;
}

static void append_list(struct mr_buffer *b, struct mr_expr *const *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        mr_buffer_append_format(b, "%s%s", i ? ", " : "", mr_expr_text(args[i]));
}

static void append_case(struct mr_buffer *b, struct mr_expr *const *args, uint32_t n)
{
    mr_buffer_append_text(b, MR_TEXT("CASE"));
    for (uint32_t i = 0; i + 1 < n; i += 2)
        mr_buffer_append_format(b, " WHEN %s THEN %s", mr_expr_text(args[i]),
                                mr_expr_text(args[i + 1]));
    if (n % 2 == 1)
        mr_buffer_append_format(b, " ELSE %s", mr_expr_text(args[n - 1]));
    mr_buffer_append_text(b, MR_TEXT(" END"));
}

static void append_function(struct mr_buffer *b, const struct mr_ast *x,
                            struct mr_expr *const *args, uint32_t n)
{
    for (const char *c = x->name; *c; c++)
        mr_buffer_append_format(b, "%c", *c >= 'A' && *c <= 'Z' ? *c + ('a' - 'A') : *c);
    mr_buffer_append_format(b, "(%s", x->distinct ? "DISTINCT " : "");
    append_list(b, args, n);
    mr_buffer_append_text(b, MR_TEXT(")"));
}

static void append_operator(struct mr_buffer *b, const char *name, struct mr_expr *const *args,
                            uint32_t n)
{
    mr_buffer_append_text(b, MR_TEXT("("));
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && (strcmp(name, "and") == 0 || strcmp(name, "or") == 0))
            mr_buffer_append_text(b, name[0] == 'a' ? MR_TEXT(" AND ") : MR_TEXT(" OR "));
        else if (i > 0)
            mr_buffer_append_format(b, " %s ", name);
        mr_buffer_append_text(b, mr_text_of(mr_expr_text(args[i])));
    }
    mr_buffer_append_text(b, MR_TEXT(")"));
}

const char *mr_call_text(struct mr_analyzer *an, const struct mr_ast *x,
                         struct mr_expr *const *args, uint32_t n)
{
    struct mr_buffer b;

    mr_buffer_init(&b, an->arena);
    if (x->kind == MR_AST_CAST) {
        mr_buffer_append_format(&b, "%s(%s AS ", x->is_try ? "TRY_CAST" : "CAST",
                                mr_expr_text(args[0]));
        mr_type_print_sql(x->type, &b);
        mr_buffer_append_text(&b, MR_TEXT(")"));
    } else if (x->kind == MR_AST_ITEM) {
        mr_buffer_append_format(&b, "%s[%s]", mr_expr_text(args[0]), mr_expr_text(args[1]));
    } else if (n == 1 && mr_cast_alias(x->name, an->arena)) {
        mr_buffer_append_text(&b, mr_text_of(mr_expr_text(args[0])));
    } else if (n == 2 && mr_same_name(x->name, "extract")) {
        mr_buffer_append_format(&b, "extract(%s FROM %s)", mr_expr_text(args[0]),
                                mr_expr_text(args[1]));
    } else if (shown_arguments(x->name) < n) {
        append_function(&b, x, args, shown_arguments(x->name));
    } else if (n >= 2 && is_infix(x->name)) {
        append_operator(&b, x->name, args, n);
    } else if (n == 1 && strcmp(x->name, "not") == 0) {
        mr_buffer_append_format(&b, "(NOT %s)", mr_expr_text(args[0]));
    } else if (n == 1 && strcmp(x->name, "negative") == 0) {
        mr_buffer_append_format(&b, "(- %s)", mr_expr_text(args[0]));
    } else if (n == 1 && strcmp(x->name, "positive") == 0) {
        mr_buffer_append_format(&b, "(+ %s)", mr_expr_text(args[0]));
    } else if (n == 1 && (mr_same_name(x->name, "isnull") || mr_same_name(x->name, "isnotnull"))) {
        mr_buffer_append_format(&b, "(%s IS %s)", mr_expr_text(args[0]),
                                mr_same_name(x->name, "isnull") ? "NULL" : "NOT NULL");
    } else if (n >= 1 && strcmp(x->name, "in") == 0) {
        mr_buffer_append_format(&b, "(%s IN (", mr_expr_text(args[0]));
        append_list(&b, args + 1, n - 1);
        mr_buffer_append_text(&b, MR_TEXT("))"));
    } else if (n >= 2 && (strcmp(x->name, "like") == 0 || strcmp(x->name, "ilike") == 0)) {
        mr_buffer_append_format(&b, x->name[0] == 'l' ? "%s LIKE %s" : "ilike(%s, %s)",
                                mr_expr_text(args[0]), mr_expr_text(args[1]));
    } else if (strcmp(x->name, "case") == 0) {
        append_case(&b, args, n);
    } else if (n == 3 && mr_same_name(x->name, "if")) {
        mr_buffer_append_text(&b, MR_TEXT("(IF("));
        append_list(&b, args, n);
        mr_buffer_append_text(&b, MR_TEXT("))"));
    } else {
        append_function(&b, x, args, n);
    }
    return mr_arena_copy(an->arena, b.data, b.n);
}

const char *mr_literal_text(struct mr_analyzer *an, const struct mr_column *v)
{
    char out[MR_VALUE_TEXT];
    uint32_t n;

    if (mr_column_is_null(v, 0))
        return "NULL";
    switch (v->type->kind) {
    case MR_BOOLEAN:
        return mr_bit_get(v->bits, 0) ? "true" : "false";
    case MR_STRING:
    case MR_BINARY: {
        struct mr_text t = mr_column_text(v, 0);
        return mr_arena_copy(an->arena, t.data, t.n);
    }
    case MR_DATE:
        n = mr_value_print(v, 0, NULL, out);
        return mr_arena_format(an->arena, "DATE '%.*s'", (int)n, out);
    case MR_TIMESTAMP:
        n = mr_value_print(v, 0, an->session->conf.zone, out);
        return mr_arena_format(an->arena, "TIMESTAMP '%.*s'", (int)n, out);
    case MR_TIMESTAMP_NTZ:
        n = mr_value_print(v, 0, NULL, out);
        return mr_arena_format(an->arena, "TIMESTAMP_NTZ '%.*s'", (int)n, out);
    case MR_ARRAY:
    case MR_MAP:
    case MR_STRUCT:
    case MR_VOID:
        return "literal";
    default:
        n = mr_value_print(v, 0, NULL, out);
    }
    return mr_arena_copy(an->arena, out, n);
}
