#include "core/format/csv/csv_tokens.h"

#include "core/base/check.h"
#include <string.h>

static bool next(struct csv_tokens *t)
{
    if (t->p == t->end)
        return false;
    t->c = *t->p++;
    if (t->newline >= 0 && t->c == t->line_end[0] &&
        (t->line_end[1] == 0 || (t->p < t->end && *t->p == t->line_end[1])) && t->normalize) {
        t->c = t->newline;
        t->p += t->line_end[1] != 0;
    }
    return true;
}

static bool is_line_end(const struct csv_tokens *t, const uint8_t *p)
{
    return t->newline >= 0 && *p == t->line_end[0] &&
           (t->line_end[1] == 0 || (p + 1 < t->end && p[1] == t->line_end[1]));
}

/* The separator stands at c; of several bytes, the rest of it at p. */
static bool at_separator(const struct csv_tokens *t)
{
    struct mr_text s = t->syntax->separator;

    return t->c == (uint8_t)s.data[0] && (s.n == 1 || ((uint64_t)(t->end - t->p) >= s.n - 1 &&
                                                       memcmp(t->p, s.data + 1, s.n - 1) == 0));
}

static bool at_stop(const struct csv_tokens *t)
{
    return t->c == t->newline || at_separator(t);
}

static bool is_blank(int c)
{
    return c >= 0 && c <= ' ';
}

static void append(struct csv_tokens *t, int c)
{
    if (t->skipped)
        return;
    *mr_buffer_reserve(&t->value, 1) = (uint8_t)c;
    t->value.n++;
}

/* c and what follows, up to a separator or line end. False: the input ended. */
static bool append_field(struct csv_tokens *t)
{
    int first = t->c;

    while (!at_stop(t)) {
        append(t, t->c);
        if (!next(t)) {
            t->c = first;
            return false;
        }
    }
    return true;
}

static void add_field(struct csv_tokens *t, struct mr_text text)
{
    const struct csv_syntax *s = t->syntax;

    if (t->n == s->columns_max) {
        t->error = "more fields than maxColumns";
        return;
    }
    if (s->chars_max >= 0 && text.n > (uint64_t)s->chars_max) {
        t->error = "a field is longer than maxCharsPerColumn";
        text = s->null_value;
    }
    if (t->n == t->capacity) {
        uint32_t capacity = t->capacity ? t->capacity * 2 : 32;
        struct mr_text *fields = mr_arena_alloc(t->arena, capacity * sizeof *fields);
        if (t->n)
            memcpy(fields, t->fields, t->n * sizeof *fields);
        t->fields = fields;
        t->capacity = capacity;
    }
    t->fields[t->n++] = text;
}

static void empty_parsed(struct csv_tokens *t)
{
    add_field(t, t->syntax->null_value);
}

static void value_parsed(struct csv_tokens *t)
{
    struct mr_text text = mr_buffer_text(&t->value);

    while (t->trim && text.n > 0 && (uint8_t)text.data[text.n - 1] <= ' ')
        text.n--;
    if (t->skipped)
        empty_parsed(t);
    else
        add_field(t, text.n ? text : t->syntax->empty_value);
    t->skipped = false;
    mr_buffer_init(&t->value, t->arena);
}

static bool skip_blanks(struct csv_tokens *t)
{
    while (is_blank(t->c) && !at_stop(t) && t->c != t->syntax->quote)
        if (!next(t))
            return false;
    return true;
}

/* The value is given up; what follows is passed over. */
static bool skip_value(struct csv_tokens *t)
{
    int first = t->c;

    mr_buffer_init(&t->value, t->arena);
    t->skipped = true;
    while (!at_stop(t)) {
        if (!next(t)) {
            t->c = first;
            return false;
        }
    }
    return true;
}

/* c is a quote or an escape. False: a quote stood before an escape, and so was none. */
static bool resolve_escape(struct csv_tokens *t)
{
    const struct csv_syntax *s = t->syntax;

    if (t->c == s->escape && t->previous == s->escape_escape && s->escape_escape >= 0) {
        append(t, s->escape);
        t->c = -1;
    } else if (t->previous == s->escape && s->escape >= 0) {
        if (t->c == s->quote) {
            append(t, s->quote);
            t->c = -1;
        } else {
            append(t, t->previous);
        }
    } else if (t->c == s->quote && t->previous == s->quote) {
        append(t, s->quote);
    } else {
        return t->previous != s->quote || s->quote < 0;
    }
    return true;
}

