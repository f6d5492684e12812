/* blocks.h - a growing run of bytes that O_DIRECT takes: aligned, padded with zeros to whole
 * blocks. */
#pragma once
#include "core/base/error.h"
#include "core/mem/mem.h"

enum { MR_BLOCK = 4096 };

struct mr_blocks {
    struct mr_budget *budget;
    uint8_t *data; /* aligned to MR_BLOCK; MR_PAD_BYTES readable behind capacity */
    uint64_t n, capacity;
    void *memory;
    uint64_t memory_bytes;
};

static inline uint64_t mr_blocks_round(uint64_t bytes)
{
    return (bytes + MR_BLOCK - 1) & ~(uint64_t)(MR_BLOCK - 1);
}

/* Room for bytes more than n. */
MR_NODISCARD enum mr_status mr_blocks_reserve(struct mr_blocks *b, uint64_t bytes,
                                              struct mr_error *err);
/* Room must be there. */
void mr_blocks_append(struct mr_blocks *b, const void *data, uint64_t bytes);
/* Zeros up to a whole block; room for a block's rest must be there. */
void mr_blocks_pad(struct mr_blocks *b);
/* The first bytes go, the rest moves to the front. */
void mr_blocks_drop(struct mr_blocks *b, uint64_t bytes);
void mr_blocks_fini(struct mr_blocks *b);
