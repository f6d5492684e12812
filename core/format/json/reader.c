#include "core/format/json/reader.h"

#include "core/base/check.h"

void json_reader_init(struct json_reader *r, const struct json_options *options,
                      struct mr_arena *keep)
{
    *r = (struct json_reader){.options = options};
    r->levels = MR_NEW_ARRAY(keep, struct json_level, JSON_DEPTH_MAX + 1);
}

void json_reader_begin(struct json_reader *r, const uint8_t *data, const uint8_t *end,
                       struct mr_arena *scratch)
{
    r->scratch = scratch;
    r->p = data;
    r->end = end;
    r->token = r->pending = JSON_END;
    r->unfinished = false;
    r->reason = NULL;
    r->depth = 0;
    r->levels[0] = (struct json_level){0};
}

const struct mr_text *json_reader_name(const struct json_reader *r)
{
    uint32_t depth = r->depth;

    if (r->token == JSON_START_OBJECT || r->token == JSON_START_ARRAY)
        depth--;
    return r->levels[depth].named ? &r->levels[depth].name : NULL;
}

/* p is behind the first slash. */
static bool skip_comment(struct json_reader *r)
{
    if (!r->options->comments || r->p == r->end) {
        json_reader_fail(r, "a slash, and comments are not allowed");
        return false;
    }
    uint8_t kind = *r->p++;
    if (kind == '/') {
        while (r->p < r->end && *r->p != '\n' && *r->p != '\r')
            r->p++;
        return true;
    }
    if (kind != '*') {
        json_reader_fail(r, "a slash that begins no comment");
        return false;
    }
    for (; r->end - r->p >= 2; r->p++) {
        if (r->p[0] == '*' && r->p[1] == '/') {
            r->p += 2;
            return true;
        }
    }
    r->p = r->end;
    json_reader_fail(r, "a comment that does not end");
    return false;
}

/* Consumes and gives the next byte that is no blank; -1: an error, or the end where at_end is
 * false; -2: the end. */
static int next_byte(struct json_reader *r, bool may_end)
{
    while (r->p < r->end) {
        uint8_t c = *r->p++;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            continue;
        if (c == '/') {
            if (!skip_comment(r))
                return -1;
            continue;
        }
        if (c < 0x20) {
            json_reader_fail(r, "a control character between tokens");
            return -1;
        }
        return c;
    }
    if (may_end && r->depth == 0)
        return -2;
    json_reader_fail(r, "the text ends within a record");
    return -1;
}

static enum json_token open_level(struct json_reader *r, bool object)
{
    if (r->depth == JSON_DEPTH_MAX)
        return json_reader_fail(r, "nested too deeply");
    r->levels[++r->depth] = (struct json_level){.object = object};
    return object ? JSON_START_OBJECT : JSON_START_ARRAY;
}

static enum json_token close_level(struct json_reader *r, bool object)
{
    if (r->depth == 0 || r->levels[r->depth].object != object)
        return json_reader_fail(r, "a closing bracket that fits no opening one");
    r->depth--;
    return object ? JSON_END_OBJECT : JSON_END_ARRAY;
}

