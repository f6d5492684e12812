/* expression.c - precedence, from weak to strong: OR, AND, NOT, predicates (IS, IN, LIKE, BETWEEN),
 * comparison, |, ^, &, shifts, + - ||, * / % DIV, unary, then postfix: :: [] and fields. */
#include "core/base/bounds.h"
#include "core/format/ddl.h"
#include "core/sql/parse.h"

static struct mr_ast *parse_unary(struct mr_parser *p);

/* Binary operators by strength; words have a letter first. */
static const struct binary {
    const char *symbol, *function;
    uint32_t strength;
} binaries[] = {
    {"*", "*", 7},           {"/", "/", 7},
    {"%", "%", 7},           {"DIV", "div", 7},
    {"+", "+", 6},           {"-", "-", 6},
    {"||", "concat", 6},     {"<<", "shiftleft", 5},
    {">>", "shiftright", 5}, {">>>", "shiftrightunsigned", 5},
    {"&", "&", 4},           {"^", "^", 3},
    {"|", "|", 2},           {"=", "=", 1},
    {"==", "=", 1},          {"<>", NULL, 1},
    {"!=", NULL, 1},         {"<", "<", 1},
    {"<=", "<=", 1},         {">", ">", 1},
    {">=", ">=", 1},         {"<=>", "<=>", 1},
};

static const struct binary *take_binary(struct mr_parser *p, uint32_t strength_min)
{
    for (uint32_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        const struct binary *b = &binaries[i];
        if (b->strength < strength_min)
            continue;
        if (b->symbol[0] == 'D' ? mr_parse_take_word(p, b->symbol)
                                : mr_parse_take_symbol(p, b->symbol))
            return b;
    }
    return NULL;
}

static struct mr_ast *parse_binary(struct mr_parser *p, uint32_t strength_min)
{
    struct mr_ast *left = parse_unary(p);
    const struct binary *b;

    while ((b = take_binary(p, strength_min)) != NULL) {
        struct mr_ast *right = parse_binary(p, b->strength + 1);
        struct mr_place place = left->place;
        left = mr_parse_call_2(p, place, b->function ? b->function : "=", left, right);
        if (b->function == NULL)
            left = mr_parse_call_1(p, place, "not", left);
    }
    return left;
}

struct mr_ast *mr_parse_value(struct mr_parser *p)
{
    if (!mr_parse_enter(p))
        return mr_parse_literal_null(p, mr_parse_place(p));
    struct mr_ast *x = parse_binary(p, 1);
    mr_parse_leave(p);
    return x;
}

static struct mr_ast *parse_in(struct mr_parser *p, struct mr_ast *x)
{
    struct mr_ast_list args = {0};

    mr_ast_list_push(p, &args, x);
    if (mr_parse_is_query_in_parentheses(p)) {
        struct mr_ast *in = mr_parse_node(p, MR_AST_IN_QUERY, x->place);
        in->relation = mr_parse_query_in_parentheses(p);
        in->args = args.items;
        in->args_n = 1;
        return mr_parse_finish(p, in);
    }
    mr_parse_expect_symbol(p, "(");
    if (mr_parse_is_symbol(p, 0, ")"))
        mr_parse_fail_with(p, mr_parse_peek(p, 0), "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE",
                           "Invalid SQL syntax: IN predicate requires at least one value.");
    mr_parse_expressions(p, &args);
    mr_parse_expect_symbol(p, ")");
    return mr_parse_call_node(p, x->place, "in", args.items, args.n);
}

