/* print_expression.c - expressions as SQL with all their parentheses. */
#include "core/sql/print.h"

#include "core/sql/parser.h"

static void append(struct mr_buffer *out, const char *s)
{
    mr_buffer_append(out, s, strlen(s));
}

/* Words that some place in an expression gives a meaning. */
static bool is_keyword(const char *name)
{
    static const char *const keywords[] = {
        "ALL",    "AND",      "AS",     "ASC",    "BETWEEN", "BOTH",     "CASE",     "CAST",
        "DESC",   "DISTINCT", "DIV",    "ELSE",   "END",     "ESCAPE",   "EXCEPT",   "EXISTS",
        "FALSE",  "FILTER",   "FOR",    "FROM",   "IGNORE",  "ILIKE",    "IN",       "INTERVAL",
        "IS",     "LEADING",  "LIKE",   "NOT",    "NULL",    "NULLS",    "OR",       "OVER",
        "REGEXP", "RESPECT",  "RLIKE",  "SELECT", "TABLE",   "THEN",     "TRAILING", "TRUE",
        "VALUES", "WHEN",     "WITHIN", "WITH",   "PLACING", "TRY_CAST",
    };
    for (uint32_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(name), mr_text_of(keywords[i])))
            return true;
    return false;
}

static void print_quoted(const char *name, struct mr_buffer *out)
{
    append(out, "`");
    for (const char *c = name; *c; c++) {
        mr_buffer_append(out, c, 1);
        if (*c == '`')
            mr_buffer_append(out, c, 1);
    }
    append(out, "`");
}

/* Plain words stand as they are, others in backquotes. */
void mr_print_name(const char *name, struct mr_buffer *out)
{
    bool plain =
        (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z') || name[0] == '_';

    for (const char *c = name; *c && plain; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                (*c >= '0' && *c <= '9');
    if (plain)
        append(out, name);
    else
        print_quoted(name, out);
}

void mr_print_names(const char *const *names, uint32_t n, const char *between,
                    struct mr_buffer *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            append(out, between);
        mr_print_name(names[i], out);
    }
}

/* Names with dots where an expression stands: the first may be read as a keyword. */
static void print_path(const char *const *parts, uint32_t n, struct mr_buffer *out)
{
    if (n == 0 || !is_keyword(parts[0])) {
        mr_print_names(parts, n, ".", out);
        return;
    }
    print_quoted(parts[0], out);
    if (n > 1)
        append(out, ".");
    mr_print_names(parts + 1, n - 1, ".", out);
}

void mr_print_expressions(struct mr_ast *const *items, uint32_t n, struct mr_buffer *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0)
            append(out, ", ");
        mr_ast_print(items[i], out);
    }
}

/* Between its arguments, so that it reads as it was written. */
static const char *infix_of(const struct mr_ast *x)
{
    static const char *const infixes[][2] = {
        {"+", "+"},     {"-", "-"},   {"*", "*"},       {"/", "/"},         {"%", "%"},
        {"&", "&"},     {"|", "|"},   {"^", "^"},       {"=", "="},         {"<=>", "<=>"},
        {"<", "<"},     {"<=", "<="}, {">", ">"},       {">=", ">="},       {"div", "DIV"},
        {"and", "AND"}, {"or", "OR"}, {"like", "LIKE"}, {"ilike", "ILIKE"}, {"rlike", "RLIKE"},
    };
    if (x->args_n != 2 || x->distinct || x->filter || x->over || x->within_n)
        return NULL;
    for (uint32_t i = 0; i < sizeof infixes / sizeof infixes[0]; i++)
        if (strcmp(x->name, infixes[i][0]) == 0)
            return infixes[i][1];
    return NULL;
}

static void print_window(const struct mr_window_spec *w, struct mr_buffer *out)
{
    append(out, " OVER (");
    if (w->partition_n) {
        append(out, "PARTITION BY ");
        mr_print_expressions(w->partition, w->partition_n, out);
    }
    if (w->order_n) {
        append(out, w->partition_n ? " ORDER BY " : "ORDER BY ");
        mr_print_expressions(w->order, w->order_n, out);
    }
    if (w->frame)
        mr_buffer_append_format(out, "%s%s", w->partition_n || w->order_n ? " " : "", w->frame);
    append(out, ")");
}

