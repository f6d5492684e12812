/* relation.c - what stands in FROM. Joins and commas are taken from left to right, as Spark does.
 */
#include "core/format/format.h"
#include "core/sql/parse.h"

static struct mr_relation *on_top(struct mr_parser *p, enum mr_relation_kind kind,
                                  struct mr_place place, struct mr_relation *input)
{
    struct mr_relation *r = mr_parse_relation_node(p, kind, place);

    r->input = input;
    return r;
}

static const char **one_name(struct mr_parser *p, const char *name)
{
    const char **names = MR_NEW_ARRAY(p->arena, const char *, 1);

    names[0] = name;
    return names;
}

/* [[AS] name [(columns)]] */
static struct mr_relation *parse_table_alias(struct mr_parser *p, struct mr_relation *input)
{
    struct mr_name_list columns = {0};

    if (!mr_parse_take_word(p, "AS") && !mr_parse_is_implicit_alias(p, true))
        return input;
    struct mr_relation *r = on_top(p, MR_REL_ALIAS, input->place, input);
    r->name = one_name(p, mr_parse_strict_name(p));
    r->name_n = 1;
    if (mr_parse_is_symbol(p, 0, "("))
        mr_parse_names_in_parentheses(p, &columns);
    r->columns = columns.items;
    r->columns_n = columns.n;
    return mr_parse_relation_finish(p, r);
}

/* TABLESAMPLE (n PERCENT | n ROWS | BUCKET x OUT OF y) [REPEATABLE (seed)] */
static struct mr_relation *parse_sample(struct mr_parser *p, struct mr_relation *input)
{
    struct mr_place place = mr_parse_place(p);
    struct mr_ast_list exprs = {0};
    const char *method = "percent";

    if (!mr_parse_is_symbol(p, 1, "(") || !mr_parse_take_word(p, "TABLESAMPLE"))
        return input;
    mr_parse_expect_symbol(p, "(");
    if (mr_parse_take_word(p, "BUCKET")) {
        method = "bucket";
        mr_ast_list_push(p, &exprs, mr_parse_value(p));
        mr_parse_expect_word(p, "OUT");
        mr_parse_expect_word(p, "OF");
        mr_ast_list_push(p, &exprs, mr_parse_value(p));
    } else {
        mr_ast_list_push(p, &exprs, mr_parse_value(p));
        if (mr_parse_take_word(p, "ROWS"))
            method = "rows";
        else
            mr_parse_expect_word(p, "PERCENT");
    }
    mr_parse_expect_symbol(p, ")");
    if (mr_parse_take_word(p, "REPEATABLE")) {
        mr_parse_expect_symbol(p, "(");
        mr_ast_list_push(p, &exprs, mr_parse_value(p));
        mr_parse_expect_symbol(p, ")");
    }
    struct mr_relation *r = on_top(p, MR_REL_SAMPLE, place, input);
    r->name = one_name(p, method);
    r->name_n = 1;
    r->exprs = exprs.items;
    r->exprs_n = exprs.n;
    return mr_parse_relation_finish(p, r);
}

/* WATERMARK is an alias unless DELAY OF follows behind an expression. */
static bool is_watermark(const struct mr_parser *p)
{
    if (!mr_parse_is_word(p, 0, "WATERMARK"))
        return false;
    uint32_t open = 0;
    for (uint32_t ahead = 1; mr_parse_peek(p, ahead)->kind != MR_TOKEN_END; ahead++) {
        if (open == 0 && mr_parse_is_word(p, ahead, "DELAY") &&
            mr_parse_is_word(p, ahead + 1, "OF"))
            return ahead > 1;
        if (open == 0 && (mr_parse_is_symbol(p, ahead, ",") || mr_parse_is_symbol(p, ahead, ")")))
            return false;
        if (mr_parse_is_symbol(p, ahead, "("))
            open++;
        else if (mr_parse_is_symbol(p, ahead, ")"))
            open--;
    }
    return false;
}