/* LIKE ANY (..): one comparison per pattern, each with its own NOT. */
static struct mr_ast *parse_like_quantified(struct mr_parser *p, struct mr_ast *x, const char *name,
                                            bool negated, bool all)
{
    struct mr_ast_list patterns = {0};

    mr_parse_expect_symbol(p, "(");
    if (mr_parse_is_symbol(p, 0, ")"))
        mr_parse_fail_with(p, mr_parse_peek(p, 0), "_LEGACY_ERROR_TEMP_0064",
                           "Expected something between '(' and ')'.");
    mr_parse_expressions(p, &patterns);
    mr_parse_expect_symbol(p, ")");
    for (uint32_t i = 0; i < patterns.n; i++) {
        struct mr_ast *like = mr_parse_call_2(p, x->place, name, x, patterns.items[i]);
        patterns.items[i] = negated ? mr_parse_call_1(p, x->place, "not", like) : like;
    }
    return mr_parse_join_balanced(p, all ? "and" : "or", patterns.items, patterns.n);
}

static struct mr_ast *parse_like(struct mr_parser *p, struct mr_ast *x, const char *name,
                                 bool negated)
{
    struct mr_ast_list args = {0};
    bool all = mr_parse_is_word(p, 0, "ALL") && mr_parse_is_symbol(p, 1, "(");
    bool any = (mr_parse_is_word(p, 0, "ANY") || mr_parse_is_word(p, 0, "SOME")) &&
               mr_parse_is_symbol(p, 1, "(");

    if (all || any) {
        mr_parse_next(p);
        return parse_like_quantified(p, x, name, negated, all);
    }
    mr_ast_list_push(p, &args, x);
    mr_ast_list_push(p, &args, mr_parse_value(p));
    if (mr_parse_take_word(p, "ESCAPE")) {
        const struct mr_token *t = mr_parse_peek(p, 0);
        if (t->kind != MR_TOKEN_STRING) {
            mr_parse_fail(p, "a text of one character");
        } else {
            struct mr_ast *escape = mr_parse_strings(p);
            if (mr_column_text(escape->literal, 0).n != 1)
                mr_parse_fail_with(p, t, "INVALID_ESC",
                                   "Found an invalid escape string: %s. The escape string must "
                                   "contain only one character.",
                                   escape->name);
            mr_ast_list_push(p, &args, escape);
        }
    }
    struct mr_ast *like = mr_parse_call_node(p, x->place, name, args.items, args.n);
    return negated ? mr_parse_call_1(p, x->place, "not", like) : like;
}

static struct mr_ast *parse_between(struct mr_parser *p, struct mr_ast *x)
{
    struct mr_ast_list args = {0};

    mr_ast_list_push(p, &args, x);
    mr_ast_list_push(p, &args, mr_parse_value(p));
    mr_parse_expect_word(p, "AND");
    mr_ast_list_push(p, &args, mr_parse_value(p));
    return mr_parse_call_node(p, x->place, "between", args.items, args.n);
}

static struct mr_ast *parse_is(struct mr_parser *p, struct mr_ast *x)
{
    struct mr_place place = x->place;
    bool negated = mr_parse_take_word(p, "NOT") || mr_parse_take_symbol(p, "!");

    if (mr_parse_take_word(p, "NULL"))
        return mr_parse_call_1(p, place, negated ? "isnotnull" : "isnull", x);
    if (mr_parse_take_word(p, "UNKNOWN"))
        return mr_parse_call_1(p, place, negated ? "isnotnull" : "isnull", x);
    struct mr_ast *same;
    if (mr_parse_take_words(p, "DISTINCT", "FROM")) {
        same = mr_parse_call_2(p, place, "<=>", x, mr_parse_value(p));
        negated = !negated;
    } else {
        bool value = mr_parse_take_word(p, "TRUE");
        if (!value && !mr_parse_take_word(p, "FALSE"))
            mr_parse_fail(p, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
        same = mr_parse_call_2(p, place, "<=>", x, mr_parse_literal_boolean(p, place, value));
    }
    return negated ? mr_parse_call_1(p, place, "not", same) : same;
}

static struct mr_ast *parse_predicate(struct mr_parser *p)
{
    static const char *const kinds[] = {"BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP", NULL};
    struct mr_ast *x = parse_binary(p, 1), *y = x;
    bool negated = false;

