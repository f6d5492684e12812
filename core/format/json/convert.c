#include "core/format/json/convert.h"

#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/value.h"
#include <math.h>

/* Spark 1.x wrote "2000-01-01T00:00GMT+01:00": the first GMT is dropped. */
static struct mr_text without_gmt(struct mr_text t, struct mr_arena *scratch)
{
    for (uint64_t i = 0; i + 3 <= t.n; i++) {
        if (memcmp(t.data + i, "GMT", 3) == 0) {
            char *copy = mr_arena_copy(scratch, t.data, t.n);
            memmove(copy + i, copy + i + 3, t.n - i - 3);
            return (struct mr_text){copy, t.n - 3};
        }
    }
    return t;
}

static bool convert_timestamp(const struct json_plan *plan, struct mr_text t,
                              struct mr_arena *scratch, int64_t *us)
{
    const struct json_options *o = &plan->options;

    if (o->timestamp && mr_pattern_parse(o->timestamp, t, o->zone, us))
        return true;
    if (o->timestamp && !o->timestamp_fallback)
        return false;
    return mr_value_parse_timestamp(t, o->zone, plan->now_us, us) ||
           mr_value_parse_timestamp(without_gmt(t, scratch), o->zone, plan->now_us, us);
}

/* Days counted in the Julian calendar before 1582-10-15 -> days of the same date in the Gregorian one. */
static int64_t rebase_julian_days(int64_t days)
{
    const int64_t cutover = -141427; /* 1582-10-15 */

    if (days >= cutover)
        return days;
    int64_t z = days + 719470; /* Julian 0000-03-01 is day 0 */
    int64_t era = mr_floor_div(z, 1461);
    int64_t day_of_era = z - era * 1461;
    int64_t year_of_era = day_of_era / 365 > 3 ? 3 : day_of_era / 365;
    int64_t day_of_year = day_of_era - 365 * year_of_era;
    int64_t month = (5 * day_of_year + 2) / 153;
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    int64_t year = era * 4 + year_of_era + (month >= 10);
    return mr_days_from_civil((int32_t)year, (uint32_t)(month < 10 ? month + 3 : month - 9),
                              (uint32_t)day);
}

static bool convert_date(const struct json_plan *plan, struct mr_text t, struct mr_arena *scratch,
                         int64_t *out)
{
    int32_t days;
    int64_t number;

    int64_t us;

    if (plan->options.date) {
        if (mr_pattern_parse(plan->options.date, t, mr_zone_utc(), &us)) {
            *out = mr_floor_div(us, MR_US_PER_DAY);
            return true;
        }
        if (!plan->options.date_fallback)
            return false;
    }
    if (mr_value_parse_date(t, &days) || mr_value_parse_date(without_gmt(t, scratch), &days)) {
        *out = days;
        return true;
    }
    /* Spark 1.5 wrote dates as days since 1970. */
    if (t.n == 0 || t.data[0] <= ' ' || t.data[t.n - 1] <= ' ' ||
        !mr_value_parse_integer(t, INT32_MIN, INT32_MAX, &number))
        return false;
    *out = rebase_julian_days(number);
    return true;
}

static bool convert_timestamp_ntz(const struct json_plan *plan, struct mr_text t, int64_t *us)
{
    if (plan->options.timestamp_ntz)
        return mr_pattern_parse(plan->options.timestamp_ntz, t, mr_zone_utc(), us);
    return mr_value_parse_timestamp_ntz(t, us);
}

/* Only these texts stand for doubles, and only if the option allows it. */
static bool convert_non_numeric(const struct json_plan *plan, struct mr_text t, double *out)
{
    static const struct {
        const char *name;
        double value;
    } names[] = {
        {"NaN", NAN},           {"+INF", INFINITY},      {"+Infinity", INFINITY},
        {"Infinity", INFINITY}, {"-INF", -INFINITY},     {"-Infinity", -INFINITY},
    };

    if (!plan->options.non_numeric)
        return false;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (mr_text_equal(t, mr_text_of(names[i].name))) {
            *out = names[i].value;
            return true;
        }
    }
    return false;
}

/* A text for DECIMAL may have grouping commas, anywhere. */
static bool convert_decimal_text(const struct mr_type *type, struct mr_text t,
                                 struct mr_arena *scratch, __int128 *out)
{
    char *copy = mr_arena_alloc(scratch, t.n + 1);
    uint64_t n = 0;

    for (uint64_t i = 0; i < t.n; i++) {
        if (t.data[i] <= ' ')
            return false;
        if (t.data[i] != ',')
            copy[n++] = t.data[i];
    }
    return mr_value_parse_decimal((struct mr_text){copy, n}, type->precision, type->scale, out);
}

