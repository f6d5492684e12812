/* parse.h - what the files of the parser share: its state, tokens by place, node makers.
 *
 * Failure  It sticks: mr_parse_fail notes the first error and moves to the end of the text, so that
 *          every loop ends and every function may go on with what it has. Functions that give a
 *          node always give one. Only the entry points look at failed.
 * Keywords A word is a keyword where the grammar asks for it. Where that reading fails later, the
 *          entry point parses again with the last word so read taken as a name (parser.c), which is
 *          how a grammar without reserved words reads "SELECT id FROM WHERE v > 1".
 */
#pragma once
#include "core/sql/lexer.h"
#include "core/sql/parser.h"

struct mr_parser {
    struct mr_text sql;
    struct mr_arena *arena;
    struct mr_token *tokens;
    uint32_t tokens_n, at;
    uint32_t depth;     /* of the recursion */
    bool *is_name;      /* per token: not a keyword in this attempt */
    uint32_t *keywords; /* tokens read as keywords in this attempt, in order */
    uint32_t keywords_n;
    bool failed, is_final; /* final: no other reading of words would help */
    uint32_t failed_at;    /* token */
    struct mr_error error;
    struct mr_window_spec **windows; /* OVER name: not resolved yet */
    uint32_t windows_n, windows_capacity;
};

struct mr_ast_list {
    struct mr_ast **items;
    uint32_t n, capacity;
};
struct mr_name_list {
    const char **items;
    uint32_t n, capacity;
};

/* parser.c: tokens. Words are compared without case; ahead 0 is the current token. */
static inline const struct mr_token *mr_parse_peek(const struct mr_parser *p, uint32_t ahead)
{
    uint32_t i = p->at + ahead;
    return &p->tokens[i < p->tokens_n ? i : p->tokens_n - 1];
}
bool mr_parse_is_word(const struct mr_parser *p, uint32_t ahead, const char *word);
bool mr_parse_is_word_in(const struct mr_parser *p, uint32_t ahead, const char *const *words);
bool mr_parse_is_symbol(const struct mr_parser *p, uint32_t ahead, const char *symbol);
bool mr_parse_is_name(const struct mr_parser *p, uint32_t ahead);
bool mr_parse_take_word(struct mr_parser *p, const char *word);
bool mr_parse_take_words(struct mr_parser *p, const char *first, const char *second);
bool mr_parse_take_symbol(struct mr_parser *p, const char *symbol);
void mr_parse_expect_word(struct mr_parser *p, const char *word);
void mr_parse_expect_symbol(struct mr_parser *p, const char *symbol);
/* The current token whatever it is, one further. */
const struct mr_token *mr_parse_next(struct mr_parser *p);
const char *mr_parse_name(struct mr_parser *p);
/* A name that no expression may follow: "a-b" without quotes is told apart. */
const char *mr_parse_strict_name(struct mr_parser *p);
const char *mr_parse_token_text(const struct mr_parser *p, const struct mr_token *t);
/* "( name, .. )" */
void mr_parse_names_in_parentheses(struct mr_parser *p, struct mr_name_list *out);
/* May the current token be a name that no AS announces, or does a clause begin here? */
bool mr_parse_is_implicit_alias(struct mr_parser *p, bool of_table);
/* At "(": does a query stand in it? */
bool mr_parse_is_query_in_parentheses(const struct mr_parser *p);

/* parser.c: failure and depth. */
void mr_parse_fail(struct mr_parser *p, const char *expected); /* PARSE_SYNTAX_ERROR here */
void mr_parse_fail_with(struct mr_parser *p, const struct mr_token *at, const char *condition,
                        const char *format, ...) MR_PRINTF(4, 5); /* final */
bool mr_parse_enter(struct mr_parser *p);                         /* false: too deep, failed */
void mr_parse_leave(struct mr_parser *p);

/* node.c: nodes; finish computes the depth, after all parts are set. */
struct mr_ast *mr_parse_node(struct mr_parser *p, enum mr_ast_kind kind, struct mr_place place);
struct mr_ast *mr_parse_finish(struct mr_parser *p, struct mr_ast *x);
struct mr_ast *mr_parse_call_node(struct mr_parser *p, struct mr_place place, const char *name,
                                  struct mr_ast **args, uint32_t args_n);
struct mr_ast *mr_parse_call_1(struct mr_parser *p, struct mr_place place, const char *name,
                               struct mr_ast *a);
struct mr_ast *mr_parse_call_2(struct mr_parser *p, struct mr_place place, const char *name,
                               struct mr_ast *a, struct mr_ast *b);
