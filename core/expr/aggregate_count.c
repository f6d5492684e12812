#include "core/expr/aggregate_slots.h"

/* count(*), count(a, ..): rows in which no argument is null. count_if(c): rows where c is true. */

MR_RESOLVE(count)
{
    (void)r;
    call->type = &mr_type_bigint;
    call->nullable = false;
    return MR_OK;
}

static uint32_t count_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                            const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    kinds[0] = MR_SLOT_I64;
    buffer_types[0] = &mr_type_bigint;
    return 1;
}

static enum mr_status count_update(const struct mr_aggregate_call *c, uint32_t n,
                                   const uint32_t *sel, const struct mr_column *args,
                                   union mr_slot **slots)
{
    bool any_valid = false;

    for (uint32_t k = 0; k < c->expr->args_n; k++) {
        if (args[k].type->kind == MR_VOID)
            return MR_OK;
        any_valid |= args[k].valid != NULL;
    }
    if (!any_valid) {
        if (mr_slots_are_one(c, slots, n))
            slots[0]->i64 += n;
        else
            for (uint32_t i = 0; i < n; i++)
                slots[i]->i64++;
        return MR_OK;
    }
    if (c->expr->args_n == 1 && sel == NULL && mr_slots_are_one(c, slots, n)) {
        slots[0]->i64 += mr_bit_count(args->valid, n);
        return MR_OK;
    }
    MR_EACH_UPDATE(n, sel, i, row)
    {
        bool valid = true;
        for (uint32_t k = 0; k < c->expr->args_n; k++)
            valid = valid && !mr_column_is_null(&args[k], row);
        slots[i]->i64 += valid;
    }
    return MR_OK;
}

/* Rows that are true. */
static int64_t count_bits(const struct mr_column *x, uint32_t rows)
{
    int64_t n = 0;

    for (uint32_t w = 0; w < mr_bit_words(rows); w++) {
        uint64_t bits = x->bits[w] & (x->valid ? x->valid[w] : ~UINT64_C(0));
        if (rows - w * 64 < 64)
            bits &= (UINT64_C(1) << (rows & 63)) - 1;
        n += __builtin_popcountll(bits);
    }
    return n;
}

static enum mr_status count_if_update(const struct mr_aggregate_call *c, uint32_t n,
                                      const uint32_t *sel, const struct mr_column *args,
                                      union mr_slot **slots)
{
    if (args->type->kind == MR_VOID)
        return MR_OK;
    if (sel == NULL && mr_slots_are_one(c, slots, n)) {
        slots[0]->i64 += count_bits(args, n);
        return MR_OK;
    }
    MR_EACH_UPDATE(n, sel, i, row)
    slots[i]->i64 += mr_bit_get(args->bits, row) && !mr_column_is_null(args, row);
    return MR_OK;
}

static enum mr_status count_merge(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *from, union mr_slot **into)
{
    (void)c;
    for (uint32_t i = 0; i < n; i++)
        into[i]->i64 += from[i]->i64;
    return MR_OK;
}

static enum mr_status count_result(const struct mr_aggregate_call *c, uint32_t n,
                                   union mr_slot *const *slots, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_bigint, n, false, c->arena);
    for (uint32_t i = 0; i < n; i++)
        out->i64[i] = slots[i]->i64;
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_count = {.name = "count",
                                                .slots = count_slots,
                                                .update = count_update,
                                                .merge = count_merge,
                                                .result = count_result};
const struct mr_aggregate mr_aggregate_count_if = {.name = "count_if",
                                                   .slots = count_slots,
                                                   .update = count_if_update,
                                                   .merge = count_merge,
                                                   .result = count_result};