static bool keeps_odd_quotes(struct csv_tokens *t)
{
    if (t->syntax->handling == CSV_RAISE_ERROR)
        t->error = "an unescaped quote within a field";
    return t->syntax->handling != CSV_RAISE_ERROR && t->syntax->handling != CSV_SKIP_VALUE;
}

/* What follows a quote that was none: up to a separator, escapes resolved. univocity calls itself
 * for each further quote of that kind, and passes over one separator on each return: levels counts
 * these calls. */
static bool unquoted_rest(struct csv_tokens *t)
{
    uint64_t levels = 0;

    if (!keeps_odd_quotes(t))
        return skip_value(t);
    append(t, t->syntax->quote);
    t->previous = t->c;
    for (;;) {
        if (at_stop(t)) {
            if (levels-- == 0)
                return true;
        } else if (t->c != t->syntax->quote && t->c != t->syntax->escape) {
            if (t->previous == t->syntax->quote) {
                if (!keeps_odd_quotes(t)) {
                    if (!skip_value(t))
                        return false;
                } else {
                    append(t, t->syntax->quote);
                    t->previous = t->c;
                }
                continue;
            }
            append(t, t->c);
        } else if (!resolve_escape(t)) {
            if (keeps_odd_quotes(t)) {
                append(t, t->syntax->quote);
                t->previous = t->c;
                levels++;
                continue;
            }
            if (!skip_value(t))
                return false;
        }
        t->previous = t->c;
        if (!next(t))
            return false;
    }
}

/* Fields before the separators within the value, which then begins anew behind the last one. */
static void back_to_separator(struct csv_tokens *t)
{
    struct mr_text separator = t->syntax->separator;

    for (;;) {
        struct mr_text text = mr_buffer_text(&t->value);
        const char *hit = text.n ? memmem(text.data, text.n, separator.data, separator.n) : NULL;
        if (hit == NULL)
            break;
        uint64_t before = (uint64_t)(hit - text.data), cut = before + separator.n;
        struct mr_buffer rest;
        mr_buffer_init(&rest, t->arena);
        mr_buffer_append(&rest, text.data + cut, text.n - cut);
        add_field(t, (struct mr_text){text.data, before});
        t->value = rest;
    }
    append(t, t->c);
    t->previous = -1;
}

/* Text behind a closing quote: it was none. *again: the value goes on. */
static bool unescaped_quote(struct csv_tokens *t, bool *again)
{
    t->unescaped = true;
    *again = t->syntax->handling != CSV_SKIP_VALUE && t->syntax->handling != CSV_RAISE_ERROR;
    switch (t->syntax->handling) {
    case CSV_BACK_TO_DELIMITER:
        back_to_separator(t);
        return true;
    case CSV_STOP_AT_CLOSING_QUOTE:
    case CSV_STOP_AT_DELIMITER:
        append(t, t->syntax->quote);
        append(t, t->c);
        t->previous = t->c;
        return true;
    case CSV_RAISE_ERROR:
        t->error = "an unescaped quote within a quoted field";
        return skip_value(t);
    case CSV_SKIP_VALUE:
        return skip_value(t);
    }
    MR_UNREACHABLE();
}

/* The value was no quoted one after all: with its quote, up to the separator. */
static bool rest_as_it_is(struct csv_tokens *t)
{
    struct mr_buffer with_quote;

    if (t->syntax->handling == CSV_SKIP_VALUE)
        return skip_value(t);
    mr_buffer_init(&with_quote, t->arena);
    mr_buffer_append(&with_quote, &(char){(char)t->syntax->quote}, 1);
    mr_buffer_append(&with_quote, t->value.data, t->value.n);
    t->value = with_quote;
    if (!next(t))
        return false;
    t->trim = t->syntax->trim_trailing;
    return append_field(t);
}

/* Blanks behind a closing quote are dropped, unless more text follows. */
static bool after_quote(struct csv_tokens *t, bool *again)
{
    struct mr_buffer blanks;

    if (!is_blank(t->c) || at_stop(t))
        return true;
    mr_buffer_init(&blanks, t->arena);
    do {
        mr_buffer_append(&blanks, &(char){(char)t->c}, 1);
        if (!next(t))
            return false;
        if (t->c == t->newline)
            return true;
    } while (is_blank(t->c) && !at_separator(t));
    if (at_separator(t))
        return true;
    if (t->syntax->handling == CSV_RAISE_ERROR) {
        t->error = "text behind a quoted field";
        return skip_value(t);
    }
    append(t, t->syntax->quote);
    mr_buffer_append(&t->value, blanks.data, blanks.n);
    if (t->syntax->handling != CSV_STOP_AT_CLOSING_QUOTE ||
        (t->c != t->syntax->quote && t->c != t->syntax->escape))
        append(t, t->c);
    t->previous = t->c;
    *again = true;
    return true;
}

