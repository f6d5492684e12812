#include "core/sql/parser.h"

#include "core/base/bounds.h"
#include "core/sql/parse.h"
#include <stdarg.h>
#include <stdio.h>

enum {
    ATTEMPTS_MAX = 128,   /* readings of one text */
    TOKENS_MAX = 1 << 18, /* of all readings after the first: a long text is read less often */
    FLIPS_MAX = 3,        /* keywords read as names against the first reading */
};

bool mr_parse_is_word(const struct mr_parser *p, uint32_t ahead, const char *word)
{
    const struct mr_token *t = mr_parse_peek(p, ahead);

    return t->kind == MR_TOKEN_WORD && !p->is_name[t - p->tokens] &&
           mr_text_equal_ignoring_case(t->text, mr_text_of(word));
}

bool mr_parse_is_word_in(const struct mr_parser *p, uint32_t ahead, const char *const *words)
{
    for (uint32_t i = 0; words[i]; i++)
        if (mr_parse_is_word(p, ahead, words[i]))
            return true;
    return false;
}

bool mr_parse_is_symbol(const struct mr_parser *p, uint32_t ahead, const char *symbol)
{
    const struct mr_token *t = mr_parse_peek(p, ahead);

    return t->kind == MR_TOKEN_SYMBOL && mr_text_equal(t->text, mr_text_of(symbol));
}

bool mr_parse_is_name(const struct mr_parser *p, uint32_t ahead)
{
    const struct mr_token *t = mr_parse_peek(p, ahead);

    return t->kind == MR_TOKEN_WORD || t->kind == MR_TOKEN_QUOTED;
}

const struct mr_token *mr_parse_next(struct mr_parser *p)
{
    const struct mr_token *t = mr_parse_peek(p, 0);

    if (p->at + 1 < p->tokens_n)
        p->at++;
    return t;
}

static void note_keyword(struct mr_parser *p)
{
    if (p->keywords_n == 0 || p->keywords[p->keywords_n - 1] < p->at)
        p->keywords[p->keywords_n++] = p->at;
}

bool mr_parse_take_word(struct mr_parser *p, const char *word)
{
    if (!mr_parse_is_word(p, 0, word))
        return false;
    note_keyword(p);
    p->at++;
    return true;
}

bool mr_parse_take_words(struct mr_parser *p, const char *first, const char *second)
{
    if (!mr_parse_is_word(p, 0, first) || !mr_parse_is_word(p, 1, second))
        return false;
    mr_parse_take_word(p, first);
    return mr_parse_take_word(p, second);
}

bool mr_parse_take_symbol(struct mr_parser *p, const char *symbol)
{
    if (!mr_parse_is_symbol(p, 0, symbol))
        return false;
    p->at++;
    return true;
}

void mr_parse_expect_word(struct mr_parser *p, const char *word)
{
    if (!mr_parse_take_word(p, word))
        mr_parse_fail(p, word);
}

void mr_parse_expect_symbol(struct mr_parser *p, const char *symbol)
{
    if (!mr_parse_take_symbol(p, symbol))
        mr_parse_fail(p, mr_arena_format(p->arena, "'%s'", symbol));
}

const char *mr_parse_token_text(const struct mr_parser *p, const struct mr_token *t)
{
    if (t->kind == MR_TOKEN_QUOTED)
        return mr_sql_unquote_name(t->text, p->arena);
    return mr_arena_copy(p->arena, t->text.data, t->text.n);
}

const char *mr_parse_name(struct mr_parser *p)
{
    if (!mr_parse_is_name(p, 0)) {
        mr_parse_fail(p, "a name");
        return "";
    }
    return mr_parse_token_text(p, mr_parse_next(p));
}

const char *mr_parse_strict_name(struct mr_parser *p)
{
    const struct mr_token *first = mr_parse_peek(p, 0);
    const char *name = mr_parse_name(p);

    if (mr_parse_is_symbol(p, 0, "-") && mr_parse_is_name(p, 1)) {
        const char *rest = mr_parse_token_text(p, mr_parse_peek(p, 1));
        mr_parse_fail_with(p, first, "INVALID_IDENTIFIER",
                           "The unquoted identifier %s-%s is invalid and must be back quoted as: "
                           "`%s-%s`.",
                           name, rest, name, rest);
    }
    return name;
}

void mr_parse_names_in_parentheses(struct mr_parser *p, struct mr_name_list *out)
{
    mr_parse_expect_symbol(p, "(");
    do {
        mr_name_list_push(p, out, mr_parse_strict_name(p));
    } while (mr_parse_take_symbol(p, ","));
    mr_parse_expect_symbol(p, ")");
}

