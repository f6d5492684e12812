/* lexer.h - Spark SQL text -> tokens.
 *
 * What     One pass over the text. Words are not told from keywords here: Spark reserves none, so
 *          the parser decides by place. Comments, hints among them, are dropped.
 * Owner    Tokens lie in the arena and borrow the text. The last one is MR_TOKEN_END.
 * Errors   Only an unclosed comment. What no rule fits becomes MR_TOKEN_UNKNOWN, one character,
 *          and the parser says where it is.
 */
#pragma once
#include "core/expr/expr.h"

enum mr_token_kind {
    MR_TOKEN_END,
    MR_TOKEN_WORD,       /* unquoted: keyword or name */
    MR_TOKEN_QUOTED,     /* `name` */
    MR_TOKEN_STRING,     /* '..', "..", r'..', r".." */
    MR_TOKEN_INTEGER,    /* 12 */
    MR_TOKEN_DECIMAL,    /* 1.5 */
    MR_TOKEN_EXPONENT,   /* 1e3 */
    MR_TOKEN_TINYINT,    /* 1Y */
    MR_TOKEN_SMALLINT,   /* 1S */
    MR_TOKEN_BIGINT,     /* 1L */
    MR_TOKEN_FLOAT,      /* 1F */
    MR_TOKEN_DOUBLE,     /* 1D */
    MR_TOKEN_BIGDECIMAL, /* 1BD */
    MR_TOKEN_SYMBOL,     /* + - <=> .. */
    MR_TOKEN_UNKNOWN,
};

struct mr_token {
    enum mr_token_kind kind;
    uint32_t line, column; /* from 1; columns count characters */
    uint64_t offset;       /* bytes */
    struct mr_text text;   /* as written, quotes and suffix too */
};

/* places: of each byte and the end, or NULL: counted here. */
MR_NODISCARD enum mr_status mr_sql_lex(struct mr_text sql, const struct mr_place *places,
                                       struct mr_arena *a, struct mr_token **tokens,
                                       uint32_t *tokens_n, struct mr_error *err);

/* The value of a string token: quotes taken off, escapes resolved. */
struct mr_text mr_sql_unquote_string(struct mr_text token, struct mr_arena *a);
/* The name in a quoted word. */
const char *mr_sql_unquote_name(struct mr_text token, struct mr_arena *a);
