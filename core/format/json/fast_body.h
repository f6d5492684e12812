/* fast_body.h - the loop of the fast path, compiled once per instruction set: each variant includes it and
 * defines the two functions declared here.
 */
#pragma once
#include "core/base/check.h"
#include "core/base/time.h"
#include "core/format/json/fast.h"
#include "core/format/json/number.h"
#include "core/format/json/skip.h"

static inline bool same_prefix(const struct json_member *m, const uint8_t *p);
/* As json_string_end. */
static inline const uint8_t *plain_string_end(const uint8_t *p);
/* As json_decimal_parse. */
static inline const uint8_t *decimal_parse(const uint8_t *p, struct json_decimal *out);

static inline bool day_is(const struct json_day *day, const uint8_t *s)
{
    uint32_t rest;
    memcpy(&rest, s + 8, 4);
    return load_8(s) == day->text && (rest & 0xffffff) == day->rest;
}

/* "03:04:05" -> microseconds of the day, or -1. */
static inline int64_t clock_parse(const uint8_t *s)
{
    uint64_t x = load_8(s) ^ UINT64_C(0x30303a30303a3030);
    uint64_t wrong = ((x + UINT64_C(0x76767f76767f7676)) | x) & UINT64_C(0x8080808080808080);
    x = x * 10 + (x >> 8);
    int64_t hour = (int64_t)(x & 0xff), minute = (int64_t)(x >> 24 & 0xff),
            second = (int64_t)(x >> 48 & 0xff);
    if (wrong || hour > 23 || minute > 59 || second > 59)
        return -1;
    return (hour * 3600 + minute * 60 + second) * MR_US_PER_SECOND;
}

/* 2026-01-02T03:04:05[.f{1,7}]Z, and without Z when the zone is UTC. Anything else: the slow way. */
static inline bool timestamp_parse(struct json_fast *f, const uint8_t *s, uint32_t n, int64_t *us)
{
    static const uint32_t scales[] = {1000000, 100000, 10000, 1000, 100, 10, 1};

    if (n < 19 || (!day_is(&f->day, s) && !json_fast_day(&f->day, s)))
        return json_fast_timestamp(f, s, n, us);
    int64_t clock = clock_parse(s + 11);
    if (clock < 0)
        return json_fast_timestamp(f, s, n, us);
    const uint8_t *p = s + 19;
    if (*p == '.') {
        uint64_t digits = load_8(p + 1) ^ MR_ASCII_ZEROS;
        uint32_t digits_n = digits_run(digits);
        if (digits_n - 1 > 5)
            return json_fast_timestamp(f, s, n, us);
        clock += digits_value(digits, digits_n) * scales[digits_n];
        p += 1 + digits_n;
    }
    bool ends = (*p == 'Z' && p + 1 == s + n) || (p == s + n && f->plan->options.zone_is_utc);
    if (!ends)
        return json_fast_timestamp(f, s, n, us);
    *us = f->day.us + clock;
    return true;
}

static inline const uint8_t *double_value(struct json_fast *f, const uint8_t *p,
                                          const struct json_member *m, uint32_t row)
{
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    struct json_decimal d;
    const uint8_t *end = decimal_parse(p, &d);

    if (MR_UNLIKELY(end == NULL))
        return json_fast_value(f, p, m->field, row);
    /* both are exact, so the quotient is the nearest double; -0 is an integer, and so 0.0 */
    double x = (double)(int64_t)d.unscaled / powers[d.scale];
    ((double *)m->out)[row] = d.negative && (d.unscaled || d.scale) ? -x : x;
    return end;
}

static inline const uint8_t *integer_value(struct json_fast *f, const uint8_t *p,
                                           const struct json_member *m, uint32_t row)
{
    struct json_decimal d;
    const uint8_t *end = decimal_parse(p, &d);

    if (MR_UNLIKELY(end == NULL || end[-1 - (int)d.scale] == '.'))
        return json_fast_value(f, p, m->field, row);
    int64_t x = d.negative ? -(int64_t)d.unscaled : (int64_t)d.unscaled;
    if (m->step == JSON_TAKE_BIGINT)
        ((int64_t *)m->out)[row] = x;
    else if (MR_LIKELY(x == (int32_t)x))
        ((int32_t *)m->out)[row] = (int32_t)x;
    else
        return NULL;
    return end;
}