/* A run of bytes that mean nothing within quotes. */
static bool plain_run(struct csv_tokens *t)
{
    const struct csv_syntax *s = t->syntax;
    int first = t->c;

    while (t->c != s->quote && t->c != s->escape && t->c != s->escape_escape) {
        append(t, t->c);
        if (!next(t)) {
            t->c = first;
            return false;
        }
    }
    return true;
}

/* From within quotes to behind them. */
static bool quoted_run(struct csv_tokens *t, bool *again)
{
    const struct csv_syntax *s = t->syntax;

    for (;;) {
        if (t->previous == s->quote && (is_blank(t->c) || at_stop(t)))
            return after_quote(t, again);
        if (t->c != s->quote && t->c != s->escape) {
            if (t->previous == s->quote)
                return unescaped_quote(t, again);
            if (t->previous == s->escape && s->escape >= 0)
                append(t, s->escape);
            if (!plain_run(t))
                return false;
            t->previous = t->c;
            if (!next(t))
                return false;
            continue;
        }
        if (!resolve_escape(t) && !unquoted_rest(t))
            return false;
        t->previous = t->c;
        if (!next(t))
            return false;
        if (t->unescaped && at_stop(t))
            return true;
    }
}

/* c is the opening quote, or a byte behind which the value turned out to go on. */
static bool quoted_value(struct csv_tokens *t)
{
    bool until_separator =
        t->syntax->handling != CSV_STOP_AT_CLOSING_QUOTE && t->syntax->handling != CSV_RAISE_ERROR;

    for (bool again = true; again;) {
        again = false;
        if (t->previous >= 0 && until_separator)
            return rest_as_it_is(t);
        if (!next(t) || !quoted_run(t, &again))
            return false;
    }
    return true;
}

/* A field without an opening quote. Up to a separator or a line end of the file it is taken at
 * once, and then nothing but blanks means null; in the last field of the input the empty value. */
static bool plain_field(struct csv_tokens *t)
{
    const struct csv_syntax *s = t->syntax;
    const uint8_t *from = t->p - 1, *to = from;

    if (s->separator.n == 1) {
        while (to < t->end && *to != (uint8_t)s->separator.data[0] && !is_line_end(t, to))
            to++;
    } else {
        to = t->end;
    }
    if (to == t->end) {
        t->trim = s->trim_trailing;
        if (!append_field(t))
            return false;
        value_parsed(t);
        return true;
    }
    t->p = to;
    while (s->trim_trailing && to > from && to[-1] <= ' ')
        to--;
    add_field(t, from == to ? s->null_value
                            : (struct mr_text){(const char *)from, (uint64_t)(to - from)});
    return next(t);
}

/* A quoted field without escapes or line ends, with a separator or line end right behind it, is
 * taken at once, and leaves no trace in the state. NULL: it is none; else its closing quote. */
static const uint8_t *simple_quoted_end(const struct csv_tokens *t)
{
    const struct csv_syntax *s = t->syntax;

    if (s->separator.n > 1)
        return NULL;
    for (const uint8_t *p = t->p; p + 1 < t->end; p++) {
        if (*p == s->quote)
            return p[-1] != s->escape &&
                           (p[1] == (uint8_t)s->separator.data[0] || p[1] == t->newline)
                       ? p
                       : NULL;
        if (*p == s->escape && (p[1] == s->quote || p[1] == s->escape_escape))
            return NULL;
        if (t->normalize && is_line_end(t, p))
            return NULL;
    }
    return NULL;
}

static bool parse_field(struct csv_tokens *t)
{
    t->unescaped = false;
    t->previous = -1;
    if (t->c != t->syntax->quote)
        return plain_field(t);
    t->normalize = t->syntax->normalize_in_quotes;
    const uint8_t *end = simple_quoted_end(t);
    if (end) {
        uint64_t n = (uint64_t)(end - t->p);
        add_field(t, n ? (struct mr_text){(const char *)t->p, n} : t->syntax->empty_value);
        t->p = end + 1;
        t->normalize = true;
        return next(t);
    }
    t->trim = false;
    if (!quoted_value(t))
        return false;
    t->normalize = true;
    if (!(t->unescaped && t->syntax->handling == CSV_BACK_TO_DELIMITER && t->value.n == 0))
        value_parsed(t);
    return true;
}

