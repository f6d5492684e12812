/* csv_record.h - CSV records in texts <-> structs: from_csv, to_csv, schema_of_csv.
 *
 * Options  Those of the file format. As in Spark, a name that CSV does not know is passed over
 *          here, and so is an unknown mode; mr_csv_record_options leaves only what the others may
 *          see.
 * Records  A text is one record; a line end within it is a character like any other.
 */
#pragma once
#include "core/format/format.h"

MR_NODISCARD enum mr_status mr_csv_record_options(const struct mr_option *options, uint32_t n,
                                                  bool reading, struct mr_arena *a,
                                                  struct mr_option **out, uint32_t *out_n,
                                                  struct mr_error *err);

/* config->schema: STRUCT of types that CSV has, or BINARY. */
struct mr_csv_parser;
MR_NODISCARD enum mr_status mr_csv_parser_open(const struct mr_decoder_config *config,
                                               struct mr_arena *a, struct mr_csv_parser **out,
                                               struct mr_error *err);
MR_NODISCARD enum mr_status mr_csv_parse_column(struct mr_csv_parser *p,
                                                const struct mr_column *texts, uint32_t rows,
                                                const uint32_t *sel, uint32_t n, struct mr_arena *a,
                                                struct mr_column *out, struct mr_error *err);
void mr_csv_parser_close(struct mr_csv_parser *p);

struct mr_encoder;
MR_NODISCARD enum mr_status mr_csv_writer_open(const struct mr_encoder_config *config,
                                               struct mr_arena *a, struct mr_encoder **out,
                                               struct mr_error *err);
/* The fields of a STRUCT's row, without a line end; nested values as [1, 2], {1, x}, {k -> v}. */
void mr_csv_write_record(struct mr_encoder *e, const struct mr_column *c, uint32_t row,
                         struct mr_buffer *out);

/* The type of each field, named _c0, _c1, ..; NULL: there is no record in the text. */
MR_NODISCARD enum mr_status mr_csv_infer(const struct mr_option *options, uint32_t n,
                                         const struct mr_zone *zone, struct mr_text text,
                                         struct mr_arena *a, const struct mr_type **out,
                                         struct mr_error *err);
