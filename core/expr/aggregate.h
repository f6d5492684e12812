/* aggregate.h - aggregate functions: their accumulators and the loops that update them.
 *
 * What     An accumulator is a few fixed slots in a state row (state.h). update folds input rows
 *          in, merge folds partial accumulators in, result gives the value. Partial results cross
 *          the exchange as the slots' columns.
 * Rows     For i in 0..n: row sel[i] (sel NULL: i) of the arguments goes to the accumulator at
 *          slots[i] (the address of its first slot in the group's row).
 */
#pragma once
#include "core/expr/function.h"

enum mr_slot_kind { MR_SLOT_I64, MR_SLOT_F64, MR_SLOT_I128, MR_SLOT_BYTES };

union mr_slot { /* 8 bytes each; I128 and BYTES are wide, they take two */
    int64_t i64;
    double f64;
};
_Static_assert(sizeof(union mr_slot) == 8, "offsets are simple");

static inline uint32_t mr_slot_width(enum mr_slot_kind kind)
{
    return kind == MR_SLOT_I128 || kind == MR_SLOT_BYTES ? 2 : 1;
}

/* Variable-length value of a slot; memory is the state's or the table's (see struct
 * mr_aggregate_call). */
struct mr_slot_bytes {
    uint8_t *data;
    uint32_t n, capacity;
};

_Static_assert(sizeof(struct mr_slot_bytes) == 16, "a wide slot");

/* What a wide slot holds. */
typedef __int128 mr_slot_i128 __attribute__((aligned(8)));
static inline mr_slot_i128 *mr_wide_i128(union mr_slot *s)
{
    return (mr_slot_i128 *)(void *)s;
}
static inline struct mr_slot_bytes *mr_wide_bytes(union mr_slot *s)
{
    return (struct mr_slot_bytes *)(void *)s;
}

struct mr_aggregate_call {
    const struct mr_expr *expr; /* the resolved call: argument types, data */
    struct mr_error *err;
    void *(*grow)(void *owner, struct mr_slot_bytes *b,
                  uint32_t bytes); /* at least bytes capacity */
    void *owner;
    struct mr_arena *arena; /* for results */
    const struct mr_eval_context *context;
    bool is_one; /* all slots of an update are known to be the same */
};

/* The aggregate side of a function row with MR_FN_AGGREGATE. All zero slots = nothing seen, unless
 * init. */
struct mr_aggregate {
    const char *name;
    /* Slot kinds for resolved argument and result types; gives their number (<= 8). A wide one is
     * the last, so that the number of a slot is its place. Value types are what the checkpoint
     * records: Spark's buffer types. */
    uint32_t (*slots)(const struct mr_expr *call, enum mr_slot_kind *kinds,
                      const struct mr_type **buffer_types, struct mr_arena *a);
    enum mr_status (*update)(const struct mr_aggregate_call *c, uint32_t n, const uint32_t *sel,
                             const struct mr_column *args, union mr_slot **slots);
    enum mr_status (*merge)(const struct mr_aggregate_call *c, uint32_t n,
                            union mr_slot *const *from, union mr_slot **into);
    /* Fills rows 0..n-1 of out (allocated by it). */
    enum mr_status (*result)(const struct mr_aggregate_call *c, uint32_t n,
                             union mr_slot *const *slots, struct mr_column *out);
    /* What state depends on beside buffer types, for the checkpoint. NULL: nothing. */
    void (*describe)(const struct mr_expr *call, struct mr_buffer *out);
    bool is_ordered; /* the order of rows shows in the result */
};

const struct mr_aggregate *mr_aggregate_find(const char *name);
