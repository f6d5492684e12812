/* aggregate_slots.h - what aggregates share: walking rows, values kept as bytes. Inside core/expr.
 *
 * Null     A zero slot is "nothing seen", so aggregates that may see nothing count in a slot of
 *          their own.
 * Values   Of the first argument, without nulls, encoded one behind the other (encode.h). A
 *          checkpoint has no length of them but their types, so buffer types must tell all that is
 *          encoded.
 */
#pragma once
#include "core/expr/aggregate.h"
#include "core/batch/builder.h"
#include "core/expr/coerce.h"

/* i: which slots; row: the row of the arguments. */
#define MR_EACH_UPDATE(n, sel, i, row)                                                             \
    for (uint32_t i = 0, row; i < (n) && (row = (sel) ? (sel)[i] : i, true); i++)

static inline bool mr_slots_are_one(const struct mr_aggregate_call *c, union mr_slot **slots,
                                    uint32_t n)
{
    if (n == 0 || slots[0] != slots[n - 1] || slots[0] != slots[n / 2])
        return false;
    for (uint32_t i = 1; i < n && !c->is_one; i++)
        if (slots[i] != slots[0])
            return false;
    return true;
}

/* Makes room for bytes more and gives their place; what is there stays. */
static inline uint8_t *mr_slot_reserve(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                       uint64_t bytes)
{
    uint64_t wanted = b->n + bytes;

    if (wanted > INT32_MAX) /* no column could hold it */
        mr_arena_exhaust(c->arena);
    if (b->capacity < wanted)
        c->grow(c->owner, b, (uint32_t)(wanted < 2u * (uint64_t)b->n ? 2 * b->n : wanted));
    return b->data + b->n;
}

static inline void mr_slot_append(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                  const void *data, uint64_t bytes)
{
    if (bytes == 0)
        return;
    memcpy(mr_slot_reserve(c, b, bytes), data, bytes);
    b->n += (uint32_t)bytes;
}

static inline void mr_slot_replace(const struct mr_aggregate_call *c, struct mr_slot_bytes *b,
                                   const void *data, uint64_t bytes)
{
    b->n = 0;
    mr_slot_append(c, b, data, bytes);
}

/* The buffer type of two values, one behind the other. */
const struct mr_type *mr_slot_pair(const struct mr_type *first, const struct mr_type *second,
                                   struct mr_arena *a);

/* For aggregates that serve several functions whose slots look alike but mean another thing. */
void mr_slot_describe_function(const struct mr_expr *call, struct mr_buffer *out);

/* One slot of bytes whose form only the function knows: the slots of struct mr_aggregate. */
uint32_t mr_binary_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                         const struct mr_type **buffer_types, struct mr_arena *a);

/* All values of a group, in slot 0: as the functions of struct mr_aggregate. */
uint32_t mr_values_slots(const struct mr_expr *call, enum mr_slot_kind *kinds,
                         const struct mr_type **buffer_types, struct mr_arena *a);
enum mr_status mr_values_update(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                                const struct mr_column *args, union mr_slot **slots);
enum mr_status mr_values_merge(const struct mr_aggregate_call *c, uint32_t n,
                               union mr_slot *const *from, union mr_slot **into);
/* update, for values in slot at. */
void mr_values_add(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                   const struct mr_column *args, union mr_slot **slots, uint32_t at);
/* Appends the values to b. */
void mr_values_decode(const struct mr_slot_bytes *slot, struct mr_builder *b);
/* The numbers 0..rows-1 in ascending order of x's values, equal ones as they came; one place
 * more. */
uint32_t *mr_values_order(const struct mr_column *x, uint32_t rows, struct mr_arena *a);