/* WATERMARK expression [AS name] DELAY OF INTERVAL .. */
static struct mr_relation *parse_watermark(struct mr_parser *p, struct mr_relation *input)
{
    if (!is_watermark(p))
        return input;
    struct mr_relation *r = on_top(p, MR_REL_WITH_WATERMARK, mr_parse_place(p), input);
    mr_parse_take_word(p, "WATERMARK");
    const struct mr_token *at = mr_parse_peek(p, 0);
    r->watermark = mr_parse_named_expression(p);
    if (r->watermark->kind != MR_AST_NAME && r->watermark->kind != MR_AST_ALIAS)
        mr_parse_fail_with(p, at, "REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE",
                           "The watermark clause requires an explicit name if an expression is "
                           "given: WATERMARK expression AS name DELAY OF ..");
    mr_parse_expect_word(p, "DELAY");
    mr_parse_expect_word(p, "OF");
    if (mr_parse_is_interval(p))
        r->delay = mr_parse_delay_text(p, mr_parse_interval(p));
    else if (mr_parse_is_word(p, 0, "INTERVAL") && mr_parse_peek(p, 1)->kind == MR_TOKEN_STRING)
        r->delay = mr_parse_delay_text(p, mr_parse_typed_literal(p));
    else
        mr_parse_fail(p, "INTERVAL and a value with its unit");
    return mr_parse_relation_finish(p, r);
}

static const char *option_value(struct mr_parser *p)
{
    const struct mr_token *t = mr_parse_peek(p, 0);

    if (t->kind == MR_TOKEN_STRING) {
        struct mr_text text = mr_sql_unquote_string(mr_parse_next(p)->text, p->arena);
        return mr_arena_copy(p->arena, text.data, text.n);
    }
    bool is_value = t->kind == MR_TOKEN_INTEGER || t->kind == MR_TOKEN_DECIMAL ||
                    mr_parse_is_word(p, 0, "TRUE") || mr_parse_is_word(p, 0, "FALSE");
    if (!is_value) {
        mr_parse_fail(p, "a text, a number, TRUE or FALSE");
        return "";
    }
    return mr_parse_token_text(p, mr_parse_next(p));
}

static const char *option_name(struct mr_parser *p)
{
    if (mr_parse_peek(p, 0)->kind == MR_TOKEN_STRING)
        return option_value(p);
    const char *name = mr_parse_name(p);
    while (mr_parse_take_symbol(p, "."))
        name = mr_arena_format(p->arena, "%s.%s", name, mr_parse_name(p));
    return name;
}

/* WITH ('name' = 'value', ..) */
static void parse_options(struct mr_parser *p, struct mr_relation *r)
{
    uint32_t n = 0, capacity = 0;
    struct mr_option *options = NULL;

    if (!mr_parse_is_symbol(p, 1, "(") || !mr_parse_take_word(p, "WITH"))
        return;
    mr_parse_expect_symbol(p, "(");
    do {
        if (n == capacity) {
            capacity = capacity ? capacity * 2 : 4;
            struct mr_option *more = MR_NEW_ARRAY(p->arena, struct mr_option, capacity);
            if (n)
                memcpy(more, options, sizeof *options * n);
            options = more;
        }
        options[n].name = option_name(p);
        mr_parse_take_symbol(p, "=");
        options[n].value = option_value(p);
        n++;
    } while (mr_parse_take_symbol(p, ","));
    mr_parse_expect_symbol(p, ")");
    r->options = options;
    r->options_n = n;
}

struct mr_relation *mr_parse_read(struct mr_parser *p)
{
    struct mr_relation *r = mr_parse_relation_node(p, MR_REL_READ, mr_parse_place(p));
    struct mr_name_list parts = {0};

    do {
        mr_name_list_push(p, &parts, mr_parse_strict_name(p));
    } while (mr_parse_take_symbol(p, "."));
    r->name = parts.items;
    r->name_n = parts.n;
    return mr_parse_relation_finish(p, r);
}

