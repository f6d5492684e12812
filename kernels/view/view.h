/* view.h - texts by their views, for all rows 0..n-1.
 *
 * Views    Two words a row: the length (the low 4 bytes) and the first 4 bytes of the text; then
 *          its other bytes, or, of a long text, where it lies.
 * Equal    equal fills one bit a row, as BOOLEAN columns have it: not set, the texts differ; set,
 *          they are equal or, if they are long, may be. Bits beyond n in the last word are 0.
 * Pattern  Pieces that stand in a text one behind the other, with anything between them: the first
 *          one begins the text, the last one ends it, one alone is all of it.
 */
#pragma once
#include "kernels/kernels.h"
#include <stdbool.h>

enum { MR_VIEW_WORDS = 2, MR_VIEW_BLOCK = 16 };

struct mr_view_piece {
    /* n bytes, then zeros to the end of the last block; there is at least one block. Only the bits
     * that mask has count; text has no others. */
    const char *text, *mask;
    uint32_t n;
    uint32_t run, run_n; /* the longest run of bytes of which all bits count */
};
struct mr_view_pattern {
    const struct mr_view_piece *pieces;
    uint32_t pieces_n; /* at least one */
};

/* Of some views; without long texts from_heap is above to_heap. */
struct mr_view_span {
    uint32_t high;               /* 1: a byte that lies in a view is above 0x7f */
    uint32_t from_heap, to_heap; /* of the long texts: the least and the largest number */
    uint32_t from, to;           /* their least offset, and their largest end */
};

struct mr_view_kernels {
    const char *isa;
    void (*lengths)(int32_t *out, const uint64_t *views, uint32_t n);
    struct mr_view_span (*span)(const uint64_t *views, uint32_t n);
    void (*equal)(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n);
    /* The same with the one text y. */
    void (*equal_by)(uint64_t *bits, const uint64_t *x, const uint64_t *y, uint32_t n);
    /* Where what[0..m) first stands in text[0..n); UINT64_MAX: nowhere. m > 0. */
    uint64_t (*find)(const char *text, uint64_t n, const char *what, uint64_t m);
    /* Sets bit sel[i] (sel NULL: i) of bits, for each i below n, to whether the text matches. */
    void (*match)(uint64_t *bits, const uint32_t *sel, uint32_t n, const uint64_t *views,
                  uint8_t *const *heaps, const struct mr_view_pattern *pattern);
    /* Is no byte of text[0..n) above 0x7f? */
    bool (*is_ascii)(const char *text, uint64_t n);
};
extern const struct mr_view_kernels mr_view_scalar, mr_view_avx2;
extern const struct mr_view_kernels *const mr_view_variants[]; /* best first, NULL */
extern const struct mr_view_kernels *mr_view;