static int base64_digit(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* MIME base64 as Jackson reads it: blanks between groups are skipped, padding is required. */
static bool convert_binary(struct mr_text t, struct mr_arena *scratch, struct mr_text *out)
{
    uint8_t *bytes = mr_arena_alloc(scratch, t.n + 3);
    uint64_t n = 0, i = 0;

    for (;;) {
        while (i < t.n && (uint8_t)t.data[i] <= ' ')
            i++;
        if (i == t.n)
            break;
        uint32_t bits = 0, digits = 0, padding = 0;
        for (; digits + padding < 4; i++) {
            if (i == t.n)
                return false;
            int digit = base64_digit((uint8_t)t.data[i]);
            if (digit >= 0 && padding == 0)
                bits = bits << 6 | (uint32_t)digit, digits++;
            else if (t.data[i] == '=' && digits >= 2)
                bits <<= 6, padding++;
            else
                return false;
        }
        bytes[n] = (uint8_t)(bits >> 16);
        bytes[n + 1] = (uint8_t)(bits >> 8);
        bytes[n + 2] = (uint8_t)bits;
        n += 3 - padding;
    }
    *out = (struct mr_text){(const char *)bytes, n};
    return true;
}

static bool convert_double_text(const struct json_plan *plan, const struct mr_type *type,
                                struct mr_text t, struct json_value *out)
{
    double x;

    if (!convert_non_numeric(plan, t, &x))
        return false;
    if (type->kind == MR_FLOAT)
        out->f32 = (float)x;
    else
        out->f64 = x;
    return true;
}

static bool convert_interval(const struct mr_type *type, struct mr_text t, struct json_value *out)
{
    struct mr_calendar_interval i;

    if (!mr_value_parse_interval(t, &i))
        return false;
    if (type->kind == MR_INTERVAL_CALENDAR)
        out->calendar = i;
    else if (type->kind == MR_INTERVAL_YEAR_MONTH)
        out->i64 = i.months;
    else
        out->i64 = i.days * MR_US_PER_DAY + i.us;
    return type->kind == MR_INTERVAL_CALENDAR ||
           (type->kind == MR_INTERVAL_YEAR_MONTH ? i.days == 0 && i.us == 0 : i.months == 0);
}

bool json_convert_text(const struct json_plan *plan, const struct mr_type *type, struct mr_text t,
                       struct mr_arena *scratch, struct json_value *out)
{
    out->is_null = false;
    if (type->kind == MR_STRING) {
        out->text = t;
        return true;
    }
    if (type->kind == MR_BINARY)
        return convert_binary(t, scratch, &out->text);
    if (t.n == 0)
        return false;
    switch (type->kind) {
    case MR_TIMESTAMP:
        return convert_timestamp(plan, t, scratch, &out->i64);
    case MR_TIMESTAMP_NTZ:
        return convert_timestamp_ntz(plan, t, &out->i64);
    case MR_DATE:
        return convert_date(plan, t, scratch, &out->i64);
    case MR_FLOAT:
    case MR_DOUBLE:
        return convert_double_text(plan, type, t, out);
    case MR_DECIMAL:
        return convert_decimal_text(type, t, scratch, &out->i128);
    case MR_INTERVAL_CALENDAR:
    case MR_INTERVAL_YEAR_MONTH:
    case MR_INTERVAL_DAY_TIME:
        return convert_interval(type, t, out);
    default:
        return false;
    }
}

bool json_convert_number(const struct mr_type *type, struct mr_text t, bool integer,
                         struct json_value *out)
{
    out->is_null = false;
    switch (type->kind) {
    case MR_TINYINT: /* Jackson's byte goes up to 255, and wraps */
        if (!integer || !mr_value_parse_integer(t, INT8_MIN, UINT8_MAX, &out->i64))
            return false;
        out->i64 = (int8_t)out->i64;
        return true;
    case MR_SMALLINT:
        return integer && mr_value_parse_integer(t, INT16_MIN, INT16_MAX, &out->i64);
    case MR_INT:
        return integer && mr_value_parse_integer(t, INT32_MIN, INT32_MAX, &out->i64);
    case MR_BIGINT:
        return integer && mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &out->i64);
    case MR_TIMESTAMP: /* seconds; the product wraps, as in Java */
        if (!integer || !mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &out->i64))
            return false;
        out->i64 = (int64_t)((uint64_t)out->i64 * (uint64_t)MR_US_PER_SECOND);
        return true;
    case MR_FLOAT:
        if (!mr_value_parse_float(t, &out->f32))
            return false;
        if (integer && out->f32 == 0)
            out->f32 = 0;
        return true;
    case MR_DOUBLE:
        if (!mr_value_parse_double(t, &out->f64))
            return false;
        if (integer && out->f64 == 0)
            out->f64 = 0; /* the integer -0 is 0 */
        return true;
    case MR_DECIMAL:
        return mr_value_parse_decimal(t, type->precision, type->scale, &out->i128);
    default:
        return false;
    }
}

void json_store(struct mr_column *c, uint32_t row, const struct json_value *v,
                struct mr_heaps *heaps)
{
    switch (c->type->kind) {
    case MR_BOOLEAN:
        mr_bit_put(c->bits, row, v->i64 != 0);
        break;
    case MR_TINYINT:
        c->i8[row] = (int8_t)v->i64;
        break;
    case MR_SMALLINT:
        c->i16[row] = (int16_t)v->i64;
        break;
    case MR_INT:
    case MR_DATE:
    case MR_INTERVAL_YEAR_MONTH:
        c->i32[row] = (int32_t)v->i64;
        break;
    case MR_BIGINT:
    case MR_TIMESTAMP:
    case MR_TIMESTAMP_NTZ:
    case MR_INTERVAL_DAY_TIME:
        c->i64[row] = v->i64;
        break;
    case MR_FLOAT:
        c->f32[row] = v->f32;
        break;
    case MR_DOUBLE:
        c->f64[row] = v->f64;
        break;
    case MR_DECIMAL:
        c->i128[row] = v->i128;
        break;
    case MR_INTERVAL_CALENDAR:
        c->calendar[row] = v->calendar;
        break;
    case MR_STRING:
    case MR_BINARY:
        mr_heaps_put(heaps, &c->views[row], v->text);
        break;
    default:
        MR_UNREACHABLE();
    }
}
