/* csv_tokens.h - one CSV record -> its fields, by the states of univocity's parser as Spark sets it
 * up.
 *
 * Why      What becomes of quotes in odd places is visible in results (a doubled quote stays
 *          doubled, since the escape is a backslash), so its rules are followed character by
 *          character. A record without any quote is cut at separators at once.
 * Owner    Field texts lie in the record or in the arena given.
 */
#pragma once
#include "core/base/text.h"
#include "core/mem/arena.h"

enum csv_quote_handling {
    CSV_STOP_AT_CLOSING_QUOTE,
    CSV_BACK_TO_DELIMITER,
    CSV_STOP_AT_DELIMITER,
    CSV_SKIP_VALUE,
    CSV_RAISE_ERROR,
};

struct csv_syntax {
    struct mr_text separator;
    int quote, escape, escape_escape; /* a byte; -1: none */
    int comment;                      /* -1: none */
    bool trim_leading, trim_trailing;
    struct mr_text null_value, empty_value;
    uint32_t columns_max;
    int64_t chars_max; /* of a field; -1: any */
    enum csv_quote_handling handling;
    bool multi_line;
    bool normalize_in_quotes; /* multi-line: a line end within quotes becomes \n */
};

struct csv_tokens {
    const struct csv_syntax *syntax;
    struct mr_arena *arena;
    struct mr_text *fields; /* columns_max + 1, allocated as needed */
    uint32_t n, capacity;
    const char *error; /* what was wrong with the record, or NULL */

    /* Within the parser. */
    const uint8_t *p, *end;
    uint8_t line_end[2]; /* multi-line: what ends a line in this file; second 0: one byte */
    int newline;         /* what c is at a line end; -2: a record has none, they are plain bytes */
    int c, previous;     /* -1: none */
    bool normalize, unescaped, trim, skipped;
    struct mr_buffer value;
};

enum csv_result { CSV_RECORD, CSV_NOTHING /* an empty line */, CSV_INCOMPLETE /* ends within */ };

/* A record without line end: data[0..n). */
enum csv_result csv_tokens_line(struct csv_tokens *t, const uint8_t *data, uint64_t n);
/* A text that is one record, whatever line ends it holds. */
enum csv_result csv_tokens_text(struct csv_tokens *t, const uint8_t *data, uint64_t n);
/* Multi-line: the record that begins at data; *used: its bytes with the line end. at_end false and
 * no end of it in sight: CSV_INCOMPLETE. */
enum csv_result csv_tokens_next(struct csv_tokens *t, const uint8_t *data, uint64_t n, bool at_end,
                                uint64_t *used);