static struct mr_relation *parse_stream(struct mr_parser *p)
{
    mr_parse_take_word(p, "STREAM");
    bool parentheses = mr_parse_take_symbol(p, "(");
    struct mr_relation *r = mr_parse_read(p);
    r->streaming = true;
    parse_options(p, r);
    if (parentheses)
        mr_parse_expect_symbol(p, ")");
    return r;
}

static struct mr_relation *parse_table_function(struct mr_parser *p)
{
    struct mr_relation *r = mr_parse_relation_node(p, MR_REL_TABLE_FUNCTION, mr_parse_place(p));
    struct mr_ast *call = mr_parse_expression(p);

    if (call->kind != MR_AST_CALL) {
        mr_parse_fail(p, "a table function");
        return mr_parse_relation_finish(p, r);
    }
    r->name = one_name(p, call->name);
    r->name_n = 1;
    r->exprs = call->args;
    r->exprs_n = call->args_n;
    return parse_table_alias(p, mr_parse_relation_finish(p, r));
}

/* expression, ..: a row constructor is a row of several values. */
struct mr_relation *mr_parse_inline_table(struct mr_parser *p)
{
    struct mr_relation *r = mr_parse_relation_node(p, MR_REL_LOCAL, mr_parse_place(p));
    struct mr_ast_list values = {0};
    uint32_t width = 0;

    do {
        const struct mr_token *at = mr_parse_peek(p, 0);
        struct mr_ast *x = mr_parse_expression(p);
        bool is_row = x->kind == MR_AST_CALL && strcmp(x->name, "struct") == 0;
        uint32_t n = is_row ? x->args_n : 1;
        if (r->rows_n++ == 0)
            width = n;
        if (n != width)
            mr_parse_fail_with(p, at, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
                               "Invalid inline table. Inline table expected %u columns but found "
                               "%u columns in row %u.",
                               width, n, r->rows_n - 1);
        for (uint32_t i = 0; i < n; i++)
            mr_ast_list_push(p, &values, is_row ? x->args[i] : x);
    } while (mr_parse_take_symbol(p, ","));
    r->exprs = values.items;
    r->exprs_n = values.n;
    return parse_table_alias(p, mr_parse_relation_finish(p, r));
}

static struct mr_relation *parse_relation(struct mr_parser *p, struct mr_relation *left);

static struct mr_relation *parse_primary(struct mr_parser *p)
{
    struct mr_relation *r;

    if (mr_parse_is_symbol(p, 0, "(")) {
        if (!mr_parse_enter(p))
            return mr_parse_relation_finish(
                p, mr_parse_relation_node(p, MR_REL_ONE_ROW, mr_parse_place(p)));
        if (mr_parse_is_query_in_parentheses(p)) {
            r = mr_parse_query_in_parentheses(p);
        } else {
            mr_parse_expect_symbol(p, "(");
            r = parse_relation(p, NULL);
            mr_parse_expect_symbol(p, ")");
        }
        mr_parse_leave(p);
    } else if (mr_parse_is_word(p, 0, "VALUES") && !mr_parse_is_symbol(p, 1, ".") &&
               mr_parse_take_word(p, "VALUES")) {
        return mr_parse_inline_table(p);
    } else if (mr_parse_is_word(p, 0, "STREAM") &&
               (mr_parse_is_symbol(p, 1, "(") ||
                (mr_parse_is_name(p, 1) && !mr_parse_is_word(p, 1, "AS")))) {
        r = parse_stream(p);
    } else if (mr_parse_is_name(p, 0) && mr_parse_is_symbol(p, 1, "(")) {
        return parse_table_function(p);
    } else {
        r = mr_parse_read(p);
        parse_options(p, r);
    }
    return parse_table_alias(p, parse_watermark(p, parse_sample(p, r)));
}

