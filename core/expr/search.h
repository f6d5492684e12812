/* search.h - patterns for mr_view->match, made of the constants of LIKE, contains and their like.
 * Inside core/expr.
 */
#pragma once
#include "core/expr/eval.h"
#include "kernels/view/view.h"

/* A byte of a piece, and which of its bits count. */
struct mr_search_byte {
    uint8_t value, mask;
};
/* Fills *p; what it points to lies in a. */
void mr_search_piece(struct mr_view_piece *p, const struct mr_search_byte *bytes, uint32_t n,
                     struct mr_arena *a);
/* The same of a text as it is. */
void mr_search_piece_text(struct mr_view_piece *p, struct mr_text t, struct mr_arena *a);
/* bits: which of the call's rows match. */
void mr_search_put_bits(const struct mr_call *call, const struct mr_column *x,
                        const struct mr_view_pattern *pattern, uint64_t *bits);
