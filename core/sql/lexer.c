#include "core/sql/lexer.h"

struct lexer {
    struct mr_text sql;
    uint64_t at;
    uint32_t line, column;
    struct mr_arena *arena;
    struct mr_token *tokens;
    uint32_t tokens_n, tokens_capacity;
};

static char upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

static char peek(const struct lexer *l, uint64_t ahead)
{
    return l->at + ahead < l->sql.n ? l->sql.data[l->at + ahead] : '\0';
}

/* Length of the UTF-8 character at p, 1 for what is none; *code: its code point. */
static uint32_t decode_character(const char *p, uint64_t n, uint32_t *code)
{
    uint8_t b = (uint8_t)p[0];
    uint32_t length = b < 0x80 ? 1 : (b & 0xE0) == 0xC0 ? 2 : (b & 0xF0) == 0xE0 ? 3 : 4;

    *code = b;
    if (length == 1)
        return 1;
    *code = UINT32_MAX;
    if (b < 0xC2 || b > 0xF4 || length > n)
        return 1;
    uint32_t c = b & (0x7Fu >> length);
    for (uint32_t i = 1; i < length; i++) {
        if (((uint8_t)p[i] & 0xC0) != 0x80)
            return 1;
        c = c << 6 | ((uint8_t)p[i] & 0x3F);
    }
    *code = c;
    return length;
}

