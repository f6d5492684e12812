#include "core/base/bounds.h"
#include "core/base/check.h"
#include "core/format/corrupt.h"
#include "core/format/json/decoder.h"
#include "core/format/json/json.h"
#include "core/format/options.h"

#define BOTH (MR_OPTION_READS | MR_OPTION_WRITES)

static const struct mr_option_spec specs[] = {
    {"allowBackslashEscapingAnyCharacter", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowComments", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowNonNumericNumbers", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowNumericLeadingZeros", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowSingleQuotes", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowUnquotedControlChars", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"allowUnquotedFieldNames", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"charset", MR_OPTION_ENCODING, BOTH},
    {"columnNameOfCorruptRecord", MR_OPTION_TEXT, MR_OPTION_READS},
    {"compression", MR_OPTION_COMPRESSION, BOTH},
    {"dateFormat", MR_OPTION_PATTERN, BOTH},
    {"dropFieldIfAllNull", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"enableDateTimeParsingFallback", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"encoding", MR_OPTION_ENCODING, BOTH},
    {"ignoreNullFields", MR_OPTION_BOOLEAN, MR_OPTION_WRITES},
    {"inferTimestamp", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"lineSep", MR_OPTION_TEXT, BOTH},
    {"locale", MR_OPTION_LOCALE, BOTH},
    {"mode", MR_OPTION_MODE, MR_OPTION_READS},
    {"multiLine", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"prefersDecimal", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"primitivesAsString", MR_OPTION_BOOLEAN, MR_OPTION_READS},
    {"rescuedDataColumn", MR_OPTION_TEXT, MR_OPTION_READS},
    {"samplingRatio", MR_OPTION_RATIO, MR_OPTION_READS},
    {"timeZone", MR_OPTION_ZONE, BOTH},
    {"timestampFormat", MR_OPTION_PATTERN, BOTH},
    {"timestampNTZFormat", MR_OPTION_PATTERN, BOTH},
    {NULL, MR_OPTION_TEXT, 0},
};

static enum mr_status check_options(const struct mr_option *options, uint32_t n, bool reading,
                                    struct mr_error *err)
{
    enum mr_status status = mr_options_check("json", specs, options, n, reading, err);
    const char *separator = mr_option_get(options, n, "lineSep");

    if (status == MR_OK && separator && *separator == '\0')
        return MR_FAIL(err, MR_USER, 0, "json option lineSep must not be empty");
    return status;
}

enum mr_status json_options_read(const struct mr_decoder_config *config, struct mr_arena *a,
                                 struct json_options *out, struct mr_error *err)
{
    const struct mr_option *o = config->options;
    uint32_t n = config->options_n;

    *out = (struct json_options){
        .mode = mr_option_mode(o, n),
        .comments = mr_option_boolean(o, n, "allowComments", false),
        .unquoted_names = mr_option_boolean(o, n, "allowUnquotedFieldNames", false),
        .single_quotes = mr_option_boolean(o, n, "allowSingleQuotes", true),
        .leading_zeros = mr_option_boolean(o, n, "allowNumericLeadingZeros", false),
        .non_numeric = mr_option_boolean(o, n, "allowNonNumericNumbers", true),
        .any_escape = mr_option_boolean(o, n, "allowBackslashEscapingAnyCharacter", false),
        .control_chars = mr_option_boolean(o, n, "allowUnquotedControlChars", false),
        .multi_line = mr_option_boolean(o, n, "multiLine", false),
        .corrupt_name =
            mr_option_text(o, n, "columnNameOfCorruptRecord", MR_TEXT("_corrupt_record")).data,
        .rescued_name = mr_option_get(o, n, "rescuedDataColumn"),
        .line_separator = mr_option_text(o, n, "lineSep", MR_TEXT("")),
    };
    enum mr_status status = mr_temporal_init(&out->temporal, o, n, config->zone, true, a, err);
    out->temporal.now_us = config->now_us;
    out->zone_is_utc = out->temporal.zone == mr_zone_utc();
    if (status == MR_OK)
        status = mr_rescued_check(config, out->rescued_name, out->corrupt_name, err);
    return status;
}

/* A file of one text can't be cut; nor, simply, one with another separator. */
static bool is_lines(const struct mr_option *options, uint32_t n)
{
    const char *separator = mr_option_get(options, n, "lineSep");

    return !mr_option_boolean(options, n, "multiLine", false) &&
           (separator == NULL || strcmp(separator, "\n") == 0);
}

struct mr_encoder {
    struct mr_json_writer writer;
    const struct mr_type *schema;
    struct mr_text separator;
};

static enum mr_status encoder_open(const struct mr_encoder_config *config, struct mr_arena *a,
                                   struct mr_encoder **out, struct mr_error *err)
{
    struct mr_encoder *e = MR_NEW(a, struct mr_encoder);
    enum mr_status status =
        mr_json_writer_init(&e->writer, config->options, config->options_n, config->zone, a, err);

    e->schema = config->schema;
    e->separator = mr_option_text(config->options, config->options_n, "lineSep", MR_TEXT("\n"));
    *out = e;
    return status;
}

static void encode_begin(struct mr_encoder *e, struct mr_buffer *out)
{
    MR_ASSERT(e != NULL && out != NULL);
}

static enum mr_status encode(struct mr_encoder *e, const struct mr_batch *batch,
                             struct mr_buffer *out, struct mr_error *err)
{
    MR_ASSERT(err != NULL && batch->columns_n == e->schema->fields_n);
    for (uint32_t i = 0; i < batch->n; i++) {
        mr_json_write_row(&e->writer, e->schema, batch, mr_batch_row(batch, i), out);
        mr_buffer_append_text(out, e->separator);
    }
    return MR_OK;
}

const struct mr_format_ops mr_format_json = {
    .name = "json",
    .options = specs,
    .check_options = check_options,
    .decoder_open = json_decoder_open,
    .decoder_begin = json_decoder_begin,
    .decode = json_decode,
    .decoder_close = json_decoder_close,
    .is_lines = is_lines,
    .splittable = is_lines,
    .encoder_open = encoder_open,
    .encode_begin = encode_begin,
    .encode = encode,
};
