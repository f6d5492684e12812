/* text.h - slices of text that someone else owns.
 *
 * Owner    A slice borrows; it is not NUL-ended.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct mr_text {
    const char *data;
    uint64_t n;
};

#define MR_TEXT(literal) ((struct mr_text){(literal), sizeof(literal) - 1})

static inline struct mr_text mr_text_of(const char *s)
{
    return (struct mr_text){s, strlen(s)};
}

static inline bool mr_text_equal(struct mr_text a, struct mr_text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.data, b.data, a.n) == 0);
}

/* ASCII case is ignored, as in names of SQL, options and functions. */
bool mr_text_equal_ignoring_case(struct mr_text a, struct mr_text b);
/* Less, equal, greater by unsigned bytes: the order of Spark's UTF8_BINARY. */
int mr_text_compare(struct mr_text a, struct mr_text b);
/* Takes n bytes off the front of t: into out, or as a slice. False, and nothing is taken, when it has
 * fewer. What was appended to a buffer is read again so. */
static inline bool mr_text_take_slice(struct mr_text *t, struct mr_text *out, uint64_t n)
{
    if (t->n < n)
        return false;
    *out = (struct mr_text){t->data, n};
    *t = (struct mr_text){t->data + n, t->n - n};
    return true;
}

static inline bool mr_text_take(struct mr_text *t, void *out, uint64_t n)
{
    struct mr_text slice;

    if (!mr_text_take_slice(t, &slice, n))
        return false;
    if (n)
        memcpy(out, slice.data, n);
    return true;
}

/* Without ASCII blanks at both ends. */
struct mr_text mr_text_trim(struct mr_text t);