static bool is_blank(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r') || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

/* A letter, digit or underscore; beyond ASCII all but blanks count as letters. */
static bool is_word_character(uint32_t code)
{
    if (code >= 0x80)
        return code != UINT32_MAX && !is_blank(code);
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
           (code >= '0' && code <= '9') || code == '_';
}

static uint64_t word_length(const struct lexer *l, uint64_t from)
{
    uint64_t n = from;

    while (l->at + n < l->sql.n) {
        uint32_t code;
        uint32_t length = decode_character(l->sql.data + l->at + n, l->sql.n - l->at - n, &code);
        if (!is_word_character(code))
            break;
        n += length;
    }
    return n;
}

static void advance(struct lexer *l, uint64_t bytes)
{
    uint64_t end = l->at + bytes;

    while (l->at < end) {
        uint32_t code;
        l->at += decode_character(l->sql.data + l->at, l->sql.n - l->at, &code);
        if (code == '\n') {
            l->line++;
            l->column = 1;
        } else {
            l->column++;
        }
    }
}

static void push(struct lexer *l, enum mr_token_kind kind, uint64_t bytes)
{
    if (l->tokens_n == l->tokens_capacity) {
        uint32_t capacity = l->tokens_capacity ? l->tokens_capacity * 2 : 64;
        struct mr_token *tokens = MR_NEW_ARRAY(l->arena, struct mr_token, capacity);
        if (l->tokens_n)
            memcpy(tokens, l->tokens, sizeof *tokens * l->tokens_n);
        l->tokens = tokens;
        l->tokens_capacity = capacity;
    }
    l->tokens[l->tokens_n++] = (struct mr_token){
        .kind = kind,
        .line = l->line,
        .column = l->column,
        .offset = l->at,
        .text = {l->sql.data + l->at, bytes},
    };
    advance(l, bytes);
}

static void skip_line_comment(struct lexer *l)
{
    uint64_t n = 2;

    while (l->at + n < l->sql.n && peek(l, n) != '\n' && peek(l, n) != '\r')
        n += peek(l, n) == '\\' && peek(l, n + 1) == '\n' ? 2 : 1;
    advance(l, n);
}

/* Comments nest. */
static enum mr_status skip_block_comment(struct lexer *l, struct mr_error *err)
{
    uint32_t line = l->line, column = l->column, depth = 0;
    uint64_t n = 0;

    do {
        if (l->at + n + 1 >= l->sql.n) {
            if (err) {
                err->line = line;
                err->column = column;
            }
            return MR_FAIL_CONDITION(err, MR_USER, "UNCLOSED_BRACKETED_COMMENT",
                                     "Found an unclosed bracketed comment. Please append */ at "
                                     "the end of the comment.");
        }
        if (peek(l, n) == '/' && peek(l, n + 1) == '*') {
            depth++;
            n += 2;
        } else if (peek(l, n) == '*' && peek(l, n + 1) == '/') {
            depth--;
            n += 2;
        } else {
            n++;
        }
    } while (depth > 0);
    advance(l, n);
    return MR_OK;
}

static enum mr_status skip_blanks(struct lexer *l, struct mr_error *err)
{
    while (l->at < l->sql.n) {
        uint32_t code;
        uint32_t length = decode_character(l->sql.data + l->at, l->sql.n - l->at, &code);
        if (is_blank(code)) {
            advance(l, length);
        } else if (peek(l, 0) == '-' && peek(l, 1) == '-') {
            skip_line_comment(l);
        } else if (peek(l, 0) == '/' && peek(l, 1) == '*') {
            enum mr_status status = skip_block_comment(l, err);
            if (status)
                return status;
        } else {
            break;
        }
    }
    return MR_OK;
}

/* From the quote at from on; 0: not closed. In raw text a backslash is a character like others. */
static uint64_t quoted_length(const struct lexer *l, uint64_t from, bool raw)
{
    char quote = peek(l, from);

    for (uint64_t n = from + 1; l->at + n < l->sql.n; n++) {
        char c = peek(l, n);
        if (c == '\\' && !raw && quote != '`') {
            n++;
        } else if (c == quote) {
            if (raw || peek(l, n + 1) != quote)
                return n + 1;
            n++;
        }
    }
    return 0;
}

static uint64_t digits_length(const struct lexer *l, uint64_t from)
{
    uint64_t n = from;

    while (mr_is_digit(peek(l, n)))
        n++;
    return n;
}

static enum mr_token_kind suffix_kind(const struct lexer *l, uint64_t n, bool whole,
                                      uint64_t *bytes)
{
    char c = upper(peek(l, n));

    *bytes = n + 1;
    if (c == 'D')
        return MR_TOKEN_DOUBLE;
    if (c == 'F')
        return MR_TOKEN_FLOAT;
    if (whole && c == 'L')
        return MR_TOKEN_BIGINT;
    if (whole && c == 'S')
        return MR_TOKEN_SMALLINT;
    if (whole && c == 'Y')
        return MR_TOKEN_TINYINT;
    if (c == 'B' && upper(peek(l, n + 1)) == 'D') {
        *bytes = n + 2;
        return MR_TOKEN_BIGDECIMAL;
    }
    *bytes = n;
    return MR_TOKEN_END;
}

/* The longest number at l->at, or 0 bytes when a word is longer ("1st") or none is there. */
static enum mr_token_kind number_kind(const struct lexer *l, uint64_t *bytes)
{
    uint64_t n = digits_length(l, 0);
    enum mr_token_kind kind = MR_TOKEN_INTEGER;
    bool whole = true;

    if (peek(l, n) == '.' && (n > 0 || mr_is_digit(peek(l, 1)))) {
        n = digits_length(l, n + 1);
        kind = MR_TOKEN_DECIMAL;
        whole = false;
    }
    *bytes = 0;
    if (n == 0)
        return MR_TOKEN_END;
    if (upper(peek(l, n)) == 'E') {
        uint64_t sign = peek(l, n + 1) == '+' || peek(l, n + 1) == '-' ? 1 : 0;
        if (mr_is_digit(peek(l, n + 1 + sign))) {
            n = digits_length(l, n + 1 + sign);
            kind = MR_TOKEN_EXPONENT;
            whole = false;
        }
    }
    enum mr_token_kind suffix = suffix_kind(l, n, whole, bytes);
    if (suffix != MR_TOKEN_END)
        kind = suffix;
    /* A number ends where no word goes on. */
    if (word_length(l, *bytes) > *bytes)
        *bytes = 0;
    return kind;
}

static uint64_t symbol_length(const struct lexer *l)
{
    static const char *const symbols[] = {
        "<=>", ">>>", "<=", "<>", ">=", "!=", "==", "=>", "->", "||", "::", "<<", ">>", NULL};
    for (uint32_t i = 0; symbols[i]; i++) {
        uint64_t n = strlen(symbols[i]);
        if (l->sql.n - l->at >= n && memcmp(l->sql.data + l->at, symbols[i], n) == 0)
            return n;
    }
    return strchr("(),.[]:;=<>+-*/%~&|^!?", peek(l, 0)) && peek(l, 0) ? 1 : 0;
}

static void lex_token(struct lexer *l)
{
    char c = peek(l, 0);
    uint64_t n;

    if (c == '\'' || c == '"' || c == '`') {
        n = quoted_length(l, 0, false);
        if (n > 0) {
            push(l, c == '`' ? MR_TOKEN_QUOTED : MR_TOKEN_STRING, n);
            return;
        }
    }
    if (upper(c) == 'R' && (peek(l, 1) == '\'' || peek(l, 1) == '"')) {
        n = quoted_length(l, 1, true);
        if (n > 0) {
            push(l, MR_TOKEN_STRING, n);
            return;
        }
    }
    enum mr_token_kind kind = number_kind(l, &n);
    if (n == 0 && (n = word_length(l, 0)) > 0)
        kind = MR_TOKEN_WORD;
    if (n == 0 && (n = symbol_length(l)) > 0)
        kind = MR_TOKEN_SYMBOL;
    if (n == 0) {
        uint32_t code;
        n = decode_character(l->sql.data + l->at, l->sql.n - l->at, &code);
        kind = MR_TOKEN_UNKNOWN;
    }
    push(l, kind, n);
}

static void place_tokens(struct lexer *l, const struct mr_place *places)
{
    for (uint32_t i = 0; i < l->tokens_n; i++) {
        l->tokens[i].line = places[l->tokens[i].offset].line;
        l->tokens[i].column = places[l->tokens[i].offset].column;
    }
}

enum mr_status mr_sql_lex(struct mr_text sql, const struct mr_place *places, struct mr_arena *a,
                          struct mr_token **tokens, uint32_t *tokens_n, struct mr_error *err)
{
    struct lexer l = {.sql = sql, .line = 1, .column = 1, .arena = a};

    for (;;) {
        enum mr_status status = skip_blanks(&l, err);
        if (status) {
            if (places && err) {
                err->line = places[l.at].line;
                err->column = places[l.at].column;
            }
            return status;
        }
        if (l.at == sql.n)
            break;
        lex_token(&l);
    }
    push(&l, MR_TOKEN_END, 0);
    if (places)
        place_tokens(&l, places);
    *tokens = l.tokens;
    *tokens_n = l.tokens_n;
    return MR_OK;
}

static void append_code(struct mr_buffer *out, uint32_t code)
{
    uint8_t *p = mr_buffer_reserve(out, 4);

    if (code < 0x80) {
        p[0] = (uint8_t)code;
        out->n += 1;
    } else if (code < 0x800) {
        p[0] = (uint8_t)(0xC0 | code >> 6);
        p[1] = (uint8_t)(0x80 | (code & 0x3F));
        out->n += 2;
    } else if (code < 0x10000) {
        p[0] = (uint8_t)(0xE0 | code >> 12);
        p[1] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        p[2] = (uint8_t)(0x80 | (code & 0x3F));
        out->n += 3;
    } else {
        p[0] = (uint8_t)(0xF0 | code >> 18);
        p[1] = (uint8_t)(0x80 | (code >> 12 & 0x3F));
        p[2] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        p[3] = (uint8_t)(0x80 | (code & 0x3F));
        out->n += 4;
    }
}

/* digits of base 8 or 16 at p; false if one is none. */
static bool parse_digits(const char *p, uint64_t n, uint32_t digits, uint32_t base, uint32_t *out)
{
    *out = 0;
    if (n < digits)
        return false;
    for (uint32_t i = 0; i < digits; i++) {
        char c = upper(p[i]);
        uint32_t digit = mr_is_digit(c)         ? (uint32_t)(c - '0')
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit >= base)
            return false;
        *out = *out * base + digit;
    }
    return true;
}

