#include "core/base/check.h"
#include "core/format/csv/csv.h"
#include "core/format/value.h"
#include <math.h>

/* Java's parseInt: a sign and digits, no blanks. */
static bool convert_integer(struct mr_text t, int64_t min, int64_t max, int64_t *out)
{
    uint64_t i = t.n && (t.data[0] == '-' || t.data[0] == '+');

    if (i == t.n)
        return false;
    for (; i < t.n; i++)
        if (t.data[i] < '0' || t.data[i] > '9')
            return false;
    return mr_value_parse_integer(t, min, max, out);
}

/* Of words, Java's parseDouble takes only NaN and Infinity, by case. */
static bool is_java_number(struct mr_text t)
{
    t = mr_text_trim(t);
    if (t.n && (t.data[0] == '-' || t.data[0] == '+'))
        t = (struct mr_text){t.data + 1, t.n - 1};
    for (uint64_t i = 0; i < t.n; i++)
        if ((t.data[i] | 0x20) == 'n')
            return mr_text_equal(t, MR_TEXT("NaN")) || mr_text_equal(t, MR_TEXT("Infinity"));
    return true;
}

static bool convert_float(const struct csv_options *o, const struct mr_type *type, struct mr_text t,
                          struct mr_cell *out)
{
    double special = 0;
    bool is_special = true;

    if (mr_text_equal(t, o->nan_value))
        special = NAN;
    else if (mr_text_equal(t, o->negative_infinity))
        special = -INFINITY;
    else if (mr_text_equal(t, o->positive_infinity))
        special = INFINITY;
    else
        is_special = false;
    if (!is_special && !is_java_number(t))
        return false;
    if (type->kind == MR_FLOAT) {
        out->f32 = (float)special;
        return is_special || mr_value_parse_float(t, &out->f32);
    }
    out->f64 = special;
    return is_special || mr_value_parse_double(t, &out->f64);
}

static bool convert_boolean(struct mr_text t, int64_t *out)
{
    *out = mr_text_equal_ignoring_case(t, MR_TEXT("true"));
    return *out || mr_text_equal_ignoring_case(t, MR_TEXT("false"));
}

bool csv_convert(const struct csv_options *o, const struct mr_type *type, struct mr_text t,
                 struct mr_arena *scratch, struct mr_cell *out)
{
    out->is_null = false;
    switch (type->kind) {
    case MR_STRING:
    case MR_BINARY: /* from_csv only */
        out->text = t;
        return true;
    case MR_BOOLEAN:
        return convert_boolean(t, &out->i64);
    case MR_TINYINT:
        return convert_integer(t, INT8_MIN, INT8_MAX, &out->i64);
    case MR_SMALLINT:
        return convert_integer(t, INT16_MIN, INT16_MAX, &out->i64);
    case MR_INT:
        return convert_integer(t, INT32_MIN, INT32_MAX, &out->i64);
    case MR_BIGINT:
        return convert_integer(t, INT64_MIN, INT64_MAX, &out->i64);
    case MR_FLOAT:
    case MR_DOUBLE:
        return convert_float(o, type, t, out);
    case MR_DECIMAL:
        return mr_cell_parse_decimal(type, t, scratch, &out->i128);
    case MR_DATE:
        return mr_temporal_parse_date(&o->temporal, t, scratch, &out->i64);
    case MR_TIMESTAMP:
        return mr_temporal_parse_timestamp(&o->temporal, t, scratch, &out->i64);
    case MR_TIMESTAMP_NTZ:
        return mr_temporal_parse_timestamp_ntz(&o->temporal, t, &out->i64);
    default:
        return mr_cell_parse_interval(type, t, out);
    }
}
