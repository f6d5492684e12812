#include "core/base/text.h"

bool mr_text_equal_ignoring_case(struct mr_text a, struct mr_text b)
{
    if (a.n != b.n)
        return false;
    for (uint64_t i = 0; i < a.n; i++)
        if (mr_lower(a.data[i]) != mr_lower(b.data[i]))
            return false;
    return true;
}

int mr_text_compare(struct mr_text a, struct mr_text b)
{
    uint64_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.data, b.data, n) : 0;

    if (order != 0)
        return order < 0 ? -1 : 1;
    return a.n < b.n ? -1 : a.n > b.n;
}

struct mr_text mr_text_trim(struct mr_text t)
{
    while (t.n > 0 && (unsigned char)t.data[0] <= ' ') {
        t.data++;
        t.n--;
    }
    while (t.n > 0 && (unsigned char)t.data[t.n - 1] <= ' ')
        t.n--;
    return t;
}

uint64_t mr_text_find(struct mr_text t, struct mr_text what, uint64_t from)
{
    enum { TRIES = 8 }; /* first bytes that lead to nothing, before memmem's preparations pay */
    const char *at, *end;

    if (what.n == 0)
        return from <= t.n ? from : UINT64_MAX;
    if (from >= t.n)
        return UINT64_MAX;
    at = t.data + from;
    end = t.data + t.n;
    for (uint32_t i = 0; i < TRIES; i++, at++) {
        if (at > end || (uint64_t)(end - at) < what.n)
            return UINT64_MAX;
        at = memchr(at, what.data[0], (uint64_t)(end - at) - what.n + 1);
        if (at == NULL)
            return UINT64_MAX;
        if (memcmp(at, what.data, what.n) == 0)
            return (uint64_t)(at - t.data);
    }
    at = at < end ? memmem(at, (uint64_t)(end - at), what.data, what.n) : NULL;
    return at ? (uint64_t)(at - t.data) : UINT64_MAX;
}