/* \uXXXX counts UTF-16 units: a pair of surrogates makes one character, a lone one is replaced. */
static uint64_t append_utf16(struct mr_buffer *out, const char *p, uint64_t n, uint32_t unit)
{
    uint32_t low;

    if (unit >= 0xD800 && unit < 0xDC00 && n >= 10 && p[4] == '\\' && p[5] == 'u' &&
        parse_digits(p + 6, n - 6, 4, 16, &low) && low >= 0xDC00 && low < 0xE000) {
        append_code(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        return 10;
    }
    append_code(out, unit >= 0xD800 && unit < 0xE000 ? '?' : unit);
    return 4;
}

/* p: behind the backslash, n bytes left, at least one. Gives how many were read. */
static uint64_t append_escape(struct mr_buffer *out, const char *p, uint64_t n)
{
    static const char names[] = "0bnrtZ", values[] = "\0\b\n\r\t\x1A";
    uint32_t code;

    if (p[0] == 'u' && parse_digits(p + 1, n - 1, 4, 16, &code))
        return 1 + append_utf16(out, p + 1, n - 1, code);
    if (p[0] == 'U' && parse_digits(p + 1, n - 1, 8, 16, &code) && code < 0x110000) {
        append_code(out, code >= 0xD800 && code < 0xE000 ? '?' : code);
        return 9;
    }
    if ((p[0] == '0' || p[0] == '1') && parse_digits(p, n, 3, 8, &code)) {
        append_code(out, code);
        return 3;
    }
    if (p[0] == '%' || p[0] == '_') { /* stays escaped, for LIKE */
        mr_buffer_append(out, "\\", 1);
        mr_buffer_append(out, p, 1);
        return 1;
    }
    const char *name = strchr(names, p[0]);
    mr_buffer_append(out, p[0] && name ? &values[name - names] : p, 1);
    return 1;
}

struct mr_text mr_sql_unquote_string(struct mr_text token, struct mr_arena *a)
{
    if (upper(token.data[0]) == 'R')
        return (struct mr_text){token.data + 2, token.n - 3};

    struct mr_buffer out;
    const char quote = token.data[0], *p = token.data + 1, *end = token.data + token.n - 1;
    mr_buffer_init(&out, a);
    mr_buffer_reserve(&out, token.n);
    while (p < end) {
        if (*p == '\\' && p + 1 < end) {
            p += 1 + append_escape(&out, p + 1, (uint64_t)(end - p - 1));
        } else {
            mr_buffer_append(&out, p, 1);
            p += *p == quote ? 2 : 1;
        }
    }
    return mr_buffer_text(&out);
}

const char *mr_sql_unquote_name(struct mr_text token, struct mr_arena *a)
{
    char *name = mr_arena_alloc(a, token.n);
    uint64_t n = 0;

    for (uint64_t i = 1; i + 1 < token.n; i++) {
        name[n++] = token.data[i];
        if (token.data[i] == '`')
            i++;
    }
    name[n] = '\0';
    return name;
}
