/* hll.h - HyperLogLog sketches in the bytes of Apache DataSketches (HLL_8, updatable), changed
 * where they lie.
 *
 * Form     https://datasketches.apache.org/docs/HLL/HLL.html: a head of 8 bytes, then a list of up
 *          to 7 coupons (26 bits of address, 6 of rank), beyond that an open-addressed set of them,
 *          and from about 3/32 of 2^lg_k on 2^lg_k registers of a byte behind what an estimate
 *          needs to know of them.
 * Order    With registers DataSketches estimates from the order in which values came, until
 *          sketches are united. Here a sketch is marked as united from its first register on, so
 *          that the result does not depend on workers and epochs.
 * Owner    Bytes lie in a slot of an aggregate; an empty slot is an empty sketch.
 */
#pragma once
#include "core/expr/aggregate_slots.h"

enum { MR_HLL_LG_K_MIN = 4, MR_HLL_LG_K_MAX = 21, MR_HLL_LG_K_DEFAULT = 12 };

/* As its head says, nothing else is looked at; 0: it has none. */
uint32_t mr_hll_lg_k(const void *sketch, uint64_t n);
/* What a value does to a sketch. */
uint32_t mr_hll_coupon(const void *data, uint64_t n);
void mr_hll_add(const struct mr_aggregate_call *c, struct mr_slot_bytes *sketch, uint32_t lg_k,
                uint32_t coupon);
/* from has the same lg_k. */
void mr_hll_merge(const struct mr_aggregate_call *c, struct mr_slot_bytes *sketch, uint32_t lg_k,
                  const struct mr_slot_bytes *from);
/* Of a united sketch with registers: the sums that an estimate needs. Of others nothing. */
void mr_hll_sum(uint8_t *sketch);
/* The sketch as others may read it, with its sums. */
void mr_hll_print(const struct mr_slot_bytes *sketch, uint32_t lg_k, struct mr_buffer *out);