/* PIVOT (aggregates FOR columns IN (values)) */
static struct mr_relation *parse_pivot(struct mr_parser *p, struct mr_relation *input)
{
    struct mr_relation *r = on_top(p, MR_REL_PIVOT, mr_parse_place(p), input);
    struct mr_ast_list aggregates = {0}, values = {0};
    struct mr_name_list columns = {0};

    mr_parse_take_word(p, "PIVOT");
    mr_parse_expect_symbol(p, "(");
    mr_parse_named_expressions(p, &aggregates);
    mr_parse_expect_word(p, "FOR");
    if (mr_parse_is_symbol(p, 0, "("))
        mr_parse_names_in_parentheses(p, &columns);
    else
        mr_name_list_push(p, &columns, mr_parse_strict_name(p));
    mr_parse_expect_word(p, "IN");
    mr_parse_expect_symbol(p, "(");
    mr_parse_named_expressions(p, &values);
    mr_parse_expect_symbol(p, ")");
    mr_parse_expect_symbol(p, ")");
    r->exprs = aggregates.items;
    r->exprs_n = aggregates.n;
    r->columns = columns.items;
    r->columns_n = columns.n;
    r->groups = values.items;
    r->groups_n = values.n;
    return parse_table_alias(p, mr_parse_relation_finish(p, r));
}

struct join {
    enum mr_join_kind kind;
    bool natural;
};

static bool take_join_kind(struct mr_parser *p, struct join *join)
{
    join->natural = mr_parse_is_word(p, 0, "NATURAL");
    uint32_t at = join->natural;
    bool left = mr_parse_is_word(p, at, "LEFT"), right = mr_parse_is_word(p, at, "RIGHT"),
         full = mr_parse_is_word(p, at, "FULL");
    uint32_t words = at;

    join->kind = left ? MR_JOIN_LEFT : right ? MR_JOIN_RIGHT : full ? MR_JOIN_FULL : MR_JOIN_INNER;
    words += left || right || full;
    if ((left || words == at) && mr_parse_is_word(p, words, "SEMI")) {
        join->kind = MR_JOIN_SEMI;
        words++;
    } else if ((left || words == at) && mr_parse_is_word(p, words, "ANTI")) {
        join->kind = MR_JOIN_ANTI;
        words++;
    } else if (words > at) {
        words += mr_parse_is_word(p, words, "OUTER");
    } else if (mr_parse_is_word(p, words, "CROSS")) {
        join->kind = MR_JOIN_CROSS;
        words++;
    } else if (mr_parse_is_word(p, words, "INNER")) {
        words++;
    }
    if (!mr_parse_is_word(p, words, "JOIN"))
        return false;
    for (uint32_t i = 0; i < words; i++)
        mr_parse_next(p);
    return mr_parse_take_word(p, "JOIN");
}

static void check_lateral(struct mr_parser *p, const struct mr_token *at,
                          const struct mr_relation *join)
{
    const struct mr_relation *right = join->right;

    while (right->kind == MR_REL_ALIAS || right->kind == MR_REL_WITH_WATERMARK)
        right = right->input;
    if (right->kind == MR_REL_READ || right->kind == MR_REL_LOCAL)
        mr_parse_fail_with(p, at,
                           "INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC",
                           "Invalid SQL syntax: LATERAL can only be used with subquery and "
                           "table-valued functions.");
    if (join->natural)
        mr_parse_fail_with(p, at, "UNSUPPORTED_FEATURE.LATERAL_NATURAL_JOIN",
                           "The feature is not supported: NATURAL join with LATERAL correlation.");
    if (join->columns_n)
        mr_parse_fail_with(p, at, "UNSUPPORTED_FEATURE.LATERAL_JOIN_USING",
                           "The feature is not supported: JOIN USING with LATERAL correlation.");
    if (join->join_kind != MR_JOIN_INNER && join->join_kind != MR_JOIN_CROSS &&
        join->join_kind != MR_JOIN_LEFT)
        mr_parse_fail_with(p, at, "INVALID_LATERAL_JOIN_TYPE",
                           "The join with LATERAL correlation is not allowed because an outer "
                           "subquery cannot correlate to its join partner. Remove the LATERAL "
                           "correlation or use an INNER JOIN, or LEFT OUTER JOIN instead.");
}

