/* chars.h - characters (code points) of UTF-8 texts. Bytes that are no UTF-8 count one each, as in
 * Spark.
 */
#pragma once
#include "core/batch/column.h"
#include "kernels/view/view.h"

static inline uint32_t mr_chars_bytes(char lead) /* of the character that starts with lead */
{
    uint8_t c = (uint8_t)lead;

    return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}
/* Where the character after the one at at starts; never beyond the end. */
static inline uint64_t mr_chars_next(struct mr_text t, uint64_t at)
{
    uint64_t next = at + mr_chars_bytes(t.data[at]);

    return next < t.n ? next : t.n;
}
/* As mr_text_find; t is a column's, so that bytes behind it can be read. */
static inline uint64_t mr_chars_find(struct mr_text t, struct mr_text what, uint64_t from)
{
    if (what.n == 0 || from > t.n)
        return from <= t.n ? from : UINT64_MAX;
    const uint64_t at = mr_view->find(t.data + from, t.n - from, what.data, what.n);
    return at == UINT64_MAX ? at : from + at;
}
/* The same n bytes; most constants are short. */
static inline bool mr_chars_same(const char *x, const char *y, uint64_t n)
{
    uint64_t a = 0, b = 0;
    uint32_t c, d, e, f;

    if (n >= 8) {
        memcpy(&a, x, 8);
        memcpy(&b, y, 8);
        return a == b && (n == 8 || memcmp(x + 8, y + 8, n - 8) == 0);
    }
    if (n >= 4) {
        memcpy(&c, x, 4);
        memcpy(&d, y, 4);
        memcpy(&e, x + n - 4, 4);
        memcpy(&f, y + n - 4, 4);
        return ((c ^ d) | (e ^ f)) == 0;
    }
    return n == 0 || (x[0] == y[0] && x[n / 2] == y[n / 2] && x[n - 1] == y[n - 1]);
}
bool mr_chars_is_ascii(struct mr_text t);
/* All texts of the rows sel[0..n) (NULL: 0..n-1); texts that lie one behind the other are looked at
 * as one. */
bool mr_chars_column_is_ascii(const struct mr_column *x, const uint32_t *sel, uint32_t n);
uint64_t mr_chars_length(struct mr_text t);
/* Byte offset of character number index (from 0), or t.n. */
uint64_t mr_chars_offset(struct mr_text t, uint64_t index);
/* The character at data, of n bytes at most; *bytes: how many it takes. */
uint32_t mr_chars_decode(const char *data, uint64_t n, uint32_t *bytes);
