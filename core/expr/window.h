/* window.h - what window(time, size, slide, start) means: the data of a resolved call.
 *
 * Use      The analyzer reads it from call->data of "window" and "window_slice": a call with
 *          windows_n of 1 is a tumbling window; others become an EXPAND of window_slice(time, size,
 *          slide, offset, k) for k in 0..windows_n-1, null where window k does not contain the
 *          time.
 */
#pragma once
#include "core/expr/expr.h"

struct mr_window {
    int64_t size_us, slide_us, offset_us;
    uint32_t windows_n; /* at most so many windows contain one time */
    uint32_t slice;     /* window_slice: which */
};

/* STRUCT<start, end> of a time type. */
const struct mr_type *mr_window_type(struct mr_arena *a, const struct mr_type *time);