static struct mr_relation *parse_join(struct mr_parser *p, struct mr_relation *left,
                                      const struct join *kind)
{
    struct mr_relation *r = on_top(p, MR_REL_JOIN, left->place, left);
    struct mr_name_list columns = {0};
    const struct mr_token *at = mr_parse_peek(p, 0);

    r->join_kind = kind->kind;
    r->natural = kind->natural;
    r->lateral = mr_parse_take_word(p, "LATERAL");
    r->right = parse_primary(p);
    if (r->natural && r->join_kind == MR_JOIN_CROSS)
        mr_parse_fail_with(p, at, "INCOMPATIBLE_JOIN_TYPES",
                           "The join types \"NATURAL\" and \"CROSS\" are incompatible.");
    if (!r->natural) {
        if (mr_parse_take_word(p, "ON"))
            r->condition = mr_parse_expression(p);
        else if (mr_parse_is_symbol(p, 1, "(") && mr_parse_take_word(p, "USING"))
            mr_parse_names_in_parentheses(p, &columns);
    }
    r->columns = columns.items;
    r->columns_n = columns.n;
    if (r->lateral)
        check_lateral(p, at, r);
    return mr_parse_relation_finish(p, r);
}

/* One item of FROM with its joins, joined to what stands left of the comma. */
static struct mr_relation *parse_relation(struct mr_parser *p, struct mr_relation *left)
{
    struct mr_relation *r;
    struct join join;

    if (left) {
        r = on_top(p, MR_REL_JOIN, left->place, left);
        const struct mr_token *at = mr_parse_peek(p, 0);
        r->join_kind = MR_JOIN_INNER;
        r->lateral = mr_parse_take_word(p, "LATERAL");
        r->right = parse_primary(p);
        if (r->lateral)
            check_lateral(p, at, r);
        mr_parse_relation_finish(p, r);
    } else {
        mr_parse_take_word(p, "LATERAL");
        r = parse_primary(p);
    }
    for (;;) {
        if (take_join_kind(p, &join))
            r = parse_join(p, r, &join);
        else if (mr_parse_is_word(p, 0, "PIVOT") && mr_parse_is_symbol(p, 1, "("))
            r = parse_pivot(p, r);
        else
            return r;
    }
}

struct mr_relation *mr_parse_lateral_views(struct mr_parser *p, struct mr_relation *input)
{
    while (mr_parse_is_word(p, 0, "LATERAL") && mr_parse_is_word(p, 1, "VIEW")) {
        struct mr_relation *r = on_top(p, MR_REL_GENERATE, mr_parse_place(p), input);
        struct mr_name_list columns = {0};
        mr_parse_take_words(p, "LATERAL", "VIEW");
        r->outer = mr_parse_take_word(p, "OUTER");
        r->condition = mr_parse_expression(p);
        if (r->condition->kind != MR_AST_CALL)
            mr_parse_fail(p, "a generator call, as in LATERAL VIEW explode(x) t AS y");
        r->name = one_name(p, mr_parse_name(p));
        r->name_n = 1;
        if (mr_parse_take_word(p, "AS") || mr_parse_is_implicit_alias(p, true)) {
            do {
                mr_name_list_push(p, &columns, mr_parse_name(p));
            } while (mr_parse_take_symbol(p, ","));
        }
        r->columns = columns.items;
        r->columns_n = columns.n;
        input = mr_parse_relation_finish(p, r);
    }
    return input;
}

struct mr_relation *mr_parse_from(struct mr_parser *p)
{
    struct mr_relation *r = NULL;

    do {
        r = parse_relation(p, r);
    } while (mr_parse_take_symbol(p, ","));
    return mr_parse_lateral_views(p, r);
}
