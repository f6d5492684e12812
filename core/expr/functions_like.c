#include "core/expr/case_table.h"
#include "core/expr/coerce.h"
#include "core/expr/chars.h"

/* LIKE and ILIKE: % is any text, _ any character, the escape makes the next one plain. */

static enum mr_status bad_escape(struct mr_call *call, struct mr_text pattern, bool at_end)
{
    return MR_FAIL_CONDITION(call->err, MR_QUERY,
                             at_end ? "INVALID_FORMAT.ESC_AT_THE_END"
                                    : "INVALID_FORMAT.ESC_IN_THE_MIDDLE",
                             "The format is invalid: '%.*s'. The escape character is not allowed "
                             "%s.",
                             (int)(pattern.n < 512 ? pattern.n : 512), pattern.data,
                             at_end ? "to end with" : "to precede this character");
}

/* The escape stands only before %, _ and itself. */
static enum mr_status check(struct mr_call *call, struct mr_text p, char escape)
{
    for (uint64_t i = 0; i < p.n; i++) {
        if (p.data[i] != escape)
            continue;
        if (i + 1 == p.n)
            return bad_escape(call, p, true);
        if (p.data[i + 1] != '%' && p.data[i + 1] != '_' && p.data[i + 1] != escape)
            return bad_escape(call, p, false);
        i++;
    }
    return MR_OK;
}

static bool same_character(struct mr_text t, uint64_t at, struct mr_text p, uint64_t p_at,
                           bool ignore_case)
{
    uint32_t x_bytes, y_bytes, x_out[3], y_out[3];

    if (!ignore_case && (uint8_t)(t.data[at] | p.data[p_at]) < 0x80)
        return t.data[at] == p.data[p_at];
    uint32_t x = mr_chars_decode(t.data + at, t.n - at, &x_bytes);
    uint32_t y = mr_chars_decode(p.data + p_at, p.n - p_at, &y_bytes);

    if (x == y || !ignore_case)
        return x == y;
    return mr_case_map(MR_CASE_LOWER, x, x_out) == 1 && mr_case_map(MR_CASE_LOWER, y, y_out) == 1 &&
           x_out[0] == y_out[0];
}

/* Where what stands behind a % may begin: at its first character, if that is plain. */
static uint64_t candidate(struct mr_text t, uint64_t at, struct mr_text p, uint64_t p_at,
                          char escape)
{
    char first = p.data[p_at];
    const char *found;

    if ((uint8_t)first >= 0x80 || first == '_' || first == '%' || first == escape)
        return at;
    found = at < t.n ? memchr(t.data + at, first, t.n - at) : NULL;
    return found ? (uint64_t)(found - t.data) : UINT64_MAX;
}

/* Greedy with one point to come back to: the last %. */
static bool matches(struct mr_text t, struct mr_text p, char escape, bool ignore_case)
{
    uint64_t at = 0, p_at = 0, star = UINT64_MAX, star_at = 0;

    while (at < t.n || p_at < p.n) {
        if (p_at < p.n && p.data[p_at] == '%' && escape != '%') {
            star = ++p_at;
            if (star == p.n)
                return true;
            star_at = ignore_case ? at : candidate(t, at, p, star, escape);
            if (star_at == UINT64_MAX)
                return false;
            at = star_at;
            continue;
        }
        if (p_at < p.n && at < t.n) {
            bool escaped = p.data[p_at] == escape;
            uint64_t plain = p_at + escaped;
            if ((!escaped && p.data[p_at] == '_') || same_character(t, at, p, plain, ignore_case)) {
                p_at = !escaped && p.data[p_at] == '_' ? p_at + 1 : mr_chars_next(p, plain);
                at = mr_chars_next(t, at);
                continue;
            }
        }
        if (star == UINT64_MAX || star_at >= t.n)
            return false;
        star_at = mr_chars_next(t, star_at);
        if (!ignore_case && (star_at = candidate(t, star_at, p, star, escape)) == UINT64_MAX)
            return false;
        at = star_at;
        p_at = star;
    }
    return true;
}

enum { PARTS_MAX = 16 };

/* Without _ and escapes, a pattern is texts with any text between them: then searching will do. */
struct pattern {
    struct mr_text whole;
    char escape;
    bool simple;
    uint32_t parts_n; /* the first one begins the text, the last one ends it */
    struct mr_text parts[PARTS_MAX];
};

static struct pattern read_pattern(struct mr_text p, char escape)
{
    struct pattern out = {.whole = p, .escape = escape, .simple = escape != '%'};
    uint64_t from = 0;

    for (uint64_t i = 0; i <= p.n && out.simple; i++) {
        if (i < p.n && (p.data[i] == '_' || p.data[i] == escape))
            out.simple = false;
        if (i < p.n && p.data[i] != '%')
            continue;
        if (out.parts_n == PARTS_MAX)
            out.simple = false;
        else
            out.parts[out.parts_n++] = (struct mr_text){p.data + from, i - from};
        from = i + 1;
    }
    return out;
}

static bool find_simple(struct mr_text t, const struct pattern *p)
{
    const struct mr_text first = p->parts[0], last = p->parts[p->parts_n - 1];
    uint64_t at = first.n;

    if (p->parts_n == 1)
        return mr_text_equal(t, first);
    if (t.n < first.n + last.n || !mr_chars_same(t.data, first.data, first.n) ||
        !mr_chars_same(t.data + t.n - last.n, last.data, last.n))
        return false;
    t.n -= last.n;
    for (uint32_t k = 1; k + 1 < p->parts_n; k++) {
        at = mr_chars_find(t, p->parts[k], at);
        if (at == UINT64_MAX)
            return false;
        at += p->parts[k].n;
    }
    return true;
}

/* A constant pattern over a column. */
struct search {
    const struct mr_column *x;
    struct pattern pattern;
};

static bool row_matches(const void *arg, uint32_t row)
{
    const struct search *s = arg;

    return find_simple(mr_column_text(s->x, row), &s->pattern);
}

static char escape_at(const struct mr_call *call, const struct mr_column *args, uint32_t row)
{
    return call->expr->args_n > 2 ? mr_column_text(&args[2], row).data[0] : '\\';
}

static enum mr_status like(struct mr_call *call, const struct mr_column *args, bool ignore_case,
                           struct mr_column *out)
{
    bool is_read = false;
    struct pattern p;

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        struct mr_text t = mr_column_text(&args[0], row);
        if (!is_read) {
            p = read_pattern(mr_column_text(&args[1], row), escape_at(call, args, row));
            enum mr_status status = check(call, p.whole, p.escape);
            if (status != MR_OK)
                return status;
            is_read = mr_call_is_literal(call, 1);
        }
        if (is_read && p.simple && !ignore_case) {
            const struct search s = {&args[0], p};
            mr_call_put_bits(call, out->bits, &s, row_matches);
            return MR_OK;
        }
        mr_bit_put(out->bits, row,
                   p.simple && !ignore_case ? find_simple(t, &p)
                                            : matches(t, p.whole, p.escape, ignore_case));
    }
    return MR_OK;
}

MR_BODY(like)
{
    return like(call, args, false, out);
}
MR_BODY(ilike)
{
    return like(call, args, true, out);
}
