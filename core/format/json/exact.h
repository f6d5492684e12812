/* exact.h - the exact path: one JSON text -> rows, as Spark's JacksonParser gives them.
 *
 * Use      For every record on which the fast path is not certain, and for types that it does not
 *          do.
 * Owner    Values live in the scratch arena of json_exact_parse, or point into the text.
 * Limits   Recursion follows the type, which is at most MR_DEPTH_MAX deep, never the data.
 */
#pragma once
#include "core/format/json/convert.h"
#include "core/format/json/reader.h"

enum json_outcome {
    JSON_GOOD,
    JSON_PARTIAL, /* bad, but the rows hold what could be read */
    JSON_BAD,     /* no value */
};

struct json_exact {
    const struct json_plan *plan;
    struct json_reader reader;
    struct mr_arena *scratch;
    /* The result: for a STRUCT one row, or one per element of an array at the root; for ARRAY and
     * MAP one row. None: a text without a value, or an empty array at the root. */
    struct mr_cell *rows;
    uint32_t rows_n;
    struct mr_buffer *rescued; /* members of the object at hand for the rescued column, or NULL */
    bool lost;                 /* a value had no place where rescued is NULL */
    const char *reason;        /* of the first thing that was wrong */
    const char *condition;     /* Spark's, for FAILFAST; NULL: the usual one */
};

void json_exact_init(struct json_exact *x, const struct json_plan *plan, struct mr_arena *keep);
enum json_outcome json_exact_parse(struct json_exact *x, struct mr_text text,
                                   struct mr_arena *scratch);
