#include "core/op/accumulators.h"

#include "core/base/check.h"

enum { SLOTS_PER_AGGREGATE_MAX = 8 };

void mr_accumulators_plan(struct mr_accumulators *out, const struct mr_node *node,
                          struct mr_arena *a)
{
    const uint32_t slots_max = node->aggregates_n * SLOTS_PER_AGGREGATE_MAX;

    out->items = MR_NEW_ARRAY(a, struct mr_accumulator, node->aggregates_n);
    out->items_n = node->aggregates_n;
    out->kinds = MR_NEW_ARRAY(a, enum mr_slot_kind, slots_max);
    out->places = MR_NEW_ARRAY(a, uint32_t, slots_max);
    out->types = MR_NEW_ARRAY(a, const struct mr_type *, slots_max);
    out->kinds_n = out->width = 0;
    for (uint32_t i = 0; i < node->aggregates_n; i++) {
        const struct mr_aggregate_item *item = &node->aggregates[i];
        const uint32_t kind = out->kinds_n;
        const uint32_t n =
            item->aggregate->slots(item->call, out->kinds + kind, out->types + kind, a);
        MR_ASSERT(n <= SLOTS_PER_AGGREGATE_MAX);
        out->items[i] = (struct mr_accumulator){item, out->width, kind, n};
        for (uint32_t k = kind; k < kind + n; k++) {
            MR_ASSERT(mr_slot_width(out->kinds[k]) == 1 || k + 1 == kind + n);
            out->places[k] = out->width;
            out->width += mr_slot_width(out->kinds[k]);
        }
        out->kinds_n += n;
    }
}

static const struct mr_type decimal_38 = {.kind = MR_DECIMAL, .precision = 38};

const struct mr_type *mr_slot_type(enum mr_slot_kind kind)
{
    switch (kind) {
    case MR_SLOT_I64:
        return &mr_type_bigint;
    case MR_SLOT_F64:
        return &mr_type_double;
    case MR_SLOT_I128:
        return &decimal_38;
    case MR_SLOT_BYTES:
        return &mr_type_binary;
    }
    MR_UNREACHABLE();
}

static void load_bytes(union mr_slot *slot, const struct mr_column *c, uint32_t row,
                       struct mr_arena *a)
{
    struct mr_slot_bytes *b = mr_wide_bytes(slot);

    *b = (struct mr_slot_bytes){0};
    if (mr_column_is_null(c, row))
        return;
    const struct mr_text t = mr_column_text(c, row);
    b->data = mr_arena_alloc(a, t.n + 1);
    memcpy(b->data, t.data, t.n);
    b->n = b->capacity = (uint32_t)t.n;
}

void mr_accumulators_from_columns(const struct mr_accumulators *acc,
                                  const struct mr_column *columns, const uint32_t *sel, uint32_t n,
                                  union mr_slot *slots, struct mr_arena *a)
{
    const uint32_t width = acc->width;

    for (uint32_t k = 0; k < acc->kinds_n; k++) {
        const struct mr_column *c = &columns[k];
        union mr_slot *to = slots + acc->places[k];
        switch (acc->kinds[k]) {
        case MR_SLOT_I64:
            for (uint32_t i = 0; i < n; i++)
                to[i * width].i64 = c->i64[sel ? sel[i] : i];
            break;
        case MR_SLOT_F64:
            for (uint32_t i = 0; i < n; i++)
                to[i * width].f64 = c->f64[sel ? sel[i] : i];
            break;
        case MR_SLOT_I128:
            for (uint32_t i = 0; i < n; i++)
                *mr_wide_i128(&to[i * width]) = c->i128[sel ? sel[i] : i];
            break;
        case MR_SLOT_BYTES:
            for (uint32_t i = 0; i < n; i++)
                load_bytes(&to[i * width], c, sel ? sel[i] : i, a);
            break;
        }
    }
}

/* One heap per long value, so that nothing is copied. */
static void store_bytes(struct mr_column *c, union mr_slot *const *groups, uint32_t at,
                        const uint32_t *sel, uint32_t n, struct mr_arena *a)
{
    c->heaps = mr_arena_alloc(a, sizeof *c->heaps * (n + 1));
    c->heaps_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct mr_slot_bytes *b = mr_wide_bytes(&groups[i][at]);
        const uint32_t row = sel ? sel[i] : i;
        if (b->data == NULL) {
            mr_bit_clear(c->valid, row);
            mr_view_set(&c->views[row], "", 0, 0, 0);
            continue;
        }
        mr_view_set(&c->views[row], (const char *)b->data, b->n, (int32_t)c->heaps_n, 0);
        if (b->n > MR_VIEW_INLINE)
            c->heaps[c->heaps_n++] = b->data;
    }
}

void mr_accumulators_to_columns(const struct mr_accumulators *acc, union mr_slot *const *groups,
                                const uint32_t *sel, uint32_t n, uint32_t rows,
                                struct mr_column *columns, struct mr_arena *a)
{
    for (uint32_t k = 0; k < acc->kinds_n; k++) {
        const uint32_t at = acc->places[k];
        struct mr_column *c = &columns[k];
        const enum mr_slot_kind kind = acc->kinds[k];
        mr_column_alloc(c, mr_slot_type(kind), rows, kind == MR_SLOT_BYTES, a);
        if (kind == MR_SLOT_BYTES)
            store_bytes(c, groups, at, sel, n, a);
        else if (kind == MR_SLOT_I128)
            for (uint32_t i = 0; i < n; i++)
                c->i128[sel ? sel[i] : i] = *mr_wide_i128(&groups[i][at]);
        else /* I64 and F64: the same eight bytes */
            for (uint32_t i = 0; i < n; i++)
                c->i64[sel ? sel[i] : i] = groups[i][at].i64;
    }
}

void *mr_slot_grow_in_arena(void *arena, struct mr_slot_bytes *b, uint32_t bytes)
{
    uint32_t capacity = b->capacity ? b->capacity : 16;

    if (bytes <= b->capacity)
        return b->data;
    while (capacity < bytes)
        capacity = capacity > UINT32_MAX / 2 ? bytes : capacity * 2;
    uint8_t *data = mr_arena_alloc(arena, capacity);
    if (b->n > 0)
        memcpy(data, b->data, b->n);
    b->data = data;
    b->capacity = capacity;
    return data;
}