    if (mr_parse_take_word(p, "IS"))
        return parse_is(p, x);
    if ((mr_parse_is_word(p, 0, "NOT") || mr_parse_is_symbol(p, 0, "!")) &&
        mr_parse_is_word_in(p, 1, kinds)) {
        mr_parse_next(p);
        negated = true;
    }
    if (mr_parse_take_word(p, "LIKE"))
        return parse_like(p, x, "like", negated);
    if (mr_parse_take_word(p, "ILIKE"))
        return parse_like(p, x, "ilike", negated);
    if (mr_parse_take_word(p, "BETWEEN"))
        y = parse_between(p, x);
    else if (mr_parse_is_symbol(p, 1, "(") && mr_parse_take_word(p, "IN"))
        y = parse_in(p, x);
    else if (mr_parse_take_word(p, "RLIKE") || mr_parse_take_word(p, "REGEXP"))
        y = mr_parse_call_2(p, x->place, "rlike", x, mr_parse_value(p));
    else if (negated)
        mr_parse_fail(p, "BETWEEN, IN, LIKE or RLIKE");
    return negated ? mr_parse_call_1(p, x->place, "not", y) : y;
}

static struct mr_ast *parse_not(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    bool negated = mr_parse_is_symbol(p, 0, "!") || mr_parse_is_word(p, 0, "NOT");

    if (!negated)
        return parse_predicate(p);
    if (!mr_parse_take_symbol(p, "!"))
        mr_parse_take_word(p, "NOT");
    if (!mr_parse_enter(p))
        return mr_parse_literal_null(p, place);
    struct mr_ast *x = mr_parse_call_1(p, place, "not", parse_not(p));
    mr_parse_leave(p);
    return x;
}

static struct mr_ast *parse_and(struct mr_parser *p)
{
    struct mr_ast_list operands = {0};

    do {
        mr_ast_list_push(p, &operands, parse_not(p));
    } while (mr_parse_take_word(p, "AND"));
    return mr_parse_join_balanced(p, "and", operands.items, operands.n);
}

struct mr_ast *mr_parse_expression(struct mr_parser *p)
{
    struct mr_ast_list operands = {0};

    if (!mr_parse_enter(p))
        return mr_parse_literal_null(p, mr_parse_place(p));
    do {
        mr_ast_list_push(p, &operands, parse_and(p));
    } while (mr_parse_take_word(p, "OR"));
    mr_parse_leave(p);
    return mr_parse_join_balanced(p, "or", operands.items, operands.n);
}

void mr_parse_expressions(struct mr_parser *p, struct mr_ast_list *out)
{
    do {
        mr_ast_list_push(p, out, mr_parse_expression(p));
    } while (mr_parse_take_symbol(p, ","));
}

struct mr_ast *mr_parse_named_expression(struct mr_parser *p)
{
    struct mr_ast *x = mr_parse_expression(p);
    struct mr_name_list names = {0};