static void print_case(const struct mr_ast *x, struct mr_buffer *out)
{
    append(out, "CASE");
    for (uint32_t i = 0; i + 1 < x->args_n; i += 2) {
        append(out, " WHEN ");
        mr_ast_print(x->args[i], out);
        append(out, " THEN ");
        mr_ast_print(x->args[i + 1], out);
    }
    if (x->args_n & 1) {
        append(out, " ELSE ");
        mr_ast_print(x->args[x->args_n - 1], out);
    }
    append(out, " END");
}

static void print_in(const struct mr_ast *x, struct mr_buffer *out)
{
    append(out, "(");
    mr_ast_print(x->args[0], out);
    append(out, " IN (");
    mr_print_expressions(x->args + 1, x->args_n - 1, out);
    append(out, "))");
}

/* Words that are keywords only behind a value, or before a query. */
static bool is_function_word(const char *name)
{
    static const char *const words[] = {"between", "exists", "like", "ilike", "rlike", "regexp"};

    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (mr_text_equal_ignoring_case(mr_text_of(name), mr_text_of(words[i])))
            return true;
    return false;
}

/* A function's name as it is called: dots stand between its parts. */
static void print_function_name(const char *name, struct mr_buffer *out)
{
    bool plain = name[0] != '\0' && !(name[0] >= '0' && name[0] <= '9') &&
                 (!is_keyword(name) || is_function_word(name));

    for (const char *c = name; *c && plain; c++)
        plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || *c == '.' ||
                (*c >= '0' && *c <= '9');
    if (plain)
        append(out, name);
    else
        print_quoted(name, out);
}

/* Its body reaches as far as an expression can: elsewhere than among arguments it needs
 * parentheses. */
static void print_lambda(const struct mr_ast *x, struct mr_buffer *out)
{
    if (x->parts_n != 1)
        append(out, "(");
    for (uint32_t i = 0; i < x->parts_n; i++) {
        append(out, i ? ", " : "");
        print_path(&x->parts[i], 1, out);
    }
    append(out, x->parts_n != 1 ? ") -> " : " -> ");
    mr_ast_print(x->args[0], out);
}

static void print_argument_list(struct mr_ast *const *args, uint32_t n, struct mr_buffer *out)
{
    for (uint32_t i = 0; i < n; i++) {
        append(out, i ? ", " : "");
        if (args[i]->kind == MR_AST_LAMBDA)
            print_lambda(args[i], out);
        else
            mr_ast_print(args[i], out);
    }
}

/* The unit of timestampadd and timestampdiff is a text in the tree and a word in SQL. */
static void print_arguments(const struct mr_ast *x, struct mr_buffer *out)
{
    bool has_unit = x->args_n == 3 && x->args[0]->kind == MR_AST_LITERAL &&
                    x->args[0]->literal->type->kind == MR_STRING &&
                    (strcmp(x->name, "timestampadd") == 0 || strcmp(x->name, "timestampdiff") == 0);

    if (has_unit) {
        mr_buffer_append_text(out, mr_column_text(x->args[0]->literal, 0));
        append(out, ", ");
        print_argument_list(x->args + 1, x->args_n - 1, out);
    } else {
        print_argument_list(x->args, x->args_n, out);
    }
}

static void print_plain_call(const struct mr_ast *x, struct mr_buffer *out)
{
    print_function_name(x->name, out);
    append(out, x->distinct ? "(DISTINCT " : "(");
    print_arguments(x, out);
    append(out, ")");
    if (x->within_n) {
        append(out, " WITHIN GROUP (ORDER BY ");
        mr_print_expressions(x->within, x->within_n, out);
        append(out, ")");
    }
    if (x->filter) {
        append(out, " FILTER (WHERE ");
        mr_ast_print(x->filter, out);
        append(out, ")");
    }
    if (x->ignore_nulls)
        append(out, " IGNORE NULLS");
    if (x->over)
        print_window(x->over, out);
}

static void print_unary(const struct mr_ast *x, const char *before, const char *after,
                        struct mr_buffer *out)
{
    mr_buffer_append_format(out, "(%s", before);
    mr_ast_print(x->args[0], out);
    mr_buffer_append_format(out, "%s)", after);
}

