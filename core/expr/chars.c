#include "core/expr/chars.h"

bool mr_chars_is_ascii(struct mr_text t)
{
    uint64_t all = 0, word;

    if (t.n < sizeof word) {
        for (uint64_t i = 0; i < t.n; i++)
            all |= (uint8_t)t.data[i];
        return all < 0x80;
    }
    for (uint64_t i = 0; i + sizeof word < t.n; i += sizeof word) {
        memcpy(&word, t.data + i, sizeof word);
        all |= word;
    }
    memcpy(&word, t.data + t.n - sizeof word, sizeof word);
    return ((all | word) & UINT64_C(0x8080808080808080)) == 0;
}

/* The second words of views of long texts: heap, and offset in the high half. */
static bool is_run_ascii(const struct mr_column *x, uint64_t from, uint64_t to)
{
    return from == to || mr_view->is_ascii((const char *)x->heaps[(uint32_t)from] + (from >> 32),
                                           (to - from) >> 32);
}

/* Of rows from..from+n: where long texts of one heap lie close together, what is between the first
 * and the last of them is looked at, and not each text. false: it may be that all are, too. */
static bool is_span_ascii(const struct mr_column *x, uint32_t from, uint32_t n)
{
    enum { CLOSE = 64 }; /* bytes a row */
    const struct mr_view_span s =
        mr_view->span((const uint64_t *)(const void *)(x->views + from), n);

    if (s.high || s.from_heap > s.to_heap)
        return !s.high;
    return s.from_heap == s.to_heap && s.to - s.from <= n * CLOSE &&
           mr_view->is_ascii((const char *)x->heaps[s.from_heap] + s.from, s.to - s.from);
}

/* Of rows sel[at..end) (NULL: at..end-1). */
static bool are_texts_ascii(const struct mr_column *x, const uint32_t *sel, uint32_t at,
                            uint32_t end)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    uint64_t from = 0, to = 0, prefixes = 0, rests = 0;

    for (; at < end; at++) {
        uint64_t words[MR_VIEW_WORDS];
        memcpy(words, &x->views[sel ? sel[at] : at], sizeof words);
        prefixes |= words[0];
        if ((uint32_t)words[0] <= MR_VIEW_INLINE) {
            rests |= words[1];
            continue;
        }
        if (words[1] != to) {
            if (!is_run_ascii(x, from, to))
                return false;
            from = words[1];
        }
        to = words[1] + (words[0] << 32);
    }
    return ((prefixes >> 32 | rests) & high) == 0 && is_run_ascii(x, from, to);
}

bool mr_chars_column_is_ascii(const struct mr_column *x, const uint32_t *sel, uint32_t n)
{
    enum { PIECE = 128 }; /* rows: a column may have several heaps, one behind the other */

    if (sel)
        return are_texts_ascii(x, sel, 0, n);
    for (uint32_t at = 0; at < n; at += PIECE) {
        const uint32_t rows = n - at < PIECE ? n - at : PIECE;
        if (!is_span_ascii(x, at, rows) && !are_texts_ascii(x, NULL, at, at + rows))
            return false;
    }
    return true;
}

uint64_t mr_chars_length(struct mr_text t)
{
    uint64_t n = 0;

    if (mr_chars_is_ascii(t))
        return t.n;
    for (uint64_t at = 0; at < t.n; at = mr_chars_next(t, at))
        n++;
    return n;
}

uint64_t mr_chars_offset(struct mr_text t, uint64_t index)
{
    uint64_t at = 0;

    if (index == 0)
        return 0;
    if (mr_chars_is_ascii(t))
        return index < t.n ? index : t.n;
    for (; index > 0 && at < t.n; index--)
        at = mr_chars_next(t, at);
    return at;
}

uint32_t mr_chars_decode(const char *data, uint64_t n, uint32_t *bytes)
{
    static const uint8_t lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t length = mr_chars_bytes(data[0]), c;

    if (length > n)
        length = 1;
    c = (uint8_t)data[0] & (length == 1 ? 0xff : lead_mask[length]);
    for (uint32_t i = 1; i < length; i++)
        c = c << 6 | ((uint8_t)data[i] & 0x3f);
    *bytes = length;
    return c;
}
