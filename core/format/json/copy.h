/* copy.h - a JSON value written anew from its tokens, as Jackson's generator does: no blanks,
 * numbers in Java's form. For STRING fields of from_json, get_json_object and the like.
 */
#pragma once
#include "core/format/json/reader.h"

/* The value at the current token, to its end. False on an error. */
bool json_copy_text(struct json_reader *r, struct mr_arena *scratch, struct mr_text *out);
void json_copy_string(struct mr_text t, struct mr_buffer *out); /* quoted and escaped */
