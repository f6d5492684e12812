#include "core/format/heaps.h"

#include "core/base/check.h"

const struct mr_heaps_mask mr_heaps_masks[] = {
    {UINT64_C(0x0), 0x0},
    {UINT64_C(0xff), 0x0},
    {UINT64_C(0xffff), 0x0},
    {UINT64_C(0xffffff), 0x0},
    {UINT64_C(0xffffffff), 0x0},
    {UINT64_C(0xffffffffff), 0x0},
    {UINT64_C(0xffffffffffff), 0x0},
    {UINT64_C(0xffffffffffffff), 0x0},
    {UINT64_C(0xffffffffffffffff), 0x0},
    {UINT64_C(0xffffffffffffffff), 0xff},
    {UINT64_C(0xffffffffffffffff), 0xffff},
    {UINT64_C(0xffffffffffffffff), 0xffffff},
    {UINT64_C(0xffffffffffffffff), 0xffffffff},
};

enum { CHUNK_BYTES = 64 * 1024, HEAPS_FIRST = 8 };

void mr_heaps_begin(struct mr_heaps *h, const uint8_t *base, uint64_t base_bytes,
                    struct mr_arena *a)
{
    MR_ASSERT(base_bytes <= INT32_MAX);
    *h = (struct mr_heaps){
        .arena = a, .base = base, .base_bytes = base_bytes, .n = 1, .capacity = HEAPS_FIRST};
    h->heaps = mr_arena_alloc(a, sizeof *h->heaps * HEAPS_FIRST);
    h->heaps[0] = (uint8_t *)(uintptr_t)base; /* columns never write through heaps */
}

static void add_chunk(struct mr_heaps *h, uint32_t n)
{
    if (h->n == h->capacity) {
        uint8_t **more = mr_arena_alloc(h->arena, sizeof *more * h->capacity * 2);
        memcpy(more, h->heaps, sizeof *more * h->n);
        h->heaps = more;
        h->capacity *= 2;
    }
    h->size = n > CHUNK_BYTES ? n : CHUNK_BYTES;
    h->used = 0;
    h->heaps[h->n++] = mr_arena_alloc(h->arena, h->size);
}

uint8_t *mr_heaps_reserve(struct mr_heaps *h, uint32_t n)
{
    if (h->size - h->used < n || h->n == 1)
        add_chunk(h, n);
    return h->heaps[h->n - 1] + h->used;
}

void mr_heaps_take(struct mr_heaps *h, struct mr_view *v, uint32_t n)
{
    MR_ASSERT(h->n > 1 && h->size - h->used >= n);
    mr_view_set(v, (const char *)h->heaps[h->n - 1] + h->used, n, (int32_t)(h->n - 1),
                (int32_t)h->used);
    if (n > MR_VIEW_INLINE)
        h->used += n;
}

void mr_heaps_put(struct mr_heaps *h, struct mr_view *v, struct mr_text text)
{
    MR_ASSERT(text.n <= INT32_MAX);
    if (text.n <= MR_VIEW_INLINE) {
        mr_view_set(v, text.data, (uint32_t)text.n, 0, 0);
        return;
    }
    uint64_t offset = (uint64_t)((uintptr_t)text.data - (uintptr_t)h->base);
    if (offset < h->base_bytes) {
        mr_view_set(v, text.data, (uint32_t)text.n, 0, (int32_t)offset);
        return;
    }
    memcpy(mr_heaps_reserve(h, (uint32_t)text.n), text.data, text.n);
    mr_heaps_take(h, v, (uint32_t)text.n);
}
