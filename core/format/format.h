/* format.h - the contract of a record format: bytes <-> columns, for file and Kafka sources and
 * sinks.
 *
 * What     A decoder turns runs of bytes into batches of the schema's columns. It cuts records
 *          first, so a bad one never touches its neighbours. An encoder turns batches into bytes.
 * Columns  A record is taken or refused by the fields that the query needs (Spark reads with the
 *          pruned schema); see json/README.md and csv/README.md for what of the others counts.
 * Bad      Spark's mode decides: PERMISSIVE (nulls, raw text in the corrupt column), DROPMALFORMED,
 *          FAILFAST. Each bad record is also reported to on_bad, whatever the mode.
 * Threads  One decoder or encoder per worker.
 */
#pragma once
#include "core/base/zone.h"
#include "core/batch/batch.h"

struct mr_option {
    const char *name, *value;
};

struct mr_bad_record {
    struct mr_text raw;
    const char *reason;
    uint64_t offset; /* bytes from the start of the input */
};

struct mr_decoder_config {
    const struct mr_type *schema; /* STRUCT: the columns to give, in order: those the query needs */
    const struct mr_type *full_schema; /* as declared: CSV finds columns by their place in it */
    const struct mr_option *options;   /* Spark's, validated by check_options */
    uint32_t options_n;
    const struct mr_zone *zone;
    uint32_t batch_rows;
    int64_t now_us; /* wall clock: a time without a date means that day */
    void (*on_bad)(void *arg, const struct mr_bad_record *bad);
    void *on_bad_arg;
};

struct mr_encoder_config {
    const struct mr_type *schema;
    const struct mr_option *options;
    uint32_t options_n;
    const struct mr_zone *zone;
};

struct mr_decoder;
struct mr_encoder;

struct mr_option_spec; /* options.h */

struct mr_format_ops {
    const char *name;
    const struct mr_option_spec *options; /* sorted by name, ended by a NULL name */
    /* Unknown option, value out of range: MR_USER with the allowed ones and the nearest name.
     * reading: for a source, else for a sink. */
    enum mr_status (*check_options)(const struct mr_option *options, uint32_t n, bool reading,
                                    struct mr_error *err);
    /* NULL: the schema must be declared ("text": value STRING). */
    const struct mr_type *default_schema;

    enum mr_status (*decoder_open)(const struct mr_decoder_config *config, struct mr_arena *a,
                                   struct mr_decoder **out, struct mr_error *err);
    /* Starts a new input (a file): header lines, byte order mark. */
    void (*decoder_begin)(struct mr_decoder *d);
    /* data[0..n) holds whole and partial records; MR_PAD_BYTES readable behind. Fills out with up
     * to batch_rows rows from scratch and sets *used to the bytes consumed; call again with the
     * rest. at_end: nothing follows, a last record without newline counts. *used == 0 and out->rows
     * == 0: needs more bytes. out may borrow data: it is valid until data or scratch changes. */
    enum mr_status (*decode)(struct mr_decoder *d, const uint8_t *data, uint64_t n, bool at_end,
                             struct mr_arena *scratch, struct mr_batch *out, uint64_t *used,
                             struct mr_error *err);
    void (*decoder_close)(struct mr_decoder *d);
    /* Does each record end at a line feed, so that what follows one begins behind the next? */
    bool (*is_lines)(const struct mr_option *options, uint32_t n);
    /* May a file be cut at line feeds and its parts decoded side by side? */
    bool (*splittable)(const struct mr_option *options, uint32_t n);

    enum mr_status (*encoder_open)(const struct mr_encoder_config *config, struct mr_arena *a,
                                   struct mr_encoder **out, struct mr_error *err);
    /* What a new file starts with (a CSV header). */
    void (*encode_begin)(struct mr_encoder *e, struct mr_buffer *out);
    enum mr_status (*encode)(struct mr_encoder *e, const struct mr_batch *batch,
                             struct mr_buffer *out, struct mr_error *err);
};

extern const struct mr_format_ops mr_format_json, mr_format_csv, mr_format_text;
extern const struct mr_format_ops *const mr_formats[]; /* sorted by name, NULL-ended */
const struct mr_format_ops *mr_format_find(const char *name);
const char *mr_option_get(const struct mr_option *options, uint32_t n,
                          const char *name); /* or NULL */
