/* Texts as values of every kind, as patterns and as schemas: no byte may be read beyond them, and
 * what was read must print and read again as the same. */
#include "core/base/check.h"
#include "core/format/ddl.h"
#include "core/format/pattern.h"
#include "core/format/value.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void numbers(struct mr_text t)
{
    char text[MR_VALUE_TEXT];
    int64_t i, i_back;
    double d, d_back;
    float f, f_back;
    __int128 q, q_back;
    bool b;

    (void)mr_value_parse_boolean(t, &b);
    if (mr_value_parse_integer(t, INT64_MIN, INT64_MAX, &i)) {
        struct mr_text printed = {text, mr_value_print_integer(i, text)};
        MR_ASSERT(mr_value_parse_integer(printed, INT64_MIN, INT64_MAX, &i_back) && i == i_back);
    }
    if (mr_value_parse_double(t, &d)) {
        struct mr_text printed = {text, mr_value_print_double(d, text)};
        MR_ASSERT(mr_value_parse_double(printed, &d_back) &&
                  (d != d || memcmp(&d, &d_back, sizeof d) == 0));
    }
    if (mr_value_parse_float(t, &f)) {
        struct mr_text printed = {text, mr_value_print_float(f, text)};
        MR_ASSERT(mr_value_parse_float(printed, &f_back) &&
                  (f != f || memcmp(&f, &f_back, sizeof f) == 0));
    }
    if (mr_value_parse_decimal(t, 38, 10, &q)) {
        struct mr_text printed = {text, mr_value_print_decimal(q, 10, text)};
        MR_ASSERT(mr_value_parse_decimal(printed, 38, 10, &q_back) && q == q_back);
        printed.n = mr_value_print_decimal_short(q, 10, text);
        MR_ASSERT(mr_value_parse_decimal(printed, 38, 10, &q_back) && q == q_back);
    }
}

static void times(struct mr_text t)
{
    char text[MR_VALUE_TEXT];
    int64_t us, back;
    int32_t days, days_back;
    struct mr_calendar_interval interval, interval_back;

    if (mr_value_parse_date(t, &days)) {
        struct mr_text printed = {text, mr_value_print_date(days, text)};
        MR_ASSERT(mr_value_parse_date(printed, &days_back) && days == days_back);
    }
    if (mr_value_parse_timestamp(t, mr_zone_utc(), 0, &us)) {
        struct mr_text printed = {text, mr_value_print_timestamp(us, mr_zone_utc(), text)};
        MR_ASSERT(mr_value_parse_timestamp(printed, mr_zone_utc(), 0, &back) && us == back);
    }
    (void)mr_value_parse_timestamp_ntz(t, &us);
    (void)mr_value_parse_timestamp_ntz_or_zoned(t, &us);
    if (mr_value_parse_interval(t, &interval)) {
        struct mr_text printed = {text, mr_value_print_calendar_interval(&interval, text)};
        MR_ASSERT(mr_value_parse_interval(printed, &interval_back) &&
                  interval.months == interval_back.months && interval.days == interval_back.days &&
                  interval.us == interval_back.us);
    }
}

static void schemas(struct mr_text t, struct mr_arena *a)
{
    const struct mr_type *type, *back;
    struct mr_error err;
    struct mr_buffer printed;

    if (mr_ddl_parse_schema(t, a, &type, &err) != MR_OK)
        return;
    mr_buffer_init(&printed, a);
    mr_type_print_sql(type, &printed);
    MR_ASSERT(mr_ddl_parse_schema(mr_buffer_text(&printed), a, &back, &err) == MR_OK &&
              mr_type_equal_with_nullability(type, back));
}

/* The first byte says how much of the rest is the pattern. */
static void patterns(struct mr_text t, struct mr_arena *a)
{
    const struct mr_pattern *p;
    struct mr_error err;
    struct mr_buffer printed;
    int64_t us = 1767323045678901;

    if (t.n == 0)
        return;
    uint64_t n = (unsigned char)t.data[0] % t.n;
    struct mr_text pattern = {t.data + 1, n}, rest = {t.data + 1 + n, t.n - 1 - n};
    mr_buffer_init(&printed, a);
    if (mr_pattern_compile(pattern, false, a, &p, &err) == MR_OK)
        mr_pattern_print(p, us, mr_zone_utc(), &printed);
    if (mr_pattern_compile(pattern, true, a, &p, &err) == MR_OK) {
        (void)mr_pattern_parse(p, rest, mr_zone_utc(), &us);
        (void)mr_pattern_parse(p, mr_buffer_text(&printed), mr_zone_utc(), &us);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static jmp_buf escape;
    struct mr_arena a;
    char *exact = malloc(size ? size : 1); /* so that one byte too many is seen */
    struct mr_text t = {exact, size};

    memcpy(exact, data, size);
    mr_arena_init(&a, NULL, &escape);
    numbers(t);
    times(t);
    schemas(t, &a);
    patterns(t, &a);
    mr_arena_fini(&a);
    free(exact);
    return 0;
}