static inline const uint8_t *boolean_value(struct json_fast *f, const uint8_t *p,
                                           const struct json_member *m, uint32_t row)
{
    if (memcmp(p, "true", 4) == 0) {
        mr_bit_set(m->out, row);
        return p + 4;
    }
    if (memcmp(p, "false", 5) == 0) {
        mr_bit_clear(m->out, row);
        return p + 5;
    }
    return json_fast_value(f, p, m->field, row);
}

static inline const uint8_t *parse_value(struct json_fast *f, const uint8_t *p,
                                         const struct json_member *m, uint32_t row)
{
    const uint8_t *end;
    struct json_decimal d;

    switch (m->step) {
    case JSON_SKIP_TEXT:
        end = plain_string_end(p);
        return MR_LIKELY(end != NULL) ? end + 1 : json_fast_value(f, p - 1, JSON_UNKNOWN, row);
    case JSON_TAKE_STRING:
        end = plain_string_end(p);
        if (MR_UNLIKELY(end == NULL))
            return json_fast_value(f, p - 1, m->field, row);
        mr_heaps_borrow(f->heaps->base, (struct mr_view *)m->out + row, p, (uint32_t)(end - p));
        return end + 1;
    case JSON_TAKE_TIMESTAMP:
        end = plain_string_end(p);
        if (MR_UNLIKELY(end == NULL ||
                        !timestamp_parse(f, p, (uint32_t)(end - p), (int64_t *)m->out + row)))
            return json_fast_value(f, p - 1, m->field, row);
        return end + 1;
    case JSON_TAKE_DOUBLE:
        return double_value(f, p, m, row);
    case JSON_TAKE_BIGINT:
    case JSON_TAKE_INT:
        return integer_value(f, p, m, row);
    case JSON_TAKE_BOOLEAN:
        return boolean_value(f, p, m, row);
    case JSON_SKIP_VALUE:
        end = decimal_parse(p, &d);
        return MR_LIKELY(end != NULL) ? end : json_fast_value(f, p, JSON_UNKNOWN, row);
    case JSON_TAKE_OTHER:
        return json_fast_value(f, p, m->field, row);
    case JSON_CLOSED:
        break;
    }
    __builtin_unreachable();
}

/* One object. Gives its closing brace, or NULL: the exact path must decide. */
static inline const uint8_t *parse_line(struct json_fast *f, const uint8_t *line, uint32_t row)
{
    const uint8_t *p = line;
    const struct json_member *m = f->members;
    struct json_member other;
    uint64_t seen = 0;
    uint32_t found = 0;

    if (MR_UNLIKELY(f->seen_words))
        memset(f->seen, 0, sizeof *f->seen * f->seen_words);
    for (;; m++) {
        const struct json_member *now = m;
        if (MR_LIKELY(same_prefix(m, p))) { /* never true behind the last */
            p += m->prefix_n;
        } else {
            p = json_fast_find(f, p, p == line, &m, &other);
            if (p == NULL)
                return NULL;
            if (other.step == JSON_CLOSED)
                break;
            now = &other;
        }
        seen |= now->bit;
        found += now->needed;
        p = parse_value(f, p, now, row);
        if (MR_UNLIKELY(p == NULL))
            return NULL;
        if (*p == '}')
            break;
    }
    if (MR_UNLIKELY(seen != f->all || found != f->all_n || f->seen_words) &&
        !json_fast_missing(f, seen, found, row))
        return NULL;
    return p;
}

static uint32_t parse_lines(struct json_fast *f, const uint8_t *data, uint32_t *start,
                            const uint32_t *ends, uint32_t n, uint32_t *row, uint32_t rows_max)
{
    uint32_t at = *start, to = *row, i = 0;

    for (; i < n && to < rows_max; i++) {
        if (at != ends[i]) {
            const uint8_t *brace = parse_line(f, data + at, to);
            if (brace == NULL || brace >= data + ends[i])
                break;
            to++;
        }
        at = ends[i] + f->gap;
    }
    *start = at;
    *row = to;
    return i;
}