    bool is_explicit = mr_parse_take_word(p, "AS");
    if (mr_parse_is_symbol(p, 0, "("))
        mr_parse_names_in_parentheses(p, &names);
    else if (is_explicit || mr_parse_is_implicit_alias(p, false))
        mr_name_list_push(p, &names, mr_parse_strict_name(p));
    return names.n ? mr_parse_alias_node(p, x, &names) : x;
}

void mr_parse_named_expressions(struct mr_parser *p, struct mr_ast_list *out)
{
    do {
        mr_ast_list_push(p, out, mr_parse_named_expression(p));
    } while (mr_parse_take_symbol(p, ","));
}

void mr_parse_sort_items(struct mr_parser *p, struct mr_ast_list *out)
{
    do {
        struct mr_place place = mr_parse_place(p);
        struct mr_ast *order = mr_parse_node(p, MR_AST_ORDER, place);
        order->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
        order->args[0] = mr_parse_expression(p);
        order->args_n = 1;
        if (!mr_parse_take_word(p, "ASC"))
            order->descending = mr_parse_take_word(p, "DESC");
        order->nulls_first = !order->descending;
        if (mr_parse_take_word(p, "NULLS")) {
            order->nulls_first = mr_parse_take_word(p, "FIRST");
            if (!order->nulls_first)
                mr_parse_expect_word(p, "LAST");
        }
        mr_ast_list_push(p, out, mr_parse_finish(p, order));
    } while (mr_parse_take_symbol(p, ","));
}

/* Types are parsed from the text itself: ">>" ends two of them. What is left of a token becomes
 * one. */
const struct mr_type *mr_parse_type(struct mr_parser *p)
{
    const struct mr_token *first = mr_parse_peek(p, 0);
    struct mr_text rest = {p->sql.data + first->offset, p->sql.n - first->offset};
    const struct mr_type *type = &mr_type_string;
    struct mr_error err = {0};
    uint64_t used = 0;

    if (p->failed)
        return type;
    if (!mr_parse_is_name(p, 0)) {
        mr_parse_fail(p, "a type");
        return type;
    }
    if (mr_ddl_parse_type(rest, p->arena, &type, &used, &err)) {
        mr_parse_fail_with(p, first, err.condition[0] ? err.condition : "PARSE_SYNTAX_ERROR", "%s",
                           err.message);
        return &mr_type_string;
    }
    while (mr_parse_peek(p, 0)->kind != MR_TOKEN_END) {
        struct mr_token *t = &p->tokens[p->at];
        uint64_t end = first->offset + used;
        if (t->offset >= end)
            break;
        if (t->offset + t->text.n > end) {
            uint64_t cut = end - t->offset;
            t->offset = end;
            t->column += (uint32_t)cut;
            t->text.data += cut;
            t->text.n -= cut;
            break;
        }
        p->at++;
    }
    return type;
}

static struct mr_ast *parse_cast(struct mr_parser *p, bool is_try)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_CAST, mr_parse_place(p));

    mr_parse_next(p);
    mr_parse_expect_symbol(p, "(");
    x->is_try = is_try;
    x->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
    x->args[0] = mr_parse_expression(p);
    x->args_n = 1;
    mr_parse_expect_word(p, "AS");
    x->type = mr_parse_type(p);
    mr_parse_expect_symbol(p, ")");
    return mr_parse_finish(p, x);
}

static struct mr_ast *parse_case(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    struct mr_ast_list args = {0};
    struct mr_ast *value = NULL;

    mr_parse_take_word(p, "CASE");
    if (!mr_parse_is_word(p, 0, "WHEN"))
        value = mr_parse_expression(p);
    mr_parse_expect_word(p, "WHEN");
    do {
        struct mr_ast *when = mr_parse_expression(p);
        if (value)
            when = mr_parse_call_2(p, when->place, "=", value, when);
        mr_parse_expect_word(p, "THEN");
        mr_ast_list_push(p, &args, when);
        mr_ast_list_push(p, &args, mr_parse_expression(p));
    } while (mr_parse_take_word(p, "WHEN"));
    if (mr_parse_take_word(p, "ELSE"))
        mr_ast_list_push(p, &args, mr_parse_expression(p));
    mr_parse_expect_word(p, "END");
    return mr_parse_call_node(p, place, "case", args.items, args.n);
}

static struct mr_ast *parse_star(struct mr_parser *p, struct mr_place place,
                                 const struct mr_name_list *qualifier)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_STAR, place);
    struct mr_ast_list except = {0};

    mr_parse_expect_symbol(p, "*");
    x->parts = qualifier->items;
    x->parts_n = qualifier->n;
    if (mr_parse_is_word(p, 0, "EXCEPT") && mr_parse_is_symbol(p, 1, "(") &&
        mr_parse_is_name(p, 2) && !mr_parse_is_word(p, 2, "SELECT")) {
        mr_parse_take_word(p, "EXCEPT");
        mr_parse_expect_symbol(p, "(");
        do {
            struct mr_place at = mr_parse_place(p);
            struct mr_name_list parts = {0};
            do {
                mr_name_list_push(p, &parts, mr_parse_name(p));
            } while (mr_parse_take_symbol(p, "."));
            mr_ast_list_push(p, &except, mr_parse_name_node(p, at, &parts));
        } while (mr_parse_take_symbol(p, ","));
        mr_parse_expect_symbol(p, ")");
    }
    x->except = except.items;
    x->except_n = except.n;
    return mr_parse_finish(p, x);
}

