/* csv.h - the options of format csv, read once, and single fields by Spark's rules. */
#pragma once
#include "core/format/cell.h"
#include "core/format/csv/csv_tokens.h"
#include "core/format/temporal.h"

struct csv_options {
    struct csv_syntax syntax;
    enum mr_mode mode;
    bool header, enforce_schema, column_pruning;
    const char *corrupt_name;
    const char *rescued_name;      /* NULL: nothing is rescued */
    struct mr_text line_separator; /* empty: \n, \r, \r\n */
    struct mr_text nan_value, positive_infinity, negative_infinity;
    struct mr_temporal temporal;
    /* writing */
    bool quote_all, escape_quotes;
};

extern const struct mr_option_spec csv_option_specs[];
MR_NODISCARD enum mr_status csv_options_check(const struct mr_option *options, uint32_t n,
                                              bool reading, struct mr_error *err);
MR_NODISCARD enum mr_status csv_options_read(const struct mr_option *options, uint32_t n,
                                             const struct mr_zone *zone, bool reading,
                                             struct mr_arena *a, struct csv_options *out,
                                             struct mr_error *err);
/* Columns of types that CSV has no form for are an error. */
MR_NODISCARD enum mr_status csv_check_schema(const struct mr_type *schema, struct mr_error *err);

/* False when Spark would not take the text for the type. */
bool csv_convert(const struct csv_options *o, const struct mr_type *type, struct mr_text t,
                 struct mr_arena *scratch, struct mr_cell *out);

/* csv_decoder.c, csv_encoder.c */
MR_NODISCARD enum mr_status csv_decoder_open(const struct mr_decoder_config *config,
                                             struct mr_arena *a, struct mr_decoder **out,
                                             struct mr_error *err);
void csv_decoder_begin(struct mr_decoder *d);
MR_NODISCARD enum mr_status csv_decode(struct mr_decoder *d, const uint8_t *data, uint64_t n,
                                       bool at_end, struct mr_arena *scratch, struct mr_batch *out,
                                       uint64_t *used, struct mr_error *err);
void csv_decoder_close(struct mr_decoder *d);
MR_NODISCARD enum mr_status csv_encoder_open(const struct mr_encoder_config *config,
                                             struct mr_arena *a, struct mr_encoder **out,
                                             struct mr_error *err);
void csv_encode_begin(struct mr_encoder *e, struct mr_buffer *out);
MR_NODISCARD enum mr_status csv_encode(struct mr_encoder *e, const struct mr_batch *batch,
                                       struct mr_buffer *out, struct mr_error *err);
