/* json_find.h - a value in a JSON text by a path of names and numbers, without its tokens. Inside
 * core/expr.
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