static struct mr_ast *parse_lambda(struct mr_parser *p)
{
    struct mr_ast *x = mr_parse_node(p, MR_AST_LAMBDA, mr_parse_place(p));
    struct mr_name_list parameters = {0};

    if (mr_parse_is_symbol(p, 0, "("))
        mr_parse_names_in_parentheses(p, &parameters);
    else
        mr_name_list_push(p, &parameters, mr_parse_name(p));
    mr_parse_expect_symbol(p, "->");
    x->parts = parameters.items;
    x->parts_n = parameters.n;
    x->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 1);
    x->args[0] = mr_parse_expression(p);
    x->args_n = 1;
    return mr_parse_finish(p, x);
}

/* "(x, y) ->" */
static bool is_lambda_in_parentheses(const struct mr_parser *p)
{
    uint32_t ahead = 1;

    while (mr_parse_is_name(p, ahead) && mr_parse_is_symbol(p, ahead + 1, ","))
        ahead += 2;
    return mr_parse_is_name(p, ahead) && mr_parse_is_symbol(p, ahead + 1, ")") &&
           mr_parse_is_symbol(p, ahead + 2, "->");
}

static struct mr_ast *parse_subquery(struct mr_parser *p, enum mr_ast_kind kind,
                                     struct mr_place place)
{
    struct mr_ast *x = mr_parse_node(p, kind, place);

    x->relation = mr_parse_query_in_parentheses(p);
    return mr_parse_finish(p, x);
}

static struct mr_ast *parse_parentheses(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    struct mr_ast_list items = {0};

    if (is_lambda_in_parentheses(p))
        return parse_lambda(p);
    if (mr_parse_is_query_in_parentheses(p))
        return parse_subquery(p, MR_AST_SUBQUERY, place);
    mr_parse_expect_symbol(p, "(");
    mr_parse_named_expressions(p, &items);
    mr_parse_expect_symbol(p, ")");
    if (items.n == 1) {
        if (items.items[0]->kind == MR_AST_ALIAS)
            mr_parse_fail(p, "a second item of a struct");
        return items.items[0];
    }
    return mr_parse_call_node(p, place, "struct", items.items, items.n);
}

static struct mr_ast *parse_name_or_call(struct mr_parser *p)
{
    const struct mr_token *first = mr_parse_peek(p, 0);
    struct mr_name_list parts = {0};

    do {
        if (parts.n > 0 && mr_parse_is_symbol(p, 0, "*"))
            return parse_star(p, mr_place_of(first), &parts);
        mr_name_list_push(p, &parts, mr_parse_name(p));
    } while (mr_parse_take_symbol(p, "."));
    if (mr_parse_is_symbol(p, 0, "("))
        return mr_parse_call(p, first, &parts, first->kind == MR_TOKEN_QUOTED);
    return mr_parse_name_node(p, mr_place_of(first), &parts);
}

/* Words that begin something else than a name or a call; NULL: this one does not. */
static struct mr_ast *parse_word(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    bool opens = mr_parse_is_symbol(p, 1, "(");

    if (mr_parse_is_interval(p))
        return mr_parse_interval(p);
    if (mr_parse_is_word(p, 0, "CASE") && !mr_parse_is_symbol(p, 1, "."))
        return parse_case(p);
    if (mr_parse_peek(p, 1)->kind == MR_TOKEN_STRING && !p->is_name[p->at])
        return mr_parse_typed_literal(p);
    if (opens && mr_parse_is_word(p, 0, "CAST"))
        return parse_cast(p, false);
    if (opens && mr_parse_is_word(p, 0, "TRY_CAST"))
        return parse_cast(p, true);
    if (opens || mr_parse_is_symbol(p, 1, "."))
        return NULL;
    if (mr_parse_take_word(p, "NULL"))
        return mr_parse_literal_null(p, place);
    if (mr_parse_take_word(p, "TRUE"))
        return mr_parse_literal_boolean(p, place, true);
    if (mr_parse_take_word(p, "FALSE"))
        return mr_parse_literal_boolean(p, place, false);
    return NULL;
}

