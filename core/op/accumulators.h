/* accumulators.h - the accumulators of a group as one run of slots: which belong to which
 * aggregate.
 *
 * What     Both aggregate nodes carry the same list of aggregates; its slots, in order, are the
 *          columns that the partial node emits after the keys, and the slots of a row in state.
 * Columns  I64 -> BIGINT, F64 -> DOUBLE, I128 -> DECIMAL(38,0), BYTES -> BINARY, null where
 *          nothing was stored.
 */
#pragma once
#include "core/op/operator.h"

struct mr_accumulator {
    const struct mr_aggregate_item *item;
    uint32_t first;         /* place of its first slot in the group's */
    uint32_t kind, kinds_n; /* kinds[kind ..] are its */
};

struct mr_accumulators {
    struct mr_accumulator *items;
    uint32_t items_n;
    uint32_t kinds_n; /* columns */
    uint32_t width;   /* slots of 8 bytes that a group has */
    enum mr_slot_kind *kinds;
    uint32_t *places;             /* of each kind's slot */
    const struct mr_type **types; /* Spark's buffer types */
};

void mr_accumulators_plan(struct mr_accumulators *out, const struct mr_node *node,
                          struct mr_arena *a);
const struct mr_type *mr_slot_type(enum mr_slot_kind kind);

/* slots[i * width + places[k]] = column k of row sel[i]. BYTES point to copies aligned for any
 * use. */
void mr_accumulators_from_columns(const struct mr_accumulators *acc,
                                  const struct mr_column *columns, const uint32_t *sel, uint32_t n,
                                  union mr_slot *slots, struct mr_arena *a);
/* Makes kinds_n columns of rows rows: row sel[i] (NULL: i) from groups[i], the first slot of a
 * group, i in 0..n; the other rows are undefined. BYTES are borrowed. */
void mr_accumulators_to_columns(const struct mr_accumulators *acc, union mr_slot *const *groups,
                                const uint32_t *sel, uint32_t n, uint32_t rows,
                                struct mr_column *columns, struct mr_arena *a);

/* Memory for BYTES slots from an arena, the owner: doubles, copies, never gives back. */
void *mr_slot_grow_in_arena(void *arena, struct mr_slot_bytes *b, uint32_t bytes);
