/* json_find.h - values in a JSON text by a path of names and numbers, or members by their names,
 * without its tokens. Inside core/expr.
 *
 * Strict   The whole text is validated on the way, as strict JSON. What is refused may still be
 *          JSON to Jackson, whose tokens (format/json/reader.h) then decide.
 */
#pragma once
#include "core/base/text.h"

enum mr_json_step_kind { MR_JSON_NAME, MR_JSON_INDEX, MR_JSON_ANY_INDEX, MR_JSON_ANY_NAME };
struct mr_json_step {
    enum mr_json_step_kind kind;
    struct mr_text name;
    uint64_t index;
};

enum mr_json_found {
    MR_JSON_REFUSED,
    MR_JSON_NOTHING,
    MR_JSON_HERE, /* *value: what stands between its quotes, if it is a text without escapes */
    MR_JSON_ELSE, /* it is there, but is no text without escapes, whole number, true or false */
};

/* text is followed by a line end and MR_PAD_BYTES; steps[0..n) are names and numbers, n > 0. */
enum mr_json_found mr_json_find(const uint8_t *text, const struct mr_json_step *steps, uint32_t n,
                                struct mr_text *value);
/* The members of an object by their names[0..n) (data NULL: none is wanted), to values[0..n): the
 * last one that is not null, or data NULL: there is none. HERE or, if any is such a value, ELSE. */
enum mr_json_found mr_json_find_members(const uint8_t *text, const struct mr_text *names,
                                        uint32_t n, struct mr_text *values);