static struct mr_ast *parse_primary(struct mr_parser *p)
{
    static const struct mr_name_list no_qualifier;
    const struct mr_token *t = mr_parse_peek(p, 0);

    if (mr_parse_is_symbol(p, 0, "("))
        return parse_parentheses(p);
    if (mr_parse_is_symbol(p, 0, "*"))
        return parse_star(p, mr_place_of(t), &no_qualifier);
    if (t->kind == MR_TOKEN_STRING)
        return mr_parse_strings(p);
    if (mr_parse_is_number(p, mr_parse_is_symbol(p, 0, "-")))
        return mr_parse_number(p);
    if (t->kind == MR_TOKEN_WORD) {
        if (mr_parse_is_word(p, 0, "EXISTS") && mr_parse_is_symbol(p, 1, "(")) {
            p->at++;
            bool is_query = mr_parse_is_query_in_parentheses(p);
            if (is_query)
                return parse_subquery(p, MR_AST_EXISTS, mr_place_of(t));
            p->at--;
        }
        struct mr_ast *x = parse_word(p);
        if (x)
            return x;
    }
    if (mr_parse_is_name(p, 0) && mr_parse_is_symbol(p, 1, "->"))
        return parse_lambda(p);
    if (mr_parse_is_name(p, 0))
        return parse_name_or_call(p);
    mr_parse_fail(p, "an expression");
    return mr_parse_literal_null(p, mr_place_of(t));
}

static struct mr_ast *postfix(struct mr_parser *p, enum mr_ast_kind kind, struct mr_ast *x,
                              struct mr_ast *index)
{
    struct mr_ast *y = mr_parse_node(p, kind, x->place);

    y->args = MR_NEW_ARRAY(p->arena, struct mr_ast *, 2);
    y->args[0] = x;
    y->args[1] = index;
    y->args_n = index ? 2 : 1;
    return y;
}

static struct mr_ast *parse_postfix(struct mr_parser *p)
{
    struct mr_ast *x = parse_primary(p);

    for (;;) {
        if (mr_parse_take_symbol(p, "::")) {
            x = postfix(p, MR_AST_CAST, x, NULL);
            x->type = mr_parse_type(p);
        } else if (mr_parse_take_symbol(p, "[")) {
            struct mr_ast *index = mr_parse_value(p);
            mr_parse_expect_symbol(p, "]");
            x = postfix(p, MR_AST_ITEM, x, index);
        } else if (mr_parse_take_symbol(p, ".")) {
            x = postfix(p, MR_AST_FIELD, x, NULL);
            x->name = mr_parse_name(p);
        } else if (mr_parse_take_symbol(p, ":")) {
            x = mr_parse_variant_path(p, x);
        } else {
            return x;
        }
        mr_parse_finish(p, x);
    }
}

static struct mr_ast *parse_unary(struct mr_parser *p)
{
    struct mr_place place = mr_parse_place(p);
    const char *name = mr_parse_is_symbol(p, 0, "+")                                ? "positive"
                       : mr_parse_is_symbol(p, 0, "~")                              ? "~"
                       : mr_parse_is_symbol(p, 0, "-") && !mr_parse_is_number(p, 1) ? "negative"
                                                                                    : NULL;

    if (name == NULL)
        return parse_postfix(p);
    mr_parse_next(p);
    if (!mr_parse_enter(p))
        return mr_parse_literal_null(p, place);
    struct mr_ast *x = mr_parse_call_1(p, place, name, parse_unary(p));
    mr_parse_leave(p);
    return x;
}
