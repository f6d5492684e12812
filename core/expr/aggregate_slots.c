#include "core/expr/aggregate_slots.h"

#include "core/expr/encode.h"

#include <stdlib.h>

const struct mr_type *mr_slot_pair(const struct mr_type *first, const struct mr_type *second,
                                   struct mr_arena *a)
{
    struct mr_field *fields = MR_NEW_ARRAY(a, struct mr_field, 2);

    fields[0] = (struct mr_field){"first", first, true};
    fields[1] = (struct mr_field){"second", second, true};
    return mr_type_struct(a, fields, 2);
}

void mr_slot_describe_function(const struct mr_expr *call, struct mr_buffer *out)
{
    mr_buffer_append_format(out, " (%s)", call->function->name);
}

/* Values of 4, 8 or 16 bytes that are no views. */
static bool is_fixed(const struct mr_type *type)
{
    return type->kind != MR_BOOLEAN && type->fields_n == 0 && !mr_type_is_views(type) &&
           mr_type_value_bytes(type) >= 4;
}

uint32_t mr_binary_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                         const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    kinds[0] = MR_SLOT_BYTES;
    buffer_types[0] = &mr_type_binary;
    return 1;
}

uint32_t mr_values_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                         const struct mr_type **buffer_types, struct mr_arena *a)
{
    kinds[0] = MR_SLOT_BYTES;
    buffer_types[0] = mr_type_array(a, call->args[0]->type, false);
    return 1;
}

/* All rows of a column of fixed width to one group: the bytes that mr_value_encode gives, without
 * a buffer between. False: others. */
static bool add_fixed(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                      const struct mr_column *x, union mr_slot **slots, uint32_t at)
{
    const uint32_t bytes = mr_type_value_bytes(x->type);
    struct mr_slot_bytes *b;

    if (!is_fixed(x->type) || !mr_slots_are_one(c, slots, n))
        return false;
    b = mr_wide_bytes(&slots[0][at]);
    uint8_t *to = mr_slot_reserve(c, b, (uint64_t)n * (bytes + 1));
    MR_EACH_UPDATE(n, sel, i, row)
    {
        const uint8_t *from = (const uint8_t *)x->data + (size_t)row * bytes;
        if (x->valid && !mr_bit_get(x->valid, row))
            continue;
        *to++ = 1;
        for (uint32_t k = 0; k < bytes; k += 4) /* 4, 8 or 16 */
            memcpy(to + k, from + k, 4);
        to += bytes;
    }
    b->n = (uint32_t)(to - b->data);
    return true;
}

void mr_values_add(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                   const struct mr_column *args, union mr_slot **slots, uint32_t at)
{
    struct mr_buffer b;

    if (add_fixed(c, n, sel, args, slots, at))
        return;
    mr_buffer_init(&b, c->arena);
    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(args, row))
            continue;
        b.n = 0;
        mr_value_encode(args, row, &b);
        mr_slot_append(c, mr_wide_bytes(&slots[i][at]), b.data, b.n);
    }
}

enum mr_status mr_values_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                const struct mr_column *args, union mr_slot **slots)
{
    mr_values_add(c, n, sel, args, slots, 0);
    return MR_OK;
}

enum mr_status mr_values_merge(const struct mr_aggregate_call *c, uint32_t n,
                               union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++)
        mr_slot_append(c, mr_wide_bytes(into[i]), mr_wide_bytes(from[i])->data,
                       mr_wide_bytes(from[i])->n);
    return MR_OK;
}

void mr_values_decode(const struct mr_slot_bytes *slot, struct mr_builder *b)
{
    const uint8_t *at = slot->data;

    if (is_fixed(b->type)) { /* none is null */
        const uint32_t bytes = mr_type_value_bytes(b->type), n = slot->n / (bytes + 1);
        struct mr_column c = {.type = b->type};
        uint8_t *data = c.data = mr_arena_alloc(b->arena, (size_t)n * bytes + 64);
        for (uint32_t i = 0; i < n; i++, at += bytes + 1)
            memcpy(data + (size_t)i * bytes, at + 1, bytes);
        mr_builder_append_rows(b, &c, NULL, n);
        return;
    }
    while (slot->n > 0 && at < slot->data + slot->n)
        mr_value_decode(&at, b);
}

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = mr_column_compare(arg, x, arg, y);

    return order ? order : x < y ? -1 : x > y;
}

uint32_t *mr_values_order(const struct mr_column *x, uint32_t rows, struct mr_arena *a)
{
    uint32_t *order = mr_arena_alloc(a, ((size_t)rows + 1) * sizeof *order);

    for (uint32_t i = 0; i < rows; i++)
        order[i] = i;
    qsort_r(order, rows, sizeof *order, compare, (void *)(uintptr_t)x);
    return order;
}
