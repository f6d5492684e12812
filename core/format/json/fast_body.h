/* fast_body.h - the loop of the fast path, compiled once per instruction set: each variant includes
 * it and defines the two functions declared here.
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
    memcpy(&rest, s + 7, 4);
    return load_8(s) == day->text && rest == day->rest;
}

/* "03:04:05" -> seconds of the day, or -1. All eight bytes are checked and paired at once. */
static inline int64_t clock_parse(const uint8_t *s)
{
    const uint64_t marks = UINT64_C(0x8080808080808080);
    uint64_t x = load_8(s) ^ UINT64_C(0x30303a30303a3030);
    uint64_t wrong = ((x + UINT64_C(0x76767f76767f7676)) | x) & marks;

    x = x * 10 + (x >> 8); /* hour, minute, second in bytes 0, 3, 6 */
    wrong |= (x + UINT64_C(0x0044000044000068)) & UINT64_C(0x0080000080000080);
    if (MR_UNLIKELY(wrong))
        return -1;
    return (int64_t)((x & 0xff) * 3600 + (x >> 24 & 0xff) * 60 + (x >> 48 & 0xff));
}

/* 2026-01-02T03:04:05[.f{1,7}]Z, and without Z when the zone is UTC. Anything else: the slow
 * way. */
static inline bool timestamp_parse(struct json_fast *f, const uint8_t *s, uint32_t n, int64_t *us)
{
    static const uint32_t scales[] = {1000000, 100000, 10000, 1000, 100, 10, 1};

    if (n < 19 || (!day_is(&f->day, s) && !json_fast_day(&f->day, s)))
        return json_fast_timestamp(f, s, n, us);
    int64_t clock = clock_parse(s + 11);
    if (clock < 0)
        return json_fast_timestamp(f, s, n, us);
    clock *= MR_US_PER_SECOND;
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

/* A text that is needed: [p, end). */
static inline bool take_text(struct json_fast *f, const struct json_member *m, const uint8_t *p,
                             const uint8_t *end, uint32_t row)
{
    uint32_t n = (uint32_t)(end - p);

    if (m->step == JSON_TAKE_TIMESTAMP)
        return timestamp_parse(f, p, n, (int64_t *)m->out + row);
    mr_heaps_borrow(f->heaps->base, (struct mr_view *)m->out + row, p, n);
    return true;
}

/* A number that is needed; end: the byte behind it. False: it is none for that column. */
static inline bool take_number(const struct json_member *m, const struct json_decimal *d,
                               const uint8_t *end, uint32_t row)
{
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    int64_t x = d->negative ? -(int64_t)d->unscaled : (int64_t)d->unscaled;

    if (m->step == JSON_TAKE_DOUBLE) {
        /* Both are exact, so the quotient is the nearest double. -0 is an integer, and so 0.0. */
        double size = (double)(int64_t)d->unscaled / powers[d->scale];
        ((double *)m->out)[row] = d->negative && (x || d->scale) ? -size : size;
        return true;
    }
    if (end[-1 - (int)d->scale] == '.')
        return false;
    if (m->step == JSON_TAKE_BIGINT) {
        ((int64_t *)m->out)[row] = x;
        return true;
    }
    ((int32_t *)m->out)[row] = (int32_t)x;
    return x == (int32_t)x;
}

static inline const uint8_t *take_boolean(struct json_fast *f, const uint8_t *p,
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

/* A chain of tests, the usual steps first: a switch costs more, as an indirect jump through a
 * table. */
static inline const uint8_t *parse_value(struct json_fast *f, const uint8_t *p,
                                         const struct json_member *m, uint32_t row)
{
    if (m->step <= JSON_TAKE_TIMESTAMP) {
        const uint8_t *end = plain_string_end(p);
        if (MR_UNLIKELY(end == NULL ||
                        (m->step != JSON_SKIP_TEXT && !take_text(f, m, p, end, row))))
            return json_fast_value(f, p - 1, m->field, row);
        return end + 1;
    }
    if (m->step <= JSON_TAKE_INT) {
        struct json_decimal d;
        const uint8_t *end = decimal_parse(p, &d);
        if (MR_UNLIKELY(end == NULL ||
                        (m->step != JSON_SKIP_NUMBER && !take_number(m, &d, end, row))))
            return json_fast_value(f, p, m->field, row);
        return end;
    }
    if (m->step == JSON_TAKE_BOOLEAN)
        return take_boolean(f, p, m, row);
    return json_fast_value(f, p, m->field, row);
}

/* One object. Gives its closing brace, or NULL: the exact path must decide. */
static inline const uint8_t *parse_line(struct json_fast *f, const uint8_t *line, uint32_t row)
{
    const uint8_t *p = line;
    const struct json_member *m = f->members;
    struct json_member other;
    uint64_t seen = 0;
    uint32_t found = 0;

    for (;; m++) {
        const struct json_member *now = m;
        if (MR_LIKELY(same_prefix(m, p))) { /* never true behind the last */
            p += m->prefix_n;
        } else {
            const struct json_member *at = m; /* so that m itself can stay in a register */
            p = json_fast_find(f, p, p == line, &at, &other);
            m = at;
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
    if (MR_LIKELY(seen == f->all && found == f->all_n))
        return p;
    return json_fast_missing(f, seen, found, row) ? p : NULL;
}

static uint32_t parse_lines(struct json_fast *f, const uint8_t *data, uint32_t *start,
                            const uint32_t *ends, uint32_t n, uint32_t *row, uint32_t rows_max)
{
    uint32_t at = *start, to = *row, i = 0;

    memset(f->seen, 0, sizeof *f->seen * f->seen_words);
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
