#include "core/expr/case_table.h"
#include "core/expr/coerce.h"
#include "core/expr/chars.h"
#include "core/expr/search.h"

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

/* Greedy with one point to come back to: the last %. */
static bool matches(struct mr_text t, struct mr_text p, char escape, bool ignore_case)
{
    uint64_t at = 0, p_at = 0, star = UINT64_MAX, star_at = 0;

    while (at < t.n || p_at < p.n) {
        if (p_at < p.n && p.data[p_at] == '%' && escape != '%') {
            star = ++p_at;
            if (star == p.n)
                return true;
            star_at = at;
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
        at = star_at = mr_chars_next(t, star_at);
        p_at = star;
    }
    return true;
}

/* A constant pattern, and what it takes to have bytes for characters. */
struct pattern {
    struct mr_view_pattern view;
    bool is_ascii;    /* itself, as LIKE without regard to case needs it */
    bool needs_ascii; /* the texts: it has a _ */
};

static struct mr_search_byte plain_byte(char c, bool ignore_case)
{
    const char small = mr_lower(c);
    const bool is_letter = small >= 'a' && small <= 'z';

    return (struct mr_search_byte){(uint8_t)c, ignore_case && is_letter ? 0xdf : 0xff};
}

/* Its pieces lie between the %. */
static struct pattern read_pattern(struct mr_text p, char escape, bool ignore_case,
                                   struct mr_arena *a)
{
    struct mr_search_byte *bytes = mr_arena_alloc(a, (p.n + 1) * sizeof *bytes);
    struct mr_view_piece *pieces = mr_arena_alloc(a, (p.n + 1) * sizeof *pieces);
    struct pattern out = {.view = {pieces, 0}, .is_ascii = mr_chars_is_ascii(p)};
    uint32_t n = 0;

    for (uint64_t i = 0; i < p.n; i++) {
        const char c = p.data[i];
        if (c == escape) {
            bytes[n++] = plain_byte(p.data[++i], ignore_case);
        } else if (c == '%') {
            mr_search_piece(&pieces[out.view.pieces_n++], bytes, n, a);
            n = 0;
        } else if (c == '_') {
            bytes[n++] = (struct mr_search_byte){0};
            out.needs_ascii = true;
        } else {
            bytes[n++] = plain_byte(c, ignore_case);
        }
    }
    mr_search_piece(&pieces[out.view.pieces_n++], bytes, n, a);
    return out;
}

static char escape_at(const struct mr_call *call, const struct mr_column *args, uint32_t row)
{
    return call->expr->args_n > 2 ? mr_column_text(&args[2], row).data[0] : '\\';
}

/* True: bits are filled. */
static bool like_constant(struct mr_call *call, const struct mr_column *x, struct mr_text text,
                          char escape, bool ignore_case, uint64_t *bits)
{
    const struct pattern p = read_pattern(text, escape, ignore_case, call->arena);

    if (ignore_case && !p.is_ascii)
        return false;
    if ((ignore_case || p.needs_ascii) && !mr_chars_column_is_ascii(x, call->sel, call->n))
        return false;
    mr_search_put_bits(call, x, &p.view, bits);
    return true;
}

static enum mr_status like(struct mr_call *call, const struct mr_column *args, bool ignore_case,
                           struct mr_column *out)
{
    const bool is_constant =
        mr_call_is_literal(call, 1) && (call->expr->args_n == 2 || mr_call_is_literal(call, 2));
    bool is_checked = false;

    mr_column_alloc(out, &mr_type_boolean, call->rows, false, call->arena);
    MR_EACH_ROW(call, i, row)
    {
        if (!mr_call_has(call, row))
            continue;
        const struct mr_text p = mr_column_text(&args[1], row);
        const char escape = escape_at(call, args, row);
        const enum mr_status status = is_checked ? MR_OK : check(call, p, escape);
        if (status != MR_OK)
            return status;
        if (is_constant && !is_checked &&
            like_constant(call, &args[0], p, escape, ignore_case, out->bits))
            return MR_OK;
        is_checked = is_constant;
        mr_bit_put(out->bits, row, matches(mr_column_text(&args[0], row), p, escape, ignore_case));
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
