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

static inline char mr_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static inline bool mr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 0 to 15; -1: none. */
static inline int mr_hex_digit(char c)
{
    char low = mr_lower(c);

    return mr_is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* ASCII case is ignored, as in names of SQL, options and functions. */
bool mr_text_equal_ignoring_case(struct mr_text a, struct mr_text b);
/* Less, equal, greater by unsigned bytes: the order of Spark's UTF8_BINARY. */
int mr_text_compare(struct mr_text a, struct mr_text b);
/* Takes n bytes off the front of t: into out, or as a slice. False, and nothing is taken, when it
 * has fewer. What was appended to a buffer is read again so. */
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

/* First occurrence at or after byte from; UINT64_MAX: none. */
uint64_t mr_text_find(struct mr_text t, struct mr_text what, uint64_t from);
/* Without ASCII blanks at both ends. */
struct mr_text mr_text_trim(struct mr_text t);
