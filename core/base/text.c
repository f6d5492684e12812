#include "core/base/text.h"

static inline unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool mr_text_equal_ignoring_case(struct mr_text a, struct mr_text b)
{
    if (a.n != b.n)
        return false;
    for (uint64_t i = 0; i < a.n; i++)
        if (lower(a.data[i]) != lower(b.data[i]))
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
