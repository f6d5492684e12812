/* value_trim.h - what counts as blank at the ends of a value, within core/format only. */
#pragma once
#include "core/base/text.h"

/* Control characters and the blank, 0x7f among them: casts of text but those of Java's number
 * classes. */
static inline struct mr_text trim_controls(struct mr_text t)
{
    while (t.n > 0 && ((unsigned char)t.data[0] <= ' ' || t.data[0] == 0x7f)) {
        t.data++;
        t.n--;
    }
    while (t.n > 0 && ((unsigned char)t.data[t.n - 1] <= ' ' || t.data[t.n - 1] == 0x7f))
        t.n--;
    return t;
}
