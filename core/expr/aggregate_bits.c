#include "core/expr/aggregate_slots.h"
#include "core/batch/builder.h"

/* bit_and, bit_or, bit_xor: the bits, and whether there was a value. */
enum { BITS, SEEN };

MR_RESOLVE(bit_aggregate)
{
    if (!mr_type_is_integer(call->args[0]->type))
        return mr_mismatch_argument(r, call, 0, "\"INTEGRAL\"");
    call->type = call->args[0]->type;
    call->nullable = true;
    return MR_OK;
}

static uint32_t bit_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                          const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)a;
    kinds[BITS] = kinds[SEEN] = MR_SLOT_I64;
    buffer_types[BITS] = call->type;
    buffer_types[SEEN] = &mr_type_boolean;
    return 2;
}

static inline void add(const struct mr_aggregate_call *c, union mr_slot *slot, int64_t v)
{
    char op = c->expr->function->name[4];

    if (slot[SEEN].i64 == 0)
        slot[BITS].i64 = v;
    else if (op == 'a')
        slot[BITS].i64 &= v;
    else if (op == 'o')
        slot[BITS].i64 |= v;
    else
        slot[BITS].i64 ^= v;
    slot[SEEN].i64 = 1;
}

static enum mr_status bit_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                 const struct mr_column *args, union mr_slot **slots)
{
    uint32_t bytes = mr_type_value_bytes(args->type);

    MR_EACH_UPDATE(n, sel, i, row)
    {
        if (mr_column_is_null(args, row))
            continue;
        add(c, slots[i],
            bytes == 1   ? args->i8[row]
            : bytes == 2 ? args->i16[row]
            : bytes == 4 ? args->i32[row]
                         : args->i64[row]);
    }
    return MR_OK;
}

static enum mr_status bit_merge(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++)
        if (from[i][SEEN].i64)
            add(c, into[i], from[i][BITS].i64);
    return MR_OK;
}

static enum mr_status bit_result(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (slots[i][SEEN].i64)
            mr_builder_append_i64(&b, slots[i][BITS].i64);
        else
            mr_builder_append_null(&b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_bits = {.name = "bit_and",
                                               .slots = bit_slots,
                                               .update = bit_update,
                                               .merge = bit_merge,
                                               .result = bit_result,
                                               .describe = mr_slot_describe_function};
