#include "core/expr/aggregate_slots.h"
#include "core/expr/encode.h"
#include "core/expr/lane.h"

/* first, last, any_value: one value, encoded; an empty slot has none. min_by, max_by: the ordering
 * value, then the value that goes with it. */

MR_RESOLVE(first)
{
    call->type = call->args[0]->type;
    call->nullable = true;
    if (call->args_n > 1) {
        const struct mr_expr *ignore = call->args[1];
        if (ignore->kind != MR_EXPR_LITERAL || ignore->type->kind != MR_BOOLEAN)
            return MR_FAIL_CONDITION(r->err, MR_USER, "_LEGACY_ERROR_TEMP_1210",
                                     "The second argument in %s should be a boolean literal.",
                                     call->function->name);
    }
    return MR_OK;
}

static uint32_t bytes_slot(const struct mr_expr *call, enum mr_slot_kind *kinds,
                           const struct mr_type **buffer_types, struct mr_arena *a)
{
    (void)a;
    kinds[0] = MR_SLOT_BYTES;
    buffer_types[0] = call->type;
    return 1;
}

static bool ignores_nulls(const struct mr_aggregate_call *c)
{
    return c->expr->args_n > 1 && mr_bit_get(c->expr->args[1]->value->bits, 0);
}

static enum mr_status pick(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                           const struct mr_column *x, union mr_slot **slots, bool last)
{
    bool ignore = ignores_nulls(c);
    uint32_t only;
    struct mr_buffer b;

    mr_buffer_init(&b, c->arena);
    if (!last && mr_slots_are_one(c, slots, n) && mr_wide_bytes(slots[0])->n > 0)
        return MR_OK;
    if (last && mr_slots_are_one(c, slots, n)) { /* one row decides */
        for (only = n - 1; ignore && only > 0; only--)
            if (!mr_column_is_null(x, sel ? sel[only] : only))
                break;
        only = sel ? sel[only] : only;
        sel = &only;
        n = 1;
    }
    MR_EACH_UPDATE(n, sel, i, row)
    {
        if ((!last && mr_wide_bytes(slots[i])->n > 0) || (ignore && mr_column_is_null(x, row)))
            continue;
        b.n = 0;
        mr_value_encode(x, row, &b);
        mr_slot_replace(c, mr_wide_bytes(slots[i]), b.data, b.n);
    }
    return MR_OK;
}

static enum mr_status first_update(const struct mr_aggregate_call *c, uint32_t n,
                                   const uint32_t *sel, const struct mr_column *args,
                                   union mr_slot **slots)
{
    return pick(c, n, sel, args, slots, false);
}
static enum mr_status last_update(const struct mr_aggregate_call *c, uint32_t n,
                                  const uint32_t *sel, const struct mr_column *args,
                                  union mr_slot **slots)
{
    return pick(c, n, sel, args, slots, true);
}

static enum mr_status first_merge(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++)
        if (mr_wide_bytes(into[i])->n == 0)
            mr_slot_replace(c, mr_wide_bytes(into[i]), mr_wide_bytes(from[i])->data,
                            mr_wide_bytes(from[i])->n);
    return MR_OK;
}
static enum mr_status last_merge(const struct mr_aggregate_call *c, uint32_t n,
                                 union mr_slot *const *from, union mr_slot **into)
{
    for (uint32_t i = 0; i < n; i++)
        if (mr_wide_bytes(from[i])->n > 0)
            mr_slot_replace(c, mr_wide_bytes(into[i]), mr_wide_bytes(from[i])->data,
                            mr_wide_bytes(from[i])->n);
    return MR_OK;
}

static enum mr_status pick_result(const struct mr_aggregate_call *c, uint32_t n,
                                  union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *at = mr_wide_bytes(slots[i])->data;
        if (mr_wide_bytes(slots[i])->n == 0)
            mr_builder_append_null(&b);
        else
            mr_value_decode(&at, &b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_first = {.name = "first",
                                                .slots = bytes_slot,
                                                .update = first_update,
                                                .merge = first_merge,
                                                .result = pick_result,
                                                .is_ordered = true};
const struct mr_aggregate mr_aggregate_last = {.name = "last",
                                               .slots = bytes_slot,
                                               .update = last_update,
                                               .merge = last_merge,
                                               .result = pick_result,
                                               .is_ordered = true};

MR_RESOLVE(by)
{
    if (!mr_type_is_orderable(call->args[1]->type))
        return mr_mismatch(r, call, "INVALID_ORDERING_TYPE",
                           "The `%s` does not support ordering on type \"%s\".",
                           call->function->name, mr_type_sql(r->arena, call->args[1]->type));
    call->type = call->args[0]->type;
    call->nullable = true;
    return MR_OK;
}

static uint32_t by_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                         const struct mr_type **buffer_types, struct mr_arena *a)
{
    kinds[0] = MR_SLOT_BYTES;
    buffer_types[0] = mr_slot_pair(call->args[1]->type, call->args[0]->type, a);
    return 1;
}

static int sign_of(const struct mr_aggregate_call *c)
{
    return c->expr->function->name[1] == 'a' ? 1 : -1; /* max_by, min_by */
}

/* One value of fixed width, read where it was encoded. */
struct key_room {
    __int128 value;
    struct mr_column column;
};

/* The ordering value at the front of the slot; NULL: its type has no fixed width. */
static const struct mr_column *read_key(const struct mr_aggregate_call *c,
                                        const struct mr_slot_bytes *slot, struct key_room *room)
{
    const struct mr_type *type = c->expr->args[1]->type;
    uint32_t bytes = mr_type_value_bytes(type);

    if (type->kind == MR_BOOLEAN || type->fields_n > 0 || mr_type_is_views(type) || bytes == 0 ||
        bytes > sizeof room->value)
        return NULL;
    memcpy(&room->value, slot->data + 1, bytes); /* no key is null */
    room->column = (struct mr_column){.type = type, .data = &room->value};
    return &room->column;
}

/* The ordering value at the front of the slot; *rest: what follows it. */
static void decode_key(const struct mr_aggregate_call *c, const struct mr_slot_bytes *slot,
                       struct mr_column *out, const uint8_t **rest)
{
    struct mr_builder b;

    *rest = slot->data;
    mr_builder_init(&b, c->expr->args[1]->type, 1, c->arena);
    mr_value_decode(rest, &b);
    mr_builder_finish(&b, out);
}

/* Whole numbers and times of 4 and 8 bytes: without a call for each row. */
#define BEST_ROW(name, type)                                                                       \
    static uint32_t name(const type *x, const uint64_t *valid, int sign, uint32_t n,               \
                         const uint32_t *sel)                                                      \
    {                                                                                              \
        uint32_t best = UINT32_MAX;                                                                \
        type most = 0;                                                                             \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            uint32_t row = sel ? sel[i] : i;                                                       \
            if ((sign > 0 ? x[row] > most : x[row] < most) || best == UINT32_MAX) {                \
                if (valid && !mr_bit_get(valid, row))                                              \
                    continue;                                                                      \
                best = row;                                                                        \
                most = x[row];                                                                     \
            }                                                                                      \
        }                                                                                          \
        return best;                                                                               \
    }