struct mr_ast *mr_parse_name_node(struct mr_parser *p, struct mr_place place,
                                  const struct mr_name_list *parts);
struct mr_ast *mr_parse_alias_node(struct mr_parser *p, struct mr_ast *x,
                                   const struct mr_name_list *names);
/* operands joined by "and" or "or" as a balanced tree. */
struct mr_ast *mr_parse_join_balanced(struct mr_parser *p, const char *name,
                                      struct mr_ast *const *operands, uint32_t n);
struct mr_relation *mr_parse_relation_node(struct mr_parser *p, enum mr_relation_kind kind,
                                           struct mr_place place);
struct mr_relation *mr_parse_relation_finish(struct mr_parser *p, struct mr_relation *r);
/* Something in r grew by so many levels. */
void mr_parse_deepen(struct mr_parser *p, struct mr_relation *r, uint32_t by);
void mr_ast_list_push(struct mr_parser *p, struct mr_ast_list *list, struct mr_ast *x);
void mr_name_list_push(struct mr_parser *p, struct mr_name_list *list, const char *name);
bool mr_ast_equal(const struct mr_ast *a, const struct mr_ast *b);
static inline struct mr_place mr_place_of(const struct mr_token *t)
{
    return (struct mr_place){t->line, t->column};
}
static inline struct mr_place mr_parse_place(const struct mr_parser *p)
{
    return mr_place_of(mr_parse_peek(p, 0));
}

/* literal.c, interval.c: constants. */
/* 'text' with quotes, backslashes and zero bytes escaped. */
const char *mr_parse_quoted(struct mr_parser *p, struct mr_text t);
struct mr_ast *mr_parse_literal_text(struct mr_parser *p, struct mr_place place, struct mr_text t);
struct mr_ast *mr_parse_literal_boolean(struct mr_parser *p, struct mr_place place, bool value);
struct mr_ast *mr_parse_literal_null(struct mr_parser *p, struct mr_place place);
/* Strings side by side, joined. */
struct mr_ast *mr_parse_strings(struct mr_parser *p);
bool mr_parse_is_number(const struct mr_parser *p, uint32_t ahead);
/* An optional minus and a number. */
struct mr_ast *mr_parse_number(struct mr_parser *p);
/* DATE '..' and its like: a word before a string. */
struct mr_ast *mr_parse_typed_literal(struct mr_parser *p);
bool mr_parse_is_interval(const struct mr_parser *p);
struct mr_ast *mr_parse_interval(struct mr_parser *p);
struct mr_ast *mr_parse_interval_text(struct mr_parser *p, const struct mr_token *at,
                                      struct mr_text text);
const char *mr_parse_delay_text(struct mr_parser *p, const struct mr_ast *interval);

/* expression.c, call.c */
struct mr_ast *mr_parse_expression(struct mr_parser *p);
struct mr_ast *mr_parse_value(struct mr_parser *p); /* without AND, OR, NOT and predicates */
/* expression [[AS] name | [AS] (names)] */
struct mr_ast *mr_parse_named_expression(struct mr_parser *p);
void mr_parse_expressions(struct mr_parser *p, struct mr_ast_list *out); /* one or more */
void mr_parse_named_expressions(struct mr_parser *p, struct mr_ast_list *out);
void mr_parse_sort_items(struct mr_parser *p, struct mr_ast_list *out);
/* At "(" behind a function's name. */
struct mr_ast *mr_parse_call(struct mr_parser *p, const struct mr_token *first,
                             const struct mr_name_list *name, bool is_quoted);
const struct mr_type *mr_parse_type(struct mr_parser *p);
struct mr_window_spec *mr_parse_window_spec(struct mr_parser *p);
/* path.c: behind "x:", the path of a part of a variant. */
struct mr_ast *mr_parse_variant_path(struct mr_parser *p, struct mr_ast *x);

/* query.c, group.c, relation.c */
struct mr_relation *mr_parse_query(struct mr_parser *p);
struct mr_relation *mr_parse_query_in_parentheses(struct mr_parser *p);
void mr_parse_grouping(struct mr_parser *p, struct mr_relation *aggregate);
struct mr_relation *mr_parse_from(struct mr_parser *p); /* behind FROM, with LATERAL VIEWs */
struct mr_relation *mr_parse_lateral_views(struct mr_parser *p, struct mr_relation *input);
struct mr_relation *mr_parse_inline_table(struct mr_parser *p); /* behind VALUES */
struct mr_relation *mr_parse_read(struct mr_parser *p);
