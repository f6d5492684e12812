/* reader.h - tokens of one JSON text, one at a time, with the states and errors of Jackson's
 * parser.
 *
 * Why      Spark goes on after many errors, from wherever Jackson stopped, and looks at strings
 *          only when a field wants them. So what a bad line gives depends on these details; they
 *          are kept here.
 * Errors   JSON_ERROR is given once; reading on continues behind the offending character, in the
 *          token and level before it. reason tells what was wrong.
 * Limits   JSON_DEPTH_MAX levels, JSON_NUMBER_MAX digits, JSON_NAME_MAX bytes of a name. No
 *          recursion.
 */
#pragma once
#include "core/format/json/plan.h"

enum json_token {
    JSON_END, /* of the text, or nothing read yet */
    JSON_ERROR,
    JSON_START_OBJECT,
    JSON_END_OBJECT,
    JSON_START_ARRAY,
    JSON_END_ARRAY,
    JSON_FIELD_NAME,
    JSON_STRING,
    JSON_INTEGER,
    JSON_FLOAT,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

struct json_level {
    bool object;
    bool started; /* a comma is due before the next member */
    bool named;
    struct mr_text name; /* of the current member */
};

struct json_reader {
    const struct json_options *options;
    struct mr_arena *scratch;
    const uint8_t *p, *end;
    const uint8_t *token_start;
    enum json_token token;
    enum json_token pending; /* the value behind a FIELD_NAME, already looked at */
    bool unfinished;         /* a string of which only the quote was read */
    bool keep_surrogates;    /* lone ones become three bytes, not "?" */
    struct mr_text text;     /* STRING when finished, INTEGER, FLOAT */
    const char *reason;      /* of the last error */
    uint32_t depth;          /* levels open; levels[0] is the root */
    struct json_level *levels;
};

/* The levels are allocated from keep once, for all texts. */
void json_reader_init(struct json_reader *r, const struct json_options *options,
                      struct mr_arena *keep);
/* Strings and names are put in scratch, unless they need no change. */
void json_reader_begin(struct json_reader *r, const uint8_t *data, const uint8_t *end,
                       struct mr_arena *scratch);
enum json_token json_reader_next(struct json_reader *r);
/* The rest of an object or array that has just begun; else nothing. False on an error. */
bool json_reader_skip(struct json_reader *r);
/* Makes text the whole string; false on an error in it. */
bool json_reader_finish(struct json_reader *r);
/* The member that the token belongs to, or NULL. */
const struct mr_text *json_reader_name(const struct json_reader *r);

/* Instead of json_reader_finish: the bytes that an unfinished string stands for. On an error it
 * stays unfinished, and is passed over from there. */
bool json_read_base64(struct json_reader *r, struct mr_text *out);

/* Within the reader (reader_text.c). */
enum json_token json_reader_fail(struct json_reader *r, const char *reason);
/* From behind the opening quote to behind the closing one; text is what lies between. */
bool json_read_string(struct json_reader *r, uint8_t quote, bool name, struct mr_text *text);
bool json_pass_string(struct json_reader *r);
bool json_read_bare_name(struct json_reader *r, struct mr_text *text);
/* Behind a backslash: the unit of UTF-16, or -1. */
int32_t json_read_escape(struct json_reader *r);
