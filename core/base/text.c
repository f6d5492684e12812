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
    const char *at;

    if (what.n == 0)
        return from <= t.n ? from : UINT64_MAX;
    if (from >= t.n)
        return UINT64_MAX;
    at = memmem(t.data + from, t.n - from, what.data, what.n);
    return at ? (uint64_t)(at - t.data) : UINT64_MAX;
}
