/* aggregates.h - small aggregate functions for tests of the aggregate operators, one per kind of
 * slot. */
#pragma once
#include "tests/core/op/harness.h"

static inline uint32_t count_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                                   const struct mr_type **types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    kinds[0] = MR_SLOT_I64;
    types[0] = &mr_type_bigint;
    return 1;
}

static inline enum mr_status count_update(const struct mr_aggregate_call *c, uint32_t n,
                                          const uint32_t *sel, const struct mr_column *args,
                                          union mr_slot **slots)
{
    for (uint32_t i = 0; i < n; i++)
        slots[i]->i64 +=
            c->expr->args_n == 0 || !mr_column_is_null(&args[0], sel ? sel[i] : i) ? 1 : 0;
    return MR_OK;
}

static inline enum mr_status count_merge(const struct mr_aggregate_call *c, uint32_t n,
                                         union mr_slot *const *from, union mr_slot **into)
{
    (void)c;
    for (uint32_t i = 0; i < n; i++)
        into[i]->i64 += from[i]->i64;
    return MR_OK;
}

static inline enum mr_status count_result(const struct mr_aggregate_call *c, uint32_t n,
                                          union mr_slot *const *slots, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_bigint, n, false, c->arena);
    for (uint32_t i = 0; i < n; i++)
        out->i64[i] = slots[i]->i64;
    return MR_OK;
}

/* Sum of doubles: the sum, and whether there was one. */
static inline uint32_t sum_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                                 const struct mr_type **types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    kinds[0] = MR_SLOT_F64;
    kinds[1] = MR_SLOT_I128;
    types[0] = &mr_type_double;
    types[1] = &mr_type_bigint;
    return 2;
}

static inline enum mr_status sum_update(const struct mr_aggregate_call *c, uint32_t n,
                                        const uint32_t *sel, const struct mr_column *args,
                                        union mr_slot **slots)
{
    (void)c;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        if (mr_column_is_null(&args[0], row))
            continue;
        slots[i][0].f64 += args[0].f64[row];
        (*mr_wide_i128(&slots[i][1]))++;
    }
    return MR_OK;
}

static inline enum mr_status sum_merge(const struct mr_aggregate_call *c, uint32_t n,
                                       union mr_slot *const *from, union mr_slot **into)
{
    (void)c;
    for (uint32_t i = 0; i < n; i++) {
        into[i][0].f64 += from[i][0].f64;
        *mr_wide_i128(&into[i][1]) += *mr_wide_i128(&from[i][1]);
    }
    return MR_OK;
}

static inline enum mr_status sum_result(const struct mr_aggregate_call *c, uint32_t n,
                                        union mr_slot *const *slots, struct mr_column *out)
{
    mr_column_alloc(out, &mr_type_double, n, true, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        out->f64[i] = slots[i][0].f64;
        if (*mr_wide_i128(&slots[i][1]) == 0)
            mr_bit_clear(out->valid, i);
    }
    return MR_OK;
}

/* The greatest text, in BYTES. */
static inline uint32_t last_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                                  const struct mr_type **types, struct mr_arena *a)
{
    (void)call;
    (void)a;
    kinds[0] = MR_SLOT_BYTES;
    types[0] = &mr_type_string;
    return 1;
}

static inline void last_fold(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                             struct mr_text t)
{
    const struct mr_text old = {(const char *)b->data, b->n};

    if (b->data && mr_text_compare(old, t) >= 0)
        return;
    c->grow(c->owner, b, (uint32_t)t.n + 1);
    memcpy(b->data, t.data, t.n);
    b->n = (uint32_t)t.n;
}

static inline enum mr_status last_update(const struct mr_aggregate_call *c, uint32_t n,
                                         const uint32_t *sel, const struct mr_column *args,
                                         union mr_slot **slots)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t row = sel ? sel[i] : i;
        if (!mr_column_is_null(&args[0], row))
            last_fold(c, mr_wide_bytes(slots[i]), mr_column_text(&args[0], row));
    }
    return MR_OK;
}

static inline enum mr_status last_merge(const struct mr_aggregate_call *c, uint32_t n,
                                        union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++)
        if (mr_wide_bytes(from[i])->data)
            last_fold(c, mr_wide_bytes(into[i]),
                      (struct mr_text){(const char *)mr_wide_bytes(from[i])->data,
                                       mr_wide_bytes(from[i])->n});
    return MR_OK;
}

static inline enum mr_status last_result(const struct mr_aggregate_call *c, uint32_t n,
                                         union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, &mr_type_string, n, c->arena);
    for (uint32_t i = 0; i < n; i++)
        if (mr_wide_bytes(slots[i])->data)
            mr_builder_append_text(&b, (struct mr_text){(const char *)mr_wide_bytes(slots[i])->data,
                                                        mr_wide_bytes(slots[i])->n});
        else
            mr_builder_append_null(&b);
    mr_builder_finish(&b, out);
    return MR_OK;
}

static const struct mr_aggregate test_count = {.name = "count",
                                               .slots = count_slots,
                                               .update = count_update,
                                               .merge = count_merge,
                                               .result = count_result};
static const struct mr_aggregate test_sum = {.name = "sum",
                                             .slots = sum_slots,
                                             .update = sum_update,
                                             .merge = sum_merge,
                                             .result = sum_result};
static const struct mr_aggregate test_last = {.name = "max",
                                              .slots = last_slots,
                                              .update = last_update,
                                              .merge = last_merge,
                                              .result = last_result};

static inline struct mr_aggregate_item item_of(struct mr_arena *a,
                                               const struct mr_aggregate *aggregate,
                                               struct mr_expr *arg, const struct mr_type *type)
{
    struct mr_expr *call = MR_NEW(a, struct mr_expr);

    call->kind = MR_EXPR_CALL;
    call->type = type;
    call->nullable = true;
    call->function = mr_function_find(aggregate->name);
    call->args_n = arg ? 1 : 0;
    call->args = MR_NEW_ARRAY(a, struct mr_expr *, 1);
    call->args[0] = arg;
    return (struct mr_aggregate_item){.aggregate = aggregate, .call = call};
}
