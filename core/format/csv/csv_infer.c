/* schema_of_csv, and the options of the three functions. Inferred is the narrowest type, in Spark's
 * order, that takes a field. */
#include "core/base/bounds.h"
#include "core/format/csv/csv.h"
#include "core/format/csv/csv_record.h"
#include "core/format/value.h"

enum mr_status mr_csv_record_options(const struct mr_option *options, uint32_t n, bool reading,
                                     struct mr_arena *a, struct mr_option **out, uint32_t *out_n,
                                     struct mr_error *err)
{
    *out = MR_NEW_ARRAY(a, struct mr_option, n + 1);
    *out_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct mr_error ignored = {0};
        enum mr_status alone =
            mr_options_check("csv", csv_option_specs, &options[i], 1, reading, &ignored);
        bool is_mode = mr_text_equal_ignoring_case(mr_text_of(options[i].name), MR_TEXT("mode"));
        if (alone == MR_OK || (mr_option_is_known(csv_option_specs, options[i].name) && !is_mode))
            (*out)[(*out_n)++] = options[i];
    }
    return csv_options_check(*out, *out_n, reading, err);
}

/* Of 1.50e2 the digits (150), those behind the point (2), and the exponent; false: no such
 * number. */
static bool split_number(struct mr_text t, uint32_t *digits, uint32_t *fraction, int64_t *exponent)
{
    uint64_t i = t.n && (t.data[0] == '-' || t.data[0] == '+'), first = i;
    bool point = false;

    *digits = *fraction = 0;
    *exponent = 0;
    for (; i < t.n && (mr_is_digit(t.data[i]) || (t.data[i] == '.' && !point)); i++) {
        point = point || t.data[i] == '.';
        if (t.data[i] == '.')
            continue;
        *digits += *digits > 0 || t.data[i] != '0';
        *fraction += point;
    }
    if (i - first == (uint64_t)point)
        return false;
    if (i < t.n && (t.data[i] | 0x20) == 'e')
        return mr_value_parse_integer((struct mr_text){t.data + i + 1, t.n - i - 1}, INT32_MIN,
                                      INT32_MAX, exponent);
    return i == t.n;
}

/* Only a number that has no scale as it is written. */
static const struct mr_type *infer_decimal(struct mr_text t, struct mr_arena *a)
{
    uint32_t digits, fraction;
    int64_t exponent;

    if (!split_number(t, &digits, &fraction, &exponent) || fraction != exponent ||
        digits > MR_DECIMAL_DIGITS)
        return NULL;
    return mr_type_decimal(a, digits ? digits : 1, 0);
}

/* 2026-01-02 and nothing else, which a cast to DATE is not so strict about. */
static bool is_plain_date(struct mr_text t)
{
    if (t.n != 10 || t.data[4] != '-' || t.data[7] != '-')
        return false;
    for (uint32_t i = 0; i < 10; i++)
        if (i != 4 && i != 7 && !mr_is_digit(t.data[i]))
            return false;
    return true;
}

static const struct mr_type *infer_field(const struct csv_options *o, bool prefer_date,
                                         struct mr_text t, struct mr_arena *a)
{
    static const struct mr_type *const before_decimal[] = {&mr_type_int, &mr_type_bigint};
    static const struct mr_type *const after_decimal[] = {&mr_type_double, &mr_type_date,
                                                          &mr_type_timestamp, &mr_type_boolean};
    const struct mr_type *decimal;
    struct mr_cell cell;

    if (t.n == 0 || mr_text_equal(t, o->syntax.null_value))
        return &mr_type_string;
    for (uint32_t i = 0; i < sizeof before_decimal / sizeof *before_decimal; i++)
        if (csv_convert(o, before_decimal[i], t, a, &cell))
            return before_decimal[i];
    decimal = infer_decimal(t, a);
    if (decimal)
        return decimal;
    for (uint32_t i = 0; i < sizeof after_decimal / sizeof *after_decimal; i++) {
        if (after_decimal[i]->kind == MR_DATE &&
            (!prefer_date || (o->temporal.date == NULL && !is_plain_date(t))))
            continue;
        if (csv_convert(o, after_decimal[i], t, a, &cell))
            return after_decimal[i];
    }
    return &mr_type_string;
}

enum mr_status mr_csv_infer(const struct mr_option *options, uint32_t n, const struct mr_zone *zone,
                            struct mr_text text, struct mr_arena *a, const struct mr_type **out,
                            struct mr_error *err)
{
    struct csv_options o;
    struct csv_tokens t = {.syntax = &o.syntax, .arena = a};
    bool prefer_date = mr_option_boolean(options, n, "preferDate", true);
    enum mr_status status = csv_options_read(options, n, zone, true, a, &o, err);
    struct mr_field *fields;

    *out = NULL;
    if (status != MR_OK || csv_tokens_text(&t, (const uint8_t *)text.data, text.n) != CSV_RECORD)
        return status;
    fields = MR_NEW_ARRAY(a, struct mr_field, t.n);
    for (uint32_t i = 0; i < t.n; i++)
        fields[i] = (struct mr_field){mr_arena_format(a, "_c%u", i),
                                      infer_field(&o, prefer_date, t.fields[i], a), true};
    *out = mr_type_struct(a, fields, t.n);
    return MR_OK;
}