bool mr_parse_is_implicit_alias(struct mr_parser *p, bool of_table)
{
    static const char *const clauses[] = {"FROM",    "WHERE",   "GROUP",      "HAVING", "ORDER",
                                          "SORT",    "CLUSTER", "DISTRIBUTE", "WINDOW", "LIMIT",
                                          "UNION",   "OFFSET",  "INTERSECT",  "MINUS",  "EXCEPT",
                                          "LATERAL", "DELAY",   NULL};
    static const char *const joins[] = {"JOIN",  "INNER",   "CROSS",  "LEFT", "RIGHT",
                                        "FULL",  "SEMI",    "ANTI",   "ON",   "USING",
                                        "PIVOT", "NATURAL", "SELECT", NULL};

    if (!mr_parse_is_name(p, 0))
        return false;
    if (mr_parse_is_word(p, 0, "FOR") && /* PIVOT (sum(v) FOR k IN .. */
        (mr_parse_is_word(p, 2, "IN") || mr_parse_is_symbol(p, 1, "(")))
        return false;
    if (!mr_parse_is_word_in(p, 0, clauses) && !(of_table && mr_parse_is_word_in(p, 0, joins)))
        return true;
    note_keyword(p);
    return false;
}

static bool is_query_word(const struct mr_parser *p, uint32_t ahead)
{
    if (mr_parse_is_word(p, ahead, "SELECT") || mr_parse_is_word(p, ahead, "WITH") ||
        mr_parse_is_word(p, ahead, "FROM"))
        return !mr_parse_is_symbol(p, ahead + 1, ")") && !mr_parse_is_symbol(p, ahead + 1, ",");
    if (mr_parse_is_word(p, ahead, "VALUES"))
        return !mr_parse_is_symbol(p, ahead + 1, ")") && !mr_parse_is_symbol(p, ahead + 1, ".");
    return mr_parse_is_word(p, ahead, "TABLE") && mr_parse_is_name(p, ahead + 1);
}

/* ahead: behind a "("; gives where its ")" is. */
static uint32_t closing_parenthesis(const struct mr_parser *p, uint32_t ahead)
{
    for (uint32_t open = 1; mr_parse_peek(p, ahead)->kind != MR_TOKEN_END; ahead++) {
        if (mr_parse_is_symbol(p, ahead, "("))
            open++;
        else if (mr_parse_is_symbol(p, ahead, ")") && --open == 0)
            break;
    }
    return ahead;
}

/* Parentheses around a query may be those of an expression or of a join: what follows the inner one
 * tells. */
bool mr_parse_is_query_in_parentheses(const struct mr_parser *p)
{
    static const char *const continues[] = {"UNION", "EXCEPT", "MINUS",  "INTERSECT", "ORDER",
                                            "SORT",  "LIMIT",  "OFFSET", NULL};
    uint32_t opened = 0;

    while (mr_parse_is_symbol(p, opened, "("))
        opened++;
    if (opened == 0 || !is_query_word(p, opened))
        return false;
    uint32_t inner = opened;
    for (uint32_t level = opened; level > 1; level--) {
        uint32_t end = closing_parenthesis(p, inner);
        if (mr_parse_is_word_in(p, end + 1, continues))
            return true;
        if (!mr_parse_is_symbol(p, end + 1, ")"))
            return false;
        inner = end + 1;
    }
    return true;
}

static void fail_at(struct mr_parser *p, const struct mr_token *at, bool is_final)
{
    p->failed = true;
    p->is_final = is_final;
    p->failed_at = (uint32_t)(at - p->tokens);
    p->error.line = at->line;
    p->error.column = at->column;
    p->at = p->tokens_n - 1;
}

void mr_parse_fail(struct mr_parser *p, const char *expected)
{
    const struct mr_token *t = mr_parse_peek(p, 0);
    char near[80];

    if (p->failed)
        return;
    if (t->kind == MR_TOKEN_END)
        snprintf(near, sizeof near, "end of input");
    else
        snprintf(near, sizeof near, "'%.*s'", t->text.n > 60 ? 60 : (int)t->text.n, t->text.data);
    p->error = (struct mr_error){0};
    mr_error_set(&p->error, MR_USER, 0, "PARSE_SYNTAX_ERROR", __FILE__, __LINE__,
                 "Syntax error at or near %s: expected %s.", near, expected);
    fail_at(p, t, false);
}

void mr_parse_fail_with(struct mr_parser *p, const struct mr_token *at, const char *condition,
                        const char *format, ...)
{
    char message[MR_ERROR_MESSAGE];
    va_list args;

    if (p->failed)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->error = (struct mr_error){0};
    mr_error_set(&p->error, MR_USER, 0, condition, __FILE__, __LINE__, "%s", message);
    fail_at(p, at, true);
}

typedef void (*parse_root)(struct mr_parser *p, void *out);

static void attempt(struct mr_parser *p, parse_root root, void *out)
{
    p->at = p->depth = p->keywords_n = p->windows_n = p->failed_at = 0;
    p->failed = p->is_final = false;
    root(p, out);
    while (mr_parse_take_symbol(p, ";"))
        ;
    if (!p->failed && mr_parse_peek(p, 0)->kind != MR_TOKEN_END)
        mr_parse_fail(p, "the end of the statement");
}

