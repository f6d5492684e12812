/* skip.h - passing over strict JSON, validated: what is refused here may still be taken by the
 * exact path (options that allow more; Jackson's lazy strings).
 *
 * Limits   Nesting up to JSON_DEPTH_MAX, without recursion. The text is followed by a line end,
 *          which none of these passes over.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* From behind the opening quote: the closing quote, if all before it is valid UTF-8 without control
 * characters and backslashes; else NULL. */
const uint8_t *json_string_end(const uint8_t *p);
/* The same with escapes. */
const uint8_t *json_escaped_end(const uint8_t *p, bool *escaped);
/* Writes p..end with its escapes resolved: at most as many bytes. A lone surrogate becomes "?". */
uint64_t json_unescape(const uint8_t *p, const uint8_t *end, uint8_t *out);
/* A number: the byte behind it. */
const uint8_t *json_skip_number(const uint8_t *p);
/* String, number, true, false, null. NULL: none of these, or broken. */
const uint8_t *json_skip_scalar(const uint8_t *p, bool *escaped);
/* Object or array. */
const uint8_t *json_skip_nested(const uint8_t *p);
