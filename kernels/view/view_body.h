/* view_body.h - the loops, written so that the compiler makes vectors of them. Included by each
 * variant. */
#pragma once
#include "kernels/view/view.h"

#include <stddef.h>
#include <string.h>

enum { INLINE_BYTES = 12 };

static void lengths(int32_t *out, const uint64_t *views, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (int32_t)views[(uint64_t)i * MR_VIEW_WORDS];
}

static inline void span_one(struct mr_view_span *s, const uint64_t *view)
{
    const uint32_t length = (uint32_t)view[0], heap = (uint32_t)view[1];
    const uint32_t offset = (uint32_t)(view[1] >> 32), end = offset + length;
    const bool is_long = length > INLINE_BYTES;

    s->high |= (((uint32_t)(view[0] >> 32) | (is_long ? 0 : heap | offset)) & 0x80808080u) != 0;
    s->from_heap = is_long && heap < s->from_heap ? heap : s->from_heap;
    s->to_heap = is_long && heap > s->to_heap ? heap : s->to_heap;
    s->from = is_long && offset < s->from ? offset : s->from;
    s->to = is_long && end > s->to ? end : s->to;
}

static inline uint64_t find_here(const char *text, uint64_t n, const char *what, uint64_t m);
/* Whether the blocks at text and at end are, in the bits that count, the first ones of p and q. */
static inline bool are_blocks(const char *text, const struct mr_view_piece *p, const char *end,
                              const struct mr_view_piece *q);

static inline const char *text_of(const uint64_t *view, uint8_t *const *heaps)
{
    return (uint32_t)view[0] <= INLINE_BYTES
               ? (const char *)view + 4
               : (const char *)heaps[(uint32_t)view[1]] + (view[1] >> 32);
}

/* From the byte at on. */
static inline bool is_piece(const char *text, const struct mr_view_piece *p, uint32_t at)
{
    uint64_t x, y, mask;
    bool same = true;

    for (; same && at < p->n; at += sizeof x) {
        memcpy(&x, text + at, sizeof x);
        memcpy(&y, p->text + at, sizeof y);
        memcpy(&mask, p->mask + at, sizeof mask);
        same = (x & mask) == y;
    }
    return same;
}

/* Where p first stands in text[0..n), from at on; UINT64_MAX: nowhere. */
static inline uint64_t find_piece(const char *text, uint64_t n, uint64_t at,
                                  const struct mr_view_piece *p)
{
    for (; at + p->n <= n; at++) {
        if (p->run_n > 0) {
            const uint64_t places = n - p->n - at + 1;
            const uint64_t found =
                find_here(text + at + p->run, places - 1 + p->run_n, p->text + p->run, p->run_n);
            if (found == UINT64_MAX)
                return found;
            at += found;
        }
        if (p->run_n == p->n || is_piece(text + at, p, 0))
            return at;
    }
    return UINT64_MAX;
}

/* One bit a row, whether text has both ends: of up to 64 rows. What lies behind the first block of
 * an end is not looked at, so that there is no branch on what the texts are. */
static inline uint64_t match_ends(const uint32_t *sel, uint32_t rows, const uint64_t *views,
                                  uint8_t *const *heaps, const struct mr_view_pattern *pattern)
{
    const struct mr_view_piece first = pattern->pieces[0];
    const struct mr_view_piece last = pattern->pieces[pattern->pieces_n - 1];
    const bool alone = pattern->pieces_n == 1;
    const uint64_t least = alone ? first.n : (uint64_t)first.n + last.n;
    const uint64_t more = alone ? 0 : UINT32_MAX;
    uint64_t word = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t *v = views + (uint64_t)(sel ? sel[i] : i) * MR_VIEW_WORDS;
        const char *text = text_of(v, heaps);
        const uint64_t n = (uint32_t)v[0];
        const bool fits = n - least <= more;
        const char *end = text + (fits ? n - last.n : 0);
        word |= (uint64_t)(fits & are_blocks(text, &first, end, &last)) << i;
    }
    return word;
}

/* The same for one piece in the middle, all of whose bits count, and no ends. */
static inline uint64_t match_middle(const uint32_t *sel, uint32_t rows, const uint64_t *views,
                                    uint8_t *const *heaps, const struct mr_view_piece *p)
{
    const char *what = p->text;
    const uint64_t m = p->n;
    uint64_t word = 0;

    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t *v = views + (uint64_t)(sel ? sel[i] : i) * MR_VIEW_WORDS;
        word |= (uint64_t)(find_here(text_of(v, heaps), (uint32_t)v[0], what, m) != UINT64_MAX)
                << i;
    }
    return word;
}

/* The rest, of a text that has the first blocks of both ends. */
static inline bool match_rest(const char *text, uint64_t n, const struct mr_view_pattern *pattern)
{
    const struct mr_view_piece *first = pattern->pieces, *last = first + pattern->pieces_n - 1;
    const uint64_t end = n - last->n;
    uint64_t at = first->n;

    if (!is_piece(text, first, MR_VIEW_BLOCK) || !is_piece(text + end, last, MR_VIEW_BLOCK))
        return false;
    for (const struct mr_view_piece *p = first + 1; p < last; p++) {
        at = find_piece(text, end, at, p);
        if (at == UINT64_MAX)
            return false;
        at += p->n;
    }
    return true;
}

static void match(uint64_t *bits, const uint32_t *sel, uint32_t n, const uint64_t *views,
                  uint8_t *const *heaps, const struct mr_view_pattern *pattern)
{
    const struct mr_view_piece *first = pattern->pieces, *last = first + pattern->pieces_n - 1;
    const bool has_ends = pattern->pieces_n == 1 || first->n + last->n > 0;
    const bool is_middle =
        !has_ends && pattern->pieces_n == 3 && first[1].n > 0 && first[1].run_n == first[1].n;
    const bool has_rest = !is_middle && (pattern->pieces_n > 2 || first->n > MR_VIEW_BLOCK ||
                                         last->n > MR_VIEW_BLOCK);

    for (uint32_t at = 0; at < n; at += 64) {
        const uint32_t rows = n - at < 64 ? n - at : 64, *chosen = sel ? sel + at : NULL;
        const uint64_t *from = sel ? views : views + (uint64_t)at * MR_VIEW_WORDS;
        uint64_t word = is_middle  ? match_middle(chosen, rows, from, heaps, first + 1)
                        : has_ends ? match_ends(chosen, rows, from, heaps, pattern)
                                   : UINT64_MAX >> (64 - rows);
        for (uint64_t open = has_rest ? word : 0; open; open &= open - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(open);
            const uint64_t *v = from + (uint64_t)(chosen ? chosen[i] : i) * MR_VIEW_WORDS;
            if (!match_rest(text_of(v, heaps), (uint32_t)v[0], pattern))
                word &= ~((uint64_t)1 << i);
        }
        for (uint32_t i = 0; chosen && i < rows; i++) {
            uint64_t *to = &bits[chosen[i] / 64];
            *to = (*to & ~((uint64_t)1 << (chosen[i] % 64))) | (word >> i & 1) << (chosen[i] % 64);
        }
        if (sel == NULL)
            bits[at / 64] = word;
    }
}

static uint64_t find(const char *text, uint64_t n, const char *what, uint64_t m)
{
    return find_here(text, n, what, m);
}

#define VIEW_TABLE(name)                                                                           \
    {                                                                                              \
        .isa = name, .lengths = lengths, .span = span, .equal = equal, .equal_by = equal_by,       \
        .is_ascii = is_ascii, .find = find, .match = match,                                        \
    }
