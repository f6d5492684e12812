/* aggregate.h - aggregate functions: their accumulators and the loops that update them.
 *
 * What     An accumulator is slots_n fixed slots in a state row (state.h). update folds input rows in,
 *          merge folds partial accumulators in, result gives the value. Partial results cross the
 *          exchange as the slots' columns.
 * Rows     For i in 0..n: row sel[i] (sel NULL: i) of the arguments goes to the accumulator at
 *          slots[i] (the address of its first slot in the group's row).
 */
#pragma once
#include "core/expr/function.h"

enum mr_slot_kind { MR_SLOT_I64, MR_SLOT_F64, MR_SLOT_I128, MR_SLOT_BYTES };

/* Variable-length value of a slot; memory is the state's or the table's (see struct
 * mr_aggregate_call). */
struct mr_slot_bytes {
    uint8_t *data;
    uint32_t n, capacity;
};

union mr_slot { /* 16 bytes each, so that offsets are simple */
    int64_t i64;
    double f64;
    __int128 i128;
    struct mr_slot_bytes bytes;
};
_Static_assert(sizeof(union mr_slot) == 16, "slots are 16 bytes");

struct mr_aggregate_call {
    const struct mr_expr *expr; /* the resolved call: argument types, data */
    struct mr_error *err;
    void *(*grow)(void *owner, struct mr_slot_bytes *b,
                  uint32_t bytes); /* at least bytes capacity */
    void *owner;
    struct mr_arena *arena; /* for results */
    const struct mr_eval_context *context;
};

/* The aggregate side of a function row with MR_FN_AGGREGATE. All zero slots = nothing seen, unless
 * init. */
struct mr_aggregate {
    const char *name;
    /* Slot kinds for resolved argument and result types; gives slots_n (<= 8). Value types are what
     * the checkpoint records: Spark's buffer types. */
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
};

const struct mr_aggregate *mr_aggregate_find(const char *name);
