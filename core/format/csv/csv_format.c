#include "core/format/csv/csv.h"

static bool is_lines(const struct mr_option *options, uint32_t n)
{
    const char *separator = mr_option_get(options, n, "lineSep");

    return !mr_option_boolean(options, n, "multiLine", false) &&
           (separator == NULL || strcmp(separator, "\n") == 0);
}

/* With a header only the start of a file tells what a line is. */
static bool splittable(const struct mr_option *options, uint32_t n)
{
    return is_lines(options, n) && !mr_option_boolean(options, n, "header", false);
}

const struct mr_format_ops mr_format_csv = {
    .name = "csv",
    .options = csv_option_specs,
    .check_options = csv_options_check,
    .decoder_open = csv_decoder_open,
    .decoder_begin = csv_decoder_begin,
    .decode = csv_decode,
    .decoder_close = csv_decoder_close,
    .is_lines = is_lines,
    .splittable = splittable,
    .encoder_open = csv_encoder_open,
    .encode_begin = csv_encode_begin,
    .encode = csv_encode,
};