/* Up to the line end; false: the input ended before. c is the first byte. */
static bool parse_record(struct csv_tokens *t)
{
    while (t->c != t->newline) {
        if (t->syntax->trim_leading && !skip_blanks(t))
            return false;
        if (at_stop(t))
            empty_parsed(t);
        else if (!parse_field(t))
            return false;
        if (t->c == t->newline)
            break;
        t->p += t->syntax->separator.n - 1;
        if (!next(t))
            return false;
        if (t->c == t->newline)
            empty_parsed(t);
    }
    return true;
}

/* The input ended within a record: what its last field is. */
static void end_record(struct csv_tokens *t)
{
    struct mr_text separator = t->syntax->separator;
    bool stopped = t->c == t->newline || (separator.n == 1 && t->c == (uint8_t)separator.data[0]);
    bool consumes = false;

    if (t->c == t->syntax->quote) {
        consumes = t->previous == t->syntax->quote;
        if (!consumes && !t->unescaped)
            append(t, t->c);
    }
    consumes = consumes || (t->previous >= 0 && !stopped);
    if (t->value.n > 0 || consumes)
        value_parsed(t);
    else
        empty_parsed(t);
}

static void begin(struct csv_tokens *t, const uint8_t *data, uint64_t n)
{
    t->n = 0;
    t->error = NULL;
    t->fields = NULL;
    t->capacity = 0;
    t->p = data;
    t->end = data + n;
    t->newline = '\n';
    t->c = t->previous = -1;
    t->normalize = true;
    t->unescaped = t->trim = t->skipped = false;
    mr_buffer_init(&t->value, t->arena);
}

static struct mr_text field_of(const struct csv_syntax *s, const uint8_t *from, const uint8_t *to,
                               bool last)
{
    while (s->trim_leading && from < to && *from <= ' ')
        from++;
    if (from == to)
        return s->null_value;
    while (s->trim_trailing && from < to && to[-1] <= ' ')
        to--;
    if (from == to)
        return last || s->separator.n > 1 ? s->empty_value : s->null_value;
    return (struct mr_text){(const char *)from, (uint64_t)(to - from)};
}

/* Without quotes a record is its bytes between separators. */
static void cut_record(struct csv_tokens *t)
{
    struct mr_text s = t->syntax->separator;

    for (const uint8_t *from = t->p;;) {
        uint64_t left = (uint64_t)(t->end - from);
        const uint8_t *to =
            s.n == 1 ? memchr(from, s.data[0], left) : memmem(from, left, s.data, s.n);
        add_field(t, field_of(t->syntax, from, to ? to : t->end, to == NULL));
        if (to == NULL)
            break;
        from = to + s.n;
    }
}

/* All that is left is one record. */
static enum csv_result whole_record(struct csv_tokens *t)
{
    uint64_t n = (uint64_t)(t->end - t->p);

    if (n == 0)
        return CSV_NOTHING;
    if ((t->syntax->quote < 0 || memchr(t->p, t->syntax->quote, n) == NULL) &&
        (t->newline < 0 || memchr(t->p, t->newline, n) == NULL)) {
        cut_record(t);
        return CSV_RECORD;
    }
    if (!next(t) || !parse_record(t))
        end_record(t);
    return t->n ? CSV_RECORD : CSV_NOTHING;
}

enum csv_result csv_tokens_line(struct csv_tokens *t, const uint8_t *data, uint64_t n)
{
    begin(t, data, n);
    t->line_end[0] = '\n';
    t->line_end[1] = 0;
    return whole_record(t);
}

enum csv_result csv_tokens_text(struct csv_tokens *t, const uint8_t *data, uint64_t n)
{
    begin(t, data, n);
    t->newline = -2;
    return n && data[0] == t->syntax->comment ? CSV_NOTHING : whole_record(t);
}

enum csv_result csv_tokens_next(struct csv_tokens *t, const uint8_t *data, uint64_t n, bool at_end,
                                uint64_t *used)
{
    begin(t, data, n);
    if (!next(t))
        return CSV_NOTHING;
    if (t->c == t->syntax->comment) {
        bool more = true;
        while (more && t->c != t->newline)
            more = next(t);
        *used = (uint64_t)(t->p - data);
        return more || at_end ? CSV_NOTHING : CSV_INCOMPLETE;
    }
    bool ended = parse_record(t);
    if (!ended && !at_end)
        return CSV_INCOMPLETE;
    if (!ended)
        end_record(t);
    *used = (uint64_t)(t->p - data);
    return t->n ? CSV_RECORD : CSV_NOTHING;
}
