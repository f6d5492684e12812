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

void mr_values_add(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                   const struct mr_column *args, union mr_slot **slots, uint32_t at)
{
    struct mr_buffer b;

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
