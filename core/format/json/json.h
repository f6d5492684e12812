/* json.h - JSON values <-> columns, beyond the file format: from_json, to_json, --record, progress.
 *
 * Source   simdjson On-Demand through a C shim for well-formed records of known fields; the exact
 *          path (a parser of our own that follows Jackson as Spark sets it up) for every record on
 *          which the fast one is not certain.
 */
#pragma once
#include "core/format/format.h"

/* Writes one value as Spark's to_json does: null fields of structs left out unless keep_nulls,
 * timestamps as 2026-01-01T12:00:00.000Z (microseconds_always: six digits), binary as base64. */
struct mr_json_writer {
    const struct mr_zone *zone;
    bool keep_nulls, microseconds_always;
    /* NULL: Spark's default */
    const struct mr_pattern *timestamp_pattern, *timestamp_ntz_pattern, *date_pattern;
};
/* For to_json and the json sink: ignoreNullFields, timeZone, timestampFormat, dateFormat, .. */
MR_NODISCARD enum mr_status mr_json_writer_init(struct mr_json_writer *w,
                                                const struct mr_option *options, uint32_t n,
                                                const struct mr_zone *zone, struct mr_arena *a,
                                                struct mr_error *err);
void mr_json_write_value(const struct mr_json_writer *w, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out);
/* The row as an object with the fields of type (STRUCT) as names. */
void mr_json_write_row(const struct mr_json_writer *w, const struct mr_type *type,
                       const struct mr_batch *batch, uint32_t row, struct mr_buffer *out);
void mr_json_write_text(struct mr_text t, struct mr_buffer *out);   /* quoted and escaped */
void mr_json_write_binary(struct mr_text t, struct mr_buffer *out); /* base64 in quotes */

/* from_json over the rows of sel: one document per text. schema: STRUCT, ARRAY or MAP. */
struct mr_json_parser;
MR_NODISCARD enum mr_status mr_json_parser_open(const struct mr_decoder_config *config,
                                                struct mr_arena *a, struct mr_json_parser **out,
                                                struct mr_error *err);
MR_NODISCARD enum mr_status mr_json_parse_column(struct mr_json_parser *p,
                                                 const struct mr_column *texts, uint32_t rows,
                                                 const uint32_t *sel, uint32_t n,
                                                 struct mr_arena *a, struct mr_column *out,
                                                 struct mr_error *err);
void mr_json_parser_close(struct mr_json_parser *p);