/* The next reading, depth first: the last word read as a keyword becomes a name, and those behind
 * it are keywords again. False: there is none. */
static bool flip(struct mr_parser *p)
{
    for (uint32_t i = p->keywords_n; i-- > 0;) {
        uint32_t k = p->keywords[i], flips = 1;
        for (uint32_t t = 0; t < k; t++)
            flips += p->is_name[t];
        if (flips > FLIPS_MAX)
            continue;
        p->is_name[k] = true;
        memset(p->is_name + k + 1, 0, p->tokens_n - k - 1);
        return true;
    }
    return false;
}

/* The error that is told is the one farthest in the text. */
static enum mr_status parse(struct mr_text sql, const struct mr_place *places, struct mr_arena *a,
                            parse_root root, void *out, struct mr_error *err)
{
    struct mr_parser p = {.sql = sql, .arena = a};
    enum mr_status status = mr_sql_lex(sql, places, a, &p.tokens, &p.tokens_n, err);

    if (status)
        return status;
    p.is_name = MR_NEW_ARRAY(a, bool, p.tokens_n);
    p.keywords = MR_NEW_ARRAY(a, uint32_t, p.tokens_n);
    if (p.tokens[0].kind == MR_TOKEN_END || mr_text_equal(p.tokens[0].text, MR_TEXT(";"))) {
        mr_parse_fail_with(&p, &p.tokens[0], "PARSE_EMPTY_STATEMENT",
                           "Syntax error, unexpected empty statement.");
    } else {
        attempt(&p, root, out);
    }
    struct mr_error farthest = p.error;
    uint32_t farthest_at = p.failed_at;
    bool is_final = p.is_final;
    for (uint32_t i = 1;
         p.failed && !is_final && i < ATTEMPTS_MAX && i <= TOKENS_MAX / p.tokens_n && flip(&p);
         i++) {
        attempt(&p, root, out);
        if (p.failed && !p.is_final && p.failed_at > farthest_at) {
            farthest = p.error;
            farthest_at = p.failed_at;
        }
    }
    if (!p.failed)
        return MR_OK;
    if (err) {
        memcpy(farthest.file, err->file, sizeof farthest.file);
        *err = farthest;
    }
    return MR_USER;
}

static void parse_query_root(struct mr_parser *p, void *out)
{
    *(struct mr_relation **)out = mr_parse_query(p);
}

static void parse_expression_root(struct mr_parser *p, void *out)
{
    *(struct mr_ast **)out = mr_parse_expression(p);
}

static const char *statement_text(struct mr_parser *p)
{
    struct mr_text t = mr_sql_unquote_string(mr_parse_next(p)->text, p->arena);

    return mr_arena_copy(p->arena, t.data, t.n);
}

static void parse_statement_root(struct mr_parser *p, void *out)
{
    struct mr_statement *statement = out;

    *statement = (struct mr_statement){.kind = MR_STATEMENT_QUERY};
    if (mr_parse_take_words(p, "SHOW", "FUNCTIONS")) {
        statement->kind = MR_STATEMENT_SHOW_FUNCTIONS;
        mr_parse_take_word(p, "LIKE");
        if (mr_parse_peek(p, 0)->kind == MR_TOKEN_STRING)
            statement->name = statement_text(p);
    } else if (mr_parse_take_words(p, "DESCRIBE", "FUNCTION") ||
               mr_parse_take_words(p, "DESC", "FUNCTION")) {
        statement->kind = MR_STATEMENT_DESCRIBE_FUNCTION;
        statement->is_extended = mr_parse_take_word(p, "EXTENDED");
        statement->name = mr_parse_name(p);
    } else {
        if (mr_parse_take_word(p, "EXPLAIN")) {
            statement->kind = MR_STATEMENT_EXPLAIN;
            statement->is_extended = mr_parse_take_word(p, "EXTENDED");
        }
        statement->query = mr_parse_query(p);
    }
}

enum mr_status mr_sql_parse_query(struct mr_text sql, struct mr_arena *a, struct mr_relation **out,
                                  struct mr_error *err)
{
    return parse(sql, NULL, a, parse_query_root, out, err);
}

enum mr_status mr_sql_parse_query_placed(struct mr_text sql, const struct mr_place *places,
                                         struct mr_arena *a, struct mr_relation **out,
                                         struct mr_error *err)
{
    return parse(sql, places, a, parse_query_root, out, err);
}

enum mr_status mr_sql_parse_expression(struct mr_text sql, struct mr_arena *a, struct mr_ast **out,
                                       struct mr_error *err)
{
    return parse(sql, NULL, a, parse_expression_root, out, err);
}

enum mr_status mr_sql_parse_statement(struct mr_text sql, struct mr_arena *a,
                                      struct mr_statement *out, struct mr_error *err)
{
    return parse(sql, NULL, a, parse_statement_root, out, err);
}