static void print_call(const struct mr_ast *x, struct mr_buffer *out)
{
    static const char *const unaries[][3] = {
        {"not", "NOT ", ""}, {"negative", "- ", ""},     {"positive", "+ ", ""},
        {"~", "~", ""},      {"isnull", "", " IS NULL"}, {"isnotnull", "", " IS NOT NULL"},
    };
    const char *infix = infix_of(x);

    if (infix) {
        append(out, "(");
        mr_ast_print(x->args[0], out);
        mr_buffer_append_format(out, " %s ", infix);
        mr_ast_print(x->args[1], out);
        append(out, ")");
        return;
    }
    for (uint32_t i = 0; x->args_n == 1 && i < sizeof unaries / sizeof unaries[0]; i++) {
        if (strcmp(x->name, unaries[i][0]) == 0) {
            print_unary(x, unaries[i][1], unaries[i][2], out);
            return;
        }
    }
    if (strcmp(x->name, "case") == 0 && x->args_n >= 2)
        print_case(x, out);
    else if (strcmp(x->name, "in") == 0 && x->args_n >= 2)
        print_in(x, out);
    else
        print_plain_call(x, out);
}

/* A subquery is shown where the tree is printed; here only its kind. */
static void print_subquery(const struct mr_ast *x, struct mr_buffer *out)
{
    if (x->kind == MR_AST_IN_QUERY) {
        append(out, "(");
        mr_ast_print(x->args[0], out);
        append(out, " IN (subquery))");
    } else {
        append(out, x->kind == MR_AST_EXISTS ? "EXISTS (subquery)" : "(subquery)");
    }
}

static void print_star(const struct mr_ast *x, struct mr_buffer *out)
{
    print_path(x->parts, x->parts_n, out);
    append(out, x->parts_n ? ".*" : "*");
    if (x->except_n) {
        append(out, " EXCEPT (");
        mr_print_expressions(x->except, x->except_n, out);
        append(out, ")");
    }
}

static void print_postfix(const struct mr_ast *x, struct mr_buffer *out)
{
    append(out, "(");
    mr_ast_print(x->args[0], out);
    append(out, ")");
    if (x->kind == MR_AST_ITEM) {
        append(out, "[");
        mr_ast_print(x->args[1], out);
        append(out, "]");
    } else {
        append(out, ".");
        mr_print_name(x->name, out);
    }
}

static void print_cast(const struct mr_ast *x, struct mr_buffer *out)
{
    append(out, x->is_try ? "TRY_CAST(" : "CAST(");
    mr_ast_print(x->args[0], out);
    append(out, " AS ");
    mr_type_print_sql(x->type, out);
    append(out, ")");
}

static void print_alias(const struct mr_ast *x, struct mr_buffer *out)
{
    mr_ast_print(x->args[0], out);
    append(out, x->parts_n == 1 ? " AS " : " AS (");
    mr_print_names(x->parts, x->parts_n, ", ", out);
    if (x->parts_n != 1)
        append(out, ")");
}

static void print_order(const struct mr_ast *x, struct mr_buffer *out)
{
    mr_ast_print(x->args[0], out);
    append(out, x->descending ? " DESC" : " ASC");
    append(out, x->nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

static void print_parameter(const struct mr_ast *x, struct mr_buffer *out)
{
    mr_print_name(x->name, out);
    append(out, " => ");
    mr_ast_print(x->args[0], out);
}

void mr_ast_print(const struct mr_ast *x, struct mr_buffer *out)
{
    switch (x->kind) {
    case MR_AST_LITERAL:
        append(out, x->name);
        break;
    case MR_AST_NAME:
        print_path(x->parts, x->parts_n, out);
        break;
    case MR_AST_STAR:
        print_star(x, out);
        break;
    case MR_AST_CALL:
        print_call(x, out);
        break;
    case MR_AST_CAST:
        print_cast(x, out);
        break;
    case MR_AST_FIELD:
    case MR_AST_ITEM:
        print_postfix(x, out);
        break;
    case MR_AST_LAMBDA:
        append(out, "(");
        print_lambda(x, out);
        append(out, ")");
        break;
    case MR_AST_ALIAS:
        print_alias(x, out);
        break;
    case MR_AST_SUBQUERY:
    case MR_AST_EXISTS:
    case MR_AST_IN_QUERY:
        print_subquery(x, out);
        break;
    case MR_AST_ORDER:
        print_order(x, out);
        break;
    case MR_AST_PARAMETER:
        print_parameter(x, out);
        break;
    }
}
