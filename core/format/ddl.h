/* ddl.h - schemas as text: "a INT, s STRUCT<x: INT>, `x y` ARRAY<STRING> NOT NULL", also "INT"
 * alone.
 *
 * Use      Job file schemas, from_json, CAST targets (the SQL parser calls mr_ddl_parse_type).
 */
#pragma once
#include "core/batch/type.h"

/* A list of at most MR_COLUMNS_MAX columns -> STRUCT; a STRUCT within may have any number of
 * fields, as the one of all members of variants has. Errors carry line and column in the text.
 * Names may repeat: whether that is an error is the caller's to say. */
MR_NODISCARD enum mr_status mr_ddl_parse_columns(struct mr_text text, struct mr_arena *a,
                                                 const struct mr_type **out, struct mr_error *err);
/* One type at the start of text; *used: where it ends. */
MR_NODISCARD enum mr_status mr_ddl_parse_type(struct mr_text text, struct mr_arena *a,
                                              const struct mr_type **out, uint64_t *used,
                                              struct mr_error *err);
/* What from_json takes: a type alone (STRUCT<..>, ARRAY<..>) or a list of columns. */
MR_NODISCARD enum mr_status mr_ddl_parse_schema(struct mr_text text, struct mr_arena *a,
                                                const struct mr_type **out, struct mr_error *err);
