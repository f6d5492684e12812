#include "core/expr/search.h"

/* The longest run of bytes that count whole: what find looks for. */
static void note_run(struct mr_view_piece *p)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i <= p->n; i++) {
        if (i < p->n && (uint8_t)p->mask[i] == 0xff)
            continue;
        if (i - from > p->run_n) {
            p->run = from;
            p->run_n = i - from;
        }
        from = i + 1;
    }
}

void mr_search_piece(struct mr_view_piece *p, const struct mr_search_byte *bytes, uint32_t n,
                     struct mr_arena *a)
{
    const uint64_t room = ((uint64_t)n / MR_VIEW_BLOCK + 1) * MR_VIEW_BLOCK;
    char *text = mr_arena_zero(a, 2 * room), *mask = text + room;

    for (uint32_t i = 0; i < n; i++) {
        text[i] = (char)(bytes[i].value & bytes[i].mask);
        mask[i] = (char)bytes[i].mask;
    }
    *p = (struct mr_view_piece){.text = text, .mask = mask, .n = n};
    note_run(p);
}

void mr_search_piece_text(struct mr_view_piece *p, struct mr_text t, struct mr_arena *a)
{
    struct mr_search_byte *bytes = mr_arena_alloc(a, (t.n + 1) * sizeof *bytes);

    for (uint64_t i = 0; i < t.n; i++)
        bytes[i] = (struct mr_search_byte){(uint8_t)t.data[i], 0xff};
    mr_search_piece(p, bytes, (uint32_t)t.n, a);
}

void mr_search_put_bits(const struct mr_call *call, const struct mr_column *x,
                        const struct mr_view_pattern *pattern, uint64_t *bits)
{
    mr_view->match(bits, call->sel, call->n, (const uint64_t *)(const void *)x->views, x->heaps,
                   pattern);
}