static bool is_word_byte(uint8_t c)
{
    return c >= 0x80 || c == '_' || c == '$' || (c >= '0' && c <= '9') ||
           ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* The error for what looks like a word: Jackson reads on to its end, to name it, and from bytes
 * (not from characters) one byte more. */
static enum json_token unknown_word(struct json_reader *r)
{
    uint32_t left = 256;

    while (r->p < r->end && is_word_byte(*r->p) && --left > 0)
        r->p++;
    if (!r->options->from_characters && left > 0 && r->p < r->end)
        r->p++;
    return json_reader_fail(r, "an unknown word");
}

/* The rest of a word of which the first byte was read. */
static enum json_token match_word(struct json_reader *r, const char *rest, enum json_token token)
{
    for (; *rest; rest++) {
        if (r->p == r->end || *r->p != (uint8_t)*rest)
            return unknown_word(r);
        r->p++;
    }
    return r->p < r->end && is_word_byte(*r->p) ? unknown_word(r) : token;
}

static enum json_token match_non_numeric(struct json_reader *r, const char *rest)
{
    const uint8_t *start = r->token_start;

    if (match_word(r, rest, JSON_FLOAT) == JSON_ERROR)
        return JSON_ERROR;
    if (!r->options->non_numeric)
        return json_reader_fail(r, "a non-numeric number");
    r->text = (struct mr_text){(const char *)start, (uint64_t)(r->p - start)};
    return JSON_FLOAT;
}

/* Behind a sign that no digit follows: -INF, -Infinity and the same with a plus. */
static enum json_token read_signed_word(struct json_reader *r)
{
    if (r->end - r->p >= 2 && r->p[0] == 'I' && (r->p[1] == 'N' || r->p[1] == 'n')) {
        r->p += 2;
        return match_non_numeric(r, r->p[-1] == 'N' ? "F" : "finity");
    }
    r->p += r->p < r->end;
    return json_reader_fail(r, "a sign without a number");
}

static uint32_t pass_digits(struct json_reader *r)
{
    const uint8_t *start = r->p;

    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return (uint32_t)(r->p - start);
}

/* The fraction and the exponent; digits: how many came before. */
static enum json_token read_float(struct json_reader *r, uint64_t digits)
{
    if (*r->p == '.') {
        r->p++;
        uint32_t n = pass_digits(r);
        if (n == 0)
            return json_reader_fail(r, "a decimal point without digits");
        digits += n;
    }
    if (r->p < r->end && (*r->p | 0x20) == 'e') {
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        uint32_t n = pass_digits(r);
        if (n == 0)
            return json_reader_fail(r, "an exponent without digits");
        digits += n;
    }
    return digits > JSON_NUMBER_MAX ? json_reader_fail(r, "a number is too long") : JSON_FLOAT;
}

/* The first digit was read. */
static enum json_token read_number(struct json_reader *r, bool negative)
{
    enum json_token token = JSON_INTEGER;
    const uint8_t *start = --r->p;

    if (*start == '0' && r->end - start > 1 && start[1] >= '0' && start[1] <= '9') {
        if (!r->options->leading_zeros) {
            r->p++;
            return json_reader_fail(r, "a number with leading zeros");
        }
        while (r->end - start > 1 && *start == '0' && start[1] >= '0' && start[1] <= '9')
            start++;
        r->p = start;
    }
    uint64_t digits = pass_digits(r);
    if (r->p < r->end && (*r->p == '.' || (*r->p | 0x20) == 'e'))
        token = read_float(r, digits);
    else if (digits > JSON_NUMBER_MAX)
        return json_reader_fail(r, "a number is too long");
    if (token == JSON_ERROR)
        return token;
    if (r->depth == 0 && r->p < r->end && strchr(" \t\r\n", *r->p) == NULL)
        return json_reader_fail(r, "no blank after a number");
    if (negative && start[-1] == '-') {
        start--;
    } else if (negative) { /* zeros between the sign and the digits were dropped */
        uint64_t n = (uint64_t)(r->p - start);
        char *copy = mr_arena_alloc(r->scratch, n + 1);
        copy[0] = '-';
        memcpy(copy + 1, start, n);
        r->text = (struct mr_text){copy, n + 1};
        return token;
    }
    r->text = (struct mr_text){(const char *)start, (uint64_t)(r->p - start)};
    return token;
}

static enum json_token read_minus(struct json_reader *r)
{
    if (r->p < r->end && *r->p >= '0' && *r->p <= '9') {
        r->p++;
        return read_number(r, true);
    }
    return read_signed_word(r);
}

/* c: the first byte, read. Levels are not opened here: a value behind a name is only looked at. */
static enum json_token read_value(struct json_reader *r, int c)
{
    r->token_start = r->p - 1;
    switch (c) {
    case '"':
        r->unfinished = true;
        return JSON_STRING;
    case '{':
        return JSON_START_OBJECT;
    case '[':
        return JSON_START_ARRAY;
    case 't':
        return match_word(r, "rue", JSON_TRUE);
    case 'f':
        return match_word(r, "alse", JSON_FALSE);
    case 'n':
        return match_word(r, "ull", JSON_NULL);
    case 'N':
        return match_non_numeric(r, "aN");
    case 'I':
        return match_non_numeric(r, "nfinity");
    case '-':
        return read_minus(r);
    case '+':
        return read_signed_word(r);
    case '\'':
        if (r->options->single_quotes)
            return json_read_string(r, '\'', false, &r->text) ? JSON_STRING : JSON_ERROR;
        break;
    default:
        if (c >= '0' && c <= '9')
            return read_number(r, false);
        if (is_word_byte((uint8_t)c))
            return unknown_word(r);
        break;
    }
    return json_reader_fail(r, "a character that begins no value");
}

static enum json_token enter(struct json_reader *r, enum json_token token)
{
    if (token == JSON_START_OBJECT || token == JSON_START_ARRAY)
        token = open_level(r, token == JSON_START_OBJECT);
    if (token != JSON_ERROR)
        r->token = token;
    return token;
}

/* c: the first byte of the name, read. */
static enum json_token read_member(struct json_reader *r, int c)
{
    struct json_level *level = &r->levels[r->depth];
    bool good;

    if (c == '"') {
        good = json_read_string(r, '"', true, &level->name);
    } else if (c == '\'' && r->options->single_quotes) {
        good = json_read_string(r, '\'', true, &level->name);
    } else if (r->options->unquoted_names) {
        r->p--;
        good = json_read_bare_name(r, &level->name);
    } else {
        return json_reader_fail(r, "a member without a quoted name");
    }
    if (!good)
        return JSON_ERROR;
    level->named = true;
    r->token = JSON_FIELD_NAME;
    r->pending = JSON_ERROR;
    c = next_byte(r, false);
    if (c >= 0 && c != ':')
        return json_reader_fail(r, "no colon behind a name");
    c = c < 0 ? c : next_byte(r, false);
    if (c < 0)
        return JSON_ERROR;
    r->pending = read_value(r, c);
    return r->pending == JSON_ERROR ? JSON_ERROR : JSON_FIELD_NAME;
}

enum json_token json_reader_next(struct json_reader *r)
{
    if (r->token == JSON_FIELD_NAME) {
        enum json_token token = r->pending;
        if (token == JSON_ERROR) { /* the value could not be read; Jackson then has no token */
            r->token = JSON_END;
            return JSON_END;
        }
        return enter(r, token);
    }
    if (r->unfinished) {
        r->unfinished = false;
        if (!json_pass_string(r))
            return JSON_ERROR;
    }
    int c = next_byte(r, true);
    if (c == -2)
        return r->token = JSON_END;
    if (c == -1)
        return JSON_ERROR;
    struct json_level *level = &r->levels[r->depth];
    r->token_start = r->p - 1;
    if (c == ']' || c == '}')
        return enter(r, close_level(r, c == '}'));
    if (level->started && r->depth > 0) {
        if (c != ',')
            return json_reader_fail(r, "no comma between members");
        c = next_byte(r, false);
        if (c < 0)
            return JSON_ERROR;
    }
    level->started = true;
    return level->object ? read_member(r, c) : enter(r, read_value(r, c));
}

bool json_reader_skip(struct json_reader *r)
{
    if (r->token != JSON_START_OBJECT && r->token != JSON_START_ARRAY)
        return true;
    for (uint32_t open = 1; open > 0;) {
        enum json_token token = json_reader_next(r);
        if (token == JSON_ERROR || token == JSON_END)
            return false;
        open += token == JSON_START_OBJECT || token == JSON_START_ARRAY;
        open -= token == JSON_END_OBJECT || token == JSON_END_ARRAY;
    }
    return true;
}

bool json_reader_finish(struct json_reader *r)
{
    if (!r->unfinished)
        return true;
    r->unfinished = false;
    return json_read_string(r, '"', false, &r->text);
}