BEST_ROW(best_row_i32, int32_t)
BEST_ROW(best_row_i64, int64_t)

/* The row with the most of sign * key, the first of equals; UINT32_MAX: all keys are null. */
static uint32_t best_row(const struct mr_column *key, int sign, uint32_t n, const uint32_t *sel)
{
    const enum mr_lane lane = mr_lane_of(key->type);
    uint32_t best = UINT32_MAX;

    if (lane == MR_LANE_I32)
        return best_row_i32(key->i32, key->valid, sign, n, sel);
    if (lane == MR_LANE_I64)
        return best_row_i64(key->i64, key->valid, sign, n, sel);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = sel ? sel[i] : i;
        if (mr_column_is_null(key, row))
            continue;
        if (best == UINT32_MAX || sign * mr_column_compare(key, row, key, best) > 0)
            best = row;
    }
    return best;
}

static enum mr_status by_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                const struct mr_column *args, union mr_slot **slots)
{
    int sign = sign_of(c);
    uint32_t best;
    struct mr_buffer b;

    mr_buffer_init(&b, c->arena);
    if (mr_slots_are_one(c, slots, n)) {
        best = best_row(&args[1], sign, n, sel);
        sel = &best;
        n = best != UINT32_MAX;
    }
    MR_EACH_UPDATE(n, sel, i, row)
    {
        struct mr_slot_bytes *slot = mr_wide_bytes(slots[i]);
        if (mr_column_is_null(&args[1], row))
            continue;
        if (slot->n > 0) {
            struct key_room room;
            struct mr_column decoded;
            const struct mr_column *old = read_key(c, slot, &room);
            const uint8_t *rest;
            if (old == NULL) {
                decode_key(c, slot, &decoded, &rest);
                old = &decoded;
            }
            if (sign * mr_column_compare(&args[1], row, old, 0) <= 0)
                continue;
        }
        b.n = 0;
        mr_value_encode(&args[1], row, &b);
        mr_value_encode(&args[0], row, &b);
        mr_slot_replace(c, slot, b.data, b.n);
    }
    return MR_OK;
}

static enum mr_status by_merge(const struct mr_aggregate_call *c, uint32_t n,
                               union mr_slot *const *from, union mr_slot **into)
{
    int sign = sign_of(c);

    for (uint32_t i = 0; i < n; i++) {
        struct mr_column x, y;
        const uint8_t *rest;
        if (mr_wide_bytes(from[i])->n == 0)
            continue;
        if (mr_wide_bytes(into[i])->n > 0) {
            decode_key(c, mr_wide_bytes(from[i]), &x, &rest);
            decode_key(c, mr_wide_bytes(into[i]), &y, &rest);
            if (sign * mr_column_compare(&x, 0, &y, 0) <= 0)
                continue;
        }
        mr_slot_replace(c, mr_wide_bytes(into[i]), mr_wide_bytes(from[i])->data,
                        mr_wide_bytes(from[i])->n);
    }
    return MR_OK;
}

static enum mr_status by_result(const struct mr_aggregate_call *c, uint32_t n,
                                union mr_slot *const *slots, struct mr_column *out)
{
    struct mr_builder b;

    mr_builder_init(&b, c->expr->type, n, c->arena);
    for (uint32_t i = 0; i < n; i++) {
        struct mr_column key;
        const uint8_t *rest;
        if (mr_wide_bytes(slots[i])->n == 0) {
            mr_builder_append_null(&b);
            continue;
        }
        decode_key(c, mr_wide_bytes(slots[i]), &key, &rest);
        mr_value_decode(&rest, &b);
    }
    mr_builder_finish(&b, out);
    return MR_OK;
}

const struct mr_aggregate mr_aggregate_by = {.name = "by",
                                             .slots = by_slots,
                                             .update = by_update,
                                             .merge = by_merge,
                                             .result = by_result,
                                             .describe = mr_slot_describe_function,
                                             .is_ordered = true};
